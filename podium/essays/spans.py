"""Segments of essays as arrays: from a model's output, to a submission, or straight to its score.

A segment is the positions of its words, from 0, and words are what ``str.split()`` makes of the text.  All
functions that begin with ``from_`` give `Spans`, which hold the segments of many essays.  `join`, `select` and
`without_overlaps` change them, `average` and `vote` merge those of several models, and `to_submission` and
`score` end the way.  Input that is wrong is a ValueError, another kind of object a TypeError.

`podium.essays.tokens` has what concerns labels of tokens and words, `podium.essays.quotes` what concerns
quotes.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import hosted
from podium.scoring import ALL, Evaluation, Solution, scores_of
from podium.wording import counted

__all__ = [
    "TYPES",
    "Spans",
    "average",
    "concat",
    "from_characters",
    "from_pipeline",
    "from_table",
    "from_words",
    "join",
    "measures",
    "predictionstrings",
    "score",
    "select",
    "to_segments",
    "to_submission",
    "vote",
    "without_overlaps",
    "word_positions",
]

_unified = hosted.module("unified")

TYPES: tuple[str, ...] = _unified.DISCOURSE_TYPES
FEEDBACK_PRIZE_1 = {"id": "essay_id", "class": "discourse_type"}
ROWS_SHOWN = 5
ROWS_AT_ONCE = 8192  # of positions that are parsed within the cache

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Thresholds = float | Mapping[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class Spans:
    """Segments of essays, as columns of equal length that are checked and cannot be written to.

    ``len(spans)`` is the number of segments, ``spans[rows]`` takes some of them (a slice, positions or
    booleans), and ``spans + others`` has all of both.

    Attributes
    ----------
    essay : (n,) int
        The number of the segment's essay among those given, from 0.
    first, last : (n,) int
        The positions of its first and last word, from 0; the last word belongs to it.
    discourse_type : (n,) int
        Index into `TYPES`.
    probability : (n,) float in [0, 1]
        Of the type, the mean over the words.
    d1 : (n,) float in [0, 1]
        The probability that the segment is effective; 0.5 until `with_effectiveness` says otherwise.
    repaired : (n,) int
        How many illegal tags were repaired to make the segment.

    Raises
    ------
    ValueError
        The columns differ in length, a position is negative or above 99,999, a segment ends before it begins, a
        type is unknown, or a probability is outside [0, 1].

    Examples
    --------
    >>> spans = from_words([0, 9], [3, 20], ["Lead", "Claim"])
    >>> len(spans), spans[spans.words > 5].first.tolist()
    (2, [9])
    >>> spans.with_effectiveness([0.25, 0.75])
    2 segments of 1 essay
     essay discourse_type  first  last  probability   d1
         0           Lead      0     3          1.0 0.25
         0          Claim      9    20          1.0 0.75
    """

    essay: Ints
    first: Ints
    last: Ints
    discourse_type: Ints
    probability: Floats
    d1: Floats
    repaired: Ints

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            kind = np.float64 if field.name in ("probability", "d1") else np.int64
            column = np.asarray(getattr(self, field.name), dtype=kind).view()
            column.flags.writeable = False
            object.__setattr__(self, field.name, column)
        require_equal_sizes(self._columns())
        require(self, self.essay < 0, "numbers of essays, from 0", "{}", self.essay)
        positions = f"a first word from 0 on and a last word not before it, up to {_unified.LAST_POSITION}"
        wrong = (self.first < 0) | (self.last < self.first) | (self.last > _unified.LAST_POSITION)
        require(self, wrong, positions, "{} to {}", self.first, self.last)
        wrong = (self.discourse_type < 0) | (self.discourse_type >= len(TYPES))
        require(self, wrong, f"types from 0 to {len(TYPES) - 1}", "{}", self.discourse_type)
        for name in ("probability", "d1"):
            column = getattr(self, name)
            require(self, ~((column >= 0) & (column <= 1)), f"{name} from 0 to 1", "{}", column)

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __len__(self) -> int:
        return len(self.essay)

    def __getitem__(self, rows: Any) -> "Spans":
        chosen = np.arange(len(self))[rows]
        return Spans(**{name: column[np.atleast_1d(chosen)] for name, column in self._columns().items()})

    def __iter__(self) -> Iterator["Spans"]:
        return (self[row] for row in range(len(self)))

    def __add__(self, other: "Spans") -> "Spans":
        return concat([self, other]) if isinstance(other, Spans) else NotImplemented

    @property
    def words(self) -> Ints:
        """The number of words of each segment, (n,)."""
        return self.last - self.first + 1

    def with_effectiveness(self, d1: npt.ArrayLike) -> "Spans":
        """The same segments with another probability of being effective.

        Parameters
        ----------
        d1 : float or (n,) float in [0, 1]
            One number for all segments, or one of each.

        Raises
        ------
        ValueError
            There is another number of them than of segments, or one is outside [0, 1].
        """
        given = np.asarray(d1, dtype=np.float64)
        if given.ndim and given.shape != (len(self),):
            raise ValueError(
                f"d1: expected the probability of effective of each of {len(self):,} segments, found an array "
                f"of shape {given.shape}; of two columns, 'ineffective' and 'effective', give the second"
            )
        return dataclasses.replace(self, d1=np.broadcast_to(given, len(self)))

    def to_frame(self, essay_ids: Sequence[Any] | None = None) -> pd.DataFrame:
        """A table with a row per segment, and the names of the types.

        Parameters
        ----------
        essay_ids : sequence, optional
            Ids of the essays in the order of the texts; a column ``essay_id`` then stands in place of
            ``essay``.
        """
        columns: dict[str, Any] = dict(self._columns())
        columns["discourse_type"] = np.array(TYPES, dtype=object)[self.discourse_type]
        columns = {name: columns[name] for name in ("essay", "discourse_type", *columns)}
        if essay_ids is not None:
            require_essays(self, len(essay_ids))
            columns["essay"] = np.array(essay_ids, dtype=object)[self.essay]
        return pd.DataFrame(columns).rename(columns={} if essay_ids is None else {"essay": "essay_id"})

    def __repr__(self) -> str:
        head = f"{counted(len(self), 'segment')} of {counted(len(np.unique(self.essay)), 'essay')}"
        if not len(self):
            return head
        rows = self[:ROWS_SHOWN].to_frame().drop(columns="repaired").round(4).to_string(index=False)
        more = f"\n… and {len(self) - ROWS_SHOWN:,} more" if len(self) > ROWS_SHOWN else ""
        return f"{head}\n{rows}{more}"


# ---- Into spans ------------------------------------------------------------------------------------------


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

    A segment that starts within a word starts at the next one, as when ``podium make`` reads a corpus.

    Parameters
    ----------
    texts : str or sequence of str
    starts, ends : (n,) int
        The first character, from 0, and the one behind the last.
    types : str or (n,) str or int
        Names, or indices of `TYPES`.
    essay, probability, d1 : number or (n,)
        See `Spans`; like the type, they may be one for all.

    Raises
    ------
    ValueError
        Characters outside the text, or what `Spans` refuses.

    Examples
    --------
    >>> spans = from_characters("I agree. Ban phones.", [9], [20], "Claim")
    >>> spans.first.tolist(), spans.last.tolist()
    ([2], [3])
    """
    if isinstance(texts, str):
        texts = [texts]
    columns = _broadcast(
        {
            "essay": integers("essay", essay),
            "starts": integers("starts", starts),
            "ends": integers("ends", ends),
            "discourse_type": indices(types, TYPES, "types: expected", "segment"),
            "probability": np.asarray(probability, dtype=np.float64),
            "d1": np.asarray(d1, dtype=np.float64),
        }
    )
    numbers, start, end = columns.pop("essay"), columns.pop("starts"), columns.pop("ends")
    _require_numbers_of_essays(numbers, len(texts))
    lengths = np.array([len(text) for text in texts], dtype=np.int64)[numbers]
    wrong = (start < 0) | (end <= start) | (end > lengths)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            "expected characters from a start to an end behind it, within the text. Wrong in "
            f"{int(wrong.sum()):,} of {counted(len(wrong), 'segment')}, first in segment {row} of essay "
            f"{numbers[row]}: {start[row]} to {end[row]} of {lengths[row]} characters"
        )
    first, last = word_positions(texts, numbers, start, end)
    kept = last >= first
    others = {name: column[kept] for name, column in columns.items()}
    nothing = np.zeros(int(kept.sum()), dtype=np.int64)
    return Spans(essay=numbers[kept], first=first[kept], last=last[kept], repaired=nothing, **others)


def word_positions(texts: Sequence[str], essay: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """First and last word of characters, by the rule of the Feedback Prize.

    The first word is behind all words that begin before the characters, and there are as many as they touch.

    Parameters
    ----------
    texts : sequence of str
    essay, start, end : (n,) int
        The text of each, and its first character and the one behind its last.

    Returns
    -------
    first, last : (n,) int
        The last is before the first where no word is left.
    """
    first, last = np.empty_like(start), np.empty_like(start)
    for number, rows in by_essay(essay):
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
    """Segments given by their first and last words.

    Parameters
    ----------
    first, last : (n,) int
        Positions of words, from 0; the last one belongs to the segment.
    types, essay, probability, d1
        As for `from_characters`.
    """
    columns = _broadcast(
        {
            "essay": integers("essay", essay),
            "first": integers("first", first),
            "last": integers("last", last),
            "discourse_type": indices(types, TYPES, "types: expected", "segment"),
            "probability": np.asarray(probability, dtype=np.float64),
            "d1": np.asarray(d1, dtype=np.float64),
        }
    )
    return Spans(repaired=np.zeros(len(columns["essay"]), dtype=np.int64), **columns)


def from_table(frame: pd.DataFrame, essay_ids: Sequence[Any]) -> Spans:
    """The segments of some essays in training data or a submission.

    Parameters
    ----------
    frame : DataFrame
        ``essay_id``, ``discourse_type`` and ``predictionstring``, or Feedback Prize 1's ``id`` and ``class``.
        ``probability`` and the effectiveness (a label or probabilities) are read where they are there.
    essay_ids : sequence
        The essays to take, in the order of the texts.  Ids are compared as text.

    Raises
    ------
    ValueError
        A column is missing, or a predictionstring is not valid.
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"from_table: expected a pandas DataFrame, found {type(frame).__name__}")
    names = {old: new for old, new in FEEDBACK_PRIZE_1.items() if old in frame and new not in frame}
    frame = frame.rename(columns=names)
    lacking = {"essay_id", "discourse_type", "predictionstring"} - set(frame)
    if lacking:
        raise ValueError(
            f"expected the columns {', '.join(sorted(lacking))} too, found {', '.join(map(str, frame))}"
        )
    # Ids, types and texts of positions repeat: each distinct one is looked up once.
    number = {str(name): index for index, name in enumerate(essay_ids)}
    codes, ids = pd.factorize(frame["essay_id"])
    of_ids = np.array([*(number.get(name, -1) for name in map(str, ids.tolist())), -1], dtype=np.int64)
    essay = of_ids[codes]
    if (essay < 0).any():
        frame, essay = frame[essay >= 0], essay[essay >= 0]
    cells = frame["predictionstring"].to_numpy(dtype=object)
    if pd.api.types.infer_dtype(cells, skipna=False) != "string":
        cells = np.array([str(cell) for cell in cells], dtype=object)
    blocks = [cells[at : at + ROWS_AT_ONCE].tolist() for at in range(0, max(len(cells), 1), ROWS_AT_ONCE)]
    first, last = map(np.concatenate, zip(*map(_unified.parse_predictionstrings, blocks)))
    if (last < 0).any():
        row = int(np.argmax(last < 0))
        raise ValueError(
            "expected positions in predictionstring such as '45 46 47', counted from 0, without a gap. "
            f"Wrong in {int((last < 0).sum()):,} of {counted(len(last), 'segment')}, first in segment {row} of "
            f"essay {essay[row]}: {cells[row]!r}"
        )
    d1 = frame.get(_unified.PROBABILITY_COLUMNS[1], frame.get(_unified.LABEL_COLUMN, 0.5))
    kinds, distinct = pd.factorize(frame["discourse_type"])
    of_kinds = indices(distinct, TYPES, "types: expected", "type")
    if (kinds < 0).any():
        raise ValueError(f"types: expected {', '.join(TYPES)}, found none in row {int(np.argmin(kinds))}")
    probability = frame.get("probability", 1.0)
    return from_words(first, last, of_kinds[kinds], essay=essay, probability=probability, d1=d1)


def from_pipeline(texts: str | Sequence[str], outputs: Any, *, d1: npt.ArrayLike = 0.5) -> Spans:
    """The segments in the output of a token-classification pipeline of ``transformers``.

    Parameters
    ----------
    texts : str or sequence of str
        What the pipeline was given.
    outputs : list of dict, or a list of such lists for several texts
        With ``entity_group``, ``start``, ``end`` and ``score``, as of a pipeline with an
        ``aggregation_strategy``.  A word belongs to the group that has its middle character.
    d1 : number or (n,)
        See `Spans`.

    Returns
    -------
    Spans
        With the group's ``score`` as the probability.

    Raises
    ------
    ValueError
        The pipeline was called without an aggregation strategy, or its tokenizer tells no characters.

    Examples
    --------
    >>> output = [{"entity_group": "Claim", "score": 0.75, "word": "Ban phones", "start": 0, "end": 10}]
    >>> from_pipeline("Ban phones now.", output).to_frame()[["discourse_type", "first", "last"]].values.tolist()
    [['Claim', 0, 1]]
    """
    if isinstance(texts, str):
        texts, outputs = [texts], [outputs]
    require_equal_sizes({"texts": texts, "outputs": outputs})
    groups = [(number, group) for number, output in enumerate(outputs) for group in output]
    for number, group in groups:
        if "entity_group" not in group:
            raise ValueError(
                "outputs: expected groups of tokens; make the pipeline with aggregation_strategy='simple', "
                f"found {', '.join(map(str, group))} in the output of text {number}"
            )
        if group.get("start") is None or group.get("end") is None:
            raise ValueError(f"outputs: expected start and end, as of a fast tokenizer, found none in {group}")
    essay = np.array([number for number, _ in groups], dtype=np.int64)
    start, end = (np.array([group[name] for _, group in groups], dtype=np.int64) for name in ("start", "end"))
    first, last = np.zeros(len(groups), dtype=np.int64), np.full(len(groups), -1)
    for number, rows in by_essay(essay):
        middles = middles_of_words(texts[number])
        first[rows] = np.searchsorted(middles, start[rows])
        last[rows] = np.searchsorted(middles, end[rows]) - 1
    kept = last >= first
    names = [group["entity_group"] for (_, group), keep in zip(groups, kept) if keep]
    scores = np.array([float(group.get("score", 1.0)) for _, group in groups])
    d1 = np.broadcast_to(np.asarray(d1, dtype=np.float64), len(groups))
    return from_words(
        first[kept], last[kept], names, essay=essay[kept], probability=scores[kept].clip(0, 1), d1=d1[kept]
    )


def middles_of_words(text: str) -> Ints:
    """The middle character of each word of a text, (words,)."""
    return np.array([(match.start() + match.end()) // 2 for match in re.finditer(r"\S+", text)], dtype=np.int64)


def _broadcast(given: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The columns of equal length, where numbers count for every segment."""
    several = {name: column for name, column in given.items() if column.ndim}
    require_equal_sizes(several)
    size = next((len(column) for column in several.values()), 1)
    return {name: np.broadcast_to(column, size) for name, column in given.items()}


def integers(name: str, values: npt.ArrayLike) -> Ints:
    """Values as whole numbers; ValueError, which names them, where they are others."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected whole numbers, found {array.dtype}, such as {array.ravel()[0]!r}")
    return array.astype(np.int64)


def indices(given: Any, names: Sequence[str], expected: str, unit: str, none: Sequence[Any] = ()) -> Ints:
    """Indices of names that are given as either; -1 of those in `none`."""
    array = np.asarray(given)
    if array.dtype.kind in "iu":
        wrong = ~((array >= 0) & (array < len(names)) | np.isin(array, list(none)))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"{expected} {', '.join(names)}, found {array.ravel()[row]} for {unit} {row}")
        return np.where(array >= 0, array, -1).astype(np.int64)
    known: dict[Any, int] = dict(zip(names, range(len(names)))) | dict.fromkeys(none, -1)
    values = array.ravel().tolist()
    unknown = next((row for row, value in enumerate(values) if value not in known), None)
    if unknown is not None:
        raise ValueError(f"{expected} {', '.join(names)}, found {values[unknown]!r} for {unit} {unknown}")
    return np.array([known[value] for value in values], dtype=np.int64).reshape(array.shape)


# ---- Changing spans --------------------------------------------------------------------------------------


def concat(several: Sequence[Spans]) -> Spans:
    """All segments of several `Spans` of the same essays, one after the other."""
    if not several:
        return from_words([], [], [])
    columns = [spans._columns() for spans in several]
    return Spans(**{name: np.concatenate([each[name] for each in columns]) for name in columns[0]})


def join(spans: Spans, gap: int) -> Spans:
    """Make one segment of neighbors of a type that have 1 to `gap` words between them.

    Parameters
    ----------
    spans : Spans
    gap : int
        With 0 nothing is joined.

    Returns
    -------
    Spans
        Their ``probability`` and ``d1`` are means over the words that were predicted.

    Examples
    --------
    >>> joined = join(from_words([0, 4], [2, 5], "Lead"), 1)
    >>> joined.first.tolist(), joined.last.tolist()
    ([0], [5])
    """
    if gap <= 0 or not len(spans):
        return spans
    spans = spans[np.lexsort((spans.last, spans.first, spans.essay))]
    begins = beginnings_of_joined(spans.essay, spans.discourse_type, spans.first, spans.last, gap)
    words = np.add.reduceat(spans.words, begins)
    return dataclasses.replace(
        spans[begins],
        last=spans.last[np.append(begins[1:], len(spans)) - 1],
        probability=(np.add.reduceat(spans.probability * spans.words, begins) / words).clip(0, 1),
        d1=(np.add.reduceat(spans.d1 * spans.words, begins) / words).clip(0, 1),
        repaired=np.add.reduceat(spans.repaired, begins),
    )


def beginnings_of_joined(essay: Ints, kind: Ints, first: Ints, last: Ints, gap: int) -> Ints:
    """Of segments in the order of the texts, those that are not joined to the one before."""
    between = first[1:] - last[:-1] - 1
    same = (essay[1:] == essay[:-1]) & (kind[1:] == kind[:-1])
    return np.flatnonzero(np.concatenate([[True], ~(same & (between >= 1) & (between <= gap))]))


def select(
    spans: Spans, min_words: Thresholds = 1, min_probability: Thresholds = 0.0, join_gap: int = 0
) -> Spans:
    """The segments that are long and sure enough.

    Parameters
    ----------
    spans : Spans
    min_words, min_probability : float or mapping of types to float
        The least number of words and the least probability, of all types or of each.
    join_gap : int
        First `join` with this gap.

    Examples
    --------
    >>> spans = from_words([0, 3], [1, 9], ["Claim", "Lead"])
    >>> select(spans, min_words={"Claim": 3}).first.tolist()
    [3]
    """
    spans = join(spans, join_gap)
    kept = spans.words >= _by_type("min_words", min_words)[spans.discourse_type]
    kept &= spans.probability >= _by_type("min_probability", min_probability)[spans.discourse_type]
    return spans[kept]


def _by_type(name: str, threshold: Thresholds) -> Floats:
    if not isinstance(threshold, Mapping):
        return np.full(len(TYPES), threshold, dtype=np.float64)
    unknown = [key for key in threshold if key not in TYPES]
    if unknown:
        raise ValueError(f"{name}: expected types among {', '.join(TYPES)}, found {unknown[0]!r}")
    return np.array([threshold.get(key, 0.0) for key in TYPES], dtype=np.float64)


def without_overlaps(spans: Spans) -> Spans:
    """What the metric's overlap removal leaves: every word goes to the first segment that holds it."""
    left = _unified.remove_overlaps(_segments(_unified, spans, spans.essay))
    return dataclasses.replace(spans[left.row], first=left.first)


# ---- Spans of several models -----------------------------------------------------------------------------


def average(several: Sequence[Spans]) -> Spans:
    """One model of several: each word gets the type that has the largest mean probability, or none.

    A model says of a word of its segment the segment's probability for its type, and the rest for no type.  A
    segment begins where the type changes, and where at least half of the models that agree on the type begin
    one.

    Parameters
    ----------
    several : sequence of Spans
        Of each model, of the same essays.  Where segments of a model overlap, the first one counts.

    Returns
    -------
    Spans
        ``probability`` and ``d1`` are means over the words and models.

    Examples
    --------
    >>> average([from_words(0, 9, "Lead"), from_words(0, 7, "Lead"), from_words(2, 7, "Claim")]).words.tolist()
    [8]
    """
    models = [without_overlaps(spans) for spans in several]
    everything = concat(models)
    if not len(everything):
        return everything
    # One column per word of an essay that any model has in a segment.
    number = np.repeat(np.arange(len(everything)), everything.words)
    before = np.cumsum(everything.words) - everything.words
    position = np.arange(len(number)) - np.repeat(before - everything.first, everything.words)
    key, word = np.unique((everything.essay[number] << 32) | position, return_inverse=True)
    kind = everything.discourse_type[number]
    cell = word * len(TYPES) + kind
    cells = len(key) * len(TYPES)

    def total(weights: npt.NDArray[Any] | None = None) -> Floats:
        return np.bincount(cell, weights, minlength=cells).reshape(len(key), len(TYPES)).astype(np.float64)

    shares = total(everything.probability[number]) / len(models)
    of_none = 1 - shares.sum(axis=1)
    chosen = shares.argmax(axis=1)
    row = np.arange(len(key))
    inside = shares[row, chosen] > of_none
    agreeing = total()[row, chosen]
    starts = total(position == everything.first[number])[row, chosen] * 2 >= agreeing
    d1 = total(everything.d1[number])[row, chosen] / np.maximum(agreeing, 1)
    goes_on = (np.diff(key) == 1) & inside[1:] & inside[:-1] & (chosen[1:] == chosen[:-1]) & ~starts[1:]
    first = np.flatnonzero(inside & ~np.concatenate([[False], goes_on]))
    last = np.flatnonzero(inside & ~np.concatenate([goes_on, [False]]))
    bounds = np.stack([first, last + 1], axis=1).ravel()

    def mean(column: Floats) -> Floats:
        sums: Floats = np.add.reduceat(np.append(column, 0.0), bounds)[::2]
        return (sums / (last - first + 1)).clip(0, 1)

    if not len(first):
        return everything[:0]
    return from_words(
        key[first] & 0xFFFFFFFF,
        key[last] & 0xFFFFFFFF,
        chosen[first],
        essay=key[first] >> 32,
        probability=mean(shares[row, chosen]),
        d1=mean(d1),
    )


def vote(several: Sequence[Spans], votes: int | None = None) -> Spans:
    """The segments that several models agree on.

    Segments of a type agree where the common words are more than half of each.  The surest segment asks the
    other models first; every segment votes once.

    Parameters
    ----------
    several : sequence of Spans
        Of each model, of the same essays.
    votes : int, optional
        How many models must agree; by default more than half of them.

    Returns
    -------
    Spans
        First and last word are medians of those that agree, ``d1`` is their mean, and ``probability`` the mean
        over all models, where a model that does not agree counts 0.

    Examples
    --------
    >>> vote([from_words(0, 9, "Lead"), from_words(1, 9, "Lead"), from_words(30, 40, "Claim")]).words.tolist()
    [10]
    """
    if votes is None:
        votes = len(several) // 2 + 1
    everything = concat(several)
    model = np.repeat(np.arange(len(several)), [len(spans) for spans in several])
    rows: list[tuple[int, int, int, int, float, float]] = []
    for _, block in by_essay(everything.essay * len(TYPES) + everything.discourse_type):
        spans, models = everything[block], model[block]
        is_free = np.ones(len(block), dtype=bool)
        common = np.minimum.outer(spans.last, spans.last) - np.maximum.outer(spans.first, spans.first) + 1
        agree = 2 * common > np.maximum.outer(spans.words, spans.words)
        for leader in np.argsort(-spans.probability, kind="stable").tolist():
            if not is_free[leader]:
                continue
            nearest = np.flatnonzero(agree[leader] & is_free & (models != models[leader]))
            nearest = nearest[np.argsort(-common[leader, nearest], kind="stable")]
            _, best = np.unique(models[nearest], return_index=True)
            members = np.append(leader, nearest[best])
            is_free[members] = False
            if len(members) >= votes:
                first, last = (int(np.median(column[members])) for column in (spans.first, spans.last))
                sure = float(spans.probability[members].sum() / len(several))
                kind = int(spans.discourse_type[leader])
                rows.append(
                    (int(spans.essay[leader]), first, last, kind, sure, float(spans.d1[members].mean()))
                )
    if not rows:
        return everything[:0]
    essay, firsts, lasts, kinds, probability, d1 = zip(*sorted(rows))
    return from_words(firsts, lasts, kinds, essay=essay, probability=np.minimum(probability, 1.0), d1=d1)


# ---- Out of spans ----------------------------------------------------------------------------------------


def to_submission(spans: Spans, essay_ids: Sequence[Any]) -> pd.DataFrame:
    """The submission's table.

    Parameters
    ----------
    spans : Spans
    essay_ids : sequence
        The ids of the essays, in the order of the texts.

    Returns
    -------
    DataFrame
        ``row_id``, ``essay_id``, ``discourse_type``, ``predictionstring`` and the two probabilities.
    """
    _require_ids(spans, essay_ids)
    return pd.DataFrame(
        {
            "row_id": np.arange(len(spans)),
            "essay_id": np.array(essay_ids, dtype=object)[spans.essay],
            "discourse_type": np.array(TYPES, dtype=object)[spans.discourse_type],
            "predictionstring": predictionstrings(spans.first, spans.last),
            _unified.PROBABILITY_COLUMNS[0]: 1 - spans.d1,
            _unified.PROBABILITY_COLUMNS[1]: spans.d1,
        }
    )


def predictionstrings(first: Ints, last: Ints) -> list[str]:
    """The text of positions from `first` to `last`, both (n,), such as "45 46 47"."""
    positions, begin = _positions(int(max(last, default=0)) + 1)
    return [positions[a:b] for a, b in zip(begin[first].tolist(), (begin[last + 1] - 1).tolist())]


@functools.lru_cache(1)
def _positions(number: int) -> tuple[str, Ints]:
    """The text "0 1 2 …", and where each position begins in it."""
    texts = [str(position) for position in range(number + 1)]
    return " ".join(texts), np.cumsum([0, *(len(text) + 1 for text in texts)])


def prepared_solution(solution: Solution, function: str) -> Any:
    """What the metric of a solution prepared, if it scores segments of essays.

    Parameters
    ----------
    solution : podium.scoring.Solution
    function : str
        Who asks, for the message.

    Raises
    ------
    TypeError
        Another object, or the solution of a metric that does not score segments.
    """
    if not isinstance(solution, Solution):
        kind = type(solution)
        name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
        raise TypeError(
            f"{function}: solution: expected what podium.prepare(solution) returns, found {name}; call "
            "podium.prepare with the DataFrame of the solution"
        )
    names = vars(solution.metric.module)
    if not {"Segments", "DISCOURSE_TYPES"} <= set(names) or ALL not in solution.prepared:
        raise TypeError(
            f"{function}: solution: expected one of the Unified Metric, found one of {solution.metric.name}"
        )
    return solution.prepared[ALL]


def to_segments(solution: Solution, spans: Spans, essay_ids: Sequence[Any]) -> Any:
    """What the metric reads from the submission that `to_submission` makes, without its text.

    Parameters
    ----------
    solution : podium.scoring.Solution
        What `podium.prepare` returned.
    spans : Spans
    essay_ids : sequence
        The ids of the essays, in the order of the texts.

    Returns
    -------
    Segments
        Of the solution's metric.
    """
    prepared = prepared_solution(solution, "to_segments")
    if not isinstance(spans, Spans):
        raise TypeError(f"spans: expected podium.spans.Spans, found {type(spans).__name__}; see from_table")
    _require_ids(spans, essay_ids)
    number = dict(zip(prepared.items, range(len(prepared.items))))
    numbers = np.array([number.get(str(name), -1) for name in essay_ids], dtype=np.int64)
    if len(numbers) and (numbers < 0).all():
        raise ValueError(
            f"essay_ids: expected ids of the solution's essays, such as {prepared.items[0]!r}, "
            f"found none of them but {next(iter(essay_ids))!r}"
        )
    return _segments(solution.metric.module, spans, numbers[spans.essay])


def _segments(metric: ModuleType, spans: Spans, essay: Ints) -> Any:
    d1 = spans.d1 / ((1 - spans.d1) + spans.d1)  # to the last bit as from two columns
    kind = spans.discourse_type
    if metric.DISCOURSE_TYPES != TYPES:
        kind = np.array([metric.DISCOURSE_TYPES.index(name) for name in TYPES], dtype=np.int64)[kind]
    return metric.Segments(essay, spans.first, spans.last, kind, d1, np.arange(len(essay)))


def _counts(solution: Solution, spans: Spans, essay_ids: Sequence[Any]) -> Floats:
    """The statistics of each essay, (essays, k)."""
    prepared = prepared_solution(solution, "score")
    counts: Floats = prepared.count(prepared.compare(to_segments(solution, spans, essay_ids)))
    return counts


def score(solution: Solution, spans: Spans, essay_ids: Sequence[Any]) -> float:
    """The score of the submission that `to_submission` makes, to the last bit, computed without writing text.

    Parameters
    ----------
    solution : podium.scoring.Solution
        What `podium.prepare` returned.  Its own metric and parameters score.
    spans : Spans
    essay_ids : sequence
        The ids of the essays, in the order of the texts.

    Raises
    ------
    TypeError
        The solution is not what `podium.prepare` returned.
    ValueError
        None of the ids is one of the solution's.
    """
    prepared = prepared_solution(solution, "score")
    sums = solution.metric.module.sums_of_groups(_counts(solution, spans, essay_ids), prepared.groups)
    return float(prepared.measures(sums)[0])


def measures(solution: Solution, spans: Spans, essay_ids: Sequence[Any]) -> dict[str, float]:
    """All measures of the submission that `to_submission` makes, "score" first, for a training log.

    Parameters and errors are those of `score`.

    Returns
    -------
    dict of str to float
        Under names that loggers such as MLflow and W&B accept.  Measures that are not defined are left out.
    """
    counts = _counts(solution, spans, essay_ids)
    submission = pd.DataFrame({"essay_id": []})  # nothing here looks at it
    return Evaluation(solution, submission, scores_of(solution, counts), counts).loggable


# ---- Checks ----------------------------------------------------------------------------------------------


def by_essay(numbers: Ints) -> Iterator[tuple[int, Ints]]:
    """Each number that occurs, ascending, with its rows."""
    order = np.argsort(numbers, kind="stable")
    occurring, begins = np.unique(numbers[order], return_index=True)
    return zip(occurring.tolist(), np.split(order, begins[1:]))


def require(spans: Spans, wrong: Bools, expected: str, form: str, *columns: npt.NDArray[Any]) -> None:
    """Raise a ValueError that names the first wrong segment, with the values of its columns in this form."""
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"expected {expected}. Wrong in {int(wrong.sum()):,} of {counted(len(wrong), 'segment')}, "
            f"first in segment {row} of essay {spans.essay[row]}: "
            + form.format(*(column[row] for column in columns))
        )


def require_equal_sizes(columns: Mapping[str, Sized]) -> None:
    """Raise a ValueError that tells the sizes of the columns, by name, where these differ."""
    if len({len(column) for column in columns.values()}) > 1:
        sizes = ", ".join(f"{len(column)} {name}" for name, column in columns.items())
        raise ValueError(f"expected as many of each, found {sizes}")


def _require_numbers_of_essays(essay: Ints, essays: int) -> None:
    wrong = (essay < 0) | (essay >= essays)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"expected numbers of the {counted(essays, 'essay')}, from 0. Wrong in {int(wrong.sum()):,} of "
            f"{counted(len(wrong), 'segment')}, first in segment {row}: {essay[row]}"
        )


def require_essays(spans: Spans, essays: int) -> None:
    """Raise ValueError where a segment is of none of so many essays."""
    _require_numbers_of_essays(spans.essay, essays)


def _require_ids(spans: Spans, essay_ids: Sequence[Any]) -> None:
    """Raise ValueError where segments are of more essays than have an id."""
    last = int(spans.essay.max(initial=-1))
    if last >= len(essay_ids):
        raise ValueError(
            f"essay_ids: expected the id of every text, in the order of the texts, found {len(essay_ids):,} "
            f"for segments of essays up to number {last:,}, counted from 0"
        )
    require_essays(spans, len(essay_ids))
