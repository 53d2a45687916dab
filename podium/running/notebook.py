"""Execute a notebook inside the sandbox, and print what its cells print and which cell failed."""

import re
import sys
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from traitlets.config import Config

COLORS = re.compile(r"\x1b\[[0-9;]*m")


def main(path: str) -> None:
    """Execute a notebook from top to bottom."""
    try:
        notebook: Any = nbformat.read(path, as_version=4)
    except (ValueError, AttributeError, nbformat.ValidationError) as problem:
        sys.exit(f"the file is not a notebook: {problem}")
    # The kernel under whose name a notebook was saved need not be here.
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    where = ""

    def note(cell_index: int, **_: Any) -> None:
        nonlocal where
        where = f"cell {cell_index + 1} of {len(notebook.cells)} failed"

    def show(cell: Any, **_: Any) -> None:
        for output in cell.get("outputs", []):
            print(output.get("text", ""), end="", flush=True)

    config = Config()
    if sys.platform != "win32":
        config.KernelManager.transport = "ipc"  # the sandbox has no network, so the kernel is reached by files
    client = NotebookClient(
        notebook, timeout=None, config=config, on_cell_start=note, on_cell_executed=show, on_cell_error=show
    )
    try:
        client.execute()
    except CellExecutionError as problem:
        sys.exit(f"{COLORS.sub('', problem.traceback)}\n{where}: {problem.ename}: {problem.evalue}")
    except DeadKernelError:
        sys.exit(f"{where}: the kernel died")
    except Exception as problem:
        sys.exit(f"the notebook cannot be executed: {type(problem).__name__}: {problem}")


if __name__ == "__main__":
    main(sys.argv[1])
