"""Find where a submission lost its points: which segments belong together, and what a correction gains."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints, ranges

CAUSES = (
    "wrong type",
    "merged",
    "split",
    "boundaries",
    "effectiveness",
    "missed",
    "spurious",
    "overlaps",
)
ANY = "(all)"  # the row of `gains` for all types together

Segments = Any  # the class of the metric file, which this module does not import


class Pairs(NamedTuple):
    """All pairs of a prediction and a truth that share words, or would match with the words as given.

    There is one value per pair. The last one stands for no pair, so that the index -1 takes it.
    """

    prediction: Ints  # the row of the prediction
    truth: Ints  # the row of the truth
    overlap_prediction: Floats  # the share of the prediction's words that both have
    overlap_truth: Floats  # the share of the truth's words that both have
    iou: Floats
    iou_as_given: Floats  # the IoU before overlap removal
    same_type: Bools
    enough: Bools  # whether they overlap enough to match, whatever their types
    matched: Bools
    matched_as_given: Bools  # whether they would match before overlap removal
    merged: Bools  # whether the truth is one of several that the prediction merges
    split: Bools  # whether the prediction is one of several into which the truth is split
    d: Floats  # the probability of the true effectiveness
    tp: Floats  # the true positive of a match, otherwise 0

    def take(self, index: Ints) -> "Pairs":
        """Take some pairs."""
        columns: list[Any] = [column[index] for column in self]
        return Pairs(*columns)

    def closest(self, of_pair: Ints, rows: int) -> Ints:
        """Find the pair of each row: its match, or else the pair that comes closest, or else -1."""
        order = (self.iou, self.matched_as_given, self.enough, self.merged | self.split, self.matched)
        ascending = np.lexsort([key[:-1] for key in order])
        found = np.full(rows, -1)
        found[of_pair[ascending]] = ascending  # If a row occurs several times, its last and best pair stays.
        return found


def find_pairs(metric: Any, prepared: Any, given: Segments, predictions: Segments) -> Pairs:
    """Find the pairs of the predictions as given, of which `predictions` are left, and the truths."""
    prediction, truth, is_left, matched_as_given = _sharing_words(metric, prepared, given, predictions)
    first_left = given.first.copy()
    first_left[predictions.row] = predictions.first
    as_given, g = given.take(prediction), prepared.truths.take(truth)
    p = as_given._replace(first=first_left[prediction])
    common = metric.common_words(p, g)
    overlap_prediction, overlap_truth = common / p.words, common / g.words
    enough = is_left & (np.minimum(overlap_prediction, overlap_truth) >= prepared.overlap_threshold)
    same_type = p.discourse_type == g.discourse_type
    tp = metric.true_positive_fraction(p, g, prepared.segment_weight)

    # A prediction merges truths if it has most words of several truths of its type, and overlaps none enough.
    # Likewise, a truth is split if it has most words of several predictions. What would match with the words as
    # given is left out, because overlap removal is to blame there.
    alike = is_left & same_type & ~np.isin(prediction, prediction[matched_as_given])
    merged = alike & (overlap_truth > 0.5) & ~np.isin(prediction, prediction[enough])
    merged &= _several(prediction, merged)
    split = alike & (overlap_prediction > 0.5) & ~np.isin(g.row, g.row[enough])
    split &= ~np.isin(prediction, prediction[merged]) & ~np.isin(g.row, g.row[merged])
    split &= _several(g.row, split)
    columns = (
        (p.row, -1),
        (g.row, -1),
        (overlap_prediction, np.nan),
        (overlap_truth, np.nan),
        (metric.intersection_over_union(p, g), np.nan),
        (metric.intersection_over_union(as_given, g), np.nan),
        (same_type, False),
        (enough, False),
        (enough & same_type, False),
        (matched_as_given, False),
        (merged, False),
        (split, False),
        (metric.probability_of_label(p, g), np.nan),
        (np.where(enough & same_type, tp, 0.0), 0.0),
    )
    return Pairs(*(np.append(column, none) for column, none in columns))


def _sharing_words(
    metric: Any, prepared: Any, given: Segments, predictions: Segments
) -> tuple[Ints, Ints, Bools, Bools]:
    """List the pairs: the row of the prediction, the truth, whether common words are left, and whether the two
    would match with the words as given.
    """
    truths = prepared.truths
    begin = np.searchsorted(
        metric.word_key(truths.essay, truths.last), metric.word_key(predictions.essay, predictions.first)
    )
    end = np.searchsorted(
        metric.word_key(truths.essay, truths.first),
        metric.word_key(predictions.essay, predictions.last),
        side="right",
    )
    of_prediction, truth = ranges(begin, end - begin)
    prediction = predictions.row[of_prediction]
    # `match` finds partners by the middle word of its second argument. The two sides may change places, because
    # a truth that holds more than half of a prediction also holds its middle word. So the predictions, which
    # may overlap here, come second.
    partner, matched = metric.match(truths, given, prepared.overlap_threshold)
    matching = np.full(len(given.row), -1)
    matching[matched] = partner
    as_given = matching[prediction] == truth
    # Further pairs would have matched, but lost all words, or all words that the two share.
    rows = np.lexsort((given.d1, given.discourse_type, given.last, given.first, given.essay))
    lost = rows[(matching[rows] >= 0) & ~np.isin(rows, prediction[as_given])]
    is_left = np.arange(len(prediction) + len(lost)) < len(prediction)
    return (
        np.append(prediction, lost),
        np.append(truth, matching[lost]),
        is_left,
        np.append(as_given, np.ones(len(lost), dtype=bool)),
    )


def _several(rows: Ints, chosen: Bools) -> Bools:
    """Tell which pairs have a row that occurs in more than one of the chosen pairs."""
    numbers = np.bincount(rows[chosen], minlength=int(rows.max(initial=-1)) + 1)
    several: Bools = numbers[rows] > 1
    return several


class Changes(NamedTuple):
    """What the counts lack to those of a perfect submission, one entry for each row, cause and type.

    The causes come one after the other: a match is made first, and then its words and probability set right.
    """

    row: Ints  # the row of the explanation that the entry belongs to
    cause: Ints  # as an index into `CAUSES`
    essay: Ints
    discourse_type: Ints  # the type whose counts change
    tp: Floats  # what is added to the true positives, and subtracted from the false negatives
    fp: Floats  # what is added to the false positives
    alone: Bools  # whether this can be set right while all other mistakes stay


def find_changes(
    prepared: Any, given: Segments, predictions: Segments, pairs: Pairs, closest: tuple[Ints, Ints]
) -> Changes:
    """Find what every mistake costs in counts; `closest` has the pair of each prediction and of each truth."""
    ledger = _Ledger(prepared, given, predictions)
    of_predictions, of_truths = closest
    # A prediction and a truth are one attempt if they are each other's closest.
    attempts = of_predictions[of_predictions >= 0]
    attempts = attempts[of_truths[pairs.truth[attempts]] == attempts]
    together = pairs.merged | pairs.split
    ledger.add_attempts(pairs.take(attempts[(pairs.same_type | pairs.enough)[attempts] & ~together[attempts]]))
    ledger.add_merged(pairs.take(np.flatnonzero(pairs.merged)))
    ledger.add_split(pairs.take(np.flatnonzero(pairs.split)))
    return ledger.closed()


class _Ledger:
    """The changes that were found so far, and the segments to which no mistake was assigned yet."""

    def __init__(self, prepared: Any, given: Segments, predictions: Segments) -> None:
        self.w, self.given, self.true = prepared.segment_weight, given, prepared.given
        self.truth_rows = len(given.row) + np.arange(len(self.true.row))
        self.kept_p = np.isin(np.arange(len(given.row)), predictions.row)
        self.free_p = self.kept_p.copy()
        self.free_g = np.isin(np.arange(len(self.true.row)), prepared.truths.row)
        self.parts: list[tuple[Any, ...]] = []

    def add(
        self, cause: str, row: Ints, of: Segments, tp: npt.ArrayLike, fp: Any = 0.0, alone: Any = True
    ) -> None:
        """Add changes of one cause, to the counts of the types of some segments."""
        number = np.full(len(row), CAUSES.index(cause))
        columns = (row, number, of.essay, of.discourse_type, tp, fp, alone)
        self.parts.append(tuple(np.broadcast_to(column, len(row)) for column in columns))

    def add_attempts(self, a: Pairs) -> None:
        """Add what a match would need, and then what it costs that words and probability are not right."""
        w, p, g, rows = self.w, self.given.take(a.prediction), self.true.take(a.truth), a.prediction
        # The IoU of the match as it is or would first be, and the best one, with the words as given.
        best_iou = np.select(
            [a.enough, a.matched_as_given], [np.maximum(a.iou, a.iou_as_given), a.iou_as_given], 1.0
        )
        first_iou = np.where(a.enough, a.iou, best_iou)
        first_tp = w * first_iou + (1 - w) * a.d
        for cause, here in (
            ("wrong type", ~a.same_type),
            ("overlaps", a.same_type & a.matched_as_given),
            ("boundaries", a.same_type & ~a.matched_as_given),
        ):
            new = here & ~a.matched
            self.add(cause, rows[new], p.take(new), 0.0, -1.0 * self.kept_p[a.prediction[new]])
            self.add(cause, rows[new], g.take(new), first_tp[new])
        self.add("overlaps", rows, g, w * (best_iou - first_iou), alone=a.matched)
        self.add("boundaries", rows, g, w * (1 - best_iou), alone=a.matched)
        self.add("effectiveness", rows, g, (1 - w) * (1 - a.d), alone=a.matched)
        self.free_p[a.prediction] = self.free_g[a.truth] = False

    def add_merged(self, m: Pairs) -> None:
        """Add predictions that cover several truths, in the rows of the predictions."""
        w, whole, truths = self.w, np.unique(m.prediction), self.true.take(m.truth)
        self.add("merged", whole, self.given.take(whole), 0.0, -1.0)
        self.add("merged", m.prediction, truths, w + (1 - w) * m.d)
        self.add("effectiveness", m.prediction, truths, (1 - w) * (1 - m.d), alone=False)
        self.free_p[whole] = self.free_g[m.truth] = False

    def add_split(self, s: Pairs) -> None:
        """Add truths of which several predictions are parts, in the rows of the truths."""
        w, (whole, number) = self.w, np.unique(s.truth, return_inverse=True)
        words = self.given.take(s.prediction).words
        d = np.bincount(number, s.d * words) / np.bincount(number, words)  # as when the parts are joined
        self.add("split", self.truth_rows[s.truth], self.given.take(s.prediction), 0.0, -1.0)
        self.add("split", self.truth_rows[whole], self.true.take(whole), w + (1 - w) * d)
        self.add("effectiveness", self.truth_rows[whole], self.true.take(whole), (1 - w) * (1 - d), alone=False)
        self.free_p[s.prediction] = self.free_g[whole] = False

    def closed(self) -> Changes:
        """Return all changes; the segments that are left are spurious or missed."""
        self.add("spurious", np.flatnonzero(self.free_p), self.given.take(self.free_p), 0.0, -1.0)
        self.add("missed", self.truth_rows[self.free_g], self.true.take(self.free_g), 1.0)
        return Changes(*map(np.concatenate, zip(*self.parts)))


def losses(changes: Changes, gradient: Floats, rows: int) -> pd.DataFrame:
    """Sum up, for each row and cause, how much the changes would raise the score to first order."""
    of_tp, of_fp, of_fn = np.moveaxis(gradient[changes.essay, changes.discourse_type], -1, 0)
    points = np.zeros((rows, len(CAUSES)))
    np.add.at(points, (changes.row, changes.cause), changes.tp * (of_tp - of_fn) + changes.fp * of_fp)
    return pd.DataFrame(points, columns=list(CAUSES))


def gains(
    prepared: Any, changes: Changes, sums: Floats, type_of_row: Ints, names: tuple[str, ...]
) -> pd.DataFrame:
    """Compute how much the score would rise if one cause alone were set right, by type of the row and cause."""
    size = len(names)
    causes, groups, columns = len(CAUSES), len(sums), sums.shape[1]
    of_alone: list[Any] = [column[changes.alone] for column in changes]
    one = Changes(*of_alone)
    cell = one.cause * size + type_of_row[one.row]
    totals = np.zeros(causes * size * groups * columns)
    for of_attribute in prepared.groups:
        place = (cell * groups + of_attribute[one.essay]) * columns + 3 * one.discourse_type
        for offset, amount in enumerate((one.tp, one.fp, -one.tp)):
            totals += np.bincount(place + offset, amount, minlength=len(totals))
    by_type = totals.reshape(causes, size, groups, columns)
    changed = np.concatenate([by_type.sum(axis=1, keepdims=True), by_type], axis=1)
    scores = prepared.measures(sums + changed)[..., 0] - prepared.measures(sums)[0]
    return pd.DataFrame(scores.T, index=[ANY, *names], columns=list(CAUSES))


def softmin_gradient(metric: Any, scores: npt.ArrayLike, sizes: npt.ArrayLike, temperature: float) -> Floats:
    """Compute the derivative of the softmin ν by the scores: ∂ν/∂s_i = β_i·(1 - α·(s_i - ν)).

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


def score_gradient(metric: Any, prepared: Any, sums: Floats) -> Floats:
    """Compute the derivative of the score by the counts of each essay, (essays, types, 3), from sums of groups.

    It follows the chain rule through F1, its mean over the types that are averaged, and the softmin.
    """
    sizes, counts = sums[:, -1], sums[:, :-1].reshape(len(sums), -1, 3)
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    occurs = tp + fn > 0
    square = np.where(occurs, 2 * tp + fp + fn, np.inf) ** 2
    of_f1 = np.stack([2 * (fp + fn) / square, -2 * tp / square, -2 * tp / square], axis=-1)
    tau = metric.macro_f1(counts, prepared.average_all_types)
    of_score = softmin_gradient(metric, tau, sizes, prepared.temperature)
    averaged = len(metric.DISCOURSE_TYPES) if prepared.average_all_types else occurs.sum(axis=-1)
    of_population = of_f1 * (of_score / averaged)[:, np.newaxis, np.newaxis]
    gradient: Floats = of_population[prepared.groups].sum(axis=0)
    return gradient
