"""Does a metric file obey everything that is known of Kaggle's hosting?

The host cannot debug it there, so it is tried beforehand: in fresh processes in which nothing of ours can be
imported, as a notebook cell and as a module.
"""

import ast
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium.errors import HostError
from podium.hosting import fresh
from podium.hosting.kernel import FAIL, NOTE, OURS, PASS, UNTRIED

__all__ = ["Check", "check"]

# What a check is called, by the key under which `podium.hosting.kernel` answers.
COMPILES = "is UTF-8 text that compiles"
IMPORTS = "imports only what Kaggle's image has"
MODULE = "can be imported as a module"
CHECKS = {
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
}
INSTALLED = ("numpy", "pandas")
FURTHER = {"scipy": "scipy", "sklearn": "scikit-learn"}
KNOWN = frozenset({*INSTALLED, *FURTHER, "kaggle_metric_utilities", *sys.stdlib_module_names})


class Check(NamedTuple):
    """One thing that Kaggle demands of a metric file, or that its host had better know."""

    name: str  # what the file should do
    verdict: str  # PASS; NOTE, where it does not but Kaggle takes it; FAIL; UNTRIED
    remark: str = ""  # why, or what else there is to say


def check(
    path: Path,
    frames: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    arguments: dict[str, Any] | None = None,
    python: str | None = None,
) -> list[Check]:
    """Try a metric file.

    Parameters
    ----------
    path : Path
    frames : (solution, submission), optional
        A further call of `score`, beside those of the doctests; it must return.
    arguments : dict, optional
        The further arguments of this call, ``row_id_column_name`` among them.
    python : version of Python, optional
        Try it with this one, in a new environment of the versions that Kaggle has.

    Returns
    -------
    list of Check, in the order of what can be tried first

    Raises
    ------
    UsageError
        There is no such file, or no such Python.
    """
    try:
        source = fresh.read_source(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (HostError, SyntaxError, ValueError) as problem:
        untried = [IMPORTS, *CHECKS.values(), MODULE]
        reason = " ".join(str(problem).split())
        return [Check(COMPILES, FAIL, reason), *(Check(name, UNTRIED) for name in untried)]
    imported = _imported(tree)
    packages = [*INSTALLED, *(FURTHER[name] for name in FURTHER if name in imported)]
    columns = None if frames is None else tuple(map(fresh.columns_of, frames))
    task: dict[str, Any] = {"source": source, "frames": columns, "arguments": arguments or {}}
    with fresh.environment(python, packages) as interpreter:
        try:
            answers = fresh.run_fresh("check", interpreter, **task)
        except HostError as problem:
            answers = {"runs": (FAIL, str(problem))}
        try:
            reason = fresh.run_fresh("import", interpreter, source=source)["reason"]
        except HostError as problem:
            reason = str(problem)
    tried = [Check(name, *answers.get(key, (UNTRIED, ""))) for key, name in CHECKS.items()]
    module = Check(MODULE, FAIL if reason else PASS, reason or "")
    return [Check(COMPILES, PASS), _check_imports(imported), *tried, module]


def _imported(tree: ast.Module) -> set[str]:
    """Packages imported anywhere in the file, also within functions; "." is a relative import."""
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
