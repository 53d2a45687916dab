"""The record of a competition's metric and parameters is used by every command, or refused."""

import json
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium import cli
from podium.contest.recorded import RECORD
from podium.hosting import competition_pages
from podium.hosting.terms import LAST_DATE
from podium.metric import hosted
from tests.support.corpora import make_corpus
from tests.support.host_line import ACCURACY, EQUAL, ROOT, run_podium, stay_in_process

pytestmark = pytest.mark.slow

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
    told = "error: subpopulation_column_names is 'gender', but the competition's files were made for ''"
    assert told in err


@pytest.mark.usefixtures("made")
def test_a_copy_of_the_solution_is_checked_with_the_record_of_the_folder_that_is_named(capsys):
    """The folder gave the metric, and its parameters were forgotten where another solution was given, too."""
    copied = shutil.copy(PAIR[0], "other.csv")
    code, _, err = run_podium(capsys, "check", FILES, copied, PAIR[1], "--quick")
    assert (code, err.startswith(SHOWN)) == (0, True)


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
        ("{}", "found Object missing required field `metric`"),
        ('{"metric": "unified", "parameters": {"x": 1}}', "the metric has no parameter x; it has "),
    ],
)
def test_a_damaged_record(capsys, content, message):
    (FILES / RECORD).write_text(content)
    code, _, err = run_podium(capsys, "score", *PAIR)
    assert code == 4
    assert f"{FILES / RECORD}: " in err
    assert message in err


@pytest.mark.usefixtures("made")
def test_the_files_of_another_metric(capsys):
    dates = ["--start", "2027-01-01", "--switch", "2027-02-01", "--end", "2027-03-01"]
    line = ["bundle", "evalai", FILES, "--title", "T", *dates, "--out", "out", "--metric", "scifact"]
    code, _, err = run_podium(capsys, *line)
    assert code == 4
    assert err.startswith("error: expected the metric 'unified', for which the files were made (see ")


def test_one_s_own_metrics_are_known_by_the_record(capsys, in_process, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = ROOT / "metrics" / "scifact" / "samples" / "claims.jsonl"
    assert run_podium(capsys, "make", labels, "--metric", "scifact", "--out", FILES)[0] == 0
    code, out, err = run_podium(capsys, "score", *PAIR)
    assert (code, "the files were made" in err) == (0, False)
    assert "metric:scifact|" in out


# Patients with several rows, whose labels are those of the patient.
PATIENTS = pd.DataFrame(
    {"id": [f"r{row:03}" for row in range(120)], "patient": [row // 6 for row in range(120)]}
)
PATIENTS["answer"] = PATIENTS["patient"] * 7 % 11 % 2


@pytest.fixture
def of_patients(capsys, in_process, tmp_path, monkeypatch):
    """The files that `podium make` has written for a custom metric, in a folder, for rows of patients."""
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine", "metric.py").write_text(ACCURACY.replace("BODY", EQUAL))
    Path("mine", "rule.py").write_text("from podium.metric.contract import Companion\nNONE = Companion()\n")
    Path("mine", "companion.py").write_text("from .rule import NONE as companion\n")
    Path("mine", "draft.py").write_text("raise SystemExit\n")
    PATIENTS.to_csv("labels.csv", index=False)
    line = ["make", "labels.csv", "--metric", "mine", "--items", "patient", "--seed", "5", "--out", FILES]
    assert run_podium(capsys, *line)[0] == 0
    PATIENTS.drop(columns="patient").to_csv("submission.csv", index=False)


@pytest.mark.usefixtures("of_patients")
def test_made_files_know_their_metric_and_their_items(capsys):
    """Also when the metric's own folder is gone; the copy has what it imports and nothing else."""
    shutil.rmtree("mine")
    copies = FILES / "private" / "metric" / "mine"
    assert sorted(path.name for path in copies.glob("*.py")) == ["companion.py", "metric.py", "rule.py"]
    one = json.loads((FILES / RECORD).read_text())
    assert (one["metric_file"], one["items"]) == ("private/metric/mine/metric.py", "patient")
    code, out, err = run_podium(capsys, "score", PAIR[0], "submission.csv", PAIR[1])
    assert code == 0
    assert "metric:mine|" in out
    told = err.splitlines()[:2]
    assert told[0].startswith(
        f"metric of {FILES / RECORD}: {copies / 'metric.py'} (SHA-256 {one['metric_sha256']})"
    )
    assert told[1] == f"items of {FILES / RECORD}: patient"
    code, there, _ = run_podium(capsys, "score", PAIR[0], "submission.csv", PAIR[1], "--items", "patient")
    assert (code, there) == (0, out)
    code, rows, _ = run_podium(capsys, "score", PAIR[0], "submission.csv", PAIR[1], "--items", "id")
    assert (code, rows != out) == (0, True)
    for line in (["emulate"], ["emulate", copies / "metric.py", "--quick"]):
        code, out, _ = run_podium(capsys, *line, PAIR[0], "submission.csv")
        assert (code, "1.000000" in out) == (0, True)
    checked = run_podium(capsys, "check", "--quick", FILES)
    assert checked[:2] == run_podium(capsys, "check", "--quick", copies / "metric.py", *PAIR)[:2]
    assert (checked[0], "Private  " in checked[1]) == (0, True)


@pytest.mark.usefixtures("of_patients")
def test_a_board_counts_the_recorded_items_and_its_verification_follows_no_record(capsys):
    for team in ("Ada", "Bo"):
        Path("teams", team).mkdir(parents=True)
        shutil.copy("submission.csv", Path("teams", team))
    assert (
        run_podium(capsys, "rank", PAIR[0], "teams", "--no-boost", "--resamples", "20", "--out", "board")[0]
        == 0
    )
    facts = json.loads(Path("board", "run.json").read_text())
    solution = pd.read_csv(PAIR[0])
    assert facts["items"] == solution.loc[solution["Usage"] == "Private", "patient"].nunique()
    assert facts["inputs"]["metric"]["path"].endswith("private/metric/mine/metric.py")
    podium.rank(PAIR[0], "teams", boost=False, resamples=20, out="python")
    told = capsys.readouterr().err
    assert f"items of {FILES / RECORD}: patient" in told
    assert json.loads(Path("python", "run.json").read_text())["inputs"] == facts["inputs"]
    assert (
        Path("python", "final_leaderboard.csv").read_text()
        == Path("board", "final_leaderboard.csv").read_text()
    )
    Path("other.py").write_text("raise SystemExit(9)\n")
    _change_record(metric_file="../other.py", items="id")
    code, _, err = run_podium(capsys, "verify", "board")
    assert code == 0, err
    assert "metric of" not in err


def _change_record(**changes: object) -> None:
    """Write other facts into the record."""
    content = json.loads((FILES / RECORD).read_text())
    (FILES / RECORD).write_text(json.dumps(content | changes))


@pytest.mark.usefixtures("of_patients")
@pytest.mark.parametrize(
    "path", ["../other.py", "private/../../other.py", "private/link.py", "public/other.py", "private/metric"]
)
def test_a_metric_outside_the_private_files_is_not_executed(capsys, path):
    for other in (Path("other.py"), FILES / "public" / "other.py"):
        other.write_text("raise SystemExit(9)\n")
    (FILES / "private" / "link.py").symlink_to(Path("other.py").resolve())
    _change_record(metric_file=path)
    code, _, err = run_podium(capsys, "score", *PAIR)
    assert code == 4
    assert err.startswith(
        f"error: {FILES / RECORD}: metric_file: expected a file in {FILES / 'private'}, found "
    )
    assert err.endswith(": name the metric by --metric\n")
    code, _, err = run_podium(capsys, "check", FILES)
    assert code == 4
    assert err.endswith(": name the metric in place of the folder\n")


@pytest.mark.usefixtures("of_patients")
def test_a_companion_that_leads_outside_is_not_executed(capsys):
    Path("other.py").write_text("raise SystemExit(9)\n")
    companion = FILES / "private" / "metric" / "mine" / "companion.py"
    companion.unlink()
    companion.symlink_to(Path("other.py").resolve())
    assert run_podium(capsys, "score", *PAIR)[0] == 4


@pytest.mark.usefixtures("of_patients")
@pytest.mark.parametrize("name", ["metric.py", "companion.py", "rule.py"])
def test_a_file_with_another_hash_is_never_executed(capsys, name):
    """In no command that takes the metric from the record; an option still names any file."""
    copies = FILES / "private" / "metric" / "mine"
    original = (copies / name).read_text()
    (copies / name).write_text(f"open('executed', 'w').close()\n{original}")
    for line in (
        ["score", *PAIR],
        ["rank", *PAIR, "--no-boost", "--out", "board"],
        [
            "bundle",
            "evalai",
            FILES,
            "--title",
            "T",
            "--start",
            "2027-01-01",
            "--end",
            "2027-02-01",
            "--out",
            "b",
        ],
        ["publish", "kaggle", FILES, "--slug", "a-competition", "--title", "T", "--dry-run"],
        ["emulate", *PAIR],
    ):
        code, out, err = run_podium(capsys, *line)
        assert code in (2, 4), (line, out, err)
        assert not Path("executed").exists(), line
        if line[0] != "emulate":
            assert f"{copies / name}: expected the file for which" in err, (line, err)
            assert "name the metric" in err
    run_podium(capsys, "score", *PAIR, "--metric", copies)
    assert Path("executed").exists()


@pytest.mark.usefixtures("of_patients")
@pytest.mark.filterwarnings("always:the files were made")
def test_another_metric_is_told(capsys):
    Path("other.py").write_text(ACCURACY.replace("BODY", "return 0.5"))
    code, _, err = run_podium(capsys, "score", *PAIR, "--metric", "other.py")
    assert code == 0
    assert "the files were made for the metric mine (see " in err


@pytest.mark.usefixtures("of_patients")
def test_a_record_without_a_copy_asks_for_the_metric(capsys):
    _change_record(metric_file="")
    code, _, err = run_podium(capsys, "score", *PAIR)
    assert code == 2
    assert err.startswith(
        f"error: the files were made for the metric mine (see {FILES / RECORD}): name it by --metric"
    )


@pytest.mark.usefixtures("of_patients")
def test_neither_the_record_nor_the_copy_is_public_in_a_bundle(capsys):
    dates = ["--start", "2027-01-01", "--switch", "2027-02-01", "--end", "2027-03-01"]
    line = ["bundle", "codabench", FILES, "--title", "T", *dates, "--out", "out"]
    code, _, err = run_podium(capsys, *line)
    assert (code, err.startswith(f"metric of {FILES / RECORD}")) == (0, True)
    with zipfile.ZipFile(Path("out", "competition.zip")) as archive:
        names = [name for name in archive.namelist() if "scoring_program" not in name]
    assert not [name for name in names if RECORD in name or name.endswith("rule.py") or "mine" in name]


@pytest.mark.usefixtures("of_patients")
def test_a_day_ends_everywhere_when_it_is_over(capsys):
    """The command, both sites and the rules say the same, and the pages name their gaps."""
    dates = ["--start", "2027-01-01", "--switch", "2027-02-01", "--end", "2027-03-01"]
    for site, config in (("codabench", "competition.yaml"), ("evalai", "challenge_config.yaml")):
        code, out, _ = run_podium(capsys, "bundle", site, FILES, "--title", "T", *dates, "--out", site)
        assert (code, "and it closes 2027-03-01 23:59:59 UTC\n" in out) == (0, True)
        assert "\nto edit: rules.md: say who may take part" in out
        with zipfile.ZipFile(next(Path(site).glob("*.zip"))) as archive:
            contents = {name: archive.read(name).decode(errors="replace") for name in archive.namelist()}
        assert '"2027-03-01 23:59:59"' in contents[config]
        rules = next(text for name, text in contents.items() if name.endswith(("rules.md", "rules.html")))
        assert "* The competition closes on 2027-03-01 at 23:59:59 UTC.\n" in rules
        assert "<!-- Hosts: say here who may take part" in rules


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("2027-04-15", "2027-04-15 23:59:59"),
        ("20270415", "2027-04-15 23:59:59"),
        ("2027-04-15T12:00", "2027-04-15 12:00:00"),
        ("2027-04-15T00:00+02:00", "2027-04-14 22:00:00"),
    ],
)
def test_when_something_ends(text, ends):
    assert str(LAST_DATE.read(text)) == ends


def test_a_metric_that_cannot_be_copied_has_to_be_named(capsys, in_process, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine", "metric.py").write_text(ACCURACY.replace("BODY", EQUAL))
    Path("mine", "words.txt").write_text("a b")
    Path("mine", "companion.py").write_text(
        "from pathlib import Path\nfrom podium.metric.contract import Companion\n"
        "WORDS = Path(__file__).with_name('words.txt').read_text()\ncompanion = Companion()\n"
    )
    PATIENTS.to_csv("labels.csv", index=False)
    code, _, err = run_podium(
        capsys, "make", "labels.csv", "--metric", "mine", "--items", "patient", "--out", FILES
    )
    assert (code, "the metric has no copy beside the private files" in err) == (0, True)
    assert not (FILES / "private" / "metric" / "mine").exists()
    assert "metric_file" not in json.loads((FILES / RECORD).read_text())


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
    assert competition_pages.summary(hosted.load(tmp_path / "mine.py")) == summary
