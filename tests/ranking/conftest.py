"""Fixtures that several tests of ranking share."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from examples.essays import make_competition
from podium import cli
from podium.ranking import questions, rank
from tests.support import command_line
from tests.support.finished_run import TEAMS, arguments

Call = Callable[..., tuple[int, str, str]]

# A submission is scored by what it says itself, for each row of the solution.
SAYS = """
import pandas as pd

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str, low: bool = 0) -> float:
    return float(solution.merge(submission, on=row_id_column_name)["says"].mean())

def higher_is_better(low: bool = False, **_: object) -> bool:
    return not low
"""


@pytest.fixture(autouse=True)
def _retries_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "SECONDS_BEFORE_RETRY", 0.0)


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with 60 essays and four teams, which no test may change.

    One team uploaded another team's file, and the runtimes have noise.
    """
    folder = tmp_path_factory.mktemp("finished")
    solution, submission = make_competition(60, seed=7, shared_words=False)
    solution.to_csv(folder / "solution.csv", index=False)
    (folder / "teams").mkdir()
    for number, team in enumerate(TEAMS[:3]):
        kept = np.random.default_rng(number).random(len(submission)) > 0.04 * number
        submission[kept].to_csv(folder / "teams" / f"{team}.csv", index=False)
    shutil.copy(folder / "teams" / "Cy.csv", folder / "teams" / "Di.csv")
    runtimes = {"team": TEAMS, "runtime": [130, 100, 110, 100.5], "runtime_error": [0.6, 0.6, None, None]}
    pd.DataFrame(runtimes | {"runs": ["3", "3", "", "1"]}).to_csv(folder / "runtimes.csv", index=False)
    options = ["--resamples", "60", "--variants", "--team", "Cy"]
    options += ["--title", "Essays <2026>", "--organizer", "A & B"]
    assert cli.main(["rank", *arguments(folder), *options]) == 0
    return folder


@pytest.fixture
def run_copy(finished_run: Path, tmp_path: Path) -> Path:
    """A copy of the finished run that a test may change."""
    shutil.copytree(finished_run, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a `podium` command, and returns its exit code, its output and its messages.

    Test modules that always give the same files have a fixture of this name that adds them.
    """

    def call(*command: object) -> tuple[int, str, str]:
        return command_line.run(capsys, *command)

    return call


@pytest.fixture
def says_folder(tmp_path: Path) -> Path:
    """A folder with the metric `SAYS`, solutions of two rows with and without parts, and no submission yet."""
    (tmp_path / "says.py").write_text(SAYS)
    (tmp_path / "solution.csv").write_text("id\n1\n2\n")
    (tmp_path / "parts.csv").write_text("id,Usage\n1,Public\n2,Private\n")
    (tmp_path / "teams").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test of a module leaves a copy of its `says_folder` for the others."""
    return tmp_path_factory.mktemp("kept") / "copy"


@pytest.fixture
def says(says_folder: Path) -> Callable[..., None]:
    """Writes a submission that says what it scores for each of the two rows."""

    def says(name: str, first: float, second: float = 0.5) -> None:
        path = says_folder / "teams" / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"id,says\n1,{first}\n2,{second}\n")

    return says


@pytest.fixture
def rank_says(says_folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs `podium rank` on the files of `says_folder`, with more arguments."""

    def rank(*more: object, solution: str = "solution.csv", teams: str = "teams") -> tuple[int, str, str]:
        submissions = says_folder / teams
        options = ["--metric", says_folder / "says.py", "--jobs", 1, "--out", says_folder / "final"]
        return command_line.run(capsys, "rank", says_folder / solution, submissions, *more, *options)

    return rank


@pytest.fixture(autouse=True)
def work_here(monkeypatch):
    """With one job, work in the process of the tests, which change what it does.

    That custom metrics are always scored apart is tested in processes of their own.
    """
    start = rank.start_workers

    def started(jobs, most, **how):
        return start(jobs, most) if jobs == 1 else start(jobs, most, **how)

    monkeypatch.setattr(rank, "start_workers", started)
