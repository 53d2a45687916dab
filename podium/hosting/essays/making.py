"""Make the files of a competition with the Unified Metric from an annotated corpus with one row per segment.

If a segment has no effectiveness or no words, its whole essay is left out. Otherwise a model that predicts that
segment would be punished. Overlaps are removed by the metric's rule.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Ints
from podium.common.errors import HostError
from podium.common.wording import listed
from podium.contest import pipeline
from podium.hosting import splitting
from podium.hosting.essays.corpus import (
    AS_NUMBERS,
    DEMOGRAPHICS,
    EFFECTIVENESS,
    ESSAY_ID,
    FULL_TEXT,
    PROMPT,
    TYPE,
    UNANNOTATED,
    Column,
    Corpus,
    checked_columns,
    one_of_each_essay,
    spelled,
)
from podium.hosting.essays.places import BEYOND, found_words
from podium.hosting.essays.report import TWICE, TWINS, about_writers, warnings_of_columns, warnings_of_counts
from podium.hosting.essays.tables import is_tested, public_and_private
from podium.hosting.folders import PERFECT, SAMPLE, SOLUTION, Files, scores, section, text_table, tried
from podium.hosting.splitting import TRAIN, Draw, Texts
from podium.metric import hosted
from podium.spans.segments import unified
from podium.spans.vocabulary import LABEL, PROBABILITIES, TYPES

METRIC = "unified"
USUAL_DRAW = Draw(0, test_share=0.4)


def make(
    corpus: Corpus, attributes: list[str], draw: Draw = USUAL_DRAW, parameters: Mapping[str, Any] = {}
) -> Files:
    """Split a corpus of essays into the files of a competition."""
    annotations = _annotations(corpus, attributes)
    of_writers = [name for name in (*DEMOGRAPHICS, PROMPT) if name in annotations.columns]
    writers = list(dict.fromkeys(of_writers + attributes))
    of_essays = [*writers, *([draw.split] if draw.split else [])]
    essays, essay = _essays(annotations, [*dict.fromkeys(of_essays)])
    segments, complete, of_segments = _complete_segments(annotations, essay, len(essays))

    chosen = essays[complete]
    part = np.full(len(essays), "", dtype=object)
    if draw.split:
        part[complete], how = _as_split(annotations, chosen, draw)
        twins = 0
    else:
        part[complete], how, twins = _drawn(chosen, attributes, writers, draw)
    parameters = {"subpopulation_column_names": ",".join(attributes), **parameters}
    public, private = public_and_private(segments, essays, writers, part)
    truth = private[SOLUTION].astype({LABEL: np.int64})
    solution = pipeline.prepared(hosted.load(METRIC), truth, dict(parameters))
    numbers = dict.fromkeys(PROBABILITIES, np.float64)
    trials = tried(solution, draw.seed, public[SAMPLE].astype(numbers), private[PERFECT].astype(numbers))
    tested = set(essays.loc[is_tested(part), ESSAY_ID])
    counts = annotations.counts | of_segments
    counts |= {TWINS: twins, "essays": len(chosen), "segments": len(segments.row)}
    named = annotations.columns[ESSAY_ID].name
    warnings = warnings_of_counts(counts, len(annotations.effective), len(essays), named)
    warnings += warnings_of_columns(corpus, chosen, not draw.split)
    report = [
        "# The competition's files",
        f"{how} The column {named} names the essays.",
        *(f"**{warning}**" for warning in warnings),
        section("The corpus", ("what", "number"), counts.items()),
        *([] if complete.all() else [f"Left out: {listed(essays.loc[~complete, ESSAY_ID].tolist())}."]),
        *about_writers(chosen, part[complete], writers, attributes),
        scores(solution, trials),
    ]
    text = "\n\n".join(report) + "\n"
    return Files(public, private, text, warnings, solution, trials, sorted(tested), parameters)


class _Annotations(NamedTuple):
    """The annotated rows of a corpus, of which each is a segment."""

    # the used columns of these rows; the one that names the essays is called `ESSAY_ID`
    columns: dict[str, Column]
    discourse_type: Ints  # (n,) the type of each segment, as an index into the metric's types
    effective: Ints  # (n,) whether each segment is effective: 1, 0, or -1 if the corpus does not tell
    counts: dict[str, int]  # for the report, how many rows and essays there were and were dropped


def _annotations(corpus: Corpus, attributes: list[str]) -> _Annotations:
    """Check the corpus, and take its annotated rows."""
    columns = checked_columns(corpus, attributes)
    named, types, labels = columns[ESSAY_ID], columns[TYPE], columns[LABEL]
    named.check(named.mapped(len) == 0, "a value in every row")
    type_of = spelled(types, (*TYPES, UNANNOTATED))
    label_of = spelled(labels, (*EFFECTIVENESS, ""), AS_NUMBERS)
    annotated = np.flatnonzero(type_of < len(TYPES))
    if not len(annotated):
        raise HostError("the corpus has no annotated row")
    counts = {
        "rows": len(type_of),
        f"rows that are {UNANNOTATED}: dropped": len(type_of) - len(annotated),
        "essays without an annotated row: dropped": len(named.texts) - len(np.unique(named.codes[annotated])),
    }
    columns = {
        name: replace(column, codes=column.codes[annotated], rows=annotated) for name, column in columns.items()
    }
    effective = np.array([*EFFECTIVENESS.values(), -1])[label_of[annotated]]
    return _Annotations(columns, type_of[annotated], effective, counts)


def _essays(annotations: _Annotations, writers: list[str]) -> tuple[pd.DataFrame, Ints]:
    """Make the table of essays, in the order of their ids, and tell the essay of each segment, (n,)."""
    columns = annotations.columns
    named = columns[ESSAY_ID]
    essay, ids = pd.factorize(np.array(named.texts, dtype=object)[named.codes], sort=True)
    first_row = np.unique(essay, return_index=True)[1]
    names = [name for name in (*writers, FULL_TEXT) if name in columns]
    of_essays = {name: one_of_each_essay(columns[name], essay, first_row) for name in names}
    return text_table({ESSAY_ID: ids.tolist(), **of_essays}), essay


def _complete_segments(
    annotations: _Annotations, essay: Ints, essays: int
) -> tuple[Any, Bools, dict[str, int]]:
    """Take the segments of the complete essays, without overlaps.

    Also tell which essays are complete, (essays,), and count for the report what was left out or changed.
    """
    found = found_words(annotations.columns)
    first, last, beyond = found.first, found.last, found.beyond
    effective = annotations.effective
    complete = np.ones(essays, dtype=bool)
    complete[essay[(effective < 0) | (last < first) | beyond]] = False
    lacking = {
        "segments without effectiveness": int((effective < 0).sum()),
        "segments without words": int((last < first).sum()),
        BEYOND: int(beyond.sum()),
    }
    if not complete.any():
        why = ", ".join(f"{what}: {number:,}" for what, number in lacking.items() if number)
        raise HostError(f"expected an essay of which every segment is complete, found none ({why})")
    metric = unified()
    every = metric.Segments(
        essay, first, last, annotations.discourse_type, effective.astype(np.float64), np.arange(len(essay))
    )
    given = every.take(complete[essay])
    kept = metric.remove_overlaps(given)
    counts = {
        **lacking,
        "essays with such a segment: left out": int((~complete).sum()),
        **found.counts,
        "segments that overlap an earlier one: trimmed": int((kept.first > first[kept.row]).sum()),
        "segments with at most one word left: discarded": len(given.row) - len(kept.row),
        TWICE: _repeated(given),
    }
    return kept, complete, counts


def _repeated(segments: Any) -> int:
    """Count the segments with the words and the type of an earlier one in the same essay."""
    same = np.stack([segments.essay, segments.first, segments.last, segments.discourse_type])
    return int(same.shape[1] - np.unique(same, axis=1).shape[1])


def _drawn(
    chosen: pd.DataFrame, attributes: list[str], writers: list[str], draw: Draw
) -> tuple[Texts, str, int]:
    """Draw the part of each essay, say how, and count the essays with the text of another one.

    Essays with the same text, but for white space, go to the same part. If the corpus has no texts, an essay's
    id is used instead of it.
    """
    names = twins = chosen[ESSAY_ID].tolist()
    if FULL_TEXT in chosen:
        twins = [" ".join((text or "").split()) or name for text, name in zip(chosen[FULL_TEXT], names)]
    by = [*attributes, *([PROMPT] if PROMPT in writers and PROMPT not in attributes else [])]
    strata = [tuple(value or "" for value in values) for values in chosen[by].to_numpy().tolist()]
    parts = splitting.split(names, strata, twins, draw.test_share, draw.public_share, draw.seed)
    how = (
        f"Drawn with seed {draw.seed}: {draw.test_share:g} of the essays are for the test, and "
        f"{draw.public_share:g} of those are Public."
    )
    return parts, how, len(names) - len(set(twins))


def _as_split(annotations: _Annotations, chosen: pd.DataFrame, draw: Draw) -> tuple[Texts, str]:
    """Take the part of each essay from a column of the corpus, and say so."""
    splitting.check_ways(draw.split, draw)
    if given := annotations.columns.get(draw.split):
        given.check(given.mapped(len) == 0, "the part of the essay in every row")
    parts, text = splitting.as_split(chosen, draw.split, chosen[ESSAY_ID].to_numpy(), draw)
    if TRAIN not in parts:
        raise HostError(f"{draw.split}: expected essays to learn from, found none")
    return parts, " ".join(text)
