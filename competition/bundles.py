"""The same metric on other platforms.

For Codabench, `codabench` makes a scoring program around a metric file, and the reference data to go with
it: one file per phase, so that the private score is in no file that a participant gets to see.
"""

import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from competition import scoring
from competition.errors import HostError
from competition.files import write_atomically
from competition.fresh import read_source
from competition.metric_file import Metric, text_columns

__all__ = ["PLATFORMS", "codabench"]

SCORING = Path(__file__).with_name("templates") / "codabench_scoring.py"
PROGRAM = "scoring.py"
METADATA = f"command: python3 /app/program/{PROGRAM} /app/input /app/output\n"
# So that the same input gives the same file.
TIMESTAMP = (2024, 1, 23, 0, 0, 0)


def codabench(
    metric: Metric, path: Path, solution: pd.DataFrame, parameters: dict[str, Any], out: Path
) -> list[Path]:
    """Write a scoring program and its reference data.

    Parameters
    ----------
    metric : a module as `competition.metric_file.load` returns it
    path : its file
    solution : DataFrame
    parameters : keyword arguments for `score`
    out : the scoring program, a .zip

    Returns
    -------
    list of Path
        `out`, and beside it NAME_reference.zip or, for a solution with ``Usage``, NAME_public.zip and
        NAME_private.zip, to be the reference data of the first and of the final phase.

    Raises
    ------
    HostError
        The solution or a parameter is wrong.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the metric says the same of every submission's run
        prepared = scoring.prepare(metric, solution, parameters)
    if path.name == PROGRAM:
        raise HostError(f"the metric file must have another name than {PROGRAM}, which the scoring program has")
    settings = {
        "metric": path.name,
        "arguments": prepared.arguments,
        "free_rows": bool(getattr(metric, "FREE_ROWS", False)),
        "text_columns": sorted(text_columns(metric, prepared.arguments)),
    }
    program = {
        "metadata.yaml": METADATA,
        PROGRAM: SCORING.read_text(encoding="utf-8"),
        "settings.json": json.dumps(settings, indent=2) + "\n",
        path.name: read_source(path),
    }
    written = [_write_zip(out, program)]
    parts = scoring.rows_of_parts(solution)
    for part, rows in parts.items():
        if part == scoring.ALL and len(parts) > 1:
            continue
        name = "reference" if part == scoring.ALL else part.lower()
        table = solution[rows].drop(columns=scoring.USAGE, errors="ignore")
        content = {"solution.csv": table.to_csv(index=False, lineterminator="\n")}
        written.append(_write_zip(out.with_name(f"{out.stem}_{name}.zip"), content))
    return written


PLATFORMS: dict[str, Callable[..., list[Path]]] = {"codabench": codabench}


def _write_zip(path: Path, content: dict[str, str]) -> Path:
    def write(part: Path) -> None:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in content.items():
                archive.writestr(zipfile.ZipInfo(name, TIMESTAMP), text, zipfile.ZIP_DEFLATED)

    write_atomically(path, write)
    return path
