"""Every submission that is ranked is judged, once, by the same questions, whatever scores it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from podium.ranking import half_samples, passes
from podium.statistics import halves
from tests.ranking.conftest import Call
from tests.support.host_line import stay_in_process

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")]

HEAD = """
import numpy as np
import pandas as pd

CALLS = [0]

class ParticipantVisibleError(Exception):
    pass

def higher_is_better() -> bool:
    return True

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    share = float((solution["label"] == submission["label"]).mean())
    CALLS[0] += 1
"""
STATISTICS = """
def right(solution, submission):
    return np.column_stack([solution["label"] == submission["label"], np.ones(len(solution))])

def share_of(sums):
    return sums[..., 0] / sums[..., 1]

def prepare(solution: pd.DataFrame, row_id_column_name: str) -> object:
    from podium.statistics import item_wise
    return item_wise(solution, row_id_column_name, right, share_of)
"""
BREAKS = "on which the metric breaks the contract (no board was made):\n"
ONE_TEAM = {"cy"}
# How a metric goes on, what is said if there is no board, and else who is not on it.
METRICS = {
    "another score than its sums for one team": (
        f"    return share + .5 if share < .4 else share\n{STATISTICS}",
        f"1 submission {BREAKS}  cy/cy.csv: hosts.py: expected score() to be, up to rounding, ",
        set(),
    ),
    "a score that rises after the fourth call": (
        "    return share * 1.001 if CALLS[0] > 4 else share",
        "expected the same number whenever it is called with the same tables",
        set(),
    ),
    "random numbers": (
        "    return share + np.random.default_rng().random() / 1e6",
        f"5 submissions {BREAKS}  ada/ada.csv: hosts.py, line 13: score(): expected the same score",
        set(),
    ),
    "an error for one team": ("    return share if share > .4 else {}['x']", "", ONE_TEAM),
    "no number for one team": ("    return share if share > .4 else None", "", ONE_TEAM),
    "an error of any kind": ("    if share < .4: raise RuntimeError('no')\n    return share", "", ONE_TEAM),
    "numbers that are not finite": (
        f"    return share\n{STATISTICS}".replace(
            "np.ones(", "0 / (np.mean(solution.label == submission.label) > .4) + np.ones("
        ),
        "",
        ONE_TEAM,
    ),
    "a whole number for one team": ("    return int(share) if share == 1 else share", "", set()),
}
EACH = pytest.mark.parametrize(("body", "said", "rejected"), METRICS.values(), ids=METRICS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labels with weights, and five teams: Cy is seldom right, and Di is always."""
    random = np.random.default_rng(1)
    labels = pd.DataFrame({"id": [f"r{n:02}" for n in range(40)], "label": ["a", "b"] * 20})
    labels.assign(weight=random.integers(1, 5, 40)).to_csv(tmp_path / "labels.csv", index=False)
    (tmp_path / "teams").mkdir()
    for team, share in {"ada": 0.8, "bo": 0.7, "cy": 0.2, "di": 1.0, "ed": 0.6}.items():
        right = random.permutation(40) < 40 * share
        guess = labels["label"].where(right, labels["label"].map({"a": "b", "b": "a"}))
        labels.assign(label=guess).to_csv(tmp_path / "teams" / f"{team}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


RANK = ("rank", "labels.csv", "teams", "--metric", "hosts.py", "--no-boost", "--resamples", "0")


@EACH
def test_each_submission_is_judged(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch, body: str, said: str, rejected: set[str]
) -> None:
    """What a metric does for one submission rejects that one, and what makes its numbers doubtful stops all."""
    stay_in_process(monkeypatch, folder)
    (folder / "hosts.py").write_text(HEAD + body)
    code, _, err = call(*RANK, "--out", "board", "--jobs", "1")
    assert (code, said in err) == (4 if said else 0, True)
    if said:
        assert not Path("board/board.html").exists()
        return
    board = pd.read_csv("board/final_leaderboard.csv").set_index("team")["score"]
    right = {"di": 1.0, "ada": 0.8, "bo": 0.7, "ed": 0.6, "cy": 0.2}
    assert board.to_dict() == {team: score for team, score in right.items() if team not in rejected}


@EACH
def test_the_number_of_processes_decides_nothing(
    folder: Path, call: Call, body: str, said: str, rejected: set[str]
) -> None:
    """Nor does it where there are faults, or where a metric hides what it remembers."""
    (folder / "hosts.py").write_text(HEAD + body)
    ended = []
    for jobs in (2, 4):
        code, _, err = call(*RANK, "--out", "board", "--jobs", jobs)
        files = {path: path.read_bytes() for path in Path("board").rglob("*") if path.is_file()}
        for name in ("board.html", "run.json", ".lock"):  # the first two tell the time and the command
            files.pop(Path("board", name), None)
        ended.append((code, err.rpartition("error: ")[2] if code else rejected, files))
        Path("board").rename(f"board{jobs}")
    if "random" in body:
        assert [code for code, *_ in ended] == [4, 4]
    else:
        assert ended[0] == ended[1]


WEIGHTS = """    both = solution.rename(columns={"label": "truth"}).set_index(row_id_column_name)
    answers = submission.set_index(row_id_column_name)
    for name in answers:
        both[name] = answers[name]
    return float(((both["label"] == both["truth"]) * both["weight"]).sum() / both["weight"].sum())
"""


@pytest.mark.parametrize("teams", [{"ada", "mallory"}, {"mallory"}])
def test_a_column_that_takes_the_place_of_the_solutions_is_found_in_any_submission(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch, teams: set[str]
) -> None:
    """Whether the submission that is drawn has that column already or not."""
    stay_in_process(monkeypatch, folder)
    (folder / "hosts.py").write_text(HEAD + WEIGHTS)
    guess = pd.read_csv("teams/cy.csv")
    right = guess["label"] == pd.read_csv("labels.csv")["label"]
    guess.assign(weight=right * 1.0).to_csv("teams/mallory.csv", index=False)
    for path in Path("teams").iterdir():
        if path.stem not in teams:
            path.unlink()
    code, _, err = call(*RANK, "--out", "board", "--jobs", "1")
    assert code == 4
    assert "select the columns that you need before you join tables" in err


def test_an_optional_answer_may_have_the_name_of_a_column_of_the_solution(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_in_process(monkeypatch, folder)
    optional = """    given = submission["label"] if "label" in submission else "a"
    return float((solution["label"] == given).mean())
"""
    (folder / "hosts.py").write_text(HEAD + optional)
    assert call(*RANK, "--out", "board", "--jobs", "1")[0] == 0


def test_equal_files_are_scored_once_in_halves_too(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_in_process(monkeypatch, folder)
    (folder / "hosts.py").write_text(HEAD + "    return share\n")
    for number in range(100):
        Path(f"teams/copy{number}.csv").write_bytes(Path("teams/ada.csv").read_bytes())
    scored: list[str] = []
    for module, name in ((passes, "_score"), (half_samples, "_draw")):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *given, real=real, name=name: scored.append(name) or real(*given)
        )
    rank = [each for each in RANK if each not in ("--resamples", "0")]
    assert call(*rank, "--resamples", "200", "--out", "board", "--jobs", "1")[0] == 0
    assert scored.count("_score") == 5
    assert scored.count("_draw") == 5 * 200 / halves.AT_ONCE
    assert len(pd.read_csv("board/final_leaderboard.csv")) == 105


def test_a_metric_that_was_held_to_the_contract_is_noted_in_the_store(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_in_process(monkeypatch, folder)
    (folder / "hosts.py").write_text(HEAD + "    return share\n")
    held: list[object] = []
    real = passes.held
    monkeypatch.setattr(passes, "held", lambda *given: held.append(given) or real(*given))
    boards = []
    for _ in range(2):
        assert call(*RANK, "--out", "board", "--jobs", "1")[0] == 0
        boards.append(Path("board/final_leaderboard.csv").read_bytes())
    assert len(held) == 1
    assert boards[0] == boards[1]
