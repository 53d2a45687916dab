"""Explain a score of the Unified Metric: what became of every segment, and where points were lost."""

import functools
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import contract
from podium import statistics as sufficient
from podium.contract import Companion, Evaluation, Variants
from podium.essays import SMALL_SUBPOPULATION
from podium.explain import ratio
from podium.scoring import ALL
from podium.wording import counted, listed

from . import habits, variants

TEXT_COLUMNS = ("discourse_type", "predictionstring")

CAUSES = ("wrong type", "boundaries", "effectiveness", "missed", "spurious", "overlaps")

LEAST_GAIN = 0.00005  # a smaller one would be shown as 0.0000

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Segments = Any  # the class of the metric file, which this module does not import


def predicted(prepared: Any, submission: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Tell for which essays of the solution a submission has a segment.

    Parameters
    ----------
    prepared : podium.contract.StagedPrepared
        The solution as the metric prepared it.
    submission : DataFrame
        The submission.

    Returns
    -------
    (n,) bool
        True for each of the n essays with a prediction.
    """
    return np.bincount(prepared.read(submission).essay + 1, minlength=len(prepared.items) + 1)[1:] > 0


class Explanation(contract.Explanation):
    """The explanation of one submission; see `podium.contract.Explanation` for what it offers.

    Parameters
    ----------
    evaluation : podium.contract.Evaluation
        The scored submission.

    Attributes
    ----------
    given : Segments, (p,)
        The predictions as they were given.
    predictions : Segments
        The predictions that overlap removal left; their ``row`` is an index into `given`.
    essay_counts : (essays, types, 3) float
        True positives, false positives and false negatives of each essay and type.
    sizes : (groups,) float
        The number of essays of each sub-population.
    counts : (groups, types, 3) float
        True positives, false positives and false negatives of each sub-population and type.
    scores : (groups,) float
        The score of each sub-population.
    """

    roles: ClassVar = {"item": "essay_id", "label": "discourse_type", "outcome": "outcome"}

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(evaluation)
        self.given: Segments = evaluation.read
        self.predictions: Segments
        self.predictions, self._matches = evaluation.compared
        self.essay_counts = self.statistics[:, :-1].reshape(len(self.statistics), -1, 3)
        sums = sufficient.sums(self.statistics, self.prepared.groups)
        self.sizes = sums[:, -1]
        self.counts = sums[:, :-1].reshape(len(sums), -1, 3)
        self.scores: Floats = self.metric.macro_f1(self.counts)

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

        A share of nothing is NaN.
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
        """Sentences about what is unusual in this submission and otherwise passes in silence."""
        notices = []
        essay_id = self.submission[self.prepared.essay_id_column_name]
        unknown = pd.unique(essay_id[self.given.essay < 0])
        if len(unknown):
            notices.append(
                f"ignored {counted(len(unknown), 'essay')} of the submission, not among the "
                f"{len(self.prepared.items):,} that are scored: {listed(unknown)}"
            )
        silent = len(self.prepared.items) - len(np.unique(self.given.essay[self.given.essay >= 0]))
        if silent:
            others = (
                "; to score a fold, name its essays by --essays FILE"
                if silent < len(self.prepared.items)
                else ""
            )
            notices.append(
                f"{silent:,} of the solution's {counted(len(self.prepared.items), 'essay')} have no prediction "
                f"and count as missed{others}"
            )
        notices += habits.of_file(self.prepared, self.submission, self.given)
        notices += self._habits()
        small = [
            f"{attribute} = {value} ({size:.0f})"
            for (attribute, value), size in zip(self.prepared.labels, self.sizes)
            if size < SMALL_SUBPOPULATION
        ]
        if small and self.prepared.labels == [self.metric.ALL]:
            notices.append(
                f"a score depends much on chance with fewer than {SMALL_SUBPOPULATION} essays; this solution "
                f"has {len(self.prepared.items)}"
            )
        elif small:
            notices.append(
                f"the score of a sub-population of fewer than {SMALL_SUBPOPULATION} essays depends much on "
                f"chance; this solution has {len(small):,}: {', '.join(small)}"
            )
        return notices

    def _habits(self) -> list[str]:
        """Make notices about losses by overlap removal and about the matches."""
        notices = []
        known = self.given.take(self.given.essay >= 0)
        lost = len(known.row) - len(self.predictions.row)
        if lost > habits.NOTABLE_LOSS * len(known.row):
            notices.append(
                f"overlap removal discarded {lost:,} of {counted(len(known.row), 'prediction')}, because "
                "earlier ones have their words"
            )
        p, g = self._matches
        matched, truths = self.given.take(self.predictions.row[p]), self.prepared.truths.take(g)
        true_probability = self.metric.probability_of_label(matched, truths)
        notices += habits.of_matches(self.prepared, matched, truths, true_probability)
        if len(p) < habits.FEW_MATCHES or np.ptp(matched.d1) == 0:  # Another notice speaks of one probability.
            return notices
        gain = self._score_of_rounded() - self.evaluation.score
        if gain >= LEAST_GAIN:
            notices.append(
                f"with probabilities rounded to 0 or 1 the score would be higher by {gain:.4f}, because a "
                "match counts in proportion to the probability of its true effectiveness"
            )
        return notices

    def _score_of_rounded(self) -> float:
        """Compute the score with all probabilities rounded to 0 or 1.

        The matches stay the same: among equal segments, overlap removal keeps the one with the least d[1], and
        rounding does not change this order.
        """
        rounded = self.predictions._replace(d1=(self.predictions.d1 > 0.5).astype(np.float64))
        statistics = self.prepared.count((rounded, self._matches))
        return sufficient.measures(self.prepared, statistics)["score"]

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
        * "too little overlap": the prediction shares words with a truth, or would match one if it had not lost
          words to overlap removal.
        * "no truth there": the prediction shares no word with a truth.
        * "missed": no prediction matches the truth.
        * "discarded": overlap removal discarded the segment.
        * "unknown essay": the essay is not in the solution.
        """
        prepared, pairs = self.prepared, self._pairs
        of_predictions, of_truths = self._closest_pairs
        essay_id = prepared.essay_id_column_name
        prediction_ids = np.array([*self.submission[prepared.row_id_column_name], None], dtype=object)
        solution = self.evaluation.solution
        true_ids = solution.frame.loc[solution.rows[ALL], prepared.row_id_column_name]
        truth_ids = np.array([*true_ids, None], dtype=object)

        why_unmatched = np.select(
            [pairs.enough[of_predictions], pairs.truth[of_predictions] >= 0],
            ["wrong type", "too little overlap"],
            "no truth there",
        )
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
        truths = self._described(prepared.given, prepared.truths, of_truths, "missed").assign(
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

        Any other prediction is "spurious", and would be right if it were gone. Any other truth is "missed", and
        would be right if it were matched with a true positive of 1. Discarded segments and those of unknown
        essays have lost nothing.

        Points can be negative: if a sub-population scores above ν + 1/α, the softmin ν falls when it improves.
        """
        given, true, pairs = self.given, self.prepared.given, self._pairs
        of_predictions, of_truths = self._closest_pairs

        # The gain in score if a prediction were gone, and if a truth were matched with a true positive of 1.
        of_tp, of_fp, of_fn = np.moveaxis(self.gradient, -1, 0)
        dismissed, matched_fully = np.zeros(len(given.row)), np.zeros(len(true.row))
        kept = self.predictions.row
        dismissed[kept] = -of_fp[given.essay[kept], given.discourse_type[kept]]
        dismissed[pairs.prediction[pairs.matched]] = 0.0
        kept = self.prepared.truths.row
        matched_fully[kept] = (of_tp - of_fn)[true.essay[kept], true.discourse_type[kept]]

        attempts = of_predictions[of_predictions >= 0]
        attempts = attempts[of_truths[pairs.truth[attempts]] == attempts]
        attempts = attempts[(pairs.same_type | pairs.enough)[attempts]]
        prediction, truth, _, _, iou, iou_as_given, same_type, enough, matched, matched_as_given, d, _ = (
            column[attempts] for column in vars(pairs).values()
        )
        w, hit = self.prepared.segment_weight, matched_fully[truth]
        # The IoU of the match as it is or would first be, and the best one, with the words as given.
        best_iou = np.select([enough, matched_as_given], [np.maximum(iou, iou_as_given), iou_as_given], 1.0)
        first_iou = np.where(enough, iou, best_iou)
        matching = np.where(matched, 0.0, dismissed[prediction] + (w * first_iou + (1 - w) * d) * hit)
        by_overlaps, by_words = same_type & matched_as_given, same_type & ~matched_as_given

        losses = np.zeros((len(given.row) + len(true.row), len(CAUSES)))
        by_cause = dict(zip(CAUSES, losses.T))
        by_cause["spurious"][: len(given.row)] = dismissed
        by_cause["missed"][len(given.row) :] = matched_fully
        by_cause["spurious"][prediction] = 0.0
        by_cause["missed"][len(given.row) + truth] = 0.0
        by_cause["wrong type"][prediction] = np.where(same_type, 0.0, matching)
        by_cause["boundaries"][prediction] = np.where(by_words, matching, 0.0) + w * (1 - best_iou) * hit
        by_cause["overlaps"][prediction] = (
            np.where(by_overlaps, matching, 0.0) + w * (best_iou - first_iou) * hit
        )
        by_cause["effectiveness"][prediction] = (1 - w) * (1 - d) * hit
        return pd.DataFrame(losses, columns=list(CAUSES))

    @functools.cached_property
    def gradient(self) -> Floats:
        """The derivative of the score by `essay_counts`, (essays, types, 3).

        It follows the chain rule through F1, the mean over the types that occur in the truth, and the softmin.
        """
        tp, fp, fn = np.moveaxis(self.counts, -1, 0)
        occurs = tp + fn > 0
        square = np.where(occurs, 2 * tp + fp + fn, np.inf) ** 2
        of_f1 = np.stack([2 * (fp + fn) / square, -2 * tp / square, -2 * tp / square], axis=-1)
        of_score = softmin_gradient(self.metric, self.scores, self.sizes, self.prepared.temperature)
        of_population = of_f1 * (of_score / occurs.sum(axis=-1))[:, np.newaxis, np.newaxis]
        gradient: Floats = of_population[self.prepared.groups].sum(axis=0)
        return gradient

    @property
    def confusion(self) -> pd.DataFrame:
        """How often a true type (index) was predicted as which type (columns).

        A pair counts if its segments overlap enough to match. The last row and column count segments without
        such a partner.
        """
        names, pairs = self.metric.DISCOURSE_TYPES, self._pairs
        types = len(names)
        type_of_prediction, type_of_truth = self.given.discourse_type, self.prepared.given.discourse_type
        table = np.zeros((types + 1, types + 1), dtype=np.int64)
        truth, prediction = pairs.truth[pairs.enough], pairs.prediction[pairs.enough]
        np.add.at(table, (type_of_truth[truth], type_of_prediction[prediction]), 1)
        predicted = np.bincount(self.predictions.discourse_type, minlength=types)
        true = np.bincount(self.prepared.truths.discourse_type, minlength=types)
        table[-1, :-1] = predicted - table[:, :-1].sum(axis=0)
        table[:-1, -1] = true - table[:-1].sum(axis=1)
        return pd.DataFrame(table, index=[*names, "(no truth)"], columns=[*names, "(missed)"])

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
    def _pairs(self) -> Any:
        """All pairs of a prediction and a truth that share words, or would match with the words as given.

        The attributes are columns with one value per pair. The last one stands for no pair, so that the index
        -1 takes it.
        """
        metric, prepared, given, predictions = self.metric, self.prepared, self.given, self.predictions
        truths = prepared.truths
        begin = np.searchsorted(
            metric.word_key(truths.essay, truths.last), metric.word_key(predictions.essay, predictions.first)
        )
        end = np.searchsorted(
            metric.word_key(truths.essay, truths.first),
            metric.word_key(predictions.essay, predictions.last),
            side="right",
        )
        number = end - begin
        prediction = predictions.row[np.repeat(np.arange(len(number)), number)]
        truth = np.arange(number.sum()) + np.repeat(begin - (np.cumsum(number) - number), number)
        # `match` finds partners by the middle word of its second argument. The two sides may change places,
        # because a truth that holds more than half of a prediction also holds its middle word. So the
        # predictions, which may overlap here, come second.
        partner, matched = metric.match(truths, given, prepared.overlap_threshold)
        matching = np.full(len(given.row), -1)
        matching[matched] = partner
        matched_as_given = matching[prediction] == truth

        # Further pairs would have matched, but lost all words, or all words that the two share.
        rows = np.lexsort((given.d1, given.discourse_type, given.last, given.first, given.essay))
        lost = rows[(matching[rows] >= 0) & ~np.isin(rows, prediction[matched_as_given])]
        is_left = np.arange(len(prediction) + len(lost)) < len(prediction)
        prediction = np.append(prediction, lost)
        truth = np.append(truth, matching[lost])
        matched_as_given = np.append(matched_as_given, np.ones(len(lost), dtype=bool))

        first_left = given.first.copy()
        first_left[predictions.row] = predictions.first
        as_given, g = given.take(prediction), truths.take(truth)
        p = as_given._replace(first=first_left[prediction])
        common = metric.common_words(p, g)
        overlap_prediction, overlap_truth = common / p.words, common / g.words
        enough = is_left & (np.minimum(overlap_prediction, overlap_truth) >= prepared.overlap_threshold)
        same_type = p.discourse_type == g.discourse_type
        tp = metric.true_positive_fraction(p, g, prepared.segment_weight)
        columns = {
            "prediction": (p.row, -1),
            "truth": (g.row, -1),
            "overlap_prediction": (overlap_prediction, np.nan),
            "overlap_truth": (overlap_truth, np.nan),
            "iou": (metric.intersection_over_union(p, g), np.nan),
            "iou_as_given": (metric.intersection_over_union(as_given, g), np.nan),
            "same_type": (same_type, False),
            "enough": (enough, False),
            "matched": (enough & same_type, False),
            "matched_as_given": (matched_as_given, False),
            "d": (metric.probability_of_label(p, g), np.nan),
            "tp": (np.where(enough & same_type, tp, 0.0), 0.0),
        }
        return SimpleNamespace(**{name: np.append(*column) for name, column in columns.items()})

    @functools.cached_property
    def _closest_pairs(self) -> tuple[Ints, Ints]:
        """The pair of each prediction and of each truth: its match, or else the closest one, or else -1."""
        pairs = self._pairs
        order = (pairs.iou, pairs.matched_as_given, pairs.enough, pairs.matched)
        ascending = np.lexsort([key[:-1] for key in order])
        closest = np.full(len(self.given.row), -1), np.full(len(self.prepared.given.row), -1)
        for of_side, row_of_pair in zip(closest, (pairs.prediction, pairs.truth)):
            of_side[row_of_pair[ascending]] = (
                ascending  # If a row occurs several times, its last and best pair stays.
            )
        return closest


def softmin_gradient(metric: Any, scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float) -> Floats:
    """Compute the derivative of the softmin ν by the scores: ∂ν/∂s_i = β_i·(1 - α·(s_i - ν)).

    Parameters
    ----------
    metric : module
        The metric file.
    scores : (..., k) float
        The scores s of the k sub-populations.
    sizes : (..., k) float
        Their numbers of essays.
    temperature : float
        α, which may be infinite.

    Returns
    -------
    (..., k) float
        The derivatives. At infinite α they are the weights β, which is right if all equal lowest scores change
        together.

    Notes
    -----
    It follows from ν = Σ β_i·s_i with β_i ∝ size_i·exp(-α·s_i), sections 3 and 5 of the memo.
    """
    weights: Floats = metric.softmin_weights(scores, sizes, temperature)
    scores = np.where(np.asarray(sizes) > 0, scores, 0.0)
    nu = metric.softmin(scores, sizes, temperature)
    # Where β_i is 0, the derivative is 0, even at infinite α. There, the scores of all other groups equal ν.
    above = np.where(weights > 0, scores - nu[..., np.newaxis], 0.0)
    steepness = np.multiply(above, temperature, out=np.zeros_like(above), where=above != 0)
    gradient: Floats = weights * (1 - steepness)
    return gradient


def diagnose(solution: Any, submission: pd.DataFrame) -> str | None:
    """Say what to write instead in a rejected submission; see `habits.diagnose`.

    Parameters
    ----------
    solution : podium.scoring.Solution
        The solution.
    submission : DataFrame
        The submission that was rejected.

    Returns
    -------
    str or None
        A sentence, or None if no known habit explains the rejection.
    """
    return habits.diagnose(solution.metric.module, solution.prepared[ALL], submission)


def make_files(*corpus_and_options: Any) -> Any:
    """Make a competition's files from a corpus of essays; see `podium.essays.corpus.make_files`.

    Parameters
    ----------
    *corpus_and_options : object
        The arguments of that function.

    Returns
    -------
    podium.hosting.folders.Files
        The files, not yet written.
    """
    from podium.essays import corpus

    return corpus.make_files(*corpus_and_options)


companion = Companion(
    text_columns=TEXT_COLUMNS,
    number_columns=("predictionstring",),
    recognize=habits.recognize,
    diagnose=diagnose,
    predicted=predicted,
    explain=Explanation,
    make_files=make_files,
    variants=Variants(variants.of_measures, variants.of_statistics, variants.PATH),
)
