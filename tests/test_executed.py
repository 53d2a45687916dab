"""What a metric executes of its folder is what was read and hashed, and nothing else that lies there."""

import os
import sys
import time
from pathlib import Path

import pytest

from podium.common.errors import HostError
from podium.metric import executed, hosted
from podium.metric.guard import PACKAGE
from tests.support import bytecode

SCORE = "def score(solution, submission, row_id_column_name) -> float:\n    return "
LAZY = SCORE + "__import__('importlib').import_module('.late', __package__).K\n"


def written(folder: Path, **texts: str) -> Path:
    """A folder with these Python files, by the names of their modules."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_all_files_that_may_be_executed_are_found_without_executing_any(tmp_path: Path) -> None:
    """Imports within functions are among them, and what lies beside without being imported is not."""
    written(
        tmp_path,
        metric="from . import (\n    a,\n    b as c,\n)\n" + SCORE + "1\n",
        companion="from . import metric\ncompanion = None\n",
        a="def f():\n    from .deep import X\n    return X\n",
        b="import a, sys",
        deep="X = 1 / 0\n",
        draft="1 / 0",
        metric_test="1 / 0",
    )
    files = executed.of_metric(tmp_path / "metric.py")
    assert list(files) == ["metric.py", "companion.py", "a.py", "b.py", "deep.py"]
    assert list(executed.of_metric(tmp_path / "b.py")) == ["b.py"]  # a companion belongs to a metric.py


@pytest.mark.parametrize("where", [f"__pycache__/{{}}.{sys.implementation.cache_tag}.pyc", "{}.pyc"])
def test_no_compiled_form_is_executed(tmp_path: Path, where: str) -> None:
    written(tmp_path, metric="from .help import K\n" + SCORE + "K\n", help="K = 0.25\n")
    for name, text in {"help": "K = 0.75", "metric": SCORE + "0.75"}.items():
        bytecode.unchecked(text, tmp_path / where.format(name))
    assert hosted.load(tmp_path).score(None, None, "id") == 0.25
    assert hosted.anew(hosted.load(tmp_path)).score(None, None, "id") == 0.25


@pytest.mark.parametrize("late", ["late.py", "late/__init__.py", "late.pyc", "late.so"])
def test_what_was_not_found_before_is_not_executed(tmp_path: Path, late: str) -> None:
    """A name that is put together when the metric runs is seen in no file."""
    written(tmp_path, metric=LAZY)
    if late == "late.pyc":
        bytecode.unchecked("K = 1", tmp_path / late)
    else:
        (tmp_path / late).parent.mkdir(exist_ok=True)
        (tmp_path / late).write_text("K = 1")
    with pytest.raises(HostError, match=rf"No module named '{PACKAGE}\.\w+\.late'"):
        hosted.load(tmp_path).score(None, None, "id")


@pytest.mark.parametrize("name", [".deep", "..", ".absent", ".deep.inner"])
def test_an_import_of_what_is_no_file_beside_the_metric_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "__init__.py").write_text("K = 1")
    written(tmp_path, metric=f"from {name} import K\n" + SCORE + "K\n")
    with pytest.raises(
        HostError, match=r"^metric.py, line 1: expected the import of a file beside it, found \."
    ):
        hosted.load(tmp_path)


@pytest.mark.parametrize("changed", ["metric", "help"])
def test_a_file_is_loaded_anew_after_it_has_changed(tmp_path: Path, changed: str) -> None:
    """Python would take its compiled form: both texts have the same length and the same second."""
    texts = {"metric": "from . import help\n" + SCORE + "help.K + 0.25\n", "help": "K = 0.25\n"}
    soon = time.time() + 1000  # so the file stays fresh, however slow the machine is
    scores = []
    for number in ("0.25", "0.75"):
        written(tmp_path, **texts | {changed: texts[changed].replace("0.25", number)})
        os.utime(tmp_path / f"{changed}.py", (soon, soon))
        scores.append(hosted.load(tmp_path).score(None, None, "id"))
    assert scores == [0.5, 1.0]
