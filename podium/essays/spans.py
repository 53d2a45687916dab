"""From what a model says of tokens, characters or words to segments, a submission or its score; and back.

Words are what ``str.split()`` makes of the text; a token belongs to the one with its middle visible character.
A word's type has the largest probability, B and I together, averaged over its tokens; it begins a segment where
one of them does.  Tokens in several windows are averaged.  What is wrong with arrays is a ValueError.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted

__all__ = [
    "LABELS",
    "TYPES",
    "Spans",
    "bio_tags",
    "from_characters",
    "from_table",
    "from_tokens",
    "from_words",
    "join",
    "predictionstrings",
    "score",
    "select",
    "to_segments",
    "to_submission",
    "without_overlaps",
    "word_positions",
]

metric = hosted.module("unified")

TYPES: tuple[str, ...] = metric.DISCOURSE_TYPES
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

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Thresholds = float | Mapping[str, float]


class Spans(NamedTuple):
    """Segments of essays, as columns of equal length.

    Attributes
    ----------
    essay : its number among those given, from 0
    first, last : positions of words, both inclusive, from 0
    discourse_type : index into `TYPES`
    probability : of the type, mean over the words
    d1 : probability of effective; 0.5 until a model says it
    repaired : number of illegal tags
    """

    essay: Ints
    first: Ints
    last: Ints
    discourse_type: Ints
    probability: Floats
    d1: Floats
    repaired: Ints

    def take(self, index: Ints | Bools) -> "Spans":
        return Spans._make(column[index] for column in self)

    @property
    def words(self) -> Ints:
        return self.last - self.first + 1


# ---- Into spans ------------------------------------------------------------------------------------------


def from_tokens(
    texts: str | Sequence[str],
    offset_mapping: Any,
    predictions: Any,
    labels: Sequence[str] = LABELS,
    *,
    essay: npt.ArrayLike | None = None,
    min_words: Thresholds = 1,
    min_probability: Thresholds = 0.0,
    join_gap: int = 0,
) -> Spans:
    """The segments in what a token classifier predicts.

    Parameters
    ----------
    offset_mapping : (tokens, 2) int, as of a fast tokenizer; of several texts a list, one per window
    predictions : (tokens, labels) probabilities, or (tokens,) labels by name or index (-100: none); or a list
    labels : BIO, BIOES or plain, in the order of the model's ``id2label``
    essay : (windows,) int, ``overflow_to_sample_mapping``; by default each text is one window
    min_words, min_probability, join_gap : see `select` and `join`, which comes first
    """
    scheme = _Scheme.of(labels)
    if isinstance(texts, str):
        texts, offset_mapping, predictions = [texts], [offset_mapping], [predictions]
    parts = [
        _decode(number, texts[number], offsets, _probabilities(tokens, offsets, scheme), scheme)
        for number, offsets, tokens in _windows(texts, offset_mapping, essay, predictions)
    ]
    found = Spans._make(map(np.concatenate, zip(_none(), *parts)))
    return select(join(found, join_gap), min_words, min_probability)


def from_characters(
    texts: str | Sequence[str],
    starts: npt.ArrayLike,
    ends: npt.ArrayLike,
    types: Any,
    *,
    essay: npt.ArrayLike = 0,
    probability: npt.ArrayLike = 1.0,
    d1: npt.ArrayLike = 0.5,
) -> Spans:
    """Segments given by their characters; those without a word are left out.

    As `podium make` reads a corpus, one that starts within a word starts at the next one.

    Parameters
    ----------
    starts, ends : (n,) int, the first character, from 0, and the one behind the last
    types : (n,) names or indices of `TYPES`
    essay, probability, d1 : (n,), see `Spans`; like types, they may be one for all
    """
    if isinstance(texts, str):
        texts = [texts]
    found = _columns(essay, starts, ends, types, probability, d1)
    _check_essays(found, len(texts))
    lengths = np.array([len(text) for text in texts])[found.essay]
    _check(
        found,
        (found.first < 0) | (found.last <= found.first) | (found.last > lengths),
        "characters from a start to an end behind it, within the text",
        "{} to {} of {} characters",
        found.first,
        found.last,
        lengths,
    )
    first, last = word_positions(texts, found.essay, found.first, found.last)
    return found._replace(first=first, last=last).take(last >= first)


def word_positions(texts: Sequence[str], essay: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """First and last word of characters: behind all words that begin before them, as many as they touch."""
    first, last = np.empty_like(start), np.empty_like(start)
    for number, rows in _by_essay(essay):
        words = [match.span() for match in re.finditer(r"\S+", texts[number])]
        starts, ends = np.reshape(words, (-1, 2)).T
        first[rows] = np.searchsorted(starts, start[rows])
        touched = np.searchsorted(starts, end[rows]) - np.searchsorted(ends, start[rows], side="right")
        last[rows] = np.minimum(first[rows] + touched, len(words)) - 1
    return first, last


def from_words(
    first: npt.ArrayLike,
    last: npt.ArrayLike,
    types: Any,
    *,
    essay: npt.ArrayLike = 0,
    probability: npt.ArrayLike = 1.0,
    d1: npt.ArrayLike = 0.5,
) -> Spans:
    """Segments given by their first and last words; else as `from_characters`."""
    found = _columns(essay, first, last, types, probability, d1)
    _check_positions(found)
    return found


def from_table(frame: pd.DataFrame, essay_ids: Sequence[Any]) -> Spans:
    """The segments of some essays in training data or a submission."""
    lacking = {"essay_id", "discourse_type", "predictionstring"} - set(frame)
    if lacking:
        raise ValueError(
            f"expected the columns {', '.join(sorted(lacking))} too, found {', '.join(map(str, frame))}"
        )
    number = {str(name): index for index, name in enumerate(essay_ids)}
    essay = frame["essay_id"].astype(str).map(number)
    frame, essay = frame[essay.notna()], essay.dropna().astype(np.int64)
    first, last = metric.parse_predictionstrings(frame["predictionstring"].astype(str).tolist())
    d1 = frame.get(metric.PROBABILITY_COLUMNS[1], frame.get(metric.LABEL_COLUMN, 0.5))
    found = _columns(essay, first, last, frame["discourse_type"], frame.get("probability", 1.0), d1)
    expected = "positions in predictionstring such as '45 46 47', counted from 0, without a gap"
    _check(found, last < 0, expected, "{!r}", frame["predictionstring"].to_numpy())
    return found


def _none() -> Spans:
    ints, floats = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Spans(ints, ints, ints, ints, floats, floats, ints)


def _columns(essay: Any, first: Any, last: Any, types: Any, probability: Any, d1: Any) -> Spans:
    given = {
        "essay": _integers("essay", essay),
        "first": _integers("first", first),
        "last": _integers("last", last),
        "discourse_type": _indices(types, TYPES, "types: expected", "segment"),
        "probability": np.asarray(probability, dtype=np.float64),
        "d1": np.asarray(d1, dtype=np.float64),
    }
    counted = {name: column for name, column in given.items() if column.ndim}
    _check_sizes(counted)
    size = next((len(column) for column in counted.values()), 1)
    columns = [np.broadcast_to(column, size) for column in given.values()]
    found = Spans._make([*columns, np.zeros(size, dtype=np.int64)])
    _check_probabilities(found)
    return found


def _integers(name: str, values: npt.ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected whole numbers, found {array.dtype}, such as {array.ravel()[0]!r}")
    return array.astype(np.int64)


def _indices(given: Any, names: Sequence[str], expected: str, unit: str, none: Sequence[Any] = ()) -> Ints:
    """Indices of names, given as either; -1 of `none`."""
    array = np.asarray(given)
    indices = range(len(names))
    known: dict[Any, int] = dict(zip(indices if array.dtype.kind in "iu" else names, indices))
    known |= dict.fromkeys(none, -1)
    values = array.ravel().tolist()
    unknown = next((row for row, value in enumerate(values) if value not in known), None)
    if unknown is not None:
        found = f"{values[unknown]!r} for {unit} {unknown}"
        raise ValueError(f"{expected} {', '.join(names)}, found {found}")
    return np.array([known[value] for value in values], dtype=np.int64).reshape(array.shape)


# ---- Changing spans --------------------------------------------------------------------------------------


def join(found: Spans, gap: int) -> Spans:
    """Make one segment of neighbours of a type with 1 to `gap` words between them."""
    if gap <= 0 or not len(found.essay):
        return found
    found = found.take(np.lexsort((found.last, found.first, found.essay)))
    between = found.first[1:] - found.last[:-1] - 1
    same = (found.essay[1:] == found.essay[:-1]) & (found.discourse_type[1:] == found.discourse_type[:-1])
    begins = np.flatnonzero(np.concatenate([[True], ~(same & (between >= 1) & (between <= gap))]))
    words = np.add.reduceat(found.words, begins)
    return found.take(begins)._replace(
        last=found.last[np.append(begins[1:], len(found.last)) - 1],
        probability=np.add.reduceat(found.probability * found.words, begins) / words,
        d1=np.add.reduceat(found.d1 * found.words, begins) / words,
        repaired=np.add.reduceat(found.repaired, begins),
    )


def select(found: Spans, min_words: Thresholds = 1, min_probability: Thresholds = 0.0) -> Spans:
    """The segments with at least so many words and so high a probability, of all or by type."""
    kept = found.words >= _by_type("min_words", min_words)[found.discourse_type]
    kept &= found.probability >= _by_type("min_probability", min_probability)[found.discourse_type]
    return found.take(kept)


def _by_type(name: str, threshold: Thresholds) -> Floats:
    if not isinstance(threshold, Mapping):
        return np.full(len(TYPES), threshold, dtype=np.float64)
    unknown = [key for key in threshold if key not in TYPES]
    if unknown:
        raise ValueError(f"{name}: expected types among {', '.join(TYPES)}, found {unknown[0]!r}")
    return np.array([threshold.get(key, 0.0) for key in TYPES], dtype=np.float64)


def without_overlaps(found: Spans) -> Spans:
    """As in the metric: every word goes to the first segment that holds it."""
    left = metric.remove_overlaps(_segments(found, found.essay))
    return found.take(left.row)._replace(first=left.first)


# ---- Out of spans ----------------------------------------------------------------------------------------


def to_submission(found: Spans, essay_ids: Sequence[Any]) -> pd.DataFrame:
    """The submission, of `essay_ids` in the order of the texts."""
    _check_all(found, len(essay_ids))
    return pd.DataFrame(
        {
            "row_id": np.arange(len(found.essay)),
            "essay_id": np.array(essay_ids, dtype=object)[found.essay],
            "discourse_type": np.array(TYPES, dtype=object)[found.discourse_type],
            "predictionstring": predictionstrings(found.first, found.last),
            metric.PROBABILITY_COLUMNS[0]: 1 - found.d1,
            metric.PROBABILITY_COLUMNS[1]: found.d1,
        }
    )


def predictionstrings(first: Ints, last: Ints) -> list[str]:
    positions, begin = _positions(int(max(last, default=0)) + 1)
    return [positions[a:b] for a, b in zip(begin[first].tolist(), (begin[last + 1] - 1).tolist())]


@functools.lru_cache(1)
def _positions(number: int) -> tuple[str, Ints]:
    """As text "0 1 2 …", and where they begin in it."""
    texts = [str(position) for position in range(number + 1)]
    return " ".join(texts), np.cumsum([0, *(len(text) + 1 for text in texts)])


def to_segments(prepared: Any, found: Spans, essay_ids: Sequence[Any]) -> Any:
    """What ``prepared.read`` would make of the submission."""
    _check_all(found, len(essay_ids))
    number = dict(zip(prepared.items, range(len(prepared.items))))
    numbers = np.array([number.get(str(name), -1) for name in essay_ids], dtype=np.int64)
    if len(numbers) and (numbers < 0).all():
        raise ValueError(
            f"essay_ids: expected ids of the solution's essays, such as {prepared.items[0]!r}, "
            f"found none of them but {next(iter(essay_ids))!r}"
        )
    return _segments(found, numbers[found.essay])


def _segments(found: Spans, essay: Ints) -> Any:
    d1 = found.d1 / ((1 - found.d1) + found.d1)  # to the last bit as from two columns
    return metric.Segments(essay, found.first, found.last, found.discourse_type, d1, np.arange(len(essay)))


def score(prepared: Any, found: Spans, essay_ids: Sequence[Any]) -> float:
    """The score of what `to_submission` makes, to the last bit."""
    counts = prepared.count(prepared.compare(to_segments(prepared, found, essay_ids)))
    return float(prepared.measures(metric.sums_of_groups(counts, prepared.groups))[0])


def bio_tags(
    texts: str | Sequence[str],
    offset_mapping: Any,
    truths: Spans,
    labels: Sequence[str] = LABELS,
    *,
    essay: npt.ArrayLike | None = None,
) -> Any:
    """Tags to train on truths without overlaps: (tokens,) indices of labels, -100 without a word; or a list."""
    if isinstance(texts, str):
        return bio_tags([texts], [offset_mapping], truths, labels)[0]
    scheme = _Scheme.of(labels)
    if "O" not in scheme.labels:
        raise ValueError(f"labels: expected 'O' too, found {', '.join(labels)}")
    _check_all(truths, len(texts))
    left = metric.remove_overlaps(_segments(truths, truths.essay))
    first = np.full(len(truths.essay), -1)
    first[left.row] = left.first
    expected = "segments without common words, as without_overlaps() leaves them"
    _check(truths, first != truths.first, expected, "word {} is in another one", truths.first)
    tags: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(offset_mapping)
    rows = dict(_by_essay(truths.essay))
    for number, offsets, windows in _windows(texts, offset_mapping, essay, list(range(len(offset_mapping)))):
        own = truths.take(rows.get(number, np.arange(0)))
        text = texts[number]
        words = len(text.split())
        expected = f"segments within the {words} words of their text"
        _check(own, own.last >= words, expected, "{} to {}", own.first, own.last)
        ends = np.cumsum([len(part) for part in offsets])
        for window, part in zip(windows, np.split(_tags(text, offsets, own, scheme), ends[:-1])):
            tags[window] = part
    return tags


def _tags(text: str, windows: list[Ints], own: Spans, scheme: "_Scheme") -> Ints:
    """Of an essay's tokens, in all windows."""
    offsets, repeats = np.concatenate(windows), _repeats(windows)
    word = _word_of_tokens(text, offsets)
    segment_of_word = np.full(len(text.split()) + 1, -1)  # the last is that of tokens without a word
    for number, (first, last) in enumerate(zip(own.first.tolist(), own.last.tolist())):
        segment_of_word[first : last + 1] = number
    inside = np.flatnonzero(segment_of_word[word] >= 0)
    segment = segment_of_word[word[inside]]
    # Wherever a segment's first and last token occur, and of those that share a character, likewise.
    start, end = (offsets[inside] * (repeats.max(initial=0) + 1) + repeats[inside, np.newaxis]).T
    lowest = np.full(len(own.essay), np.iinfo(np.int64).max)
    np.minimum.at(lowest, segment, start)
    highest = np.full(len(own.essay), -1)
    np.maximum.at(highest, segment, end)
    tags = np.where(word < 0, IGNORED, scheme.labels.index("O"))
    tags[inside] = scheme.tag(own.discourse_type[segment], start == lowest[segment], end == highest[segment])
    return tags


class _Scheme(NamedTuple):
    labels: list[str]
    kinds: Floats  # (labels, types + 1): 1 where a label has a type; that of "O" is the last
    column: Ints  # (4, types + 1): the label with a prefix and a type; behind the last where there is none
    tagged: tuple[bool, bool]  # whether labels tell where segments begin and end

    @classmethod
    def of(cls, labels: Sequence[str]) -> "_Scheme":
        labels = list(labels)
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
        return cls(labels, np.eye(len(TYPES) + 1)[kinds], column, tagged)

    def tag(self, kind: Ints, begins: Bools, ends: Bools) -> Ints:
        begins, ends = begins & self.tagged[0], ends & self.tagged[1]
        prefix = np.select([begins & ends, begins, ends], [3, 0, 2], default=1)
        tags: Ints = self.column[prefix, kind]
        lacking = np.flatnonzero(tags == len(self.labels))
        if len(lacking):
            name = f"{PREFIXES[prefix[lacking[0]]]}-{TYPES[kind[lacking[0]]]}"
            raise ValueError(f"labels: expected {name!r} too, found {', '.join(self.labels)}")
        return tags


# ---- Words, tokens, windows ------------------------------------------------------------------------------


def _word_of_tokens(text: str, offsets: Ints) -> Ints:
    """Of each token; -1 where it has none."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    visible = ~np.strings.isspace(characters.view("U1"))
    begins = visible.copy()
    begins[1:] &= ~visible[:-1]
    word = np.append(np.cumsum(begins)[visible] - 1, -1)
    start, end = np.append(0, np.cumsum(visible))[offsets.T]
    return np.where(end > start, word[(start + end) // 2], -1)


def _windows(
    texts: Sequence[str], offset_mapping: Any, essay: npt.ArrayLike | None, others: Any
) -> Iterator[tuple[int, list[Ints], list[Any]]]:
    """Of each text its number, and offsets and others of its windows."""
    numbers = np.arange(len(texts)) if essay is None else _integers("essay", essay)
    of_windows = {"texts" if essay is None else "essay": numbers}
    _check_sizes({**of_windows, "windows of offset_mapping": offset_mapping, "windows of predictions": others})
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(texts):
        raise ValueError(f"essay: expected numbers of the {len(texts)} texts, from 0, found {numbers.max()}")
    for number, windows in _by_essay(numbers):
        offsets = [_offsets(offset_mapping[window], window, len(texts[number])) for window in windows.tolist()]
        yield number, offsets, [others[window] for window in windows.tolist()]


def _by_essay(numbers: Ints) -> Iterator[tuple[int, Ints]]:
    order = np.argsort(numbers, kind="stable")
    occurring, begins = np.unique(numbers[order], return_index=True)
    return zip(occurring.tolist(), np.split(order, begins[1:]))


def _offsets(given: Any, window: int, length: int) -> Ints:
    offsets = np.asarray(given)
    if not offsets.size:
        return np.zeros((0, 2), dtype=np.int64)
    if offsets.ndim != 2 or offsets.shape[1] != 2 or offsets.dtype.kind not in "iu":
        raise ValueError(
            "offset_mapping: expected two positions of characters per token, found "
            f"{offsets.dtype} of shape {offsets.shape} in window {window}"
        )
    wrong = (offsets[:, 0] < 0) | (offsets[:, 1] < offsets[:, 0]) | (offsets[:, 1] > length)
    if wrong.any():
        token = int(np.argmax(wrong))
        raise ValueError(
            f"offset_mapping: expected positions within the text's {length} characters, found "
            f"{tuple(offsets[token].tolist())} for token {token} of window {window}"
        )
    return offsets.astype(np.int64)


def _repeats(windows: list[Ints]) -> Ints:
    """How many tokens before each have its characters, as an emoji's bytes do."""
    counts = []
    for offsets in windows:
        is_new = np.ones(len(offsets), dtype=bool)
        is_new[1:] = (offsets[1:] != offsets[:-1]).any(axis=1)
        index = np.arange(len(offsets))
        counts.append(index - np.maximum.accumulate(np.where(is_new, index, 0)))
    return np.concatenate(counts)


def _probabilities(windows: list[Any], offsets: list[Ints], scheme: _Scheme) -> Floats:
    """(tokens, labels), of all windows; 0 without a tag."""
    parts = []
    for given, of_window in zip(windows, offsets):
        tokens = np.asarray(given)
        _check_sizes({"offsets of a window": of_window, "predictions": tokens})
        if tokens.ndim != 2:
            expected = "expected names or indices of the labels"
            indices = _indices(tokens, scheme.labels, expected, "token", [IGNORED])
            tokens = np.eye(len(scheme.labels) + 1)[indices, :-1]
        if tokens.shape[1] != len(scheme.labels):
            raise ValueError(f"expected {len(scheme.labels)} probabilities a token, found {tokens.shape[1]}")
        parts.append(tokens)
    probabilities = np.concatenate(parts).astype(np.float64)
    wrong = ~((probabilities >= 0) & (probabilities <= 1 + ROUNDING)).all(axis=1)
    if wrong.any():
        found = probabilities[np.argmax(wrong)].round(3).tolist()
        raise ValueError(
            f"expected probabilities, such as the softmax of logits, found {found} for token {np.argmax(wrong)}"
        )
    return probabilities


def _decode(number: int, text: str, windows: list[Ints], probabilities: Floats, scheme: _Scheme) -> Spans:
    word, probabilities = _tokens_in_order(text, windows, probabilities)
    if not len(word):
        return _none()
    seen, start, tokens = np.unique(word, return_index=True, return_counts=True)
    of_kinds = np.add.reduceat(probabilities @ scheme.kinds, start) / tokens[:, np.newaxis]
    kind = of_kinds.argmax(axis=1)
    padded = np.concatenate([probabilities, np.zeros((len(word), 1))], axis=1)
    b, i, e, s = padded[np.arange(len(word)), scheme.column[:, np.repeat(kind, tokens)]]
    begins = np.logical_or.reduceat(b + s > i + e, start)
    ends = np.logical_or.reduceat(e + s > b + i, start)

    inside = kind < len(TYPES)
    goes_on = inside[1:] & (kind[1:] == kind[:-1]) & ~begins[1:] & ~ends[:-1]
    first = np.flatnonzero(inside & ~np.concatenate([[False], goes_on]))
    last = np.flatnonzero(inside & ~np.concatenate([goes_on, [False]]))
    share = np.append(of_kinds.max(axis=1).clip(max=1.0), 0.0)  # a bound behind the last word
    bounds = np.stack([first, last + 1], axis=1).ravel()
    return Spans(
        essay=np.full(len(first), number),
        first=seen[first],
        last=seen[last],
        discourse_type=kind[first],
        probability=np.add.reduceat(share, bounds)[::2] / (last - first + 1),
        d1=np.full(len(first), 0.5),
        repaired=(scheme.tagged[0] & ~begins[first]).astype(np.int64) + (scheme.tagged[1] & ~ends[last]),
    )


def _tokens_in_order(text: str, windows: list[Ints], probabilities: Floats) -> tuple[Ints, Floats]:
    """Of each token that has both, by word."""
    offsets = np.concatenate(windows)
    word = _word_of_tokens(text, offsets)
    used = np.flatnonzero((word >= 0) & (probabilities.sum(axis=1) > 0))
    if len(windows) == 1:
        used = used[np.argsort(word[used], kind="stable")]
        return word[used], probabilities[used]
    tokens = np.stack([word, *offsets.T, _repeats(windows)], axis=1)[used]
    tokens, index, counts = np.unique(tokens, axis=0, return_inverse=True, return_counts=True)
    sums = np.zeros((len(tokens), probabilities.shape[1]))
    np.add.at(sums, index.ravel(), probabilities[used])
    return tokens[:, 0], sums / counts[:, np.newaxis]


def _check(found: Spans, wrong: Bools, expected: str, form: str, *columns: npt.NDArray[Any]) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"expected {expected}. Wrong in {int(wrong.sum()):,} of {len(wrong):,} segments, "
            f"first in segment {row} of essay {found.essay[row]}: "
            + form.format(*(column[row] for column in columns))
        )


def _check_sizes(columns: Mapping[str, Sized]) -> None:
    if len({len(column) for column in columns.values()}) > 1:
        found = ", ".join(f"{len(column)} {name}" for name, column in columns.items())
        raise ValueError(f"expected as many of each, found {found}")


def _check_all(found: Spans, essays: int) -> None:
    _check_sizes(found._asdict())
    _check_essays(found, essays)
    _check_positions(found)
    _check_probabilities(found)


def _check_essays(found: Spans, essays: int) -> None:
    wrong = (found.essay < 0) | (found.essay >= essays)
    _check(found, wrong, f"numbers of the {essays} essays, from 0", "{}", found.essay)


def _check_positions(found: Spans) -> None:
    wrong = (found.first < 0) | (found.last < found.first) | (found.last > metric.LAST_POSITION)
    expected = f"a first word from 0 on and a last word not before it, up to {metric.LAST_POSITION}"
    _check(found, wrong, expected, "{} to {}", found.first, found.last)


def _check_probabilities(found: Spans) -> None:
    for name in ("probability", "d1"):
        column = getattr(found, name)
        _check(found, ~((column >= 0) & (column <= 1)), f"{name} from 0 to 1", "{}", column)
