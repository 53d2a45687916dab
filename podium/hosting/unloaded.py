"""What a metric file says of itself, read from its text: nothing of it runs.

`podium check` and `podium emulate` try a stranger's file in processes of their own, perhaps with libraries that
are not installed here. What they have to know before is in the file's text.
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

# The types that a parameter can be set as, by the names that a file may give them.
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
    """A metric that is podium's own, loaded; any other one as far as its text tells.

    Parameters
    ----------
    path : Path
        The metric file.

    Returns
    -------
    Metric
        Of a stranger's file, `score` has the signature but cannot be called, `prepare` and `direction` stand
        for what is there and cannot be called either, and the companion tells nothing.

    Raises
    ------
    HostError
        The file is no Python, or defines no ``score``.
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

    vars(score)["__signature__"] = signature(functions["score"])
    constants = _constants(tree)
    return Metric(
        path=path,
        module=types.ModuleType(path.stem),
        is_own=False,
        name=str(constants.get("NAME", path.parent.name if path.name == "metric.py" else path.stem)),
        version=str(constants.get("__version__", "?")),
        score=score,
        prepare=score if "prepare" in functions else None,
        direction=score if "higher_is_better" in functions else None,
        complete_submission=constants.get("COMPLETE_SUBMISSION") is True,
        measure_parameters=(),
        takes_progress=False,
        companion=Companion(),
    )


def signature(function: ast.FunctionDef) -> inspect.Signature:
    """A function's parameters with their types, where these are plain ones, and their defaults.

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
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _type(node: ast.expr) -> Any:
    """A type made of `TYPES`; str for any other one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):  # an annotation in quotes
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
    """The file's plain constants by name."""
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
    """The packages that a file imports anywhere; "." is a relative import.

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
