"""The record of a competition's metric and parameters is used by every command, or refused."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from podium import cli
from podium.contest.recorded import RECORD
from podium.hosting import competition
from podium.metric import hosted
from tests.support.corpora import make_corpus
from tests.support.host_line import ACCURACY, ROOT, run_podium, stay_in_process

FILES = Path("files")
PAIR = [FILES / "private" / "solution.csv", FILES / "public" / "sample_submission.csv"]
PARAMETERS = {"subpopulation_column_names": "", "temperature": 80.0}
SHOWN = f"parameters of {FILES / RECORD}: subpopulation_column_names=, temperature=80.0"


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """Files that `podium make` has written for other parameters than the official ones."""
    folder = tmp_path_factory.mktemp("made")
    make_corpus(60).to_csv(folder / "corpus.csv", index=False)
    given = ["--subpopulations", "", "--set", "temperature=80", "--out", str(folder / "files")]
    with pytest.MonkeyPatch.context() as patch:
        stay_in_process(patch, folder)
        assert cli.main(["make", str(folder / "corpus.csv"), *given]) == 0
    return folder / "files"


@pytest.fixture
def made(made_once, tmp_path, monkeypatch):
    """A folder with a copy of these files."""
    stay_in_process(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made_once, FILES)


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("command", [["score"], ["emulate", "unified"], ["check", "unified"]])
def test_recorded_parameters_are_used_and_shown(capsys, command):
    """Every command that gets the solution uses them, and a conflict is an error."""
    assert json.loads((FILES / RECORD).read_text()) == {"metric": "unified", "parameters": PARAMETERS}
    code, out, err = run_podium(capsys, *command, *PAIR)
    assert code == 0
    assert err.startswith(SHOWN)
    assert command != ["score"] or "temperature:80.0" in out
    code, _, err = run_podium(capsys, *command, *PAIR, "--set", "subpopulation_column_names=gender")
    assert code == 4
    assert err.startswith(
        "error: subpopulation_column_names is 'gender', but the competition's files were made for ''"
    )


@pytest.mark.usefixtures("made")
def test_recorded_parameters_tune_too(capsys):
    pd.read_csv(PAIR[1]).assign(probability=0.9).to_csv("candidates.csv", index=False)
    code, out, err = run_podium(capsys, "tune", PAIR[0], "candidates.csv")
    assert (code, err.startswith(SHOWN)) == (0, True)
    assert "temperature:80.0" in out


@pytest.mark.usefixtures("made")
def test_recorded_parameters_rank_too(capsys):
    """Also with the Public rows alone, if they lie in the same folder."""
    solution = pd.read_csv(PAIR[0], dtype=str)
    solution[solution["Usage"] == "Public"].to_csv(FILES / "private" / "public_part.csv", index=False)
    Path("teams").mkdir()
    pd.read_csv(PAIR[1], dtype=str).to_csv("teams/Ada.csv", index=False)
    options = ["--no-boost", "--resamples", "0", "--out", "board"]
    code, _, err = run_podium(capsys, "rank", FILES / "private" / "public_part.csv", "teams", *options)
    assert code == 0
    assert SHOWN in err
    assert json.loads(Path("board", "run.json").read_text())["parameters"] == PARAMETERS


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", 'expected {"metric": NAME, "parameters": {…}}, as podium make writes it'),
        ('{"metric": "unified", "parameters": {"x": 1}}', "the metric has no parameter x; it has "),
    ],
)
def test_a_damaged_record(capsys, content, message):
    (FILES / RECORD).write_text(content)
    code, _, err = run_podium(capsys, "score", *PAIR)
    assert code == 4
    assert err.startswith(f"error: {FILES / RECORD}: {message}")


@pytest.mark.usefixtures("made")
def test_the_files_of_another_metric(capsys):
    dates = ["--start", "2027-01-01", "--switch", "2027-02-01", "--end", "2027-03-01"]
    line = ["bundle", "evalai", FILES, "--title", "T", *dates, "--out", "out", "--metric", "scifact"]
    code, _, err = run_podium(capsys, *line)
    assert code == 4
    assert err.startswith("error: expected the metric 'unified', for which the files were made (see ")


@pytest.mark.filterwarnings("always:the files were made")
def test_a_forgotten_metric_is_told_by_the_record(capsys, in_process, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = ROOT / "metrics" / "scifact" / "samples" / "claims.jsonl"
    assert run_podium(capsys, "make", labels, "--metric", "scifact", "--out", FILES)[0] == 0
    code, _, err = run_podium(capsys, "score", *PAIR)
    assert code == 4
    assert err.startswith(
        f"warning: the files were made for the metric scifact (see {FILES / RECORD}), and this is unified: "
        "if it should be the former, name it by --metric\nerror: "
    )
    code, _, err = run_podium(capsys, "score", "--metric", "scifact", *PAIR)
    assert code == 0
    assert "the files were made" not in err


@pytest.mark.filterwarnings("always:the files were made")
def test_a_renamed_metric_file_is_known_by_its_content(capsys, tmp_path, in_process):
    (tmp_path / "first.py").write_text(ACCURACY.replace("BODY", "return points"))
    labels = pd.DataFrame({"id": range(20), "answer": [0, 1] * 10})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    files, pair = tmp_path / "files", [tmp_path / "files" / each for each in ("private", "public")]
    made = ["make", tmp_path / "labels.csv", "--metric", tmp_path / "first.py", "--set", "points=2"]
    assert run_podium(capsys, *made, "--out", files)[0] == 0
    (tmp_path / "first.py").rename(tmp_path / "second.py")
    score = ["score", pair[0] / "solution.csv", pair[1] / "sample_submission.csv", "--metric"]
    code, out, err = run_podium(capsys, *score, tmp_path / "second.py")
    assert (code, err) == (0, f"parameters of {files / 'competition.json'}: points=2.0\n")
    assert "Score    2.000000" in out
    with (tmp_path / "second.py").open("a") as file:
        file.write("\n")
    _, _, err = run_podium(capsys, *score, tmp_path / "second.py")
    assert "warning: the files were made for the metric first" in err


@pytest.mark.parametrize(
    ("docstring", "summary"),
    [
        ("Args:\n    solution: the truth", "Of the file."),
        ("Parameters\n    ----------", "Of the file."),
        ("Share of equal answers.\n\n    Args:", "Share of equal answers."),
        ("TODO: Add expected inputs", "Of the file."),
    ],
)
def test_the_heading_of_a_section_is_no_summary(tmp_path, docstring, summary):
    text = ACCURACY.replace("BODY", f'"""{docstring}\n    """\n    return 1.0')
    (tmp_path / "mine.py").write_text(f'"""Of the file."""\n{text}')
    assert competition.summary(hosted.load(tmp_path / "mine.py")) == summary
