"""Does a metric file obey everything that is known of Kaggle's hosting?

The host uploads the file once and cannot debug it there.  `check` tries it beforehand: in fresh processes in
which nothing of ours can be imported, as a notebook cell and as a module.
"""

import ast
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from competition.errors import HostError
from competition.fresh import read_source, run_fresh

__all__ = ["Check", "check"]

# What a check is called, by the key under which `competition.kernel` answers.
COMPILES = "is UTF-8 text that compiles"
IMPORTS = "imports only the standard library, numpy and pandas"
MODULE = "can be imported as a module"
CHECKS = {
    "runs": "runs as a notebook cell, alone",
    "score": "defines score()",
    "arguments": "takes solution, submission, row_id_column_name first",
    "row id": "has no default for row_id_column_name",
    "annotations": "annotates every argument with a type that the site can set",
    "return": "is annotated to return float",
    "docstring": "has a docstring of at most 8,000 characters",
    "participant": "defines ParticipantVisibleError",
    "doctests": "passes its doctests",
    "result": "returns a finite float",
    "frames": "leaves the frames unchanged",
}
ALLOWED = frozenset({"numpy", "pandas", *sys.stdlib_module_names})
REMARKED = {"scipy": "and SciPy, which Kaggle's image has"}


class Check(NamedTuple):
    """One thing that Kaggle demands of a metric file.

    Attributes
    ----------
    name : what the file must do
    passed : whether it does; None if that could not be tried
    remark : why it does not, or what else there is to say
    """

    name: str
    passed: bool | None
    remark: str = ""


def check(
    path: Path,
    frames: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    arguments: dict[str, Any] | None = None,
) -> list[Check]:
    """Try a metric file.

    Parameters
    ----------
    path : Path
    frames : (solution, submission), optional
        A further call of `score`, beside those of the doctests; it must return.
    arguments : dict, optional
        The further arguments of this call, ``row_id_column_name`` among them.

    Returns
    -------
    list of Check
        All of them, in the order of what can be tried first.

    Raises
    ------
    UsageError
        There is no such file.
    """
    try:
        source = read_source(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (HostError, SyntaxError, ValueError) as problem:
        untried = [IMPORTS, *CHECKS.values(), MODULE]
        return [Check(COMPILES, False, _one_line(problem)), *(Check(name, None) for name in untried)]
    answers = _answers(source, frames, arguments or {})
    tried = [
        Check(name, answers[key] is None, answers[key] or "") if key in answers else Check(name, None)
        for key, name in CHECKS.items()
    ]
    return [Check(COMPILES, True), _check_imports(tree), *tried, _check_module(source)]


def _answers(
    source: str, frames: tuple[pd.DataFrame, pd.DataFrame] | None, arguments: dict[str, Any]
) -> dict[str, Any]:
    try:
        return run_fresh("check", source=source, frames=frames, arguments=arguments)
    except HostError as problem:
        return {"runs": str(problem)}


def _check_module(source: str) -> Check:
    try:
        reason = run_fresh("import", source=source)["reason"]
    except HostError as problem:
        reason = str(problem)
    return Check(MODULE, reason is None, reason or "")


def _check_imports(tree: ast.Module) -> Check:
    """Imports anywhere in the file, also within functions."""
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # A relative import has no place to start from.
            imported.add("." if node.level else (node.module or "").partition(".")[0])
    others = sorted(imported - ALLOWED - set(REMARKED))
    if others:
        return Check(IMPORTS, False, f"it imports {', '.join(others)}")
    return Check(IMPORTS, True, ", ".join(REMARKED[name] for name in sorted(imported & set(REMARKED))))


def _one_line(problem: Exception) -> str:
    return " ".join(str(problem).split())
