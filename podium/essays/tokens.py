"""From what a classifier says of tokens or words to segments, and from segments to tags for training.

A word's type is the one with the largest probability, where the labels of a type (B-Lead and I-Lead) count
together and tokens of the word are averaged.  A segment begins at a word where one of its tokens says so.
What several windows say of a token is averaged.  Illegal tags are repaired and counted.

Hundreds of essays are decoded at once, as one long text: numpy costs the same for one essay as for all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.essays.spans import (
    TYPES,
    Bools,
    Floats,
    Ints,
    Spans,
    Thresholds,
    by_essay,
    concat,
    from_words,
    indices,
    integers,
    require,
    require_equal_sizes,
    require_essays,
    select,
)

__all__ = ["LABELS", "bio_tags", "from_tokens", "from_word_ids", "from_word_labels"]

LABELS = ("O", *(f"{prefix}-{name}" for name in TYPES for prefix in "BI"))
PREFIXES = "BIES"
# Prefix and type of each possible label.
MEANINGS: dict[str, tuple[str | None, int]] = {"O": (None, len(TYPES))} | {
    f"{prefix}-{name}" if prefix else name: (prefix, kind)
    for kind, name in enumerate(TYPES)
    for prefix in ("", *PREFIXES)
}
IGNORED = -100  # by torch's losses
ROUNDING = 1e-3  # half floats round up
TEXTS_AT_ONCE = 64  # whose tokens' probabilities stay in the cache

Labels = Sequence[str] | Mapping[Any, str] | None


# ---- Into spans ------------------------------------------------------------------------------------------


def from_tokens(
    texts: str | Sequence[str],
    offset_mapping: Any,
    predictions: Any,
    labels: Labels = None,
    *,
    essay: npt.ArrayLike | None = None,
    min_words: Thresholds = 1,
    min_probability: Thresholds = 0.0,
    join_gap: int = 0,
) -> Spans:
    """The segments in what a token classifier predicts.

    Parameters
    ----------
    texts : str or sequence of str
    offset_mapping : (tokens, 2) int
        First character and the one behind the last of each token, as a fast tokenizer returns them.  Of several
        texts it is a list of them, one per window.
    predictions : (tokens, labels) float, or (tokens,) str or int
        Probabilities, or labels by name or index (-100 where there is none); of several texts one per window.
        Where all windows have predictions for the same number of tokens, those behind a window's own tokens are
        padding and are cut.
    labels : sequence of str, or dict of int to str
        The model's ``id2label``, in BIO, BIOES or plain.  Only names of labels can do without: they are read as
        in `LABELS`.
    essay : (windows,) int, optional
        The text of each window, ``overflow_to_sample_mapping``; by default each text is one window.
    min_words, min_probability, join_gap
        As for `select`.

    Returns
    -------
    Spans

    Raises
    ------
    ValueError
        Labels of another task, sizes that do not fit, or offsets that do not ascend within a window.  The
        latter come from a tokenizer that was given words (``is_split_into_words=True``), for which there is
        `from_word_ids`.

    Examples
    --------
    A word goes where its middle character is, and “ban” begins a claim though its tag says that one goes on:

    >>> spans = from_tokens("I agree. Ban it.", [(0, 1), (2, 7), (7, 8), (9, 12), (13, 15), (15, 16)],
    ...                     ["B-Position", "I-Position", "I-Position", "I-Claim", "I-Claim", "I-Claim"])
    >>> spans.to_frame()[["discourse_type", "first", "last", "repaired"]].values.tolist()
    [['Position', 0, 1, 0], ['Claim', 2, 3, 1]]
    """
    if isinstance(texts, str):
        texts, offset_mapping, predictions = [texts], [offset_mapping], [predictions]
    windows_given = {"windows of offset_mapping": offset_mapping, "windows of predictions": predictions}
    window_of = _essays_of_windows(essay, len(texts), windows_given)
    offsets = [
        _checked_offsets(given, window, len(texts[number]))
        for window, (given, number) in enumerate(zip(offset_mapping, window_of.tolist()))
    ]
    tokens = _cut(predictions, [len(each) for each in offsets])
    scheme = _Scheme.of(labels, _are_names(tokens))
    pieces = []
    for numbers, windows in _blocks(window_of):
        text = _LongText([texts[number] for number in numbers.tolist()])
        block = [offsets[window] for window in windows.tolist()]
        place = np.searchsorted(numbers, window_of[windows])
        start, end = np.concatenate(block).T + np.repeat(text.begins[place], [len(each) for each in block])
        word = text.words_of(start, end)
        probabilities = _probabilities([tokens[window] for window in windows.tolist()], windows, scheme)
        used = np.flatnonzero((word >= 0) & probabilities.any(axis=1))
        several = len(windows) > len(numbers)
        same = np.stack([_repeats(block), end, start])[:, used] if several else None
        word, probabilities = _averaged(word[used], same, probabilities[used])
        pieces.append(_decoded(word, probabilities, scheme, text.first_words, numbers))
    return select(concat(pieces), min_words, min_probability, join_gap)


def from_word_ids(
    word_ids: Sequence[Any],
    predictions: Any,
    labels: Labels = None,
    *,
    essay: npt.ArrayLike | None = None,
    min_words: Thresholds = 1,
    min_probability: Thresholds = 0.0,
    join_gap: int = 0,
) -> Spans:
    """The segments in predictions for tokens of words, as with ``is_split_into_words=True``.

    The words must be what ``text.split()`` gave.

    Parameters
    ----------
    word_ids : sequence of sequences of int or None
        ``encoding.word_ids(window)`` of each window: the word of each token, None of special ones.  To count
        only a word's first token, set those of the others to None.
    predictions, labels, min_words, min_probability, join_gap
        As for `from_tokens`.
    essay : (windows,) int, optional
        The essay of each window; by default each window is an essay.

    Raises
    ------
    ValueError
        Words that do not ascend within a window, or what `from_tokens` refuses.

    Examples
    --------
    >>> from_word_ids([[None, 0, 0, 1, None]], [["O", "B-Lead", "I-Lead", "I-Lead", "O"]]).words.tolist()
    [2]
    """
    windows_given = {"windows of word_ids": word_ids, "windows of predictions": predictions}
    essays = len(word_ids) if essay is None else int(np.max(essay, initial=-1)) + 1
    window_of = _essays_of_windows(essay, essays, windows_given)
    ids = [
        np.array([-1 if word is None else word for word in of_window], dtype=np.int64) for of_window in word_ids
    ]
    for window, of_window in enumerate(ids):
        words = of_window[of_window >= 0]
        if (np.diff(words) < 0).any():
            token = int(np.argmax(np.diff(words) < 0)) + 1
            raise ValueError(
                f"word_ids: expected words that ascend within a window, found {words[token]} behind "
                f"{words[token - 1]} in window {window}"
            )
    tokens = _cut(predictions, [len(each) for each in ids])
    scheme = _Scheme.of(labels, _are_names(tokens))
    pieces = []
    for numbers, windows in _blocks(window_of):
        block = [ids[window] for window in windows.tolist()]
        sizes = np.array([max(int(each.max(initial=-1)) + 1, 0) for each in block], dtype=np.int64)
        place = np.searchsorted(numbers, window_of[windows])
        most = np.zeros(len(numbers), dtype=np.int64)
        np.maximum.at(most, place, sizes)
        first_words = np.cumsum(most) - most
        word = np.concatenate(
            [np.where(each >= 0, each + first_words[at], -1) for each, at in zip(block, place)]
        )
        probabilities = _probabilities([tokens[window] for window in windows.tolist()], windows, scheme)
        part = _parts_of_words(block, word)
        used = np.flatnonzero((word >= 0) & probabilities.any(axis=1))
        same = None if len(numbers) == len(windows) else part[np.newaxis, used]
        word, probabilities = _averaged(word[used], same, probabilities[used])
        pieces.append(_decoded(word, probabilities, scheme, first_words, numbers))
    return select(concat(pieces), min_words, min_probability, join_gap)


def from_word_labels(
    predictions: Sequence[Any],
    labels: Labels = None,
    *,
    min_words: Thresholds = 1,
    min_probability: Thresholds = 0.0,
    join_gap: int = 0,
) -> Spans:
    """The segments in predictions for the words of essays.

    Parameters
    ----------
    predictions : sequence of (words, labels) float or (words,) str or int
        Of each essay: a row, or a label, for each word of ``text.split()``.
    labels, min_words, min_probability, join_gap
        As for `from_tokens`.

    Examples
    --------
    >>> from_word_labels([["B-Lead", "I-Lead", "O"], ["O", "B-Claim"]]).essay.tolist()
    [0, 1]
    """
    word_ids = [range(len(of_essay)) for of_essay in predictions]
    return from_word_ids(
        word_ids,
        predictions,
        labels,
        min_words=min_words,
        min_probability=min_probability,
        join_gap=join_gap,
    )


def _essays_of_windows(essay: npt.ArrayLike | None, texts: int, windows: Mapping[str, Any]) -> Ints:
    """The text of each window; `windows` are what must be given for each."""
    numbers = np.arange(texts) if essay is None else integers("essay", essay)
    require_equal_sizes({"texts" if essay is None else "essay": numbers, **windows})
    wrong = (numbers < 0) | (numbers >= texts)
    if wrong.any():
        raise ValueError(
            f"essay: expected numbers of the {texts} texts, from 0, found {numbers[np.argmax(wrong)]}"
        )
    return numbers


def _blocks(window_of: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Essays, as many as are decoded at once, with their windows."""
    order = np.argsort(window_of, kind="stable")
    numbers, begins = np.unique(window_of[order], return_index=True)
    begins = np.append(begins, len(order))
    for block in range(0, len(numbers), TEXTS_AT_ONCE):
        some = numbers[block : block + TEXTS_AT_ONCE]
        yield some, order[begins[block] : begins[block + len(some)]]


def _cut(predictions: Any, lengths: list[int]) -> list[npt.NDArray[Any]]:
    """Predictions for the tokens of each window, without those for padding."""
    tokens = [np.asarray(of_window) for of_window in predictions]
    is_padded = len(tokens) > 1 and len({len(each) for each in tokens}) == 1
    for window, (each, length) in enumerate(zip(tokens, lengths)):
        if len(each) < length or (len(each) > length and not is_padded):
            raise ValueError(
                f"expected as many of each, found {length} offsets of window {window}, {len(each)} predictions"
            )
    return [each[:length] for each, length in zip(tokens, lengths)]


def _are_names(tokens: list[npt.NDArray[Any]]) -> bool:
    return all(each.ndim == 1 and each.dtype.kind not in "iufb" for each in tokens if each.size)


def _checked_offsets(given: Any, window: int, length: int) -> Ints:
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
    visible = offsets[end > start]  # special tokens are (0, 0)
    descends = (visible[1:] < visible[:-1]).any(axis=1)
    if descends.any():
        token = int(np.argmax(descends))
        raise ValueError(
            "offset_mapping: expected positions that ascend within a window, found "
            f"{tuple(visible[token + 1].tolist())} behind {tuple(visible[token].tolist())} in window {window}. "
            "With is_split_into_words=True they start again in every word: call from_word_ids"
        )
    return offsets.astype(np.int64)


class _LongText:
    """Many texts as one, in which words are numbered through."""

    def __init__(self, texts: Sequence[str]) -> None:
        whole = "\n".join([*texts, ""])
        characters = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)
        visible = _is_visible(characters)
        lengths = np.array([len(text) + 1 for text in texts])
        self.begins: Ints = np.cumsum(lengths) - lengths
        begins = visible.copy()
        begins[1:] &= ~visible[:-1]
        counts = np.cumsum(begins)
        self.first_words: Ints = np.append(0, counts)[self.begins]
        self._word = np.append(counts[visible] - 1, -1)
        self._visible = np.append(0, np.cumsum(visible))

    def words_of(self, start: Ints, end: Ints) -> Ints:
        """The word of the middle visible character of each token, -1 where it has none."""
        first, behind = self._visible[start], self._visible[end]
        return np.where(behind > first, self._word[(first + behind) // 2], -1)


def _is_visible(characters: npt.NDArray[np.uint32]) -> Bools:
    """Which characters are no white space, as `str.split` sees it."""
    # A table of the first 12,289 characters, among which all white space is, is faster than asking for each.
    visible: Bools = _VISIBLE[np.minimum(characters, len(_VISIBLE) - 1)]
    return visible


_VISIBLE = ~np.strings.isspace(np.arange(0x3002, dtype=np.uint32).view("U1"))


def _repeats(windows: list[Ints]) -> Ints:
    """How many tokens before each one have its characters, as an emoji's bytes do, of all windows."""
    offsets = np.concatenate(windows)
    is_new = np.ones(len(offsets), dtype=bool)
    is_new[1:] = (offsets[1:] != offsets[:-1]).any(axis=1)
    sizes = np.array([len(window) for window in windows])
    is_new[(np.cumsum(sizes) - sizes)[sizes > 0]] = True
    index = np.arange(len(offsets))
    repeats: Ints = index - np.maximum.accumulate(np.where(is_new, index, 0))
    return repeats


def _parts_of_words(windows: list[Ints], word: Ints) -> Ints:
    """Which of its word's tokens each one is, also in a window that begins within the word."""
    ids = np.concatenate(windows)
    number = np.repeat(np.arange(len(windows)), [len(each) for each in windows])
    is_new = np.ones(len(ids), dtype=bool)
    is_new[1:] = (ids[1:] != ids[:-1]) | (number[1:] != number[:-1])
    run = np.cumsum(is_new) - 1
    begins = np.flatnonzero(is_new)
    sizes = np.diff(np.append(begins, len(ids)))
    part = np.arange(len(ids)) - begins[run]
    most = np.zeros(int(word.max(initial=-1)) + 2, dtype=np.int64)
    np.maximum.at(most, word[begins], sizes)
    # A window's first word may lack its first tokens: what is there is the end of it.
    visible = np.flatnonzero(ids >= 0)
    _, first_visible = np.unique(number[visible], return_index=True)
    cut = np.zeros(len(begins), dtype=bool)
    cut[run[visible[first_visible]]] = True
    lacking = np.where(cut, most[word[begins]] - sizes, 0)
    return np.asarray(part + lacking[run])


def _probabilities(tokens: list[npt.NDArray[Any]], windows: Ints, scheme: "_Scheme") -> Floats:
    """(tokens, labels), of all windows; 0 without a tag."""
    number = len(scheme.labels)
    sized = [each for each in tokens if each.size]
    if len({each.ndim for each in sized}) > 1:
        raise ValueError("predictions: expected probabilities or labels in all windows, found both")
    if not sized:
        return np.zeros((0, number))
    if sized[0].ndim == 1:
        expected = "expected names or indices of the labels"
        tags = [each.tolist() if each.dtype.kind not in "iu" else each for each in sized]
        given = np.concatenate([np.asarray(each) for each in tags])
        known = indices(given, scheme.labels, expected, "token", [IGNORED])
        return np.eye(number + 1)[known, :-1]
    for window, each in zip(windows.tolist(), tokens):
        if each.size and each.shape[1] != number:
            raise ValueError(
                f"expected {number} probabilities a token, as there are labels, found {each.shape[1]} in "
                f"window {window}"
            )
    probabilities = np.concatenate(sized).astype(np.float64)
    # The negation finds NaN, too.
    if not (probabilities.min(initial=0) >= 0 and probabilities.max(initial=0) <= 1 + ROUNDING):
        wrong = ~((probabilities >= 0) & (probabilities <= 1 + ROUNDING)).all(axis=1)
        token = int(np.argmax(wrong))
        raise ValueError(
            "expected probabilities, such as the softmax of logits, found "
            f"{probabilities[token].round(3).tolist()} for token {token}"
        )
    return probabilities


def _averaged(word: Ints, same: Ints | None, probabilities: Floats) -> tuple[Ints, Floats]:
    """Tokens in the order of their words; those that are the `same` in several windows are averaged."""
    if same is None:
        if (np.diff(word) < 0).any():
            order = np.argsort(word, kind="stable")
            return word[order], probabilities[order]
        return word, probabilities
    keys = np.concatenate([same, word[np.newaxis]])
    order = np.lexsort(keys)
    keys = keys[:, order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    begins = np.flatnonzero(is_new)
    if not len(begins):
        return word, probabilities
    sums = np.add.reduceat(probabilities[order], begins)
    counts = np.diff(np.append(begins, len(order)))
    return keys[-1, begins], sums / counts[:, np.newaxis]


def _decoded(word: Ints, probabilities: Floats, scheme: "_Scheme", first_words: Ints, numbers: Ints) -> Spans:
    """The segments of essays whose words are numbered through, from the tokens in the order of the words."""
    if not len(word):
        return from_words([], [], [])
    is_new = np.ones(len(word), dtype=bool)
    is_new[1:] = word[1:] != word[:-1]
    start = np.flatnonzero(is_new)
    seen, tokens = word[start], np.diff(np.append(start, len(word)))
    of_tokens = np.zeros((len(TYPES) + 1, len(word)))
    for label, kind_of_label in enumerate(scheme.kinds.tolist()):  # BLAS would wake all of its threads for this
        of_tokens[kind_of_label] += probabilities[:, label]
    of_kinds = np.add.reduceat(of_tokens, start, axis=1) / tokens
    kind = of_kinds.argmax(axis=0)
    begins, ends = _edges(probabilities, scheme, start, kind, tokens)

    essay = np.searchsorted(first_words, seen, side="right") - 1
    inside = kind < len(TYPES)
    goes_on = inside[1:] & (kind[1:] == kind[:-1]) & ~begins[1:] & ~ends[:-1] & (essay[1:] == essay[:-1])
    first = np.flatnonzero(inside & ~np.concatenate([[False], goes_on]))
    last = np.flatnonzero(inside & ~np.concatenate([goes_on, [False]]))
    share = np.append(of_kinds.max(axis=0).clip(max=1.0), 0.0)  # a bound behind the last word
    bounds = np.stack([first, last + 1], axis=1).ravel()
    probability = np.add.reduceat(share, bounds)[::2] / (last - first + 1) if len(first) else np.zeros(0)
    return Spans(
        essay=numbers[essay[first]],
        first=seen[first] - first_words[essay[first]],
        last=seen[last] - first_words[essay[first]],
        discourse_type=kind[first],
        probability=probability.clip(0.0, 1.0),
        d1=np.full(len(first), 0.5),
        repaired=(scheme.tagged[0] & ~begins[first]).astype(np.int64) + (scheme.tagged[1] & ~ends[last]),
    )


def _edges(
    probabilities: Floats, scheme: "_Scheme", start: Ints, kind: Ints, tokens: Ints
) -> tuple[Bools, Bools]:
    """Whether a segment begins and ends at each word: one of its tokens says so for the word's type."""
    begins, ends = np.zeros((2, len(kind)), dtype=bool)
    words = np.flatnonzero(kind < len(TYPES))
    if not len(words) or not any(scheme.tagged):
        return begins, ends
    sizes = tokens[words]
    first = np.cumsum(sizes) - sizes
    row = np.arange(sizes.sum()) + np.repeat(start[words] - first, sizes)
    of_type = np.repeat(kind[words], sizes)

    def of_prefix(prefix: str) -> Any:
        """The probabilities of the tokens' labels with a prefix; 0 where there is none."""
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
    """What labels mean."""

    labels: list[str]
    kinds: Ints  # (labels,): the type of each label; behind the last type that of "O"
    column: Ints  # (4, types + 1): the label with a prefix and a type; behind the last where there is none
    tagged: tuple[bool, bool]  # whether labels tell where segments begin and end

    @classmethod
    def of(cls, given: Labels, are_names: bool) -> "_Scheme":
        """The scheme of labels, which may be missing where predictions are names."""
        if given is None and not are_names:
            raise ValueError(
                "labels: expected the model's labels in their order, such as model.config.id2label; "
                "probabilities and indices do not tell which label is which"
            )
        labels = list(LABELS) if given is None else _in_order(given)
        kinds_of_labels = [MEANINGS.get(label) for label in labels]
        if not any(meaning is not None and meaning[1] < len(TYPES) for meaning in kinds_of_labels):
            raise ValueError(
                f"labels: expected the discourse types {', '.join(TYPES)}, also behind B-, I-, E- or S-; "
                f"{', '.join(map(str, labels[:4]))} are the labels of another task"
            )
        for label in labels:
            if label not in MEANINGS:
                raise ValueError(
                    f"labels: expected 'O' and types, also behind B-, I-, E- or S-, found {label!r}. "
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

    def tag(self, kind: Ints, begins: Bools, ends: Bools) -> Ints:
        """The label of tokens of a type that may begin or end their segment."""
        begins, ends = begins & self.tagged[0], ends & self.tagged[1]
        prefix = np.select([begins & ends, begins, ends], [3, 0, 2], default=1)
        tags: Ints = self.column[prefix, kind]
        lacking = np.flatnonzero(tags == len(self.labels))
        if len(lacking):
            name = f"{PREFIXES[prefix[lacking[0]]]}-{TYPES[kind[lacking[0]]]}"
            raise ValueError(f"labels: expected {name!r} too, found {', '.join(self.labels)}")
        return tags


def _in_order(labels: Sequence[str] | Mapping[Any, str]) -> list[str]:
    """Labels in the order of their numbers, of a list or of ``id2label``, whose keys JSON turns into text."""
    if not isinstance(labels, Mapping):
        return list(labels)
    by_number: dict[str, str] = {str(key): name for key, name in labels.items()}
    wanted = [str(number) for number in range(len(labels))]
    if sorted(by_number) != sorted(wanted):
        keys = ", ".join(map(repr, list(labels)[:3]))
        raise ValueError(
            f"labels: expected the numbers 0 to {len(labels) - 1} as keys, as in id2label, found {keys}"
        )
    return [by_number[number] for number in wanted]


# ---- Out of spans ----------------------------------------------------------------------------------------


def bio_tags(
    texts: str | Sequence[str],
    offset_mapping: Any,
    truths: Spans,
    labels: Labels = LABELS,
    *,
    essay: npt.ArrayLike | None = None,
) -> Any:
    """Tags of tokens to train on.

    Parameters
    ----------
    texts, offset_mapping, labels, essay
        As for `from_tokens`.
    truths : Spans
        Without common words, as `without_overlaps` leaves them.

    Returns
    -------
    (tokens,) int, or a list of them
        Indices of labels, -100 for tokens without a word; of several texts one array per window.

    Raises
    ------
    ValueError
        Segments overlap, or are not within their text; or what `from_tokens` refuses.
    """
    if isinstance(texts, str):
        return bio_tags([texts], [offset_mapping], truths, labels)[0]
    scheme = _Scheme.of(labels, False)
    if "O" not in scheme.labels:
        raise ValueError(f"labels: expected 'O' too, found {', '.join(scheme.labels)}")
    require_essays(truths, len(texts))
    _require_no_overlaps(truths)
    window_of = _essays_of_windows(essay, len(texts), {"windows of offset_mapping": offset_mapping})
    tags: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(offset_mapping)
    rows = dict(by_essay(truths.essay))
    for number, windows in by_essay(window_of):
        own = truths[rows.get(number, np.arange(0))]
        text = texts[number]
        words = len(text.split())
        expected = f"segments within the {words} words of their text"
        require(own, own.last >= words, expected, "{} to {}", own.first, own.last)
        block = [_checked_offsets(offset_mapping[window], window, len(text)) for window in windows.tolist()]
        ends = np.cumsum([len(part) for part in block])
        for window, part in zip(windows.tolist(), np.split(_tags(text, block, own, scheme), ends[:-1])):
            tags[window] = part
    return tags


def _require_no_overlaps(truths: Spans) -> None:
    order = np.lexsort((truths.last, truths.first, truths.essay))
    spans = truths[order]
    wrong = np.zeros(len(spans), dtype=bool)
    wrong[1:] = (spans.essay[1:] == spans.essay[:-1]) & (spans.first[1:] <= spans.last[:-1])
    expected = "segments without common words, as without_overlaps() leaves them"
    require(spans, wrong, expected, "word {} is in another one", spans.first)


def _tags(text: str, windows: list[Ints], own: Spans, scheme: _Scheme) -> Ints:
    """The tags of an essay's tokens, in all windows."""
    offsets, repeats = np.concatenate(windows), _repeats(windows)
    word = _LongText([text]).words_of(*offsets.T)
    segment_of_word = np.full(len(text.split()) + 1, -1)  # the last is that of tokens without a word
    for number, (first, last) in enumerate(zip(own.first.tolist(), own.last.tolist())):
        segment_of_word[first : last + 1] = number
    inside = np.flatnonzero(segment_of_word[word] >= 0)
    segment = segment_of_word[word[inside]]
    # Wherever a segment's first and last token occur, and of those that share a character, likewise.
    start, end = (offsets[inside] * (repeats.max(initial=0) + 1) + repeats[inside, np.newaxis]).T
    lowest = np.full(len(own), np.iinfo(np.int64).max)
    np.minimum.at(lowest, segment, start)
    highest = np.full(len(own), -1)
    np.maximum.at(highest, segment, end)
    tags = np.where(word < 0, IGNORED, scheme.labels.index("O"))
    tags[inside] = scheme.tag(own.discourse_type[segment], start == lowest[segment], end == highest[segment])
    return tags
