"""Read what a metric file says about itself without running it.

`podium check` and `podium emulate` try a stranger's file in processes of their own, perhaps with libraries that
are not installed here.  What they have to know before that can be read from the file's text.
"""

import ast
import inspect
import types
import typing
from pathlib import Path
from typing import Any

from podium import hosted
from podium.contract import Companion, Metric
from podium.errors import HostError

# The types that a parameter on the command line can have, by the names that a file may use for them.
TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "Optional": typing.Optional,
    "Union": typing.Union,
    "typing": typing,
}


def metric(path: Path) -> Metric:
    """Describe a metric; a metric of podium's own is loaded, and any other one is read without running it.

    Parameters
    ----------
    path : Path
        The metric file.

    Returns
    -------
    Metric
        The metric.  For a stranger's file, ``score`` has the right signature but cannot be called.  ``prepare``
        and ``direction`` only show whether the file defines them, and the companion is empty.

    Raises
    ------
    HostError
        If the file is not valid Python, or if it defines no ``score``.
    """
    if hosted.is_own(path):
        return hosted.load(path)
    try:
        tree = ast.parse(path.read_bytes(), path.name)
    except (SyntaxError, ValueError) as problem:
        raise HostError(f"{path} cannot be loaded: {type(problem).__name__}: {problem}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "score" not in functions:
        raise HostError(f"{path} is not a metric file: it defines no score()")

    def score(*_: object, **__: object) -> Any:
        raise NotImplementedError

    vars(score).update(__signature__=signature(functions["score"]), line=functions["score"].lineno)
    constants = _constants(tree)
    return Metric(
        path=path,
        module=types.ModuleType(path.stem),
        is_own=False,
        name=str(constants.get("NAME", hosted.name_of(path))),
        version=str(constants.get("__version__", "?")),
        score=score,
        prepare=score if "prepare" in functions else None,
        direction=score if "higher_is_better" in functions else None,
        complete_submission=constants.get("COMPLETE_SUBMISSION") is True,
        measure_parameters=(),
        companion=Companion(),
    )


def signature(function: ast.FunctionDef) -> inspect.Signature:
    """Read the parameters of a function with their types and defaults.

    Parameters
    ----------
    function : ast.FunctionDef
        The parsed definition of the function.

    Returns
    -------
    inspect.Signature
        The signature.  Types that are not made of `TYPES` become str.

    Examples
    --------
    >>> signature(ast.parse("def score(solution, beta: float = 0.5): pass").body[0])
    <Signature (solution, beta: float = 0.5)>
    """
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    named = zip(arguments.kwonlyargs, arguments.kw_defaults)
    parameters = []
    for argument, default in [*zip(positional, defaults), *named]:
        by_name = argument in arguments.kwonlyargs
        kind = inspect.Parameter.KEYWORD_ONLY if by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
        value = inspect.Parameter.empty if default is None else _literal(default)
        annotation = inspect.Parameter.empty if argument.annotation is None else _type(argument.annotation)
        parameters.append(inspect.Parameter(argument.arg, kind, default=value, annotation=annotation))
    return inspect.Signature(parameters)


def _literal(node: ast.expr) -> Any:
    """The value of a literal, or the text of any other expression."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _type(node: ast.expr) -> Any:
    """The type that an annotation means if it is made of `TYPES` alone, or else str."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):  # the annotation is in quotes
        node = ast.parse(node.value, mode="eval").body
    allowed = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.BinOp, ast.BitOr, ast.Constant, ast.Load)
    parts = list(ast.walk(node))
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    if not all(isinstance(part, allowed) for part in parts) or not names <= TYPES.keys():
        return str
    if not attributes <= {"Optional", "Union"}:
        return str
    return eval(compile(ast.Expression(node), "<annotation>", "eval"), {"__builtins__": {}}, TYPES)


def _constants(tree: ast.Module) -> dict[str, Any]:
    """The constants that the file assigns at its top level, by name."""
    constants: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        if isinstance(node.value, ast.Constant):
            constants |= {each.id: node.value.value for each in targets if isinstance(each, ast.Name)}
    return constants


def imported(tree: ast.Module) -> set[str]:
    """List the packages that a file imports anywhere.

    Parameters
    ----------
    tree : ast.Module
        The parsed file.

    Returns
    -------
    set of str
        The names of the packages; "." stands for a relative import.

    Examples
    --------
    >>> sorted(imported(ast.parse("import os.path, polars\\nfrom . import a")))
    ['.', 'os', 'polars']
    """
    packages: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            packages.add("." if node.level else (node.module or "").partition(".")[0])
    return packages
