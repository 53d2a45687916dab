"""Whatever lies in the folder of submissions is ranked, rejected with a reason, or named as left out."""

import gzip
import json
import os
import shutil
import socket
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.common.errors import NotAFile
from podium.metric import hosted
from podium.ranking import job, submissions
from podium.ranking.submissions import find

ENDINGS = (".json", ".json.gz")
ANSWERS = pd.read_csv(hosted.folder("readable") / "samples" / "submission.csv").head(4)


def write(path: Path, content: bytes | str = "id,says\n1,0.1\n2,0.2\n") -> None:
    """Write a file and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def documents(folder: Path, suffix: str = "", left_out: int = 0) -> None:
    """Write the answers to a folder, a file for each essay, with the last selections left out."""
    for essay, cell in zip(ANSWERS["document_id"], ANSWERS["markup"]):
        markup = json.loads(cell)
        markup["selections"] = markup["selections"][: len(markup["selections"]) - left_out]
        write(folder / f"{essay}{suffix}.json", json.dumps({"id": essay, **markup}))


# ---- An account of everything -----------------------------------------------------------------------------


def archive(path: Path, *members: str) -> None:
    """Write a zip of tables."""
    with zipfile.ZipFile(path, "w") as file:
        for name in members:
            file.writestr(name, "id,says\n1,0.1\n2,0.2\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names only on POSIX systems")
@pytest.mark.filterwarnings("default")
def test_twenty_and_more_things_in_a_folder_are_ranked_rejected_or_named(says_folder, rank_says, monkeypatch):
    teams = says_folder / "teams"
    ranked = ["Ada.csv", "Bo/s.csv", "Cy/.hidden.csv", "Di", "Ed/s.CSV.gz", "Ed/s.csv", "Fy.zip", "No/good.csv"]
    ranked += [".NET Ninjas.csv", "\U0001f469\u200d\U0001f52c lab.csv"]
    for name in ranked:
        write(
            teams / name,
            gzip.compress(b"id,says\n1,0.1\n2,0.2\n") if name.endswith(".gz") else "id,says\n1,0\n2,0\n",
        )
    (teams / "Fy.zip").unlink()
    archive(teams / "Fy.zip", "a.csv", "__MACOSX/._a.csv")
    rejected = ["Gil.csv", "Hy/l.csv", "Ivo.csv", "Jo.csv", "Ka.csv", "La.csv", "Lo.zip", "Mo.zip"]
    rejected += ["No/v1", "No/v2", "Oz/deep", "Pi/README.TXT.csv", "Qu.csv", "Ro/submission.csv"]
    rejected += ["Ru/submission.csv"]
    (teams / "Gil.csv").symlink_to("Ada.csv")
    (teams / "Hy").mkdir()
    (teams / "Hy" / "l.csv").symlink_to("/etc/hostname")
    (teams / "Ivo.csv").symlink_to("nowhere")
    os.mkfifo(teams / "Jo.csv")
    monkeypatch.chdir(teams)  # the address of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("Ka.csv")
    write(teams / "La.csv", "")
    archive(teams / "Lo.zip", "a.csv", "b.csv")
    write(teams / "Mo.zip", b"PK\3\4damaged")
    for name in ("No/v1/s.csv", "No/v2/s.csv", "Oz/deep/deeper/s.csv", "Ru/submission.csv/inner.csv"):
        write(teams / name)
    write(teams / "Pi" / "README.TXT.csv", "no table")
    (teams / "Ro" / "submission.csv").mkdir(parents=True)
    with (teams / "Qu.csv").open("wb") as file:
        file.truncate(2**31 + 1)  # it takes no space
    named = [
        "README.txt",
        "LICENSE",
        "board.png",
        "Ada.csv~",
        "Thumbs.db",
        "desktop.ini",
        "~$Ada.xlsx",
        "Bo/notes.md",
        "Sy/run.py",
        "Ty/.secret",
        ".DS_Store",
        "__MACOSX/._Ada.csv",
        "Ua/.git/config",
    ]
    for name in named:
        write(teams / name, "x")
    for name in ("Va", "Wu/empty"):
        (teams / name).mkdir(parents=True)
    code, _, err = rank_says("--resamples", 0)
    assert code == 0, err
    final = says_folder / "final"
    reasons = pd.read_csv(final / "rejected.csv").set_index(["team", "submission"])["reason"]
    seen = {(name.partition("/")[0].partition(".")[0], name.rpartition("/")[2]) for name in rejected}
    assert {*reasons.index} == seen
    of_folders = {key for key, reason in reasons.items() if reason == "expected a regular file, found a folder"}
    assert of_folders == {
        ("No", "v1"),
        ("No", "v2"),
        ("Oz", "deep"),
        *((team, "submission.csv") for team in ("Ro", "Ru")),
    }
    assert reasons["Qu", "Qu.csv"] == "expected at most 2,048 MB, found more"
    everything = pd.read_csv(final / "all_submissions.csv")
    assert len(everything) == len(ranked) + len(rejected)
    no_tables = "“Ada.csv~”, “Bo/notes.md”, “LICENSE”, “README.txt”, “Sy/run.py”, “Wu/empty”, “board.png”"
    of_system = "“.DS_Store”, “Thumbs.db”, “Ty/.secret”, “Ua/.git”, “__MACOSX”, “desktop.ini”"
    assert f"left out, as they are not submissions: {no_tables}, {of_system}, “~$Ada.xlsx”\n" in err
    assert "teams without any submission: “Sy”, “Ty”, “Ua”, “Va”, “Wu”" in err


def test_a_folder_that_cannot_be_listed_is_a_submission_that_says_so(tmp_path, monkeypatch):
    """It may be closed to the user, or lie deeper than a path may be long."""
    write(tmp_path / "Ada.csv")
    write(tmp_path / "Bo" / "closed" / "s.csv")
    scan = os.scandir

    def scandir(path):
        if str(path).rstrip("/").endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    ada, bo = find(str(tmp_path))
    assert (ada.team, bo.team, bo.name) == ("Ada", "Bo", "closed")
    with pytest.raises(NotAFile, match="expected a regular file, found a folder"):
        job.contents_of(bo)


def test_only_so_many_files_of_a_team_are_listed(tmp_path, monkeypatch):
    """A stranger's record may name the whole disk as the folder of submissions."""
    for number in range(6):
        write(tmp_path / "Ada" / "deep" / str(number) / "s.csv")
    write(tmp_path / "Bo" / "s.csv")
    monkeypatch.setattr(submissions, "MOST_FILES", 3)
    opened = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: opened.append(str(path)) or scan(path))
    assert [each[:2] for each in find(str(tmp_path))] == [("Ada", "deep"), ("Bo", "s.csv")]
    assert not any("deep/" in path.replace(os.sep, "/").rstrip("/") for path in opened)
    (tmp_path / "manifest.csv").write_text("team,path\nCy,many\n")
    for name in "abc":
        write(tmp_path / "many" / name / "s.csv")
    opened.clear()
    (cy,) = find(str(tmp_path / "manifest.csv"), documents=ENDINGS)
    assert (cy.files, len(opened)) == ((), 2)


# ---- Folders of documents ---------------------------------------------------------------------------------


@pytest.fixture
def board(tmp_path, call):
    """Runs `podium rank` on tmp_path/teams with the metric of READ//ABLE, and returns the tables."""
    solution = pd.read_csv(hosted.folder("readable") / "samples" / "solution.csv").head(4)
    solution.to_csv(tmp_path / "solution.csv", index=False)

    def board(source="teams", out="final"):
        arguments = [tmp_path / "solution.csv", tmp_path / source, "--metric", "readable", "--no-boost"]
        code, _, err = call("rank", *arguments, "--out", tmp_path / out, "--jobs", 1, "--resamples", 0)
        assert code == 0, err
        tables = tmp_path / out
        rejected = tables / "rejected.csv"
        reasons = pd.read_csv(rejected) if rejected.exists() else pd.DataFrame({"team": [], "submission": []})
        return pd.read_csv(tables / "all_submissions.csv"), reasons, err

    return board


@pytest.mark.filterwarnings("default")
def test_a_folder_of_documents_is_one_submission(tmp_path, board, call):
    teams = tmp_path / "teams"
    documents(teams / "Ada")
    documents(teams / "Bo" / "packed" / "deep", left_out=1)
    ANSWERS.to_csv(teams / "Cy.csv", index=False)
    documents(teams / "Di" / "json")
    ANSWERS.to_csv(teams / "Di" / "table.csv", index=False)
    documents(teams / "Ed" / "run1")
    documents(teams / "Ed" / "run2", left_out=1)
    documents(teams / "Fy" / "first")
    documents(teams / "Fy" / "second", suffix="-again")
    documents(teams / "Gil")
    (teams / "Gil" / "link.json").symlink_to("/etc/hostname")
    documents(teams / "Hy")
    ANSWERS.to_csv(teams / "Hy" / "table.csv", index=False)
    for name in ("Ada/notes.txt", "Ada/.hidden.json", "Ada/.DS_Store", "Ada/README.md"):
        write(teams / name, "x")
    everything, rejected, err = board()
    scored = everything[~everything["submission"].isin(rejected["submission"])]
    assert [*zip(scored["team"], scored["submission"])] == [
        ("Ada", "Ada"), ("Bo", "Bo"), ("Cy", "Cy.csv"), ("Di", "json"), ("Di", "table.csv"), ("Ed", "run1"),
        ("Ed", "run2"), ("Hy", "table.csv"),
    ]  # fmt: skip
    score = dict(zip(zip(scored["team"], scored["submission"]), scored["score"]))
    assert score["Ada", "Ada"] == score["Cy", "Cy.csv"] == score["Di", "json"] == score["Ed", "run1"]
    assert score["Bo", "Bo"] == score["Ed", "run2"] != score["Ada", "Ada"]
    reasons = {team: part["reason"].tolist() for team, part in rejected.groupby("team")}
    assert reasons["Fy"] == ["document 'essay-01': expected one markup of the algorithm, found 2 in its files"]
    assert reasons["Gil"] == ["expected a regular file, found a link called link.json in it"]
    assert len(reasons["Hy"]) == len(ANSWERS)  # a document beside a table is a submission, and lacks the others
    assert "submissions: “Ada/.hidden.json”, “Ada/README.md”, “Ada/notes.txt”, “Ada/.DS_Store”\n" in err

    assert call("verify", tmp_path / "final", "--jobs", 1)[0] == 0
    assert call("rank", "--again", tmp_path / "final", "--out", tmp_path / "again", "--jobs", 1)[0] == 0
    assert (tmp_path / "again" / "final_leaderboard.csv").read_bytes() == (
        tmp_path / "final" / "final_leaderboard.csv"
    ).read_bytes()


def test_verify_sees_a_change_in_a_folder_of_documents(tmp_path, board, call):
    documents(tmp_path / "teams" / "Ada")
    documents(tmp_path / "teams" / "Bo", left_out=1)
    board()
    with (tmp_path / "teams" / "Bo" / f"{ANSWERS['document_id'][0]}.json").open("a") as file:
        file.write("\n")
    code, _, err = call("verify", tmp_path / "final", "--jobs", 1)
    assert code == 1
    assert "Bo/Bo: SHA-256 is" in err
    assert "final_leaderboard.csv" not in err


@pytest.mark.filterwarnings("ignore:.* left out")
def test_the_hash_of_a_folder_of_documents_covers_them_all_and_nothing_else(tmp_path):
    def digest(change=lambda folder: None):
        shutil.rmtree(tmp_path / "teams", ignore_errors=True)
        documents(tmp_path / "teams" / "Ada")
        change(tmp_path / "teams" / "Ada")
        (ada,) = find(str(tmp_path / "teams"), documents=ENDINGS)
        return job.digests_in(job.contents_of(ada))

    first, second = (f"{essay}.json" for essay in ANSWERS["document_id"][:2])
    assert digest() == digest(lambda ada: (ada / ".DS_Store").write_text("x"))
    assert digest() == digest(lambda ada: (ada / "notes.txt").write_text("x"))
    changed = [
        digest(),
        digest(lambda ada: (ada / first).write_bytes((ada / first).read_bytes() + b"\n")),
        digest(lambda ada: (ada / first).rename(ada / "renamed.json")),
        digest(lambda ada: (ada / first).unlink()),
        digest(lambda ada: (ada / first).write_bytes((ada / second).read_bytes())),
        digest(lambda ada: write(ada / "more.json", "{}")),
        digest(lambda ada: write(ada / "in" / "more.json", "{}")),
    ]
    assert len({*changed}) == len(changed)


@pytest.mark.filterwarnings("default")
def test_a_manifest_may_name_folders_of_documents(tmp_path, board):
    documents(tmp_path / "sent" / "1")
    documents(tmp_path / "sent" / "2" / "in")
    (tmp_path / "sent" / "link").symlink_to("1")
    rows = [("Ada", "sent/1"), ("Bo", "sent/2"), ("Bo", "sent/2/in"), ("Cy", "sent/link"), ("Di", "sent")]
    pd.DataFrame(rows, columns=["team", "path"]).to_csv(tmp_path / "manifest.csv", index=False)
    everything, rejected, err = board("manifest.csv")
    assert "left out, as they are not submissions: “sent/link”\n" in err
    assert everything["team"].tolist() == ["Ada", "Bo", "Bo", "Cy", "Di"]
    assert everything["score"].notna().tolist() == [True, True, True, False, False]
    assert rejected["reason"].tolist() == [
        "expected a regular file, found a link",
        "document 'essay-01': expected one markup of the algorithm, found 2 in its files",
    ]


def test_only_a_metric_with_documents_and_files_of_one_document_make_a_folder_a_submission(tmp_path):
    write(tmp_path / "Ada" / "1.json", "{}")
    write(tmp_path / "Ada" / "2.json", "{}")
    write(tmp_path / "Bo" / "1.json", ' \n[{"id": 1}]')  # an export of a tool, with all documents
    write(tmp_path / "Bo" / "2.json", "[]")
    write(tmp_path / "Cy" / "1.json.gz", gzip.compress(b"[]"))
    write(tmp_path / "Di" / "1.JSON", "{")
    write(tmp_path / "Ed" / "1.json", "{}")
    write(tmp_path / "Ed" / "all.zip", "PK")

    def found(*endings):
        return [
            f"{each.team}/{each.name}" for each in find(str(tmp_path), documents=endings) if each.team != "Ed"
        ]

    assert found() == ["Ada/1.json", "Ada/2.json", "Bo/1.json", "Bo/2.json", "Cy/1.json.gz", "Di/1.JSON"]
    assert found(*ENDINGS) == ["Ada/Ada", "Bo/1.json", "Bo/2.json", "Cy/1.json.gz", "Di/Di"]
    assert [each.name for each in find(str(tmp_path), documents=[*ENDINGS])][-2:] == ["1.json", "all.zip"]


def test_a_folder_that_is_too_large_is_refused(tmp_path, monkeypatch):
    documents(tmp_path / "Ada")
    (ada,) = find(str(tmp_path), documents=ENDINGS)
    assert [*job.contents_of(ada)[0]] == [f"{essay}.json" for essay in ANSWERS["document_id"]]
    monkeypatch.setattr(job, "MOST_BYTES", ada.size - 1)
    with pytest.raises(NotAFile, match="found more"):
        job.contents_of(ada)
    monkeypatch.undo()
    monkeypatch.setattr(job, "MOST_FILES", 3)
    with pytest.raises(NotAFile, match="expected at most 3 files and"):
        job.contents_of(ada)


# ---- What podium run has written --------------------------------------------------------------------------

RUNTIMES = "team,submission,runtime,provisional\nAda,submission.csv,2.0,false\nBo,submission.csv,1.0,false\n"


@pytest.fixture
def ran(says_folder: Path) -> Path:
    """A folder of results of `podium run`: two models with predictions, and one that failed."""
    run = says_folder / "run"
    for team in ("Ada", "Bo"):
        write(run / "submissions" / team / "submission.csv")
    write(run / "runs.csv", "")
    write(run / "runtimes.csv", RUNTIMES)
    write(run / "failed.csv", "team,model,reason,engine\nCy,,exit code 1,bubblewrap\n")
    return run


def test_a_folder_in_which_podium_run_has_not_ended_is_no_folder_of_submissions(says_folder, ran, rank_says):
    (ran / "runtimes.csv").unlink()
    write(ran / "hardware.json", "{}")
    code, _, err = rank_says(teams="run")
    assert (code, "podium run has not ended in" in err) == (2, True), err


@pytest.mark.filterwarnings("default")
def test_the_folder_of_podium_run_has_submissions_runtimes_and_failed_models(says_folder, ran, rank_says):
    code, _, err = rank_says(teams="run")
    assert code == 0, err
    board = pd.read_csv(says_folder / "final" / "final_leaderboard.csv")
    assert dict(zip(board["team"], board["runtime"])) == {"Ada": 2.0, "Bo": 1.0}
    assert "models that failed, see failed.csv: Cy" in err
    assert "no failed.csv is beside" not in err
    command = json.loads((says_folder / "final" / "run.json").read_text())["command"]
    assert command[:4] == ["podium", "rank", str(says_folder / "solution.csv"), str(ran)]
    assert podium.verify(says_folder / "final", jobs=1)
    assert rank_says(says_folder / "run" / "runtimes.csv", teams="run/submissions")[0] == 0
    again = json.loads((says_folder / "final" / "run.json").read_text())
    assert again["inputs"]["failed"]["path"] == "../run/failed.csv"


@pytest.mark.filterwarnings("default")
def test_runtimes_of_podium_run_without_its_failed_models_are_told(says_folder, ran, rank_says):
    (ran / "failed.csv").unlink()
    for arguments, teams in (((), "run"), ((ran / "runtimes.csv",), "run/submissions")):
        code, _, err = rank_says(*arguments, teams=teams)
        assert code == 0, err
        assert f"no failed.csv is beside {ran / 'runtimes.csv'}, so the board names no model that failed" in err


@pytest.mark.filterwarnings("default")
def test_a_runtime_of_a_model_that_failed_is_not_one_without_a_submission(ran, rank_says):
    for team, is_told in (("Cy", False), ("Di", True)):
        write(ran / "runtimes.csv", f"{RUNTIMES}{team},submission.csv,3.0,false\n")
        code, _, err = rank_says(teams="run")
        assert code == 0, err
        assert ("runtimes without a submission" in err) == is_told


# ---- Zips, as learning platforms give them ------------------------------------------------------------------

ROWS = "id,says\n1,{0}\n2,{0}\n"


def zipped(path: Path, members: dict[str, str | bytes]) -> Path:
    """Write a zip."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


MOODLE = {
    "Noor Sami_51207_assignsubmission_file_/submission.csv": ROWS.format(0.5),
    "Vera Olin_51211_assignsubmission_file_/predictions.csv": ROWS.format(0.25),
    "__MACOSX/Vera Olin_51211_assignsubmission_file_/._predictions.csv": "x",
}
TEAM_FROM = "--team-from", "{team}_{}_assignsubmission_file_"


def test_a_zip_is_read_where_a_folder_is_and_verified(says_folder, rank_says):
    """Its folders may lie in a folder of their own; other tests have zips without one."""
    members = {f"moodle/{name}": content for name, content in MOODLE.items()}
    zipped(says_folder / "moodle.zip", members)
    code, *_ = rank_says(*TEAM_FROM, teams="moodle.zip")
    assert code == 0
    board = pd.read_csv(says_folder / "final" / "final_leaderboard.csv")
    assert board["team"].tolist() == ["Noor Sami", "Vera Olin"]
    assert board["submission"].tolist() == ["submission.csv", "predictions.csv"]
    record = json.loads((says_folder / "final" / "run.json").read_text())
    assert record["inputs"]["submissions"]["path"] == "../moodle.zip"
    assert podium.verify(says_folder / "final", jobs=1)
    again = podium.rank(again=says_folder / "final", out=says_folder / "again", jobs=1)
    assert again.leaderboard["team"].tolist() == ["Noor Sami", "Vera Olin"]
    members[next(iter(members))] = ROWS.format(0.75)
    zipped(says_folder / "moodle.zip", members)
    (changed, *_) = podium.verify(says_folder / "final", jobs=1).differences
    assert changed.startswith("Noor Sami/submission.csv: SHA-256")


def test_several_zips_are_named_by_a_pattern(says_folder, rank_says):
    for name, team, value in (("one", "Ada", 0.5), ("two", "Bo", 0.25), ("three", "Cy", 0.75)):
        zipped(says_folder / "downloads" / f"{name}.zip", {f"{team}.csv": ROWS.format(value)})
    code, *_ = rank_says(teams="downloads/*.zip")
    assert code == 0
    board = pd.read_csv(says_folder / "final" / "final_leaderboard.csv")
    assert board["team"].tolist() == ["Cy", "Ada", "Bo"]
    assert podium.verify(says_folder / "final", jobs=1)
    code, _, err = rank_says(says_folder / "downloads" / "two.zip", teams="downloads/one.zip")
    assert code == 2
    assert "several zips of submissions are given as a pattern in quotation marks" in err
    code, _, err = rank_says(teams="downloads/*.ZIP")
    assert (code, err) == (2, f"error: there is no folder {says_folder / 'downloads' / '*.ZIP'}\n")


@pytest.mark.filterwarnings("default")
def test_what_a_zip_must_not_hold_is_named_and_the_rest_is_ranked(says_folder, rank_says):
    link = zipfile.ZipInfo("link.csv")
    link.external_attr = 0o120777 << 16
    members = {"../out.csv": "x", "/root.csv": "x", "C:/disk.csv": "x", "Ada.csv": ROWS.format(0.5)}
    path = zipped(says_folder / "in" / "teams.zip", members | {"back\\slash.csv": ROWS.format(0.25)})
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(link, "/etc/hosts")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("Ada.csv", ROWS.format(0.75))
    code, _, err = rank_says(teams="in/teams.zip")
    assert code == 0
    for name in ("../out.csv", "/root.csv", "C:/disk.csv"):
        assert f"“{name}” (its name leads out of the zip)" in err
    assert "“link.csv” (it is a link)" in err
    assert "“Ada.csv” (another file has the same name)" in err
    board = pd.read_csv(says_folder / "final" / "final_leaderboard.csv")
    assert board["team"].tolist() == ["Ada", "back"]
    assert sorted(each.name for each in (says_folder / "in").iterdir()) == ["teams.zip"]
    path.write_bytes(path.read_bytes()[:-30])
    code, _, err = rank_says(teams="in/teams.zip")
    assert code == 4
    assert "expected a whole zip, found a fault" in err


@pytest.mark.filterwarnings("default")
def test_the_solution_and_other_inputs_among_submissions_are_none(tmp_path, call):
    """A copy of the solution that lies elsewhere is the file of a team, which is told."""
    score = "def score(solution, submission, row_id_column_name):"
    (tmp_path / "metric.py").write_text(f"{score}\n    return float((solution.y == submission.y).mean())\n")
    teams = tmp_path / "teams"
    for name, last in {"Ada": 0, "solution": 1}.items():
        write(teams / f"{name}.csv", f"id,y\n1,1\n2,{last}\n".encode())
    write(teams / "runtimes.csv", b"team,runtime\nAda,3\n")
    more = ["--metric", tmp_path / "metric.py", "--resamples", 0, "--jobs", 1, "--out", tmp_path / "final"]
    code, _, told = call("rank", teams / "solution.csv", teams, teams / "runtimes.csv", *more)
    assert (code, "not submissions: “runtimes.csv”, “solution.csv”" in told) == (0, True)
    assert pd.read_csv(tmp_path / "final" / "final_leaderboard.csv")["team"].tolist() == ["Ada"]
    shutil.copy(teams / "solution.csv", tmp_path / "copy.csv")
    code, _, told = call("rank", tmp_path / "copy.csv", teams, teams / "runtimes.csv", *more)
    assert code == 0
    assert "warning: solution sent the solution itself, to the last byte: find out where it came from" in told
