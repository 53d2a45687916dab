"""Make segments from places: of characters or words, in a table, and in the output of a pipeline."""

import dataclasses
import functools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Ints, by_essay
from podium.common.wording import counted, listed
from podium.spans import door, relations
from podium.spans.by_position import by_position
from podium.spans.segments import Spans, distinct_texts, require_words, spans_of, unified
from podium.spans.vocabulary import LABEL, PROBABILITIES
from podium.tables.ids import as_in
from podium.tables.ids import texts as texts_of_ids
from podium.tables.text_index import TextIndex

__all__ = ["from_characters", "from_pipeline", "from_table", "from_words"]

TEXT = "discourse_text"  # which training data has beside positions
NEEDED = ("essay_id", "discourse_type", "predictionstring")
FEEDBACK_PRIZE_1 = {"id": "essay_id", "class": "discourse_type"}
# What to do with groups of other kinds, by a key that they have.
CURES = {
    "entity": "; make the pipeline with aggregation_strategy='simple'",
    "start_pos": "; give flair's start_pos and end_pos to from_characters, and labels[0].value as types",
}


@by_position
def from_characters(
    texts: str | Sequence[str],
    starts: npt.ArrayLike,
    ends: npt.ArrayLike,
    types: Any,
    *,
    essay: npt.ArrayLike | None = None,
    probability: npt.ArrayLike = 1.0,
    d1: npt.ArrayLike = 0.5,
) -> Spans:
    """Make segments from positions of characters.

    A segment that starts within a word begins at the next word, as when ``podium make`` reads a corpus.
    Segments without a word are left out with a warning, and so are those named O.

    Parameters
    ----------
    texts : str or sequence of str
        The essays.
    starts, ends : (n,) int
        The position of the first character of each segment, counted from 0, and of the one after its last.
    types : str or (n,) str or int
        The type of each segment, or one type for all: a name, or an index into `TYPES`.
    essay : int or (n,) int, optional
        The essay of each segment, as an index into `texts`. It may be left out if there is one text.
    probability : float or (n,) float in [0, 1]
        The probability of the type of each segment.
    d1 : float or (n,) float in [0, 1]
        The probability that the segment is effective.

    Returns
    -------
    Spans
        The segments.

    Raises
    ------
    ValueError
        Characters are outside the text, or `Spans` refuses a value.

    Examples
    --------
    >>> spans = from_characters("I agree. Ban phones.", [9], [20], "Claim")
    >>> spans.first.tolist(), spans.last.tolist()
    ([2], [3])
    """
    return _of_characters(texts, starts, ends, door.Said(essay, types, probability, d1))


def word_positions(
    texts: Sequence[str], essay: Ints, start: Ints, end: Ints, by_middle: bool = False
) -> tuple[Ints, Ints]:
    """Find the first and the last word of passages of texts; see `TextIndex.between`."""
    first, last = np.empty_like(start), np.empty_like(start)
    for number, rows in by_essay(essay):
        first[rows], last[rows] = TextIndex(texts[number]).between(start[rows], end[rows], by_middle)
    return first, last


@by_position
def from_words(
    first: npt.ArrayLike,
    last: npt.ArrayLike,
    types: Any,
    *,
    texts: str | Sequence[str] | None = None,
    essay: npt.ArrayLike | None = None,
    probability: npt.ArrayLike = 1.0,
    d1: npt.ArrayLike = 0.5,
) -> Spans:
    """Make segments from positions of words.

    Parameters
    ----------
    first, last : (n,) int
        The positions of the first and the last word of each segment, counted from 0. The last word belongs to
        the segment.
    types : str or (n,) str or int
        The type of each segment, or one type for all: a name, or an index into `TYPES`.
    texts : str or sequence of str, optional
        The essays, to check that they have these words. Give them if you have them. Numbers of tokens, such as
        spaCy's, are no positions of words, because punctuation counts there.
    essay : int or (n,) int, optional
        The essay of each segment, as an index. It may be left out if there is one essay.
    probability : float or (n,) float in [0, 1]
        The probability of the type of each segment.
    d1 : float or (n,) float in [0, 1]
        The probability that the segment is effective.

    Returns
    -------
    Spans
        The segments.

    Raises
    ------
    ValueError
        The sizes differ, a text has fewer words, or `Spans` refuses a value.

    Warns
    -----
    UserWarning
        There are no texts, so the positions cannot be checked; told once. Or many segments end with the word
        with which another one begins, as if the last word did not belong to them.

    Examples
    --------
    >>> from_words([0, 9], [3, 20], ["Lead", "Claim"]).words.tolist()
    [4, 12]
    """
    if texts is None:
        _tell_that_nothing_is_checked()
    texts = None if texts is None else door.texts_of(texts)
    said = door.Said(essay, types, probability, d1)
    rows = door.candidates({"first": first, "last": last}, said, None if texts is None else len(texts))
    spans = dataclasses.replace(spans_of(rows, *rows.places), of_one_text=essay is None)
    if texts is not None:
        expected = "positions of words of text.split(), not numbers of tokens"
        require_words(spans, door.numbers_of_words(texts), expected)
    relations.check_ends(spans.essay, spans.first, spans.last)
    return spans


@functools.cache
def _tell_that_nothing_is_checked() -> None:
    """Warn once that positions of words are taken as they are."""
    warnings.warn("from_words: positions cannot be checked without texts=", stacklevel=4)


@by_position
def from_table(frame: pd.DataFrame, essay_ids: Sequence[Any]) -> Spans:
    """Read the segments of some essays from training data or a submission.

    Parameters
    ----------
    frame : DataFrame
        It has the columns ``essay_id``, ``discourse_type`` and ``predictionstring``. The Feedback Prize 1 calls
        the first two ``id`` and ``class``. The column ``probability`` and the effectiveness (a label or
        probabilities) are read if they are there.
    essay_ids : sequence of str
        The ids of the essays to read, in the order of the texts. Ids are compared as text.

    Returns
    -------
    Spans
        The segments of these essays.

    Raises
    ------
    ValueError
        A column is missing, a predictionstring is not valid, one of `essay_ids` occurs twice, or the table has
        none of them.
    """
    frame = _with_our_names(frame)
    # Ids are written as the given ones: 1.0 is the id 1 if all of these are numbers, as podium.score takes it.
    given, ids = pd.Series(distinct_texts(essay_ids), dtype=object), frame["essay_id"]
    texts = texts_of_ids(as_in(given.to_frame("essay_id"), frame, ["essay_id"])["essay_id"])
    essay = pd.Index(given).get_indexer(pd.Index(texts))
    if len(frame) and len(given) and (essay < 0).all():
        raise ValueError(
            f"essay_ids: expected ids of the table, such as {str(ids.iloc[0])!r}, found none of them but "
            f"{given.iloc[0]!r}"
        )
    cells, own = frame["predictionstring"], essay >= 0
    if not own.all():
        unknown = given[~given.index.isin(essay)].tolist()
        relations.check_ids(unknown, len(given), "table, which has rows of other essays")
    metric = unified()
    first, last = np.concatenate([np.zeros((2, 0), dtype=np.int64), *metric.parse_column(cells)], axis=1)
    expected = "positions in predictionstring such as '45 46 47', counted from 0, without a gap"
    written = ids.to_numpy(dtype=object), cells.to_numpy(dtype=object)
    door.require(written[0], own & (last < 0), expected, "{!r}", written[1], part="row")
    if {*PROBABILITIES} <= {*frame}:
        both = [pd.to_numeric(frame[name], errors="coerce").to_numpy(np.float64) for name in PROBABILITIES]
        wrong = own & ~(np.abs(sum(both) - 1) <= metric.SUM_TOLERANCE)
        door.require(written[0], wrong, "two probabilities that sum to 1", "{:g} + {:g}", *both, part="row")
    frame, essay, first, last = frame[own], essay[own], first[own], last[own]
    if TEXT in frame:
        relations.check_quotes(frame[TEXT].tolist(), last - first + 1)
    d1 = frame.get(PROBABILITIES[1], door.effectiveness(frame[LABEL]) if LABEL in frame else 0.5)
    probability = frame.get("probability", 1.0)
    said = (frame["discourse_type"], probability, d1)
    types, *numbers = (each.tolist() if isinstance(each, pd.Series) else each for each in said)
    rows = door.candidates({"first": first, "last": last}, door.Said(essay, types, *numbers))
    return spans_of(rows, *rows.places)


def _with_our_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Take a table whose columns may be named as in the Feedback Prize 1, and whose ids may be its index."""
    if frame.index.name in ("essay_id", "id") and frame.index.name not in frame:
        frame = frame.reset_index()
    names = {old: new for old, new in FEEDBACK_PRIZE_1.items() if old in frame and new not in frame}
    frame = frame.rename(columns=names)
    columns = [*map(str, frame)]
    for name in (*NEEDED, *PROBABILITIES, LABEL, "probability"):
        if (number := columns.count(name)) > 1 or (not number and name in NEEDED):
            raise ValueError(f"expected one column {name}, found {number or listed(columns, 20)}")
    return frame


@by_position
def from_pipeline(texts: str | Sequence[str], outputs: Any, *, d1: npt.ArrayLike = 0.5) -> Spans:
    """Read the segments from the output of a token-classification pipeline of ``transformers``.

    Parameters
    ----------
    texts : str or sequence of str
        The texts that the pipeline was given.
    outputs : list of dict, or a list of such lists for several texts
        The groups with ``entity_group``, ``start``, ``end`` and ``score``, as a pipeline with an
        ``aggregation_strategy`` returns them. A word belongs to the group that contains its middle character.
    d1 : float or (n,) float in [0, 1]
        The probability that a segment is effective, for all groups or for each.

    Returns
    -------
    Spans
        The segments, with the ``score`` of the group as the probability. Groups named O are left out.

    Raises
    ------
    ValueError
        The pipeline has no aggregation strategy, or its tokenizer does not tell positions of characters.

    Warns
    -----
    UserWarning
        The ``word`` of a group does not stand at its positions, so that these are of another text.

    Examples
    --------
    >>> output = [{"entity_group": "Claim", "score": 0.75, "word": "Ban phones", "start": 0, "end": 10}]
    >>> from_pipeline("Ban phones now.", output).to_frame()[["discourse_type", "first", "last"]].values.tolist()
    [['Claim', 0, 1]]
    """
    if isinstance(texts, str):
        outputs = [outputs]
    texts = door.texts_of(texts)
    groups = _groups(texts, outputs)
    essay, types = [number for number, _ in groups], [_name_of(group) for _, group in groups]
    starts, ends = ([group[name] for _, group in groups] for name in ("start", "end"))
    said = door.Said(essay, types, [group.get("score", 1.0) for _, group in groups], d1)
    spans = _of_characters(texts, starts, ends, said, by_middle=True)
    relations.warn_of_other_words(texts, groups)
    return spans


def _groups(texts: Sequence[str], outputs: Any) -> list[tuple[int, Mapping[str, Any]]]:
    """List the groups of a pipeline's output, each with the number of its text, and check them."""
    door.require_equal_sizes({"texts": texts, "outputs": outputs})
    groups = []
    for number, output in enumerate(outputs):
        if not isinstance(output, list | tuple) or not all(isinstance(group, Mapping) for group in output):
            raise ValueError(
                "outputs: expected a list of groups for each text, and each group a dict, found "
                f"{output!r:.60} for text {number}"
            )
        groups += [(number, group) for group in output]
    for number, group in groups:
        if _name_of(group) == "" or "entity" in group or not {"start", "end"} <= set(group):
            cure = next((cure for key, cure in CURES.items() if key in group), "")
            raise ValueError(
                "outputs: expected groups with entity_group, start and end, found "
                f"{', '.join(map(str, group))} of text {number}{cure}"
            )
    return groups


def _name_of(group: Mapping[str, Any]) -> str:
    """The type of a group: transformers say entity_group, GLiNER says label, and presidio entity_type."""
    return str(next((group[key] for key in ("entity_group", "label", "entity_type") if key in group), ""))


def _of_characters(
    texts: str | Sequence[str],
    starts: npt.ArrayLike,
    ends: npt.ArrayLike,
    said: door.Said,
    by_middle: bool = False,
) -> Spans:
    """Make segments of candidates that are given by characters; see `word_positions`."""
    texts = door.texts_of(texts)
    rows = door.candidates({"starts": starts, "ends": ends}, said, len(texts), outside=True)
    start, end = rows.places
    lengths = np.array([len(text) for text in texts], dtype=np.int64)[rows.essay]
    relations.check_positions(texts, rows.essay, start, end)
    door.require_within(rows.essay, start, end, lengths)
    first, last = word_positions(texts, rows.essay, start, end, by_middle)
    empty, outside = last < first, rows.kind < 0
    for left_out, why in ((empty & ~outside, "without a word of the text"), (outside, "named O")):
        if left_out.any():
            warnings.warn(f"left out {counted(int(left_out.sum()), 'segment')} {why}", stacklevel=4)
    return spans_of(rows, first, last, ~(empty | outside))
