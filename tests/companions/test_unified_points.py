"""The points that each mistake cost are right in the table of segments, and add up to what the score lacks."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import metric
from podium.metric import hosted
from podium.scoring import explain
from tests.companions.test_unified_fates import SlowPairs
from tests.support import unified_transcription as transcription
from tests.support.examples import examples
from tests.support.frames import WHOLE, perfect, solution, submission, words
from tests.support.strategies import Competition, competitions
from tests.support.unified import evaluate

POINTS = hosted.module("unified", "points")
CAUSES, softmin_gradient = POINTS.CAUSES, POINTS.softmin_gradient

TP, FP, FN = range(3)
pytestmark = pytest.mark.filterwarnings("ignore:.*of the solution overlapping an earlier one")


def score_of_counts(counts, evaluation):
    """The score that these counts give."""
    statistics = np.concatenate([counts.reshape(len(counts), -1), np.ones((len(counts), 1))], axis=1)
    sums = metric.sums_of_groups(statistics, evaluation.prepared.groups)
    return float(evaluation.prepared.measures(sums)[0])


# --- the gradient -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"temperature": 0.0},
        {"temperature": 300.0},
        {"temperature": math.inf},
        {"intersectional": True, "temperature": 10.0},
        {"intersectional": True, "average_all_types": True},
        {"subpopulation_column_names": "ell_status", "segment_weight": 0.9},
        WHOLE,
    ],
    ids=str,
)
def test_the_gradient_is_that_of_the_score(competition, parameters):
    """It agrees with central differences of the score, for some essays and for all counts together."""
    evaluation = evaluate(*competition, **parameters)
    told, random, step = evaluation.explanation, np.random.default_rng(0), 1e-4
    directions = [random.random(told.essay_counts.shape)]
    for essay in random.choice(len(evaluation.prepared.items), 6, replace=False):
        for of_type, count in ((0, TP), (2, FP), (5, FN), (6, TP)):
            directions.append(np.zeros(told.essay_counts.shape))
            directions[-1][essay, of_type, count] = 1.0
    occurs = told.counts[..., [TP, FN]].sum(axis=-1) > 0  # the score is not smooth where a type begins to occur
    for direction in directions:
        direction *= occurs[evaluation.prepared.groups].all(axis=0)[..., np.newaxis]
        direction /= max(direction.sum(), 1.0)
        high, low = (
            score_of_counts(told.essay_counts + sign * step * direction, evaluation) for sign in (1, -1)
        )
        expected = (high - low) / (2 * step)
        assert (told.gradient * direction).sum() == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_a_type_that_the_truth_lacks_has_no_gradient():
    truth = solution(("A", "Lead", words(0, 9), 1))
    predicted = submission(("A", "Claim", words(0, 9), 1), ("A", "Claim", words(20, 29), 1))
    evaluation = evaluate(truth, predicted, **WHOLE)
    assert (evaluation.explanation.gradient[:, 1:] == 0).all()
    assert evaluation.explanation.gradient[0, 0].tolist() == [2.0, 0.0, 0.0]


# --- points lost ------------------------------------------------------------------------------------


def test_the_probability_alone_gains_nothing_without_a_match():
    truth = solution(("A", "Lead", words(0, 9), 1))
    told = evaluate(truth, submission(("A", "Lead", words(7, 16), 0.5)), **WHOLE).explanation
    gains = told.gains.loc["(all)"]
    assert gains[gains != 0].to_dict() == {"boundaries": pytest.approx(0.75 * 2 / 1.75)}


def test_merged_and_split():
    """The outcomes, partners and points of a merging prediction and of a truth in parts, by hand."""
    truth = solution(
        ("A", "Claim", words(0, 9), 1),  # merged with the next one
        ("A", "Claim", words(10, 19), 0),
        ("A", "Evidence", words(30, 59), 1),  # in two parts
        ("A", "Lead", words(70, 79), 1),
    )
    predicted = submission(
        ("A", "Claim", words(1, 19), 0.75),
        ("A", "Evidence", words(30, 39), 0.5),
        ("A", "Evidence", words(45, 59), 1.0),
        ("A", "Lead", words(70, 79), 1),
    )
    told = evaluate(truth, predicted, **WHOLE, overlap_threshold=0.55).explanation
    assert told.rows["outcome"].tolist() == [
        "covers several", "part of one", "part of one", "matched", "merged", "merged", "split", "matched",
    ]  # fmt: skip
    assert told.rows["partner"].tolist() == ["t1", "t2", "t2", "t3", "p0", "p0", "p2", "p3"]
    claim, evidence = (
        told.gradient[0, metric.DISCOURSE_TYPES.index(name)].tolist() for name in ("Claim", "Evidence")
    )
    d = (10 * 0.5 + 15 * 1.0) / 25  # as of the parts joined
    expected = pd.DataFrame(0.0, index=range(8), columns=list(CAUSES))
    expected.loc[0, "merged"] = -claim[FP] + (1 + 0.5 * 0.75 + 0.5 * 0.25) * (claim[TP] - claim[FN])
    expected.loc[0, "effectiveness"] = 0.5 * (claim[TP] - claim[FN])
    expected.loc[6, "split"] = -2 * evidence[FP] + (0.5 + 0.5 * d) * (evidence[TP] - evidence[FN])
    expected.loc[6, "effectiveness"] = 0.5 * (1 - d) * (evidence[TP] - evidence[FN])
    pd.testing.assert_frame_equal(told.losses, expected, atol=1e-15)


def test_half_of_the_words_are_not_most_of_them():
    """Two segments share half of their words with a third one each, which merges or splits nothing."""
    one = [("A", "Claim", words(10, 29), 1)]
    two = [("A", "Claim", words(0, 19), 1), ("A", "Claim", words(20, 39), 1)]
    little, missed = ["too little overlap"], ["missed"]
    for truths, predictions in ((one, two), (two, one)):
        told = evaluate(
            solution(*truths), submission(*predictions), **WHOLE, overlap_threshold=0.55
        ).explanation
        assert told.rows["outcome"].tolist() == little * len(predictions) + missed * len(truths)


def test_a_prediction_that_merges_truths_is_no_part_of_another_one():
    truth = solution(*(("A", "Claim", words(*ends), 1) for ends in ((0, 1), (2, 3), (4, 20))))
    predicted = submission(("A", "Claim", words(0, 9), 1), ("A", "Claim", words(12, 16), 1))
    outcomes = evaluate(truth, predicted, **WHOLE).explanation.rows["outcome"].tolist()
    assert outcomes == ["covers several", "too little overlap", "merged", "merged", "missed"]


@examples(60)
@given(competitions())
def test_losses_are_those_of_sets_of_words(case: Competition):
    evaluation = evaluate(case.solution, case.submission, **case.parameters)
    losses = evaluation.explanation.losses.to_numpy()
    assert losses == pytest.approx(slow_losses(case, evaluation), rel=1e-9, abs=1e-12)
    points = evaluation.explanation.rows["points_lost"].to_numpy()
    assert points == pytest.approx(losses.sum(axis=1), rel=1e-9, abs=1e-12)


def slow_losses(case, evaluation):
    """`Explanation.losses` from sets of words; only the gradient is that of the fast code."""
    pairs = SlowPairs(case.solution, case.submission, **case.parameters)
    given, kept, truths, w = pairs.given_predictions, pairs.predictions, pairs.truths, pairs.w
    merged, split = pairs.merged, pairs.split
    iou = transcription.intersection_over_union
    number = {essay: n for n, essay in enumerate(evaluation.prepared.items)}

    def gain(segment):
        return evaluation.explanation.gradient[
            number[segment.essay], transcription.DISCOURSE_TYPES.index(segment.discourse_type)
        ]

    losses = np.zeros((len(given) + len(case.solution), len(CAUSES)))
    add = {cause: losses[:, n] for n, cause in enumerate(CAUSES)}
    in_attempts = set()
    for p, g in pairs.of_prediction.values():
        same_type, enough = p.discourse_type == g.discourse_type, pairs.enough(p, g)
        if (p.row, g.row) in merged | split:
            continue
        if pairs.of_truth[g.row] != (p, g) or not (same_type or enough):
            continue
        in_attempts |= {("p", p.row), ("g", g.row)}
        hit, dismissal = gain(g)[TP] - gain(g)[FN], 0.0 if p.row not in kept else -gain(p)[FP]
        d = p.d[g.d.index(1.0)]
        now, iou_as_given = iou(pairs.left(p), g), iou(p, g)
        steps = []  # IoU before, and cause, in the order of the corrections
        if enough:
            if not same_type:
                add["wrong type"][p.row] = dismissal + (w * now + (1 - w) * d) * hit
            best = max(now, iou_as_given)
            steps = [("overlaps", best - now), ("boundaries", 1 - best)]
        elif pairs.would_match(p, g):
            add["overlaps"][p.row] = dismissal + (w * iou_as_given + (1 - w) * d) * hit
            steps = [("boundaries", 1 - iou_as_given)]
        else:
            add["boundaries"][p.row] = dismissal + (w + (1 - w) * d) * hit
        for cause, iou_gained in steps:
            add[cause][p.row] += w * iou_gained * hit
        add["effectiveness"][p.row] = (1 - w) * (1 - d) * hit
    for row in {row for row, _ in merged}:
        in_attempts |= {("p", row)}
        add["merged"][row] = -gain(kept[row])[FP]
        for g in (truths[g] for p, g in merged if p == row):
            in_attempts |= {("g", g.row)}
            d, hit = kept[row].d[g.d.index(1.0)], gain(g)[TP] - gain(g)[FN]
            add["merged"][row] += (w + (1 - w) * d) * hit
            add["effectiveness"][row] += (1 - w) * (1 - d) * hit
    as_given = {p.row: p for p in given}
    for row in {row for _, row in split}:
        g, parts = truths[row], [kept[p] for p, g in split if g == row]
        in_attempts |= {("g", row), *(("p", p.row) for p in parts)}
        words = [len(as_given[p.row].words) for p in parts]
        d = sum(p.d[g.d.index(1.0)] * number for p, number in zip(parts, words)) / sum(words)
        hit, place = gain(g)[TP] - gain(g)[FN], len(given) + row
        add["split"][place] = (w + (1 - w) * d) * hit - sum(gain(p)[FP] for p in parts)
        add["effectiveness"][place] = (1 - w) * (1 - d) * hit
    for p in kept.values():
        if p.row not in {row for side, row in in_attempts if side == "p"}:
            add["spurious"][p.row] = -gain(p)[FP]
    for g in truths.values():
        if ("g", g.row) not in in_attempts:
            add["missed"][len(given) + g.row] = gain(g)[TP] - gain(g)[FN]
    return losses


# --- the table of segments --------------------------------------------------------------------------


def test_groups_beside_columns_of_their_name():
    truth = solution(("A", "Lead", words(0, 9), 1), ("B", "Lead", words(0, 9), 1), words=["few", "many"])
    evaluation = evaluate(truth, perfect(truth).head(1), subpopulation_column_names="words")
    table = explain.rows(evaluation)
    assert table["words"].tolist() == [10, 10, 10]
    assert table["words of essay_id"].tolist() == ["few", "few", "many"]


def test_groups(evaluation):
    groups = explain.groups_of_items(evaluation.prepared)
    assert groups.index.tolist() == evaluation.prepared.items
    assert list(groups) == ["ell_status", "economically_disadvantaged"]
    for row in evaluation.explanation.groups.itertuples():
        assert (groups[row.attribute] == row.value).sum() == row.essays


# --- summaries --------------------------------------------------------------------------------------


def test_summaries_hold_all_points(evaluation):
    total = evaluation.explanation.rows["points_lost"].sum()
    causes = explain.gains_by_cause(evaluation.explanation).set_index("cause")
    assert set(causes.index) == set(CAUSES)
    assert causes.loc["missed", "rows"] == (evaluation.explanation.losses["missed"] != 0).sum()
    by_item = explain.points_by_item(evaluation)
    assert sorted(by_item.index) == evaluation.prepared.items
    assert by_item.is_monotonic_decreasing
    assert by_item.sum() == pytest.approx(total)


def test_confusion_counts_every_segment(evaluation):
    confusion = evaluation.explanation.confusion
    alone = ["covers several", "part of one", "too little overlap", "no truth there"]
    assert confusion.index.tolist() == [*metric.DISCOURSE_TYPES, *(f"({name})" for name in alone)]
    assert confusion.columns.tolist() == [*metric.DISCOURSE_TYPES, "(merged)", "(split)", "(missed)"]
    segments = evaluation.explanation.rows.query("outcome not in ('discarded', 'unknown essay')")
    for name, sums in (("truth", confusion.sum(axis=1)), ("prediction", confusion.sum(axis=0))):
        counts = segments.loc[segments["side"] == name, "discourse_type"].value_counts()
        assert sums[list(metric.DISCOURSE_TYPES)].to_dict() == counts.to_dict()
    predictions = segments.query("side == 'prediction' and outcome in ('matched', 'wrong type')")
    pairs = predictions.groupby(["partner_type", "discourse_type"]).size()
    for (true, predicted), number in pairs.items():
        assert confusion.loc[true, predicted] == number
    assert pairs.sum() == confusion.iloc[:7, :7].to_numpy().sum()


def test_forecasts(evaluation):
    matched = evaluation.explanation.rows.query("side == 'prediction' and outcome == 'matched'")
    forecasts = evaluation.explanation.forecasts
    assert len(forecasts) == len(matched)
    assert set(forecasts["happened"]) == {0, 1}
    of_label = forecasts["probability"].where(forecasts["happened"] == 1, 1 - forecasts["probability"])
    assert sorted(of_label) == pytest.approx(sorted(matched["effectiveness"]), abs=1e-12)
