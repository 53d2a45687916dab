"""Turn a classifier's predictions for tokens or words into segments, and segments into tags for training.

A word gets the type with the largest probability. For this, the probabilities of a type's labels (B-Lead and
I-Lead) are added, and those of the word's tokens are averaged. A segment begins at a word if one of the word's
tokens says so. If several windows have the same token, its predictions are averaged. Illegal tags are repaired
and counted.

Many essays are decoded at once as one long text. The reason is that a call of numpy takes nearly the same time
for one essay as for all.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints, by_essay, differs, means, ranges, stretches
from podium.common.wording import counted
from podium.spans import door, relations
from podium.spans.by_position import by_position
from podium.spans.labels import LABELS, NO_LABEL, Labels, Scheme
from podium.spans.segments import Gaps, Spans, Thresholds, concat, require_texts, require_words, select
from podium.spans.vocabulary import LAST_POSITION, TYPES
from podium.tables.text_index import TextIndex

__all__ = [
    "LABELS",
    "bio_tags",
    "from_tokens",
    "from_word_ids",
    "from_word_labels",
    "word_probabilities",
    "word_tags",
]

# what each token has, and the shape of it; a prediction may also be probabilities
SHAPES: dict[str, tuple[str, tuple[int, ...]]] = {
    "offset_mapping": ("two positions", (2,)),
    "word_ids": ("a number or None", ()),
    "predictions": ("a label or probabilities", ()),
}
TEXTS_AT_ONCE = 64  # The probabilities of this many texts fit into the processor's cache.

T = TypeVar("T")


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
        Probabilities, or labels by name or index (-100 or None for no label). For several texts, it is a list
        with one array per window. If all windows have predictions for the same number of tokens, those after a
        window's own tokens are padding and are cut off. Padding in front of them is not: give `offset_mapping`
        with the same padding.
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
        `from_word_ids`. Or the offsets are those of another version of the texts, such as one with other line
        ends.

    Warns
    -----
    UserWarning
        Many words are cut where no other token goes on, as where the offsets are those of other texts. Or
        padded predictions have one or two tokens more than the longest window, and `offset_mapping` has no
        special tokens. Then the predictions probably have them, and every label is a token late.

    Examples
    --------
    A token belongs to the word that has its middle character. “ban” begins a claim although its tag is I-Claim:

    >>> spans = from_tokens("I agree. Ban it.", [(0, 1), (2, 7), (7, 8), (9, 12), (13, 15), (15, 16)],
    ...                     ["B-Position", "I-Position", "I-Position", "I-Claim", "I-Claim", "I-Claim"])
    >>> spans.to_frame()[["discourse_type", "first", "last", "repaired"]].values.tolist()
    [['Position', 0, 1, 0], ['Claim', 2, 3, 1]]
    """
    if isinstance(texts, str):
        texts, offset_mapping, predictions = [texts], [offset_mapping], [predictions]
    tokens = _of_offsets(texts, offset_mapping, essay)
    spans = concat(_decoded(tokens, predictions, labels, _segments))
    return select(spans, min_words, min_probability, join_gap)


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
    if _is_flat(word_ids):
        word_ids, predictions = [word_ids], [predictions]  # of one window
    tokens = _of_word_ids(word_ids, texts, essay)
    spans = concat(_decoded(tokens, predictions, labels, _segments))
    return select(spans, min_words, min_probability, join_gap)


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
        For each essay, the probabilities or the label of each word of ``text.split()``. The flat list of one
        essay's labels is accepted.
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
    given = _of_windows("predictions", [predictions] if _is_flat(predictions) else predictions)
    if texts is not None:
        texts = door.texts_of(texts)
        door.require_equal_sizes({"texts": texts, "predictions": given})
        for number, (text, of_text) in enumerate(zip(texts, given)):
            door.require_equal_sizes({f"words of text {number}": text.split(), "predictions": of_text})
    tokens = _of_words(np.array(list(map(len, given)), dtype=np.int64))
    spans = concat(_decoded(tokens, given, labels, _segments))
    return select(spans, min_words, min_probability, join_gap)


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
    if isinstance(texts, str):
        texts, offset_mapping, predictions = [texts], [offset_mapping], [predictions]
    tokens = _of_offsets(texts, offset_mapping, essay)
    found = np.zeros((int(tokens.words.sum()), len(LABELS)))
    for words, probabilities in _decoded(tokens, predictions, labels, _probabilities_of_words):
        found[words] = probabilities
    return np.split(found, tokens.first_words[1:])[: len(tokens.words)]


def _probabilities_of_words(block: "_Block") -> tuple[Ints, Floats]:
    """Compute the probabilities of `LABELS` for each word that has a token: the words, and (words, labels)."""
    of_types, beginning, *_ = _by_type(block)
    share = np.divide(beginning, of_types, out=np.zeros_like(of_types), where=of_types > 0)
    start = np.flatnonzero(differs(block.word))
    columns = np.zeros((len(start), len(LABELS)))
    means_of_words = np.add.reduceat(of_types, start, axis=1) / np.diff(np.append(start, len(block.word)))
    surest = np.maximum.reduceat(share, start, axis=1)
    columns[:, 0] = means_of_words[-1]
    columns[:, 1::2] = (means_of_words * surest)[:-1].T
    columns[:, 2::2] = (means_of_words * (1 - surest))[:-1].T
    return block.word[start], columns


# ---- The words of tokens ---------------------------------------------------------------------------------


class _Tokens(NamedTuple):
    """The tokens of windows, one window after the other, given by the words that they belong to.

    Words are numbered from the first text to the last. A token has the same word and part in all windows.
    """

    text_of: Ints  # (windows,) the text of each window
    sizes: Ints  # (windows,) the number of its tokens
    word: Ints  # (tokens,) the word of each token; -1 if it has none
    part: Ints  # (tokens,) a number that orders the tokens of a word
    words: Ints  # (texts,) the number of words of each text
    fits: bool = True  # whether the tokens are those of the texts, as far as one can see

    @property
    def first_words(self) -> Ints:
        """The number of the first word of each text, (texts,)."""
        return np.cumsum(self.words) - self.words

    def of_windows(self, windows: Ints) -> Ints:
        """List the tokens of some windows."""
        begins = np.cumsum(self.sizes) - self.sizes
        return ranges(begins[windows], self.sizes[windows])[1]


def _of_offsets(texts: Sequence[str], offset_mapping: Any, essay: npt.ArrayLike | None) -> _Tokens:
    """Find the words of tokens that are given by their characters."""
    texts = door.texts_of(texts)
    offsets, sizes = _positions("offset_mapping", offset_mapping)
    text_of = _texts_of_windows(essay, len(texts), "offset_mapping", offset_mapping)
    window = np.repeat(np.arange(len(sizes)), sizes)
    start, end = offsets.T
    fits = relations.check_tokens(texts, text_of, sizes, start, end)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)[text_of[window]]
    door.require_within(window, start, end, lengths, 0, "token")
    expected = (
        "offset_mapping that ascends within a window; with is_split_into_words=True it starts again in every "
        "word, so call from_word_ids"
    )
    seen = np.flatnonzero(end > start)  # special tokens have the offsets (0, 0)
    descends = _descends(start, window, seen) | _descends(end, window, seen)
    door.require(window, descends, expected, "{} to {}", start, end, part="token")
    word = np.full(len(offsets), -1)
    parts = _parts_of_offsets(start, end, window)
    tokens = _Tokens(text_of, sizes, word, parts, door.numbers_of_words(texts), fits)
    first_words = tokens.first_words
    for number, windows in by_essay(text_of):
        own = tokens.of_windows(windows)
        found = TextIndex(texts[number]).middle_word(start[own], end[own])
        word[own] = np.where(found >= 0, found + first_words[number], -1)
    return tokens


def _of_word_ids(
    word_ids: Sequence[Any], texts: str | Sequence[str] | None, essay: npt.ArrayLike | None
) -> _Tokens:
    """Check the numbers of the words of tokens."""
    texts = None if texts is None else door.texts_of(texts)
    ids, sizes = _positions("word_ids", word_ids)
    text_of = _texts_of_windows(essay, None if texts is None else len(texts), "word_ids", word_ids)
    window = np.repeat(np.arange(len(sizes)), sizes)
    text = text_of[window]
    descends = _descends(ids, window, np.flatnonzero(ids >= 0))
    expected = f"word_ids that ascend within a window, up to {LAST_POSITION}"
    door.require(window, descends | (ids > LAST_POSITION), expected, "{}", ids, part="token")
    if texts is None:
        words = np.zeros(int(text_of.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(words, text, ids + 1)
    else:
        words = door.numbers_of_words(texts)
        expected = (
            "word_ids of the words of text.split(); if the tokenizer was given whole texts, its words are "
            "others, so call from_tokens with its offset_mapping"
        )
        own = words[text]
        door.require(window, ids >= own, expected, "word {} of {}", ids, own, part="token")
    word = np.where(ids >= 0, ids + (np.cumsum(words) - words)[text], -1)
    return _Tokens(text_of, sizes, word, _parts_of_words(word, window), words)


def _is_flat(given: Sequence[Any]) -> bool:
    """Tell whether a list has a value for each token or word of one text, and not a list for each text."""
    with suppress(ValueError):  # of lists of different lengths, which are refused where they are read
        return len(given) > 0 and all(np.ndim(each) == 0 for each in given)
    return False


def _of_words(numbers: Ints) -> _Tokens:
    """Take each word of some texts for a token."""
    word = np.arange(numbers.sum())
    return _Tokens(np.arange(len(numbers)), numbers, word, np.zeros_like(word), numbers)


def _texts_of_windows(essay: npt.ArrayLike | None, texts: int | None, name: str, windows: Any) -> Ints:
    """Return the text of each window; if it is not said, each text is one window."""
    if essay is None:
        numbers = np.arange(len(windows) if texts is None else texts)
        door.require_equal_sizes({"texts": numbers, f"windows of {name}": windows})
        return numbers
    numbers = door.integers("essay", essay, "window")
    door.require_columns({"essay": numbers, f"windows of {name}": np.arange(len(windows))})
    numbers = np.broadcast_to(numbers, len(windows))
    door.require_essays(numbers, int(numbers.max(initial=0)) + 1 if texts is None else texts, "window")
    return numbers


def _descends(positions: Ints, window: Ints, seen: Ints) -> Bools:
    """Tell which tokens have a lower position than the one before them in their window, among those seen."""
    descends = np.zeros(len(positions), dtype=bool)
    descends[seen[1:]] = (np.diff(positions[seen]) < 0) & (np.diff(window[seen]) == 0)
    return descends


def _positions(name: str, windows: Any) -> tuple[Ints, Ints]:
    """Read the positions of the tokens of all windows, and count each window's; -1 stands for None and NaN."""
    shape = SHAPES[name][1]
    positions = [np.zeros((0, *shape), dtype=np.int64)]
    for window, array in enumerate(_of_windows(name, windows)):
        if array.dtype.kind not in "iu":
            array = np.where(pd.isna(array), -1, array.astype(object))
        positions.append(door.integers(f"{name} of window {window}", array.reshape(-1, *shape), "token"))
    return np.concatenate(positions), np.array(list(map(len, positions[1:])), dtype=np.int64)


def _of_windows(name: str, windows: Any) -> list[npt.NDArray[Any]]:
    """Read what each window has for its tokens as an array, and check the arrays' shapes."""
    expected, shape = SHAPES[name]
    arrays = []
    for window, given in enumerate(windows):
        try:
            array = np.asarray(given)
            found = f"an array of shape {array.shape}"
        except ValueError:  # which have a dimension too many
            array, found = np.zeros((1, 1, 1)), "lists of different lengths"
        if name == "predictions" and array.ndim == 2 and array.dtype.kind in "OU":
            with suppress(ValueError, TypeError):  # numbers that a table holds as objects
                array = array.astype(np.float64)
        first = next(iter(array.flat[:1].tolist()), None)
        if array.ndim == 0 or isinstance(first, Mapping):
            raise ValueError(
                f"{name}: expected {expected} for each token, found {first!r:.40} in window {window}"
            )
        are_probabilities = name == "predictions" and array.ndim == 2 and _are_probabilities(array)
        if not (array.shape[1:] == shape or are_probabilities or not array.size):
            raise ValueError(
                f"{name}: expected {expected} for each token, found {found} in window {window}; if these are "
                f"batches of windows, put them into one list: [window for batch in {name} for window in batch]"
            )
        arrays.append(array)
    return arrays


def _are_probabilities(rows: npt.NDArray[Any]) -> bool:
    """Tell whether rows of numbers are probabilities; whole ones are 1 for one label, and 0 for the others."""
    return rows.dtype.kind == "f" or (rows.dtype.kind in "iub" and bool((rows.sum(axis=1) == 1).all()))


# ---- Their predictions -----------------------------------------------------------------------------------


class _Block(NamedTuple):
    """The tokens of some texts, in the order of their words, and what was predicted for them."""

    word: Ints  # (tokens,) the word of each token; the words are numbered from the first text to the last
    probabilities: Floats  # (tokens, labels)
    scheme: Scheme
    first_words: Ints  # (texts,) the number of the first word of each text


def _decoded(tokens: _Tokens, predictions: Any, labels: Labels, work: Callable[[_Block], T]) -> list[T]:
    """Read the predictions for tokens whose words are known, and do some work on them, some texts at once.

    This is the one entry for predictions, whatever says to which words they belong. Words that have none are
    warned of.
    """
    given = _cut(predictions, tokens)
    scheme = Scheme.of(labels, _are_names(given))
    relations.check_rows(given, len(TYPES) in scheme.kinds)
    lacks = np.ones(int(tokens.words.sum()), dtype=bool)
    order = np.argsort(tokens.text_of, kind="stable")
    borders = np.arange(TEXTS_AT_ONCE, len(tokens.words), TEXTS_AT_ONCE)
    results = []
    for windows in np.split(order, np.searchsorted(tokens.text_of[order], borders)):
        probabilities = _probabilities([given[number] for number in windows.tolist()], windows, scheme)
        own = tokens.of_windows(windows)
        used = (tokens.word[own] >= 0) & probabilities.any(axis=1)
        own, probabilities = own[used], probabilities[used]
        word = tokens.word[own]
        if not differs(tokens.text_of[windows]).all():
            word, probabilities = _averaged(word, tokens.part[own], probabilities)
        lacks[word] = False
        results.append(work(_Block(word, probabilities, scheme, tokens.first_words)))
    if lacks.any() and tokens.fits:
        text = np.repeat(np.arange(len(tokens.words)), tokens.words)[lacks]
        cut = np.unique(text)
        warnings.warn(
            f"{len(text):,} of {counted(int(tokens.words[cut].sum()), 'word')} in "
            f"{counted(len(cut), 'text')} have no token with a prediction, as if the tokenizer had cut "
            "the texts; a segment has such a word only where it goes on behind it",
            stacklevel=4,
        )
    return results


def _cut(predictions: Any, tokens: _Tokens) -> list[npt.NDArray[Any]]:
    """Cut off the predictions for padding; warn if they seem to have special tokens that the windows lack."""
    given = _of_windows("predictions", predictions)
    door.require_equal_sizes({"windows": tokens.sizes, "windows of predictions": given})
    is_padded = len(given) > 1 and len({len(each) for each in given}) == 1
    lengths = tokens.sizes.tolist()
    for window, (each, length) in enumerate(zip(given, lengths)):
        if not (is_padded and len(each) > length):
            door.require_equal_sizes({f"tokens of window {window}": range(length), "predictions": each})
    begins = (np.cumsum(tokens.sizes) - tokens.sizes)[tokens.sizes > 0]
    has_special = (tokens.word[begins] < 0).any()
    if is_padded and 0 < len(given[0]) - max(lengths) <= 2 and not has_special:
        warnings.warn(
            "the predictions have one or two tokens more than the longest window, which has no special tokens "
            "such as [CLS]; if the predictions have them, every label is a token late: make both with the same "
            "special tokens",
            stacklevel=5,
        )
    return [each[:length] for each, length in zip(given, lengths)]


def _are_names(tokens: list[npt.NDArray[Any]]) -> bool:
    """Tell whether the predictions of all windows are names of labels."""
    return all(each.ndim == 1 and each.dtype.kind not in "iufb" for each in tokens if each.size)


def _parts_of_offsets(start: Ints, end: Ints, window: Ints) -> Ints:
    """Number tokens by their characters; those of the same ones, as with an emoji, are counted."""
    index = np.arange(len(start))
    repeats = index - np.maximum.accumulate(np.where(differs(start, end, window), index, 0))
    parts: Ints = (start * (end.max(initial=0) + 1) + end) * (repeats.max(initial=0) + 1) + repeats
    return parts


def _parts_of_words(word: Ints, window: Ints) -> Ints:
    """Number each word's tokens from 0, also where a window begins within the word."""
    parts = np.zeros(len(word), dtype=np.int64)
    seen = word >= 0
    table = pd.DataFrame({"word": word[seen], "window": window[seen]})
    together = table.groupby(["window", "word"])["word"]
    size = together.transform("size")
    lacking = size.groupby(table["word"]).transform("max") - size
    # The first word of a window may lack its first tokens. The tokens that are there are its last ones.
    is_first = table["word"] == table.groupby("window")["word"].transform("first")
    parts[seen] = together.cumcount() + lacking.where(is_first, 0)
    return parts


def _probabilities(tokens: list[npt.NDArray[Any]], windows: Ints, scheme: Scheme) -> Floats:
    """Return the probabilities of all windows, (tokens, labels). They are 0 for a token without a label."""
    number = len(scheme.labels)
    sized = [each for each in tokens if each.size]
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
    return np.concatenate(sized).astype(np.float64)


def _averaged(word: Ints, part: Ints, probabilities: Floats) -> tuple[Ints, Floats]:
    """Average the predictions of a token in several windows, in the order of the words and their parts."""
    order = np.lexsort((part, word))
    word, part = word[order], part[order]
    begins = np.flatnonzero(differs(word, part))
    sums = np.add.reduceat(probabilities[order], begins)
    return word[begins], sums / np.diff(np.append(begins, len(order)))[:, np.newaxis]


def _segments(block: _Block) -> Spans:
    """Decode the segments of some essays."""
    word, _, scheme, first_words = block
    start = np.flatnonzero(differs(word))
    seen, tokens = word[start], np.diff(np.append(start, len(word)))
    of_types, *edges = _by_type(block)
    of_kinds = np.add.reduceat(of_types, start, axis=1) / tokens
    kind = of_kinds.argmax(axis=0)
    # A segment begins or ends at a word if one of the word's tokens says so for the word's type.
    own = np.repeat(kind, tokens), np.arange(len(word))
    begins, ends = (np.logical_or.reduceat((yes > no)[own], start) for yes, no in zip(edges[::2], edges[1::2]))
    essay = np.searchsorted(first_words, seen, side="right") - 1
    inside = kind < len(TYPES)
    goes_on = inside[1:] & (kind[1:] == kind[:-1]) & ~begins[1:] & ~ends[:-1] & (essay[1:] == essay[:-1])
    first, last = stretches(inside, goes_on)
    return Spans(
        essay=essay[first],
        first=seen[first] - first_words[essay[first]],
        last=seen[last] - first_words[essay[first]],
        discourse_type=kind[first],
        probability=means(of_kinds.max(axis=0).clip(max=1.0), first, last),
        d1=np.full(len(first), 0.5),
        repaired=(scheme.tagged[0] & ~begins[first]).astype(np.int64) + (scheme.tagged[1] & ~ends[last]),
    )


def _by_type(block: _Block) -> Floats:
    """Add the probabilities of the labels of each type, (5, types + 1, tokens).

    They are those of all labels, of those that begin a segment or do not, and of those that end one or do not.
    """
    sums = np.zeros((5, len(TYPES) + 1, len(block.word)))
    # A product of matrices would do the same, but BLAS would wake all of its threads for it.
    columns = np.ascontiguousarray(block.probabilities.T)
    for column, prefix, kind in zip(columns, block.scheme.prefixes, block.scheme.kinds.tolist()):
        for row in (0, 1 if prefix in ("B", "S") else 2, 3 if prefix in ("E", "S") else 4):
            sums[row, kind] += column
    return sums


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
    >>> from podium.spans import from_words
    >>> bio_tags("I agree. Ban it.", [(0, 1), (2, 7), (7, 8), (9, 12), (13, 15), (15, 16)],
    ...          from_words(2, 3, "Claim"), ["O", "B-Claim", "I-Claim"]).tolist()
    [0, 0, 0, 1, 2, 2]
    """
    if isinstance(texts, str):
        return bio_tags([texts], [offset_mapping], truths, labels)[0]
    return _tags(_of_offsets(texts, offset_mapping, essay), truths, labels)


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
    >>> from podium.spans import from_words
    >>> word_tags("I agree. Ban it.", from_words(2, 3, "Claim"), ["O", "B-Claim", "I-Claim"]).tolist()
    [0, 0, 1, 2]
    """
    if isinstance(texts, str):
        return word_tags([texts], truths, labels)[0]
    return _tags(_of_words(door.numbers_of_words(door.texts_of(texts))), truths, labels)


def _tags(tokens: _Tokens, truths: Spans, labels: Labels) -> list[Ints]:
    scheme = Scheme.of(labels, False)
    outside = np.flatnonzero(scheme.kinds == len(TYPES))
    if not len(outside):
        raise ValueError(f"labels: expected also 'O', found {', '.join(scheme.labels)}")
    require_texts(truths, len(tokens.words))
    require_words(truths, tokens.words, "segments within the words of their text")
    # Tokens without a word have the word -1, the last one.
    segment_of_word = np.full(int(tokens.words.sum()) + 1, -1)
    segment, own = ranges(tokens.first_words[truths.essay] + truths.first, truths.words)
    shared = np.zeros(len(truths), dtype=bool)
    shared[segment[np.bincount(own)[own] > 1]] = True
    expected = "segments without common words, as without_overlaps() leaves them"
    door.require(truths.essay, shared, expected, "{} to {}", truths.first, truths.last)
    segment_of_word[own] = segment
    order = np.lexsort((tokens.part, tokens.word))
    inside = order[segment_of_word[tokens.word[order]] >= 0]
    segment = segment_of_word[tokens.word[inside]]
    # A token begins its segment if it is the first part of the segment's first word that has a token. The same
    # holds for its end. Several windows may have it.
    place = np.cumsum(differs(tokens.word[inside], tokens.part[inside]))
    first, last = stretches(np.ones(len(inside), dtype=bool), segment[1:] == segment[:-1])
    begins, ends = (np.repeat(place[edge], last - first + 1) == place for edge in (first, last))
    tags = np.where(tokens.word < 0, NO_LABEL, outside[0])
    tags[inside] = scheme.tag(truths.discourse_type[segment], begins, ends)
    return np.split(tags, np.cumsum(tokens.sizes)[:-1])[: len(tokens.sizes)]
