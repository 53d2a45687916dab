"""Intervals, and the paired comparison of two submissions."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evaluate
import metric
from competition import bootstrap, compare
from competition.errors import run
from tests.essays import SOLUTION_SAMPLE, SUBMISSION_SAMPLE, make_competition
from tests.frames import WHOLE, perfect, solution, submission, words

ROOT = Path(metric.__file__).parent
SOLUTION, SUBMISSION = str(ROOT / SOLUTION_SAMPLE), str(ROOT / SUBMISSION_SAMPLE)


class Mean:
    """An evaluation by the convention: the mean of a value per item, and another measure, never defined."""

    def __init__(self, values):
        self.values = np.asarray(values, dtype=np.float64)
        self.items = [str(number) for number in range(len(values))]

    @property
    def measures(self):
        return {"score": self.values.mean(), "undefined": math.nan}

    def resample(self, weights):
        means = weights @ self.values / weights.sum(axis=1)
        return np.stack([means, np.full(len(means), math.nan)], axis=1)

    def mix(self, other, swapped):
        mine = np.where(swapped, other.values, self.values).mean(axis=1)
        theirs = np.where(swapped, self.values, other.values).mean(axis=1)
        undefined = np.full(len(mine), math.nan)
        return np.stack([mine, undefined], axis=1), np.stack([theirs, undefined], axis=1)


def worse(submission, share, seed):
    """The submission without some of its rows."""
    return submission.sample(frac=share, random_state=seed)


@pytest.fixture(scope="module")
def frames():
    solution, submission = make_competition(60, seed=3, shared_words=False)
    return solution.drop(columns="Usage"), submission, worse(submission, 0.9, 1)


@pytest.fixture(scope="module")
def pair(frames):
    solution, one, other = frames
    prepared = metric.prepare(solution, "row_id")
    return prepared.evaluate(one), prepared.evaluate(other)


# --- mixtures ---------------------------------------------------------------------------------------


def test_a_mixture_is_the_score_of_swapped_frames(frames, pair):
    """Against frames in which the essays' rows are really swapped."""
    solution, one, other = frames
    prepared = metric.prepare(solution, "row_id")
    swapped = np.random.default_rng(0).integers(0, 2, (4, 60))
    mine, theirs = pair[0].mix(pair[1], swapped)
    for row, *measures in zip(swapped, mine, theirs):
        essays = {essay for essay, swap in zip(pair[0].items, row.tolist()) if swap}
        for kept, taken, found in ((one, other, measures[0]), (other, one, measures[1])):
            mixture = pd.concat([kept[~kept["essay_id"].isin(essays)], taken[taken["essay_id"].isin(essays)]])
            expected = prepared.evaluate(mixture).measures
            assert found == pytest.approx(list(expected.values()), rel=1e-12)


def test_to_swap_nothing_or_all(pair):
    one, other = (list(evaluation.measures.values()) for evaluation in pair)
    mine, theirs = pair[0].mix(pair[1], np.array([[False] * 60, [True] * 60]))
    assert mine == pytest.approx(np.array([one, other]), rel=1e-12)
    assert theirs == pytest.approx(np.array([other, one]), rel=1e-12)


def test_only_the_same_essays_can_be_mixed(frames, pair):
    solution, one, _ = frames
    part = metric.evaluate(solution.iloc[:50], one, "row_id")
    with pytest.raises(ValueError, match="same essays"):
        pair[0].mix(part, np.zeros((1, 60)))


def test_undefined_measures_stay_undefined():
    truth = solution(("A", "Lead", words(0, 9), 1))
    evaluation = metric.evaluate(truth, submission(("A", "Claim", words(0, 9), 1)), "row_id", **WHOLE)
    other = metric.evaluate(truth, perfect(truth), "row_id", **WHOLE)
    table = compare.compare(evaluation, other, 20).set_index("measure")
    assert table.loc["score", ["value", "other", "difference"]].tolist() == [0, 1, -1]
    assert table.loc["F1 of Claim", ["difference", "low", "high", "p"]].isna().all()
    assert compare.intervals(evaluation, 20).set_index("measure").loc["F1 of Claim"].isna().all()


# --- p-values ---------------------------------------------------------------------------------------


def slow_p(one, other, swaps):
    """Approximate randomisation, swap by swap and item by item."""
    observed = abs(sum(one) / len(one) - sum(other) / len(other))
    as_large = 0
    for swap in swaps.tolist():
        mine = sum(b if swapped else a for a, b, swapped in zip(one, other, swap)) / len(one)
        theirs = sum(a if swapped else b for a, b, swapped in zip(one, other, swap)) / len(one)
        as_large += abs(mine - theirs) >= observed - 1e-9
    return (as_large + 1) / (len(swaps) + 1)


@pytest.mark.parametrize("seed", range(5))
def test_p_values_against_a_slow_one(seed, monkeypatch):
    monkeypatch.setattr(bootstrap, "CELLS_AT_ONCE", 40 * 7)  # so that swaps come in several parts
    random = np.random.default_rng(seed)
    one, other = random.integers(0, 5, (2, 40)) / 4
    swaps = np.random.default_rng([seed, 1]).integers(0, 2, (200, 40), dtype=np.uint8)
    table = compare.compare(Mean(one), Mean(other), 200, seed)
    assert table["p"][0] == slow_p(one.tolist(), other.tolist(), swaps)
    assert math.isnan(table["p"][1])


def test_p_values_of_the_metric_against_scoring_each_mixture(frames, pair):
    solution, one, other = frames
    table = compare.compare(*pair, resamples=25, seed=4)
    swaps = np.random.default_rng([4, 1]).integers(0, 2, (25, 60), dtype=np.uint8)
    prepared = metric.prepare(solution, "row_id")
    observed = np.abs(table["difference"].to_numpy())
    as_large = np.zeros(len(table))
    for swap in swaps:
        essays = {essay for essay, swapped in zip(pair[0].items, swap.tolist()) if swapped}
        scores = [
            list(
                prepared.evaluate(
                    pd.concat([a[~a["essay_id"].isin(essays)], b[b["essay_id"].isin(essays)]])
                ).measures.values()
            )
            for a, b in ((one, other), (other, one))
        ]
        as_large += np.abs(np.subtract(*scores)) >= observed - 1e-12
    assert table["p"].to_numpy() == pytest.approx((as_large + 1) / 26)


def test_equally_good_submissions_have_uniform_p_values():
    """Exchangeable systems: no p-value is likelier than another; so P(p <= x) = x for x = k / (n + 1)."""
    random = np.random.default_rng(0)
    p = np.array(
        [
            compare.compare(Mean(pair[0]), Mean(pair[1]), 99, seed)["p"][0]
            for seed, pair in enumerate(random.normal(size=(600, 2, 30)))
        ]
    )
    for level in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9):
        deviation = math.sqrt(level * (1 - level) / len(p))
        assert abs((p <= level + 1e-9).mean() - level) < 4 * deviation


def test_equally_good_submissions_of_the_metric():
    """Each pair swaps the essays of two models at random; few differ significantly."""
    truth, one = make_competition(40, seed=1, shared_words=False)
    truth = truth.drop(columns="Usage")
    prepared = metric.prepare(truth, "row_id", subpopulation_column_names="ell_status", temperature=5.0)
    models = [prepared.evaluate(worse(one, 0.8, seed)) for seed in range(12)]
    p = [compare.compare(a, b, 99)["p"][0] for number, a in enumerate(models) for b in models[:number]]
    assert 0.3 < np.mean(p) < 0.7
    assert 0 < np.mean(np.array(p) <= 0.3) < 0.6


def test_a_clear_difference_is_significant_in_both_directions(frames):
    truth, one, _ = frames
    prepared = metric.prepare(truth, "row_id")
    good, bad = prepared.evaluate(one), prepared.evaluate(worse(one, 0.3, 0))
    table, back = compare.compare(good, bad, 199), compare.compare(bad, good, 199)
    assert table["p"][0] == back["p"][0] == 1 / 200
    assert table["difference"][0] == -back["difference"][0] > 0
    assert table["low"][0] > 0
    assert table["low"].to_numpy() == pytest.approx(-back["high"].to_numpy(), rel=1e-12, nan_ok=True)


def test_a_submission_does_not_differ_from_itself(pair):
    table = compare.compare(pair[0], pair[0], 50)
    assert (table["p"] == 1).all()
    assert (table[["difference", "low", "high"]] == 0).all(axis=None)


def test_without_mixtures_there_is_no_p_value():
    class Unmixed:
        def __init__(self, values):
            whole = Mean(values)
            self.items, self.measures, self.resample = whole.items, whole.measures, whole.resample

    row = compare.compare(Unmixed([1.0, 2.0, 4.0]), Unmixed([0.0, 1.0, 3.0]), 10).iloc[0]
    assert row[["difference", "low", "high"]].tolist() == pytest.approx([1, 1, 1])
    assert math.isnan(row["p"])


# --- intervals --------------------------------------------------------------------------------------


def test_the_interval_of_a_mean_is_that_of_the_normal_distribution():
    values = np.random.default_rng(0).normal(size=400)
    row = compare.intervals(Mean(values), 4000).iloc[0]
    error = values.std() / math.sqrt(len(values))
    assert row["value"] == pytest.approx(values.mean())
    assert [row["low"], row["high"]] == pytest.approx(
        [values.mean() - 1.96 * error, values.mean() + 1.96 * error], abs=0.15 * error
    )


def test_paired_intervals_use_the_same_draws():
    """Submissions that differ by a constant differ by it on every draw."""
    values = np.random.default_rng(1).normal(size=50)
    row = compare.compare(Mean(values + 0.25), Mean(values), 50).iloc[0]
    assert [row["low"], row["high"]] == pytest.approx([0.25, 0.25])


def test_seeds(pair):
    tables = [compare.compare(*pair, 30, seed) for seed in (1, 1, 2)]
    pd.testing.assert_frame_equal(tables[0], tables[1])
    assert not tables[0].equals(tables[2])


def test_an_interval_of_nothing_is_nothing():
    low, high = bootstrap.interval([[1.0, math.nan], [3.0, math.nan]])
    assert low[0] == pytest.approx(1.05)
    assert high[0] == pytest.approx(2.95)
    assert math.isnan(low[1])
    assert math.isnan(high[1])


def test_draws_come_in_parts_that_fit_into_memory():
    assert bootstrap.rows_at_once(15_594) * 15_594 * 8 <= 32 * 2**20
    assert bootstrap.rows_at_once(10**8) == 1


# --- the command line -------------------------------------------------------------------------------


@pytest.fixture
def call(capsys):
    def call(*arguments):
        try:
            code = run(evaluate.main, [str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return call


@pytest.fixture
def other(tmp_path):
    frame = pd.read_csv(SUBMISSION, dtype=str)
    frame.iloc[::2].to_csv(tmp_path / "other.csv", index=False)
    return tmp_path / "other.csv"


def test_bootstrap_prints_a_table(call):
    code, out, _ = call(SOLUTION, SUBMISSION, "--bootstrap", 50, "--seed", 3)
    assert code == 0
    title, header, first = out.split("\n\n")[3].splitlines()[:3]
    assert title == "95% intervals (50 resamples, seed 3)"
    assert header.split() == ["measure", "value", "low", "high"]
    evaluation = metric.evaluate(*(pd.read_csv(path) for path in (SOLUTION, SUBMISSION)), "row_id")
    expected = compare.intervals(evaluation, 50, 3).iloc[0]
    assert first.split() == ["score", *(f"{expected[name]:.6f}" for name in ("value", "low", "high"))]


def test_compare_prints_a_table(call, other):
    code, out, _ = call(SOLUTION, SUBMISSION, "--compare", other, "--bootstrap", 50)
    assert code == 0
    table = out.split("\n\n")[4].splitlines()
    assert table[0] == "Compared with other.csv (50 resamples, seed 0)"
    assert table[1].split() == ["measure", "value", "other", "difference", "low", "high", "p"]
    assert len(table) == 2 + 14
    _, out, _ = call(SOLUTION, SUBMISSION, "--compare", other)
    assert "Compared with other.csv (1,000 resamples, seed 0)" in out
    assert "95% intervals" not in out


def test_json_has_both(call, other):
    report = json.loads(call(SOLUTION, SUBMISSION, "--json", "--compare", other, "--bootstrap", 20)[1])
    assert list(report)[-2:] == ["intervals", "comparison"]
    assert report["intervals"][0]["measure"] == report["comparison"][0]["measure"] == "score"
    assert report["comparison"][0]["value"] == report["score"]


@pytest.mark.parametrize("number", ["0", "-3", "abc", "1.5", ""])
def test_wrong_numbers(call, number):
    code, out, err = call(SOLUTION, SUBMISSION, "--bootstrap", number)
    assert (code, out) == (2, "")
    assert "argument --bootstrap" in err


def test_a_rejected_submission_to_compare_with(call, other):
    frame = pd.read_csv(other, dtype=str)
    frame.loc[0, "predictionstring"] = "5 4"
    frame.to_csv(other, index=False)
    code, out, err = call(SOLUTION, SUBMISSION, "--compare", other)
    assert (code, out) == (3, "")
    assert err.startswith(f"error: {other}: predictionstring is wrong in 1 row of the submission")


def test_a_missing_submission_to_compare_with(call):
    code, out, err = call(SOLUTION, SUBMISSION, "--compare", "none.csv")
    assert (code, out, err) == (2, "", "error: cannot read none.csv: No such file or directory\n")


def test_metrics_that_do_not_offer_it(call, tmp_path):
    (tmp_path / "bare.py").write_text(
        "def score(solution, submission, row_id_column_name: str):\n    return 0.5\n"
    )
    (tmp_path / "scored.py").write_text(
        "class Evaluation:\n    score, signature = 0.5, 'x'\n\n"
        "def score(solution, submission, row_id_column_name: str):\n    return 0.5\n\n"
        "def evaluate(solution, submission, row_id_column_name: str):\n    return Evaluation()\n"
    )
    for option, value, lacking in (
        ("--bootstrap", 5, "measures, items, resample"),
        ("--compare", SUBMISSION, "measures, items, resample"),
        ("--segments", tmp_path / "out.csv", "segments"),
    ):
        for name, missing in (("bare.py", "evaluate()"), ("scored.py", lacking)):
            arguments = (SOLUTION, SUBMISSION, "--metric", tmp_path / name, option, value)
            assert call(*arguments) == (2, "", f"error: {option}: {name} does not offer {missing}\n")
    assert not (tmp_path / "out.csv").exists()
