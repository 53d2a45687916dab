"""The line at which a model stopped is found in what it printed, and nothing that it invents is."""

from pathlib import Path

import pytest

from podium.running.models import Model, find_model
from podium.running.stopped import where
from tests.running.support import notebook, write_model

TRACEBACK = 'Traceback:\n  File "/kaggle/model/{}", line {}, in f\n  File "/usr/lib/x.py", line 99\n{}: text\n'
CELL = "Cell In[2], line {}\n{}: text\ncell {} of 3 failed: {}: text\n"


@pytest.mark.parametrize(
    ("name", "printed", "expected"),
    [
        ("run.py", TRACEBACK.format("run.py", 2, "ValueError"), "run.py, line 2: ValueError"),
        ("run.py", TRACEBACK.format("help/er.py", 1, "KeyError"), "help/er.py, line 1: KeyError"),
        ("run.py", TRACEBACK.format("run.py", 2, "pkg.Error"), "run.py, line 2"),
        ("run.py", TRACEBACK.format("run.py", 3, "ValueError"), ""),
        ("run.py", TRACEBACK.format("secret.py", 1, "ValueError"), ""),
        ("run.py", TRACEBACK.format("../other/run.py", 1, "ValueError"), ""),
        ("run.sh", "/kaggle/model/run.sh: line 2: nothing: command not found\n", "run.sh, line 2"),
        ("run.sh", "/kaggle/model/run.sh: 1: nothing: not found\n", "run.sh, line 1"),
        ("run.sh", "ValueError: alone\n", ""),
        ("m.ipynb", CELL.format(2, "KeyError", 3, "KeyError"), "m.ipynb, cell 3, line 2: KeyError"),
        ("m.ipynb", CELL.format(9, "KeyError", 3, "KeyError"), "m.ipynb, cell 3: KeyError"),
        ("m.ipynb", CELL.format(1, "An essay", 2, "An essay"), "m.ipynb, cell 2, line 1"),
        ("m.ipynb", CELL.format(1, "KeyError", 4, "KeyError"), ""),
    ],
)
def test_where_a_model_stopped(tmp_path: Path, name: str, printed: str, expected: str) -> None:
    folder = write_model(tmp_path / "team", notebook("1", "2\n3") if name == "m.ipynb" else "one\ntwo", name)
    write_model(folder / "help", "one", "er.py")
    write_model(tmp_path / "other", "one")
    model = find_model(folder, "team")
    assert isinstance(model, Model)
    assert where(model, "before\n" + printed) == expected
