"""`host.py check`: every demand of Kaggle's, with a file that fails it."""

from pathlib import Path

import pytest

from competition import checks, fresh
from tests.host_line import ROOT, SOLUTION, SUBMISSION, every_metric, run_host, stay_in_process

GOOD = '''
"""Shares of equal answers."""
from typing import Optional

import numpy as np
import pandas as pd


class ParticipantVisibleError(Exception):
    pass


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    weight: float = 1,
    name: Optional[str] = None,
    limit: int | None = 3,
    strict: bool = False,
) -> float:
    """The share of equal answers.

    >>> solution = pd.DataFrame({"id": [1, 2], "answer": [0, 1]})
    >>> score(solution, solution, "id")
    1.0
    """
    if "answer" not in submission:
        raise ParticipantVisibleError("no column answer")
    return float(np.mean(solution["answer"].to_numpy() == submission["answer"].to_numpy()))
'''
SCORES = """
    >>> solution = pd.DataFrame({"id": [1, 2], "answer": [0, 1]})
    >>> score(solution, solution, "id")
    1.0
"""


@pytest.fixture
def in_process(monkeypatch, tmp_path):
    stay_in_process(monkeypatch, tmp_path, checks)


def failures(source: str, tmp_path: Path, **further: object) -> dict[str, str]:
    """The failed checks and why, and "not tried" for those that could not be."""
    path = tmp_path / "a_metric.py"
    path.write_text(source, encoding="utf-8")
    results = checks.check(path, **further)
    assert len(results) == 3 + len(checks.CHECKS)
    return {
        result.name: "not tried" if result.passed is None else result.remark
        for result in results
        if not result.passed
    }


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


# --- the files of the project, in real processes ----------------------------------------------------


@every_metric
def test_the_metrics_of_the_project_pass(capsys, path, solution, submission):
    code, out, err = run_host(capsys, "check", path, solution, submission)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 14
    assert all(line.startswith("pass  ") for line in lines)


def test_a_good_file_passes(in_process, tmp_path):
    assert failures(GOOD, tmp_path) == {}
    kernel_s_arguments = "import sys; assert __name__ != '__main__' or sys.argv[1] == '-f'"
    assert failures(f"{GOOD}\n{kernel_s_arguments}\n", tmp_path) == {}


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("\x00", checks.COMPILES, "source code string cannot contain null bytes"),
        ("def score(:\n", checks.COMPILES, "invalid syntax (<unknown>, line 1)"),
        (changed("import numpy", "import sklearn.metrics\nimport numpy"), checks.IMPORTS, "it imports sklearn"),
        (changed("    if ", "    from tests import essays\n    if "), checks.IMPORTS, "it imports tests"),
        (changed("import numpy", "from . import files\nimport numpy"), checks.IMPORTS, "it imports ."),
        (GOOD + "\n1 / 0\n", "runs", "ZeroDivisionError: division by zero"),
        (GOOD + "\nimport argparse; p = argparse.ArgumentParser(); p.parse_args()\n", "runs", "SystemExit: 2"),
        (GOOD + "\nprint(__file__)\n", "runs", "NameError: name '__file__' is not defined"),
        (GOOD + "\nif __name__ == '__main__':\n    raise OSError('x')\n", "runs", "OSError: x"),
        (GOOD + "\nif __name__ != '__main__':\n    raise OSError('x')\n", checks.MODULE, "OSError: x"),
        (GOOD + "\nscore = 3\n", "score", "there is no function score"),
        (changed("    submission: pd.DataFrame,\n", ""), "arguments",
         "they are solution, row_id_column_name, weight"),
        (changed("row_id_column_name: str", "row_id_column_name: str = 'id'"), "row id",
         "row_id_column_name must not have a default value"),
        (changed("weight: float = 1", "weight=1"), "annotations", "weight has no annotation"),
        (changed("limit: int | None = 3", "*limit: int"), "annotations", "*limit: int cannot be set by name"),
        (changed("limit: int | None = 3", "limit: list[int] = []"), "annotations",
         "limit is list[int], which the site cannot set"),
        (changed("limit: int | None = 3", "limit: int | str = 3"), "annotations",
         "limit is int | str, which the site cannot set"),
        (changed("weight: float = 1", "weight: float = '1'"), "annotations",
         "weight is float, but its default is '1'"),
        (changed("weight: float = 1", "weight: float = True"), "annotations",
         "weight is float, but its default is True"),
        (changed("weight: float = 1", "weight: float = None"), "annotations",
         "weight is float, but its default is None"),
        (changed("    solution: pd.DataFrame", "    solution: dict"), "annotations",
         "solution is dict, not pandas.DataFrame"),
        (GOOD.replace("from typing", "from __future__ import annotations\nfrom typing"), "annotations",
         "the annotation of solution is the text 'pd.DataFrame', not a type; "),
        (changed(") -> float", ") -> int"), "return", "the annotation is int"),
        (changed(") -> float", ")"), "return", "the annotation is missing"),
        (changed("The share of", "x" * 8000), "docstring", "it has 8,1"),
        (changed("class ParticipantVisibleError", "class Visible"), "participant",
         "there is no exception of this name"),
        (changed("class ParticipantVisibleError", "class Visible") + "\nParticipantVisibleError = Visible\n",
         "participant", "its own name is Visible"),
        (changed("    1.0\n", "    0.9\n"), "doctests",
         "1 of 2 examples fail; the first is 'score(solution, solution, \"id\")', which gave 1.0"),
        (changed("    1.0\n", "    1.0\n    >>> 1 / 0\n"), "doctests",
         "1 of 3 examples fail; the first is '1 / 0', which raised ZeroDivisionError: division by zero"),
        (changed(SCORES, ""), "result",
         "no doctest calls score(): give a solution and a submission to try it with"),
        (changed("return float(np.mean(", "return np.float32(np.mean("), "result", "it returned float32"),
        (changed("return float(", "return len(submission) + 0 * int("), "result", "it returned int"),
        (changed("return float(", "return float('nan') * float("), "result", "it returned nan"),
        (changed("return float(", "submission['x'] = 1\n    return float("), "frames",
         "DataFrame are different DataFrame shape mismatch"),
        (changed("return float(", "solution.index = [7, 8]\n    return float("), "frames",
         "DataFrame.index are different"),
    ],
)  # fmt: skip
def test_what_a_file_can_fail(in_process, tmp_path, source, name, reason):
    failed = failures(source, tmp_path)
    name = checks.CHECKS.get(name, name)
    assert failed[name].startswith(reason)
    # The first that fails, or the second where its own doctest says it too.
    assert next(iter(failed)) in (name, checks.CHECKS["doctests"])


def test_a_missing_docstring(in_process, tmp_path):
    start, _, rest = GOOD.rpartition('    """')
    source = start[: start.rindex('    """')] + rest
    failed = failures(source, tmp_path)
    assert failed[checks.CHECKS["docstring"]] == "there is none"


def test_scipy_is_remarked(in_process, tmp_path):
    path = tmp_path / "a_metric.py"
    path.write_text(changed("import numpy", "import scipy.stats\nimport numpy"))
    results = {result.name: result for result in checks.check(path)}
    assert results[checks.IMPORTS] == (checks.IMPORTS, True, "and SciPy, which Kaggle's image has")


def test_not_utf8(in_process, tmp_path):
    path = tmp_path / "a_metric.py"
    path.write_bytes("# caf\xe9".encode("latin-1"))
    results = checks.check(path)
    assert "is not UTF-8 text" in results[0].remark
    assert {result.passed for result in results[1:]} == {None}


# --- in real processes ------------------------------------------------------------------------------


def test_nothing_of_ours_can_be_imported(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(ROOT)
    failed = failures(GOOD + "\nimport competition\n", tmp_path)
    no_module = "ModuleNotFoundError: No module named 'competition'"
    assert failed[checks.IMPORTS] == "it imports competition"
    assert failed[checks.CHECKS["runs"]] == failed[checks.MODULE] == no_module


def test_a_file_that_ends_its_process(tmp_path):
    failed = failures(
        GOOD + "\nimport os, sys; print('dying', file=sys.stderr, flush=True); os._exit(7)\n", tmp_path
    )
    reason = "the metric file ended its process with exit code 7. dying"
    assert failed[checks.CHECKS["runs"]] == failed[checks.MODULE] == reason


def test_a_file_that_does_not_end(tmp_path, monkeypatch):
    monkeypatch.setattr(fresh, "TIME_LIMIT", 1.5)
    failed = failures(GOOD + "\nwhile True: pass\n", tmp_path)
    assert failed[checks.CHECKS["runs"]] == "the metric file is still running after 2 s"


def test_the_report_and_the_exit_code(capsys, tmp_path, in_process):
    path = tmp_path / "a_metric.py"
    path.write_text(changed(") -> float", ") -> int"))
    code, out, err = run_host(capsys, "check", path)
    assert code == 4
    assert out.splitlines()[7] == "FAIL  is annotated to return float: the annotation is int"
    assert err == f"error: {path} fails 1 of 14 checks\n"
    path.write_text("x = 1\n")
    code, out, err = run_host(capsys, "check", path)
    assert out.count("----  ") == 9
    assert err == f"error: {path} fails 2 of 14 checks, and 9 could not be tried\n"


def test_given_files_must_be_scored(capsys, tmp_path, in_process):
    path = tmp_path / "a_metric.py"
    path.write_text(GOOD)
    code, out, _ = run_host(capsys, "check", path, SOLUTION, SUBMISSION)
    assert code == 4
    assert (
        "FAIL  returns a finite float: for the given files it raised ParticipantVisibleError: no column answer"
        in out
    )


def test_parameters_of_the_call(capsys, in_process):
    files = ROOT / "metric.py", SOLUTION, SUBMISSION
    code, out, _ = run_host(capsys, "check", *files, "--set", "subpopulation_column_names=gender")
    assert code == 4
    assert "it raised HostVisibleError: the solution lacks columns: gender." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.py"], "there is no metric file none.py"),
        ([ROOT / "metric.py", SOLUTION], "give both a solution and a submission, or none"),
        ([ROOT / "metric.py", "none.csv", SUBMISSION], "cannot read none.csv: No such file or directory"),
    ],
)
def test_wrong_usage(capsys, arguments, message):
    assert run_host(capsys, "check", *arguments) == (2, "", f"error: {message}\n")


def test_no_command(capsys):
    code, out, err = run_host(capsys)
    assert (code, out) == (2, "")
    assert "usage: host.py" in err
