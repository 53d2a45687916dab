"""The files of a finished run: tables, pages and run.json. Either all of them are written, or none.

The file ``run.json`` is written last. It names every page and table with its SHA-256. So a folder with a
``run.json`` holds a finished run, and all other files beside it belong to that run.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podium.common.errors import UsageError
from podium.ranking.final import FinalBoard
from podium.ranking.rules import RUN, TEAM_PAGE
from podium.ranking.run_json import text_of
from podium.tables.files import keep_mode, left_folders
from podium.tables.formats import table_bytes

STORE = "store"
NEW = ".new-"  # begins the name of a folder in which files are written before they are moved
PAGE = "board.html"
TABLES = {
    "published": "final_leaderboard.csv",
    "submissions": "all_submissions.csv",
    "rejected": "rejected.csv",
    "failed": "failed.csv",
    "groups": "subpopulations.csv",
    "certainty": "intervals.csv",
    "differences": "differences.csv",
    "variants": "variants.csv",
    "similar": "similar.csv",
    "site": "site.csv",
    "changes": "changes.csv",
}
ITEMS = "items.csv"  # tells what the answers are, so that it is not published, and no page names its content


def tables(final: FinalBoard) -> dict[str, bytes]:
    """Write the tables of a board that have any row as CSV."""
    return {
        file: table_bytes(table)
        for name, file in TABLES.items()
        if (table := getattr(final, name)) is not None and len(table)
    }


def private(final: FinalBoard) -> dict[str, bytes]:
    """Write the table that lies beside a board and is no part of it."""
    return {} if final.items is None else {ITEMS: table_bytes(final.items)}


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Compute the SHA-256 of each file's content."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def write(files: Mapping[str, bytes], folder: Path, run: Mapping[str, Any]) -> None:
    """Save all files of a run, or none of them.

    Everything is first written to a new folder inside. So a full disk is noticed before anything is replaced.
    Then ``run.json`` is removed, the files are moved, and the new ``run.json`` comes last. If this is
    interrupted, the folder has no ``run.json``, and nobody takes it for a finished run.
    """
    text = text_of(run)
    current = RUN
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in left_folders(
            folder, re.escape(NEW)
        ):  # by a run that was killed; no other run is at work here
            shutil.rmtree(left, ignore_errors=True)
        beside = Path(tempfile.mkdtemp(dir=folder, prefix=NEW))
        try:
            for current, content in {**files, RUN: text.encode()}.items():
                (beside / current).write_bytes(content)
                keep_mode(folder / current, beside / current)
            (folder / RUN).unlink(missing_ok=True)
            pages = [path.name for path in folder.glob("team_*.html")]
            for name in {*TABLES.values(), PAGE, TEAM_PAGE, ITEMS, *pages} - files.keys():
                (folder / name).unlink(missing_ok=True)
            for current in [*files, RUN]:
                os.replace(beside / current, folder / current)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as problem:
        raise UsageError(f"cannot write {folder / current}: {problem.strerror or problem}") from None
