"""What a site gives to its host becomes files that podium rank reads; all else is listed with a reason."""

import csv
import io
import json
import os
import shutil
import stat
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import podium
from podium.common.errors import HostError, UsageError
from podium.hosting import collecting
from podium.hosting.collecting import collect
from podium.metric import hosted
from podium.tables import archives
from tests.support.host_line import run_podium, source_of

# Most exports here have no table, and one test asks for the warning.
pytestmark = pytest.mark.filterwarnings("ignore:there is no table of submissions")

CSV = "id,y\nr1,a\nr2,b\n"


def packed(*members: tuple[str | zipfile.ZipInfo, str | bytes]) -> bytes:
    """A zip with these members."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return content.getvalue()


def entry(number: int, owner: str, phase: int = 8, mark: str = ":") -> str:
    """The name of an entry, as Codabench or a browser writes it."""
    return f"{number}_{owner}_PhaseId{phase}_2026-03-02{mark}20-30_sub.zip"


def bulk(path: Path, entries: Sequence[tuple[str, bytes]]) -> Path:
    """Codabench's bulk download."""
    path.write_bytes(packed(*entries))
    return path


def table(path: Path, *rows: tuple[int, str, str, str]) -> Path:
    """Codabench's table of submissions: number, owner, status, phase."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Submission ID", "File Name", "Owner", "Created When", "Status", "Phase"])
        for number, owner, status, phase in rows:
            writer.writerow([number, "sub.zip", owner, f"2026-03-0{number % 7 + 1}T10:00:00Z", status, phase])
    return path


PLAIN = packed(("submission.csv", CSV))


def outcomes(collected: collecting.Collected) -> dict[str, str]:
    """What became of each entry, by its number or its name."""
    found = collected.entries
    return dict(zip(found["number"].where(found["number"] != "", found["source"]), found["outcome"]))


def test_codabench(tmp_path: Path) -> None:
    exports = (
        bulk(
            tmp_path / "bulk_submissions.zip",
            [
                (entry(1, "lea", 7), PLAIN),
                (entry(2, "ann_b"), PLAIN),
                (
                    entry(3, "ann_b", mark="_"),
                    packed(("out/submission.csv", CSV), ("__MACOSX/._submission.csv", "x")),
                ),
                (entry(4, "PhaseId8"), PLAIN),
                (entry(5, "zoe"), packed(("first.csv", CSV), ("second.csv", CSV))),
                (entry(7, "max"), PLAIN),
                ("failed.txt", b"The following submissions failed to download:\n\n6_kim_PhaseId8 (HTTP 404)"),
            ],
        ),
        table(
            tmp_path / "submissions.csv",
            (1, "lea", "Finished", "Public"),
            *((number, "ann_b", "Finished", "Final") for number in (2, 3)),
            (4, "PhaseId8", "Finished", "Final"),
            (5, "zoe", "Failed", "Final"),
            (6, "kim", "Finished", "Final"),
        ),
    )
    with pytest.raises(UsageError, match=r"several phases, so name one with phase: Final, Public$"):
        collect("codabench", *exports, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    collected = collect("codabench", *exports, out=tmp_path / "out", phase="Final")
    assert outcomes(collected) == {
        "1": "it belongs to phase Public",
        "2": "taken",
        "3": "taken",
        "4": "taken",
        "5": "its status is Failed; expected one file, found 2 candidates: first.csv, second.csv",
        "6": "it was not downloaded (HTTP 404)",
        "7": "it is not in the table of submissions",
    }
    assert collected.manifest["team"].tolist() == ["ann_b", "ann_b", "PhaseId8"]
    assert collected.manifest["submitted_at"][0] == "2026-03-03T10:00:00Z"
    assert (tmp_path / "out" / "submissions" / "3" / "submission.csv").read_text("utf-8") == CSV
    by_number = collect("codabench", *exports, out=tmp_path / "again", phase="8")
    assert by_number.manifest.equals(collected.manifest)


def test_only_what_is_new_is_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "bulk_submissions.zip"
    bulk(path, [(entry(1, "ann"), PLAIN)])
    collect("codabench", path, out=tmp_path / "out")
    kept = tmp_path / "out" / "submissions" / "1" / "submission.csv"
    kept.write_text("kept", "utf-8")
    bulk(path, [(entry(1, "ann"), PLAIN), (entry(2, "ben"), PLAIN)])
    collected = collect("codabench", path, out=tmp_path / "out")
    assert outcomes(collected) == {"1": "taken", "2": "taken"}
    assert kept.read_text("utf-8") == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bulk_submissions.zip", "out"]


def link(name: str) -> zipfile.ZipInfo:
    """A member of an archive that is a link."""
    member = zipfile.ZipInfo(name)
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


HOSTILE = {
    "out": (packed(("../../evil.csv", CSV)), "its file has a path that leads out of the archive"),
    "absolute": (packed(("/etc/evil.csv", CSV)), "its file has a path that leads out of the archive"),
    "link": (packed((link("submission.csv"), "/etc/passwd")), "it is a link"),
    "many": (packed(*((f"{n}.csv", "") for n in range(1_001))), "it has 1,001 files, more than 1,000"),
    "damaged": (PLAIN[:-30] + PLAIN[-22:], "it is damaged: "),
    "cut": (PLAIN[:60], "it is damaged: its content is no zip"),
}


@pytest.mark.parametrize(("content", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives_are_only_listed(tmp_path: Path, content: bytes, reason: str) -> None:
    inside = tmp_path / "deep" / "deeper"
    inside.mkdir(parents=True)
    path = bulk(inside / "bulk.zip", [(entry(1, "eve"), content), (entry(2, "ann"), PLAIN)])
    found = outcomes(collect("codabench", path, out=inside / "out"))
    assert found["1"].startswith(reason)
    assert found["2"] == "taken"
    names = {file.name for file in tmp_path.rglob("*") if file.is_file()}
    assert names == {"bulk.zip", "submission.csv", "manifest.csv", "collected.csv"}


def test_an_archive_that_expands_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 2**20)
    path = bulk(tmp_path / "bulk.zip", [(entry(1, "eve"), packed(("a.csv", b"0" * 2**21)))])
    assert outcomes(collect("codabench", path, out=tmp_path / "out")) == {
        "1": "it has more than 1 MB once expanded"
    }


def below(folder: Path) -> set[str]:
    """The files below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "number",
    ["../../../escaped", "//escaped", "/tmp/escaped", "..", "٣", "9" * 19, "9" * 400, "1.0", "-1", "1\\2"],
)
def test_a_number_is_digits_and_no_path(tmp_path: Path, number: str) -> None:
    """In the table, and where it can stand there, in the name of an entry."""
    names = [entry(7, "ben")] + [f"{number}_ann_PhaseId8_2026-03-02:20-30_sub.zip"] * ("/" not in number)
    path = bulk(tmp_path / "bulk.zip", [(name, PLAIN) for name in names])
    rows: list[Any] = [(7, "ben", "Finished", "Final")]
    listed = table(tmp_path / "t.csv", *rows)
    with listed.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow([number, "sub.zip", "ann", "2026-03-01T10:00:00Z", "Finished", "Final"])
    out = tmp_path / "deep" / "deeper" / "out"
    collected = collect("codabench", path, listed, out=out)
    told = collected.entries["outcome"].tolist()
    assert told[0] == "taken"
    assert any(outcome.startswith("expected a number of 1 to 18 digits, found ") for outcome in told[1:])
    assert told.count("taken") == 1
    assert below(tmp_path / "deep") == {
        f"deeper/out/{name}" for name in ("manifest.csv", "collected.csv", "submissions/7/submission.csv")
    }


def test_entries_of_a_bulk_download_with_one_number_are_left_out(tmp_path: Path) -> None:
    """Once in a folder of the archive, once in the table, and once in two archives with one name."""
    other = packed(("submission.csv", "id,y\nr1,b\n"))
    entries = [(entry(5, "ann"), PLAIN), (f"sub/{entry(5, 'bob')}", other), (entry(6, "cem"), PLAIN)]
    entries += [(entry(8, "dan"), PLAIN), (f"sub/{entry(8, 'dan')}", other)]
    path = bulk(tmp_path / "bulk.zip", entries)
    found = outcomes(collect("codabench", path, out=tmp_path / "out"))
    assert found == {"5": "2 entries have the number 5", "6": "taken", "8": "2 entries have the number 8"}
    rows = [(6, owner, "Finished", "Final") for owner in ("cem", "eve", "cem")]
    with pytest.raises(
        HostError, match=r"t\.csv, row number 2: expected another one than in row number 1 in the"
    ):
        collect("codabench", path, table(tmp_path / "t.csv", *rows), out=tmp_path / "other")
    collected = collect("codabench", path, table(tmp_path / "t.csv", *rows[::2]), out=tmp_path / "third")
    assert outcomes(collected)["6"] == "taken"


def test_several_downloads_are_read_and_what_is_in_both_counts_once(tmp_path: Path) -> None:
    other = packed(("submission.csv", "id,y\nr1,b\n"))
    first = bulk(
        tmp_path / "bulk.zip", [(entry(5, "ann"), PLAIN), (entry(6, "bo"), PLAIN), ("failed.txt", b"")]
    )
    (second := tmp_path / "second").mkdir()
    for name, content in [(entry(5, "ann", mark="_"), PLAIN), (entry(6, "bo"), other), (entry(7, "cy"), other)]:
        (second / name).write_bytes(content)
    failed = b"9_dan_PhaseId8_2026-03-02:20-30_sub.zip (a timeout)\n"
    third = bulk(tmp_path / "third.zip", [("failed.txt", failed), (entry(8, "dan"), PLAIN)])
    rows = [
        (n, owner, "Finished", "Final")
        for n, owner in ((5, "ann"), (6, "bo"), (7, "cy"), (8, "dan"), (9, "dan"))
    ]
    collected = collect(
        "codabench", first, second, third, table(tmp_path / "t.csv", *rows), out=tmp_path / "out"
    )
    assert outcomes(collected) == {
        "5": "taken", "6": "2 entries have the number 6", "7": "taken", "8": "taken",
        "9": "it was not downloaded (a timeout)",
    }  # fmt: skip
    assert collected.manifest["team"].tolist() == ["ann", "cy", "dan"]


def test_what_an_entry_expands_to_depends_on_its_size(tmp_path: Path) -> None:
    """An entry of a megabyte may expand to a hundred, also where an archive lies within an archive."""
    bomb = packed(("submission.csv", b"0" * (2**26 + 1)))
    nested = packed(("submission.zip", bomb))
    honest = packed(("submission.csv", CSV * 10_000))
    path = bulk(
        tmp_path / "bulk.zip", [(entry(1, "eve"), bomb), (entry(2, "ann"), honest), (entry(3, "x"), nested)]
    )
    found = outcomes(collect("codabench", path, out=tmp_path / "out"))
    assert found["1"] == "it has more than 64 MB once expanded"
    assert (found["2"], found["3"]) == ("taken", "taken")  # the inner archive stays packed, for rank to judge
    assert sum(path.stat().st_size for path in (tmp_path / "out").rglob("*")) < 2**20


def test_what_expands_unusually_has_a_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of usual sizes are never left out because of those of others."""
    monkeypatch.setattr(collecting, "MOST_BYTES", 2**20)
    most = [packed(("submission.csv", b"0" * 600_000)) for _ in range(3)]
    usual = [(entry(number, f"t{number}"), PLAIN) for number in range(10, 40)]
    path = bulk(tmp_path / "bulk.zip", [*((entry(n, f"e{n}"), each) for n, each in enumerate(most)), *usual])
    found = outcomes(collect("codabench", path, out=tmp_path / "out"))
    said = "it and other entries expand to more than 20 times their size, by 1 MB in all"
    assert {number: outcome for number, outcome in found.items() if outcome != "taken"} == {
        "1": said,
        "2": said,
    }


def test_what_an_earlier_call_recorded_is_checked(tmp_path: Path) -> None:
    path, out = bulk(tmp_path / "bulk.zip", [(entry(1, "ann"), PLAIN)]), tmp_path / "out"
    collect("codabench", path, out=out)
    (tmp_path / "secret.csv").write_text("secret")
    record = (out / "collected.csv").read_text()
    for named in (
        "../secret.csv",
        "submissions/1/../../../secret.csv",
        "submissions/2/submission.csv",
        "/etc/hosts",
    ):
        (out / "collected.csv").write_text(record.replace("submissions/1/submission.csv", named))
        with pytest.raises(HostError, match=r"collected.csv: expected the path submissions/1/FILE, found "):
            collect("codabench", path, out=out)
    (out / "collected.csv").write_text(record.replace("\n1,", "\n../1,"))
    with pytest.raises(HostError, match=r"row number 1: expected 1 to 18 digits in the column number"):
        collect("codabench", path, out=out)
    (out / "collected.csv").write_text(record.replace(",selected\n", "\n").replace("taken,\n", "taken\n"))
    (out / "submissions" / "1" / "submission.csv").unlink()
    assert outcomes(collect("codabench", path, out=out)) == {"1": "taken"}
    assert (out / "submissions" / "1" / "submission.csv").read_text() == CSV


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("place", ["submissions", "submissions/2", "submissions/2/submission.csv"])
def test_nothing_is_written_through_a_link(tmp_path: Path, place: str) -> None:
    out = tmp_path / "out"
    collect("codabench", bulk(tmp_path / "bulk.zip", [(entry(1, "ann"), PLAIN)]), out=out)
    target = tmp_path / "elsewhere"
    target.mkdir()
    if place == "submissions":
        (out / "submissions").rename(tmp_path / "away")
    (out / place).parent.mkdir(exist_ok=True)
    (out / place).symlink_to(target / "new.csv" if place.endswith("csv") else target)
    path = bulk(tmp_path / "bulk.zip", [(entry(1, "ann"), PLAIN), (entry(2, "ben"), PLAIN)])
    with pytest.raises(UsageError, match="it leads out of"):
        collect("codabench", path, out=out)
    assert below(target) == set()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are always UTF-8")
def test_a_name_that_is_no_utf_8_leaves_one_entry_out(tmp_path: Path) -> None:
    folder = tmp_path / "bulk"
    folder.mkdir()
    for name in (entry(1, "ann"), entry(2, "b\udcffb"), "\udcff.zip"):
        (folder / name).write_bytes(PLAIN)
    path = folder / entry(3, "cem")
    path.write_bytes(packed(("\u00e9\u4e00" * 60 + ".csv", CSV)))
    found = outcomes(collect("codabench", folder, out=tmp_path / "out"))
    assert found == {
        "1": "taken",
        "2": "the name of its team cannot be published; give the team another one in the table",
        "3": "taken",
        "\\udcff.zip": "its name is not that of an entry of Codabench",
    }


def test_a_manifest_that_was_edited_stays(tmp_path: Path) -> None:
    path, out = tmp_path / "bulk.zip", tmp_path / "out"
    collect("codabench", bulk(path, [(entry(1, "ann"), PLAIN)]), out=out)
    edited = (out / "manifest.csv").read_text().replace("ann", "Team Ann")
    (out / "manifest.csv").write_text(edited)
    (out / "notes.md").write_text("mine")
    collect("codabench", path, out=out)  # nothing is new
    bulk(path, [(entry(1, "ann"), PLAIN), (entry(2, "ben"), PLAIN)])
    with pytest.warns(
        UserWarning, match="^manifest.csv was edited and stays as it is; what was collected now stands"
    ):
        collect("codabench", path, out=out)
    assert (out / "manifest.csv").read_text() == edited
    assert (out / "notes.md").read_text() == "mine"
    assert (out / "manifest.new.csv").read_text().count("submissions/") == 2
    (out / "manifest.new.csv").replace(out / "manifest.csv")
    collect("codabench", bulk(path, [(entry(n, "ann"), PLAIN) for n in (1, 2, 3)]), out=out)
    assert (out / "manifest.csv").read_text().count("submissions/") == 3


def test_the_leaderboard_s_file_is_the_selection_once(tmp_path: Path) -> None:
    """Codabench's newest tables list a submission to several tasks once for each, with its own number."""
    other = packed(("submission.csv", "id,y\nr1,b\n"))
    contents = {1: PLAIN, 2: PLAIN, 3: other, 4: PLAIN, 5: other}
    path = bulk(
        tmp_path / "bulk.zip", [(entry(n, "ann" if n < 4 else "ben"), each) for n, each in contents.items()]
    )
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            [*["Submission ID", "Owner", "Created When", "Status", "Phase", "Task", "Score", "On Leaderboard"]]
        )
        for number, word in zip(contents, ("Yes", "Yes", "Yes", "No", "")):
            writer.writerow(
                [number, "ann" if number < 4 else "ben", "2026-03-01", "Finished", "F", "", "", word]
            )
    collected = collect("codabench", path, tmp_path / "t.csv", out=tmp_path / "out")
    assert collected.manifest["selected"].tolist() == ["yes", "", "yes", "", ""]


def test_an_entry_of_json_documents_becomes_a_folder_that_rank_reads(tmp_path: Path) -> None:
    samples = hosted.folder("readable") / "samples"
    answers = pd.read_csv(samples / "submission.csv").head(4)
    pd.read_csv(samples / "solution.csv").head(4).to_csv(tmp_path / "solution.csv", index=False)
    documents = [
        (f"answers/{essay}.json", json.dumps({"id": essay, **json.loads(cell)}))
        for essay, cell in zip(answers["document_id"], answers["markup"])
    ]
    entries = [(entry(1, "ann"), packed(*documents)), (entry(2, "bea"), packed(("a.csv", answers.to_csv())))]
    path = bulk(tmp_path / "bulk.zip", entries)
    found = collect("codabench", path, out=tmp_path / "out")
    assert found.manifest["path"].tolist() == ["submissions/1/documents", "submissions/2/a.csv"]
    board = podium.rank(
        tmp_path / "solution.csv", tmp_path / "out" / "manifest.csv", metric="readable", boost=False,
        out=tmp_path / "board", resamples=0, jobs=1,
    ).leaderboard  # fmt: skip
    assert board["team"].tolist() == ["ann", "bea"]
    assert board["score"].nunique() == 1
    shutil.rmtree(tmp_path / "out" / "submissions" / "1")
    again = collect("codabench", path, out=tmp_path / "out")
    assert again.manifest.equals(found.manifest)
    assert (tmp_path / "out" / "submissions" / "1" / "documents" / documents[0][0]).is_file()


DOCUMENTS = packed(("a.json", "{}"), ("b.json", "{}"))


@pytest.mark.parametrize("later", [DOCUMENTS, DOCUMENTS[:-30] + DOCUMENTS[-22:], b"x", packed()])
@pytest.mark.parametrize(("content", "place"), [(DOCUMENTS, "documents/a.json"), (PLAIN, "submission.csv")])
def test_what_was_taken_stays_as_it_is(tmp_path: Path, content: bytes, place: str, later: bytes) -> None:
    """Where the host has edited it, and where the entry of a later export is damaged or another one."""
    out = tmp_path / "out"
    before = collect("codabench", bulk(tmp_path / "bulk.zip", [(entry(1, "ann"), content)]), out=out)
    (out / "submissions" / "1" / place).write_text('{"edited": true}')
    entries = [(entry(1, "ann"), later), (entry(2, "ben"), PLAIN)]
    after = collect("codabench", bulk(tmp_path / "bulk.zip", entries), out=out)
    assert after.manifest["path"][0] == before.manifest["path"][0]
    assert after.manifest["team"].tolist() == ["ann", "ben"]
    assert (out / "submissions" / "1" / place).read_text() == '{"edited": true}'
    names = {"documents/a.json", "documents/b.json"} if content == DOCUMENTS else {place}
    assert below(out / "submissions" / "1") == names


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a.json", "../b.json"], "expected plain names of its documents, found ../b.json"),
        (["a.json", "/b.json"], "expected plain names of its documents, found /b.json"),
        (["a.json", "c\\d.json"], None),
        (["a.json", ".hidden/b.json"], "expected plain names of its documents, found .hidden/b.json"),
        (["a.json", "A.json"], "two of its documents have the same name, or names that look alike"),
        (["a.json", "a.json/b.json"], "two of its documents have the same name, or names that look alike"),
        (["a.json", "b.txt"], "expected one file, found 2 candidates: a.json, b.txt"),
        ([f"{'d/' * 4}a.json", "b.json"], f"expected plain names of its documents, found {'d/' * 4}a.json"),
    ],
)
def test_documents_with_names_that_could_lead_elsewhere_are_left_out(
    tmp_path: Path, names: list[str], reason: str | None
) -> None:
    content = packed(*[(name, "{}") for name in names])
    found = collect(
        "codabench", bulk(tmp_path / "bulk.zip", [(entry(1, "ann"), content)]), out=tmp_path / "out"
    )
    if reason is not None:
        assert outcomes(found) == {"1": reason}
        assert not (tmp_path / "out" / "submissions").exists()
    assert {each.name for each in tmp_path.iterdir()} == {"bulk.zip", "out"}


def test_documents_have_a_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = packed(*[(f"{number}.json", " " * 1000) for number in range(5)])
    path = bulk(tmp_path / "bulk.zip", [(entry(1, "ann"), content)])
    monkeypatch.setattr(collecting, "most_expanded", lambda packed, most: 3000)
    found = outcomes(collect("codabench", path, out=tmp_path / "out"))
    assert found == {"1": "its documents are too large once expanded"}


def test_teams_that_cannot_be_published_or_look_alike_are_listed(tmp_path: Path) -> None:
    owners = ("Red", "red", "Bl\u202eue", "Green")
    path = bulk(tmp_path / "bulk.zip", [(entry(n, owner), PLAIN) for n, owner in enumerate(owners, 1)])
    found = outcomes(collect("codabench", path, out=tmp_path / "out"))
    assert "looks like “red”" in found["1"]
    assert "looks like “Red”" in found["2"]
    assert "cannot be published" in found["3"]
    assert found["4"] == "taken"


def test_other_files_and_folders_are_refused(tmp_path: Path) -> None:
    path = bulk(tmp_path / "bulk.zip", [("readme.txt", b"x")])
    with pytest.raises(UsageError, match=r"bulk\.zip: expected entries of Codabench, .* found readme\.txt"):
        collect("codabench", path, out=tmp_path / "out")
    with pytest.raises(UsageError, match=r"expected entries of Codabench, .* found nothing"):
        collect("codabench", bulk(tmp_path / "empty.zip", []), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="expected a new folder, or one that podium collect has written"):
        collect("codabench", path, out=tmp_path / "full")
    with pytest.raises(HostError, match="expected the column "):
        collect("codabench", path, tmp_path / "full" / "mine.txt", out=tmp_path / "other")
    (tmp_path / "cut.zip").write_bytes(path.read_bytes()[:-9])
    with pytest.raises(HostError, match=r"expected a whole zip, .* unpack it and name the folder"):
        collect("codabench", tmp_path / "cut.zip", out=tmp_path / "other")
    with pytest.raises(UsageError, match=r"expected bulk_submissions\.zip or its folder, found none"):
        collect("codabench", table(tmp_path / "table.csv"), out=tmp_path / "other")
    with pytest.raises(UsageError, match="expected one of the sites codabench"):
        collect("drivendata", path, out=tmp_path / "other")


def test_a_table_of_other_entries_is_refused(tmp_path: Path) -> None:
    path = bulk(tmp_path / "bulk.zip", [(entry(7, "ann"), PLAIN)])
    others = table(tmp_path / "t.csv", (8, "ann", "Finished", "Final"))
    with pytest.raises(HostError, match=r"Submission ID: .* such as 7, found others, such as '8'"):
        collect("codabench", path, others, out=tmp_path / "out")


def test_the_command_says_what_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bulk(tmp_path / "bulk.zip", [(entry(1, "ann"), PLAIN), (entry(2, "ben"), packed())])
    out = tmp_path / "out"
    code, printed, _ = run_podium(capsys, "collect", "codabench", path, "--out", out)
    assert (code, printed) == (
        0,
        f"1 file of 1 team, 1 left out, written to {out}\n"
        f"  left out: {entry(2, 'ben')}: expected one file, found 0 candidates: none\n",
    )


@pytest.mark.usefixtures("in_process")
def test_two_commands_lead_from_codabench_to_a_board_that_names_who_differs(
    tmp_path: Path, capsys: Any
) -> None:
    """The commands of the page about Codabench: one team's score on the site is not what podium computes."""
    truth = {f"r{number}": "ab"[number % 2] for number in range(20)}
    parts = ["Public", "Private"] * 10
    rows = [f"{row},{y},{part}\n" for (row, y), part in zip(truth.items(), parts)]
    (tmp_path / "solution.csv").write_text("id,y,Usage\n" + "".join(rows))
    share = 'return float((solution["y"].to_numpy() == submission["y"].to_numpy()).mean())'
    (tmp_path / "accuracy.py").write_text(source_of(share))
    entries, shown = [], ["Username,fact_sheet_answers,Private(12)-Score"]
    for number, owner in enumerate(["ann_b", "PhaseId8", "müller"], 101):
        right = number - 95
        guess = {row: y if at < right else "c" for at, (row, y) in enumerate(truth.items())}
        text = "id,y\n" + "".join(f"{row},{y}\n" for row, y in guess.items())
        entries.append((entry(number, owner), packed(("submission.csv", text))))
        score = sum(guess[row] == y for (row, y), part in zip(truth.items(), parts) if part == "Private") / 10
        shown.append(f"{owner}-{number},,{score + 0.01 * (owner == 'PhaseId8'):.4f}")
    bulk(tmp_path / "bulk.zip", entries)
    (tmp_path / "leaderboard.csv").write_text("\n".join([*shown, ""]))
    run_podium(capsys, "collect", "codabench", tmp_path / "bulk.zip", "--out", tmp_path / "collected")
    code, said, _ = run_podium(
        capsys, "rank", tmp_path / "solution.csv", tmp_path / "collected" / "manifest.csv", "--no-boost",
        "--metric", tmp_path / "accuracy.py", "--site-board", tmp_path / "leaderboard.csv", "--resamples", 0,
        "--choose", "private", "--out", tmp_path / "final",
    )  # fmt: skip
    assert code == 0
    assert "2 of 3 teams have the score that Codabench showed (4 digits" in said
    assert "PhaseId8 has 0.3000 here and 0.3100 there" in said


def test_without_the_table_nobody_knows_what_failed(tmp_path: Path) -> None:
    export = bulk(tmp_path / "bulk_submissions.zip", [(entry(1, "ada"), PLAIN), (entry(2, "bo"), PLAIN)])
    with pytest.warns(
        UserWarning, match="failed entry cannot be told from another: 2 entries of unknown status"
    ):
        assert outcomes(collect("codabench", export, out=tmp_path / "out")) == {"1": "taken", "2": "taken"}
