"""Run a metric file alone, as Kaggle does.

`podium.hosting.kaggle.fresh` starts this file as a script, for a metric that finds no podium, as on Kaggle.
Therefore it imports nothing from podium.
"""

import contextlib
import copy
import doctest
import functools
import importlib.util
import inspect
import io
import json
import math
import os
import pickle
import platform
import sys
import tempfile
import time
import traceback
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ARGV = ["ipykernel_launcher.py", "-f", "kernel-7d6c2c7e.json"]
CELL = "<cell>"
MODULE = "a_utility_script"
OURS = "podium"
UTILITIES = "kaggle_metric_utilities"
UTILITIES_FILE = Path(__file__).parents[2] / "metric" / f"{UTILITIES}.py"
DOCSTRING_LIMIT = 8000  # characters: a docstring must be shorter
LONGEST_TEXT = 1000  # characters of an error's text
MOST_SPOILT = 30  # columns of a submission, each of which is left out and filled with words
LONGEST_MESSAGE = 280  # characters: Kaggle cuts longer messages
SLOW = 10.0  # seconds of processor time after which a call of score is called slow
PARTICIPANTS_ERROR = "ParticipantVisibleError"
PASS, NOTE, FAIL, UNTRIED = "pass", "note", "FAIL", "----"

Answer = dict[str, Any]
Spoilt = tuple[str, BaseException | None]
Verdict = tuple[str, str]  # a verdict with its reason


def main(task_file: str, answer_file: str) -> None:
    """Read a task, do it, and write the answer."""
    modules: dict[str, Any] = sys.modules
    modules[OURS] = None  # podium is installed here, but not on Kaggle
    task = pickle.loads(Path(task_file).read_bytes())
    answer = TASKS[task.pop("do")](**task)
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a thread that the metric has left behind is not waited for


def run_cell(source: str, name: str = "__main__") -> types.ModuleType:
    """Execute a metric file as the cell of a notebook: without `__file__`, and with a kernel's arguments."""
    cell = types.ModuleType(name)
    sys.modules[name] = cell
    sys.modules[UTILITIES] = metric_utilities()
    sys.argv = ARGV.copy()
    exec(compile(source, CELL, "exec", dont_inherit=True), cell.__dict__)
    return cell


def metric_utilities() -> types.ModuleType:
    """Load the stand-in for Kaggle's module of helpers from its file, because podium cannot be imported."""
    spec = importlib.util.spec_from_file_location(UTILITIES, UTILITIES_FILE)
    assert spec is not None
    assert spec.loader is not None
    utilities = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utilities)
    return utilities


def import_module(source: str) -> Answer:
    """Check whether a metric file can be imported as a module."""
    Path(f"{MODULE}.py").write_text(source, encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))
    sys.modules[UTILITIES] = metric_utilities()
    try:
        importlib.import_module(MODULE)
    except (Exception, SystemExit) as problem:
        return {"module": failed_or_untried(problem)}
    return {"module": (PASS, "")}


def lacking(problem: BaseException | None) -> str:
    """Name the library whose absence caused an error."""
    if not isinstance(problem, ModuleNotFoundError):
        return ""
    name = (problem.name or "").partition(".")[0]
    return "" if name in ("", OURS) or name in sys.stdlib_module_names else name


def untried(library: str) -> Verdict:
    """Make the verdict of a check that needs a library that is not installed here."""
    return UNTRIED, f"it needs {library}, which is not installed here: install it"


def failed_or_untried(problem: BaseException, where: str = "") -> Verdict:
    """Make the verdict of an error: the file fails, unless a library is missing."""
    return untried(lacking(problem)) if lacking(problem) else (FAIL, where + described(problem))


def passed_unless(fault: str, level: str = FAIL) -> Verdict:
    """Make the verdict of a check that passes if it has found no fault."""
    return (level, fault) if fault else (PASS, "")


def described(problem: BaseException) -> str:
    """Put the kind and the text of an error on one line."""
    return f"{type(problem).__name__}: {shortened(str(problem), LONGEST_TEXT)}".removesuffix(": ")


def shortened(text: str, most: int) -> str:
    """Put a text on one line and cut it."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


def try_file(
    source: str, frames: tuple[Answer, Answer] | None, arguments: dict[str, Any], spoil: bool = True
) -> Answer:
    """Make all checks that need the metric file to run; `spoil` lets it score spoiled submissions, too."""
    versions = f"Python {platform.python_version()}, pandas {pd.__version__}, numpy {np.__version__}"
    runs: Verdict = (PASS, versions)
    try:
        cell = run_cell(source)
    except BaseException as problem:
        runs = failed_or_untried(problem)
        try:  # A block for __main__ alone may have failed, which hides nothing of the rest.
            cell = run_cell(source, MODULE)
        except BaseException:
            return {"runs": runs}
    function = getattr(cell, "score", None)
    if not inspect.isfunction(function):
        return {"runs": runs, "score": (FAIL, "there is no function score")}
    calls: list[Call] = []
    score = recorded(function, calls)
    answer = {
        "runs": runs,
        "score": (PASS, ""),
        **check_annotations(function),
        "docstring": check_docstring(function),
        "doctests": run_doctests(cell, score),
    }
    given = None
    if frames is not None:
        answer |= score_given(score, calls, frames, arguments)
        given = calls[-1]
        if given.raised is None and not given.wrong:
            answer["given"] = float(given.result)
    left_out = {"participant": (UNTRIED, "left out by --quick")}
    errors = check_errors(cell, function, calls) if spoil else left_out
    return answer | errors | check_calls(calls, given)


def score_given(
    score: Any, calls: list["Call"], frames: tuple[Answer, Answer], arguments: dict[str, Any]
) -> Answer:
    """Score the given files, and check that this prints nothing, warns of nothing and opens no file."""
    opened: list[str] = []
    home = Path.cwd()
    there = {path.name for path in home.iterdir()}
    printed = io.StringIO()
    with (
        watched(opened),
        contextlib.suppress(BaseException),  # it is kept in the record of the call
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        score(*map(pd.DataFrame, frames), **arguments)
    told = [shortened(str(each.message), LONGEST_TEXT) for each in caught]
    if printed.getvalue().strip():
        told.append(f"it prints {shortened(printed.getvalue(), 60)}")
    if gone := sorted(there - {path.name for path in home.iterdir()}):
        return {"opens": (FAIL, f"score() deletes files of the current folder: {', '.join(gone)}")}
    answer = {}
    if told or calls[-1].raised is None:
        answer["warnings"] = passed_unless("; ".join(dict.fromkeys(told)), NOTE)
    if opened or calls[-1].raised is None:
        answer["opens"] = passed_unless(f"score() opens {shortened(', '.join(opened), 200)}" if opened else "")
    return answer


@contextlib.contextmanager
def watched(opened: list[str]) -> Iterator[None]:
    """Note the files that are opened, except those of libraries, those that an import opens, and new ones."""
    own = tuple(filter(None, {sys.prefix, sys.base_prefix, *sys.path, "/proc", "/sys", "/dev", "/etc", "/usr"}))
    is_on, begun = True, time_of_files()

    def note(event: str, details: tuple[Any, ...]) -> None:
        if not (is_on and event == "open" and isinstance(details[0], str | bytes)):
            return
        path = str(Path(os.fsdecode(details[0])).absolute())
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and "importlib" not in frame.f_code.co_filename:
            frame = frame.f_back
        is_foreign = frame is None and not path.startswith(own) and path not in opened
        if is_foreign and is_looked_for(path, details[2], begun):
            opened.append(path)

    sys.addaudithook(note)
    try:
        yield
    finally:
        is_on = False


def time_of_files() -> int:
    """The time of a file that is made now; the clock of the file system is a coarse one."""
    with tempfile.TemporaryFile() as file:
        return os.stat(file.fileno()).st_ctime_ns


def is_looked_for(path: str, flags: int, begun: int) -> bool:
    """Whether a file was there before score() began, or is opened to be read and is not there."""
    try:
        return os.stat(path).st_ctime_ns < begun
    except OSError:
        return not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)


def check_annotations(function: types.FunctionType) -> Answer:
    """Check the annotations of ``score``, from which Kaggle's site knows what a host can set."""
    parameters = inspect.signature(function).parameters.values()
    try:
        hints = typing.get_type_hints(function)
    except Exception as problem:
        return {"annotations": (FAIL, described(problem))}
    faults = "; ".join(filter(None, (why_not_annotated(each, hints.get(each.name)) for each in parameters)))
    unsettable = [str(each) for each in parameters if not is_settable(each, hints.get(each.name))]
    annotations = passed_unless(faults)
    if not faults and any(isinstance(each.annotation, str) for each in parameters):
        annotations = NOTE, "annotations are texts, and it is not known whether Kaggle reads those"
    elif not faults and unsettable:
        annotations = NOTE, f"Kaggle's site may be unable to set {', '.join(unsettable)}"
    has_default = any(
        each.name == "row_id_column_name" and each.default is not each.empty for each in parameters
    )
    result = hints.get("return")
    return {
        "row id": passed_unless("row_id_column_name must not have a default value" if has_default else ""),
        "annotations": annotations,
        "return": passed_unless("" if result is float else f"the annotation is {shown(result)}"),
    }


def why_not_annotated(parameter: inspect.Parameter, annotation: Any) -> str:
    """Say why Kaggle refuses a parameter of ``score``."""
    name = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        return f"{parameter} cannot be set by name"
    if parameter.annotation is parameter.empty:
        return f"{name} has no annotation"
    if name in ("solution", "submission") and annotation is not pd.DataFrame:
        return f"{name} is {shown(annotation)}, not pandas.DataFrame"
    return ""


def is_settable(parameter: inspect.Parameter, annotation: Any) -> bool:
    """Whether a host can set a parameter on Kaggle's site, where it otherwise keeps its default value."""
    if parameter.name in ("solution", "submission") or parameter.annotation is parameter.empty:
        return True
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    kinds = typing.get_args(annotation) if is_union else (annotation,)
    values = [kind for kind in kinds if kind is not type(None)]
    takes = (*kinds, int) if float in kinds else kinds
    has_fitting_default = parameter.default is parameter.empty or type(parameter.default) in takes
    return len(values) == 1 and values[0] in (int, float, bool, str) and has_fitting_default


def shown(annotation: Any) -> str:
    """Write an annotation as its author would."""
    if annotation is None:
        return "missing"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def check_docstring(function: types.FunctionType) -> Verdict:
    """Check the docstring of ``score``, which Kaggle shows to hosts who choose a metric."""
    text = function.__doc__ or ""
    if not text.strip():
        return NOTE, "there is none, and Kaggle shows it to hosts who choose a metric"
    return passed_unless(f"it has {len(text):,} characters" if len(text) >= DOCSTRING_LIMIT else "")


def knows_participants_error(cell: types.ModuleType) -> bool:
    """Whether the file can tell participants what is wrong with a submission."""
    return any(
        value is sys.modules.get(UTILITIES)
        or (isinstance(value, type) and value.__name__ == PARTICIPANTS_ERROR)
        for value in vars(cell).values()
    )


def run_doctests(cell: types.ModuleType, score: Any) -> Verdict:
    """Run the examples in all docstrings up to the first that fails, with every call of ``score`` recorded."""
    # The docstring of Kaggle's own F-beta expects "0.23..." without asking for ELLIPSIS.
    runner = doctest.DebugRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder().find(cell):
        test.globs["score"] = score
        try:
            runner.run(test)
        except doctest.DocTestFailure as failure:
            got, expected = (shortened(text, LONGEST_TEXT) for text in (failure.got, failure.example.want))
            return FAIL, f"{source_of(failure)!r} gave {got or 'nothing'} instead of {expected or 'nothing'}"
        except doctest.UnexpectedException as failure:
            return failed_or_untried(failure.exc_info[1], f"{source_of(failure)!r} raised ")
    return PASS, f"{runner.tries} examples" if runner.tries else "there are none"


def source_of(failure: doctest.DocTestFailure | doctest.UnexpectedException) -> str:
    """Put the source of a failed example on one line."""
    return shortened(failure.example.source, LONGEST_TEXT)


class Call(typing.NamedTuple):
    """One call of ``score`` and its outcome."""

    arguments: dict[str, Any]  # the arguments by name, as they were before the call
    result: Any  # what the call returned
    raised: BaseException | None  # the error that the call raised, if it raised one
    wrong: str  # Why the result is not a score, or "" if it is one
    changes: bool  # whether the call changed one of the tables
    seconds: float  # the processor time that the call took, which does not depend on what else the machine does


def recorded(function: Any, calls: list[Call]) -> Any:
    """Wrap a function so that every call of it is recorded."""

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        given: dict[str, Any] = {}
        before: dict[str, Any] = {}
        result, raised, wrong = None, None, ""
        start = time.process_time()
        try:
            given = inspect.signature(function).bind(*positional, **named).arguments
            before = copy.deepcopy(given)
            result = function(*positional, **named)
            wrong = why_not_a_score(result)
            return result
        except BaseException as problem:
            raised = problem
            raise
        finally:
            seconds = time.process_time() - start
            changes = any(not before[name].equals(given[name]) for name in tables_of(before))
            calls.append(Call(before, result, raised, wrong, changes, seconds))

    return call


def tables_of(arguments: dict[str, Any]) -> list[str]:
    """Name the arguments of a call that are tables: the solution, then the submission."""
    return [name for name, value in arguments.items() if isinstance(value, pd.DataFrame)]


def why_not_a_score(result: Any) -> str:
    """Say why a result is not a score."""
    if isinstance(result, bool) or not isinstance(result, int | float | np.integer | np.floating):
        return f"it returned {type(result).__name__}"
    return "" if math.isfinite(result) else f"it returned {result}"


def check_calls(calls: list[Call], given: Call | None) -> Answer:
    """Check what the calls of ``score`` returned and changed, among them the one with the given files."""
    libraries = [lacking(call.raised) for call in calls if lacking(call.raised)]
    if libraries:
        return {"result": untried(libraries[0])}
    if given is not None and given.raised is not None:
        return {"result": (FAIL, f"for the given files it raised {located(given.raised)}")}
    returned = [call for call in calls if call.raised is None]
    if not returned:
        reason = "no doctest calls score(): give a solution and a submission to try it with"
        return {"result": (UNTRIED, reason)}
    result = passed_unless(next(filter(None, (call.wrong for call in returned)), ""))
    seconds = max(call.seconds for call in returned)
    if result[0] is PASS and seconds >= SLOW:
        result = NOTE, f"a call took {seconds:.0f} s; Kaggle allows 30 minutes for Public and Private together"
    changes = any(call.changes for call in calls)
    return {
        "result": result,
        "frames": passed_unless("it changes a table that it is given" if changes else "", NOTE),
    }


def check_errors(cell: types.ModuleType, function: Any, calls: list[Call]) -> Answer:
    """Check what participants read of wrong submissions, which are the last good one spoiled."""
    good = [call for call in calls if call.raised is None and len(tables_of(call.arguments)) == 2][-1:]
    spoilt = [each for call in good for each in errors_of_spoilt(function, call)]
    if knows_participants_error(cell):
        disguised = [each for call in good for each in errors_of_spoilt(function, call, disguised=True)]
        participant = check_rejections(spoilt, disguised)
    else:
        participant = NOTE, "there is none, so participants are never told what is wrong"
    raised = [*(call.raised for call in calls), *(problem for _, problem in spoilt)]
    return {"participant": participant, **check_messages(raised)}


def errors_of_spoilt(function: Any, call: Call, disguised: bool = False) -> list[Spoilt]:
    """Repeat a call of ``score`` with spoiled submissions, perhaps with other truths in the solution."""
    raised: list[Spoilt] = []
    of_solution, of_submission = tables_of(call.arguments)
    for how, spoilt in spoilt_frames(call.arguments[of_submission]):
        given = {name: copy.copy(value) for name, value in call.arguments.items()} | {of_submission: spoilt}
        if disguised:
            given[of_solution] = with_other_truths(given[of_solution])
        bound = inspect.BoundArguments(inspect.signature(function), given)
        try:
            result = function(*bound.args, **bound.kwargs)
            wrong = why_not_a_score(result) if how else ""
            raised.append((how, ValueError(wrong) if wrong else None))
        except BaseException as problem:
            raised.append((how, problem))
    return raised


def with_other_truths(solution: pd.DataFrame) -> pd.DataFrame:
    """Reverse the rows of a solution, except for the first column, which names them."""
    return (
        solution.iloc[::-1].set_axis(solution.index).assign(**{str(solution.columns[0]): solution.iloc[:, 0]})
    )


def check_messages(raised: list[BaseException | None]) -> Answer:
    """Check the length of the messages for participants."""
    messages = [str(problem) for problem in raised if type(problem).__name__ == PARTICIPANTS_ERROR]
    if not messages:
        return {}
    longest = max(messages, key=len)
    if len(longest) > LONGEST_MESSAGE:
        return {"messages": (NOTE, f"Kaggle cuts a message of {len(longest):,} characters: {longest[:60]!r}…")}
    return {"messages": (PASS, f"the longest that was seen has {len(longest)}")}


def check_rejections(spoilt: list[Spoilt], disguised: list[Spoilt]) -> Verdict:
    """Check that participants learn what is wrong with a submission, and nothing about the solution.

    If a message changes with the truths of the solution, it may reveal them.
    """
    for how, problem in spoilt:
        if how and problem is not None and type(problem).__name__ != PARTICIPANTS_ERROR:
            return NOTE, f"{how} raises {located(problem, 80)}, and participants are not told what is wrong"
    for (_, problem), (_, other) in zip(spoilt, disguised):
        are_messages = all(type(each).__name__ == PARTICIPANTS_ERROR for each in (problem, other))
        if are_messages and str(problem) != str(other):
            text = shortened(str(problem), 80)
            return NOTE, f"a message depends on the solution and may tell it to participants: {text}"
    return PASS, ""


def spoilt_frames(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Spoil a submission in ways that Kaggle itself does not notice; say how if it has to be rejected."""
    for name in frame.columns[1 : 1 + MOST_SPOILT]:
        yield f"a submission without the column {name}", frame.drop(columns=name)
        words = f"a submission with words in the column {name}"
        is_number = pd.api.types.is_numeric_dtype(frame[name])
        for value, how in (("word " * 99, words if is_number else ""), (-1, "")):
            spoilt = pd.Series([value] * len(frame), index=frame.index, dtype=object)
            yield how, frame.assign(**{str(name): spoilt})


def score_part(source: str, solution: Answer, submission: Answer, arguments: dict[str, Any]) -> Answer:
    """Score one part of a solution."""
    frames = pd.DataFrame(solution), pd.DataFrame(submission)
    try:
        cell = run_cell(source)
        start = time.perf_counter()
        result = cell.score(*frames, **arguments)
        seconds = time.perf_counter() - start
        reason = why_not_a_score(result)
        if reason:
            raise ValueError(f"{reason}; Kaggle takes one finite float")
    except BaseException as problem:
        return {
            "error": type(problem).__name__,
            "text": str(problem)[:LONGEST_TEXT],
            "line": line_of(problem),
            "library": lacking(problem),
        }
    return {"score": float(result), "seconds": seconds}


def line_of(problem: BaseException) -> str | None:
    """Find the last line of the metric file on the way to an error."""
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == CELL]
    return f"line {frames[-1].lineno}, in {frames[-1].name}" if frames else None


def located(problem: BaseException, most: int = LONGEST_TEXT) -> str:
    """Describe an error with its line in the metric file."""
    line = line_of(problem)
    is_shown = type(problem).__name__ == PARTICIPANTS_ERROR
    text = shortened(described(problem), most)
    return text if is_shown or line is None else f"{text} ({line})"


TASKS: dict[str, Callable[..., Answer]] = {
    "check": try_file,
    "import": import_module,
    "score": score_part,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
