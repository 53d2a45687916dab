"""Check whether a metric file obeys everything that is known about Kaggle's hosting of metrics."""

import ast
import io
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from podium.common.arrays import Bools
from podium.common.errors import CompanionError, HostError, SubmissionRejected, ToolError, UsageError
from podium.common.wording import counted
from podium.contest import pipeline
from podium.hosting.bundles.program import imported
from podium.hosting.kaggle import fresh, kernel
from podium.hosting.kaggle.kernel import OURS
from podium.metric import adapted, foreign, hosted, shapes
from podium.metric.guard import is_refusal
from podium.metric.shapes import Finding, Level
from podium.scoring import evaluating, verdicts
from podium.scoring.evaluating import PARTS, USAGE
from podium.tables import ids
from podium.tables.formats import csv_bytes

PLATFORM = "Kaggle"
COMPILES = "is UTF-8 text that compiles"
IMPORTS = "imports only what Kaggle's image has"
MODULE = "can be imported as a module"
RUNS_TEXT = "runs no text as a program"
CONTRACT = "can be held to the contract"
STATELESS = "use no random numbers, no clock, and nothing that an earlier call left"
ANSWERED = {  # what a metric file should do, by the key under which `podium.hosting.kaggle.kernel` answers
    "runs": "runs as a notebook cell, alone",
    "score": "defines score()",
    "row id": "has no default for row_id_column_name",
    "annotations": "annotates every argument with a type that the site can set",
    "return": "is annotated to return float",
    "docstring": "has a docstring of fewer than 8,000 characters",
    "participant": "knows ParticipantVisibleError",
    "doctests": "passes its doctests",
    "result": shapes.FINITE,
    "frames": "leaves the frames unchanged",
    "warnings": "prints nothing and warns of nothing in the given files",
    "messages": "has messages of at most 280 characters",
    "opens": "opens no files",
    "module": MODULE,
}
IDS = "the solution has every id once"
ROWS = "the solution has no row twice"
LEFT_OUT = "left out by --quick"
INSTALLED = ("numpy", "pandas")
FURTHER = ("joblib", "scipy", "sklearn")  # packages that Kaggle's image certainly has, too
KNOWN = frozenset({*INSTALLED, *FURTHER, kernel.UTILITIES, *sys.stdlib_module_names})
T = TypeVar("T")
EvaluationOrFinding = evaluating.Evaluation | Finding  # a scored submission, or why there is none
# What runs a text or a file as a program.
LOUD = {"eval", "exec", "pickle", "dill", "joblib.load", "marshal", "shelve", "read_pickle"}


def check_contract(path: Path, scored: EvaluationOrFinding | None = None, quick: bool = False) -> list[Finding]:
    """Hold a metric to the contract, with a submission if one was given; see `podium.scoring.verdicts`."""
    try:
        metric = hosted.load(path)
    except UsageError:
        return []  # Another check has told that there is no score().
    except HostError as problem:
        library = kernel.lacking(problem.__cause__)
        if library and hosted.stands_beside(path, library):
            return []  # Another check has told that it is uploaded alone.
        return [_why_not_held(problem)]
    loads = Finding(shapes.SIGNATURE)
    further = []
    if metric.prepare is None:
        lacking = "without prepare(), scores have no intervals, and ranking again reads every submission again"
        further.append(Finding(shapes.STATISTICS, Level.NOTE, lacking))
    if scored is None:
        further = verdicts.says_direction(metric, {}, verdicts.Use.KEEP) + further
        return [loads, *further, Finding(CONTRACT, Level.SKIPPED, "give a solution and a submission")]
    left_out = [Finding(CONTRACT, Level.SKIPPED, LEFT_OUT)] if quick else []
    return [
        loads,
        *left_out,
        *_held(metric, scored, verdicts.Use.EACH if quick else verdicts.Use.CHECK),
        *further,
    ]


def score(
    metric: hosted.Metric, tables: tuple[pd.DataFrame, pd.DataFrame], arguments: dict[str, Any]
) -> EvaluationOrFinding:
    """Score a submission, or find why it has no score."""
    return _or_why_not(lambda: pipeline.unjudged(pipeline.prepared(metric, tables[0], arguments), tables[1]))


def _held(metric: hosted.Metric, scored: EvaluationOrFinding, use: verdicts.Use) -> list[Finding]:
    """What the checks of the contract find, or why they could not be made."""
    if isinstance(scored, Finding):
        return [scored]
    found = _or_why_not(lambda: verdicts.verdict(scored, use))
    if isinstance(found, Finding):
        return [found]
    if metric.is_built_in:  # podium's tests hold built-in metrics to the contract
        found += [Finding(name) for name in (shapes.DIRECTION, shapes.STATISTICS, shapes.COMPANION)]
    has_companion = metric.companion.explain is not None or metric.path.with_name("companion.py").is_file()
    return [finding for finding in found if finding.name != shapes.COMPANION or has_companion]


def _or_why_not(step: Callable[[], T]) -> T | Finding:
    """Take a step without its warnings, or find why a metric cannot be held to the contract."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return step()
        except SubmissionRejected:
            return Finding(CONTRACT, Level.SKIPPED, "the submission is rejected")
        except HostError as problem:
            return _why_not_held(problem)


def _why_not_held(problem: HostError) -> Finding:
    """Tell why a metric cannot be held to the contract."""
    if isinstance(problem, shapes.ContractError):
        return problem.finding
    library = kernel.lacking(problem.__cause__)
    if library:
        return Finding(CONTRACT, Level.SKIPPED, kernel.untried(library)[1])
    if isinstance(problem, CompanionError):
        return Finding(shapes.COMPANION, Level.FAIL, str(problem))
    if is_refusal(problem):
        return Finding(CONTRACT, Level.SKIPPED, "the solution is rejected")
    return Finding(CONTRACT, Level.FAIL, str(problem))


def refusals(evaluation: evaluating.Evaluation) -> list[Finding]:
    """What Kaggle thinks of a metric's file and of a solution, for `podium.scoring.verdicts.verdict`."""
    solution, metric = evaluation.solution, evaluation.solution.metric
    found = check(metric.path, (solution.frame, evaluation.submission), solution.arguments)
    found += check_solution(
        solution.table, solution.arguments["row_id_column_name"], metric.complete_submission
    )
    for_all = (shapes.FINITE, shapes.AGAIN)  # Such a score is of no use on any platform.
    return [each if each.name in for_all else replace(each, platform=PLATFORM) for each in found]


def most_calls(metric: hosted.Metric, submission: pd.DataFrame) -> int:
    """How often the checks of a submission may call ``score``."""
    answers = len(submission.columns) - 1
    # In a process of its own with the given tables, in another one, and with spoiled ones.
    return 0 if metric.is_built_in else verdicts.most_calls(metric) + 2 + 2 * 3 * answers


def loaded(path: Path, needed: bool) -> hosted.Metric | None:
    """Load a metric to read what is scored with it; None if it cannot be loaded here and is not `needed`."""
    try:
        return hosted.load(path)
    except ToolError:
        if needed:
            raise
        return None  # A check tells why.


def check(
    path: Path,
    tables: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    arguments: dict[str, Any] | None = None,
    quick: bool = False,
) -> list[Finding]:
    """Try a metric file as Kaggle would: alone, and in processes of its own.

    What is `quick` scores the tables once, and no others that are made of them.
    """
    try:
        source = fresh.read_source(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, path.name)
    except (HostError, SyntaxError, ValueError) as problem:
        return [Finding(COMPILES, Level.FAIL, " ".join(str(problem).split()) + hosted.of_notebook(problem))]
    if reason := foreign.not_a_metric(source.encode()):
        return [Finding(COMPILES), Finding(ANSWERED["score"], Level.FAIL, reason)]
    packages = imported(tree)
    beside = [name for name in sorted(packages) if hosted.stands_beside(path, name)]
    of_text = [Finding(COMPILES), _check_imports(packages, beside), *_check_loud(tree)]
    if beside:  # no other process would find it
        return of_text
    columns = None
    if tables is not None:
        rows = tables[0].drop(columns=USAGE, errors="ignore")
        columns = fresh.columns_of(rows), fresh.columns_of(tables[1])
    metric = loaded(path, needed=False) if arguments else None
    own = arguments if metric is None else adapted.own_arguments(metric, arguments or {})
    return [*of_text, *_tried(source, columns, own or {}, quick)]


def frames_of_parts(
    solution: pd.DataFrame, submission: pd.DataFrame, complete: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of each part, for a process of its own."""
    parts = evaluating.rows_of_parts(solution)
    for part in [part for part in parts if part != evaluating.ALL] or [evaluating.ALL]:
        rows = solution[parts[part]].drop(columns=USAGE, errors="ignore")
        theirs = submission if complete else submission[parts[part]]
        yield part, {"solution": fresh.columns_of(rows), "submission": fresh.columns_of(theirs)}


def _tried(
    source: str, columns: tuple[Any, ...] | None, arguments: dict[str, Any], quick: bool
) -> Iterator[Finding]:
    """Run a metric file as a notebook's cell and as a module, and score once more in a new process."""
    answers: dict[str, Any] = {}
    task: dict[str, Any] = {"frames": columns, "arguments": arguments, "spoil": not quick}
    for do, key, further in (("check", "runs", task), ("import", "module", {})):
        try:
            answers |= fresh.run_fresh(do, source=source, **further)
        except HostError as problem:
            answers[key] = Level.FAIL.value, str(problem)
    for key, name in ANSWERED.items():
        if key in answers:
            verdict, remark = answers[key]
            yield Finding(name, Level(verdict), remark)
    if "given" in answers and columns is not None and not quick:
        task = {"solution": columns[0], "submission": columns[1], "arguments": arguments}
        again = fresh.run_fresh("score", source=source, **task).get("score")
        if again not in (None, answers["given"]):
            told = f"score() gives {answers['given']!r}, and {again!r} in a new process; {STATELESS}"
            yield Finding(shapes.AGAIN, Level.FAIL, told)


def without_repetition(findings: Sequence[Finding]) -> list[Finding]:
    """Of each name, keep the last failure; else every doubt; else that all is well, once."""
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        by_name.setdefault(finding.name, []).append(finding)
    kept: list[Finding] = []
    for of_name in by_name.values():
        failures = [finding for finding in of_name if finding.level is Level.FAIL]
        doubts = [finding for finding in of_name if finding.level is not Level.OK]
        kept += failures[-1:] or doubts or of_name[:1]
    return kept


def _check_loud(tree: ast.Module) -> Iterator[Finding]:
    """Tell where a file runs text or pickled objects, by which a submission can take over the process."""
    places = sorted({(line, name) for line, name in _used(tree) if name in LOUD})
    if places:
        shown = ", ".join(f"line {line}: {name}" for line, name in places)
        text = (
            f"{shown}: WHAT A SUBMISSION BRINGS THERE RUNS AS A PROGRAM, and can read the solution; take it out"
        )
        yield Finding(RUNS_TEXT, Level.NOTE, text)


def _used(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The modules that a file imports and the functions that it calls, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.lineno, node.func.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr if node.attr == "read_pickle" else ast.unparse(node)


def _check_imports(imported: set[str], beside: list[str]) -> Finding:
    """Check that Kaggle's image has the packages that a metric file imports.

    Those that stand beside it are not uploaded with it; "." is a relative import.
    """
    if OURS in imported:
        missing = "it imports podium, which Kaggle's image does not have: copy what it needs into the file"
        return Finding(IMPORTS, Level.FAIL, missing)
    if "." in imported or beside:
        name = f" ({', '.join(beside)})" if beside else ""
        alone = f"it imports a file beside it{name}, but is uploaded alone: copy what it needs"
        return Finding(IMPORTS, Level.FAIL, alone)
    others = sorted(imported - KNOWN)
    if others:
        doubt = f"it imports {', '.join(others)}: make sure that Kaggle's image has it"
        return Finding(IMPORTS, Level.NOTE, doubt)
    return Finding(
        IMPORTS, text=f"{kernel.UTILITIES} is a stand-in here" if kernel.UTILITIES in imported else ""
    )


def _found(name: str, fault: str, level: Level = Level.FAIL) -> Finding:
    """What a check has found: a fault of this level, or none."""
    return Finding(name, level if fault else Level.OK, fault)


def check_solution(solution: pd.DataFrame, row_id: str, complete_submission: bool) -> list[Finding]:
    """Check a solution before anybody is scored with it."""
    if row_id not in solution:
        missing = f"there is no column {row_id}; there are {', '.join(map(str, solution.columns))}"
        of_ids = Finding(IDS, Level.FAIL, missing)
    else:
        texts = ids.texts(solution[row_id])
        twice = "" if texts.is_unique else f"{row_id}: {texts[texts.duplicated()].iloc[0]!r} occurs twice"
        of_ids = _found(IDS, twice, Level.NOTE if complete_submission else Level.FAIL)
    number = int(solution.duplicated().sum())
    repeated = f"{number:,} of {len(solution):,} rows repeat an earlier one" if number else ""
    return [_check_usage(solution), of_ids, _found(ROWS, repeated, Level.NOTE)]


def _check_usage(solution: pd.DataFrame) -> Finding:
    """Check that the column `Usage` gives rows to both parts."""
    if USAGE not in solution:
        return Finding(shapes.BOTH_PARTS, Level.NOTE, f"there is no column {USAGE}, and Kaggle asks for one")
    try:
        parts = evaluating.rows_of_parts(solution)
    except HostError as problem:
        return Finding(shapes.BOTH_PARTS, Level.FAIL, str(problem))
    if PARTS[0] not in parts:
        return Finding(shapes.BOTH_PARTS, Level.FAIL, f"no row is {PARTS[0]}")
    shares = ", ".join(f"{int(parts[part].sum()):,} rows are {part}" for part in PARTS if part in parts)
    return Finding(shapes.BOTH_PARTS, Level.OK, shares)


def are_empty(texts: Sequence[str]) -> Bools:
    """Tell which texts Kaggle's reader takes for an empty cell.

    >>> are_empty(["NA", "Na", "None", "nothing"]).tolist()
    [True, False, True, False]
    """
    return _as_read(pd.Series(texts, dtype=object)).isna().to_numpy()


def reads_back(cell: object) -> bool:
    """Whether a cell that fills a whole column is the same when it is read.

    >>> reads_back("yes"), reads_back("true"), reads_back("01"), reads_back(True)
    (True, False, False, True)
    """
    return bool(_as_read(pd.Series([cell], dtype=object)).iloc[0] == cell)


def _as_read(texts: pd.Series) -> pd.Series:
    """A column of texts as Kaggle's reader reads it."""
    content = csv_bytes([["column"], *([text] for text in texts)])
    return pd.read_csv(io.BytesIO(content), low_memory=False)["column"]


def changed_ids(given: pd.Series) -> str:
    """Say which ids Kaggle's reader would change, such as NA and 01; nothing if it keeps all of them."""
    if given.dtype.kind in "iu":
        return ""
    texts = ids.texts(given).reset_index(drop=True)
    read = _as_read(texts)
    became = read.astype(str).astype(object).where(read.notna(), "")
    changed = np.flatnonzero(texts != became)
    if not len(changed):
        return ""
    some = [f"{texts[row]!r} would be {repr(became[row]) if became[row] else 'empty'}" for row in changed[:3]]
    number = f"{len(changed):,} of {counted(len(texts), 'id')}"
    cure = f"rename them, such as id_{texts[changed[0]]}"
    return f"{given.name}: Kaggle's reader changes {number}: {', '.join(some)}; {cure}"
