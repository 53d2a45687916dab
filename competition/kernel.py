"""What runs inside a fresh process: a metric file alone, as on Kaggle.

`competition.fresh` starts this file as a script in Python's isolated mode, where nothing of ours can be
imported.  So it imports nothing of ours either, and takes its task and leaves its answer in files.
"""

import contextlib
import copy
import doctest
import functools
import importlib
import inspect
import json
import math
import pickle
import sys
import time
import traceback
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

__all__: list[str] = []

ARGV = ["ipykernel_launcher.py", "-f", "kernel-7d6c2c7e.json"]
CELL = "<cell>"
MODULE = "a_utility_script"
SETTABLE = (int, float, bool, str)
LONGEST_DOCSTRING = 8000
REQUIRED = ["solution", "submission", "row_id_column_name"]

Answer = dict[str, Any]


def main(task_file: str, answer_file: str) -> None:
    task = pickle.loads(Path(task_file).read_bytes())
    do: dict[str, Callable[..., Answer]] = {"check": check, "import": import_module, "score": score}
    answer = do[task.pop("do")](**task)
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


# ---------------------------------------------------------------------------------------------
# Running the file
# ---------------------------------------------------------------------------------------------


def run_cell(source: str) -> types.ModuleType:
    """Run the source as a notebook cell: as `__main__`, without `__file__`, with a kernel's arguments."""
    cell = types.ModuleType("__main__")
    sys.modules["__main__"] = cell
    sys.argv = ARGV.copy()
    exec(compile(source, CELL, "exec", dont_inherit=True), cell.__dict__)
    return cell


def import_module(source: str) -> Answer:
    """Import the source from a file of another name."""
    Path(f"{MODULE}.py").write_text(source, encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(MODULE)
    except (Exception, SystemExit) as problem:
        return {"reason": described(problem)}
    return {"reason": None if callable(getattr(module, "score", None)) else "the module has no score()"}


def described(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())}"


# ---------------------------------------------------------------------------------------------
# Checking it: under the name of each check the reason why it fails, or None
# ---------------------------------------------------------------------------------------------


def check(source: str, frames: tuple[pd.DataFrame, pd.DataFrame] | None, arguments: dict[str, Any]) -> Answer:
    """All checks of the file that runs; `frames` and `arguments` are a further call of its `score`."""
    try:
        cell = run_cell(source)
    except (Exception, SystemExit) as problem:
        return {"runs": described(problem)}
    function = getattr(cell, "score", None)
    if not inspect.isfunction(function):
        return {"runs": None, "score": "there is no function score"}
    answer: Answer = {"runs": None, "score": None, **check_signature(function)}
    answer["docstring"] = check_docstring(function)
    answer["participant"] = check_participant_visible_error(cell)
    calls: list[Answer] = []
    answer["doctests"] = run_doctests(cell, recorded(function, calls))
    if frames is not None:
        with contextlib.suppress(Exception):  # the call says what it raised
            recorded(function, calls)(*frames, **arguments)
    return answer | check_calls(calls, needs_all=frames is not None)


def check_signature(function: types.FunctionType) -> Answer:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    names = [parameter.name for parameter in parameters]
    first = names[: len(REQUIRED)] == REQUIRED
    has_default = "row_id_column_name" in names and (
        signature.parameters["row_id_column_name"].default is not inspect.Parameter.empty
    )
    unfit = [reason for parameter in parameters if (reason := why_not_settable(parameter))]
    returned = signature.return_annotation
    return {
        "arguments": None if first else f"they are {', '.join(names[: len(REQUIRED)]) or 'none'}",
        "row id": "row_id_column_name must not have a default value" if has_default else None,
        "annotations": "; ".join(unfit) or None,
        "return": None if returned is float else f"the annotation is {shown(returned)}",
    }


def why_not_settable(parameter: inspect.Parameter) -> str | None:
    name, annotation = parameter.name, parameter.annotation
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
        return f"{parameter} cannot be set by name"
    if annotation is parameter.empty:
        return f"{name} has no annotation"
    if isinstance(annotation, str):
        return f"the annotation of {name} is the text {annotation!r}, not a type"
    if name in ("solution", "submission"):
        return None if annotation is pd.DataFrame else f"{name} is {shown(annotation)}, not pandas.DataFrame"
    optional = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    options = [option for option in typing.get_args(annotation) if option is not type(None)]
    kind = options[0] if optional and len(options) == 1 else annotation
    if kind not in SETTABLE:
        return f"{name} is {shown(annotation)}, which the site cannot set"
    fitting = (int, float) if kind is float else (kind,)
    default = parameter.default
    if default is parameter.empty or (default is None and optional):
        return None
    if not isinstance(default, fitting) or (isinstance(default, bool) and kind is not bool):
        return f"{name} is {shown(annotation)}, but its default is {default!r}"
    return None


def shown(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return "missing"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def check_docstring(function: types.FunctionType) -> str | None:
    text = function.__doc__ or ""
    if not text.strip():
        return "there is none"
    return f"it has {len(text):,} characters" if len(text) > LONGEST_DOCSTRING else None


def check_participant_visible_error(cell: types.ModuleType) -> str | None:
    error = getattr(cell, "ParticipantVisibleError", None)
    if not (isinstance(error, type) and issubclass(error, Exception)):
        return "there is no exception of this name"
    return None if error.__name__ == "ParticipantVisibleError" else f"its own name is {error.__name__}"


def run_doctests(cell: types.ModuleType, score: Any) -> str | None:
    """Run all doctests, with `score` in place of the cell's own."""
    runner = Runner(verbose=False)
    for test in doctest.DocTestFinder().find(cell):
        test.globs["score"] = score
        runner.run(test)
    if runner.failures:
        return f"{runner.failures} of {runner.tries} examples fail; the first is {runner.first_failure}"
    return None


class Runner(doctest.DocTestRunner):
    """Keeps the first failure and prints nothing."""

    first_failure = ""

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        self.note(example, f"gave {' '.join(got.split()) or 'nothing'}")

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        self.note(example, f"raised {described(exc_info[1])}")

    def note(self, example: doctest.Example, what: str) -> None:
        self.first_failure = self.first_failure or f"{' '.join(example.source.split())!r}, which {what}"


def recorded(function: Any, calls: list[Answer]) -> Any:
    """`score`, noting of every call what it returned, or raised, and what it did to the frames."""

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        frames = [value for value in (*positional, *named.values()) if isinstance(value, pd.DataFrame)]
        before = copy.deepcopy(frames)
        note: Answer = {"raised": None, "returned": None, "changed": None}
        calls.append(note)
        try:
            result = function(*positional, **named)
            note["returned"] = why_not_a_score(result)
        except Exception as problem:
            note["raised"] = described(problem)
            raise
        finally:
            note["changed"] = next(filter(None, map(difference, before, frames)), None)
        return result

    return call


def why_not_a_score(result: Any) -> str | None:
    if not isinstance(result, float):
        return f"it returned {type(result).__name__}"
    return None if math.isfinite(result) else f"it returned {result}"


def difference(before: pd.DataFrame, after: pd.DataFrame) -> str | None:
    try:
        pd.testing.assert_frame_equal(before, after, check_exact=True)
    except AssertionError as problem:
        return " ".join(str(problem).split())
    return None


def check_calls(calls: list[Answer], needs_all: bool) -> Answer:
    """What the calls say; with `needs_all`, the last must have returned."""
    returned = [call for call in calls if call["raised"] is None]
    if needs_all and calls[-1]["raised"]:
        reason = f"for the given files it raised {calls[-1]['raised']}"
    elif not returned:
        reason = "no doctest calls score(): give a solution and a submission to try it with"
    else:
        reason = next((call["returned"] for call in returned if call["returned"]), "")
    changed = next((call["changed"] for call in calls if call["changed"]), None)
    return {"result": reason or None, "frames": changed if calls else reason}


# ---------------------------------------------------------------------------------------------
# Scoring with it
# ---------------------------------------------------------------------------------------------


def score(source: str, solution: pd.DataFrame, submission: pd.DataFrame, arguments: dict[str, Any]) -> Answer:
    """Call `score` once: its result with time and memory, or the name, text and place of what it raised."""
    before = peak_memory()
    start = time.perf_counter()
    try:
        cell = run_cell(source)
        start = time.perf_counter()
        result = cell.score(solution, submission, **arguments)
    except (Exception, SystemExit) as problem:
        return {"error": type(problem).__name__, "text": str(problem), "place": place_in_cell(problem)}
    seconds = time.perf_counter() - start
    reason = why_not_a_score(result)
    if reason:
        return {"error": "ValueError", "text": f"{reason}; Kaggle takes one finite float", "place": None}
    return {"score": float(result), "seconds": seconds, "memory": peak_memory(), "memory_before": before}


def place_in_cell(problem: BaseException) -> str | None:
    """The last line of the cell that the exception passed through."""
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == CELL]
    return f"line {frames[-1].lineno}, in {frames[-1].name}" if frames else None


def peak_memory() -> int:
    """Largest memory of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage's peak would include what the starting process held when it forked.
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
