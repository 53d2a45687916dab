"""Draws, swaps, intervals, p-values and rank sets agree with slow and direct ways to compute them."""

import dataclasses
import doctest
import functools
import itertools
import math
import tracemalloc
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import metric
from benchmarks import coverage
from podium import statistics
from podium.scoring import ALL
from podium.statistics import inference, ranks, sampling
from tests.support.essays import make_competition
from tests.support.plausible import plausible_scores
from tests.support.unified import evaluate

ALL_IN_ONE = {"subpopulation_column_names": ""}


@dataclasses.dataclass(frozen=True, eq=False)
class Mean:
    """A metric that keeps the contract: the mean of a value for each item, overall and for each group, and a
    measure that is never defined.
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


@pytest.fixture(scope="module")
def frames():
    """A made-up solution and two submissions; the second one lacks a tenth of the segments."""
    solution, submission = make_competition(60, seed=3, shared_words=False)
    return solution.drop(columns="Usage"), submission, submission.sample(frac=0.9, random_state=1)


@pytest.fixture(scope="module")
def pair(frames):
    """A prepared solution and the statistics of two submissions."""
    solution, one, other = frames
    prepared = metric.prepare(solution, "row_id")
    return prepared, prepared.statistics(one), prepared.statistics(other)


@pytest.mark.parametrize("module", [inference, ranks, sampling])
def test_examples_in_docstrings(module):
    outcome = doctest.testmod(module)
    assert outcome.attempted > 1
    assert outcome.failed == 0


# --- draws --------------------------------------------------------------------------------------------------


def test_draws_are_seeded_and_take_as_many_items_as_there_are():
    weights = statistics.draw(100, 30, seed=1)
    assert weights.shape == (30, 100)
    assert (weights.sum(axis=1) == 100).all()
    assert np.array_equal(weights, statistics.draw(100, 30, seed=1))
    assert np.array_equal(weights[:10], statistics.draw(100, 10, seed=1))
    assert not np.array_equal(weights, statistics.draw(100, 30, seed=2))


def test_draws_are_uniform_with_replacement():
    weights = statistics.draw(50, 4000, seed=0)
    # Binomial(50, 1/50): mean 1, variance 0.98.
    assert weights.mean(axis=0) == pytest.approx(np.ones(50), abs=0.1)
    assert weights.var() == pytest.approx(0.98, abs=0.02)


def test_a_resample_is_the_score_of_the_frames_repeated(frames, pair):
    solution, one, _ = frames
    prepared, mine, _ = pair
    weights = statistics.draw(60, 4, seed=7)
    for row, measures in zip(weights, statistics.resample(prepared, mine, weights)):
        times = dict(zip(prepared.items, row.tolist()))
        repeated = [
            frame.loc[frame.index.repeat(frame["essay_id"].map(times).fillna(0).astype(int))]
            for frame in (solution, one)
        ]
        copies = [
            frame.assign(essay_id=frame["essay_id"] + "/" + frame.groupby("row_id").cumcount().astype(str))
            for frame in repeated
        ]
        expected = evaluate(*copies).measures
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


class Raw(NamedTuple):
    """A metric whose measures are the sums themselves."""

    groups: np.ndarray

    def measures(self, sums):
        return sums.reshape(len(sums), -1)


def test_several_submissions_at_once_are_each_alone_to_the_last_bit(pair):
    prepared, mine, theirs = pair
    of_draws = statistics.resampler(prepared, statistics.draw(60, 50, 0))
    large = mine * 1000  # a large count, which leaves fewer bits for the others
    for each, together in zip((mine, large, theirs), of_draws(mine, large, theirs)):
        (alone,) = of_draws(each)
        assert [array.tobytes() for array in together] == [array.tobytes() for array in alone]
        assert alone.sums.tobytes() == statistics.sums(each, prepared.groups).tobytes()


def test_counts_and_fractions_are_summed_to_the_same_sums():
    """The sums of counts, of large counts and of halves are those of a loop over draws and items."""
    random = np.random.default_rng(2)
    hits = random.random(30)
    columns = [
        random.integers(5, size=30),
        hits,
        3 - hits,
        1 - hits,
        random.random(30),
        np.full(30, 2.0**22 + 1),
    ]
    mine = np.stack(columns, axis=1).astype(np.float64)
    groups = np.stack([random.integers(3, size=30), 3 + random.integers(2, size=30)])
    weights = statistics.draw(30, 8, 0)
    sums = statistics.resample(Raw(groups), mine, weights)
    for of_draw, times in zip(sums, weights.tolist()):
        expected = np.zeros((5, 6))
        for item, number in enumerate(times):
            for group in groups[:, item]:
                expected[group] += number * mine[item]
        assert of_draw == pytest.approx(expected.ravel(), rel=0, abs=1e-6)


def test_influences_are_how_fast_the_score_grows_with_an_item_s_weight(pair):
    prepared, mine, _ = pair
    total = statistics.sums(mine, prepared.groups)
    influences = statistics.influences(prepared, mine, total)
    for item in range(0, 60, 7):
        more = total.copy()
        more[prepared.groups[:, item]] += mine[item] * 1e-5
        slope = (prepared.measures(more)[0] - prepared.measures(total)[0]) / 1e-5
        assert influences[item] == pytest.approx(slope, rel=1e-3, abs=1e-7)
    assert np.abs(influences).max() > 1e-4
    assert influences.sum() == pytest.approx(0, abs=1e-6)  # twice every item gives the same score


# --- swaps --------------------------------------------------------------------------------------------------


def test_a_swap_is_the_score_of_swapped_frames(frames, pair):
    solution, one, other = frames
    prepared, mine, theirs = pair
    swapped = np.random.default_rng(0).integers(0, 2, (4, 60))
    for row, *swapped_measures in zip(swapped, *statistics.swap(prepared, mine, theirs, swapped)):
        essays = {essay for essay, swap in zip(prepared.items, row.tolist()) if swap}
        for kept, taken, measures in ((one, other, swapped_measures[0]), (other, one, swapped_measures[1])):
            mixture = pd.concat([kept[~kept["essay_id"].isin(essays)], taken[taken["essay_id"].isin(essays)]])
            expected = list(evaluate(solution, mixture).measures.values())
            assert measures == pytest.approx(expected, rel=1e-9)


# --- p-values -----------------------------------------------------------------------------------------------


def slow_p(one, other, swaps):
    """Compute the p-value of approximate randomization swap by swap and item by item."""
    observed = abs(sum(one) / len(one) - sum(other) / len(other))
    as_large = 0
    for swap in swaps.tolist():
        mine = sum(b if swapped else a for a, b, swapped in zip(one, other, swap)) / len(one)
        theirs = sum(a if swapped else b for a, b, swapped in zip(one, other, swap)) / len(one)
        as_large += abs(mine - theirs) >= observed - 1e-9
    return (as_large + 1) / (len(swaps) + 1)


@pytest.mark.parametrize("seed", range(5))
def test_p_values_against_a_slow_one(seed, monkeypatch):
    monkeypatch.setattr(sampling, "CELLS_AT_ONCE", 40 * 7)  # so that the swaps are made in several parts
    random = np.random.default_rng(seed)
    one, other = random.integers(0, 5, (2, 40)) / 4
    swaps = np.random.default_rng([seed, 1]).integers(0, 2, (200, 40), dtype=np.uint8)
    table = statistics.compare(mean_of(40), as_statistics(one), as_statistics(other), 200, seed)
    assert table["p"][0] == slow_p(one.tolist(), other.tolist(), swaps)
    monkeypatch.undo()
    of_pair = statistics.swapper(mean_of(40), 40, 200, seed)  # keeps all swaps
    for _ in range(2):
        assert of_pair(as_statistics(one), as_statistics(other))[0] == table["p"][0]
    assert math.isnan(table["p"][1])


@pytest.mark.slow
def test_equally_good_submissions_have_uniform_p_values():
    """If two submissions can be exchanged, no p-value is likelier than another: P(p <= x) = x for x = k / (n
    + 1).
    """
    random = np.random.default_rng(0)
    p = np.array(
        [
            statistics.compare(mean_of(30), as_statistics(one), as_statistics(other), 99, seed)["p"][0]
            for seed, (one, other) in enumerate(random.normal(size=(600, 2, 30)))
        ]
    )
    for level in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9):
        deviation = math.sqrt(level * (1 - level) / len(p))
        assert abs((p <= level + 1e-9).mean() - level) < 4 * deviation


def test_a_clear_difference_is_significant_in_both_directions(frames, pair):
    _, one, _ = frames
    prepared, good, _ = pair
    bad = prepared.statistics(one.sample(frac=0.3, random_state=0))
    table, back = statistics.compare(prepared, good, bad, 199), statistics.compare(prepared, bad, good, 199)
    assert table["p"][0] == back["p"][0] == 1 / 200
    assert table["difference"][0] == -back["difference"][0] > 0
    assert table["low"][0] > 0
    assert table["low"].to_numpy() == pytest.approx(-back["high"].to_numpy(), rel=1e-12, nan_ok=True)


def test_a_submission_does_not_differ_from_itself(pair):
    prepared, mine, _ = pair
    table = statistics.compare(prepared, mine, mine, 50)
    assert (table["p"] == 1).all()
    assert (table[["difference", "low", "high"]] == 0).all(axis=None)


def test_the_fewer_items_decide_the_wider_the_interval_of_a_difference():
    """The width follows Student's t, with two degrees of freedom for each item of those that differ alike."""
    for few in (1, 4, 50):
        alike = (np.arange(1000) < few) * 0.5
        expected = stats.t.ppf(0.975, 2 * few) / stats.norm.ppf(0.975)
        assert statistics.widening(alike) == pytest.approx(expected)
    assert 1 < statistics.widening(np.random.default_rng(0).normal(size=1000)) < 1.003
    assert statistics.widening(np.zeros(1000)) == pytest.approx(1)
    prepared, mine = mean_of(200), np.random.default_rng(1).normal(size=200)
    theirs = mine.copy()
    theirs[:3] += [1, 2, 3]
    row = statistics.compare(prepared, as_statistics(theirs), as_statistics(mine), 4000).iloc[0]
    samples = statistics.resample(prepared, as_statistics(theirs - mine), statistics.draw(200, 4000, 0))[:, 0]
    low, median, high = np.quantile(samples, [0.025, 0.5, 0.975])
    wider = stats.t.ppf(0.975, 2 * 14**2 / 98) / stats.norm.ppf(0.975)
    expected = [median - wider * (median - low), median + wider * (high - median)]
    assert [row["low"], row["high"]] == pytest.approx(expected, rel=1e-9)


def test_paired_intervals_use_the_same_draws():
    """If two submissions differ by a constant, they differ by this constant on every draw."""
    values = np.random.default_rng(1).normal(size=50)
    row = statistics.compare(mean_of(50), as_statistics(values + 0.25), as_statistics(values), 50).iloc[0]
    assert [row["low"], row["high"]] == pytest.approx([0.25, 0.25])


# --- intervals ----------------------------------------------------------------------------------------------


def test_interval():
    samples = np.random.default_rng(0).normal(10, 2, (20_000, 2))
    low, high = statistics.interval(samples)
    assert low == pytest.approx([10 - 1.96 * 2] * 2, abs=0.1)
    assert high == pytest.approx([10 + 1.96 * 2] * 2, abs=0.1)


def test_undefined_samples_do_not_count():
    low, high = statistics.interval([[1.0, math.nan], [math.nan, math.nan], [3.0, math.nan]])
    assert (low[0], high[0]) == pytest.approx((1.05, 2.95))
    assert math.isnan(low[1])
    assert math.isnan(high[1])


def test_the_interval_of_a_mean_is_that_of_the_normal_distribution():
    values = np.random.default_rng(0).normal(size=400)
    row = statistics.intervals(mean_of(400), as_statistics(values), 4000).iloc[0]
    error = values.std() / math.sqrt(len(values))
    assert row["value"] == pytest.approx(values.mean())
    assert [row["low"], row["high"]] == pytest.approx(
        [values.mean() - 1.96 * error, values.mean() + 1.96 * error], abs=0.15 * error
    )


def test_one_item_has_no_interval_and_few_have_a_notice():
    one = statistics.intervals(mean_of(1), as_statistics([0.5]), 20).iloc[0]
    assert one["note"] == "no interval: only one item"
    assert one[["low", "high"]].isna().all()
    values = np.arange(12) / 12
    nine, twelve = (statistics.intervals(mean_of(n), as_statistics(values[:n]), 20) for n in (9, 12))
    assert nine["note"].tolist() == ["beware: fewer than 10 items", "no interval: undefined"]
    assert twelve["note"].tolist() == ["", "no interval: undefined"]
    assert nine["low"][0] < nine["value"][0] < nine["high"][0]


@pytest.mark.parametrize(("parameters", "margin"), [({}, 1.1), (ALL_IN_ONE, 1)])
def test_the_interval_of_a_score_is_that_of_its_draws_but_wider(frames, parameters, margin):
    """It is widened as by Student's t, and by a margin where groups are compared."""
    solution, one, _ = frames
    prepared = metric.prepare(solution, "row_id", **parameters)
    mine = prepared.statistics(one)
    ((total, _, scores),) = statistics.resampler(prepared, statistics.draw(60, 100, 5), 5)(mine)
    influence = statistics.influences(prepared, mine, total)
    freedom = 2 * (influence**2).sum() ** 2 / (influence**4).sum()
    wider = margin * stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)
    low, median, high = np.quantile(scores, [0.025, 0.5, 0.975])
    row = statistics.intervals(prepared, mine, 100, 5).iloc[0]
    expected = [median - wider * (median - low), median + wider * (high - median)]
    assert [row["low"], row["high"]] == pytest.approx(expected, rel=1e-9)


def test_groups_of_fewer_than_ten_items_have_no_interval(pair):
    prepared, mine, _ = pair
    table = statistics.intervals(prepared, mine, 50).set_index("measure")
    sizes = np.bincount(prepared.groups.ravel())
    assert min(sizes) < 10 < max(sizes)
    for (attribute, value), size in zip(prepared.labels, sizes):
        row = table.loc[f"{attribute} = {value}"]
        assert row["note"] == ("no interval: fewer than 10 items" if size < 10 else "")
        assert row[["low", "high"]].isna().all() == (size < 10)


def test_without_groups_the_score_s_interval_is_that_of_the_draws(frames):
    solution, one, _ = frames
    prepared = metric.prepare(solution, "row_id", **ALL_IN_ONE)
    mine = prepared.statistics(one)
    ((_, samples, scores),) = statistics.resampler(prepared, statistics.draw(60, 100, 0))(mine)
    assert scores.tolist() == samples[:, 0].tolist()


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
    ((*_, scores),) = statistics.resampler(prepared, weights, seed=4)(mine)
    assert scores.tolist() == pytest.approx(plausible_scores(prepared, mine, weights, seed=4), rel=1e-9)


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


def test_plausible_scores_may_be_negative():
    """Only statistics that are nowhere negative have sums that cannot be, either."""
    prepared, weights = mean_of_three_groups(), statistics.draw(60, 50, 0)
    values = 5 + np.random.default_rng(0).normal(0, 1, 60)
    ((*_, gained),) = statistics.resampler(prepared, weights)(as_statistics(values))
    ((*_, lost),) = statistics.resampler(prepared, weights)(as_statistics(-values))
    assert lost.tolist() == pytest.approx((-gained).tolist(), rel=1e-9)
    assert gained.min() > 4


def test_groups_that_never_vary_keep_their_draws():
    prepared, weights = mean_of_three_groups(), statistics.draw(60, 50, 0)
    ((_, samples, scores),) = statistics.resampler(prepared, weights)(as_statistics(np.full(60, 0.5)))
    assert scores.tolist() == samples[:, 0].tolist() == [0.5] * 50


@functools.cache
def populations():
    """Made-up essays in equal groups, and essays of which one group scores far below the others."""
    solution, submission = make_competition(3000, seed=9, shared_words=False)
    whole = metric.prepare(solution, "row_id", **ALL_IN_ONE)
    group = np.random.default_rng(0).permutation(3000) % 6
    of_essay = dict(zip(whole.items, group.tolist()))
    worse = submission[(submission["essay_id"].map(of_essay) > 0) | (np.arange(len(submission)) % 3 > 0)]
    labels = [("group", str(number)) for number in range(6)]
    grouped = dataclasses.replace(whole, labels=labels, groups=group[np.newaxis])
    return [(grouped, whole.statistics(frame)) for frame in (submission, worse)]


@pytest.mark.slow
def test_the_interval_holds_the_population_s_score_about_as_often_as_it_says():
    """Test sets have 300 essays. With equal groups, the percentile interval would hold the score in only a
    third of them.
    """
    random = np.random.default_rng(1)
    for prepared, of_all in populations():
        truth = statistics.measures(prepared, of_all)["score"]
        held = 0
        for seed in range(100):
            drawn = np.sort(random.integers(3000, size=300))
            part = dataclasses.replace(
                prepared, items=[prepared.items[item] for item in drawn], groups=prepared.groups[:, drawn]
            )
            ((*_, scores),) = statistics.resampler(part, statistics.draw(300, 200, seed))(of_all[drawn])
            low, high = statistics.interval(scores)
            held += low <= truth <= high
        assert held >= 85


@pytest.mark.slow
def test_the_interval_of_a_difference_holds_it_with_one_low_group():
    """The other submission has no predictions for some texts. Percentile intervals would hold the difference
    in 9 of 10 sets.
    """
    random = np.random.default_rng(5)
    prepared, mine = populations()[1]
    theirs = np.where(random.random(3000)[:, np.newaxis] < 0.1, 0, mine)
    truth = statistics.measures(prepared, mine)["score"] - statistics.measures(prepared, theirs)["score"]
    held, percentile = [], []
    for seed in range(60):
        drawn = np.sort(random.integers(3000, size=300))
        part = dataclasses.replace(
            prepared, items=[prepared.items[item] for item in drawn], groups=prepared.groups[:, drawn]
        )
        row = statistics.compare(part, mine[drawn], theirs[drawn], 200, seed).iloc[0]
        held.append((row["low"] <= truth <= row["high"], row["high"] - row["low"]))
        weights = statistics.draw(300, 200, seed)
        samples = [statistics.resample(part, each[drawn], weights)[:, 0] for each in (mine, theirs)]
        low, high = statistics.interval(samples[0] - samples[1])
        percentile.append((low <= truth <= high, high - low))
    (share, width), (share_of_percentile, width_of_percentile) = np.mean([held, percentile], axis=1)
    assert share >= 0.92 > share_of_percentile
    assert width < 1.5 * width_of_percentile


def test_the_halves_of_the_simulation_have_nothing_in_common():
    """One half of the simulation serves to choose constants, and the other half to judge them."""
    for kinds in (coverage.HALVES, coverage.PAIRS):
        assert not set(kinds["choosing"]) & set(kinds["judging"])
    given = {"demographics of made-up essays", "the given demographics"}
    kinds = [[kind for name, kind in half.items() if name not in given] for half in coverage.HALVES.values()]
    assert not set(kinds[0]) & set(kinds[1])
    assert min(len(half) for half in coverage.HALVES.values()) >= 8
    assert min(len(half) + 1 for half in coverage.PAIRS.values()) >= 10  # and neighbors


@pytest.mark.slow
def test_intervals_without_a_note_hold_what_they_promise(capsys):
    """This is a small version of the simulation, with equal groups, with a small low group, and with a
    larger one.
    """
    rows = coverage.simulate(None, "judging", rounds=1, test_sets=13, essays=500, most=3)
    assert rows["population"].nunique() == 3
    trusted = rows[rows["note"] == ""].groupby("what")["held"].mean()
    for what in ("score", "score of a group", "F1 of a type", "difference", "difference on a board"):
        assert trusted[what] >= 0.89, what
    assert trusted["score, percentile"] < trusted["score"] - 0.1
    assert trusted["p up to 0.05"] < 0.2
    benign = rows["pair"].isin(
        ["3% of rows dropped", "10% of rows dropped", "probabilities with noise of 0.05"]
    )
    assert (rows[benign]["note"] != "").mean() <= 0.1
    silent = rows[rows["pair"] == "1% of essays silent"]
    assert (silent["note"] != "").mean() > 0.3
    coverage.show(rows, "judging")
    assert "neighbors on a board" in capsys.readouterr().out


def test_the_summary_of_the_simulation_has_wilson_s_interval_and_counts_a_test_set_once():
    rows = pd.DataFrame(
        [("a", what, n >= 2, "") for what in coverage.PRINTED for n in range(40)]
        + [("a", "score", 0, "beware"), ("a", "bias", 0.5, "")],
        columns=["population", "what", "held", "note"],
    )
    line = coverage.summary(rows, 40).set_index("what").loc["score"]
    # scipy.stats.binomtest(38, 40).proportion_ci(method="wilson") gives 0.8350 and 0.9862.
    assert line[["intervals", "held", "low", "high"]].tolist() == pytest.approx(
        [40, 0.95, 0.8350, 0.9862], abs=5e-5
    )
    wider = coverage.summary(rows, 20).set_index("what").loc["score"]
    assert wider["low"] < line["low"]
    assert line["high"] < wider["high"]


def test_bca_of_the_simulation_is_scipy_s():
    values = np.random.default_rng(3).exponential(size=80)
    prepared, of_items = mean_of(80), as_statistics(values)
    weights = statistics.draw(80, 20_000, 0)
    ours = coverage.bca(prepared, of_items, statistics.resample(prepared, of_items, weights)[:, 0])
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.01)
    percentile = statistics.interval(statistics.resample(prepared, of_items, weights)[:, 0])
    assert abs(percentile[1] - theirs.high) > 0.01


# --- scales -------------------------------------------------------------------------------------------------


class Ratio(NamedTuple):
    """A metric with columns of any scale: the sum of one column divided by that of the other."""

    items: list[str]
    groups: np.ndarray
    labels: list[tuple[str, str]]
    measure_names: list[str]

    def measures(self, sums):
        whole = np.asarray(sums).sum(axis=-2)
        return (whole[..., 0] / whole[..., 1])[..., np.newaxis]


@pytest.mark.parametrize(("one", "other"), [(1e-5, 1e9), (1e9, 1e-5), (1e18, 1.0), (1.0, 1e18), (1e-12, 1e-12)])
def test_columns_may_have_any_scale(one, other):
    """Intervals, p-values and notes are the same as if both columns had the scale 1."""
    random = np.random.default_rng(0)
    prepared = Ratio(
        [str(item) for item in range(40)], np.zeros((1, 40), dtype=np.int64), [metric.ALL], ["score"]
    )
    mine, theirs = random.random((2, 40, 2)) + 0.5
    for answer in (
        lambda by: statistics.intervals(prepared, mine * by, 100),
        lambda by: statistics.compare(prepared, mine * by, theirs * by, 100),
    ):
        usual, scaled = answer(np.ones(2)), answer(np.array([one, other]))
        columns = [name for name in ("value", "difference", "low", "high") if name in usual]
        assert scaled[columns].to_numpy() * other / one == pytest.approx(usual[columns].to_numpy(), rel=1e-6)
        assert usual["low"][0] < usual["high"][0]
        assert scaled["note"].tolist() == usual["note"].tolist() == [""]


# --- notes and verdicts -------------------------------------------------------------------------------------


def test_notes_say_where_few_items_decide():
    values = np.zeros(500)
    perfect, three, many = np.ones(500), np.ones(500), np.arange(500) % 2.0
    three[:3], values[:1] = 0, 1
    for mine, note in (
        (perfect, "no interval: hardly any item decides this value"),
        (three, "beware: only about 3 items decide this value"),
        (many, ""),
    ):
        row = statistics.intervals(mean_of(500), as_statistics(mine), 50).iloc[0]
        assert row["note"] == note
        assert np.isnan(row["low"]) == note.startswith("no interval")
    one = many.copy()
    one[0] += 1
    two = one.copy()
    two[1] -= 0.5
    for other, note in (
        (one, "beware: only about 1 item decides this difference"),
        (two, ""),
        (many, ""),
    ):
        row = statistics.compare(mean_of(500), as_statistics(many), as_statistics(other), 50).iloc[0]
        assert row["note"] == note


def test_each_measure_has_a_note_of_its_own():
    values = np.random.default_rng(0).random(60)
    values[::3], values[0] = 0, 1
    table = statistics.intervals(mean_of_three_groups(), as_statistics(values), 50).set_index("measure")
    assert table["note"].to_dict() == {
        "score": "",
        "group = a": "beware: only about 1 item decides this value",
        "group = b": "",
        "group = c": "",
    }


@pytest.mark.parametrize(
    ("reaction", "deciding", "note"),
    [
        ([0.1, 0.9], [1, 20], "beware: groups of fewer than 10 items decide 10% of this value"),
        ([0.09, 0.91], [1, 20], ""),
        ([0.0, 1.0], [1, 4], "beware: only about 4 items decide this value"),
        ([0.0, 1.0], [1, 5], ""),
        ([0.0, 1.0], [0, 1], "beware: only about 1 item decides this value"),
        ([0.05, 0.95], [0, 1], "no interval: hardly any item decides this value"),
    ],
)
def test_counts_of_groups_are_weighed_by_how_the_score_reacts(pair, reaction, deciding, note):
    prepared = in_two_groups(pair[0])
    known = statistics.Certainty(np.array(reaction), np.array(deciding))
    assert statistics.note_of_score(prepared, known) == note


@pytest.mark.parametrize(
    ("differing", "note"),
    [
        (["small", "small"], "no interval: hardly any item decides this difference"),
        (["large"], "no interval: hardly any item decides this difference"),
        (["small", "large", "large"], "beware: only about 2 items decide this difference"),
        (["large", "large", "large"], ""),
    ],
)
def test_items_that_differ_are_weighed_by_how_the_scores_react(pair, differing, note):
    prepared = in_two_groups(pair[0])
    first = {"small": 0, "large": 3}
    items = np.zeros(60, dtype=bool)
    for number, group in enumerate(differing):
        items[first[group] + number] = True
    mine, theirs = (statistics.Certainty(np.array([x, 1 - x]), np.array([1, 9])) for x in (0.0, 0.2))
    assert statistics.note_of_difference(prepared, items, mine, theirs) == note


def in_two_groups(prepared):
    """A group of 3 items and one of 57."""
    groups = (np.arange(60) >= 3).astype(np.int64)[np.newaxis]
    return dataclasses.replace(prepared, labels=[("size", "small"), ("size", "large")], groups=groups)


def slow_counts(prepared, mine, theirs):
    """Count how many items decide, from what each item adds to the score when its weight grows a little."""
    total = statistics.sums(mine, prepared.groups)
    here = prepared.measures(total)[0]
    reaction, deciding, differing = [], [], []
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
        differing.append(sum((mine[item] != theirs[item]).any() for item in members))
    return [each / sum(reaction) for each in reaction], deciding, differing


def test_counts_of_deciding_items_against_a_slow_way(pair):
    prepared, mine, theirs = pair
    certainty = statistics.certainty(prepared, mine, statistics.sums(mine, prepared.groups))
    reaction, deciding, differing = slow_counts(prepared, mine, theirs)
    assert certainty.reaction == pytest.approx(reaction, rel=1e-2, abs=1e-5)
    assert certainty.deciding.tolist() == deciding
    assert max(differing) > 2


def compared(difference, low, high, p, note=""):
    """A row of a comparison."""
    row = {"measure": "score", "difference": difference, "low": low, "high": high, "p": p, "note": note}
    return pd.DataFrame([row])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            (0.02, 0.01, 0.03, 0.001),
            ["score of a.csv is better than that of b.csv by 0.020000", "hardly due to chance", "the same"],
        ),
        (
            (-0.02, -0.03, -0.01, 0.001),
            ["score of b.csv is better than that of a.csv by 0.020000", "hardly due to chance"],
        ),
        ((0.02, -0.01, 0.03, 0.3), ["may well be due to chance", "the same"]),
        ((-0.02, -0.03, 0.0, 0.3), ["may well be due to chance", "the same"]),
        ((0.02, 0.0, 0.03, 0.3), ["may well be due to chance", "the same"]),
        ((0.1, -0.019, 0.214, 0.001), ["hardly due to chance", "includes 0, but it is only an approximation"]),
        ((0.1, 0.01, 0.2, 0.2), ["may well be due to chance", "excludes 0, but it is only an approximation"]),
        (
            (0.1, math.nan, math.nan, 0.5, "no interval: x"),
            ["may well be due to chance", "no interval to rely on"],
        ),
        ((0.1, 0.05, 0.2, 0.01, "beware: only about 2 items decide this difference"), ["about 2 items"]),
        ((0.0, 0.0, 0.0, 1.0), ["scores of a.csv and b.csv are the same"]),
        ((math.nan, math.nan, math.nan, math.nan), ["scores of a.csv and b.csv cannot be compared"]),
    ],
)
def test_a_verdict_is_one_sentence(row, said):
    sentence = statistics.verdict(compared(*row), names=("a.csv", "b.csv"))
    for words in said:
        assert words in sentence
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert sentence[0].isupper()


@pytest.mark.parametrize("seed", range(20))
def test_corrected_p_values_are_those_of_holm_s_steps(seed):
    """Holm goes through the p-values from the smallest on, and stops at the first above level / number left."""
    random = np.random.default_rng(seed)
    p = random.random(random.integers(1, 8)).round(2) ** 3
    corrected = statistics.holm(p)
    for level in random.random(50):
        found = set()
        for place, comparison in enumerate(sorted(range(len(p)), key=lambda each: p[each])):
            if p[comparison] > level / (len(p) - place):
                break
            found.add(comparison)
        assert set(np.flatnonzero(corrected <= level)) == found
    assert np.array_equal(statistics.holm([*p, math.nan]), [*corrected, math.nan], equal_nan=True)


def test_several_verdicts_are_corrected_for_their_number():
    tables = {
        "b.csv": compared(0.02, 0.01, 0.03, 0.001),
        "c.csv": compared(0.01, 0.001, 0.02, 0.03),
        "d.csv": compared(-0.01, -0.02, 0.001, 0.5),
    }
    assert statistics.verdicts(tables, True, "a.csv") == [
        "The score of a.csv is better than that of b.csv by 0.020000 (corrected p = 0.003), which is hardly "
        "due to chance; the interval says the same.",
        "The score of a.csv is better than that of c.csv by 0.010000 (corrected p = 0.060), which may well be "
        "due to chance; the interval excludes 0, but it is not corrected for the number of comparisons.",
        "The score of d.csv is better than that of a.csv by 0.010000 (corrected p = 0.500), which may well be "
        "due to chance; the interval says the same.",
        "The p-values of these sentences are corrected for 3 comparisons (Holm): with a probability of 95% or "
        "more, none of them takes luck for a difference.",
    ]
    one = {"c.csv": tables["c.csv"]}
    assert statistics.verdicts(one, False) == [
        statistics.verdict(tables["c.csv"], False, ("the first submission", "c.csv"))
    ]


def false_alarms(p, is_equal):
    """The shares of families, (families, k), with a false alarm, as given and corrected, and what is found."""
    corrected = np.array([statistics.holm(family) for family in p])
    shares = [float((each <= 0.05)[:, is_equal].any(axis=1).mean()) for each in (p, corrected)]
    return *shares, (corrected <= 0.05)[:, ~is_equal]


@pytest.mark.slow
@pytest.mark.parametrize("worse", [0, 2])
def test_several_comparisons_have_few_false_alarms(worse):
    """One submission is compared with five others. Some of them are worse; the others are equally good."""
    random = np.random.default_rng(worse)
    is_equal = np.arange(5) >= worse
    of_pair = statistics.swapper(mean_of(40), 40, 199, 7)
    families = []
    for values in random.normal(size=(800, 6, 40)):
        mine, *others = values - np.append(False, ~is_equal)[:, np.newaxis]
        families.append([of_pair(as_statistics(mine), as_statistics(other))[0] for other in others])
    uncorrected, corrected, found = false_alarms(np.array(families), is_equal)
    assert corrected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 800)
    assert uncorrected > 0.09
    assert worse == 0 or found.mean() > 0.9


@pytest.mark.slow
def test_several_comparisons_of_essays_have_few_false_alarms():
    """The same with the Unified Metric: on each test set, the answers to an essay are dealt out at random."""
    random = np.random.default_rng(3)
    prepared, of_all = populations()[1]
    families = []
    for seed in range(150):
        drawn = np.sort(random.integers(3000, size=300))
        part = dataclasses.replace(
            prepared, items=[prepared.items[item] for item in drawn], groups=prepared.groups[:, drawn]
        )
        # Five submissions are right on other essays of the same group.
        order = [np.lexsort((random.random(300), part.groups[0])) for _ in range(5)]
        as_good = np.empty((5, *of_all[drawn].shape))
        for one, shuffled in zip(as_good, order):
            one[np.argsort(part.groups[0], kind="stable")] = of_all[drawn][shuffled]
        dealt = random.permuted(np.tile(np.arange(5), (300, 1)), axis=1).T
        mine, *others = np.take_along_axis(as_good, dealt[:, :, np.newaxis], axis=0)
        of_pair = statistics.swapper(part, 300, 199, seed)
        families.append([of_pair(mine, other)[0] for other in others])
    uncorrected, corrected, _ = false_alarms(np.array(families), np.ones(4, dtype=bool))
    assert corrected <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 150)
    assert uncorrected >= corrected


def test_where_lower_is_better_the_other_one_wins():
    row = compared(0.02, 0.01, 0.03, 0.001)
    assert statistics.verdict(row, False) == (
        "The score of the other one is better than that of the first submission by 0.020000 (p = 0.001), "
        "which is hardly due to chance; the interval says the same."
    )


def test_the_seed_reaches_every_draw(pair):
    prepared, mine, theirs = pair
    of_seed = [statistics.intervals(prepared, mine, 60, seed) for seed in (0, 0, 1)]
    assert of_seed[0].equals(of_seed[1])
    assert not of_seed[0]["low"].equals(of_seed[2]["low"])
    weights = statistics.draw(60, 60, 0)
    drawn = [statistics.resampler(prepared, weights, seed)(mine)[0].scores.tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    p = [statistics.p_values(prepared, mine, theirs, 60, seed).tolist() for seed in (0, 0, 1)]
    assert p[0] == p[1] != p[2]


# --- sets of ranks ------------------------------------------------------------------------------------------


def slow_rank_sets(values, samples, level=0.95):
    """Compute rank sets pair by pair: all ordered pairs, the largest scaled difference, step down (Mogstad
    and others).
    """
    teams = range(len(values))
    pairs = list(itertools.permutations(teams, 2))
    errors = samples - samples.mean(axis=0)
    deviation = {(j, k): np.std(errors[:, j] - errors[:, k]) for j, k in pairs}
    median = np.median(list(deviation.values()))
    deviation = {pair: value + median for pair, value in deviation.items()}

    def certain(family):
        left, decided = list(family), set()
        while left:
            largest = [max((row[j] - row[k]) / deviation[j, k] for j, k in left) for row in errors]
            critical = np.quantile(largest, level)
            new = {(j, k) for j, k in left if (values[j] - values[k]) / deviation[j, k] > critical}
            if not new:
                break
            decided |= new
            left = [pair for pair in left if pair not in new]
        return decided

    better = certain(pairs)
    return [
        [1 + sum((k, j) in better for k in teams), len(values) - sum((j, k) in better for k in teams)]
        for j in teams
    ]


@pytest.mark.parametrize("seed", range(6))
def test_sets_of_ranks_against_a_slow_way(seed):
    random = np.random.default_rng(seed)
    values = np.sort(random.normal(0, 2, 6))[::-1]
    samples = values + random.normal(0, 0.5, (200, 6)) + random.normal(0, 1, (200, 1))
    if seed % 2 == 0:  # differences that change on few draws; without the median they would decide
        for team, every in ((3, 15), (5, 11)):
            samples[:, team] = samples[:, team - 1] + values[team] - values[team - 1]
            samples[::every, team] += 0.3
    together, alone = statistics.rank_sets(values, samples)
    assert together.tolist() == slow_rank_sets(values, samples)
    ranks = np.arange(1, 7)
    for sets in (together, alone):
        assert (sets[:, 0] <= ranks).all()
        assert (ranks <= sets[:, 1]).all()


def test_sets_of_ranks_are_the_same_in_blocks_of_any_size(monkeypatch):
    random = np.random.default_rng(3)
    values = np.sort(random.normal(0, 1, 90))[::-1]
    values[40] = values[41]
    samples = values + random.normal(0, 0.3, (150, 90)) + random.normal(0, 1, (150, 1))
    samples[:, 7] = samples[:, 8] + 0.01
    at_once = statistics.rank_sets(values, samples)
    for name, size in (("ROWS_AT_ONCE", 7), ("PAIRS_AT_ONCE", 11), ("DRAWS_AT_ONCE", 13)):
        monkeypatch.setattr(ranks, name, size)
    in_blocks = statistics.rank_sets(values, samples)
    for one, other in zip(at_once, in_blocks):
        assert one.tolist() == other.tolist()
        assert len(set(map(tuple, one.tolist()))) > 20


def test_sets_of_ranks_need_few_bytes_a_pair():
    """At 15 bytes for each pair, 10,000 teams need less than 1.5 GB."""
    random = np.random.default_rng(0)
    values = np.sort(random.normal(0, 1, 2000))[::-1]
    samples = values + random.normal(0, 0.3, (32, 2000))
    tracemalloc.start()
    try:
        statistics.rank_sets(values, samples)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 * 2000**2


@pytest.mark.slow
def test_sets_of_ranks_hold_all_true_ranks_at_once():
    """Some teams are tied, so that they have several true ranks."""
    random = np.random.default_rng(0)
    truth = np.array([3.0, 2.0, 2.0, 1.9, 0.0])
    low, high = np.array([1, 2, 2, 4, 5]), np.array([1, 3, 3, 4, 5])
    held = together_held = 0
    for _ in range(300):
        noise = random.normal(size=(60, 5))
        values = truth + noise.mean(axis=0)
        draws = np.stack([noise[random.integers(60, size=60)].mean(axis=0) for _ in range(200)])
        together, alone = statistics.rank_sets(values, truth + draws)
        together_held += bool(((together[:, 0] <= low) & (high <= together[:, 1])).all())
        held += ((alone[:, 0] <= low) & (high <= alone[:, 1])).mean()
    assert together_held >= 0.92 * 300
    assert held >= 0.94 * 300


def test_without_noise_ranks_are_certain_and_ties_are_not():
    together, alone = statistics.rank_sets([3.0, 2.0, 2.0], np.tile([3.0, 2.0, 2.0], (50, 1)))
    assert together.tolist() == alone.tolist() == [[1, 1], [2, 3], [2, 3]]


def test_parts_are_the_sums_of_their_items(frames):
    solution, one, _ = frames
    with_usage = solution.assign(Usage=np.where(solution["essay_id"] < "8", "Public", "Private"))
    evaluation = evaluate(with_usage, one)
    assert set(evaluation.scores) == {ALL, "Public", "Private"}
    for part in ("Public", "Private"):
        rows = with_usage["Usage"] == part
        assert evaluation.scores[part] == metric.score(solution[rows], one, "row_id")


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
    rounded = statistics.sampling.rounded(np.array([[2e-313], [1e300]]))
    assert rounded.tolist() == [[0.0, 1e300]]
    assert statistics.sampling.rounded(np.array([[2e-313], [0.0]])).tolist() == [[0.0, 0.0]]
