"""Execute a notebook inside the sandbox, and print what its cells print and which cell failed.

Nothing of the model is executed before its first cell, because its time begins there: Python and the kernel
start without the model's folders, which are added to the kernel's path at the end of its start.
"""

import contextlib
import os
import re
import signal
import sys
from typing import Any, NoReturn

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from traitlets.config import Config

COLORS = re.compile(r"\x1b\[[0-9;]*m")
ADD = "__import__('sys').path[1:1] = {}; __import__('os').environ['PYTHONPATH'] = {!r}"  # without any name


def main(path: str, begins: int | None = None) -> None:
    """Execute a notebook from top to bottom; `begins` is the descriptor to which podium listens."""
    try:
        notebook: Any = nbformat.read(path, as_version=4)
    except (ValueError, AttributeError, nbformat.ValidationError) as problem:
        sys.exit(f"the file is not a notebook: {problem}")
    # The kernel under whose name a notebook was saved need not be here.
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    # Modules beside a notebook can be imported, as in Jupyter.
    folders = [*os.environ.pop("PYTHONPATH").split(os.pathsep), os.path.dirname(path)]
    config = Config()
    if sys.platform != "win32":
        # The sandbox has no network, so the kernel is reached by files, which are no part of what it leaves.
        config.KernelManager.transport, config.KernelManager.ip = "ipc", f"{os.environ['HOME']}/kernel"
    line = ADD.format(folders, os.pathsep.join(folders))
    client = NotebookClient(
        notebook, timeout=None, config=config, extra_arguments=[f"--IPKernelApp.exec_lines={line}"]
    )
    try:
        with client.setup_kernel():
            if begins is not None:
                os.write(begins, b"begins\n")
                os.close(begins)
            for index in range(len(notebook.cells)):
                execute(client, index)
            end(client)
    except Exception as problem:
        sys.exit(f"the notebook cannot be executed: {type(problem).__name__}: {problem}")


def execute(client: NotebookClient, index: int) -> None:
    """Execute a cell, and end if that is the end of the notebook."""
    cell, where = client.nb.cells[index], f"cell {index + 1} of {len(client.nb.cells)} failed"
    problem, is_end = "", False
    try:
        client.execute_cell(cell, index)
    except CellExecutionError as raised:
        problem = f"{COLORS.sub('', raised.traceback)}\n{where}: {raised.ename}: {raised.evalue}"
        is_end = raised.ename == "SystemExit" and raised.evalue in ("", "0", "None")  # sys.exit()
    except DeadKernelError:
        problem = f"{where}: the kernel died"
    for output in cell.get("outputs", []):
        print(output.get("text", ""), end="", flush=True)
    if problem:
        end(client, "" if is_end else problem)


def end(client: NotebookClient, problem: str = "") -> NoReturn:
    """End at once, with the kernel and what it left running.

    The model has ended with its last line.  nbclient would ask the kernel to shut down and wait for it, now and
    then for seconds, which would be measured as the model's.
    """
    if problem:
        print(problem, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = getattr(client.km.provisioner, "pid", None) if client.km is not None else None
    if pid and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(os.getpgid(pid), signal.SIGKILL)
    elif pid:
        os.kill(pid, signal.SIGTERM)
    os._exit(1 if problem else 0)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
