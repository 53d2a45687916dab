"""Check whether a metric file obeys everything that is known about Kaggle's hosting of metrics."""

import ast
import sys
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import hosted, scoring
from podium.errors import HostError
from podium.hosting import contract_check, fresh, kernel, unloaded
from podium.hosting.kernel import FAIL, NOTE, OURS, PASS, UNTRIED
from podium.scoring import USAGE

COMPILES = "is UTF-8 text that compiles"
IMPORTS = "imports only what Kaggle's image has"
MODULE = "can be imported as a module"
DIRECTION = "says whether higher is better"
DIVIDES = "keeps the fraction when score() divides"
PARAMETERS = "has only parameters that change the score"
AGAIN = "gives the same score again, and for rows in another order"
CONTRACT = "has statistics whose sums are its score"
COMPANION = "has a companion that explains the score"
CHECKS = {  # each check's name, by the key under which `podium.hosting.kernel` answers
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
    "warnings": "prints nothing and warns of nothing in the given files",
    "messages": "has messages of at most 280 characters",
    "module": MODULE,
}
PARTS_OF_ROWS = "the solution has Public and Private rows"
IDS = "the solution has every id once"
ROWS = "the solution has no row twice"
INSTALLED = ("numpy", "pandas")
# Further packages that Kaggle's image certainly has, by import name, with the names under which pip knows them.
FURTHER = {"scipy": "scipy", "sklearn": "scikit-learn"}
# Packages that pip knows under another name than Python.
OTHER_NAMES = {"PIL": "pillow", "cv2": "opencv-python-headless", "skimage": "scikit-image", "yaml": "pyyaml"}
KNOWN = frozenset({*INSTALLED, *FURTHER, kernel.UTILITIES, *sys.stdlib_module_names})


class Check(NamedTuple):
    """The outcome of one check.

    Attributes
    ----------
    name : str
        What the file should do or have.
    verdict : str
        `PASS` if it does.  `NOTE` if it does not, but Kaggle accepts that.  `FAIL` if Kaggle refuses the file
        for it.  `UNTRIED` if it could not be tried.
    remark : str
        The reason of the verdict, or "".
    """

    name: str
    verdict: str
    remark: str = ""


def check_contract(
    metric: hosted.Metric,
    tables: tuple[pd.DataFrame, pd.DataFrame] | None,
    arguments: dict[str, Any] | None,
) -> list[Check]:
    """Check what podium demands of a metric beyond Kaggle's own rules; see `podium.contract`.

    Parameters
    ----------
    metric : Metric
        The metric that `unloaded.metric` returned.  A stranger's metric is tried in a process of its own.
    tables : pair of DataFrame, optional
        A solution with its column `Usage`, and a submission.  Without them the statistics cannot be tried.
    arguments : dict, optional
        The arguments of ``score`` beside the two tables.

    Returns
    -------
    list of Check
        The checks of ``higher_is_better``, of the statistics and, if there is one, of the companion.
    """
    if metric.direction is None:
        direction = Check(
            DIRECTION,
            NOTE,
            "define higher_is_better() -> bool; without it, podium assumes that higher is better",
        )
    else:
        direction = Check(DIRECTION, PASS)
    if metric.prepare is None:
        lacking = "without prepare(), scores have no intervals, and ranking anew reads every submission again"
        alone, slips = _check_alone(metric, tables, arguments)
        return [*alone, _with_doubt(direction, slips), Check(CONTRACT, NOTE, lacking)]
    if tables is None:
        return [direction, Check(CONTRACT, UNTRIED, "give a solution and a submission")]
    slips = contract_slips(metric, *tables, arguments or {"row_id_column_name": str(tables[0].columns[0])})
    companion = slips.get("companion", "")
    if "library" in slips:
        statistics, explained = (kernel.untried(slips["library"]),) * 2
    elif "untried" in slips:
        statistics, explained = ((UNTRIED, slips["untried"]),) * 2
    elif "slip" in slips:
        statistics, explained = (FAIL, slips["slip"]), (UNTRIED, "")
    elif companion:
        is_loaded = "cannot be loaded" not in companion
        statistics, explained = (PASS if is_loaded else UNTRIED, ""), (FAIL, companion)
    else:
        statistics, explained = (NOTE, slips["empty"]) if "empty" in slips else (PASS, ""), (PASS, "")
    beside = metric.path.with_name("companion.py")
    has_companion = metric.companion.explain is not None or (
        metric.path.name == "metric.py" and beside.is_file()
    )
    return [
        _with_doubt(direction, slips),
        Check(CONTRACT, *statistics),
        *_check_parameters(slips),
        *([Check(COMPANION, *explained)] if has_companion else []),
    ]


def _check_alone(
    metric: hosted.Metric,
    tables: tuple[pd.DataFrame, pd.DataFrame] | None,
    arguments: dict[str, Any] | None,
) -> tuple[list[Check], dict[str, str]]:
    """Check that a metric without statistics gives the same score twice, and for rows in another order."""
    if tables is None:
        return [Check(AGAIN, UNTRIED, "give a solution and a submission")], {}
    slips = contract_slips(metric, *tables, arguments or {"row_id_column_name": str(tables[0].columns[0])})
    if "slip" in slips:
        again = FAIL, slips["slip"]
    elif "library" in slips:
        again = kernel.untried(slips["library"])
    elif "untried" in slips:
        again = UNTRIED, slips["untried"]
    else:
        again = (NOTE, slips["doubt"]) if "doubt" in slips else (PASS, "")
    return [Check(AGAIN, *again), *_check_parameters(slips)], slips


def _with_doubt(direction: Check, slips: dict[str, str]) -> Check:
    """The check of the direction, with what the scores themselves say about it."""
    if "direction" not in slips:
        return direction
    return Check(DIRECTION, NOTE, "; ".join(filter(None, (slips["direction"], direction.remark))))


def _check_parameters(slips: dict[str, str]) -> list[Check]:
    """Tell which parameters change nothing, and which were not tried; nothing if there are none."""
    remarks = [
        f"{what}: {slips[key]}"
        for key, what in (("unused", "these change nothing"), ("late", "no time was left to try these"))
        if key in slips
    ]
    verdict = NOTE if "unused" in slips else UNTRIED
    return [Check(PARAMETERS, verdict, "; ".join(remarks))] if remarks else []


def contract_slips(
    metric: hosted.Metric, solution: pd.DataFrame, submission: pd.DataFrame, arguments: dict[str, Any]
) -> dict[str, str]:
    """Try a metric and its companion in a process of its own, and name what violates the contract.

    Parameters
    ----------
    metric : Metric
        The metric.
    solution : DataFrame
        The solution with its column `Usage`.
    submission : DataFrame
        The submission.
    arguments : dict
        The arguments of ``score`` beside the two tables.

    Returns
    -------
    dict of str to str
        The violations by what they concern; see `contract_check.slips`.
    """
    task: dict[str, Any] = {
        "path": str(metric.path.resolve()),
        "solution": fresh.columns_of(solution),
        "submission": fresh.columns_of(submission),
        "arguments": arguments,
    }
    return fresh.run_fresh("contract", program=contract_check.__file__, **task)


def check(
    path: Path,
    frames: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    arguments: dict[str, Any] | None = None,
    python: str | None = None,
) -> list[Check]:
    """Try a metric file as Kaggle would: alone, and in processes of its own.

    Parameters
    ----------
    path : Path
        The metric file.
    frames : pair of DataFrame, optional
        A solution without its column `Usage`, and a submission.  ``score`` is called with them, and must
        return.
    arguments : dict, optional
        The other arguments of that call.
    python : str, optional
        A version of Python, such as "3.12".  The file is then tried with that version, with Kaggle's versions
        of the libraries and with whatever else the file imports.

    Returns
    -------
    list of Check
        The checks in a fixed order.

    Raises
    ------
    UsageError
        If an environment with that version of Python cannot be made.
    """
    try:
        source = fresh.read_source(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, path.name)
    except (HostError, SyntaxError, ValueError) as problem:
        failed = Check(COMPILES, FAIL, " ".join(str(problem).split()))
        return [failed, *(Check(name, UNTRIED) for name in (IMPORTS, *CHECKS.values()))]
    packages = unloaded.imported(tree)
    beside = [name for name in sorted(packages) if hosted.stands_beside(path, name)]
    imports = _check_imports(packages, beside)
    if beside:  # none of these processes would find it
        untried = [Check(name, UNTRIED) for name in CHECKS.values()]
        return [Check(COMPILES, PASS), imports, *_check_division(tree), *untried]
    columns = None if frames is None else tuple(map(fresh.columns_of, frames))
    answers: dict[str, Any] = {}
    interpreter = fresh.environment(python, to_install(packages))
    task: dict[str, Any] = {"frames": columns, "arguments": arguments or {}}
    for do, key, further in (("check", "runs", task), ("import", "module", {})):
        try:
            answers |= fresh.run_fresh(do, interpreter, source=source, **further)
        except HostError as problem:
            answers[key] = FAIL, str(problem)
    tried = [Check(name, *answers.get(key, (UNTRIED, ""))) for key, name in CHECKS.items()]
    return [Check(COMPILES, PASS), imports, *_check_division(tree), *tried]


def to_install(packages: Collection[str]) -> set[str]:
    """Name what pip has to install for a metric file.

    Parameters
    ----------
    packages : collection of str
        The packages that the file imports.

    Returns
    -------
    set of str
        Names as pip knows them; numpy and pandas are always among them.

    Examples
    --------
    >>> sorted(to_install({"os", "sklearn", "polars", "kaggle_metric_utilities"}))
    ['numpy', 'pandas', 'polars', 'scikit-learn']
    """
    there = {*sys.stdlib_module_names, kernel.UTILITIES, ".", OURS}
    return {*INSTALLED, *((FURTHER | OTHER_NAMES).get(name, name) for name in packages if name not in there)}


def _check_imports(imported: set[str], beside: list[str]) -> Check:
    """Check that Kaggle's image has the packages that a metric file imports.

    Those that stand beside it are not uploaded with it; "." is a relative import.
    """
    if OURS in imported:
        return Check(
            IMPORTS,
            FAIL,
            "it imports podium, which Kaggle's image does not have: copy what it needs into the file",
        )
    if "." in imported or beside:
        name = f" ({', '.join(beside)})" if beside else ""
        return Check(
            IMPORTS, FAIL, f"it imports a file beside it{name}, but is uploaded alone: copy what it needs"
        )
    others = sorted(imported - KNOWN)
    if others:
        return Check(IMPORTS, NOTE, f"it imports {', '.join(others)}: make sure that Kaggle's image has it")
    return Check(IMPORTS, PASS)


def _check_division(tree: ast.Module) -> list[Check]:
    """Tell where ``score`` divides by ``//``, which turns most shares into 0; nothing if it does not."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "score"]
    divisions = [
        node
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.FloorDiv)
    ]
    places = ", ".join(f"line {node.lineno}: {ast.unparse(node)}" for node in divisions)
    return [Check(DIVIDES, NOTE, f"{places} drops the fraction: is that meant?")] if places else []


def check_solution(solution: pd.DataFrame, row_id: str, complete_submission: bool) -> list[Check]:
    """Check a solution before anybody is scored with it.

    Parameters
    ----------
    solution : DataFrame
        The solution with its column `Usage`.
    row_id : str
        The name of the column by which Kaggle aligns the rows of a submission with those of the solution.
    complete_submission : bool
        Whether Kaggle passes the whole submission to the metric for either part, and aligns nothing.

    Returns
    -------
    list of Check
        The checks of `Usage`, of the ids and of repeated rows.
    """
    missing = f"there is no column {row_id}; there are {', '.join(map(str, solution.columns))}"
    ids = solution[row_id].astype(str) if row_id in solution else None
    twice = "" if ids is None or ids.is_unique else f"the id {ids[ids.duplicated()].iloc[0]!r} occurs twice"
    repeated = solution[solution.duplicated()]
    rows = "" if repeated.empty else f"{len(repeated):,} of {len(solution):,} rows repeat an earlier one"
    return [
        _check_usage(solution),
        Check(IDS, FAIL, missing)
        if ids is None
        else Check(IDS, (NOTE if complete_submission else FAIL) if twice else PASS, twice),
        Check(ROWS, NOTE if rows else PASS, rows),
    ]


def _check_usage(solution: pd.DataFrame) -> Check:
    """Check that the column `Usage` gives rows to both parts."""
    if USAGE not in solution:
        return Check(PARTS_OF_ROWS, NOTE, f"there is no column {USAGE}, and Kaggle asks for one")
    try:
        parts = scoring.rows_of_parts(solution)
    except HostError as problem:
        return Check(PARTS_OF_ROWS, FAIL, str(problem))
    absent = [part for part in scoring.PARTS if part not in parts]
    if absent:
        return Check(PARTS_OF_ROWS, FAIL, f"no row is {' or '.join(absent)}")
    shares = ", ".join(f"{int(parts[part].sum()):,} rows are {part}" for part in scoring.PARTS)
    return Check(PARTS_OF_ROWS, PASS, shares)
