"""Write what a host downloads from a closed competition on Codabench, with two teams that do not exist.

    python examples/codabench_export.py FOLDER
    podium collect codabench FOLDER/bulk_submissions.zip FOLDER/submissions.csv --out FOLDER/collected

The names and columns are those of Codabench. The submissions are parts of the sample. The command writes the
same files each time.
"""

import argparse
import io
import zipfile
from pathlib import Path

SAMPLE = Path(__file__).resolve().parent.parent / "sample_submission.csv"
BULK, TABLE = "bulk_submissions.zip", "submissions.csv"
COLUMNS = "Submission ID,File Name,Owner,Created When,Status,Phase"
# Number, owner, day, status and the file in the archive that was sent.
ENTRIES = (
    (101, "ada", "2026-03-01", "Finished", "submission.csv"),
    (102, "bo", "2026-03-01", "Finished", "bo/answers.csv"),
    (103, "ada", "2026-03-02", "Failed", "submission.csv"),
    (104, "ada", "2026-03-03", "Finished", "submission.csv"),
)
WHEN = (2026, 3, 3, 12, 0, 0)  # of every member, so that the same bytes are written each time


def packed(members: dict[str, bytes]) -> bytes:
    """A zip with these members."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name, WHEN), member)
    return content.getvalue()


def write(folder: Path) -> None:
    """Write the download and the table of submissions into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    header, *rows = SAMPLE.read_bytes().splitlines(keepends=True)
    entries, table = {}, [COLUMNS]
    for place, (number, owner, day, status, name) in enumerate(ENTRIES):
        sent = b"".join([header, *rows[: len(rows) * (place + 2) // (len(ENTRIES) + 1)]])
        entries[f"{number}_{owner}_PhaseId8_{day}:12-00_sub.zip"] = packed({name: sent})
        table.append(f"{number},sub.zip,{owner},{day}T12:00:00Z,{status},Private")
    (folder / BULK).write_bytes(packed(entries))
    (folder / TABLE).write_text("\n".join([*table, ""]), encoding="utf-8")


def main() -> None:
    """Write them into the folder that is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)


if __name__ == "__main__":
    main()
