"""Explain a score of the Unified Metric: what became of every segment, and where points were lost."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics as sufficient
from podium.common.arrays import Floats, Ints
from podium.common.options import is_command
from podium.common.wording import counted, listed
from podium.metric import contract
from podium.metric.contract import Companion, PreparedSolution, ScoredSubmission, Variants
from podium.scoring.evaluating import ALL
from podium.scoring.explain import SMALL_SUBPOPULATION, ratio

from . import cures, habits, points, variants

TEXT_COLUMNS = ("discourse_type", "predictionstring")

# The outcomes of segments that overlap no segment of the other side enough.
TRUTH_ALONE = ("merged", "split", "missed")
PREDICTION_ALONE = ("covers several", "part of one", "too little overlap", "no truth there")

Segments = Any  # the class of the metric file, which this module does not import


def asked(solution: PreparedSolution) -> pd.DataFrame:
    """List the true segments with their essay and their type."""
    prepared: Any = solution.prepared[ALL]
    truths, metric = prepared.truths, solution.metric.module
    names = _ids_of_rows(prepared, solution.frame)[solution.rows[ALL]]
    return pd.DataFrame(
        {
            "item": np.array(prepared.items, dtype=object)[truths.essay],
            "row": names[truths.row],
            "label": np.array(metric.DISCOURSE_TYPES, dtype=object)[truths.discourse_type],
        }
    )


def _ids_of_rows(prepared: Any, table: pd.DataFrame) -> npt.NDArray[np.object_]:
    """The ids of rows, or the numbers of rows if a table has no row ids, such as a train.csv."""
    if prepared.row_id_column_name == prepared.essay_id_column_name:
        return np.array([*map(str, range(len(table)))], dtype=object)
    return np.array(table[prepared.row_id_column_name], dtype=object)


def answered(evaluation: ScoredSubmission) -> pd.DataFrame:
    """Find the type that a submission gives to each true segment, and the probability of its effectiveness.

    The segments are matched as the metric does, but of any type.
    """
    prepared: Any = evaluation.prepared
    metric, truths, (predictions, (p, g)) = (
        evaluation.solution.metric.module,
        prepared.truths,
        evaluation.compared,
    )
    one_type = [each._replace(discourse_type=np.zeros_like(each.row)) for each in (predictions, truths)]
    there, here = metric.match(*one_type, prepared.overlap_threshold)
    answer = np.full(len(truths.row), "", dtype=object)
    answer[here] = np.array(metric.DISCOURSE_TYPES, dtype=object)[predictions.discourse_type[there]]
    probability = np.full(len(answer), np.nan)
    if len(p) and np.ptp(predictions.d1[p]):  # else it says nothing about effectiveness
        probability[g] = metric.probability_of_label(predictions.take(p), truths.take(g))
    said = np.bincount(evaluation.read.essay + 1, minlength=len(prepared.items) + 1)[1:] > 0
    return pd.DataFrame({"answer": answer, "probability": probability, "is_answered": said[truths.essay]})


class Explanation(contract.Explanation):
    """The explanation of one submission; see `podium.metric.contract.Explanation` for what it offers."""

    roles: ClassVar = {"item": "essay_id", "label": "discourse_type", "outcome": "outcome"}

    def __init__(self, evaluation: ScoredSubmission) -> None:
        super().__init__(evaluation)
        self.given: Segments = evaluation.read
        self.predictions: Segments
        self.predictions, self._matches = evaluation.compared
        self.essay_counts = self.statistics[:, :-1].reshape(len(self.statistics), -1, 3)
        self.sums: Floats = sufficient.sums(self.statistics, self.prepared.groups)
        self.sizes = self.sums[:, -1]
        self.counts = self.sums[:, :-1].reshape(len(self.sums), -1, 3)
        self.scores: Floats = self.metric.macro_f1(self.counts, self.prepared.average_all_types)

    @functools.cached_property
    def groups(self) -> pd.DataFrame:
        """The sub-populations, with the number of their essays, their score and their weight in the softmin."""
        weight = self.metric.softmin_weights(self.scores, self.sizes, self.prepared.temperature)
        return pd.DataFrame(self.prepared.labels, columns=["attribute", "value"]).assign(
            essays=self.sizes.astype(np.int64), score=self.scores, weight=weight
        )

    @functools.cached_property
    def classes(self) -> pd.DataFrame:
        """Counts, precision, recall and F1 by sub-population and type, and by type for "(all)" essays.

        A share is NaN if its denominator is 0.
        """
        everybody = [self.metric.ALL]
        labels, counts = self.prepared.labels, self.counts
        if labels != everybody:
            first = np.array([attribute == labels[0][0] for attribute, _ in labels])
            overall = counts[first].sum(axis=0, keepdims=True)
            labels, counts = everybody + labels, np.concatenate([overall, counts])
        tp, fp, fn = np.moveaxis(counts, -1, 0).reshape(3, -1)
        return pd.DataFrame(
            [(*label, name) for label in labels for name in self.metric.DISCOURSE_TYPES],
            columns=["attribute", "value", "discourse_type"],
        ).assign(
            tp=tp,
            fp=fp,
            fn=fn,
            precision=ratio(tp, tp + fp),
            recall=ratio(tp, tp + fn),
            f1=self.metric.f1_of_types(counts).ravel(),
        )

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables that ``podium score`` prints: the sub-populations and the discourse types."""
        classes = self.classes
        overall = classes.loc[classes["attribute"] == self.metric.ALL[0]].drop(columns=["attribute", "value"])
        return {"Sub-populations": self.groups, "Discourse types": overall}

    @property
    def notices(self) -> list[str]:
        """Sentences about what is unusual in this submission and would go unnoticed."""
        mistakes = [sentence for _, sentence in self.mistakes]
        return [*self._essays(), *mistakes, *self._habits(), *self._small_groups()]

    @functools.cached_property
    def mistakes(self) -> list[tuple[str, str]]:
        """Those of the notices that mean that the file is probably wrong, each with its kind."""
        p, g = self._matches
        matched, truths = self.given.take(self.predictions.row[p]), self.prepared.truths.take(g)
        true_probability = self.metric.probability_of_label(matched, truths)
        return [
            *habits.of_file(self.prepared, self.submission, self.given),
            *habits.of_positions(self.prepared, self.given, matched, truths),
            *habits.of_probabilities(matched, true_probability),
        ]

    def _essays(self) -> list[str]:
        """Make notices about essays of the submission or of the solution that the other one lacks."""
        notices = []
        number = len(self.prepared.items)
        unknown = pd.unique(self.submission[self.prepared.essay_id_column_name][self.given.essay < 0])
        if len(unknown):
            notices.append(
                f"ignored {counted(len(unknown), 'essay')} of the submission, not among the "
                f"{number:,} that are scored: {listed(unknown)}"
            )
        silent = number - len(np.unique(self.given.essay[self.given.essay >= 0]))
        if silent:
            by = "name its essays by --essays FILE" if is_command() else "give a solution of its essays alone"
            others = f"; to score a fold, {by}" if silent < number else ""
            notices.append(
                f"{silent:,} of the solution's {counted(number, 'essay')} have no prediction and count as "
                f"missed{others}"
            )
        return notices

    def _habits(self) -> list[str]:
        """Make notices about losses by overlap removal and about probabilities."""
        notices = []
        known = self.given.take(self.given.essay >= 0)
        lost = len(known.row) - len(self.predictions.row)
        if lost > habits.NOTABLE_LOSS * len(known.row):
            notices.append(
                f"{lost:,} of {counted(len(known.row), 'prediction')} were discarded, because predictions that "
                "begin earlier have taken their words"
            )
        p, _ = self._matches
        d1 = self.predictions.d1[p]
        if len(p) < habits.FEW_MATCHES:
            return notices
        if np.ptp(d1) == 0:
            asked_for = "effectiveness" in self.evaluation.solution.further
            return notices + ([] if asked_for else habits.of_one_probability(self.prepared, float(d1[0])))
        gain = self._trials.of_rounded() - self.evaluation.score
        if gain >= cures.LEAST_GAIN:
            notices.append(f"rounding the probabilities to 0 or 1 would raise the score by {gain:.4f}")
        return notices

    def _small_groups(self) -> list[str]:
        """Make a notice about sub-populations in whose scores chance plays a large part."""
        sizes = dict(zip(self.prepared.labels, self.sizes.astype(np.int64).tolist()))
        small = {label: size for label, size in sizes.items() if size < SMALL_SUBPOPULATION}
        if not small:
            return []
        if self.prepared.labels == [self.metric.ALL]:
            return [f"{counted(len(self.prepared.items), 'essay')} are few: chance plays a large part"]
        label = min(small, key=lambda each: small[each])
        return [
            f"chance plays a large part in {counted(len(small), 'group')} of fewer than {SMALL_SUBPOPULATION} "
            f"essays, such as {' = '.join(label)} ({small[label]})"
        ]

    @functools.cached_property
    def _trials(self) -> cures.Trials:
        return cures.Trials(self.metric, self.prepared, self.given, self.evaluation.score)

    @property
    def cures(self) -> dict[str, str]:
        """What to do about each cause of `losses`."""
        return cures.sentences(self._trials)

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """What became of every predicted and of every true segment, in one row each.

        The columns `first`, `last` and `words` are as given, and `words_kept` counts the words that overlap
        removal left. The column `partner` names the match. If there is none, it names the segment that comes
        closest; if overlap removal prevented a match, it names that one. The columns `overlap_prediction`,
        `overlap_truth` and `iou` are computed after overlap removal, except for a discarded prediction, where
        the words are as given. The column `outcome` is one of these:

        * "matched": the segment has a match.
        * "wrong type": the prediction would match a truth of another type.
        * "covers several": the prediction has more than half of the words of two or more truths of its type,
          and overlaps none of them enough. These truths are "merged".
        * "part of one": the truth of the same type that has more than half of the prediction's words also has
          those of other predictions, and none of them overlaps it enough. This truth is "split".
        * "too little overlap": the prediction shares words with a truth, or would match one if it had not lost
          words to overlap removal.
        * "no truth there": the prediction shares no word with a truth.
        * "missed": no prediction matches the truth, and it is neither merged nor split.
        * "discarded": overlap removal discarded the segment.
        * "unknown essay": the essay is not in the solution.
        """
        prepared, pairs = self.prepared, self._pairs
        of_predictions, of_truths = self._closest_pairs
        essay_id = prepared.essay_id_column_name
        prediction_ids = np.array([*_ids_of_rows(prepared, self.submission), None], dtype=object)
        solution = self.evaluation.solution
        truth_ids = np.array([*_ids_of_rows(prepared, solution.frame)[solution.rows[ALL]], None], dtype=object)

        why_unmatched = np.select(
            [
                pairs.enough[of_predictions],
                pairs.merged[of_predictions],
                pairs.split[of_predictions],
                pairs.truth[of_predictions] >= 0,
            ],
            ["wrong type", "covers several", "part of one", "too little overlap"],
            "no truth there",
        )
        why_missed = np.select([pairs.merged[of_truths], pairs.split[of_truths]], ["merged", "split"], "missed")
        predictions = self._described(self.given, self.predictions, of_predictions, why_unmatched).assign(
            side="prediction",
            row_id=prediction_ids[:-1],
            essay_id=np.where(
                self.given.essay >= 0,
                np.array(prepared.items, dtype=object)[self.given.essay],
                self.submission[essay_id].astype(str),
            ),
            **self._partners(prepared.given, truth_ids, pairs.truth[of_predictions]),
        )
        truths = self._described(prepared.given, prepared.truths, of_truths, why_missed).assign(
            side="truth",
            row_id=truth_ids[:-1],
            essay_id=np.array(prepared.items, dtype=object)[prepared.given.essay],
            **self._partners(self.given, prediction_ids, pairs.prediction[of_truths]),
        )
        columns = (
            "side row_id essay_id discourse_type first last words words_kept outcome partner partner_type "
            "partner_first partner_last overlap_prediction overlap_truth iou effectiveness tp points_lost"
        )
        rows = pd.concat([predictions, truths], ignore_index=True)
        return rows.assign(points_lost=self.losses.sum(axis=1))[columns.split()]

    def _described(self, given: Segments, kept: Segments, pair: Ints, unmatched: npt.ArrayLike) -> pd.DataFrame:
        """Make the columns of one side from its segments as given, the kept ones, and their pairs.

        `pair` has the closest pair of each segment, and `unmatched` the outcome of a segment without a match.
        """
        pairs = self._pairs
        words_kept = np.zeros(len(given.row), dtype=np.int64)
        words_kept[kept.row] = kept.words
        outcome = np.select(
            [given.essay < 0, words_kept == 0, pairs.matched[pair]],
            ["unknown essay", "discarded", "matched"],
            unmatched,
        )
        return pd.DataFrame(
            {
                "discourse_type": np.array(self.metric.DISCOURSE_TYPES, dtype=object)[given.discourse_type],
                "first": given.first,
                "last": given.last,
                "words": given.words,
                "words_kept": words_kept,
                "outcome": outcome.astype(object),
                "overlap_prediction": pairs.overlap_prediction[pair],
                "overlap_truth": pairs.overlap_truth[pair],
                "iou": pairs.iou[pair],
                "effectiveness": np.where(pairs.matched[pair], pairs.d[pair], np.nan),
                "tp": pairs.tp[pair],
            }
        )

    def _partners(self, segments: Segments, ids: npt.NDArray[np.object_], rows: Ints) -> dict[str, Any]:
        """Make the columns on the partners, whose rows on the other side are `rows`; -1 stands for none."""
        first, last = (
            pd.Series(positions, dtype="Int64").reindex(rows).array
            for positions in (segments.first, segments.last)
        )
        names = np.array([*self.metric.DISCOURSE_TYPES, None], dtype=object)
        return {
            "partner": ids[rows],
            "partner_type": names[np.append(segments.discourse_type, -1)[rows]],
            "partner_first": first,
            "partner_last": last,
        }

    @functools.cached_property
    def losses(self) -> pd.DataFrame:
        """The points that each row of `rows` lost, in one column per cause.

        The points of a row are `gradient` times the change of the counts that would set the row right. They
        tell, to first order, how much the score would rise. Those of all rows add up to `gradient` times the
        change to a perfect submission.

        A prediction and a truth are one attempt if they are each other's partner, and have the same type or
        overlap enough. The loss of an attempt is in the row of the prediction. It has these causes:

        * "wrong type": only the type prevents a match.
        * "boundaries": the predicted words prevent a match, or cost w·(1 - IoU) of it.
        * "effectiveness": the probability costs (1 - w)·(1 - d[E]) of a match.
        * "overlaps": overlap removal took words without which there is no match, or a lower IoU.

        If a prediction covers several truths, the loss is "merged" and in its row. If a truth is split, the
        loss is "split" and in the row of the truth. In both cases "effectiveness" is what the probability would
        still cost. Any other prediction is "spurious", and would be right if it were gone. Any other truth is
        "missed", and would be right if it were matched with a true positive of 1. Discarded segments and those
        of unknown essays have lost nothing.

        Points can be negative: if a sub-population scores above ν + 1/α, the softmin ν falls when it improves.
        """
        rows = len(self.given.row) + len(self.prepared.given.row)
        return points.losses(self._changes, self.gradient, rows)

    @functools.cached_property
    def gains(self) -> pd.DataFrame:
        """How much the score would rise if all mistakes of one cause and type were corrected, and no others."""
        types = np.append(self.given.discourse_type, self.prepared.given.discourse_type)
        return points.gains(self.prepared, self._changes, self.sums, types, self.metric.DISCOURSE_TYPES)

    @functools.cached_property
    def gradient(self) -> Floats:
        """The derivative of the score by `essay_counts`, (essays, types, 3)."""
        return points.score_gradient(self.metric, self.prepared, self.sums)

    @functools.cached_property
    def _changes(self) -> points.Changes:
        return points.find_changes(
            self.prepared, self.given, self.predictions, self._pairs, self._closest_pairs
        )

    @property
    def confusion(self) -> pd.DataFrame:
        """How often a true type (index) was predicted as which type (columns).

        A pair counts if its segments overlap enough to match. The last rows and columns count segments without
        such a partner by their outcome, which is in parentheses.
        """
        pairs, types = self._pairs, list(self.metric.DISCOURSE_TYPES)
        rows, type_of = self.rows, np.array(types, dtype=object)
        columns = [*types, *(f"({outcome})" for outcome in TRUTH_ALONE)]
        index = [*types, *(f"({outcome})" for outcome in PREDICTION_ALONE)]
        enough = np.flatnonzero(pairs.enough)
        table = pd.crosstab(
            type_of[self.prepared.given.discourse_type[pairs.truth[enough]]],
            type_of[self.given.discourse_type[pairs.prediction[enough]]],
        )
        lone_truth = rows[(rows["side"] == "truth") & rows["outcome"].isin(TRUTH_ALONE)]
        lone_truth = lone_truth[~lone_truth.index.isin(len(self.given.row) + pairs.truth[enough])]
        lone = rows[(rows["side"] == "prediction") & rows["outcome"].isin(PREDICTION_ALONE)]
        by_truth = pd.crosstab(lone_truth["discourse_type"], "(" + lone_truth["outcome"] + ")")
        by_prediction = pd.crosstab("(" + lone["outcome"] + ")", lone["discourse_type"])
        counts = pd.DataFrame(0, index=index, columns=columns)
        for part in (table, by_truth, by_prediction):
            counts = counts.add(part, fill_value=0)
        return counts.loc[index, columns].astype(np.int64)

    @property
    def forecasts(self) -> pd.DataFrame:
        """For each match, the probability of effective, and whether the truth is effective (0 or 1)."""
        matched = self._pairs.matched
        return pd.DataFrame(
            {
                "probability": self.given.d1[self._pairs.prediction[matched]],
                "happened": self.prepared.given.d1[self._pairs.truth[matched]].astype(np.int64),
            }
        )

    @functools.cached_property
    def _pairs(self) -> points.Pairs:
        return points.find_pairs(self.metric, self.prepared, self.given, self.predictions)

    @functools.cached_property
    def _closest_pairs(self) -> tuple[Ints, Ints]:
        """The pair of each prediction and of each truth: its match, or else the closest one, or else -1."""
        pairs = self._pairs
        return (
            pairs.closest(pairs.prediction[:-1], len(self.given.row)),
            pairs.closest(pairs.truth[:-1], len(self.prepared.given.row)),
        )


def make_files(
    path: Path,
    attributes: list[str],
    draw: Any,
    columns: Mapping[str, str],
    parameters: Mapping[str, Any],
) -> Any:
    """Make a competition's files from a corpus of essays; see `podium.hosting.essays.making.make`."""
    from podium.hosting.essays import corpus, making

    read = corpus.read_corpus(path, [*attributes, *([draw.split] if draw.split else [])], columns)
    return making.make(read, attributes, draw, parameters)


companion = Companion(
    text_columns=TEXT_COLUMNS,
    number_columns=("predictionstring",),
    recognize=habits.recognize,
    diagnose=habits.diagnose,
    explain=Explanation,
    asked=asked,
    answered=answered,
    make_files=make_files,
    baseline=Path(__file__).with_name("baseline.py"),
    variants=Variants(variants.of_measures, variants.of_statistics, variants.PATH),
)
