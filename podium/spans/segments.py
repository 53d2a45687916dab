"""Hold segments of essays as arrays: from a model's output to a submission, or straight to its score.

A segment is given by the positions of its words, counted from 0. Words are what ``str.split()`` makes of the
text. All functions whose names begin with ``from_`` return `Spans`, which hold the segments of many essays.
`join`, `select` and `without_overlaps` change segments. `average` merges the segments of several models.
`to_submission` makes a submission, and `score` scores without one. Wrong input raises a ValueError, and an
object of another type raises a TypeError.

Functions that make segments are in `podium.spans.places`, for labels of tokens and words in
`podium.spans.tokens`, and for quotes in `podium.spans.quotes`.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Protocol, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.common.arrays import Bools, Floats, Ints, means, ranges, stretches
from podium.common.errors import UsageError
from podium.common.wording import counted
from podium.metric import hosted
from podium.metric.contract import StagedPrepared
from podium.scoring.evaluating import ALL, Evaluation, Solution, scores_of
from podium.spans import door, relations
from podium.spans.by_position import by_position, require_kind
from podium.spans.vocabulary import LAST_POSITION, PROBABILITIES, TYPES
from podium.tables import schema
from podium.tables.ids import texts as texts_of_ids

__all__ = [
    "TYPES",
    "Spans",
    "average",
    "concat",
    "join",
    "measures",
    "score",
    "select",
    "to_submission",
    "without_overlaps",
]

ROWS_SHOWN = 5

# What podium tune writes of each type. Of a gap, None and "none" join nothing.
THRESHOLDS = schema.Table(
    key=["discourse_type"],
    error=UsageError,
    discourse_type=schema.Cells("a type", lambda cells: cells.map(door.kind_of) >= 0),
    min_words=schema.number("a number of words"),
    min_probability=schema.Cells(
        "a number from 0 to 1", lambda cells: pd.to_numeric(cells, errors="coerce").between(0, 1), is_text=False
    ),
    join_gap=schema.Cells(
        "a number of words, or none",
        lambda cells: cells.isin(["none"]) | pd.to_numeric(cells, errors="coerce").notna(),
    ).optional,
)

Thresholds = float | Mapping[str, float]
Gaps = int | Mapping[str, int | None] | None


@dataclass(frozen=True, eq=False, repr=False)
class Spans:
    """Segments of essays, as columns of equal length that are checked and read-only.

    ``len(spans)`` is the number of segments. ``spans[rows]`` takes some of them, by a slice, positions or
    booleans. ``spans + others`` has the segments of both.

    Attributes
    ----------
    essay : (n,) int
        The essay of each segment, as an index into the essays that were given.
    first, last : (n,) int
        The positions of its first and last word, counted from 0. The last word belongs to the segment.
    discourse_type : (n,) int
        Its type, as an index into `TYPES`.
    probability : (n,) float in [0, 1]
        The probability of its type, as a mean over its words.
    d1 : (n,) float in [0, 1]
        The probability that it is effective; 0.5 until `with_effectiveness` says otherwise.
    repaired : (n,) int
        How many illegal tags were repaired to make it.
    of_one_text : bool
        Whether nobody said which essay each segment belongs to. Then there may be only one essay.

    Raises
    ------
    ValueError
        The columns differ in length, or a value is not possible. That is a negative position or one above
        99,999, an end before the beginning, an unknown type, or a probability outside [0, 1].

    Examples
    --------
    >>> from podium.spans import from_words
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
    of_one_text: bool = False
    # what podium.score says where it is given segments
    instead_of_a_table: ClassVar[str] = "give podium.spans.to_submission() of them, or call podium.spans.score"

    def __post_init__(self) -> None:
        for name, given in self._columns().items():
            read = door.probabilities if name in ("probability", "d1") else door.integers
            column = np.atleast_1d(read(name, given))
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        door.require_columns(self._columns())
        door.require(self.essay, self.essay < 0, "indices of essays, counted from 0", "{}", self.essay)
        positions = f"a first word from 0 on and a last word not before it, up to {LAST_POSITION}"
        wrong = (self.first < 0) | (self.last < self.first) | (self.last > LAST_POSITION)
        door.require(self.essay, wrong, positions, "{} to {}", self.first, self.last)
        wrong = (self.discourse_type < 0) | (self.discourse_type >= len(TYPES))
        door.require(self.essay, wrong, f"types from 0 to {len(TYPES) - 1}", "{}", self.discourse_type)
        for name in ("probability", "d1"):
            column = getattr(self, name)
            door.require(self.essay, ~((column >= 0) & (column <= 1)), f"{name} from 0 to 1", "{}", column)

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        fields = [field for field in dataclasses.fields(self) if field.type is not bool]
        return {field.name: getattr(self, field.name) for field in fields}

    def __len__(self) -> int:
        return len(self.essay)

    @by_position
    def __getitem__(self, rows: Any) -> "Spans":
        chosen = np.arange(len(self))[rows]
        columns = {name: column[np.atleast_1d(chosen)] for name, column in self._columns().items()}
        return dataclasses.replace(self, **columns)

    def __add__(self, other: "Spans") -> "Spans":
        return concat([self, other]) if isinstance(other, Spans) else NotImplemented

    @property
    def words(self) -> Ints:
        """The number of words of each segment, (n,)."""
        return self.last - self.first + 1

    @by_position
    def with_effectiveness(self, d1: npt.ArrayLike) -> "Spans":
        """Return the same segments with other probabilities of effective.

        Parameters
        ----------
        d1 : float or (n,) float in [0, 1]
            One probability for all segments, or one for each.

        Returns
        -------
        Spans
            A copy of the segments.

        Raises
        ------
        ValueError
            There are not as many probabilities as segments, or one is outside [0, 1].
        """
        given = door.probabilities("d1", d1)
        door.require_columns({"segments": self.essay, "d1": given})
        return dataclasses.replace(self, d1=np.broadcast_to(given, len(self)))

    @by_position
    def to_frame(self, essay_ids: Sequence[Any] | None = None) -> pd.DataFrame:
        """Make a table with one row per segment and the names of the types.

        Parameters
        ----------
        essay_ids : sequence of str, optional
            The ids of the essays, in the order of the texts.

        Returns
        -------
        DataFrame
            The columns of the segments. With `essay_ids`, the column ``essay_id`` replaces ``essay``.

        Raises
        ------
        ValueError
            There are fewer ids than essays.
        """
        columns: dict[str, Any] = dict(self._columns())
        columns["discourse_type"] = np.array(TYPES, dtype=object)[self.discourse_type]
        columns = {name: columns[name] for name in ("essay", "discourse_type", *columns)}
        if essay_ids is not None:
            require_texts(self, len(essay_ids))
            columns["essay"] = np.array(essay_ids, dtype=object)[self.essay]
        return pd.DataFrame(columns).rename(columns={} if essay_ids is None else {"essay": "essay_id"})

    def __repr__(self) -> str:
        head = f"{counted(len(self), 'segment')} of {counted(len(np.unique(self.essay)), 'essay')}"
        if not len(self):
            return head
        rows = self[:ROWS_SHOWN].to_frame().drop(columns="repaired").round(4).to_string(index=False)
        more = f"\n… and {len(self) - ROWS_SHOWN:,} more" if len(self) > ROWS_SHOWN else ""
        return f"{head}\n{rows}{more}"


def unified() -> ModuleType:
    """Load the file of the Unified Metric, which only a few of the functions need."""
    return hosted.load("unified").module


def require_words(spans: Spans, words: Ints, expected: str) -> None:
    """Check that segments end within the words of their texts, (texts,)."""
    own = words[spans.essay]
    wrong = spans.last >= own
    door.require(spans.essay, wrong, expected, "{} to {} of {} words", spans.first, spans.last, own)


def spans_of(rows: door.Candidates, first: Ints, last: Ints, kept: Any = slice(None)) -> Spans:
    """Make segments of the candidates that are kept, from the positions of their words."""
    columns = (rows.essay, first, last, rows.kind, rows.probability, rows.d1, np.zeros_like(first))
    return Spans(*(column[kept] for column in columns))


# ---- Changing spans --------------------------------------------------------------------------------------


@by_position
def concat(several: Sequence[Spans]) -> Spans:
    """Put the segments of several `Spans` of the same essays one after the other.

    Parameters
    ----------
    several : sequence of Spans
        The segments. Their essays must have the same indices.

    Returns
    -------
    Spans
        All segments, in the order given.
    """
    _require_several(several)
    if not several:
        numbers, shares = np.zeros(0, dtype=np.int64), np.zeros(0)
        return Spans(numbers, numbers, numbers, numbers, shares, shares, numbers, of_one_text=True)
    columns = [spans._columns() for spans in several]
    together = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
    return Spans(**together, of_one_text=all(spans.of_one_text for spans in several))


@by_position
def join(spans: Spans, gap: Gaps) -> Spans:
    """Join neighbors of the same type that have at most `gap` words between them into one segment.

    Segments of other types may stand between two neighbors. They are kept and overlap the joined segment, so
    the metric removes them if they begin behind its beginning.

    Parameters
    ----------
    spans : Spans
        The segments.
    gap : int, None, or mapping of str to int
        The largest number of words between two neighbors: one number for all types, or a number by type. With
        0, only direct neighbors are joined, and with None nothing is. A type that is not in the mapping is not
        joined.

    Returns
    -------
    Spans
        The segments after joining, essay by essay and in the order of the text. Their ``probability`` and
        ``d1`` are means over the words that were predicted.

    Examples
    --------
    >>> from podium.spans import from_words
    >>> joined = join(from_words([0, 4], [2, 5], "Lead"), 1)
    >>> joined.first.tolist(), joined.last.tolist()
    ([0], [5])
    """
    return joined(spans, by_type("gap", gap, -1))


def joined(spans: Spans, most: npt.NDArray[Any]) -> Spans:
    """Join neighbors; `most` has the gap of each type, (types,), which is below 0 where nothing is joined."""
    is_joined = most[spans.discourse_type] >= 0
    if not is_joined.any():
        return spans
    others, spans = spans[~is_joined], spans[is_joined]
    spans = spans[_order(spans.essay * len(TYPES) + spans.discourse_type, spans.first, spans.last)]
    between = spans.first[1:] - spans.last[:-1] - 1
    same = (np.diff(spans.essay) == 0) & (np.diff(spans.discourse_type) == 0)
    goes_on = same & (between >= 0) & (between <= most[spans.discourse_type[1:]])
    begins = np.flatnonzero(np.append(True, ~goes_on))
    words = np.add.reduceat(spans.words, begins)
    merged = dataclasses.replace(
        spans[begins],
        last=spans.last[np.append(begins[1:], len(spans)) - 1],
        probability=np.add.reduceat(spans.probability * spans.words, begins) / words,
        d1=np.add.reduceat(spans.d1 * spans.words, begins) / words,
        repaired=np.add.reduceat(spans.repaired, begins),
    )
    everything = others + merged
    return everything[_order(everything.essay, everything.first, everything.last)]


def _order(number: Ints, first: Ints, last: Ints) -> Ints:
    """Sort by a number, then by the first word, then by the last one; one key takes a third of the time."""
    positions = LAST_POSITION + 1
    return np.argsort((number * positions + first) * positions + last, kind="stable")


@by_position
def select(
    spans: Spans,
    min_words: Thresholds | pd.DataFrame | str | Path = 1,
    min_probability: Thresholds = 0.0,
    join_gap: Gaps = None,
    *,
    most: Thresholds | None = None,
) -> Spans:
    """Keep the segments that are long and probable enough.

    Parameters
    ----------
    spans : Spans
        The segments.
    min_words, min_probability : float or mapping of str to float
        The least number of words and the least probability: one number for all types, or a number by type. A
        type that is not in the mapping has no threshold. Instead of `min_words` you can give all thresholds at
        once: the table ``thresholds`` of `podium.tuning.tune`, or the CSV that ``podium tune --out`` wrote.
    join_gap : int, None, or mapping of str to int
        Neighbors are first joined with this gap; see `join`.
    most : int, None, or mapping of str to int
        How many segments of a type an essay may have, such as one Lead. Of more, the most probable ones stay,
        and among equals the longest.

    Returns
    -------
    Spans
        The segments that reach both thresholds of their type.

    Raises
    ------
    ValueError
        A mapping or table has an unknown type, or a probability is not from 0 to 1.

    Examples
    --------
    >>> from podium.spans import from_words
    >>> spans = from_words([0, 3], [1, 9], ["Claim", "Lead"])
    >>> select(spans, min_words={"Claim": 3}).first.tolist()
    [3]
    >>> table = pd.DataFrame({"discourse_type": ["Lead"], "min_probability": [0.5], "min_words": [8]})
    >>> select(spans, table).first.tolist()
    [0]
    """
    if isinstance(min_words, pd.DataFrame | str | Path):
        if min_probability != 0.0 or join_gap is not None:
            raise ValueError("min_words: give either a table of all thresholds, or the three arguments")
        min_words, min_probability, join_gap = _of_table(min_words)
    spans = join(spans, join_gap)
    least, fewest = by_type("min_probability", min_probability, 0.0), by_type("min_words", min_words, 1.0)
    if not ((least >= 0) & (least <= 1)).all():
        raise ValueError(f"min_probability: expected numbers from 0 to 1, found {least.max():g}")
    kept = (spans.words >= fewest[spans.discourse_type]) & (spans.probability >= least[spans.discourse_type])
    spans = spans[kept]
    return spans if most is None else spans[_is_among(spans, by_type("most", most, np.inf))]


def _is_among(spans: Spans, most: Floats) -> Bools:
    """Tell which segments are among the best ones of their type in their essay, by probability and length."""
    cell = spans.essay * len(TYPES) + spans.discourse_type
    table = pd.DataFrame({"cell": cell, "sure": -spans.probability, "words": -spans.words})
    place = table.sort_values(["sure", "words"]).groupby("cell").cumcount().sort_index()
    among: Bools = place.to_numpy() < most[spans.discourse_type]
    return among


def _of_table(given: pd.DataFrame | str | Path) -> tuple[Thresholds, Thresholds, Gaps]:
    """Read the thresholds of a table as mappings."""
    if isinstance(given, pd.DataFrame):
        table = THRESHOLDS.checked(given, "thresholds")
    else:
        table = THRESHOLDS.read(given)
    types = table["discourse_type"]
    words, probability = (dict(zip(types, table[name])) for name in ("min_words", "min_probability"))
    gaps = dict(zip(types, table["join_gap"])) if "join_gap" in table else {}
    return words, probability, {kind: gap for kind, gap in gaps.items() if gap not in (None, "none")}


def by_type(name: str, given: Any, missing: float) -> Floats:
    """Return the number of each type, (types,), from one number or a mapping; None stands for `missing`."""
    by_name = given if isinstance(given, Mapping) else dict.fromkeys(TYPES, given)
    by_kind = {door.kind_of(key): number for key, number in by_name.items()}
    unknown = [key for key in by_name if door.kind_of(key) not in range(len(TYPES))]
    if unknown:
        raise ValueError(f"{name}: expected types among {', '.join(TYPES)}, found {unknown[0]!r}")
    cells = [by_kind.get(kind) for kind in range(len(TYPES))]
    with suppress(ValueError, TypeError):
        array = np.array([float(missing if cell is None else cell) for cell in cells])
        if not np.isnan(array).any():
            return array
    raise ValueError(f"{name}: expected a number, or numbers by type, found {given!r:.60}")


@by_position
def without_overlaps(spans: Spans) -> Spans:
    """Remove overlaps as the metric does: every word belongs to the first segment that holds it.

    Parameters
    ----------
    spans : Spans
        The segments.

    Returns
    -------
    Spans
        The segments that are left, with the words that are left.
    """
    metric = unified()
    left = metric.remove_overlaps(segments_of(metric, spans, spans.essay))
    return dataclasses.replace(spans[left.row], first=left.first)


# ---- Spans of several models -----------------------------------------------------------------------------


@by_position
def average(
    several: Sequence[Spans], weights: Sequence[float] | None = None, votes: Thresholds | None = None
) -> Spans:
    """Average several models: each word gets the type with the largest mean probability.

    A word is in a segment if enough of the models have it in one, of whatever type. So a model that is averaged
    with itself stays as it is, and `select` and ``podium tune`` decide which segments are probable enough. A
    new segment begins where the type changes, or where at least half of the models with this type begin one.

    Parameters
    ----------
    several : sequence of Spans
        The segments of each model for the same essays. If segments of one model overlap, the first one counts.
    weights : sequence of float, optional
        How much each model counts. By default all count 1.
    votes : float or mapping of str to float, optional
        How many models must have a word in a segment, as the sum of their weights: one number, or a number by
        the type that the word gets. By default it is more than half.

    Returns
    -------
    Spans
        The segments. Their ``probability`` is the mean over the words and all models; a model that does not
        have the type at a word counts as 0. Their ``d1`` is the mean over the models that have the type.

    Examples
    --------
    >>> from podium.spans import from_words
    >>> average([from_words(0, 9, "Lead"), from_words(0, 7, "Lead"), from_words(2, 7, "Claim")]).words.tolist()
    [8]
    """
    model_weights, needed = _electorate(several, weights, votes)
    models = [without_overlaps(spans) for spans in several]
    everything = concat(models)
    # `key` lists every word that any model has in a segment: the essay in the upper 32 bits, the position in
    # the lower ones. A cell is such a word with a type.
    number, position = ranges(everything.first, everything.words)
    key, word = np.unique((everything.essay[number] << 32) | position, return_inverse=True)
    cell = word * len(TYPES) + everything.discourse_type[number]
    weight = np.repeat(model_weights, [len(spans) for spans in models])[number]

    def total(values: npt.NDArray[Any] | float) -> Floats:
        weighted = np.asarray(weight * values, dtype=np.float64)
        sums: Floats = np.bincount(cell, weighted, minlength=len(key) * len(TYPES)).astype(np.float64)
        return sums.reshape(len(key), len(TYPES))

    shares = total(everything.probability[number])
    chosen = shares.argmax(axis=1)
    row = np.arange(len(key))
    agreeing = total(1.0)
    inside: Bools = agreeing.sum(axis=1) >= needed[chosen]
    of_type = agreeing[row, chosen]
    starts = total(position == everything.first[number])[row, chosen] * 2 >= of_type
    goes_on = (np.diff(key) == 1) & inside[1:] & inside[:-1] & (chosen[1:] == chosen[:-1]) & ~starts[1:]
    first, last = stretches(inside, goes_on)
    return Spans(
        essay=key[first] >> 32,
        first=key[first] & 0xFFFFFFFF,
        last=key[last] & 0xFFFFFFFF,
        discourse_type=chosen[first],
        probability=means(shares[row, chosen] / model_weights.sum(), first, last),
        d1=means(total(everything.d1[number])[row, chosen] / of_type, first, last),
        repaired=np.zeros_like(first),
        of_one_text=everything.of_one_text,
    )


def _electorate(
    several: Sequence[Spans], weights: Sequence[float] | None, votes: Thresholds | None
) -> tuple[Floats, Floats]:
    """Return the weight of each model, and the sum of weights that each type needs."""
    _require_several(several)
    if not several:
        raise ValueError("several: expected the segments of at least one model, found none")
    given = np.ones(len(several)) if weights is None else _numbers(weights)
    if given.shape != (len(several),) or not ((given > 0) & np.isfinite(given)).all():
        raise ValueError(
            f"weights: expected a number above 0 for each of {counted(len(several), 'model')}, found "
            f"{weights!r:.60}"
        )
    relations.check_weights(given)
    for spans in several[1:]:
        both = ((each.essay, each.last) for each in (several[0], spans))
        relations.check_order("several", *both)
    return given, by_type("votes", votes, float(np.nextafter(given.sum() / 2, np.inf)))


def _require_several(several: Sequence[Spans]) -> None:
    """Check that these are the segments of several models; those of one would each be a model."""
    if isinstance(several, Spans) or not isinstance(several, Iterable):
        found = type(several).__name__
        raise TypeError(f"several: expected a list with the podium.spans.Spans of each model, found {found}")
    for number, spans in enumerate(several):
        require_kind(f"several[{number}]", spans, Spans)


def _numbers(weights: Sequence[float]) -> Floats:
    """Read weights; what is no number is NaN."""
    cells = pd.Series(list(weights), dtype=object)
    return pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)


# ---- Out of spans ----------------------------------------------------------------------------------------


@by_position
def to_submission(spans: Spans, essay_ids: Sequence[Any]) -> pd.DataFrame:
    """Make a submission to the Unified Metric.

    Parameters
    ----------
    spans : Spans
        The segments.
    essay_ids : sequence of str
        The ids of the essays, in the order of the texts.

    Returns
    -------
    DataFrame
        One row per segment, with ``row_id``, ``essay_id``, ``discourse_type``, ``predictionstring`` and the two
        probabilities.

    Raises
    ------
    ValueError
        There are fewer ids than essays, or an id occurs twice.
    """
    distinct_texts(essay_ids)
    require_texts(spans, len(essay_ids))
    return pd.DataFrame(
        {
            "row_id": np.arange(len(spans)),
            "essay_id": np.array(essay_ids, dtype=object)[spans.essay],
            "discourse_type": np.array(TYPES, dtype=object)[spans.discourse_type],
            "predictionstring": predictionstrings(spans.first, spans.last),
            PROBABILITIES[0]: 1 - spans.d1,
            PROBABILITIES[1]: spans.d1,
        }
    )


def predictionstrings(first: Ints, last: Ints) -> list[str]:
    """Write the positions of segments as text.

    >>> predictionstrings(np.array([45, 7]), np.array([47, 7]))
    ['45 46 47', '7']
    """
    positions = list(map(str, range(int(max(last, default=0)) + 1)))
    return [" ".join(positions[a : b + 1]) for a, b in zip(first.tolist(), last.tolist())]


class PreparedEssays(StagedPrepared, Protocol):
    """What the Unified Metric prepares from a solution, beside what every metric does."""

    temperature: float
    overlap_threshold: float
    segment_weight: float
    truths: Any  # the true segments without overlaps, in the class of the metric file
    __dataclass_fields__: ClassVar[dict[str, Any]]


def prepared_for(solution: Solution) -> PreparedEssays:
    """Get what the Unified Metric, or a host's own version of it, prepared from a solution."""
    if not hasattr(solution.metric.module, "remove_overlaps"):
        found = f"one for {solution.metric.name}"
        raise TypeError(f"solution: expected one that is prepared for the Unified Metric, found {found}")
    return cast(PreparedEssays, solution.prepared[ALL])


def to_segments(solution: Solution, spans: Spans, essay_ids: Sequence[Any]) -> Any:
    """Make what the metric would read from the submission of `to_submission`, without writing it."""
    prepared = prepared_for(solution)
    names = distinct_texts(essay_ids)
    require_texts(spans, len(names))
    numbers = pd.Index(prepared.items).get_indexer(pd.Index(names))
    if len(numbers) and (numbers < 0).all():
        raise ValueError(
            f"essay_ids: expected ids of the solution's essays, such as {prepared.items[0]!r}, "
            f"found none of them but {names[0]!r}"
        )
    metric = solution.metric.module
    # A host's own version of the metric may have its types in another order.
    kinds = np.array([metric.DISCOURSE_TYPES.index(name) for name in TYPES])
    spans = dataclasses.replace(spans, discourse_type=kinds[spans.discourse_type])
    essay = numbers[spans.essay]
    known = essay >= 0
    unknown = [name for name, number in zip(names, numbers.tolist()) if number < 0]
    relations.check_ids(unknown, len(numbers), "solution")
    truths = prepared.truths
    relations.check_order("essay_ids", (essay[known], spans.last[known]), (truths.essay, truths.last))
    return segments_of(metric, spans, essay)


def segments_of(metric: ModuleType, spans: Spans, essay: Ints) -> Any:
    """Make the metric's own segments from spans whose types are in its order, in the essays given."""
    # The metric normalizes two columns. This gives the same numbers, to the last bit.
    d1 = spans.d1 / ((1 - spans.d1) + spans.d1)
    return metric.Segments(essay, spans.first, spans.last, spans.discourse_type, d1, np.arange(len(essay)))


def _counts(solution: Solution, spans: Spans, essay_ids: Sequence[Any]) -> Floats:
    """Compute the statistics of each essay, (essays, k)."""
    prepared = prepared_for(solution)
    return prepared.count(prepared.compare(to_segments(solution, spans, essay_ids)))


@by_position
def score(solution: Solution, spans: Spans, essay_ids: Sequence[Any]) -> float:
    """Score segments without writing a submission.

    The score is the same, to the last bit, as that of the submission of `to_submission`.

    Parameters
    ----------
    solution : podium.scoring.evaluating.Solution
        What `podium.prepare` returned. Its metric and its parameters are used.
    spans : Spans
        The segments.
    essay_ids : sequence of str
        The ids of the essays, in the order of the texts.

    Returns
    -------
    float
        The score on the whole solution.

    Raises
    ------
    ValueError
        None of the ids is an id of the solution, or an id occurs twice.
    """
    counts = _counts(solution, spans, essay_ids)
    return statistics.measures(solution.prepared[ALL], counts)["score"]


@by_position
def measures(solution: Solution, spans: Spans, essay_ids: Sequence[Any]) -> dict[str, float]:
    """Compute all measures of segments without writing a submission, for example for a training log.

    Parameters
    ----------
    solution : podium.scoring.evaluating.Solution
        What `podium.prepare` returned. Its metric and its parameters are used.
    spans : Spans
        The segments.
    essay_ids : sequence of str
        The ids of the essays, in the order of the texts.

    Returns
    -------
    dict of str to float
        The measures by names that loggers such as MLflow and W&B accept, "score" first. Measures that are not
        defined are left out.

    Raises
    ------
    ValueError
        None of the ids is an id of the solution, or an id occurs twice.
    """
    counts = _counts(solution, spans, essay_ids)
    submission = pd.DataFrame({"essay_id": []})  # The measures depend on the counts alone.
    return Evaluation(solution, submission, scores_of(solution, counts), counts).loggable


# ---- Checks ----------------------------------------------------------------------------------------------


def require_texts(spans: Spans, texts: int) -> None:
    """Check that every segment belongs to one of some texts."""
    door.require_said(spans.of_one_text and len(spans) > 0, texts)
    door.require_essays(spans.essay, texts)


def distinct_texts(essay_ids: Sequence[Any]) -> list[str]:
    """List the ids as texts. None may occur twice, because two texts would silently become one essay."""
    names: list[str] = texts_of_ids(pd.Series(list(essay_ids), dtype=object).infer_objects()).tolist()
    if "" in names:
        raise ValueError(f"essay_ids: expected an id for each text, found none for text {names.index(''):,}")
    is_again = pd.Index(names).duplicated()
    if is_again.any():
        again = int(is_again.argmax())
        raise ValueError(
            "essay_ids: expected a different id for each text, in the order of the texts, found "
            f"{names[again]!r} for texts {names.index(names[again]):,} and {again:,}, counted from 0; if they "
            "are windows of one text, or rows of segments, give each text's id once"
        )
    return names
