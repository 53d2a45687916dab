"""Where a model stopped, as a table that everybody may read can say it.

What a model prints may be texts of the hidden data.  So what is public about a failure is chosen from a closed
list: a line of the model's own files, which it brought along, and the name of one of Python's exceptions.
"""

import builtins
import re
from pathlib import Path

from podium.running.models import Kind, Model, read_notebook
from podium.running.view import MODEL

LONGEST_SOURCE = 2**20  # bytes of a file in which lines are counted
EXCEPTIONS = "|".join(
    sorted(
        name
        for name, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, Warning)
    )
)
RAISED = re.compile(rf"^({EXCEPTIONS})(?::|$)", re.MULTILINE)
CELL = re.compile(rf"^cell (\d{{1,5}}) of \d+ failed(?:: ({EXCEPTIONS})\b)?", re.MULTILINE)
WORD = re.compile(r"[\w.+/-]+")
# As shells, env and podium say it.
NOT_FOUND = re.compile(rf"({WORD.pattern})['’]?: (?:command )?(?:not found|No such file)")
IN_CELL = re.compile(r"^(?:Cell )?In ?\[\d+\], line (\d{1,7})", re.MULTILINE)


def where(model: Model, printed: str) -> str:
    """The last line of the model's own code that the end of its output names, and the exception, or "".

    Only a line that exists counts, so that what a model prints cannot choose the words.
    """
    raised, place = _in_notebook(model, printed) if model.kind is Kind.NOTEBOOK else _in_script(model, printed)
    return f"{place}: {raised}" if place and raised else place


def missing_program(model: Model, printed: str) -> str:
    """Say which program was not found, if the output names one that the model's script names, too."""
    path = model.folder / model.entry
    source = path.read_bytes()[:LONGEST_SOURCE].decode("utf-8", "replace") if path.is_file() else ""
    words = set(WORD.findall(source))
    named = next((name for name in reversed(NOT_FOUND.findall(printed)) if name in words), "a program")
    return f"{named} was not found"


def _in_script(model: Model, printed: str) -> tuple[str, str]:
    """The last exception, and the last line of a file of the model, in what Python or a shell has printed."""
    folders = "|".join(re.escape(str(folder)) for folder in (MODEL, model.folder, model.folder.resolve()))
    named = re.compile(rf'(?:{folders})[/\\]([^"\n:]+)(?:", |: )(?:line )?(\d{{1,7}})\b')
    raised = RAISED.findall(printed)
    for name, line in reversed(named.findall(printed)):
        path = (model.folder / name).resolve()
        if path.is_relative_to(model.folder.resolve()) and int(line) <= _lines_in(path):
            return raised[-1] if raised else "", f"{name}, line {line}"
    return "", ""


def _lines_in(path: Path) -> int:
    """How many lines a file has, as far as they are counted; 0 if it is none."""
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return file.read(LONGEST_SOURCE).count(b"\n") + 1


def _in_notebook(model: Model, printed: str) -> tuple[str, str]:
    """The exception, and the cell with its line, that podium's own program for notebooks has printed."""
    if not (failed := CELL.findall(printed)):
        return "", ""
    cell, raised = failed[-1]
    try:
        source = read_notebook(model.folder / model.entry)["cells"][int(cell) - 1]["source"]
        lines = "".join(source).count("\n") + 1
    except (OSError, LookupError, TypeError):
        return "", ""
    line = next((line for line in reversed(IN_CELL.findall(printed)) if int(line) <= lines), "")
    return raised, f"{model.entry}, cell {cell}" + (f", line {line}" if line else "")
