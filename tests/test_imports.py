"""What modules of the package may import: no circles, nothing from above, and one reader and writer of CSV.

What they import and define has one meaning a word.
"""

import ast
import functools
import graphlib
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

import podium
import podium.spans
import podium.spans.tuning
import podium.statistics
from podium.metric import built_in
from tests.support import sources, typed_contract

FOLDER = Path(podium.__file__).parent
FILES = {
    ".".join(["podium", *file.relative_to(FOLDER).with_suffix("").parts]).removesuffix(".__init__"): file
    for file in FOLDER.rglob("*.py")
    if "templates" not in file.parts
}
# These modules load others on demand, and give users names that stay. No package imports them.
ENTRANCES = {"podium", "podium.__main__", "podium.contract", "podium.errors", "podium.tuning"}


def tree_of(name: str) -> ast.Module:
    """The syntax of a module."""
    return sources.tree_of(FILES[name])


def nodes_of(name: str) -> tuple[ast.AST, ...]:
    """Everything in the syntax of a module."""
    return sources.nodes_of(FILES[name])


@functools.cache
def imported(name: str) -> set[str]:
    """List the modules of the package that a module imports anywhere, also inside functions and for types."""
    names = set()
    for node in nodes_of(name):
        if isinstance(node, ast.ImportFrom):
            of = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= of & set(FILES) or {str(node.module)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return (names & set(FILES)) - ENTRANCES - {name}


def test_no_circles() -> None:
    graph = {name: imported(name) for name in FILES if name not in ENTRANCES}
    # This proves that the test finds imports at all.
    assert graph["podium.scoring.evaluating"] >= {"podium.metric.contract", "podium.metric.parameters"}
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert set(order) == set(FILES) - ENTRANCES


# From the lowest to the highest. A package may use every package below it.
PACKAGES = (
    "common", "child", "tables", "metric", "statistics", "scoring", "contest", "spans", "markups",
    "report", "hosting", "running", "ranking", "cli",
)  # fmt: skip


def test_mypy_holds_every_metric_and_companion_to_the_contract() -> None:
    assert {each.NAME for each in typed_contract.METRICS} == set(built_in.names())
    source = Path(typed_contract.__file__).read_text(encoding="utf-8")
    assert [name for name in built_in.names() if f"    of_{name}.companion,\n" not in source] == []


def test_no_package_imports_the_names_for_users() -> None:
    doors = ENTRANCES - {"podium"}
    for name in OUR_WORDS - ENTRANCES:
        for node in nodes_of(name):
            if isinstance(node, ast.ImportFrom):
                assert not doors & {str(node.module), *(f"{node.module}.{each.name}" for each in node.names)}, (
                    name
                )


def test_every_module_lies_in_a_package_that_says_what_it_is_for() -> None:
    assert {name.split(".")[1] for name in set(FILES) - ENTRANCES} == set(PACKAGES)
    assert [package for package in PACKAGES if not ast.get_docstring(tree_of(f"podium.{package}"))] == []


TEMPLATES = ["podium.metric.new_metric.metric"]  # which are copied into a folder of the user's


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_packages_below_it(package: str) -> None:
    may_use = PACKAGES[: PACKAGES.index(package) + 1]
    upward = [
        (name, other)
        for name in FILES
        if name.split(".")[1:2] == [package] and name not in TEMPLATES
        for other in sorted(imported(name))
        if other.split(".")[1] not in may_use
    ]
    assert upward == []


# Modules that read or write CSV by a library's functions, and why they may.
CSV = {
    "podium.tables.formats": "the one reader and the one writer",
    "podium.hosting.kaggle.acceptance": "Kaggle's own reader, which may change ids",
    "podium.hosting.kaggle.emulate": "Kaggle's own reader",
    "podium.hosting.public_tables": "searches tables of any form",
    "podium.metric.new_metric.test_metric": "stands alone in the folder of a new metric",
    "podium.running.containers": "the value of an option, and no file",
}
OF_LIBRARIES = {"read_csv", "to_csv", "write_csv", "read_fwf", "genfromtxt", "loadtxt", "savetxt"}


def test_one_module_reads_and_writes_csv() -> None:
    found = set()
    for name in FILES:
        for node in nodes_of(name):
            is_import = isinstance(node, ast.Import) and "csv" in {alias.name for alias in node.names}
            if is_import or (isinstance(node, ast.Attribute) and node.attr in OF_LIBRARIES):
                found.add(name)
    assert found == set(CSV)


def test_one_module_calls_prepare_and_evaluate() -> None:
    steps = {"evaluating.prepare", "evaluating.evaluate"}
    found = set()
    for name in FILES:
        for node in nodes_of(name):
            taken = set()
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                taken = {f"{node.value.id}.{node.attr}"}
            if isinstance(node, ast.ImportFrom):
                taken = {f"{node.module}.{alias.name}".removeprefix("podium.scoring.") for alias in node.names}
            if taken & steps:
                found.add(name)
    assert found == {"podium.contest.pipeline"}


# A metric is a file of its own, which defines the names of the contract.
OUR_WORDS = {
    name
    for name in set(FILES) - (ENTRANCES - {"podium"})
    if not {"new_metric", "new_metric_plain", "kaggle_metric_utilities"} & set(name.split("."))
}


def defined(node: ast.stmt) -> list[str]:
    """List the names that a statement of a module defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


OF_EVERY_COMMAND = {"Options"}  # each command has its own, and podium rank gets them from rules


def test_a_class_has_its_name_alone() -> None:
    """Only a class that is derived from another one, such as an explanation, may have the name of that."""
    found = defaultdict(set)
    for module in OUR_WORDS:
        for node in tree_of(module).body:
            if isinstance(node, ast.ClassDef) and node.name not in OF_EVERY_COMMAND:
                is_derived = node.name in {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                found[node.name] |= set() if is_derived else {module}
    also_others = [
        (name, module)
        for module in OUR_WORDS
        for node in tree_of(module).body
        for name in defined(node)
        if not isinstance(node, ast.ClassDef) and name in found
    ]
    assert "Evaluation" in found
    assert {name: modules for name, modules in found.items() if len(modules) > 1} == {}
    assert also_others == []


def test_a_name_that_is_imported_by_itself_means_one_thing() -> None:
    """Two modules may have a `read` if others say whose they mean, as in `recorded.read`."""
    sources = defaultdict(set)
    for module in OUR_WORDS:
        for node in nodes_of(module):
            if isinstance(node, ast.ImportFrom) and node.module in OUR_WORDS:
                of = {name for each in tree_of(node.module).body for name in defined(each)}
                for alias in node.names:
                    if alias.name in of - OF_EVERY_COMMAND:
                        sources[alias.name].add(node.module)
    assert len(sources) > 100
    assert {name: modules for name, modules in sources.items() if len(modules) > 1} == {}


def test_no_name_of_a_function_hides_a_module() -> None:
    hidden = []
    for module in OUR_WORDS:
        imports = [node for node in tree_of(module).body if isinstance(node, ast.ImportFrom | ast.Import)]
        modules = {
            alias.asname or alias.name
            for node in imports
            for alias in node.names
            if isinstance(node, ast.Import) or f"{node.module}.{alias.name}" in FILES
        }
        for function in nodes_of(module):
            if isinstance(function, ast.FunctionDef):
                inside = list(ast.walk(function))
                names = {node.arg for node in inside if isinstance(node, ast.arg)}
                names |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                hidden += [(module, function.name, name) for name in sorted(names & modules)]
    assert hidden == []


LONGEST, MOST_PARAMETERS = 40, 7
DOORS = (
    podium,
    podium.spans,
    podium.statistics,
    podium.spans.tuning,
)  # whose functions have a parameter for each wish


def lines_of_code(module: str) -> set[int]:
    """Number the lines that have code: neither blank ones nor comments or docstrings."""
    source = enumerate(map(str.strip, FILES[module].read_text(encoding="utf-8").splitlines()), 1)
    lines = {number for number, line in source if line and not line.startswith("#")}
    for node in nodes_of(module):
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            docstring = node.body[0]
            lines -= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return lines


def test_functions_are_short() -> None:
    public = {name for door in DOORS for name in door.__all__}
    too_long, with_many_parameters = [], []
    for module in OUR_WORDS:
        code = lines_of_code(module)
        for node in nodes_of(module):
            if isinstance(node, ast.FunctionDef) and node.name not in public:
                length = len(code & set(range(node.lineno, (node.end_lineno or 0) + 1)))
                given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                too_long += [(module, node.name, length)] if length > LONGEST else []
                with_many_parameters += [(module, node.name)] if len(given) > MOST_PARAMETERS else []
    assert too_long == []
    assert with_many_parameters == []


def test_requirements_are_the_core_and_the_extra_of_hosts() -> None:
    root = FOLDER.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [line.partition("#")[0].strip() for line in (root / "requirements.txt").read_text().splitlines()]
    assert sorted(filter(None, lines)) == sorted(project["dependencies"] + extras["host"])
