"""Files that score in another form than a metric file: recognized by their syntax, before they are executed.

A scoring program of a site reads its files when it is executed, perhaps from the arguments of podium's own
command line, and writes where it likes. So a file without ``score()`` is told apart first, with what to write
instead.
"""

import ast
from collections.abc import Iterable, Iterator

SCORE = "score"
TRUTHS = (
    "answers",
    "solution",
    "labels",
    "truth",
    "y_true",
)  # names of the argument that has the right answers
WRAPPED = """
def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    return float(grade({}))"""
GRADE = (
    "it defines grade(), as MLE-bench calls it, which takes the submission first. Add these lines:"
    + WRAPPED.format("submission, solution")
)
GRADE_TRUTH_FIRST = "it defines grade() in place of score(). Add these lines:" + WRAPPED.format(
    "solution, submission"
)
INSTEAD = (
    "put what follows the reading into score(solution, submission, row_id_column_name), which gets the tables"
)
COMPUTE = (
    "it defines compute(params), as competitions of Hugging Face call it, which fetches both tables itself; "
    f"{INSTEAD}"
)
PROGRAM = (
    "it is a program that reads its files from the command line, such as the scoring program of a bundle for "
    f"Codabench; {INSTEAD}"
)


def not_a_metric(content: bytes) -> str:
    """Say why a file is no metric file, as far as its syntax shows it; "" if it may be one."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it is told where the file is executed
        return ""
    top = list(_executed_at_once(tree.body))
    functions = {node.name: node for node in top if isinstance(node, ast.FunctionDef)}
    reads_at_once = any(_reads_command_line(node) for node in top)
    if SCORE in functions or (_may_bind_score(tree, top) and not reads_at_once):
        return ""
    if "grade" in functions:
        first = next(iter(_arguments(functions["grade"])), "")
        return GRADE_TRUTH_FIRST if first in TRUTHS else GRADE
    if "compute" in functions and _arguments(functions["compute"]) == ["params"]:
        return COMPUTE
    reads = reads_at_once or any(map(_reads_command_line, ast.walk(tree)))
    return PROGRAM if reads else "it defines no score()"


def _executed_at_once(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that are executed with the module: no bodies of functions, and no block for __main__."""
    for node in body:
        yield node
        is_main = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
        if not is_main and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _executed_at_once(ast.iter_child_nodes(node))


def _arguments(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def _reads_command_line(node: ast.AST) -> bool:
    """Whether an expression is sys.argv, or a call of parse_args()."""
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr == "parse_args" or ast.unparse(node) == "sys.argv"


def _may_bind_score(tree: ast.Module, top: Iterable[ast.AST]) -> bool:
    """Whether something else than a function may bind the name: an assignment, an import, or globals()."""
    for node in top:
        if isinstance(node, ast.AsyncFunctionDef | ast.ClassDef) and node.name == SCORE:
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name) in (SCORE, "*"):
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == SCORE:
            return True
    return any(
        isinstance(node, ast.Name) and node.id in ("globals", "exec", "setattr") for node in ast.walk(tree)
    )
