"""`podium verify` checks every page; a run counts as finished when run.json exists."""

import errno
import json
import shutil
import subprocess
from pathlib import Path

import pytest

import podium
from podium.common.errors import HostError, UsageError
from podium.ranking import comparing, output, passes, robustness, run_json, submissions
from podium.ranking.job import content_digest
from tests.support.finished_run import arguments


def differences(folder) -> str:
    """The differences that `podium verify` finds, as one text."""
    return "\n".join(podium.verify(folder / "final", jobs=1).differences)


def test_a_finished_run_is_verified_with_its_pages_and_nothing_is_written(run_copy):
    there = [run_copy / "final", *(run_copy / "final").rglob("*")]
    before = [path.stat().st_mtime_ns for path in there]
    verification = podium.verify(run_copy / "final", jobs=1)
    assert [path.stat().st_mtime_ns for path in there] == before
    assert verification
    assert (verification.differences, verification.notices) == ([], [])
    said = "is what its inputs lead to, to the last bit.\nNothing confirms what run.json says about: command, "
    assert said in repr(verification)


def test_a_forged_page_is_seen_even_if_run_json_is_forged_with_it(run_copy):
    path, run = run_copy / "final" / "board.html", run_copy / "final" / "run.json"
    path.write_text(path.read_text().replace("Cy", "Zoe"))
    facts = json.loads(run.read_text())
    facts["outputs"]["board.html"] = content_digest(str(path))
    run.write_text(run_json.text_of(facts))
    text = differences(run_copy)
    assert "board.html comes out differently, first in line" in text
    del facts["outputs"]["board.html"]
    run.write_text(run_json.text_of(facts))
    assert "board.html does not belong to this run: run.json does not name it" in differences(run_copy)


# --- alterations of a published folder: each is told, with the name of the file --------------------------


@pytest.fixture(scope="module")
def computed(finished_run):
    """What `podium verify` computes of the board, once for all alterations that leave the inputs alone."""
    facts = run_json.read(finished_run / "final")
    options = run_json.options_of(facts, finished_run / "final")
    files = submissions.find(options.submissions)
    return comparing._ranked_again(facts, options, files, finished_run / "final", 1)


def told(folder, computed, monkeypatch) -> str:
    """The differences and the notices of `podium verify`, as one text."""
    monkeypatch.setattr(comparing, "_ranked_again", lambda *_: computed)
    verification = podium.verify(folder / "final", jobs=1)
    return "\n".join([*verification.differences, *verification.notices])


def replaced(old: str, new: str):
    """An alteration of a text, which must be there."""

    def alter(content: bytes) -> bytes:
        assert old.encode() in content
        return content.replace(old.encode(), new.encode(), 1)

    return alter


def swapped(content: bytes) -> bytes:
    """The same page with two teams in each other's place."""
    return content.replace(b">Cy<", b">@<").replace(b">Di<", b">Cy<").replace(b">@<", b">Di<")


BOARD, TABLE = "board.html", "final_leaderboard.csv"


@pytest.mark.parametrize(
    ("file", "alter"),
    [
        pytest.param(BOARD, swapped, id="two teams"),
        pytest.param(TABLE, replaced("0.4", "0.5"), id="a digit of a table"),
        pytest.param("team.html", replaced("Rank 4", "Rank 1"), id="the page of a team"),
        pytest.param(BOARD, replaced("script-src ", "script-src * "), id="the policy"),
        pytest.param(BOARD, lambda content: b"", id="an empty file"),
    ],
)  # fmt: skip
def test_a_changed_file_is_told_with_its_first_difference(run_copy, computed, monkeypatch, file, alter):
    path = run_copy / "final" / file
    path.write_bytes(alter(path.read_bytes()))
    text = told(run_copy, computed, monkeypatch)
    assert f"{file} comes out differently, first in line " in text
    assert "\n  published  " in text


@pytest.mark.parametrize(
    "alter",
    [lambda content: content.replace(b"\n", b"\r\n"), lambda content: b"\xef\xbb\xbf" + content],
    ids=["line ends", "byte order mark"],
)
def test_other_line_ends_are_told_as_such(run_copy, computed, monkeypatch, alter):
    path = run_copy / "final" / TABLE
    path.write_bytes(alter(path.read_bytes()))
    what = "only its white space, its line ends or its byte order mark differ"
    assert f"{TABLE} comes out differently: {what}" in told(run_copy, computed, monkeypatch)


@pytest.mark.parametrize("alter", [b"\r\n", b"\xef\xbb\xbf"], ids=["line ends", "byte order mark"])
@pytest.mark.slow
def test_inputs_of_which_only_line_ends_differ_are_told_as_such(says_folder, says, rank_says, alter):
    """A program that copies a repository may change them."""

    def converted(content: bytes) -> bytes:
        return content.replace(b"\n", alter) if alter.isspace() else alter + content

    says("a", 0.5)
    files = {name: says_folder / name for name in ("solution.csv", "runtimes.csv", "teams/a.csv", "says.py")}
    files["runtimes.csv"].write_text("team,runtime\na,5\n")
    assert rank_says(files["runtimes.csv"], "--resamples", 0)[0] == 0
    said = "; only its line ends or its byte order mark differ"
    for name, path in files.items():
        before = path.read_bytes()
        path.write_bytes(converted(before))
        differences = podium.verify(says_folder / "final", jobs=1).differences
        assert any(said in each for each in differences), name
        path.write_bytes(before + b"\n")
        differences = podium.verify(says_folder / "final", jobs=1).differences
        assert differences
        assert not any(said in each for each in differences), name
        path.write_bytes(before)
    assert podium.verify(says_folder / "final", jobs=1)
    for path in files.values():
        path.write_bytes(converted(path.read_bytes()))
    assert rank_says(files["runtimes.csv"], "--resamples", 0)[0] == 0
    files["solution.csv"].write_text("id\n1\n2\n")  # the other way round
    assert any(said in each for each in podium.verify(says_folder / "final", jobs=1).differences)


@pytest.mark.parametrize(
    "name",
    [
        "index.html",
        "store/index.html",
        ".lock/index.html",
        "team.html/a.js",
        "board2.HTML",
        "final_leaderboard (1).csv",
        "board.png",
        "board.html.gz",
        ".htaccess",
    ],
)
def test_a_file_that_may_be_taken_for_a_part_of_the_board_is_told(run_copy, computed, monkeypatch, name):
    path = run_copy / "final" / name
    if path.parent.is_file():
        path.parent.unlink()
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    expected = f"{name} does not belong to this run: run.json does not name it"
    assert expected in told(run_copy, computed, monkeypatch).splitlines()


INPUTS = {
    "m.csv": """team,path,submission,submitted_at,public_score
A,teams/a.csv,a.csv,2026-01-02,0.5
A,teams/a2.csv,a2.csv,2026-01-03,0.4
B,teams/b.csv,b.csv,2026-01-01,0.5
""",
    "runtimes.csv": "team,submission,runtime\nA,a.csv,5\nA,a2.csv,4\nB,b.csv,4.1\n",
    "failed.csv": "team,model,reason\nC,c.py,it died\n",
}


@pytest.fixture
def board_of_inputs(says_folder, says, rank_says, kept):
    """The folder of a board that was made of `INPUTS`."""
    if kept.is_dir():
        shutil.copytree(kept, says_folder, dirs_exist_ok=True)
        return says_folder
    for name, scores in {"a": (0.5, 0.5), "b": (0.5, 0.5), "a2": (0.4, 0.4), "a3": (0.9, 0.9)}.items():
        says(name, *scores)
    for name, text in INPUTS.items():
        (says_folder / name).write_text(text)
    options = ["--failed", says_folder / "failed.csv", "--resamples", 0]
    assert rank_says(says_folder / "runtimes.csv", *options, teams="m.csv")[0] == 0
    shutil.copytree(says_folder, kept)
    return says_folder


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("m.csv", "A,teams/a.csv", "A,teams/a3.csv", "A/a.csv"),
        ("m.csv", "A,teams/a2.csv", "B,teams/a2.csv", "A/a2.csv"),
        ("m.csv", "2026-01-02", "2025-01-02", "A/a.csv: submitted_at is 2025-01-02, was 2026-01-02"),
        ("m.csv", ",2026-01-01,", ",,", "B/b.csv: submitted_at is not given, was 2026-01-01"),
        ("m.csv", "0.4", "0.9", "A/a2.csv: public_score is 0.9, was 0.4"),
        ("runtimes.csv", "4.1", "9", "the runtimes "),
        ("failed.csv", "died", "lives", "first in line"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_inputs_that_are_not_those_of_the_board_are_told_with_the_fact(board_of_inputs, file, old, new, named):
    assert old in INPUTS[file]
    (board_of_inputs / file).write_text(INPUTS[file].replace(old, new, 1))
    differences = podium.verify(board_of_inputs / "final", jobs=1).differences
    assert any(named in each for each in differences), differences


def test_a_metric_that_is_not_the_recorded_one_is_not_executed(says_folder, says, rank_says, call):
    says("a", 0.5)
    assert rank_says("--resamples", 0)[0] == 0
    (says_folder / "says.py").write_text("raise SystemExit('executed')")
    (difference,) = podium.verify(says_folder / "final", jobs=1).differences
    assert "so it was not executed" in difference
    code, _, err = call("rank", "--again", says_folder / "final", "--out", says_folder / "o", "--set", "low=1")
    assert (code, "has changed since the earlier run" in err) == (2, True)


def test_a_metric_without_a_name_is_verified_at_another_place(says_folder, says, rank_says):
    """Its name is that of its file or folder; the hash says that it is the same, and a forged name is told."""
    says("a", 0.5)
    assert rank_says("--resamples", 0)[0] == 0
    shutil.copy(says_folder / "says.py", says_folder / "metric.py")
    given = {"metric": says_folder / "metric.py", "jobs": 1}
    assert podium.verify(says_folder / "final", **given).differences == []
    record = says_folder / "final" / "run.json"
    for old, new in {"metric:says|": "metric:unified|", "|version:?": "|version:2"}.items():
        text = record.read_text()
        record.write_text(text.replace(old, new))
        assert podium.verify(says_folder / "final", **given).differences != []
        record.write_text(text)


def test_no_program_is_started_because_of_what_lies_beside_a_metric(says_folder, says, rank_says, monkeypatch):
    """Whoever unpacks a folder owns it, so Git would do what the configuration in it says."""
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, *_, **__: started.append(command))
    (says_folder / ".git").mkdir()
    says("a", 0.5)
    assert rank_says("--resamples", 0)[0] == 0
    assert podium.verify(says_folder / "final", jobs=1)
    assert started == []


def without(name: str):
    """A change of a folder: a file is removed."""
    return lambda folder: (folder / name).unlink()


def with_(name: str, text: str):
    """A change of a folder: a file gets this text."""
    return lambda folder: (folder / name).write_text(text)


COMPANION = "from podium.metric.contract import Companion\nfrom . import helper\ncompanion = Companion()\n"
SPRUNG = "raise SystemExit('executed')"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (with_("helper.py", SPRUNG), "helper.py beside the metric has changed since the earlier run: "),
        (with_("companion.py", SPRUNG), "companion.py beside the metric has changed"),
        (
            with_("companion.py", f"from . import other\n{COMPANION}"),
            "companion.py beside the metric has changed",
        ),
        (without("companion.py"), "companion.py beside the metric is not there or not executed any more"),
    ],
)
def test_every_file_that_a_metric_executes_is_recorded(says_folder, says, call, capsys, change, told):
    home = says_folder / "mine"
    home.mkdir()
    says("a", 0.5)
    (says_folder / "says.py").rename(home / "metric.py")
    (home / "helper.py").write_text("")
    (home / "other.py").write_text(SPRUNG)
    rank = ["rank", says_folder / "solution.csv", says_folder / "teams", "--metric", home, "--resamples", 0]
    assert call(*rank, "--jobs", 1, "--out", says_folder / "alone")[0] == 0
    (home / "companion.py").write_text(COMPANION)
    assert call(*rank, "--jobs", 1, "--out", says_folder / "final")[0] == 0
    recorded = run_json.read(says_folder / "final")["inputs"]["metric"]["beside"]
    assert recorded == {name: content_digest(home / name) for name in ("companion.py", "helper.py")}
    contexts = {path.name for of in ("alone", "final") for path in (says_folder / of / "store").glob("*/*")}
    # What a companion makes of files changes statistics, too. A constant answer is kept as well.
    assert len(contexts) == 2 * 2
    capsys.readouterr()
    assert podium.verify(says_folder / "final", jobs=1)
    announced = {"metric.py": content_digest(home / "metric.py"), **recorded}
    files = ", ".join(f"{home / name} (SHA-256 {digest})" for name, digest in announced.items())
    assert capsys.readouterr().err.startswith(f"executing the metric: {files}\n")
    change(home)
    differences = podium.verify(says_folder / "final", jobs=1).differences
    assert differences[0].startswith(told)
    assert differences[0].endswith("so it was not executed, and nothing compared")
    code, _, err = call("rank", "--again", says_folder / "final", "--out", says_folder / "other")
    assert (code, told in err) == (2, True)


def test_a_companion_that_appears_beside_a_published_metric_is_not_executed(says_folder, says, call):
    says("a", 0.5)
    (says_folder / "says.py").rename(says_folder / "metric.py")
    files = [says_folder / name for name in ("solution.csv", "teams", "metric.py")]
    rank = ["rank", *files[:2], "--metric", files[2], "--resamples", 0, "--jobs", 1]
    assert call(*rank, "--out", says_folder / "final")[0] == 0
    (says_folder / "companion.py").write_text(SPRUNG)
    (difference,) = podium.verify(says_folder / "final", jobs=1).differences
    told = (
        "companion.py beside the metric would be executed, but the earlier run does not name it; so it was not"
    )
    assert difference.startswith(told)


def test_other_files_beside_a_board_are_named_and_inputs_are_not(run_copy, computed, monkeypatch):
    for name in ("LICENSE", "README.md", ".lock"):
        (run_copy / "final" / name).write_text("x")
    (run_copy / "final" / "old").mkdir()
    (run_copy / "final" / "old" / "board.html").write_text("x")
    expected = "beside the board, but no part of it and not verified: LICENSE, README.md"
    stranger = "old/board.html does not belong to this run: run.json does not name it"
    assert told(run_copy, computed, monkeypatch).splitlines() == [stranger, expected]
    shutil.rmtree(run_copy / "final" / "old")
    shutil.copy(run_copy / "solution.csv", run_copy / "final")
    verification = podium.verify(run_copy / "final", solution=run_copy / "final" / "solution.csv", jobs=1)
    assert (verification.differences, verification.notices) == ([], [expected])


@pytest.mark.parametrize(("place", "option"), [("solution.csv", "solution"), ("teams", "submissions")])
def test_an_input_that_was_moved_is_told_with_its_option(run_copy, place, option):
    (run_copy / place).rename(run_copy / "moved")
    with pytest.raises(
        UsageError, match=rf"{place}, which is not there; say where it is now: --{option} PATH$"
    ):
        podium.verify(run_copy / "final", jobs=1)
    altered(run_copy, "inputs", "site_board", to={"path": "../gone.csv"})
    with pytest.raises(UsageError, match=r"gone.csv, which is not there; .*: --site-board PATH$"):
        podium.verify(run_copy / "final", **{option: run_copy / "moved"}, jobs=1)


@pytest.mark.filterwarnings("ignore:runtimes without a submission")
def test_a_missing_file_of_the_team_with_a_page_is_told_first(run_copy):
    (run_copy / "teams" / "Cy.csv").unlink()
    found = differences(run_copy).splitlines()
    assert found[0] == "Cy/Cy.csv: the file is missing"
    assert "team.html does not come out again" in found


def test_a_link_in_place_of_a_part_is_told(run_copy, computed, monkeypatch):
    """What a link leads to can be exchanged after the board was verified."""
    for name in ("run.json", "board.html"):
        (run_copy / "final" / name).rename(run_copy / name)
        (run_copy / "final" / name).symlink_to(run_copy / name)
    assert told(run_copy, computed, monkeypatch).splitlines() == [
        "run.json is a link, and where it leads can change",
        "board.html is a link, and where it leads can change",
    ]


def test_removed_and_renamed_files_are_told(run_copy, computed, monkeypatch):
    final_ = run_copy / "final"
    (final_ / "intervals.csv").unlink()
    (final_ / "similar.csv").rename(final_ / "Similar.csv")
    (final_ / "team.html").unlink()
    (final_ / "team.html").mkdir()
    assert told(run_copy, computed, monkeypatch).splitlines() == [
        "Similar.csv does not belong to this run: run.json does not name it",
        "team.html is no file",
        "not in the folder, so only computed and not compared: intervals.csv, similar.csv",
    ]


def altered(folder, *path, to) -> None:
    """Change a value in run.json, which stays written as `podium rank` writes it."""
    run = folder / "final" / "run.json"
    facts = json.loads(run.read_text())
    part = facts
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = to
    run.write_text(run_json.text_of(facts))


@pytest.mark.parametrize(
    ("path", "to", "expected"),
    [
        (["counts", "teams"], 5, '"teams": 5,\n  again          "teams": 4,'),
        (["boosted"], 1, '"boosted": 1,\n  again        "boosted": true'),
        (["winner"], "Cy", "run.json comes out differently, first in line"),
        (["submissions", 0, "sha256"], "0" * 64, "Ada <b>/Ada <b>.csv: SHA-256 is "),
        (["outputs", "board.html"], "0" * 64, "run.json does not name board.html with the SHA-256"),
    ],
)
def test_a_changed_record_is_told(run_copy, computed, monkeypatch, path, to, expected):
    altered(run_copy, *path, to=to)
    assert expected in told(run_copy, computed, monkeypatch)


def test_a_record_that_is_written_in_another_way_is_told(run_copy, computed, monkeypatch):
    path = run_copy / "final" / "run.json"
    text = path.read_text()
    for other in (
        text.replace('"date"', '"date": "2020", "date"', 1),
        json.dumps(json.loads(text)),
        text + "\n",
    ):
        path.write_text(other)
        assert told(run_copy, computed, monkeypatch).startswith("run.json comes out differently")


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (["rules", "max_boost"], "x"),
        (["inputs", "solution"], None),
        (["inputs", "metric"], {"path": "metric.py"}),
        (["inputs", "metric", "beside"], {"companion.py": "0"}),
        (["inputs", "solution", "path"], "a\0b"),
        (["limits"], {"memory": 1}),
        (["limits", "memory"], 2**63),
        (["limits", "idle"], float("nan")),
        (["rules", "prizes"], 10**30),
        (["rules", "choose"], f"public:{'9' * 30}"),
        (["submissions", 0, "sha256"], "../store"),
        (["submissions", 0, "submitted_at"], 5),
        (["parameters"], {"temperature": [1]}),
        (["submissions"], []),
        (["command"], 7),
        (["outputs"], {"../../../etc/passwd": "0" * 64}),
    ],
)
def test_a_record_of_another_form_is_refused(run_copy, path, to):
    altered(run_copy, *path, to=to)
    for read in (podium.verify, lambda folder: podium.rank(again=folder, out="other")):
        with pytest.raises(UsageError, match=f"run.json of podium rank; '{path[0]}' is wrong or missing"):
            read(run_copy / "final")


def test_a_record_without_one_of_its_parts_is_refused(run_copy):
    path = run_copy / "final" / "run.json"
    facts = run_json.read(path)
    for name in run_json._forms():
        path.write_text(run_json.text_of({part: facts[part] for part in facts if part != name}))
        with pytest.raises(UsageError, match=f"'{name}' is wrong or missing"):
            run_json.read(path)


def test_a_submission_listed_twice_and_an_unknown_parameter_are_refused(run_copy):
    listed = run_json.read(run_copy / "final")["submissions"]
    altered(run_copy, "submissions", to=listed * 2)
    with pytest.raises(UsageError, match="'submissions' is wrong or missing"):
        run_json.read(run_copy / "final")
    altered(run_copy, "submissions", to=listed)
    altered(run_copy, "parameters", to={"foo": 1})
    with pytest.raises(HostError, match=r"^the metric has no parameter foo; it has "):
        podium.verify(run_copy / "final")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "expected the run.json of podium rank; found no JSON"),
        ('{"page": "\\ud800"}', "half of a character"),
        ('{"versions": {"podium": "2.0.0"}}', "podium 2.0.0; read and verify it with that version"),
        ("{}", "expected the run.json of podium rank; 'inputs' is wrong or missing"),
    ],
    ids=["no JSON", "surrogates", "another version", "nothing"],
)
def test_what_is_no_record_is_refused(tmp_path, text, message):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        run_json.read(tmp_path)


@pytest.mark.filterwarnings("ignore:runtimes without a submission")
def test_a_submission_that_was_left_out_of_the_record_is_told(run_copy, call):
    """Somebody ranks without a team and publishes a board that is right without it."""
    (run_copy / "teams" / "Bo & Co.csv").rename(run_copy / "away.csv")
    assert call("rank", *arguments(run_copy), "--resamples", "0")[0] == 0
    (run_copy / "away.csv").rename(run_copy / "teams" / "Bo & Co.csv")
    said = "Bo & Co/Bo & Co.csv: it is among the submissions, but run.json does not name it"
    assert said in differences(run_copy)


def test_an_earlier_run_leaves_no_page_behind(run_copy, call):
    assert call("rank", *arguments(run_copy), "--resamples", "0")[0] == 0
    assert not (run_copy / "final" / "team.html").exists()
    assert differences(run_copy) == ""


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of the files in a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_full_disk_leaves_the_earlier_run_as_it_was(run_copy, call, monkeypatch):
    before = contents(run_copy / "final")
    write_bytes, written = Path.write_bytes, []

    def full(path, content):
        if ".new-" in str(path):
            written.append(path.name)
            if len(written) == 4:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    code, _, err = call("rank", *arguments(run_copy), "--resamples", "0")
    assert code == 2
    told = f"error: cannot write {run_copy / 'final' / written[-1]}: No space left on device"
    assert err.splitlines()[-1] == told
    assert contents(run_copy / "final") == before
    assert not list((run_copy / "final").glob(".new*"))


def test_who_is_interrupted_while_files_are_moved_leaves_no_finished_run(run_copy, call, monkeypatch):
    replace, moved = output.os.replace, []

    def interrupted(source, target):
        if len(moved) == 3:
            raise KeyboardInterrupt
        moved.append(Path(target).name)
        replace(source, target)

    monkeypatch.setattr(output.os, "replace", interrupted)
    output_files = dict.fromkeys(("board.html", "intervals.csv", "final_leaderboard.csv", "similar.csv"), b"x")
    with pytest.raises(KeyboardInterrupt):
        output.write(output_files, run_copy / "final", {})
    assert len(moved) == 3
    code, _, err = call("verify", run_copy / "final")
    assert code == 2
    assert "expected a finished run" in err


def test_files_may_lie_in_a_folder_with_the_name_of_a_metric(says_folder, says, monkeypatch):
    monkeypatch.chdir(says_folder)
    says("Ada", 0.5)
    (says_folder / "teams").rename(says_folder / "scifact")
    podium.rank("solution.csv", "scifact", metric="says.py", out="final", resamples=0, jobs=1)
    assert run_json.read("final")["inputs"]["submissions"]["path"] == "../scifact"
    assert podium.verify("final", jobs=1)


# --- what is read twice is the same -----------------------------------------------------------------------


def test_a_submission_that_changes_between_two_readings_is_noticed(run_copy, call, monkeypatch):
    real = passes.score

    def score_and_change(pool, submissions, *more):
        scored = real(pool, submissions, *more)
        path = run_copy / "teams" / "Cy.csv"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-5]))
        return scored

    monkeypatch.setattr(passes, "score", score_and_change)
    code, out, err = call("rank", *arguments(run_copy), "--variants", "--resamples", "0")
    assert (code, out) == (2, "")
    assert "Cy/Cy.csv has changed since it was scored: its SHA-256 was" in err


def test_the_last_step_of_the_path_is_compared_with_the_board(run_copy, call, monkeypatch):
    real = robustness.names_of_steps

    def other_scores(job, scores, leaderboard):
        return real(job, scores | {"+ softmin": scores["+ softmin"] + 1e-12}, leaderboard)

    monkeypatch.setattr(robustness, "names_of_steps", other_scores)
    code, _, err = call("rank", *arguments(run_copy), "--variants", "--resamples", "0")
    assert code == 4
    assert "the last step of the path, + softmin, gives" in err
