"""The files of a finished run: tables, pages and run.json, written all or none.

run.json is written last, after every page and table that it names with its SHA-256: where it is, the run is
finished, and nothing beside it is of another run.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podium.errors import UsageError
from podium.ranking.board import Ranking
from podium.ranking.names import safe_for_spreadsheets

__all__ = ["PAGE", "RUN", "STORE", "TABLES", "TEAM_PAGE", "digests", "tables", "write"]

STORE = "store"
RUN = "run.json"
PAGE, TEAM_PAGE = "board.html", "team.html"
TABLES = {
    "leaderboard": "final_leaderboard.csv",
    "submissions": "all_submissions.csv",
    "rejected": "rejected.csv",
    "failed": "failed.csv",
    "subpopulations": "subpopulations.csv",
    "intervals": "intervals.csv",
    "neighbors": "neighbours.csv",
    "variants": "robustness.csv",
    "variant_ranks": "variant_ranks.csv",
    "path": "path.csv",
    "similar": "similar.csv",
}


def tables(ranking: Ranking) -> dict[str, bytes]:
    """The tables of a ranking as CSV, by the names of their files.

    Parameters
    ----------
    ranking : Ranking

    Returns
    -------
    dict of bytes
        In UTF-8; texts that a spreadsheet would execute begin with an apostrophe.
    """
    return {
        file: safe_for_spreadsheets(table).to_csv(index=False, lineterminator="\n").encode()
        for name, file in TABLES.items()
        if (table := getattr(ranking, name)) is not None
    }


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of each file's content.

    Parameters
    ----------
    files : mapping of bytes
        By name.

    Returns
    -------
    dict of str
        Hexadecimal, by name.
    """
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def write(files: Mapping[str, bytes], folder: Path, run: Mapping[str, Any]) -> None:
    """Save a run: all of its files, or none.

    Parameters
    ----------
    files : mapping of bytes
        Tables and pages by name.
    folder : Path
        Tables and pages of an earlier run that are not among the files are removed.
    run : mapping
        The content of run.json.

    Raises
    ------
    UsageError
        The folder cannot be written, for example because the disk is full. What stood there before still does.

    Notes
    -----
    Everything is first written to a folder beside the others, so that a full disk is noticed before anything is
    replaced. Then run.json is removed, the files are moved, and the new run.json comes last. Who is interrupted
    in between leaves a folder without run.json, which nobody takes for a finished run.
    """
    text = json.dumps(run, indent=2, ensure_ascii=False) + "\n"
    current = RUN
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=folder, prefix=".new-"))
        try:
            for current, content in {**files, RUN: text.encode()}.items():
                (beside / current).write_bytes(content)
            (folder / RUN).unlink(missing_ok=True)
            for name in {*TABLES.values(), PAGE, TEAM_PAGE} - files.keys():
                (folder / name).unlink(missing_ok=True)
            for current in [*files, RUN]:
                os.replace(beside / current, folder / current)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as problem:
        raise UsageError(f"cannot write {folder / current}: {problem.strerror or problem}") from None
