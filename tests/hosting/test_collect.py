"""What a site gives to its host becomes files that podium rank reads; all else is listed with a reason."""

import csv
import io
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from podium.errors import HostError, UsageError
from podium.hosting import collecting
from podium.hosting.collecting import collect
from tests.support.host_line import run_podium

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
    with pytest.raises(UsageError, match="several phases, so name one with --phase: Final, Public"):
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


def evalai(path: Path, *rows: tuple[int, str, str, str]) -> Path:
    """EvalAI's table: number, team, status, address."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        columns = ["id", "Team Name", "Team Members Email Id", "Challenge Phase", "Status", "Submitted File"]
        writer.writerow([*columns, "Submitted At"])
        for number, team, status, address in rows:
            writer.writerow(
                [number, team, "a@example.org", "Final", status, address, "2026-05-11 17:01:02+00:00"]
            )
    return path


def test_evalai(tmp_path: Path) -> None:
    path = evalai(
        tmp_path / "all.csv",
        (41, "Süd, Ost & Co", "finished", "https://evalai.example/41.csv"),
        (42, "West", "failed", "https://evalai.example/42.csv"),
        (43, "Leer", "submitted", ""),
        (44, "Weg", "finished", "https://evalai.example/44.csv"),
    )
    file = tmp_path / "media" / "phase_9" / "submission_41" / "x.csv"
    file.parent.mkdir(parents=True)
    file.write_text(CSV, "utf-8")
    collected = collect("evalai", path, out=tmp_path / "out", files=tmp_path / "media")
    assert outcomes(collected) == {
        "41": "taken",
        "42": "its status is failed; expected one file below submission_42, found none",
        "43": "its status is submitted",
        "44": "expected one file below submission_44, found none",
    }
    written = (tmp_path / "out" / "collected.csv").read_text("utf-8")
    assert "a@example.org" not in written
    assert "evalai.example" not in written


@pytest.mark.parametrize("address", ["http://evalai.example/1.csv", "file:///etc/passwd", "s3://bucket/1.csv"])
def test_addresses_that_are_not_opened(tmp_path: Path, address: str) -> None:
    path = evalai(tmp_path / "all.csv", (1, "Nord", "finished", address))
    found = outcomes(collect("evalai", path, out=tmp_path / "out"))
    assert found == {"1": f"expected an address that begins with https://, found {address}"}


def test_a_redirection_to_another_host_is_not_followed() -> None:
    request: Any = type("Request", (), {"full_url": "https://evalai.example/1"})
    with pytest.raises(collecting.Left, match="leads to another host"):
        collecting._SameHost().redirect_request(request, None, 302, "", {}, "https://elsewhere.example/1")


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
    monkeypatch.setattr(collecting, "MOST_BYTES", 2**20)
    path = bulk(tmp_path / "bulk.zip", [(entry(1, "eve"), packed(("a.csv", b"0" * 2**21)))])
    assert outcomes(collect("codabench", path, out=tmp_path / "out")) == {
        "1": "it has more than 1 MB once expanded"
    }


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
    assert outcomes(collect("codabench", path, out=tmp_path / "out")) == {
        "readme.txt": "its name is not that of an entry of Codabench"
    }
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="expected a new folder, or one that podium collect has written"):
        collect("codabench", path, out=tmp_path / "full")
    with pytest.raises(HostError, match="expected the table of submissions"):
        collect("evalai", tmp_path / "full" / "mine.txt", out=tmp_path / "other")
    with pytest.raises(UsageError, match="expected one of the sites codabench, evalai, kaggle"):
        collect("drivendata", path, out=tmp_path / "other")


def test_the_command_says_what_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bulk(tmp_path / "bulk.zip", [(entry(1, "ann"), PLAIN), (entry(2, "ben"), packed())])
    out = tmp_path / "out"
    code, printed, _ = run_podium(capsys, "collect", "codabench", path, "--out", out)
    assert (code, printed) == (
        0,
        f"1 file of 1 team, 1 left out, written to {out}\n"
        f"  left out: {entry(2, 'ben')}: expected one file, found 0 candidates: none\n",
    )
