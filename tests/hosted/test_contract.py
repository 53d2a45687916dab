"""All five hosted files do what every hosted file must do; the tests use their samples."""

import ast
import doctest
import sys
import types
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from podium.metric import hosted
from podium.metric.parameters import defaults, higher_is_better, signature_of
from tests.support.examples import some_of
from tests.support.samples import Case, case_of

# The packages that a file may import in addition to numpy, pandas and the standard library.
MORE = {"markup_consistency": {"scipy", "simplemma", "pymorphy3"}, "readable": {"scipy"}}
pytestmark = pytest.mark.filterwarnings("ignore:.*of the solution overlapping an earlier one")


@pytest.fixture(scope="module", params=list(hosted.names()))
def case(request: pytest.FixtureRequest) -> Case:
    """Each hosted file with its samples."""
    return case_of(request.param)


def source_of(name: str) -> str:
    """The text of a hosted file."""
    return Path(str(hosted.module(name).__file__)).read_text(encoding="utf-8")


# --- what Kaggle demands; more of it is tried by `podium check`, in tests/hosting/test_check.py -----------


@pytest.mark.parametrize("name", hosted.names())
def test_imports(name: str) -> None:
    allowed = {"numpy", "pandas", *sys.stdlib_module_names} | MORE.get(name, set())
    for node in ast.walk(ast.parse(source_of(name))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert {each.partition(".")[0] for each in names} <= allowed


@pytest.mark.parametrize("main", ["__main__", "a_utility_script"])
@pytest.mark.parametrize("name", [*hosted.names(), "boost"])
def test_runs_as_a_notebook_cell_and_as_a_module(name: str, main: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel-1.json"])
    module = types.ModuleType(main)
    monkeypatch.setitem(sys.modules, main, module)
    exec(compile(source_of(name), name, "exec"), module.__dict__)
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted >= 4


# --- the contract -----------------------------------------------------------------------------------


def test_name_and_version(case: Case) -> None:
    assert case.loaded.name == case.metric.NAME
    assert signature_of(hosted.load(case.loaded.name), {}).startswith(f"metric:{case.loaded.name}|version:")
    assert isinstance(case.metric.COMPLETE_SUBMISSION, bool)
    assert higher_is_better(hosted.load(case.loaded.name), {}) is True
    assert set(case.metric.MEASURE_PARAMETERS) <= set(defaults(hosted.load(case.loaded.name)))


# --- faults -----------------------------------------------------------------------------------------

CELLS = [
    None, float("nan"), pd.NA, pd.NaT, "", "  ", "x", "x" * 10_000, "\ud800", "\x00" * 100,
    "{", '{"a": 1}', "[]", -1, 10**400, 10**4000, 1e400, "1e400", 1j, True, b"x", [1], {}, np.array([1, 2]),
    Decimal("sNaN"),
]  # fmt: skip
NESTED = [[1, 2], {"a": 1}, [[1]], {"a": None}]  # cells of columns of Arrow's own types


def faults(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """The table without or with two of a column, with a row twice, and with bad values in one or all cells."""
    broken = [frame.drop(columns=name) for name in frame]
    broken += [pd.concat([frame, frame[[name]]], axis=1) for name in frame]
    broken += [frame.rename(columns={name: "é" * 1000}) for name in frame]
    broken.append(pd.concat([frame, frame.head(1)]))
    wide = pd.DataFrame({f"column {n}" * 50: [n] * len(frame) for n in range(100)}, index=frame.index)
    broken.append(pd.concat([frame[frame.columns[1:]], wide], axis=1))
    for name in frame:
        for nested in NESTED:
            column = pd.array([nested] * len(frame), dtype=pd.ArrowDtype(pa.infer_type([nested])))
            broken.append(frame.assign(**{name: pd.Series(column, index=frame.index)}))
        for cell in CELLS:
            column = pd.Series([*frame[name].tolist()], dtype=object, index=frame.index)
            column.iloc[0] = cell
            broken.append(frame.assign(**{name: column}))
            broken.append(
                frame.assign(**{name: pd.Series([cell] * len(frame), dtype=object, index=frame.index)})
            )
    return broken


def messages(work: Callable[[pd.DataFrame], object], frames: list[pd.DataFrame], error: Any) -> list[str]:
    """Collect the messages about these tables; any other error than a participant's fails the test."""
    said = []
    for frame in frames:
        try:
            work(frame)
        except error as problem:
            said.append(str(problem))
    return said


def test_every_fault_of_a_submission_is_said_in_280_characters(case: Case) -> None:
    prepared = case.metric.prepare(case.solution.head(40), case.row_id)
    known = case.submission[case.row_id].isin(case.solution[case.row_id].head(40))
    broken = some_of(faults(case.submission[known]))
    said = messages(prepared.statistics, broken, case.metric.ParticipantVisibleError)
    assert len(said) >= len(broken) / 3
    assert [text for text in said if len(text) > 280 or "xpected" not in text] == []
    assert "\n".join(said).encode()  # does not end within a surrogate pair


def test_every_fault_of_a_solution_is_the_hosts(case: Case) -> None:
    broken = some_of(faults(case.solution.head(5)))
    said = messages(lambda f: case.metric.prepare(f, case.row_id), broken, case.metric.HostVisibleError)
    assert len(said) >= len(broken) / 3
    assert [text for text in said if len(text) > 280 or "xpected" not in text] == []


def test_the_row_id_may_have_any_name(case: Case) -> None:
    frames = [frame.rename(columns={case.row_id: "key"}) for frame in (case.solution, case.submission)]
    assert case.metric.score(*frames, "key") == case.score()


@pytest.mark.parametrize("frame", [None, [], {}, "solution.csv", 3])
def test_frames_that_are_none(case: Case, frame: object) -> None:
    with pytest.raises(case.metric.HostVisibleError, match="expected a DataFrame, found"):
        case.metric.score(frame, case.submission, case.row_id)
    with pytest.raises(case.metric.HostVisibleError, match="expected a DataFrame, found"):
        case.metric.score(case.solution, frame, case.row_id)


def test_parameters_of_a_wrong_type(case: Case) -> None:
    for name, default in defaults(case.metric).items():
        wrong = {str: [None, 3, ["a"]], float: [None, "65", [1.0], 1j, True], int: [None, "3", 1.5]}.get(
            type(default), [None, "False", 0, []]
        )
        for value in wrong:
            with pytest.raises(case.metric.HostVisibleError, match=f"^{name}: expected ") as caught:
                case.metric.prepare(case.solution, case.row_id, **{name: value})
            assert len(str(caught.value)) <= 280
