"""A board of a metric with ``score()`` alone says the same about chance as any other, wherever it is made."""

import json

import numpy as np
import pandas as pd
import pytest

import podium
from podium.common.errors import UsageError
from podium.ranking import half_samples, store
from podium.ranking.examining import How
from podium.statistics import halves
from tests.support.host_line import source_of

ACCURACY = source_of("return float((solution['y'] == submission['y']).mean())")
TEAMS = {"Ada": 0.05, "Bo": 0.1, "Cy": 0.1, "Di": 0.3}
ROWS = 120


@pytest.fixture
def files(tmp_path):
    """A competition with four teams, two of which sent the same rows in another order."""
    random = np.random.default_rng(0)
    solution = pd.DataFrame({"id": [f"r{row}" for row in range(ROWS)], "y": random.integers(2, size=ROWS)})
    solution.assign(patient=np.arange(ROWS) // 2).to_csv(tmp_path / "solution.csv", index=False)
    (tmp_path / "teams").mkdir()
    for team, wrong in TEAMS.items():
        y = np.where(random.random(ROWS) < wrong, 1 - solution["y"], solution["y"])
        solution.assign(y=y).to_csv(tmp_path / "teams" / f"{team}.csv", index=False)
    copied = pd.read_csv(tmp_path / "teams" / "Bo.csv").sample(frac=1, random_state=0)
    copied[["y", "id"]].to_csv(tmp_path / "teams" / "Cy.csv", index=False)
    (tmp_path / "accuracy.py").write_text(ACCURACY)
    return tmp_path


def rank(files, out="final", **more):
    """Rank the competition."""
    paths = files / "solution.csv", files / "teams"
    options = {"metric": files / "accuracy.py", "resamples": 50, "jobs": 1} | more
    return podium.rank(*paths, out=files / out, **options)


def test_the_board_says_what_chance_did(files):
    board = rank(files)
    certainty = board.certainty.set_index("team")
    assert certainty.loc["Ada", "first_again"] > 0.5 > certainty.loc["Di", "first_again"]
    assert certainty.loc["Bo", "first_again"] == certainty.loc["Cy", "first_again"]
    assert (certainty["score_low"] < certainty["score"]).all()
    assert (certainty["score"] < certainty["score_high"]).all()
    assert board.differences["low"].notna().sum() >= 1
    assert any("Bo and Cy sent the same file" in warning for warning in board.warnings)
    page = (files / "final" / "board.html").read_text()
    assert "<dt>chance</dt><dd>50 halves of the rows, seed 0</dd>" in page
    assert page.count('class="point"') == len(TEAMS)


@pytest.mark.slow
def test_other_runs_give_the_same_bits(files, monkeypatch):
    board = rank(files)
    tables = {path.name: path.read_bytes() for path in board.folder.glob("*.csv")}
    assert podium.verify(files / "final", jobs=1)
    two = rank(files, "two", jobs=2)
    again = podium.rank(again=files / "final", out=files / "again", jobs=1)
    for other in (two, again):
        written = {path.name: path.read_bytes() for path in other.folder.glob("*.csv")}
        written.pop("changes.csv", None)  # of the board that is made again
        assert written == tables
    # What an interrupted run has drawn is not drawn again.
    drawn = []
    monkeypatch.setattr(halves, "scores", lambda *of: drawn.append(of) or np.full(len(of[2]), 0.9))
    rank(files)
    assert not drawn
    for name in store.names(files / "final" / "store")[:-1]:
        store.path_of(files / "final" / "store", name).unlink()
    rank(files)
    assert drawn


@pytest.mark.slow
def test_the_number_of_draws_is_fixed_before_the_first_one(files, monkeypatch):
    monkeypatch.setattr(halves, "number_of_draws", lambda seconds, processes: 51)
    rank(files, resamples=None)
    monkeypatch.setattr(halves, "number_of_draws", lambda seconds, processes: 50)
    (files / "final" / "run.json").unlink()
    rank(files, resamples=None)
    assert json.loads((files / "final" / "run.json").read_text())["rules"]["resamples"] == 51
    assert podium.verify(files / "final", jobs=1)


@pytest.mark.slow
def test_a_slow_metric_gets_a_board_without_statements_and_the_option_that_draws(files, monkeypatch):
    monkeypatch.setattr(halves, "seconds_of_one", lambda asked, submission: 30.0)
    with pytest.warns(UserWarning, match="about 400 minutes, so nothing .*: resamples=200 draws them"):
        board = rank(files, resamples=None)
    assert board.certainty is None
    assert podium.verify(files / "final", jobs=1)


@pytest.mark.slow
def test_rows_of_one_patient_are_drawn_together(files):
    board = rank(files, items="patient")
    assert "60 patients decide." in board.summary
    assert board.certainty is not None
    assert podium.verify(files / "final", jobs=1)
    with pytest.raises(UsageError, match='items="day": expected a column of the solution'):
        rank(files, "other", items="day")


def test_too_few_items_say_nothing(files):
    board = rank(files, items="y")
    assert board.certainty is None
    assert "Nothing is said about chance: about 2 items decide." in board.summary


@pytest.mark.filterwarnings("ignore:.*depends on the order of a submission's rows")
def test_a_file_says_of_each_item_what_another_says_or_not(files):
    submissions = [pd.read_csv(files / "teams" / f"{team}.csv") for team in ("Ada", "Bo")]
    solution = pd.read_csv(files / "solution.csv")
    for head in ("", "COMPLETE_SUBMISSION = True\n"):
        (files / "accuracy.py").write_text(head + ACCURACY)
        results = [podium.score(solution, each, metric=str(files / "accuracy.py")) for each in submissions]
        how, truth = How(halves.WHOLE), results[0].solution
        one, other = (half_samples._fingerprint(how, truth, each.submission) for each in results)
        assert ((one == other) == (submissions[0]["y"] == submissions[1]["y"])).all()
        for each in (
            submissions[0].iloc[:, ::-1],
            submissions[0].assign(note=pd.Series("\udc80", submissions[0].index, dtype=object)),
        ):
            said = half_samples._fingerprint(how, truth, each)
            assert (said == one).all() == ("note" not in each)


WITH_STATISTICS = """

def right(solution, submission):
    return np.column_stack([solution["y"] == submission["y"], np.ones(len(solution))])

def share(sums):
    return sums[..., 0] / sums[..., 1]

def prepare(solution: pd.DataFrame, row_id_column_name: str) -> object:
    from podium.statistics import item_wise

    return item_wise(solution, row_id_column_name, right, share)
"""


@pytest.mark.slow
def test_rows_of_one_patient_are_drawn_together_by_a_metric_with_statistics(files):
    (files / "accuracy.py").write_text(ACCURACY + WITH_STATISTICS)
    alone, together = (rank(files, out, items=items) for out, items in (("a", ""), ("b", "patient")))
    assert "60 patients decide." in together.summary
    assert together.leaderboard["score"].tolist() == alone.leaderboard["score"].tolist()
    ends = ["score_low", "score_high"]
    assert (together.certainty[ends].to_numpy() != alone.certainty[ends].to_numpy()).any(axis=1).all()
    with pytest.raises(UsageError, match='items="day": expected a column of the solution'):
        rank(files, "other", items="day")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (29.0, ""),
        (
            61.0,
            "scoring 3,000 files on 200 halves of the items takes about 2 minutes; resamples=0 leaves it out\n",
        ),
    ],
)
def test_how_long_draws_take_is_said_before_they_begin(capsys, seconds, said):
    half_samples._say_how_long(seconds, 200, 3000)
    assert capsys.readouterr().err == said
