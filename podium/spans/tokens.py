"""Turn a classifier's predictions for tokens or words into segments, and segments into tags for training.

A word gets the type with the largest probability. For this, the probabilities of a type's labels (B-Lead and
I-Lead) are added, and those of the word's tokens are averaged. A segment begins at a word if one of the word's
tokens says so. If several windows have the same token, its predictions are averaged. Illegal tags are repaired
and counted.

Many essays are decoded at once as one long text. The reason is that a call of numpy takes nearly the same time
for one essay as for all.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.arrays import Bools, Floats, Ints, by_essay, differs, means, ranges, stretches
from podium.spans.by_position import by_position
from podium.spans.segments import (
    TYPES,
    Gaps,
    Spans,
    Thresholds,
    concat,
    from_words,
    integers,
    require,
    require_equal_sizes,
    require_essays,
    select,
    texts_of,
)
from podium.wording import counted

__all__ = [
    "LABELS",
    "bio_tags",
    "from_tokens",
    "from_word_ids",
    "from_word_labels",
    "word_probabilities",
    "word_tags",
]

# Where podium runs from its folder, without being installed, nothing else has asked for this version.
if int(np.__version__.partition(".")[0]) < 2:
    raise ImportError(
        f"podium.spans needs numpy 2.0 or later, found {np.__version__}: pip install --upgrade numpy"
    )

LABELS = ("O", *(f"{prefix}-{name}" for name in TYPES for prefix in "BI"))
PREFIXES = "BIES"
# The prefix and the type of each possible label.
MEANINGS: dict[str, tuple[str | None, int]] = {"O": (None, len(TYPES))} | {
    f"{prefix}-{name}" if prefix else name: (prefix, kind)
    for kind, name in enumerate(TYPES)
    for prefix in ("", *PREFIXES)
}
NUMBER = (int, float, np.integer, np.floating)
IGNORED = -100  # Losses of torch ignore this label.
ROUNDING = 1e-3  # A half-precision probability may be rounded up to more than 1.
TEXTS_AT_ONCE = 64  # The probabilities of this many texts fit into the processor's cache.

Labels = Sequence[str] | Mapping[Any, str] | None


# ---- Into spans ------------------------------------------------------------------------------------------


@by_position
def from_tokens(
    texts: str | Sequence[str],
    offset_mapping: Any,
    predictions: Any,
    labels: Labels = None,
    *,
    essay: npt.ArrayLike | None = None,
    min_words: Thresholds = 1,
    min_probability: Thresholds = 0.0,
    join_gap: Gaps = None,
) -> Spans:
    """Decode the segments from the predictions of a token classifier.

    Parameters
    ----------
    texts : str or sequence of str
        The essays.
    offset_mapping : (tokens, 2) int, or a list of such arrays
        The position of the first character of each token, and of the one after its last, as a fast tokenizer
        returns them. For several texts, it is a list with one array per window.
    predictions : (tokens, labels) float, or (tokens,) str or int, or a list of such arrays
        Probabilities, or labels by name or index (-100 for no label). For several texts, it is a list with one
        array per window. If all windows have predictions for the same number of tokens, those after a window's
        own tokens are padding and are cut off. Padding in front of them is not: give `offset_mapping` with
        the same padding.
    labels : sequence of str, or dict of int to str, optional
        The model's ``id2label``, in BIO, BIOES or without prefixes. It may be left out if the predictions are
        names of labels, which are then read as in `LABELS`.
    essay : (windows,) int, optional
        The text of each window, as an index into `texts`: the tokenizer's ``overflow_to_sample_mapping``. By
        default each text is one window.
    min_words, min_probability : float or mapping of str to float
        The least number of words and the least probability, as for `select`.
    join_gap : int, None, or mapping of str to int
        The largest gap between neighbors that are joined, as for `select`.

    Returns
    -------
    Spans
        The segments, essay by essay.

    Raises
    ------
    ValueError
        The labels belong to another task, the sizes do not fit, or the offsets do not ascend within a window.
        Offsets do not ascend if the tokenizer was given words (``is_split_into_words=True``). In that case call
        `from_word_ids`.

    Warns
    -----
    UserWarning
        Padded predictions have one or two tokens more than the longest window, and `offset_mapping` has no
        special tokens. Then the predictions probably have them, and every label is a token late.

    Examples
    --------
    A token belongs to the word that has its middle character. “ban” begins a claim although its tag is I-Claim:

    >>> spans = from_tokens("I agree. Ban it.", [(0, 1), (2, 7), (7, 8), (9, 12), (13, 15), (15, 16)],
    ...                     ["B-Position", "I-Position", "I-Position", "I-Claim", "I-Claim", "I-Claim"])
    >>> spans.to_frame()[["discourse_type", "first", "last", "repaired"]].values.tolist()
    [['Position', 0, 1, 0], ['Claim', 2, 3, 1]]
    """
    _, blocks = _of_offsets(texts, offset_mapping, predictions, labels, essay)
    return select(_segments_of(blocks), min_words, min_probability, join_gap)


@by_position
def from_word_ids(
    word_ids: Sequence[Any],
    predictions: Any,
    labels: Labels = None,
    *,
    texts: str | Sequence[str] | None = None,
    essay: npt.ArrayLike | None = None,
    min_words: Thresholds = 1,
    min_probability: Thresholds = 0.0,
    join_gap: Gaps = None,
) -> Spans:
    """Decode the segments from predictions for tokens of words, as with ``is_split_into_words=True``.

    The tokenizer must have been given the words of ``text.split()``. If it was given whole texts, it numbers
    other words, which mostly end at punctuation. In that case call `from_tokens`.

    Parameters
    ----------
    word_ids : sequence of sequences of int or None
        ``encoding.word_ids(window)`` of each window: the word of each token, and None for special tokens. The
        flat list of one window is accepted, with its predictions. If only the first token of a word should
        count, replace the others' by None.
    predictions : list of (tokens, labels) float, or of (tokens,) str or int
        Probabilities or labels for each window, as for `from_tokens`.
    labels : sequence of str, or dict of int to str, optional
        The model's ``id2label``, as for `from_tokens`.
    texts : str or sequence of str, optional
        The essays, to check that the numbers are those of their words. Give them if you have them.
    essay : (windows,) int, optional
        The essay of each window, as an index. By default each window is an essay.
    min_words, min_probability : float or mapping of str to float
        The least number of words and the least probability, as for `select`.
    join_gap : int, None, or mapping of str to int
        The largest gap between neighbors that are joined, as for `select`.

    Returns
    -------
    Spans
        The segments, essay by essay.

    Raises
    ------
    ValueError
        The words do not ascend within a window, a text has fewer words, or `from_tokens` would refuse the
        predictions or labels.

    Examples
    --------
    >>> from_word_ids([[None, 0, 0, 1, None]], [["O", "B-Lead", "I-Lead", "I-Lead", "O"]]).words.tolist()
    [2]
    """
    if len(word_ids) and all(word is None or isinstance(word, NUMBER) for word in word_ids):
        word_ids, predictions = [word_ids], [predictions]  # of one text
    _require_windows("word_ids", word_ids, 1)
    _require_windows("predictions", predictions, 2)
    windows_given = {"windows of word_ids": word_ids, "windows of predictions": predictions}
    essays = len(word_ids) if essay is None else int(np.max(essay, initial=-1)) + 1
    if texts is not None:
        texts = texts_of(texts)
        essays = len(texts)
    window_of = _essays_of_windows(essay, essays, windows_given)
    # A table has NaN where a token has no word.
    ids = [
        np.array([-1 if word is None or word != word else word for word in of_window], dtype=np.int64)
        for of_window in word_ids
    ]
    if texts is not None:
        _require_words(texts, window_of, ids)
        reached = np.zeros(len(texts), dtype=np.int64)
        for of_window, number in zip(ids, window_of.tolist()):
            reached[number] = max(reached[number], int(of_window.max(initial=-1)) + 1)
        _warn_of_words_behind([len(text.split()) - n for text, n in zip(texts, reached.tolist())], texts)
    for window, of_window in enumerate(ids):
        words = of_window[of_window >= 0]
        if (np.diff(words) < 0).any():
            token = int(np.argmax(np.diff(words) < 0)) + 1
            raise ValueError(
                f"word_ids: expected words that ascend within a window, found {words[token]} after "
                f"{words[token - 1]} in window {window}"
            )

    def located(numbers: Ints, windows: Ints) -> _Located:
        block = [ids[window] for window in windows.tolist()]
        sizes = np.array([max(int(each.max(initial=-1)) + 1, 0) for each in block], dtype=np.int64)
        text_of_window = np.searchsorted(numbers, window_of[windows])
        most = np.zeros(len(numbers), dtype=np.int64)
        np.maximum.at(most, text_of_window, sizes)
        first_words = np.cumsum(most) - most
        word = np.concatenate(
            [np.where(each >= 0, each + first_words[at], -1) for each, at in zip(block, text_of_window)]
        )
        return _Located(word, _parts_of_words(block, word)[np.newaxis], first_words)

    blocks = _decoded(window_of, list(map(len, ids)), located, predictions, labels)
    return select(_segments_of(blocks), min_words, min_probability, join_gap)


@by_position
def from_word_labels(
    predictions: Sequence[Any],
    labels: Labels = None,
    *,
    texts: str | Sequence[str] | None = None,
    min_words: Thresholds = 1,
    min_probability: Thresholds = 0.0,
    join_gap: Gaps = None,
) -> Spans:
    """Decode the segments from predictions for the words of essays.

    Parameters
    ----------
    predictions : sequence of (words, labels) float, or of (words,) str or int
        For each essay, the probabilities or the label of each word of ``text.split()``.
    labels : sequence of str, or dict of int to str, optional
        The model's ``id2label``, as for `from_tokens`.
    texts : str or sequence of str, optional
        The essays, to check that they have as many words. Give them if you have them.
    min_words, min_probability : float or mapping of str to float
        The least number of words and the least probability, as for `select`.
    join_gap : int, None, or mapping of str to int
        The largest gap between neighbors that are joined, as for `select`.

    Returns
    -------
    Spans
        The segments, essay by essay.

    Raises
    ------
    ValueError
        A text has another number of words, or `from_tokens` would refuse the predictions or labels.

    Examples
    --------
    >>> from_word_labels([["B-Lead", "I-Lead", "O"], ["O", "B-Claim"]]).essay.tolist()
    [0, 1]
    """
    word_ids = [range(len(of_essay)) for of_essay in predictions]
    if texts is not None:
        texts = texts_of(texts)
        require_equal_sizes({"texts": texts, "predictions": predictions})
        for number, (text, words) in enumerate(zip(texts, word_ids)):
            if len(words) != len(text.split()):
                raise ValueError(
                    f"predictions: expected one for each of the {counted(len(text.split()), 'word')} that "
                    f"text.split() makes of text {number}, found {len(words):,}"
                )
    return select(from_word_ids(word_ids, predictions, labels), min_words, min_probability, join_gap)


@by_position
def word_probabilities(
    texts: str | Sequence[str],
    offset_mapping: Any,
    predictions: Any,
    labels: Labels = None,
    *,
    essay: npt.ArrayLike | None = None,
) -> list[Floats]:
    """Compute the probabilities of words from predictions for tokens, to average models with other tokenizers.

    A type's probability at a word is the mean over the word's tokens. It is divided between B and I as by the
    token that is surest of a beginning. So the segments of `from_word_labels` are those of `from_tokens`,
    except that labels E and S do not end a segment.

    Parameters
    ----------
    texts, offset_mapping, predictions, labels, essay
        The predictions of one model, as for `from_tokens`.

    Returns
    -------
    list of (words, labels) float
        For each text, the probabilities of the labels in `LABELS`. They are 0 for a word without a token.

    Raises
    ------
    ValueError
        `from_tokens` would refuse an argument.

    Examples
    --------
    >>> text, labels = "I agree.", ["O", "B-Claim", "I-Claim"]
    >>> one = word_probabilities(text, [(0, 1), (2, 8)], [[0.2, 0.8, 0.0], [0.6, 0.0, 0.4]], labels)
    >>> other = word_probabilities(text, [(0, 1), (2, 8)], [[0.2, 0.8, 0.0], [0.3, 0.0, 0.7]], labels)
    >>> from_word_labels([(a + b) / 2 for a, b in zip(one, other)], LABELS).words.tolist()
    [2]
    """
    texts, blocks = _of_offsets(texts, offset_mapping, predictions, labels, essay)
    found = [np.zeros((len(text.split()), len(LABELS))) for text in texts]
    for word, probabilities, scheme, first_words, numbers in blocks:
        if not len(word):
            continue
        of_types = np.zeros((len(TYPES) + 1, len(word)))
        beginning = np.zeros_like(of_types)
        for label, kind in enumerate(scheme.kinds.tolist()):
            of_types[kind] += probabilities[:, label]
            if scheme.labels[label].startswith(("B-", "S-")):
                beginning[kind] += probabilities[:, label]
        share = np.divide(beginning, of_types, out=np.zeros_like(of_types), where=of_types > 0)
        start = np.flatnonzero(differs(word))
        means_of_words = np.add.reduceat(of_types, start, axis=1) / np.diff(np.append(start, len(word)))
        surest = np.maximum.reduceat(share, start, axis=1)
        columns = np.zeros((len(start), len(LABELS)))
        columns[:, 0] = means_of_words[-1]
        columns[:, 1::2] = (means_of_words * surest)[:-1].T
        columns[:, 2::2] = (means_of_words * (1 - surest))[:-1].T
        essays = np.searchsorted(first_words, word[start], side="right") - 1
        for at, rows in by_essay(essays):
            found[numbers[at]][word[start[rows]] - first_words[at]] = columns[rows]
    return found


def _require_words(texts: Sequence[str], window_of: Ints, ids: list[Ints]) -> None:
    """Check that the numbers of words are those of the texts' words, as far as one can see."""
    sizes = [len(text.split()) for text in texts]
    beyond = [
        (number, int(of_window.max(initial=-1)))
        for number, of_window in zip(window_of.tolist(), ids)
        if of_window.max(initial=-1) >= sizes[number]
    ]
    if beyond:
        number, word = beyond[0]
        raise ValueError(
            "word_ids: expected the words of text.split(). If the tokenizer was given whole texts, its words "
            f"are others, so call from_tokens with its offset_mapping. Found word {word} in text {number}, "
            f"which has {counted(sizes[number], 'word')}, counted from 0; wrong in "
            f"{counted(len(beyond), 'window')} of {len(ids):,}"
        )


def _warn_of_words_behind(behind: Sequence[int], texts: Sequence[str]) -> None:
    """Warn of the words behind the last token of each text, which no prediction can reach.

    The tokenizer has probably cut the text.
    """
    cut = sum(number > 0 for number in behind)
    if cut:
        words = sum(len(text.split()) for text, number in zip(texts, behind) if number)
        warnings.warn(
            f"{sum(behind):,} of {counted(words, 'word')} in {counted(cut, 'text')} stand behind the last "
            "token, as if the tokenizer had cut the texts; no segment can have them",
            stacklevel=5,
        )


def _require_windows(name: str, given: Any, depth: int) -> None:
    """Check that each element is a window of at most this depth, and not a batch of windows."""
    first = given[0] if len(given) else ()
    deepest, is_of_labels = _depth(first)
    is_batch_of_labels = name == "predictions" and deepest == 2 and is_of_labels
    if deepest > depth or is_batch_of_labels:
        raise ValueError(
            f"{name}: expected one window after the other, found batches of windows; put them into one list: "
            f"[window for batch in {name} for window in batch]"
        )


def _depth(value: Any) -> tuple[int, bool]:
    """Tell how deep a value is nested, and whether it holds labels, which are names or whole numbers."""
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        return array.ndim, array.dtype.kind not in "f"
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return 0, not isinstance(value, float)
    depth, is_of_labels = _depth(value[0]) if len(value) else (0, False)
    return depth + 1, is_of_labels


class _Located(NamedTuple):
    """Where the tokens of some essays are, whose words are numbered from the first essay to the last."""

    word: Ints  # (tokens,) the word of each token, -1 if it has none
    same: Ints  # (k, tokens) equal columns mark tokens of a word that are the same one in several windows
    first_words: Ints  # (essays,) the number of the first word of each essay


class _Block(NamedTuple):
    """The tokens of some essays, in the order of their words, and what was predicted for them."""

    word: Ints  # (tokens,) the word of each token; the words are numbered from the first essay to the last
    probabilities: Floats  # (tokens, labels)
    scheme: "_Scheme"
    first_words: Ints  # (essays,) the number of the first word of each essay
    numbers: Ints  # (essays,) the index of each essay


def _of_offsets(
    texts: str | Sequence[str], offset_mapping: Any, predictions: Any, labels: Labels, essay: Any
) -> tuple[Sequence[str], Iterator[_Block]]:
    """Check the arguments of `from_tokens`; return the texts and the tokens of all windows."""
    if isinstance(texts, str):
        offset_mapping, predictions = [offset_mapping], [predictions]
    texts = texts_of(texts)
    _require_windows("offset_mapping", offset_mapping, 2)
    _require_windows("predictions", predictions, 2)
    windows_given = {"windows of offset_mapping": offset_mapping, "windows of predictions": predictions}
    window_of = _essays_of_windows(essay, len(texts), windows_given)
    offsets = [
        _checked_offsets(given, window, len(texts[number]))
        for window, (given, number) in enumerate(zip(offset_mapping, window_of.tolist()))
    ]

    def located(numbers: Ints, windows: Ints) -> _Located:
        text = _LongText([texts[number] for number in numbers.tolist()])
        block = [offsets[window] for window in windows.tolist()]
        begins = text.begins[np.searchsorted(numbers, window_of[windows])]
        start, end = np.concatenate(block).T + np.repeat(begins, [len(each) for each in block])
        return _Located(text.words_of(start, end), np.stack([_repeats(block), end, start]), text.first_words)

    ends = np.zeros(len(texts), dtype=np.int64)
    for of_window, number in zip(offsets, window_of.tolist()):
        ends[number] = max(ends[number], int(of_window[:, 1].max(initial=0)))
    _warn_of_words_behind([len(text[end:].split()) for text, end in zip(texts, ends.tolist())], texts)
    _warn_of_shifted(predictions, offsets)
    return texts, _decoded(window_of, list(map(len, offsets)), located, predictions, labels)


def _decoded(
    window_of: Ints,
    sizes: list[int],
    located: Callable[[Ints, Ints], _Located],
    predictions: Any,
    labels: Labels,
) -> Iterator[_Block]:
    """Read the predictions for all essays, some essays at once; `located` tells where the tokens of these are.

    `window_of` has the essay of each window, and `sizes` the number of its tokens.
    """
    tokens = _cut(predictions, sizes)
    scheme = _Scheme.of(labels, _are_names(tokens))
    for numbers, windows in _blocks(window_of):
        word, same, first_words = located(numbers, windows)
        probabilities = _probabilities([tokens[window] for window in windows.tolist()], windows, scheme)
        used = np.flatnonzero((word >= 0) & probabilities.any(axis=1))
        in_several = same[:, used] if len(windows) > len(numbers) else None
        word, probabilities = _averaged(word[used], in_several, probabilities[used])
        yield _Block(word, probabilities, scheme, first_words, numbers)


def _essays_of_windows(essay: npt.ArrayLike | None, texts: int, windows: Mapping[str, Any]) -> Ints:
    """Return the text of each window, and check that all `windows` have one entry for each."""
    numbers = np.arange(texts) if essay is None else integers("essay", essay)
    require_equal_sizes({"texts" if essay is None else "essay": numbers, **windows})
    wrong = (numbers < 0) | (numbers >= texts)
    if wrong.any():
        raise ValueError(
            f"essay: expected indices of the {texts} texts, counted from 0, found {numbers[np.argmax(wrong)]}"
        )
    return numbers


def _blocks(window_of: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield blocks of essays that are decoded at once, each with their windows."""
    order = np.argsort(window_of, kind="stable")
    numbers, begins = np.unique(window_of[order], return_index=True)
    begins = np.append(begins, len(order))
    for block in range(0, len(numbers), TEXTS_AT_ONCE):
        some = numbers[block : block + TEXTS_AT_ONCE]
        yield some, order[begins[block] : begins[block + len(some)]]


def _cut(predictions: Any, lengths: list[int]) -> list[npt.NDArray[Any]]:
    """Cut off the predictions for padding. `lengths` has the number of tokens of each window."""
    tokens = [np.asarray(of_window) for of_window in predictions]
    is_padded = len(tokens) > 1 and len({len(each) for each in tokens}) == 1
    for window, (each, length) in enumerate(zip(tokens, lengths)):
        if len(each) < length or (len(each) > length and not is_padded):
            raise ValueError(
                f"expected the same number of each, found {length} offsets of window {window}, {len(each)} "
                "predictions"
            )
    return [each[:length] for each, length in zip(tokens, lengths)]


def _warn_of_shifted(predictions: Any, offsets: list[Ints]) -> None:
    """Warn if padded predictions seem to have special tokens that the offsets lack."""
    more = {len(of_window) for of_window in predictions}
    longest = max(map(len, offsets), default=0)
    is_special = any(len(of_window) and not of_window[0].any() for of_window in offsets)
    if len(predictions) > 1 and len(more) == 1 and 0 < more.pop() - longest <= 2 and not is_special:
        warnings.warn(
            "the predictions have one or two tokens more than the longest window of offset_mapping, which has "
            "no special tokens such as [CLS]; if the predictions have them, every label is a token late: make "
            "both with the same special tokens",
            stacklevel=4,
        )


def _are_names(tokens: list[npt.NDArray[Any]]) -> bool:
    """Tell whether the predictions of all windows are names of labels."""
    return all(each.ndim == 1 and each.dtype.kind not in "iufb" for each in tokens if each.size)


def _checked_offsets(given: Any, window: int, length: int) -> Ints:
    """Check the offsets of a window, (tokens, 2), whose text has `length` characters."""
    offsets = np.asarray(given)
    if not offsets.size:
        return np.zeros((0, 2), dtype=np.int64)
    if offsets.ndim != 2 or offsets.shape[1] != 2 or offsets.dtype.kind not in "iu":
        raise ValueError(
            "offset_mapping: expected two positions of characters per token, found "
            f"{offsets.dtype} of shape {offsets.shape} in window {window}"
        )
    start, end = offsets[:, 0], offsets[:, 1]
    wrong = (start < 0) | (end < start) | (end > length)
    if wrong.any():
        token = int(np.argmax(wrong))
        raise ValueError(
            f"offset_mapping: expected positions within the text's {length} characters, found "
            f"{tuple(offsets[token].tolist())} for token {token} of window {window}"
        )
    visible = offsets[end > start]  # Special tokens have the offsets (0, 0).
    descends = (visible[1:] < visible[:-1]).any(axis=1)
    if descends.any():
        token = int(np.argmax(descends))
        raise ValueError(
            "offset_mapping: expected positions that ascend within a window, found "
            f"{tuple(visible[token + 1].tolist())} after {tuple(visible[token].tolist())} in window {window}. "
            "With is_split_into_words=True they start again in every word; call from_word_ids instead"
        )
    return offsets.astype(np.int64)


class _LongText:
    """Many texts joined into one, whose words are numbered from the first text to the last."""

    def __init__(self, texts: Sequence[str]) -> None:
        whole = "\n".join([*texts, ""])
        characters = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)
        visible = _VISIBLE[np.minimum(characters, len(_VISIBLE) - 1)]
        lengths = np.array([len(text) + 1 for text in texts])
        self.begins: Ints = np.cumsum(lengths) - lengths
        begins = visible.copy()
        begins[1:] &= ~visible[:-1]
        counts = np.cumsum(begins)
        self.first_words: Ints = np.append(0, counts)[self.begins]
        self._word = np.append(counts[visible] - 1, -1)
        self._visible = np.append(0, np.cumsum(visible))

    def words_of(self, start: Ints, end: Ints) -> Ints:
        """Find the word that has the middle visible character of each token; -1 if the token has none."""
        first, behind = self._visible[start], self._visible[end]
        return np.where(behind > first, self._word[(first + behind) // 2], -1)


# Which characters are not white space for `str.split`. All white space is among the first 12,289 characters. A
# table of these is faster than a test of every character.
_VISIBLE = ~np.strings.isspace(np.arange(0x3002, dtype=np.uint32).view("U1"))


def _repeats(windows: list[Ints]) -> Ints:
    """Count the tokens directly before each one that have the same characters, as with an emoji."""
    offsets = np.concatenate(windows)
    is_new = differs(*offsets.T)
    sizes = np.array([len(window) for window in windows])
    is_new[(np.cumsum(sizes) - sizes)[sizes > 0]] = True
    index = np.arange(len(offsets))
    repeats: Ints = index - np.maximum.accumulate(np.where(is_new, index, 0))
    return repeats


def _parts_of_words(windows: list[Ints], word: Ints) -> Ints:
    """Number each word's tokens from 0, also where a window begins within the word."""
    ids = np.concatenate(windows)
    number = np.repeat(np.arange(len(windows)), [len(each) for each in windows])
    is_new = differs(ids, number)
    run = np.cumsum(is_new) - 1
    begins = np.flatnonzero(is_new)
    sizes = np.diff(np.append(begins, len(ids)))
    part = np.arange(len(ids)) - begins[run]
    most = np.zeros(int(word.max(initial=-1)) + 2, dtype=np.int64)
    np.maximum.at(most, word[begins], sizes)
    # The first word of a window may lack its first tokens. The tokens that are there are its last ones.
    visible = np.flatnonzero(ids >= 0)
    _, first_visible = np.unique(number[visible], return_index=True)
    cut = np.zeros(len(begins), dtype=bool)
    cut[run[visible[first_visible]]] = True
    lacking = np.where(cut, most[word[begins]] - sizes, 0)
    return np.asarray(part + lacking[run])


def _probabilities(tokens: list[npt.NDArray[Any]], windows: Ints, scheme: "_Scheme") -> Floats:
    """Return the probabilities of all windows, (tokens, labels). They are 0 for a token without a label."""
    number = len(scheme.labels)
    sized = [each for each in tokens if each.size]
    if len({each.ndim for each in sized}) > 1:
        raise ValueError("predictions: expected probabilities or labels in all windows, found both")
    if not sized:
        return np.zeros((0, number))
    if sized[0].ndim == 1:
        tags = [tag for each in sized for tag in each.tolist()]
        return np.eye(number + 1)[scheme.numbers_of(tags), :-1]
    for window, each in zip(windows.tolist(), tokens):
        if each.size and each.shape[1] != number:
            raise ValueError(
                f"expected {number} probabilities per token, one for each label, found {each.shape[1]} in "
                f"window {window}"
            )
    probabilities = np.concatenate(sized).astype(np.float64)
    # Comparisons with NaN are false, so the negation also catches NaN.
    if not (probabilities.min(initial=0) >= 0 and probabilities.max(initial=0) <= 1 + ROUNDING):
        wrong = ~((probabilities >= 0) & (probabilities <= 1 + ROUNDING)).all(axis=1)
        token = int(np.argmax(wrong))
        raise ValueError(
            "expected probabilities, such as the softmax of logits, found "
            f"{probabilities[token].round(3).tolist()} for token {token}"
        )
    return probabilities


def _averaged(word: Ints, same: Ints | None, probabilities: Floats) -> tuple[Ints, Floats]:
    """Put tokens in the order of their words, and average the predictions of a token in several windows.

    Tokens are the same if they have the same word and the same column of `same`. If `same` is None, all tokens
    differ.
    """
    if same is None:
        if (np.diff(word) < 0).any():
            order = np.argsort(word, kind="stable")
            return word[order], probabilities[order]
        return word, probabilities
    keys = np.concatenate([same, word[np.newaxis]])
    order = np.lexsort(keys)
    keys = keys[:, order]
    begins = np.flatnonzero(differs(*keys))
    if not len(begins):
        return word, probabilities
    sums = np.add.reduceat(probabilities[order], begins)
    counts = np.diff(np.append(begins, len(order)))
    return keys[-1, begins], sums / counts[:, np.newaxis]


def _segments_of(blocks: Iterator[_Block]) -> Spans:
    """Decode the segments of all essays."""
    return concat([_segments(*block) for block in blocks])


def _segments(word: Ints, probabilities: Floats, scheme: "_Scheme", first_words: Ints, numbers: Ints) -> Spans:
    """Decode the segments of a `_Block`."""
    if not len(word):
        return from_words([], [], [])
    start = np.flatnonzero(differs(word))
    seen, tokens = word[start], np.diff(np.append(start, len(word)))
    of_tokens = np.zeros((len(TYPES) + 1, len(word)))
    # A product of matrices would do the same, but BLAS would wake all of its threads for it.
    for label, kind_of_label in enumerate(scheme.kinds.tolist()):
        of_tokens[kind_of_label] += probabilities[:, label]
    of_kinds = np.add.reduceat(of_tokens, start, axis=1) / tokens
    kind = of_kinds.argmax(axis=0)
    begins, ends = _edges(probabilities, scheme, start, kind, tokens)

    essay = np.searchsorted(first_words, seen, side="right") - 1
    inside = kind < len(TYPES)
    goes_on = inside[1:] & (kind[1:] == kind[:-1]) & ~begins[1:] & ~ends[:-1] & (essay[1:] == essay[:-1])
    first, last = stretches(inside, goes_on)
    return Spans(
        essay=numbers[essay[first]],
        first=seen[first] - first_words[essay[first]],
        last=seen[last] - first_words[essay[first]],
        discourse_type=kind[first],
        probability=means(of_kinds.max(axis=0).clip(max=1.0), first, last),
        d1=np.full(len(first), 0.5),
        repaired=(scheme.tagged[0] & ~begins[first]).astype(np.int64) + (scheme.tagged[1] & ~ends[last]),
    )


def _edges(
    probabilities: Floats, scheme: "_Scheme", start: Ints, kind: Ints, tokens: Ints
) -> tuple[Bools, Bools]:
    """Tell whether a segment begins and ends at each word.

    It does so if one of the word's tokens says so for the word's type."""
    begins, ends = np.zeros((2, len(kind)), dtype=bool)
    words = np.flatnonzero(kind < len(TYPES))
    if not len(words) or not any(scheme.tagged):
        return begins, ends
    sizes = tokens[words]
    first = np.cumsum(sizes) - sizes
    _, row = ranges(start[words], sizes)
    of_type = np.repeat(kind[words], sizes)

    def of_prefix(prefix: str) -> Any:
        """Get the probability of each token's label with this prefix; 0 if there is no such label."""
        column = scheme.column[PREFIXES.index(prefix)]
        if (column[:-1] == len(scheme.labels)).all():
            return 0.0
        wanted = column[of_type]
        there = wanted < len(scheme.labels)
        return np.where(there, probabilities[row, np.where(there, wanted, 0)], 0.0)

    b, i, e, s = map(of_prefix, "BIES")
    begins[words] = np.logical_or.reduceat(b + s > i + e, first)
    if scheme.tagged[1]:
        ends[words] = np.logical_or.reduceat(e + s > b + i, first)
    return begins, ends


# ---- Labels ----------------------------------------------------------------------------------------------


class _Scheme(NamedTuple):
    """The meaning of a model's labels."""

    labels: list[str]  # the labels in the order of the model
    kinds: Ints  # (labels,) the type of each label, as an index into `TYPES`; for "O" it is the number of types
    # (4, types + 1) The index of the label with a prefix of `PREFIXES` and a type. If there is none, it is the
    # number of labels.
    column: Ints
    tagged: tuple[bool, bool]  # (bool, bool) whether labels tell where segments begin, and where they end

    @classmethod
    def of(cls, given: Labels, are_names: bool) -> "_Scheme":
        """Read the scheme from the labels, which may be left out if the predictions are names."""
        if given is None and not are_names:
            raise ValueError(
                "labels: expected the model's labels in their order, such as model.config.id2label; "
                "probabilities and indices do not tell which label is which"
            )
        labels = list(LABELS) if given is None else _in_order(given)
        kinds_of_labels = [MEANINGS.get(label) for label in labels]
        if not any(meaning is not None and meaning[1] < len(TYPES) for meaning in kinds_of_labels):
            raise ValueError(
                f"labels: expected the discourse types {', '.join(TYPES)}, with or without B-, I-, E- or S-; "
                f"found the labels of another task: {', '.join(map(str, labels[:4]))}"
            )
        for label in labels:
            if label not in MEANINGS:
                raise ValueError(
                    f"labels: expected 'O' and types, with or without B-, I-, E- or S-, found {label!r}. "
                    f"The types are {', '.join(TYPES)}"
                )
            if labels.count(label) > 1:
                raise ValueError(f"labels: expected each once, found {label!r} {labels.count(label)} times")
        prefixes = [MEANINGS[label][0] for label in labels]
        kinds = np.array([MEANINGS[label][1] for label in labels], dtype=np.int64)
        used = set(prefixes) - {None}
        if "" in used and len(used) > 1:
            raise ValueError(f"labels: expected all types with a prefix or none, found {', '.join(labels)}")
        column = np.full((len(PREFIXES), len(TYPES) + 1), len(labels))
        column[[PREFIXES.index(prefix or "I") for prefix in prefixes], kinds] = np.arange(len(labels))
        tagged = bool(used & {"B", "S"}), bool(used & {"E", "S"})
        return cls(labels, kinds, column, tagged)

    def numbers_of(self, tags: list[Any]) -> Ints:
        """Turn the labels of tokens, which are names or indices, into indices; -1 for no label."""
        known: dict[Any, int] = {label: number for number, label in enumerate(self.labels)} | {IGNORED: -1}
        known |= {number: number for number in range(len(self.labels))}
        token = next((row for row, tag in enumerate(tags) if tag not in known), None)
        if token is not None:
            raise ValueError(
                f"expected names or indices of the labels {', '.join(self.labels)}, found {tags[token]!r} for "
                f"token {token}"
            )
        return np.array([known[tag] for tag in tags], dtype=np.int64)

    def tag(self, kind: Ints, begins: Bools, ends: Bools) -> Ints:
        """Choose the label of each token by its type and by whether it begins or ends its segment."""
        begins, ends = begins & self.tagged[0], ends & self.tagged[1]
        prefix = np.select([begins & ends, begins, ends], [3, 0, 2], default=1)
        tags: Ints = self.column[prefix, kind]
        lacking = np.flatnonzero(tags == len(self.labels))
        if len(lacking):
            name = f"{PREFIXES[prefix[lacking[0]]]}-{TYPES[kind[lacking[0]]]}"
            raise ValueError(f"labels: expected also {name!r}, found {', '.join(self.labels)}")
        return tags


def _in_order(labels: Sequence[str] | Mapping[Any, str]) -> list[str]:
    """List labels in the order of their indices. Keys of ``id2label`` may be text, as in JSON."""
    if not isinstance(labels, Mapping):
        return list(labels)
    by_number: dict[str, str] = {str(key): name for key, name in labels.items()}
    if str(IGNORED) in by_number:
        raise ValueError(
            f"labels: leave out the label {IGNORED} ({by_number[str(IGNORED)]!r:.40}), which stands for tokens "
            "without a label; a model gives no probability for it"
        )
    wanted = [str(number) for number in range(len(labels))]
    if sorted(by_number) != sorted(wanted):
        keys = ", ".join(map(repr, list(labels)[:3]))
        raise ValueError(
            f"labels: expected the numbers 0 to {len(labels) - 1} as keys, as in id2label, found {keys}"
        )
    return [by_number[number] for number in wanted]


# ---- Out of spans ----------------------------------------------------------------------------------------


@by_position
def bio_tags(
    texts: str | Sequence[str],
    offset_mapping: Any,
    truths: Spans,
    labels: Labels = LABELS,
    *,
    essay: npt.ArrayLike | None = None,
) -> Any:
    """Tag tokens with labels to train a model on.

    Parameters
    ----------
    texts : str or sequence of str
        The essays.
    offset_mapping : (tokens, 2) int, or a list of such arrays
        The characters of each token, as for `from_tokens`.
    truths : Spans
        The true segments. They must not overlap; `without_overlaps` removes overlaps.
    labels : sequence of str, or dict of int to str
        The model's labels, as for `from_tokens`.
    essay : (windows,) int, optional
        The text of each window, as for `from_tokens`.

    Returns
    -------
    (tokens,) int, or a list of such arrays
        The index of the label of each token, -100 for tokens without a word. For several texts, it is a list
        with one array per window.

    Raises
    ------
    ValueError
        Segments overlap or are not within their text, or `from_tokens` would refuse an argument.

    Examples
    --------
    >>> bio_tags("I agree. Ban it.", [(0, 1), (2, 7), (7, 8), (9, 12), (13, 15), (15, 16)],
    ...          from_words(2, 3, "Claim"), ["O", "B-Claim", "I-Claim"]).tolist()
    [0, 0, 0, 1, 2, 2]
    """
    if isinstance(texts, str):
        return bio_tags([texts], [offset_mapping], truths, labels)[0]
    texts = texts_of(texts)
    _require_windows("offset_mapping", offset_mapping, 2)
    scheme = _Scheme.of(labels, False)
    if "O" not in scheme.labels:
        raise ValueError(f"labels: expected also 'O', found {', '.join(scheme.labels)}")
    require_essays(truths.essay, len(texts))
    _require_no_overlaps(truths)
    window_of = _essays_of_windows(essay, len(texts), {"windows of offset_mapping": offset_mapping})
    tags: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(offset_mapping)
    rows = dict(by_essay(truths.essay))
    for number, windows in by_essay(window_of):
        own = truths[rows.get(number, np.arange(0))]
        text = texts[number]
        words = len(text.split())
        expected = f"segments within the {words} words of their text"
        require(own.essay, own.last >= words, expected, "{} to {}", own.first, own.last)
        block = [_checked_offsets(offset_mapping[window], window, len(text)) for window in windows.tolist()]
        ends = np.cumsum([len(part) for part in block])
        for window, part in zip(windows.tolist(), np.split(_tags(text, block, own, scheme), ends[:-1])):
            tags[window] = part
    return tags


@by_position
def word_tags(texts: str | Sequence[str], truths: Spans, labels: Labels = LABELS) -> Any:
    """Tag the words of ``text.split()`` with labels to train a model of words on.

    Parameters
    ----------
    texts : str or sequence of str
        The essays.
    truths : Spans
        The true segments, as for `bio_tags`.
    labels : sequence of str, or dict of int to str
        The model's labels, as for `from_tokens`.

    Returns
    -------
    (words,) int, or a list of such arrays
        The index of the label of each word. For several texts, it is a list with one array per text.

    Raises
    ------
    ValueError
        Segments overlap or are not within their text, or labels are lacking.

    Examples
    --------
    >>> word_tags("I agree. Ban it.", from_words(2, 3, "Claim"), ["O", "B-Claim", "I-Claim"]).tolist()
    [0, 0, 1, 2]
    """
    words = [[match.span() for match in re.finditer(r"\S+", text)] for text in texts_of(texts)]
    return bio_tags(texts, words[0] if isinstance(texts, str) else words, truths, labels)


def _require_no_overlaps(truths: Spans) -> None:
    """Check that no two segments of an essay have a word in common."""
    order = np.lexsort((truths.last, truths.first, truths.essay))
    spans = truths[order]
    wrong = np.zeros(len(spans), dtype=bool)
    wrong[1:] = (spans.essay[1:] == spans.essay[:-1]) & (spans.first[1:] <= spans.last[:-1])
    expected = "segments without common words, as without_overlaps() leaves them"
    require(spans.essay, wrong, expected, "word {} is also in another one", spans.first)


def _tags(text: str, windows: list[Ints], own: Spans, scheme: _Scheme) -> Ints:
    """Tag the tokens of an essay in all of its windows, one window after the other."""
    offsets, repeats = np.concatenate(windows), _repeats(windows)
    word = _LongText([text]).words_of(*offsets.T)
    # Tokens without a word have the word -1, the last one.
    segment_of_word = np.full(len(text.split()) + 1, -1)
    for number, (first, last) in enumerate(zip(own.first.tolist(), own.last.tolist())):
        segment_of_word[first : last + 1] = number
    inside = np.flatnonzero(segment_of_word[word] >= 0)
    segment = segment_of_word[word[inside]]
    # A token begins its segment if no token of the segment starts earlier in the text, in any window. Among
    # tokens that share a character, the first one begins the segment. The same holds for its end.
    start, end = (offsets[inside] * (repeats.max(initial=0) + 1) + repeats[inside, np.newaxis]).T
    lowest = np.full(len(own), np.iinfo(np.int64).max)
    np.minimum.at(lowest, segment, start)
    highest = np.full(len(own), -1)
    np.maximum.at(highest, segment, end)
    tags = np.where(word < 0, IGNORED, scheme.labels.index("O"))
    tags[inside] = scheme.tag(own.discourse_type[segment], start == lowest[segment], end == highest[segment])
    return tags
