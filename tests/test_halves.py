"""Half-samples say what chance may have done to the score of a metric with ``score()`` alone."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium import statistics
from podium.common.errors import UsageError
from podium.scoring import evaluating
from podium.statistics import Doubt, Reason, halves
from tests.support import command_line

ROWS = 300

# Each of them keeps to what a platform gives it.
METRICS = {
    "mean": "return float((solution['y'] == submission['y']).mean())",
    "no duplicates": """if solution["id"].duplicated().any() or submission["id"].duplicated().any():
        raise ValueError("twice")
    return float((solution['y'] == submission['y']).mean())""",
    "reads ids": """both = solution.merge(submission, on="id", validate="one_to_one")
    assert len(both) == len(solution) == len(submission)
    return float((both["y_x"] == both["y_y"]).mean())""",
    "within queries": """right = (solution["y"] == submission["y"]).groupby(solution["query"])
    assert (right.size() == 3).all()
    return float(right.min().mean())""",
    "worst of eight": "return float((solution['y'] == submission['y']).groupby(solution['part']).mean().min())",
    "often fails": """if not (solution['id'] == '7').any():
        raise ValueError("seven")
    return 0.5""",
}


@pytest.fixture(autouse=True)
def _no_process_is_started(monkeypatch):
    """Or the speed of the machine would decide, and starting one takes longer than all draws."""
    monkeypatch.setattr(halves, "SECONDS_TO_START", np.inf)


@pytest.fixture
def scored(tmp_path: Path):
    """Scores two submissions with one of the metrics, of which the first is better."""

    def scored(name: str, **columns: object) -> list[evaluating.Evaluation]:
        head = "import pandas as pd\n\nCOMPLETE_SUBMISSION = False\n\n\n"
        of = "solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str"
        path = tmp_path / f"{name.replace(' ', '_')}.py"
        path.write_text(f"{head}def score({of}) -> float:\n    {METRICS[name]}\n")
        random = np.random.default_rng(0)
        numbers = np.arange(ROWS)
        solution = pd.DataFrame(
            {
                "id": numbers.astype(str),
                "y": random.integers(2, size=ROWS),
                "query": numbers // 3,
                "part": numbers % 8,
            }
        ).assign(**columns)
        results = []
        for wrong in (0.1, 0.3):
            y = np.where(random.random(ROWS) < wrong, 1 - solution["y"], solution["y"])
            submission = pd.DataFrame({"id": solution["id"], "y": y}).sample(frac=1, random_state=0)
            results.append(podium.score(solution, submission, metric=str(path)))
        return results

    return scored


def test_half_of_each_part_is_drawn_and_rows_of_an_item_stay_together():
    items = halves.Items(np.array([0, 0, 1, 2, -1, 3, 4, 5, 6]), np.array([0, 0, 0, 1, 1, 1, 1]))
    draws = np.stack([halves.half(items, 0, number) for number in range(400)])
    assert not draws[:, 4].any()
    assert (draws[:, 0] == draws[:, 1]).all()
    of_first, of_second = draws[:, 1:4].sum(axis=1), draws[:, 5:].sum(axis=1)
    assert set(of_first) == {1, 2}  # of three items
    assert set(of_second) == {2}
    assert draws[:, [0, 2, 3, 5, 6, 7, 8]].mean(axis=0) == pytest.approx(0.5, abs=0.1)
    assert (halves.half(items, 0, 3) == draws[3]).all()
    assert (halves.half(items, 1, 3) != draws[3]).any()


def test_the_spread_of_a_mean_over_halves_is_its_standard_error(scored):
    better, worse = scored("mean")
    table = statistics.intervals(better, 400).iloc[0]
    error = np.sqrt(better.score * (1 - better.score) / ROWS)
    assert table["low"] < table["value"] == better.score < table["high"]
    assert table["high"] - table["low"] == pytest.approx(2 * 1.96 * error, rel=0.1)
    compared = statistics.compare(better, worse, 200)
    assert compared.score.value == better.score - worse.score
    assert 0 < compared.score.low < compared.score.value < compared.score.high
    assert compared.score.ahead > 0.99
    half = (compared.score.high - compared.score.low) / 2
    assert compared.score.detectable == pytest.approx(2.8 / 1.96 * half, rel=1e-3)
    assert compared.table["other"].tolist() == [worse.score]


@pytest.mark.parametrize("name", ["no duplicates", "reads ids"])
def test_nothing_is_repeated_in_a_half(scored, name):
    assert (draws_of(scored(name)[1]) == draws_of(scored("mean")[1])).all()


def draws_of(evaluation: evaluating.Evaluation, number: int = 20) -> np.ndarray:
    """The scores of a submission on a few halves."""
    asked = halves.Asked(evaluation.solution, halves.WHOLE, "", 0)
    return halves.scores(asked, evaluation.submission, range(number))


def test_rows_with_one_value_stay_together(scored):
    better, worse = scored("within queries")
    whole = statistics.compare(better, worse, 200, items="query")
    assert whole.score.doubt is None
    assert whole.score.low < whole.score.value < whole.score.high
    assert np.isnan(draws_of(better)).all()  # queries are broken
    with pytest.raises(UsageError, match='items="patient": expected a column of the solution, found id, y'):
        statistics.compare(better, worse, 200, items="patient")


@pytest.mark.parametrize(("name", "reason"), [("worst of eight", Reason.FAR), ("often fails", Reason.FAILED)])
@pytest.mark.slow
def test_nothing_is_said_about_what_halves_cannot_tell(scored, name, reason):
    table = statistics.intervals(scored(name)[0], 200)
    assert table["low"].isna().all()
    assert table["note"].iloc[0].startswith(str(Doubt(reason))[:20])


@pytest.mark.slow
def test_a_difference_of_draws_that_fail_has_no_interval(scored):
    compared = statistics.compare(*scored("often fails"), 200)
    assert compared.score.doubt.reason is Reason.FAILED
    assert np.isnan([compared.score.low, compared.score.high]).all()


@pytest.mark.slow
def test_what_moves_both_scores_alike_is_not_in_their_difference(scored):
    """On halves of the items the worst of eight is .04 lower for both, and their difference is the same."""
    compared = statistics.compare(*scored("worst of eight"), 200)
    assert compared.score.doubt is None
    assert 0 < compared.score.low < compared.score.value < compared.score.high


@pytest.mark.parametrize(("deciding", "told"), [(1, 1), (3, 3), (40, None)])
def test_draws_that_few_items_decide_say_nothing(deciding, told):
    """Of 300 items, some have large errors, as under a metric of squares."""
    values = np.where(np.arange(300) < deciding, 100.0, np.random.default_rng(0).random(300))
    items = halves.Items(np.arange(300), np.zeros(300, dtype=np.int64))
    draws = np.array([values[halves.half(items, 0, number)].mean() for number in range(1000)])
    doubt = halves.centered(float(values.mean()), draws).doubt
    assert doubt == (None if told is None else Doubt(Reason.FEW_ITEMS, told))
    assert halves.centered(0.5, np.full(200, 0.5)).doubt is None  # equal draws


def test_items_are_named_where_a_metric_fails_on_most_halves():
    """Such as one of pictures that have several rows each."""
    told = [str(halves.centered(0.5, np.repeat([0.5, np.nan], (200 - n, n))).doubt) for n in (60, 200)]
    assert [" on 30% of the halves of the items" in told[0], "--items" in told[0]] == [True, False]
    assert re.search(r" on 100% of the halves of the items; if .* give their column as items$", told[1])


def test_a_score_of_the_fifty_best_items_is_another_one_on_quarters():
    """On halves, the fifty best are worse on average, but the discounted gain of the best order falls, too."""
    random = np.random.default_rng(2)
    truth = random.standard_normal(500)
    answers, gains = truth + random.normal(0, 0.7, 500), np.maximum(truth, 0)
    items = halves.Items(np.arange(500), np.zeros(500, dtype=np.int64))

    def ndcg(kept):
        discounts = 1 / np.log2(np.arange(2, 52))
        first = gains[kept][np.argsort(-answers[kept])[:50]]
        return first @ discounts / (np.sort(gains[kept])[::-1][:50] @ discounts)

    score = ndcg(np.ones(500, dtype=bool))
    drawn, quarters = (
        np.array([ndcg(halves.half(items, 0, number, parts)) for number in range(200)]) for parts in (2, 4)
    )
    assert halves.centered(score, drawn).doubt is None
    assert halves.centered(score, drawn, quarters).doubt == Doubt(Reason.FAR)


def test_public_and_private_are_halved_each(scored):
    parts = np.where(np.arange(ROWS) < 30, "Public", "Private")
    better, _ = scored("mean", Usage=parts)
    items = better.solution.items_of(evaluating.ALL)
    for number in range(5):
        kept = halves.half(items, 0, number)
        assert [int(kept[:30].sum()), int(kept[30:].sum())] == [15, 135]
    private = better.solution.items_of("Private")
    assert not halves.half(private, 0, 0)[:30].any()


def test_a_part_is_compared_with_its_own_scores(scored):
    parts = np.where(np.arange(ROWS) < 30, "Public", "Private")
    better, worse = scored("mean", Usage=parts)
    public, private = (
        statistics.compare(better, worse, 200, part=part).score for part in ("Public", "Private")
    )
    for part, compared in zip(("Public", "Private"), (public, private)):
        assert compared.value == better.scores[part] - worse.scores[part]
    assert public.detectable > private.detectable  # of 30 and of 270 rows


def test_a_row_that_answers_no_item_stays_in_a_complete_submission(tmp_path):
    path = tmp_path / "complete.py"
    path.write_text(
        "import pandas as pd\n\nCOMPLETE_SUBMISSION = True\n\n\n"
        "def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:\n"
        "    assert set(submission['id']) == {*solution['id'], 'x'}\n"
        "    return float(len(submission))\n"
    )
    solution = pd.DataFrame({"id": list("aabbccdd"), "y": 1})
    submission = pd.DataFrame({"id": [*"abcd", "x"], "y": 0})
    evaluation = podium.score(solution, submission, metric=str(path))
    assert draws_of(evaluation, 5).tolist() == [3.0] * 5


@pytest.mark.slow
def test_any_process_gives_the_same_draws(scored, monkeypatch):
    better, worse = scored("mean")
    alone = statistics.compare(better, worse, 200, jobs=1)
    monkeypatch.setattr(halves, "SECONDS_TO_START", 0.0)
    assert statistics.compare(better, worse, 200, jobs=2).table.equals(alone.table)


def test_a_submission_is_drawn_once_however_often_it_is_compared(scored, monkeypatch):
    better, worse = scored("mean")
    calls: list[int] = []
    score_some = evaluating.Solution.score_some
    monkeypatch.setattr(evaluating.Solution, "score_some", lambda *given: calls.append(1) or score_some(*given))
    statistics.intervals(better, 200)
    of_one = len(calls)
    statistics.compare(better, worse, 200)
    assert of_one <= len(calls) <= 2 * of_one
    statistics.compare(worse, better, 200)
    assert len(calls) < 2 * of_one + 10  # but for those that are timed
    assert of_one > 200


def test_a_slow_metric_is_told_what_to_do(scored, monkeypatch):
    better, worse = scored("mean")
    monkeypatch.setattr(halves, "seconds_of_one", lambda asked, submission: 9.0)
    compared = statistics.compare(better, worse, jobs=2)
    assert compared.score.doubt.reason is Reason.TOO_SLOW
    assert str(compared.score.doubt) == "200 halves of the items take about 30 minutes"
    assert np.isnan(compared.score.low)


def test_a_metric_with_statistics_draws_its_items_together_too():
    solution, submission = (pd.read_csv(f"{name}.csv") for name in ("solution_sample", "sample_submission"))
    result = podium.score(solution, submission)
    # Each essay belongs to itself alone, so the notes are those of essays.
    own, alone = (statistics.intervals(result, 50, items=column)["note"] for column in ("essay_id", ""))
    assert own.tolist() == alone.tolist()
    with pytest.raises(UsageError, match='items="discourse_type": expected one value for all rows of an item'):
        statistics.intervals(result, 50, items="discourse_type")


def test_a_difference_is_asked_for_its_own_doubts():
    """Both scores are lower on quarters by the same amount, which says nothing against their difference."""
    random = np.random.default_rng(0)
    shared, own = random.normal(0, 0.02, 200), random.normal(0, 0.01, (2, 200))
    on_quarters = random.normal(0, 0.01, (2, 50)) - 0.1
    mine, theirs = (
        halves.centered(score, score + shared + own[side], score + on_quarters[side])
        for side, score in enumerate((0.7, 0.9))
    )
    assert mine.doubt == theirs.doubt == Doubt(Reason.FAR)
    assert halves.doubt_of_difference(-0.2, mine, theirs) is None
    assert halves.doubt_of_difference(-0.1, mine, theirs) == Doubt(Reason.FAR)
    nothing = halves.Centered(np.empty(0), Doubt(Reason.TOO_SLOW, 9))
    assert halves.doubt_of_difference(-0.2, nothing, nothing) == Doubt(Reason.TOO_SLOW, 9)


def test_draws_show_that_they_go_on(monkeypatch, capsys, tmp_path):
    """Without a terminal there is a line every ten seconds, and here after each task."""
    monkeypatch.setattr("podium.common.progress.SECONDS_BETWEEN_LINES", 0.0)
    rows = [f"{number},{number % 2}" for number in range(40)]
    for name, answers in (("solution", rows), ("a", rows), ("b", [f"{number},1" for number in range(40)])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,y", *answers, ""]))
    (tmp_path / "acc.py").write_text(
        "def score(solution, submission, row_id_column_name):\n"
        "    return float((solution['y'].to_numpy() == submission['y'].to_numpy()).mean())\n"
    )
    paths = [tmp_path / f"{name}.csv" for name in ("solution", "a", "b")]
    code, _, err = command_line.run(
        capsys, "score", *paths, "--metric", tmp_path / "acc.py", "--bootstrap", 200
    )
    assert code == 0
    assert re.search(r"scoring parts of the items: [1-9]\d* of \d+, about \d+ s left", err)
