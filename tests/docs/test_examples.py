"""The examples in the docstrings of all modules print what they show."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [
    path.relative_to(ROOT) for path in sorted(ROOT.glob("podium/**/*.py")) if ">>> " in path.read_text("utf-8")
]
MODULES = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in FILES]


@pytest.mark.filterwarnings("ignore:.*of the solution overlapping an earlier one")
@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert doctest.testmod(importlib.import_module(module)).failed == 0
