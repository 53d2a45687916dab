"""Does a metric file obey everything that is known of Kaggle's hosting?"""

import ast
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import contract, hosted
from podium.errors import HostError, ToolError
from podium.hosting import fresh
from podium.hosting.kernel import FAIL, NOTE, OURS, PASS, UNTRIED

COMPILES = "is UTF-8 text that compiles"
IMPORTS = "imports only what Kaggle's image has"
MODULE = "can be imported as a module"
DIRECTION = "says whether higher is better"
CONTRACT = "has statistics whose sums are its score"
CHECKS = {  # by the key under which `podium.hosting.kernel` answers
    "runs": "runs as a notebook cell, alone",
    "score": "defines score()",
    "arguments": "takes solution, submission, row_id_column_name first",
    "row id": "has no default for row_id_column_name",
    "annotations": "annotates every argument with a type that the site can set",
    "return": "is annotated to return float",
    "docstring": "has a docstring of fewer than 8,000 characters",
    "participant": "knows ParticipantVisibleError",
    "doctests": "passes its doctests",
    "tests": "passes its tests",
    "result": "returns a finite float",
    "frames": "leaves the frames unchanged",
    "messages": "has messages of at most 280 characters",
    "module": MODULE,
}
INSTALLED = ("numpy", "pandas")
FURTHER = {"scipy": "scipy", "sklearn": "scikit-learn"}
KNOWN = frozenset({*INSTALLED, *FURTHER, "kaggle_metric_utilities", *sys.stdlib_module_names})


class Check(NamedTuple):
    name: str  # what the file should do
    verdict: str  # PASS, NOTE (it does not, and Kaggle takes it), FAIL, UNTRIED
    remark: str = ""


def check_contract(
    metric: hosted.Metric,
    frames: tuple[pd.DataFrame, pd.DataFrame] | None,
    arguments: dict[str, Any] | None,
) -> list[Check]:
    """What podium asks of a metric beyond what the site does; see `podium.contract`.

    Parameters
    ----------
    metric : Metric
    frames : (solution, submission), optional
        Without them the statistics cannot be tried.
    arguments : dict, optional
        Of ``score`` beside the two tables.
    """
    if metric.direction is None:
        direction = Check(DIRECTION, NOTE, "define higher_is_better() -> bool; until then it is assumed to be")
    else:
        direction = Check(DIRECTION, PASS)
    if metric.prepare is None:
        lacking = "without prepare() a score has no intervals, and files are read again to be ranked otherwise"
        return [direction, Check(CONTRACT, NOTE, lacking)]
    if frames is None:
        return [direction, Check(CONTRACT, UNTRIED, "give a solution and a submission")]
    try:
        with warnings.catch_warnings(), hosted.errors_explained(metric, submission=True):
            warnings.simplefilter("ignore")
            contract.check(metric, *frames, arguments or {"row_id_column_name": str(frames[0].columns[0])})
    except ToolError as slip:
        return [direction, Check(CONTRACT, FAIL, str(slip))]
    return [direction, Check(CONTRACT, PASS)]


def check(
    path: Path,
    frames: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    arguments: dict[str, Any] | None = None,
    python: str | None = None,
) -> list[Check]:
    """Try a metric file; `frames` and `arguments` are a further call of `score`, which must return."""
    try:
        source = fresh.read_source(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (HostError, SyntaxError, ValueError) as problem:
        failed = Check(COMPILES, FAIL, " ".join(str(problem).split()))
        return [failed, *(Check(name, UNTRIED) for name in (IMPORTS, *CHECKS.values()))]
    imported = _imported(tree)
    packages = [*INSTALLED, *(FURTHER[name] for name in FURTHER if name in imported)]
    columns = None if frames is None else tuple(map(fresh.columns_of, frames))
    answers: dict[str, Any] = {}
    with fresh.environment(python, packages) as interpreter:
        task: dict[str, Any] = {"frames": columns, "arguments": arguments or {}}
        for do, key, further in (("check", "runs", task), ("import", "module", {})):
            try:
                answers |= fresh.run_fresh(do, interpreter, source=source, **further)
            except HostError as problem:
                answers[key] = FAIL, str(problem)
    tried = [Check(name, *answers.get(key, (UNTRIED, ""))) for key, name in CHECKS.items()]
    return [Check(COMPILES, PASS), _check_imports(imported), *tried]


def _imported(tree: ast.Module) -> set[str]:
    """Packages; "." is a relative import."""
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add("." if node.level else (node.module or "").partition(".")[0])
    return imported


def _check_imports(imported: set[str]) -> Check:
    impossible = sorted(imported & {".", OURS})
    if impossible:
        return Check(IMPORTS, FAIL, f"it imports {', '.join(impossible)}, and nothing of ours is there")
    others = sorted(imported - KNOWN)
    if others:
        return Check(IMPORTS, NOTE, f"make sure of {', '.join(others)}")
    return Check(IMPORTS, PASS)
