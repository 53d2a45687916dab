"""What each platform is given for a small competition; the slow tests do with it what the platforms do."""

import io
import json
import zipfile
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from podium.hosting.bundles import bundle
from podium.hosting.competition import Competition
from podium.hosting.kaggle import publish
from podium.hosting.terms import Terms
from podium.metric import hosted
from tests.support.host_line import ACCURACY, EQUAL, run_podium
from tests.support.kaggle_server import Site, answer_here, without_credentials

pytestmark = [pytest.mark.usefixtures("in_process"), pytest.mark.filterwarnings("ignore:Kaggle would refuse")]
TERMS = Terms(start=datetime(2027, 1, 15), switch=datetime(2027, 4, 1), end=datetime(2027, 4, 15))
PAGES = ["description", "evaluation", "data-description"]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The files of a competition, with the metric beside them."""
    (tmp_path / "files" / "public").mkdir(parents=True)
    (tmp_path / "files" / "private").mkdir()
    (tmp_path / "files" / "public" / "sample_submission.csv").write_text("id,answer\n1,0\n2,0\n3,0\n4,1\n")
    solution = "id,answer,Usage\n1,1,Public\n2,0,Public\n3,1,Private\n4,1,Private\n"
    (tmp_path / "files" / "private" / "solution.csv").write_text(solution)
    (tmp_path / "mine.py").write_text(ACCURACY.replace("BODY", EQUAL))
    return tmp_path / "files"


def bundled(platform: str, small: Path) -> Path:
    """The folder with a bundle."""
    metric = hosted.load(small.parent / "mine.py")
    competition = Competition(small, metric, {"row_id_column_name": "id"}, "Numbers", "0 or 1")
    bundle.bundle(platform, competition, TERMS, small.parent / platform)
    return small.parent / platform


def test_codabench_is_given_pages_tasks_and_phases(small: Path) -> None:
    with zipfile.ZipFile(bundled("codabench", small) / "competition.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    settings = json.loads(files["competition.yaml"])
    assert [(page["title"], page["file"]) for page in settings["pages"]] == [
        (name, f"pages/{name}.md") for name in PAGES
    ]
    assert settings["terms"] == "pages/rules.md"
    assert {f"pages/{name}.md" for name in (*PAGES, "rules")} <= files.keys()
    phases = [(each["name"], each["start"], each["end"], each["tasks"]) for each in settings["phases"]]
    assert phases == [
        ("Public", "2027-01-15 00:00:00", "2027-03-31 23:59:59", [0]),
        ("Private", "2027-04-01 00:00:00", "2027-04-15 00:00:00", [1]),
    ]
    solution = (small / "private" / "solution.csv").read_bytes()
    with_solution = [name for name, content in files.items() if content == solution]
    assert with_solution == [f"{task['reference_data']}/solution.csv" for task in settings["tasks"]]
    assert files["public_data/sample_submission.csv"] == files["starting_kit/sample_submission.csv"]
    (board,) = settings["leaderboards"]
    assert [(each["title"], each["sorting"], each["hidden"]) for each in board["columns"]] == [
        ("score", "desc", False)
    ]


def test_evalai_is_given_no_solution_and_the_worker_has_it(small: Path) -> None:
    out = bundled("evalai", small)
    solution = (small / "private" / "solution.csv").read_bytes()
    with zipfile.ZipFile(out / "challenge.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert solution not in files.values()
    assert {f"{name}.html" for name in (*PAGES, "rules")} <= files.keys()
    assert (out / "remote_worker" / "solution.csv").read_bytes() == solution
    settings = json.loads(files["challenge_config.yaml"])
    splits = [each["codename"] for each in settings["dataset_splits"]]
    assert (settings["title"], splits) == ("Numbers", ["public", "private"])


def test_kaggle_is_given_all_and_scores_the_sample(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_credentials(monkeypatch, tmp_path / "home")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(publish, "SECONDS_BETWEEN_LOOKS", 0.01)
    site = Site()
    site.score = lambda solution, submission: float(
        (solution.merge(submission, on="id")[["answer_x", "answer_y"]].nunique(axis=1) == 1).mean()
    )
    answer_here(monkeypatch, site)
    command = ["publish", "kaggle", small, "--metric", tmp_path / "mine.py", "--title", "Numbers as answers"]
    code, out, err = run_podium(capsys, *command, "--deadline", "2090-01-01")
    assert (code, err) == (0, "")
    done = dict.fromkeys(line.partition(":")[0] for line in out.splitlines() if line[0] != " ")
    steps = ["create", "pages", "data", "solution", "settings", "metric", "sandbox", "benchmark"]
    assert [*done] == [*steps, "launch", "to edit"]
    assert site.competition is not None
    assert set(site.pages) == {*PAGES, "rules"}
    assert site.files == {"sample_submission.csv": (small / "public" / "sample_submission.csv").read_bytes()}
    assert site.solution is not None
    pd.testing.assert_frame_equal(
        site.solution, pd.read_csv(io.BytesIO((small / "private" / "solution.csv").read_bytes()))
    )
    assert [(each["publicScore"], each["privateScore"]) for each in site.submissions] == [("0.50000",) * 2]
    assert len(site.benchmarks) == 1
