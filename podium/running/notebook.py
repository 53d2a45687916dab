"""Execute a notebook inside the sandbox, and print what its cells print and which cell failed."""

import contextlib
import os
import re
import signal
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

    # Modules beside a notebook can be imported, as in Jupyter.
    os.environ["PYTHONPATH"] = f"{os.environ['PYTHONPATH']}{os.pathsep}{os.path.dirname(path)}"
    last = max((index for index, cell in enumerate(notebook.cells) if _is_code(cell)), default=-1)

    def executed(cell: Any, cell_index: int, execute_reply: Any, **_: Any) -> None:
        show(cell)
        if cell_index == last and execute_reply["content"]["status"] == "ok":
            end(client)

    config = Config()
    if sys.platform != "win32":
        config.KernelManager.transport = "ipc"  # the sandbox has no network, so the kernel is reached by files
    client = NotebookClient(
        notebook,
        timeout=None,
        config=config,
        on_cell_start=note,
        on_cell_executed=executed,
        on_cell_error=show,
    )
    try:
        client.execute()
    except CellExecutionError as problem:
        if problem.ename == "SystemExit" and problem.evalue in ("", "0", "None"):  # sys.exit() is an end
            end(client)
        sys.exit(f"{COLORS.sub('', problem.traceback)}\n{where}: {problem.ename}: {problem.evalue}")
    except DeadKernelError:
        sys.exit(f"{where}: the kernel died")
    except Exception as problem:
        sys.exit(f"the notebook cannot be executed: {type(problem).__name__}: {problem}")


def _is_code(cell: Any) -> bool:
    """Whether a cell is one that is executed."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def end(client: NotebookClient) -> None:
    """End at once, with the kernel and what it left running.

    The model has ended with its last line.  nbclient would ask the kernel to shut down and wait for it, now and
    then for seconds, which would be measured as the model's.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    pid = getattr(client.km.provisioner, "pid", None) if client.km is not None else None
    if pid and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(os.getpgid(pid), signal.SIGKILL)
    elif pid:
        os.kill(pid, signal.SIGTERM)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
