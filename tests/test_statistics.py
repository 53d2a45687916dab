"""Draws, intervals and statements about boards agree with slow and direct ways to compute them."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import metric
import podium
from benchmarks import coverage
from examples.essays import make_competition
from podium import statistics
from podium.common.errors import HostError, SubmissionRejected, UsageError
from podium.metric import hosted
from podium.statistics import Doubt, Reason, doubts, inference, population, sampling
from tests.support.first_again import transcribed
from tests.support.new_metric import TEMPLATE
from tests.support.plausible import plausible_scores
from tests.support.unified import evaluate

ALL_IN_ONE = {"subpopulation_column_names": ""}


@dataclasses.dataclass(frozen=True, eq=False)
class Mean:
    """A metric that keeps the contract: the sum of one column divided by that of the other, and a measure that
    is never defined.
    """

    items: list[str]
    groups: np.ndarray
    labels: list[tuple[str, str]]

    @property
    def measure_names(self):
        return ["score", "undefined"]

    def measures(self, sums):
        whole = np.asarray(sums).sum(axis=-2)
        mean = whole[..., 0] / whole[..., 1]
        return np.stack([mean, np.full(mean.shape, math.nan)], axis=-1)


def mean_of(number: int) -> Mean:
    """The prepared solution of a `Mean` with this number of items."""
    return Mean([str(item) for item in range(number)], np.zeros((1, number), dtype=np.int64), [metric.ALL])


def as_statistics(values) -> np.ndarray:
    """The statistics of items with these values."""
    values = np.asarray(values, dtype=np.float64)
    return np.stack([values, np.ones(len(values))], axis=1)


def repeated(frame: pd.DataFrame, times: dict[str, int]) -> pd.DataFrame:
    """Each essay as often as it was drawn, under ids of its own."""
    frame = frame.loc[frame.index.repeat(frame["essay_id"].map(times).fillna(0).astype(int))]
    return frame.assign(essay_id=frame["essay_id"] + "/" + frame.groupby("row_id").cumcount().astype(str))


def widened(samples, wider):
    """The ends of the 95% interval of draws (r, ...), wider by a factor than their quantiles."""
    low, median, high = np.quantile(samples, [0.025, 0.5, 0.975], axis=0)
    return median - wider * (median - low), median + wider * (high - median)


@pytest.fixture(scope="module")
def frames():
    """A made-up solution and two submissions; the second one lacks a tenth of the segments."""
    solution, submission = make_competition(60, seed=3, shared_words=False)
    solution = solution[solution["predictionstring"].str.contains(" ")]  # what one word means is no matter here
    return solution.drop(columns="Usage"), submission, submission.sample(frac=0.9, random_state=1)


@pytest.fixture(scope="module")
def pair(frames):
    """A prepared solution and the statistics of two submissions."""
    solution, one, other = frames
    prepared = metric.prepare(solution, "row_id")
    return prepared, prepared.statistics(one), prepared.statistics(other)


# --- draws --------------------------------------------------------------------------------------------------


def test_draws_are_seeded_and_take_as_many_items_as_there_are():
    weights = statistics.draw(100, 30, seed=1)
    assert weights.shape == (30, 100)
    assert (weights.sum(axis=1) == 100).all()
    assert np.array_equal(weights, statistics.draw(100, 30, seed=1))
    assert np.array_equal(weights[:10], statistics.draw(100, 10, seed=1))
    assert not np.array_equal(weights, statistics.draw(100, 30, seed=2))


def test_items_that_belong_together_are_drawn_together():
    patients = np.array(["b", "a", "b", "c", "a", "b"])
    weights = statistics.draw(6, 200, 1, together=patients)
    of_patient = np.stack([weights[:, patients == name].min(axis=1) for name in "abc"], axis=1)
    for number, name in enumerate("abc"):
        assert (weights[:, patients == name] == of_patient[:, [number]]).all()
    assert (of_patient.sum(axis=1) == 3).all()
    assert (of_patient.max(axis=0) > 1).all()
    assert (of_patient.min(axis=0) == 0).all()
    assert (statistics.draw(6, 9, 1, together=patients) == weights[:9]).all()
    # Items that each belong to themselves alone are drawn as if nothing were said.
    assert (statistics.draw(6, 9, 1, together=list("fedcba")) == statistics.draw(6, 9, 1)).all()
    with pytest.raises(ValueError, match="together"):
        statistics.draw(6, 9, 1, together=["a"])


def test_a_resample_is_the_score_of_the_frames_repeated(frames, pair):
    solution, one, _ = frames
    prepared, mine, _ = pair
    weights = statistics.draw(60, 4, seed=7)
    for row, measures in zip(weights, statistics.resample(prepared, mine, weights)):
        times = dict(zip(prepared.items, row.tolist()))
        expected = evaluate(repeated(solution, times), repeated(one, times)).measures
        assert dict(zip(prepared.measure_names, measures)) == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_sums_of_draws_are_exact_in_any_order_and_in_any_parts(pair, monkeypatch):
    prepared, mine, _ = pair
    weights = statistics.draw(60, 120, seed=0)
    samples = statistics.resample(prepared, mine, weights)
    monkeypatch.setattr(sampling, "CELLS_AT_ONCE", 7 * 60)
    assert statistics.resample(prepared, mine, weights).tobytes() == samples.tobytes()
    order = np.random.default_rng(0).permutation(60)
    shuffled = dataclasses.replace(prepared, groups=prepared.groups[:, order])
    again = statistics.resample(shuffled, mine[order], weights[:, order])
    assert again.tobytes() == samples.tobytes()


def test_influences_are_how_fast_the_score_grows_with_an_item_s_weight(pair):
    prepared, mine, _ = pair
    total = statistics.sums(mine, prepared.groups)
    influences = sampling.influences(prepared, mine, total)
    for item in range(0, 60, 7):
        more = total.copy()
        more[prepared.groups[:, item]] += mine[item] * 1e-5
        slope = (prepared.measures(more)[0] - prepared.measures(total)[0]) / 1e-5
        assert influences[item] == pytest.approx(slope, rel=1e-3, abs=1e-7)
    assert np.abs(influences).max() > 1e-4
    assert influences.sum() == pytest.approx(0, abs=1e-6)  # twice every item gives the same score


def test_several_submissions_at_once_are_each_alone_to_the_last_bit(pair):
    prepared, mine, theirs = pair
    resampler = statistics.Resampler(prepared, statistics.draw(60, 50, 0))
    large = mine * 1000
    for each, together in zip((mine, large, theirs), resampler.draw(mine, large, theirs)):
        (alone,) = resampler.draw(each)
        assert [array.tobytes() for array in together] == [array.tobytes() for array in alone]
        assert alone.sums.tobytes() == statistics.sums(each, prepared.groups).tobytes()


def test_a_part_is_what_the_metric_would_prepare_of_its_items_alone(frames):
    solution, *_ = frames
    whole = metric.prepare(solution, "row_id")
    of_item = np.full(60, whole.labels[0][1])
    for group in range(len(whole.labels)):
        of_item[whole.groups[0] == group] = whole.labels[group][1]
    kept = of_item != whole.labels[0][1]
    alone = metric.prepare(solution[kept[whole.item_of_row]], "row_id")
    part = statistics.part(whole, kept)
    assert len(part.labels) < len(whole.labels)
    assert (part.items, part.labels) == (alone.items, alone.labels)
    assert part.groups.tolist() == alone.groups.tolist()


def test_slopes_of_a_column_whose_sum_is_zero_in_one_group():
    """A step of its own size is found for every column, though the sum of one group is 0."""
    total = np.array([[0.0, 20.0], [4e-9, 20.0], [2e-9, 20.0]])
    slopes = sampling.slopes(mean_of_three_groups(), total)
    square = dataclasses.make_dataclass("Square", [], namespace={"measures": staticmethod(squared)})
    assert slopes[0, :, 0].tolist() == pytest.approx([1 / 60] * 3, rel=1e-3)
    assert sampling.slopes(square(), total)[0, :, 0].tolist() == pytest.approx(
        [0, 8e-9, 4e-9], rel=1e-3, abs=1e-13
    )


def squared(sums):
    """A measure that is no straight line: the sum of the squares of the first column."""
    return (np.asarray(sums)[..., 0] ** 2).sum(axis=-1)[..., np.newaxis]


def test_the_smallest_numbers_are_rounded_without_a_warning() -> None:
    rounded = sampling.rounded(np.array([[2e-313], [1e300]]))
    assert rounded.tolist() == [[0.0, 1e300]]
    assert sampling.rounded(np.array([[2e-313], [0.0]])).tolist() == [[0.0, 0.0]]


# --- intervals ----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class MeanOfGroups(Mean):
    """A metric that keeps the contract: the mean over all groups of the mean of a value in the group."""

    @property
    def measure_names(self):
        return ["score", *(f"{attribute} = {value}" for attribute, value in self.labels)]

    def measures(self, sums):
        sums = np.asarray(sums)
        means = sums[..., 0] / np.maximum(sums[..., 1], 1)
        return np.concatenate([means.mean(axis=-1, keepdims=True), means], axis=-1)


def mean_of_three_groups() -> MeanOfGroups:
    """The prepared solution of a `MeanOfGroups` with 60 items."""
    items, groups = [f"{item:02}" for item in range(60)], np.arange(60)[np.newaxis] % 3
    return MeanOfGroups(items, groups, [("group", "a"), ("group", "b"), ("group", "c")])


def test_an_interval_stays_in_the_range_of_the_measure():
    """A fragmented submission has an F1 near 0, and few items decide it."""
    frames = pd.read_csv("solution_sample.csv"), pd.read_csv("sample_submission.csv")
    words = frames[1]["predictionstring"].str.split()
    pieces = frames[1].assign(predictionstring=words.str[:7].str.join(" "), discourse_type="Position")
    for submission in (frames[1], pieces):
        mine = podium.score(frames[0], submission)
        table = statistics.intervals(mine, resamples=100)
        assert (table["low"].dropna() >= 0).all()
        assert (table["high"].dropna() <= 1).all()
    low, high = inference.interval([[0.0, -2.0, 0.2]] + [[0.1, 3.0, 0.3]] * 9, 9.0)
    assert low.tolist()[0] == 0
    assert low[1] < -2  # a measure that can be negative, or above 1
    assert high[1] >= 3


def test_the_interval_of_a_mean_is_that_of_the_normal_distribution():
    values = np.random.default_rng(0).normal(size=400)
    row = statistics.intervals_of(mean_of(400), as_statistics(values), 4000).iloc[0]
    error = values.std() / math.sqrt(len(values))
    assert row["value"] == pytest.approx(values.mean())
    assert [row["low"], row["high"]] == pytest.approx(
        [values.mean() - 1.96 * error, values.mean() + 1.96 * error], abs=0.15 * error
    )


def test_the_fewer_items_decide_the_wider_the_interval_of_a_difference():
    """The width follows Student's t, with two degrees of freedom for each item of those that differ alike."""
    for few in (1, 4, 50):
        alike = (np.arange(1000) < few) * 0.5
        expected = stats.t.ppf(0.975, 2 * few) / stats.norm.ppf(0.975)
        assert inference.widening(alike) == pytest.approx(expected)
    assert inference.widening(np.zeros(1000)) == pytest.approx(1)
    prepared, mine = mean_of(200), np.random.default_rng(1).normal(size=200)
    theirs = mine.copy()
    theirs[:3] += [1, 2, 3]
    score = statistics.difference(prepared, as_statistics(theirs), as_statistics(mine), resamples=4000).score
    samples = statistics.resample(prepared, as_statistics(theirs - mine), statistics.draw(200, 4000, 0))[:, 0]
    wider = stats.t.ppf(0.975, 2 * 14**2 / 98) / stats.norm.ppf(0.975)
    assert (score.low, score.high) == pytest.approx(widened(samples, wider), rel=1e-9)
    assert score.ahead == pytest.approx((samples > 0).mean() + (samples == 0).mean() / 2)


@pytest.mark.parametrize(("parameters", "margin"), [({}, 1.1), (ALL_IN_ONE, 1)])
def test_the_interval_of_a_score_is_that_of_its_draws_but_wider(frames, parameters, margin):
    """It is widened as by Student's t, and by a margin where groups are compared, none of which is small."""
    solution, one, _ = frames
    essay = pd.factorize(solution["essay_id"])[0]
    solution = solution.assign(
        ell_status=np.where(essay % 2, "Yes", "No"), economically_disadvantaged=np.where(essay % 3, "Yes", "No")
    )
    prepared = metric.prepare(solution, "row_id", **parameters)
    mine = prepared.statistics(one)
    scores = statistics.Resampler(prepared, statistics.draw(60, 100, 5), 5).scores(mine).population[:, 0]
    influence = sampling.influences(prepared, mine, statistics.sums(mine, prepared.groups))
    freedom = 2 * (influence**2).sum() ** 2 / (influence**4).sum()
    wider = margin * stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)
    row = statistics.intervals_of(prepared, mine, 100, 5).iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(widened(scores, wider), rel=1e-9)


@pytest.mark.parametrize("is_defined", [True, False])
def test_plausible_scores_are_those_of_a_literal_transcription(pair, is_defined):
    """This includes a group of one essay, which tells nothing about its own spread: its score varies by
    rounding alone, or is not defined.
    """
    prepared, mine, _ = pair
    if not is_defined:
        mine = mine.copy()
        mine[7, :-1] = 0
    groups = prepared.groups.copy()
    groups[1, 7] = len(prepared.labels)
    labels = [*prepared.labels, (prepared.labels[-1][0], "alone")]
    prepared = dataclasses.replace(prepared, labels=labels, groups=groups)
    alone = statistics.measures(prepared, mine)[f"{labels[-1][0]} = alone"]
    assert math.isnan(alone) != is_defined
    weights = statistics.draw(60, 41, 3)
    assert (weights[:, 7] == 0).any()
    scores = statistics.Resampler(prepared, weights, seed=4).scores(mine)
    for draws, expected in zip(scores, plausible_scores(prepared, mine, weights, seed=4), strict=True):
        assert draws[:, 0].tolist() == pytest.approx(expected, rel=1e-9)


def test_an_attribute_that_occurs_twice_changes_no_draw(pair):
    prepared, mine, theirs = pair
    first = [number for number, label in enumerate(prepared.labels) if label[0] == prepared.labels[0][0]]
    once = dataclasses.replace(prepared, labels=prepared.labels[: len(first)], groups=prepared.groups[:1])
    twice = dataclasses.replace(
        once,
        labels=[*once.labels, *(("again", value) for _, value in once.labels)],
        groups=np.concatenate([once.groups, once.groups + len(first)]),
    )
    weights = statistics.draw(60, 50, 0)
    of_both = [statistics.Resampler(each, weights).scores(mine, theirs) for each in (once, twice)]
    for alone, doubled in zip(*of_both):
        assert doubled == pytest.approx(alone, rel=1e-9)


def test_plausible_scores_may_be_negative():
    """Only statistics that are nowhere negative have sums that cannot be, either."""
    resampler = statistics.Resampler(mean_of_three_groups(), statistics.draw(60, 50, 0))
    values = 5 + np.random.default_rng(0).normal(0, 1, 60)
    gained, lost = (resampler.scores(as_statistics(side * values)).population[:, 0] for side in (1, -1))
    assert lost.tolist() == pytest.approx((-gained).tolist(), rel=1e-9)
    assert gained.min() > 4


def test_compared_submissions_share_what_is_known_about_groups(pair):
    prepared, mine, theirs = pair
    resampler = statistics.Resampler(prepared, statistics.draw(60, 50, 0))
    drawn = resampler.draw(mine, theirs)
    shared, alone = (resampler.model(resampler.groups(*some)) for some in (drawn, drawn[:1]))
    both = resampler.scores(mine, theirs).population
    assert both[:, 0].tolist() == resampler.population(drawn[0], shared).tolist()
    assert both[:, 0].tolist() != resampler.population(drawn[0], alone).tolist()


@pytest.mark.parametrize(("one", "other"), [(1e-5, 1e9), (1e9, 1e-5), (1e18, 1.0), (1.0, 1e18), (1e-12, 1e-12)])
def test_columns_may_have_any_scale(one, other):
    """Intervals and notes are the same as if both columns had the scale 1."""
    prepared = mean_of(40)
    mine, theirs = np.random.default_rng(0).random((2, 40, 2)) + 0.5
    for answer in (
        lambda by: statistics.intervals_of(prepared, mine * by, 100),
        lambda by: statistics.difference(prepared, mine * by, theirs * by, resamples=100).table,
    ):
        usual, scaled = answer(np.ones(2)).head(1), answer(np.array([one, other])).head(1)
        columns = [name for name in ("value", "difference", "low", "high") if name in usual]
        assert scaled[columns].to_numpy() * other / one == pytest.approx(usual[columns].to_numpy(), rel=1e-6)
        assert usual["low"][0] < usual["high"][0]
        assert scaled["note"].tolist() == usual["note"].tolist() == [""]


def test_the_seed_reaches_every_draw(pair):
    prepared, mine, theirs = pair
    of_seed = [statistics.intervals_of(prepared, mine, 60, seed) for seed in (0, 0, 1)]
    assert of_seed[0].equals(of_seed[1])
    assert not of_seed[0]["low"].equals(of_seed[2]["low"])
    compared = [statistics.difference(prepared, mine, theirs, True, 60, seed).score for seed in (0, 0, 1)]
    assert compared[0] == compared[1] != compared[2]
    weights = statistics.draw(60, 60, 0)
    scores = [statistics.Resampler(prepared, weights, seed).scores(mine) for seed in (0, 0, 1)]
    drawn = [each.population.tolist() for each in scores]
    assert drawn[0] == drawn[1] != drawn[2]


# --- results of podium.score --------------------------------------------------------------------------------


def test_results_are_compared(frames):
    solution, one, other = frames
    mine, theirs = podium.score(solution, one), podium.score(solution, other)
    compared = statistics.compare(mine, theirs, resamples=60)
    expected = statistics.difference(mine.prepared, mine.statistics, theirs.statistics, resamples=60)
    assert compared.score == expected.score
    assert compared.score.value == pytest.approx(mine.score - theirs.score)
    assert compared.table["difference"][0] == compared.score.value
    sizes = np.bincount(mine.prepared.groups.ravel())
    large = [f"{a} = {b}" for (a, b), size in zip(mine.prepared.labels, sizes) if size >= 10]
    assert list(compared.large_groups) == large != []
    of_one = statistics.intervals(mine, resamples=60)
    pd.testing.assert_frame_equal(of_one, statistics.intervals_of(mine.prepared, mine.statistics, 60))


def test_the_slope_of_a_group_is_that_of_the_softmin(frames):
    result = podium.score(*frames[:2])
    prepared, total = result.prepared, statistics.sums(result.statistics, result.prepared.groups)
    groups = result.explanation.groups
    temperature = prepared.temperature
    expected = groups["weight"] * (1 - temperature * (groups["score"] - result.score))
    slopes = statistics.group_slopes(prepared, total)
    assert slopes == pytest.approx(expected.to_numpy(), rel=1e-3, abs=1e-5)
    assert (slopes < 0).any()
    mean = mean_of(4)
    assert statistics.group_slopes(mean, statistics.sums(as_statistics([1, 2, 3, 4]), mean.groups)) is None


def test_results_that_cannot_be_compared_are_refused(frames):
    solution, one, _ = frames
    mine = podium.score(solution, one)
    with pytest.raises(UsageError, match="same metric and parameters"):
        statistics.compare(mine, podium.score(solution, one, temperature=50))
    some = solution[solution["essay_id"] != solution["essay_id"][0]]
    with pytest.raises(UsageError, match="different items"):
        statistics.compare(mine, podium.score(some, one))
    with pytest.raises(TypeError, match=r"podium\.score returned, found DataFrame"):
        statistics.compare(mine, one)


@pytest.mark.parametrize("draws", [{"resamples": -1}, {"resamples": 2.5}, {"seed": -1}, {"seed": "a"}])
def test_what_is_no_number_of_draws_and_no_seed_is_refused(frames, draws):
    mine, ((name, value),) = podium.score(*frames[:2]), draws.items()
    expected = f"^{name}: expected a whole number that is at least 0, found {value!r}$"
    for ask in (statistics.intervals, lambda mine, **draws: statistics.compare(mine, mine, **draws)):
        with pytest.raises(UsageError, match=expected):
            ask(mine, **draws)


def test_where_lower_is_better_the_lower_score_is_ahead():
    values = np.random.default_rng(1).normal(size=50)
    compared = statistics.difference(
        mean_of(50), as_statistics(values + 0.25), as_statistics(values), higher_is_better=False
    )
    assert (compared.score.value, compared.score.ahead) == (pytest.approx(0.25), 0)


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_what_is_detectable_is_so_many_standard_errors(higher_is_better):
    random = np.random.default_rng(2)
    mine, theirs = random.normal(size=(2, 400))
    both = as_statistics(mine), as_statistics(theirs)
    compared = statistics.difference(mean_of(400), *both, higher_is_better, resamples=4000)
    errors = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    expected = errors * (mine - theirs).std() / math.sqrt(400)
    assert compared.score.detectable == pytest.approx(expected, rel=0.05)
    turned = statistics.difference(mean_of(400), *both[::-1], higher_is_better, resamples=4000)
    assert turned.score.detectable == pytest.approx(compared.score.detectable)


def test_nothing_is_called_detectable_where_one_submission_is_nowhere_better():
    """The better one differs in 30 of 100 items, and the worse one is better in two more or in none."""
    mine = (np.arange(100) < 80).astype(float)
    for better_elsewhere, is_known in ((0, False), (2, True)):
        theirs = (np.arange(100) < 50).astype(float)
        theirs[98 : 98 + better_elsewhere] = 1
        compared = statistics.difference(mean_of(100), as_statistics(mine), as_statistics(theirs)).score
        assert (compared.low > 0, np.isfinite(compared.detectable)) == (True, is_known)


@pytest.mark.parametrize(
    ("sizes", "is_told"), [((50, 50, 50), True), ((40, 60, 200), False), ((210, 600, 2000), True)]
)
def test_nothing_is_called_detectable_where_groups_are_small_and_smaller_than_others(sizes, is_told):
    """Each of three groups decides a third of the score, however small it is."""
    group = np.repeat(range(3), sizes)
    prepared = MeanOfGroups(
        [f"{n:04}" for n in range(len(group))], group[np.newaxis], [("group", g) for g in "abc"]
    )
    mine, theirs = np.random.default_rng(0).random((2, len(group)))
    score = statistics.difference(prepared, as_statistics(mine), as_statistics(theirs), resamples=50).score
    assert score.doubt is None
    assert (score.hidden is None) == np.isfinite(score.detectable) == is_told
    if not is_told:
        assert str(score.hidden) == "groups of fewer than 200 items decide 33%"


def test_what_is_detectable_does_not_stop_where_scores_do():
    """With 12 items the interval of a difference near 1 is cut there, and the standard error is not."""
    mine = np.r_[np.ones(11), 0.9]
    compared = statistics.difference(mean_of(12), as_statistics(mine), as_statistics(np.r_[np.zeros(11), 0.3]))
    half = (compared.score.high - compared.score.low) / 2
    assert compared.score.high == 1
    assert compared.score.detectable > inference.DETECTABLE * half


def test_a_part_is_compared_as_the_metric_would_alone(frames):
    solution, *both = frames
    parts = np.where(solution["essay_id"].isin(solution["essay_id"].unique()[::2]), "Public", "Private")
    whole = podium.prepare(solution.assign(Usage=parts), **ALL_IN_ONE)
    alone = podium.prepare(solution[parts == "Public"], **ALL_IN_ONE)
    of_part = statistics.compare(*(podium.score(whole, each) for each in both), 50, part="Public")
    expected = statistics.compare(*(podium.score(alone, each) for each in both), 50)
    assert of_part.table.equals(expected.table)
    assert of_part.score == expected.score
    with pytest.raises(UsageError, match="expected part to be one of All, Public, Private, found public"):
        statistics.compare(*(podium.score(whole, each) for each in both), 50, part="public")


# --- doubts -------------------------------------------------------------------------------------------------


def test_equal_submissions_differ_by_exactly_nothing(pair):
    prepared, mine, _ = pair
    compared = statistics.difference(prepared, mine, mine, resamples=50)
    assert compared.score[:5] == (0, 0, 0, 0.5, None)
    assert math.isnan(compared.score.detectable)
    known = compared.table.dropna()
    assert (known[["difference", "low", "high"]] == 0).all(axis=None)


def test_few_items_have_no_interval_but_a_note():
    values = np.arange(12) / 12
    one, nine, twelve = (
        statistics.intervals_of(mean_of(number), as_statistics(values[:number]), 20) for number in (1, 9, 12)
    )
    assert one["note"].tolist() == ["hardly any item decides", "undefined"]
    assert one[["low", "high"]].isna().all(axis=None)
    assert nine["note"].tolist() == ["fewer than 10 items", "undefined"]
    assert nine[["low", "high"]].isna().all(axis=None)
    assert twelve["note"].tolist() == ["", "undefined"]


def test_groups_of_fewer_than_ten_items_have_no_interval(pair):
    prepared, mine, _ = pair
    table = statistics.intervals_of(prepared, mine, 50).set_index("measure")
    sizes = np.bincount(prepared.groups.ravel())
    assert min(sizes) < 10 < max(sizes)
    for (attribute, value), size in zip(prepared.labels, sizes):
        row = table.loc[f"{attribute} = {value}"]
        assert row["note"] == ("fewer than 10 items" if size < 10 else "")
        assert row[["low", "high"]].isna().all() == (size < 10)


def test_each_measure_has_a_note_of_its_own():
    values = np.random.default_rng(0).random(60)
    values[::3], values[0] = 0, 1
    table = statistics.intervals_of(mean_of_three_groups(), as_statistics(values), 50).set_index("measure")
    assert list(table.index) == ["score", "group = a", "group = b", "group = c"]
    assert table["note"].tolist() == ["", "about 1 item decides", "", ""]


@pytest.mark.parametrize(
    ("shares", "deciding", "doubt"),
    [
        ([0.21, 0.79], [1, 20], Doubt(Reason.SMALL_GROUPS, 1, 0.21)),
        ([0.2, 0.8], [1, 20], None),
        ([0.0, 1.0], [1, 1], Doubt(Reason.FEW_ITEMS, 1, 0.0)),
        ([0.05, 0.95], [0, 0], Doubt(Reason.FEW_ITEMS, 0, 0.05)),
        ([0.0, 1.0], [1, 2], None),
    ],
)
def test_doubts_about_a_score(pair, shares, deciding, doubt):
    prepared = in_two_groups(pair[0])
    known = doubts.Reaction(np.array(shares), np.array(deciding), is_of_groups=True)
    assert doubts.doubt_of_score(doubts.Units(prepared), known) == doubt


@pytest.mark.parametrize(
    ("values", "weights", "is_doubted"),
    [
        (lambda random: random.standard_t(2.5, 2000) ** 2, None, True),
        (lambda random: random.standard_cauchy(2000) ** 2, None, True),
        (lambda random: (random.random(2000) < 0.05) * random.random(2000), None, False),
        (lambda random: random.standard_normal(2000) ** 2, None, False),
        (lambda random: random.random(2000) < 0.03, None, False),  # rare mistakes are all the same
        (lambda random: random.random(2000) < 0.7, lambda random: random.lognormal(0, 1.5, 2000), False),
    ],
)
def test_a_heavy_tail_takes_the_interval_and_weights_that_go_either_way_do_not(values, weights, is_doubted):
    random = np.random.default_rng(0)
    weights = np.ones(2000) if weights is None else weights(random)
    numbers = np.stack([values(random) * weights, weights], axis=1)
    score = statistics.intervals_of(mean_of(2000), numbers, 100).iloc[0]
    assert score["note"] == (Reason.HEAVY_TAIL.value if is_doubted else "")
    assert np.isnan([score["low"], score["high"]]).all() == is_doubted
    compared = statistics.difference(mean_of(2000), numbers, numbers * [0.9, 1.0], False, 100).score
    assert (compared.doubt == Doubt(Reason.HEAVY_TAIL)) == is_doubted
    reported = statistics.intervals_of(in_groups_of_some_items(2000), numbers, 100)
    assert reported["note"].eq(Reason.HEAVY_TAIL.value).tolist() == [is_doubted] * 3


@pytest.mark.parametrize("number", [1, 2])
def test_one_or_two_blow_ups_among_many_items_take_the_interval(number):
    """Another sample may have none or five of them, so nothing is known about such a score."""
    values = np.random.default_rng(0).standard_normal(500) ** 2
    values[:number] *= 400 / values[:number]
    score = statistics.intervals_of(mean_of(500), as_statistics(values), 100).iloc[0]
    assert score["note"] == Reason.HEAVY_TAIL.value
    assert np.isnan([score["low"], score["high"]]).all()
    values[: 8 * number] = 40  # the same sum, of more items
    assert statistics.intervals_of(mean_of(500), as_statistics(values), 100)["note"][0] == ""


def test_two_mistakes_among_many_right_answers_are_no_blow_ups():
    numbers = as_statistics(np.arange(500) < 2)
    assert statistics.intervals_of(mean_of(500), numbers, 100)["note"][0] == ""


def in_groups_of(*sizes):
    """A prepared solution with a group of items of each size."""
    labels = [("group", str(number)) for number in range(len(sizes))]
    return dataclasses.replace(
        mean_of(sum(sizes)), labels=labels, groups=np.repeat([np.arange(len(sizes))], sizes, axis=1)
    )


def test_no_rule_and_no_sentence_depend_on_the_last_bit_of_a_sum():
    shares = np.array([0.7, 0.2, 0.1])
    assert 0.9999 < shares.sum() < 1  # by one bit
    small = doubts.Units(in_groups_of(5, 6, 7))
    doubt = doubts.doubt_of_score(small, doubts.Reaction(shares, np.full(3, 3), is_of_groups=True))
    assert (doubt.share, str(doubt)) == (1, "fewer than 10 items")
    fifth = np.array([np.nextafter(doubts.MOST_BY_SMALL_GROUPS, 1), 0.0, 0.8])
    one = doubts.Units(in_groups_of(5, 60, 90))
    assert doubts.doubt_of_score(one, doubts.Reaction(fifth, np.full(3, 3), is_of_groups=True)) is None


class MeanWithGroups(Mean):
    """A metric that keeps the contract: a mean of all items, which reports that of each group, too."""

    @property
    def measure_names(self):
        return ["score", *(f"{attribute} = {value}" for attribute, value in self.labels)]

    def measures(self, sums):
        of_all = np.concatenate([np.sum(sums, axis=-2, keepdims=True), sums], axis=-2)
        return of_all[..., 0] / np.maximum(of_all[..., 1], 1e-9)


def in_groups_of_some_items(number):
    """The prepared solution of a mean that is also reported for a group of 15 items and for the others."""
    groups = (np.arange(number) >= 15).astype(np.int64)[np.newaxis]
    return MeanWithGroups(list(map(str, range(number))), groups, [("size", "few"), ("size", "many")])


@pytest.mark.parametrize(("items", "is_doubted"), [(9, True), (10, False)])
def test_ten_items_are_no_small_group(items, is_doubted):
    known = doubts.Reaction(np.ones(1), np.array([items]))
    doubt = doubts.doubt_of_score(doubts.Units(mean_of(items)), known)
    assert (doubt is not None) == is_doubted


@pytest.mark.parametrize(
    ("differing", "share", "doubt"),
    [
        ([], 0.9, None),
        (["small", "small"], 0.2, Doubt(Reason.FEW_ITEMS, 0, 0.2)),
        (["small", "large", "large"], 0.2, Doubt(Reason.FEW_ITEMS, 2, 0.2)),
        (["large", "large", "large"], 0.2, None),
        # Of the two reactions, the larger one counts.
        (["small", "small", "large", "large", "large"], 0.5, Doubt(Reason.SMALL_GROUPS, 2, 0.5)),
    ],
)
def test_doubts_about_a_difference(pair, differing, share, doubt):
    prepared = in_two_groups(pair[0])
    first = {"small": 0, "large": 3}
    items = np.zeros(60, dtype=bool)
    for number, group in enumerate(differing):
        items[first[group] + number] = True
    mine, theirs = (doubts.Reaction(np.array([x, 1 - x]), np.array([1, 9]), True) for x in (0.0, share))
    assert doubts.doubt_of_difference(doubts.Units(prepared), items, mine, theirs) == doubt


def in_two_groups(prepared):
    """A group of 3 items and one of 57."""
    groups = (np.arange(60) >= 3).astype(np.int64)[np.newaxis]
    return dataclasses.replace(prepared, labels=[("size", "small"), ("size", "large")], groups=groups)


def slow_reaction(prepared, mine):
    """Find the reaction to each group, from what each item adds to the score when its weight grows a little."""
    total = statistics.sums(mine, prepared.groups)
    here = prepared.measures(total)[0]
    reaction, deciding = [], []
    for group in range(len(prepared.labels)):
        members = [item for item in range(len(mine)) if group in prepared.groups[:, item]]
        added = []
        for item in members:
            more = total.copy()
            more[group] += 1e-5 * mine[item]
            added.append((prepared.measures(more)[0] - here) / 1e-5)
        own = [each - sum(added) / len(added) for each in added]
        reaction.append(sum(map(abs, own)))
        deciding.append(min(sum(each > 1e-6 for each in own), sum(each < -1e-6 for each in own)))
    return [each / sum(reaction) for each in reaction], deciding


def test_reactions_against_a_slow_way(pair):
    prepared, mine, _ = pair
    reaction = doubts.reaction(prepared, mine, statistics.sums(mine, prepared.groups))
    shares, deciding = slow_reaction(prepared, mine)
    assert reaction.shares == pytest.approx(shares, rel=1e-2, abs=1e-5)
    assert reaction.deciding.tolist() == deciding


# --- groups that are only reported --------------------------------------------------------------------------


def right(solution, submission):
    """Whether each label is right, and 1."""
    return np.column_stack([solution["label"] == submission["label"], np.ones(len(solution))])


def share_of(sums):
    return sums[..., 0] / sums[..., 1]


def sites(number=300):
    """A solution of rows from 40 sites in two regions, and two submissions, of which one is perfect."""
    random = np.random.default_rng(0)
    solution = pd.DataFrame({"id": [f"r{row:03}" for row in range(number)]})
    solution = solution.assign(label=random.choice(list("abc"), number), site=np.arange(number) % 40)
    solution["region"] = np.where(solution["site"] < 20, "north", "south")
    other = solution.assign(label=np.where(random.random(number) < 0.5, "a", solution["label"]))
    return solution, solution[["id", "label"]], other[["id", "label"]]


@pytest.mark.parametrize("groups", [["site"], ["region"], ["site", "region"]])
def test_groups_that_are_only_reported_change_no_statement(groups):
    solution, *submissions = sites()
    plain, reporting = (
        statistics.item_wise(solution, "id", right, share_of, groups=some) for some in ([], groups)
    )
    both = [[each.statistics(submission) for submission in submissions] for each in (plain, reporting)]
    of_one, of_other = (
        statistics.difference(*each, resamples=100) for each in zip((plain, reporting), *zip(*both))
    )
    assert of_other.score == of_one.score
    for mine, theirs in zip(*both):
        tables = statistics.intervals_of(plain, mine, 100), statistics.intervals_of(reporting, theirs, 100)
        pd.testing.assert_frame_equal(tables[1].head(1), tables[0].head(1), check_exact=False, rtol=1e-6)
    assert statistics.Resampler(reporting, statistics.draw(300, 5, 0)).scores(*both[1]).population.shape == (
        5,
        2,
    )


def test_the_template_of_a_metric_only_reports_its_groups():
    template = hosted.load(TEMPLATE / "metric.py")
    solution, perfect, other = sites()
    prepared = template.prepare(solution.rename(columns={"site": "group"}), "id")
    for submission in (perfect, other):
        total = statistics.sums(prepared.statistics(submission), prepared.groups)
        assert not population.is_made_of_groups(prepared, total)


@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
def test_a_score_of_groups_is_known_from_equal_answers_too(value):
    """Where all answers are right, or all are wrong, all groups have the same score."""
    prepared = mean_of_three_groups()
    total = statistics.sums(as_statistics(np.full(60, value)), prepared.groups)
    assert population.is_made_of_groups(prepared, total)


# --- items that are drawn together --------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [[], ["region"]])
def test_rows_drawn_together_are_one_item_of_a_metric_with_statistics(groups):
    """The statements are those about a metric whose items are the sites, each with all its rows."""
    solution, _, other = sites()
    third = other.assign(label=np.roll(other["label"], 7))
    alone = statistics.item_wise(solution, "id", right, share_of, groups=groups)
    of_sites = statistics.item_wise(solution, "id", right, share_of, item="site", groups=groups)
    codes = pd.factorize(solution["site"].astype(str), sort=True)[0]
    codes = codes[np.argsort(solution["id"].to_numpy())]
    mine, theirs = ([each.statistics(one) for one in (other, third)] for each in (alone, of_sites))
    tables = [
        statistics.intervals_of(alone, mine[0], 100, together=codes),
        statistics.intervals_of(of_sites, theirs[0], 100),
        statistics.difference(alone, *mine, resamples=100, together=codes).table,
        statistics.difference(of_sites, *theirs, resamples=100).table,
    ]
    pd.testing.assert_frame_equal(tables[0].head(1), tables[1].head(1), rtol=0.02)
    pd.testing.assert_frame_equal(tables[2].head(1), tables[3].head(1), rtol=0.05)


def test_doubts_count_what_is_drawn_together():
    prepared = mean_of_three_groups()
    numbers = as_statistics(np.random.default_rng(0).random(60))
    units = np.arange(60) // 3 % 8  # eight, each of which has items in all groups
    table = statistics.intervals_of(prepared, numbers, 50, together=units).set_index("measure")
    assert table.loc["group = a", "note"] == "fewer than 10 items"
    assert table.loc["score", "note"] == "fewer than 10 items"
    assert statistics.intervals_of(prepared, numbers, 50)["note"].tolist() == [""] * 4


def test_a_column_names_what_is_drawn_together(tmp_path):
    solution, perfect, other = sites()
    path = tmp_path / "own.py"
    path.write_text((TEMPLATE / "metric.py").read_text().replace("my_metric", "own"))
    solution = solution.rename(columns={"region": "group"})
    mine, theirs = (podium.score(solution, each, metric=str(path)) for each in (perfect, other))
    apart, together = (statistics.compare(mine, theirs, 200, items=items).score for items in ("", "site"))
    assert apart.value == together.value
    assert apart.low != together.low
    with pytest.raises(UsageError, match="expected a column"):
        statistics.intervals(mine, 50, items="missing")


# --- first again, and the best ------------------------------------------------------------------------------


def board(teams, draws=1000, seed=0):
    """Draws of the scores of some teams, which differ as much as the noise does."""
    random = np.random.default_rng(seed)
    return 0.6 + 0.01 * (random.normal(size=teams) + random.normal(size=(draws, teams)))


def halving_boost(scores, runtimes):
    """A reward that is twice as large for half the time."""
    return 0.02 / runtimes


@pytest.mark.parametrize(
    ("teams", "ahead", "higher_is_better"),
    [(1, 0, True), (2, 0, False), (7, 0, True), (7, 0, False), (5, 3, True), (12, 7, False), (40, 0, True)],
)
def test_first_again_is_that_of_a_literal_transcription(teams, ahead, higher_is_better):
    """Some teams are far ahead of the others."""
    draws = [board(teams, 12, seed) for seed in range(3)]
    for each in draws:
        each[:, :ahead] += 0.2
    sign = 1 if higher_is_better else -1
    for number in (1, 3):
        scores = statistics.Scores(*(sign * each for each in draws))
        shares = statistics.first_again(scores, number, higher_is_better=higher_is_better, seed=4)
        assert shares.tolist() == pytest.approx(transcribed(draws, number, 4), abs=1e-12)


def test_who_may_be_among_the_first_is_counted():
    """Of six teams that are far apart, as many may win a prize as there are prizes, and more where two tie."""
    noise = np.random.default_rng(0).normal(0, 0.001, (2000, 6))
    apart = np.add(noise, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    for number in range(1, 8):
        may = statistics.may_be_best(apart, number)
        assert may.tolist() == [rank < number for rank in range(6)]
        assert statistics.may_be_best(-apart, number, higher_is_better=False).tolist() == may.tolist()
    tied = np.add(noise, [0.9, 0.8, 0.8, 0.6, 0.5, 0.4])
    assert [int(statistics.may_be_best(tied, number).sum()) for number in (1, 2, 3, 4)] == [1, 3, 3, 4]


def test_one_team_that_alone_may_be_the_best_is_not_held_back():
    """It leads by three standard errors of the difference, and would win nearly all new test sets."""
    noise = np.random.default_rng(0).normal(0, 0.01, (2000, 8))
    shares = statistics.first_again(np.add(noise, [0.742, 0.7, 0.69, 0.68, 0.67, 0.66, 0.65, 0.64]))
    assert shares[0] > 0.93


def test_in_a_field_that_is_wide_beside_its_noise_only_the_leaders_compete():
    """The better of two leaders is ahead by one standard deviation, and of the last team by nine million."""
    noise = np.random.default_rng(0).normal(0, 1e-7, (1000, 4))
    shares = statistics.first_again(np.add(noise, [0.9, 0.9 + 1e-7, 0.5, 0.0]))
    assert shares[2:].tolist() == [0, 0]
    assert 0.55 < shares[1] < 0.75


def test_winners_of_a_normal_field_are_first_again_as_often_as_is_said():
    """Without a prior 14 points too much are said of the winner, and with one of equal teams 17 too little."""
    excess = []
    for seed in range(150):
        random = np.random.default_rng(seed)
        truth = random.normal(0, 0.02, 15)
        centers = truth + random.normal(0, 0.02, 15)
        shares = statistics.first_again(centers + random.normal(0, 0.02, (300, 15)), seed=seed)
        again = truth + random.normal(0, 0.02, (1000, 15))
        excess.append(shares[centers.argmax()] - (again.argmax(axis=1) == centers.argmax()).mean())
    assert np.mean(excess) == pytest.approx(0, abs=0.05)


def test_teams_that_nothing_tells_apart_share_the_first_place():
    """They differ by less than the noise, so the lead of the first one is taken for luck."""
    noise = np.random.default_rng(0).normal(0, 0.01, (4000, 5))
    shares = statistics.first_again(np.add(noise, [0.602, 0.601, 0.6, 0.599, 0.598]))
    assert shares == pytest.approx(np.full(5, 0.2), abs=0.03)


def test_many_near_copies_make_no_other_team_first():
    """They share what one file had alone, whether it leads by far, or is far behind."""
    few, noise = board(2, 1000), 1e-4 * np.random.default_rng(1).normal(size=(1000, 40))
    for ahead in (0.3, -0.3):
        copies = few[:, [0]] + ahead + noise
        shares = statistics.first_again(np.column_stack([copies, few[:, 1]]))
        assert (shares[-1], shares[:-1].sum()) == pytest.approx((float(ahead < 0), float(ahead > 0)), abs=0.02)


def test_first_again_with_rewards_is_that_of_a_literal_transcription():
    draws, random = board(6, 40), np.random.default_rng(2)
    measured = random.uniform(1, 4, 6)
    runtimes = measured * random.lognormal(0, 0.1, (40, 6))
    rewards = statistics.Rewards(runtimes, measured, halving_boost)
    shares = statistics.first_again(draws, rewards=rewards, seed=4)
    expected = transcribed([draws] * 3, 1, 4, runtimes.tolist(), measured.tolist(), halving_boost)
    assert shares.tolist() == pytest.approx(expected, abs=1e-12)
    assert shares.tolist() != statistics.first_again(draws, seed=4).tolist()


def test_equal_files_share_one_number():
    draws = board(5)
    copied = np.column_stack([draws, draws[:, 2], draws[:, 2]])
    files = ["a", "b", "c", "d", "e", "c", "c"]
    shares = statistics.first_again(copied, files=files)
    assert shares[:5] == pytest.approx(statistics.first_again(draws), abs=0.005)
    assert shares[2] == shares[5] == shares[6]
    # Each team is rewarded for its own runtime, and the file is first if one of its teams is.
    measured = np.array([1.0, 1, 1, 1, 1, 0.1, 1])
    rewards = statistics.Rewards(np.tile(measured, (1000, 1)), measured, halving_boost)
    rewarded = statistics.first_again(copied, files=files, rewards=rewards)
    assert rewarded[2] == rewarded[5] == rewarded[6] > 0.99


def test_ties_are_shared_and_undefined_scores_do_not_count():
    assert statistics.first_again(np.ones((20, 4))).tolist() == [0.25] * 4
    assert statistics.first_again(np.ones((20, 4)), 3).tolist() == [0.75] * 4
    assert statistics.may_be_best(np.ones((20, 4))).all()
    draws = board(3)
    draws[:, 1] = np.nan
    draws[0, 2] = np.nan
    shares = statistics.first_again(draws)
    assert shares[1] == 0
    assert shares.sum() == pytest.approx(1)
    assert not statistics.may_be_best(draws)[1]
    assert np.isnan(statistics.first_again(np.array([[1.0, np.nan], [np.nan, 2.0]]))).all()


@given(st.integers(1, 9), st.integers(1, 5), st.booleans(), st.integers(0, 2**16))
def test_shares_add_up_to_the_number_of_places(teams, places, is_rewarded, seed):
    """Several teams may send a file, scores may be undefined, and some teams may be unable to win."""
    random = np.random.default_rng(seed)
    draws, files = board(teams, 60, seed), random.integers(teams, size=teams)
    draws = draws[:, files]
    undefined, who = random.random((2, teams)) < [[0.1], [0.8]]
    draws[:, np.isin(files, files[undefined])] = np.nan
    measured = random.uniform(1, 2, teams)
    rewards = statistics.Rewards(np.tile(measured, (60, 1)), measured, halving_boost) if is_rewarded else None
    shares = statistics.first_again(draws, places, who=who, files=files, rewards=rewards)
    counts = who & np.isfinite(draws[0])
    assert np.isnan(shares).tolist() == (~who).tolist()
    of_files = dict(zip(files[counts].tolist(), shares[counts].tolist()))
    assert shares[counts].tolist() == [of_files[file] for file in files[counts].tolist()]
    assert sum(of_files.values()) == pytest.approx(min(places, len(of_files)))


def test_the_best_against_a_slow_way():
    draws = board(7, 60)
    errors = draws - draws.mean(axis=0)
    for team, may_be in enumerate(statistics.may_be_best(draws).tolist()):
        deviation = [np.std(errors[:, other] - errors[:, team]) for other in range(7)]
        largest = [
            max([0, *((row[o] - row[team]) / deviation[o] for o in range(7) if o != team)]) for row in errors
        ]
        limit = np.quantile(largest, 0.95)
        behind = draws.mean(axis=0) - draws[:, team].mean()
        assert may_be == all(behind[o] <= limit * deviation[o] for o in range(7) if o != team)


def test_the_best_where_lower_is_better_and_without_noise():
    draws = board(6)
    lower = statistics.may_be_best(-draws, higher_is_better=False)
    assert lower.tolist() == statistics.may_be_best(draws).tolist()
    assert statistics.may_be_best(np.tile([3.0, 2.0, 3.0], (50, 1))).tolist() == [True, False, True]


def test_a_team_is_excluded_only_beyond_the_limit():
    """Each of 30 teams has one lucky draw, so that the limit is 29 ** 0.5 = 5.4 standard deviations."""
    lucky = np.eye(30)
    behind = lucky.mean() - lucky.std(axis=0)[0] * np.array([5.3, 5.5])
    draws = np.column_stack([lucky, np.tile(behind, (30, 1))])
    assert statistics.may_be_best(draws)[30:].tolist() == [True, False]


def test_intervals_that_are_widened_jointly_hold_together():
    """The exact factor of k independent normal columns is the ratio of the quantiles of 0.95 ** (1 / k)."""
    random = np.random.default_rng(0)
    for number, exact in ((1, 1.0), (3, 1.2183), (10, 1.4284)):
        assert inference.widening_jointly(random.normal(0, 0.01, (50_000, number))) == pytest.approx(
            exact, abs=0.01
        )
    one = random.normal(0, 0.01, (1000, 1))
    assert inference.widening_jointly(np.hstack([one, 2 * one, one * 0, one])) == pytest.approx(1)
    two = random.normal(0, 0.01, (1000, 2))
    undefined = np.column_stack([two, np.full(1000, np.nan)])
    assert inference.widening_jointly(undefined) == inference.widening_jointly(two) > 1
    assert [inference.widening_jointly(np.ones(shape)) for shape in ((1000, 2), (0, 2))] == [1, 1]


@pytest.mark.slow
def test_statements_about_boards_come_true():
    """This is a small version of the simulation, with equal groups, near copies, and rewards."""
    kinds = ["8 equal groups, 30 teams", "near copies, no groups, 40 teams", "rewards, 5 teams"]
    rows = coverage.simulate(kinds, boards=10, items=500)
    winners = rows[(rows["what"] == "first again") & (rows["won"] > 0) & ~rows["doubt"].astype(bool)]
    assert winners["came"].mean() == pytest.approx(winners["said"].mean(), abs=0.12)
    held = rows[~rows["doubt"].astype(bool)].groupby("what")["came"].mean()
    for what in ("score", "difference", "border", "best"):
        assert held[what] >= 0.9, what


# --- metrics that give each row some numbers --------------------------------------------------------


def counts(solution, submission):
    """For each row and each label: whether both tables have it, the solution, the submission."""
    labels = sorted(set(solution["label"]))
    truth, guess = (table["label"].to_numpy()[:, np.newaxis] == labels for table in (solution, submission))
    return np.concatenate([truth & guess, truth, guess], axis=1)


def macro_f1(sums):
    """The mean F1 of the labels that occur."""
    both, truth, guess = np.split(np.moveaxis(sums, -1, 0), 3)
    return sum(2 * both / np.maximum(truth + guess, 1)) / sum(truth > 0)


@pytest.fixture(scope="module")
def labeled() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A solution and a submission with rows in another order."""
    random = np.random.default_rng(5)
    solution = pd.DataFrame({"id": [f"r{n}" for n in range(60)], "label": random.choice(["a", "b", "c"], 60)})
    solution["site"], solution["patient"] = np.arange(60) % 12 % 2, np.arange(60) % 12
    guess = solution["label"].where(random.random(60) < 0.7, "a")
    submission = solution[["id"]].assign(label=guess, more=1)
    return solution, submission.sample(frac=1, random_state=1)


def test_each_row_is_an_item(labeled):
    solution, submission = labeled
    prepared = statistics.item_wise(solution, "id", counts, macro_f1)
    numbers = prepared.statistics(submission)
    assert prepared.items == sorted(solution["id"])
    assert numbers.tolist() == prepared.statistics(submission.iloc[::-1]).tolist()
    guess = submission.set_index("id")["label"][solution["id"]]
    f1_score = pytest.importorskip("sklearn.metrics").f1_score
    assert statistics.measures(prepared, numbers) == {
        "score": pytest.approx(f1_score(solution["label"], guess, average="macro"), rel=1e-12)
    }
    draws = statistics.resample(prepared, numbers, statistics.draw(60, 40, seed=0))
    assert draws.shape == (40, 1)
    assert np.isfinite(draws).all()


def test_items_of_several_rows_in_groups(labeled):
    solution, submission = labeled
    prepared = statistics.item_wise(solution, "id", counts, macro_f1, item="patient", groups=["site"])
    alone = statistics.item_wise(solution, "id", counts, macro_f1, item="patient", groups="site")
    assert alone.labels == prepared.labels  # and not columns s, i, t, and e
    numbers = prepared.statistics(submission)
    assert (len(prepared.items), prepared.labels) == (12, [("site", "0"), ("site", "1")])
    measures = statistics.measures(prepared, numbers)
    assert list(measures) == ["score", "site = 0", "site = 1"]
    for site, kept in ((0, solution["site"] == 0), (1, solution["site"] == 1)):
        rows = solution[kept]
        alone = statistics.item_wise(rows, "id", counts, macro_f1)
        of_rows = alone.statistics(submission[submission["id"].isin(rows["id"])])
        assert measures[f"site = {site}"] == statistics.measures(alone, of_rows)["score"]
    only = statistics.part(prepared, np.array([int(item) % 2 == 0 for item in prepared.items]))
    assert only.measure_names == ["score", "site = 0"]
    without = prepared.measures(np.stack([numbers.sum(axis=0), numbers.sum(axis=0) * 0]))
    assert np.isfinite(without[0])
    assert np.isnan(without[2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "r0"}, "Solution and submission values for id do not match"),
        ({"label": None}, "Submission contains null values"),
        ({}, "ID column id not found in submission"),
    ],
)
def test_a_submission_that_does_not_fit_the_rows(labeled, change, message):
    solution, submission = labeled
    prepared = statistics.item_wise(solution, "id", counts, macro_f1)
    broken = submission.assign(**change) if change else submission.drop(columns="id")
    with pytest.raises(SubmissionRejected, match=message):
        prepared.statistics(broken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"item": "doctor"}, "the solution: expected a column doctor, found id, label, site, patient"),
        (
            {"item": "site", "groups": ["patient"]},
            "patient: expected one value for all rows of an item, found .* leave patient out of the groups, or",
        ),
    ],
)
def test_a_solution_whose_items_are_not_clear(labeled, options, message):
    with pytest.raises(HostError, match=message):
        statistics.item_wise(labeled[0], "id", counts, macro_f1, **options)
    with pytest.raises(HostError, match="id: expected each id once, found 'r0' twice"):
        statistics.item_wise(labeled[0].assign(id="r0"), "id", counts, macro_f1)


def test_numbers_of_another_shape(labeled):
    solution, submission = labeled
    prepared = statistics.item_wise(solution, "id", lambda *tables: np.ones(60), macro_f1)
    with pytest.raises(ValueError, match=r"expected an array of shape \(60, k\), some numbers for each row, f"):
        prepared.statistics(submission)


def page_about_metrics() -> str:
    """The page about a custom metric."""
    return (Path(__file__).parents[1] / "docs" / "how-to" / "your-own-metric.md").read_text(encoding="utf-8")


def test_a_mean_over_stores_is_a_formula_of_sums():
    """So is the example on the page, also where a part lacks a store."""
    section = page_about_metrics().partition("## A mean over stores or classes")[2]
    known = {"np": np, "pd": pd}
    exec(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], known)
    random = np.random.default_rng(3)
    solution = pd.DataFrame({"id": [f"r{n:02}" for n in range(90)], "store": np.repeat([*"abc"], [50, 30, 10])})
    solution["label"] = random.integers(0, 3, 90)
    submission = solution[["id"]].assign(label=random.integers(0, 3, 90))
    prepared = statistics.item_wise(solution, "id", known["counts"], known["mean_of_stores"])
    numbers = prepared.statistics(submission)
    right = solution["label"] == submission["label"]
    for kept in (np.arange(90) < 90, np.arange(90) < 70):
        part = statistics.part(prepared, kept)
        expected = right[kept].groupby(solution["store"]).mean().mean()
        assert statistics.measures(part, numbers[kept])["score"] == pytest.approx(expected, rel=1e-12)
        some = known["counts"](solution[kept], submission[kept]).sum(axis=0)
        assert statistics.measures(part, numbers[kept])["score"] == known["mean_of_stores"](some)
