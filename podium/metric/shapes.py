"""Demands on what a metric and its companion define: signatures, and the shapes of what their functions return.

Podium makes these demands wherever it meets a custom metric, because everything else builds on them.
`podium.metric.guard` does so when a metric is loaded and whenever one of its functions returns.
`podium.scoring.verdicts`
finds what only shows when a submission is scored again; its findings are of the class `Finding`, too.
"""

import contextlib
import enum
import inspect
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_type_hints

import numpy as np
import pandas as pd

from podium.common.errors import CompanionError, ContractWarning, HostError
from podium.metric.contract import REQUIRED, Explanation, Metric, Prepared
from podium.tables import records

# What a metric should do, as podium check prints it.
SIGNATURE = "takes solution, submission, row_id_column_name first"
STATISTICS = "has statistics whose sums are its score"
AGAIN = "gives the same score again"
TRUTH = "has the truth of every row"
COLUMNS = "ignores columns that it does not ask for"
FINITE = "returns a finite float"
DIRECTION = "says whether higher is better"
COMPANION = "has a companion that explains the score"
BOTH_PARTS = "the solution has Public and Private rows"

SHOWN = 60  # characters of a value in a message

WITHOUT_USAGE = "The platform takes the column Usage out before it calls score(): leave out what uses it"

Demand = tuple[bool, str, object]  # whether it holds, what is expected, and what was found


class Level(enum.Enum):
    """How bad a finding is. The values are the words that ``podium check`` prints."""

    OK = "pass"
    NOTE = "note"  # Platforms accept it. The host should know it.
    FAIL = "FAIL"  # Scores cannot be trusted, or a platform refuses the file.
    SKIPPED = "----"  # It could not be tried.


@dataclass(frozen=True)
class Finding:
    """What a check has found."""

    name: str  # what the metric should do
    level: Level = Level.OK
    text: str = ""  # the reason of the level, for the host
    platform: str = ""  # the platform whose findings these are; a failure stops all others only if it is ""


class ContractError(HostError):
    """A metric does not keep to the contract."""

    def __init__(self, finding: Finding) -> None:
        whose = f"{finding.platform} would refuse this: {finding.name}: " if finding.platform else ""
        super().__init__(f"{whose}{finding.text}")
        self.finding = finding


def demand(found: Iterable[Finding], platform: str = "") -> None:
    """Raise an error for the first failure that stops everybody or this platform, and warn of what is a note.

    What stops another platform is one note, however many findings there are. What is only a note there is none
    here.
    """
    elsewhere: dict[str, list[Finding]] = {}
    for finding in found:
        fails = finding.level is Level.FAIL
        if fails and finding.name == COMPANION:
            raise CompanionError(finding.text)
        if fails and finding.platform in ("", platform):
            raise ContractError(finding)
        if fails:
            elsewhere.setdefault(finding.platform, []).append(finding)
        elif finding.level is Level.NOTE and not finding.platform:
            warnings.warn(finding.text, ContractWarning, stacklevel=2)
    for first, *more in elsewhere.values():
        also = f" (podium check tells {len(more)} more)" if more else ""
        warnings.warn(f"{ContractError(first)}{also}", ContractWarning, stacklevel=2)


def misses_usage(kind: str, text: str) -> bool:
    """Whether an error of pandas says that a table has no column Usage."""
    return kind in ("KeyError", "AttributeError") and re.search(r"\bUsage\b", text) is not None


def failure(name: str, text: str) -> Finding:
    """Make a finding that stops."""
    return Finding(name, Level.FAIL, text)


def note(name: str, text: str) -> Finding:
    """Make a finding that the host should know."""
    return Finding(name, Level.NOTE, text)


def first_unmet(name: str, place: str, demands: Iterable[Demand]) -> Iterator[Finding]:
    """Find the first demand that does not hold. Later ones may rely on it, so they are not looked at."""
    for holds, expected, found in demands:
        if not holds:
            yield Finding(name, Level.FAIL, f"{place}: expected {expected}, found {found}")
            return


def check_signature(metric: Metric) -> Iterator[Finding]:
    """Check that ``score`` takes the two tables and the name of the row ids first.

    Exchanged names would exchange truths and predictions, and many scores would not show it.
    """
    return first_unmet(SIGNATURE, where(metric), _demands_on_score(metric))


def _demands_on_score(metric: Metric) -> Iterator[Demand]:
    parameters: list[inspect.Parameter] = []
    with contextlib.suppress(ValueError):  # a function in C may have no signature
        parameters = list(inspect.signature(metric.score).parameters.values())
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters[: len(REQUIRED)]]
    fits = names == list(REQUIRED) and all(each.kind in by_position for each in parameters[:2])
    can_be_named = fits and parameters[2].kind is not inspect.Parameter.POSITIONAL_ONLY
    found = ", ".join(map(str, parameters)) or "none"
    yield can_be_named, f"the parameters {', '.join(REQUIRED)} first", f"{found:.160}"


def check_prepare(metric: Metric) -> Iterator[Finding]:
    """Check that ``prepare`` has the parameters of ``score``, with its defaults.

    Otherwise the score and the statistics would be computed with different parameters.
    """
    if metric.prepare is None:
        return
    in_score = inspect.signature(metric.score).parameters
    accepted = inspect.signature(metric.prepare).parameters
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in accepted.values())
    for parameter in list(in_score.values())[len(REQUIRED) :]:
        other = accepted.get(parameter.name)
        is_passed_on = takes_all and other is None
        if parameter.kind is inspect.Parameter.VAR_KEYWORD or is_passed_on:
            continue
        if other is None or repr(other.default) != repr(parameter.default):
            found = "without it" if other is None else f"with {other}"
            yield failure(
                STATISTICS,
                f"{metric.path.name}: prepare(): expected the parameter {parameter!s:.60}, as score() has it, "
                f"found prepare() {found:.60}",
            )


def check_numbers(metric: Metric, prepared: Prepared, numbers: Any) -> Iterator[Finding]:
    """Check the kind and the shape of a submission's statistics."""
    expected = f"an array of shape ({len(prepared.items)}, k), one row per item"
    is_array = isinstance(numbers, np.ndarray)
    fits = is_array and numbers.ndim == 2 and len(numbers) == len(prepared.items)
    is_numeric = fits and numbers.dtype.kind in "fiub"
    are_finite = is_numeric and bool(np.isfinite(numbers).all())
    demands = [
        (fits, expected, f"shape {numbers.shape}" if is_array else type(numbers).__name__),
        (is_numeric, "finite floats", numbers.dtype if fits else ""),
        (are_finite, "finite floats", "numbers that are not finite"),
    ]
    return first_unmet(STATISTICS, f"{metric.path.name}: statistics()", demands)


def check_measures(metric: Metric, prepared: Prepared, sums: Any, values: Any) -> Iterator[Finding]:
    """Check the shape of the measures of some sums."""
    shape, number = np.shape(sums), len(prepared.measure_names)
    expected = f"shape {(*shape[:-2], number)}, as there are {number} measure_names, for sums of shape {shape}"
    fits = np.shape(values) == (*shape[:-2], number)
    demands = [(fits, f"{expected}; let it work on the last two axes", f"shape {np.shape(values)}")]
    return first_unmet(STATISTICS, f"{metric.path.name}: measures()", demands)


def _is_async(result: object) -> bool:
    """Whether an async function returned this; it is closed, or Python would warn that nobody awaits it."""
    if inspect.iscoroutine(result):
        result.close()
        return True
    return False


def one_truth(metric: Metric, answer: object) -> bool:
    """Return what ``higher_is_better()`` returned, if it is True or False."""
    if isinstance(answer, bool | np.bool_):
        return bool(answer)
    cure = "; write def in place of async def" if _is_async(answer) else ""
    found = f"{type(answer).__name__} {answer!r:.60}{cure}"
    text = f"{metric.path.name}: higher_is_better(): expected True or False, found {found}"
    raise ContractError(failure(DIRECTION, text))


def one_float(metric: Metric, result: object) -> float:
    """Return what ``score()`` returned, if it is a number: a float, a whole number or one of numpy's.

    Whether the number is finite is another question, because it may depend on the submission. Where submissions
    are ranked, one that leads to infinity is rejected.
    """
    if isinstance(result, int | float | np.integer | np.floating) and not isinstance(result, bool):
        return float(result)
    cure = "end it with return" if result is None else "return float(…)"
    if _is_async(result):
        cure = "write def in place of async def"
    found = f"{type(result).__name__} {' '.join(repr(result).split()):.40}; {cure}"
    raise ContractError(failure(FINITE, f"{where(metric)}: expected one finite float, found {found}"))


def one_explanation(metric: Metric, explanation: Any) -> Any:
    """Return what the companion's ``explain`` returned, if everything that it tells can be computed."""
    demand(check_explanation(explanation))
    return explanation


def where(metric: Metric) -> str:
    """Name ``score()`` of a metric in a message, with the line where it begins."""
    code = getattr(inspect.unwrap(metric.score), "__code__", None)
    line = "" if code is None else f", line {code.co_firstlineno}"
    return f"{metric.path.name}{line}: score()"


def made_submission(name: str, submission: object) -> pd.DataFrame:
    """Return the submission that a function of a companion has made, if it is a table."""
    if not isinstance(submission, pd.DataFrame):
        raise CompanionError(f"companion.py: {name}(): expected a table, found {type(submission).__name__}")
    return submission


# ---- What a companion tells --------------------------------------------------------------------------------

# The columns of tables that an explanation may leave empty.
COLUMNS_OF = {"groups": ("attribute", "value", "score", "weight"), "forecasts": ("probability", "happened")}


def check_explanation(explanation: Any) -> Iterator[Finding]:
    """Check an explanation of a companion, by computing everything that it can tell."""
    return first_unmet(COMPANION, "companion.py", _demands_on_explanation(explanation))


def _demands_on_explanation(explanation: Any) -> Iterator[Demand]:
    kind, told = type(explanation).__name__, {}
    properties = {name: each.fget for name, each in vars(Explanation).items() if isinstance(each, property)}
    del properties["gains"]  # which are made of the losses
    for name in ("roles", *properties):
        # hasattr() of the object would compute a property. An AttributeError in it would look like its absence.
        is_there = hasattr(type(explanation), name) or name in getattr(explanation, "__dict__", {})
        yield is_there, "explain to return a podium.metric.contract.Explanation", f"{kind} without {name}"
    for name, function in properties.items():
        told[name] = getattr(explanation, name)
        expected = get_type_hints(function)["return"]
        words = re.sub(r"(?<![a-z_.])[a-z_.]+\.", "", inspect.formatannotation(expected))
        fault = records.fault_in(told[name], expected)
        yield not fault, f"{name} to be {words}", f"{in_words(told[name])}: {fault}"
    rows, losses = told["rows"], told["losses"]
    for role, column in explanation.roles.items() if len(rows.columns) else ():
        is_there = column in rows or (role, column) in Explanation.roles.items()  # the default promises nothing
        expected = f"the {role} of roles to be a column of rows"
        yield is_there, expected, f"{column!r}; rows has {', '.join(map(str, rows))}"
    if "points_lost" in rows:
        finite = rows["points_lost"].dtype.kind in "iuf" and np.isfinite(rows["points_lost"]).all()
        yield bool(finite), "finite numbers in points_lost of rows", "others"
    if losses is not None:
        yield len(losses) == len(rows), f"{len(rows)} losses, as rows has", len(losses)
    for name, columns in COLUMNS_OF.items():
        table = told[name]
        if table is not None and len(table.columns):
            are_there = all(column in table for column in columns)
            yield are_there, f"{name} to have the columns {', '.join(columns)}", ", ".join(map(str, table))


def in_words(value: object) -> str:
    """A value in a message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
