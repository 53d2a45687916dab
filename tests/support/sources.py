"""The syntax of the project's files, parsed once for all tests that look at it."""

import ast
import functools
from pathlib import Path


@functools.cache
def tree_of(file: Path) -> ast.Module:
    """The syntax of a file, which no test may change."""
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """Everything in the syntax of a file, in the order of `ast.walk`, which takes three times as long."""
    nodes: list[ast.AST] = [tree_of(file)]
    for node in nodes:
        for value in vars(node).values():
            parts = value if isinstance(value, list) else [value]
            nodes += [each for each in parts if isinstance(each, ast.AST)]
    return tuple(nodes)
