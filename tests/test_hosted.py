"""`metric.py` obeys what is known of Kaggle's hosting."""

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import metric

SOURCE = Path(metric.__file__).read_text(encoding="utf-8")
SETTABLE = (int, float, bool, str)


def test_signature():
    parameters = inspect.signature(metric.score).parameters
    assert list(parameters)[:3] == ["solution", "submission", "row_id_column_name"]
    assert {name: p.default for name, p in parameters.items()} == {
        "solution": inspect.Parameter.empty,
        "submission": inspect.Parameter.empty,
        "row_id_column_name": inspect.Parameter.empty,
        "essay_id_column_name": "essay_id",
        "subpopulation_column_names": "ell_status,economically_disadvantaged",
        "segment_weight": 0.5,
        "overlap_threshold": 0.51,
        "temperature": 65.0,
        "intersectional": False,
    }
    # Real types, not text: the site looks at them.
    assert all(p.annotation in SETTABLE for p in list(parameters.values())[2:])
    assert inspect.signature(metric.score).return_annotation is float


def test_evaluate_and_prepare_take_the_same_arguments():
    names = list(inspect.signature(metric.score).parameters.items())
    assert list(inspect.signature(metric.evaluate).parameters.items()) == names
    assert list(inspect.signature(metric.prepare).parameters.items()) == [names[0], *names[2:]]


def test_docstring_is_short_enough_and_its_examples_are_true():
    assert len(inspect.getdoc(metric.score)) < 8000
    result = doctest.testmod(metric)
    assert result.failed == 0
    assert result.attempted >= 30


def test_every_public_function_has_a_doctest():
    finder = doctest.DocTestFinder()
    for name in metric.__all__:
        thing = getattr(metric, name)
        if inspect.isfunction(thing) and name not in ("evaluate", "prepare"):
            assert any(test.examples for test in finder.find(thing)), name


def test_imports_only_numpy_pandas_and_the_standard_library():
    allowed = {"numpy", "pandas", *sys.stdlib_module_names}
    for node in ast.walk(ast.parse(SOURCE)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert {name.partition(".")[0] for name in names} <= allowed


def test_exceptions_by_the_names_that_kaggle_knows():
    assert metric.ParticipantVisibleError.__name__ == "ParticipantVisibleError"
    assert metric.HostVisibleError.__name__ == "HostVisibleError"
    assert not issubclass(metric.HostVisibleError, metric.ParticipantVisibleError)


@pytest.mark.parametrize("name", ["__main__", "a_utility_script"])
def test_runs_as_a_notebook_cell_and_as_a_module(name, tmp_path):
    """Alone in a folder, with a kernel's arguments, its doctests still hold."""
    (tmp_path / "cell.py").write_text(SOURCE, encoding="utf-8")
    program = (
        "import doctest, pathlib, sys, types\n"
        "sys.argv = ['ipykernel_launcher.py', '-f', 'kernel-1.json']\n"
        f"module = sys.modules.setdefault({name!r}, types.ModuleType({name!r}))\n"
        f"module.__dict__['__name__'] = {name!r}\n"
        "exec(compile(pathlib.Path('cell.py').read_text('utf-8'), 'cell.py', 'exec'), module.__dict__)\n"
        "result = doctest.testmod(module)\n"
        "print(result.failed, result.attempted >= 30)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr, done.returncode) == ("0 True\n", "", 0)
