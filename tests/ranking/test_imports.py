"""The modules of the ranking stand on each other, and none on itself: not for types, not inside functions."""

import ast
import graphlib
from pathlib import Path

import podium.ranking

FOLDER = Path(podium.ranking.__file__).parent
MODULES = {file.stem for file in FOLDER.glob("*.py")} - {"__init__"}


def imported(file: Path) -> set[str]:
    """The modules of this package that a file imports anywhere."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.removeprefix("podium.ranking.") for name in names} & MODULES


def test_no_circles():
    # work's probe of Dask workers imports work, over there.
    graph = {name: imported(FOLDER / f"{name}.py") - {name} for name in MODULES}
    assert graph["robustness"] >= {"rules", "work"}  # the test sees imports
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert set(order) == MODULES
