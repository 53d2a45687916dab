"""`podium rank` reads the host's file beside each submission, for READ//ABLE's M7."""

import hashlib
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from podium.common.errors import HostError
from podium.contest import reading
from podium.metric import hosted
from podium.metric.parameters import parse_parameters
from podium.scoring import evaluating
from podium.tables.formats import read_table

SAMPLES = Path(__file__).parent.parent.parent / "metrics" / "readable" / "samples"
WEIGHTS = "weights=M1=1,M2=2,M3=1,M4=1,M5=1,M6=0,M7=1"


@pytest.fixture
def folder(tmp_path):
    """Three teams with the same markups but other judgments of the experts, and a manifest."""
    solution, submission, side = (
        pd.read_csv(SAMPLES / f"{name}.csv").head(4) for name in ("solution", "submission", "explanations")
    )
    solution.to_csv(tmp_path / "solution.csv", index=False)
    submission.to_csv(tmp_path / "markups.csv", index=False)
    (tmp_path / "judged").mkdir()
    for team, m7 in {"Ada": 20, "Bo": 90, "Cy": 50}.items():
        side.assign(m7=m7).to_csv(tmp_path / "judged" / f"{team}.csv", index=False)
    rows = [(team, "markups.csv", f"judged/{team}.csv") for team in ("Ada", "Bo", "Cy")]
    pd.DataFrame(rows, columns=["team", "path", "side"]).to_csv(tmp_path / "manifest.csv", index=False)
    return tmp_path


@pytest.fixture
def rank(folder, call):
    """Runs `podium rank` on the folder."""

    def rank():
        inputs = ["solution.csv", "manifest.csv", "--metric", "readable", "--jobs", 1, "--set", WEIGHTS]
        inputs[:2] = [folder / name for name in inputs[:2]]
        return call("rank", *inputs, "--out", folder / "final", "--resamples", 50)

    return rank


def scores(folder: Path, out: str = "final") -> dict[str, float]:
    """The score of each team on the board."""
    table = read_table(folder / out / "final_leaderboard.csv", {"team"}, HostError)  # to the last bit
    return dict(zip(table["team"], table["score"]))


def expected(folder: Path, *more: str) -> dict[str, float]:
    """The score of each team with its own file of judgments."""
    metric = hosted.load("readable")
    parameters = parse_parameters(metric, [WEIGHTS, *more])
    solution = evaluating.prepare(
        metric, reading.read_solution(metric, folder / "solution.csv", parameters), parameters
    )
    frame = reading.read_submission(metric, folder / "markups.csv", parameters)
    return {
        side.stem: evaluating.evaluate(solution, reading.add_side(solution, frame, side)).scores[
            solution.deciding
        ]
        for side in sorted((folder / "judged").glob("*.csv"))
    }


def test_each_submission_is_scored_with_its_own(folder, rank):
    code, _, err = rank()
    assert code == 0, err
    scored = scores(folder)
    assert scored == expected(folder)
    assert list(scored) == ["Bo", "Cy", "Ada"]
    facts = json.loads((folder / "final" / "run.json").read_text())
    markups = hashlib.sha256((folder / "markups.csv").read_bytes()).hexdigest()
    for each in facts["submissions"]:
        side = (folder / "judged" / f"{each['team']}.csv").read_bytes()
        assert each["sha256"] == markups
        assert each["side_sha256"] == hashlib.sha256(side).hexdigest()
    files = pd.read_csv(folder / "final" / "all_submissions.csv")
    assert files["side_sha256"].tolist() == [each["side_sha256"] for each in facts["submissions"]]
    similar = pd.read_csv(folder / "final" / "similar.csv")
    assert len(similar) >= 2  # the markups are the same, whoever judged them


def test_a_folder_of_the_host_s_files(folder, call):
    """Each of a team's two files has its own judgments."""
    for name in ("Ada", "Bo/first", "Bo/second"):
        for place in ("teams", "judged"):
            (folder / place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "markups.csv", folder / "teams" / f"{name}.csv")
    judged = pd.read_csv(folder / "judged" / "Bo.csv")
    for name, m7 in (("first", 90), ("second", 1)):
        judged.assign(m7=m7).to_csv(folder / "judged" / "Bo" / f"{name}.csv", index=False)
    inputs = [folder / "solution.csv", folder / "teams", "--metric", "readable", "--set", WEIGHTS, "--jobs", 1]
    arguments = ["rank", *inputs, "--resamples", 50, "--side", folder / "judged", "--out"]
    code, _, err = call(*arguments, folder / "final")
    assert code == 0, err
    assert scores(folder) == {team: score for team, score in expected(folder).items() if team != "Cy"}
    files = pd.read_csv(folder / "final" / "all_submissions.csv").set_index("submission")
    assert files["score"]["second.csv"] < files["score"]["first.csv"]
    assert call("verify", folder / "final", "--jobs", 1)[0] == 0
    (folder / "judged" / "Ada.csv").unlink()
    code, out, err = call(*arguments, folder / "other")
    assert (code, out) == (2, "")
    assert f"--side {folder / 'judged'}: expected a file for every submission, found no Ada.csv" in err


@pytest.mark.slow
def test_from_the_store_and_verified(folder, rank, call):
    rank()
    arguments = ["--again", folder / "final", "--out", folder / "other", "--jobs", 1]
    assert call("rank", *arguments)[0] == 0
    assert scores(folder, "other") == expected(folder)
    arguments[3] = folder / "average"
    assert call("rank", *arguments, "--set", "measure=m_avg")[0] == 0
    assert scores(folder, "average") == expected(folder, "measure=m_avg")
    assert call("verify", folder / "final", "--jobs", 1)[0] == 0
    judged = pd.read_csv(folder / "judged" / "Cy.csv").assign(m7=51)
    judged.to_csv(folder / "judged" / "Cy.csv", index=False)
    code, _, err = call("verify", folder / "final", "--jobs", 1)
    assert code == 1
    assert "\nCy/markups.csv, the side file: SHA-256 is " in err
    assert "final_leaderboard.csv comes out differently" in err


@pytest.mark.parametrize(
    ("change", "expected_code", "message"),
    [
        # A file that is missing may be on a share that is not mounted; a wrong table is wrong.
        (lambda file: file.unlink(), 2, "Bo.csv: No such file or directory"),
        (lambda file: file.write_text("document_id,m8\n"), 4, "the side file: expected the column q"),
    ],
)
def test_a_wrong_file_is_the_host_s_fault(folder, rank, change, expected_code, message):
    change(folder / "judged" / "Bo.csv")
    code, out, err = rank()
    assert (code, out) == (expected_code, "")
    assert "error: 1 submission could not be scored, through no fault of its own" in err
    assert message in err.splitlines()[-1]
    assert not (folder / "final" / "rejected.csv").exists()


def test_without_one_where_it_is_needed(folder, rank):
    manifest = pd.read_csv(folder / "manifest.csv")
    manifest.loc[2, "side"] = None
    manifest.to_csv(folder / "manifest.csv", index=False)
    code, _, err = rank()
    assert code == 4
    assert "  Cy/markups.csv: " in err
    assert "m7" in err.splitlines()[-1]
