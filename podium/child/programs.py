"""Programs that are given a stranger's file: they are run to their end, and what they leave behind is ended."""

import math
import os
import subprocess
import tempfile
import time

from podium.child import processes
from podium.child.supervised import Patience, Watch, WorkerLostError

SECONDS_BETWEEN_LOOKS = 0.01


def run_and_end(
    command: list[str], folder: str | os.PathLike[str], seconds: float = math.inf
) -> tuple[int | None, bytes, bytes]:
    """Run a command in a folder, and end what it leaves behind; return its exit code and what it printed.

    The code is None if it takes longer than so long. What it prints goes into files, because a child that it
    leaves behind would keep pipes open.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        watch = Watch(process.pid, Patience(math.inf, whole=seconds))
        try:
            while (code := process.poll()) is None:
                watch.look()
                time.sleep(SECONDS_BETWEEN_LOOKS)
        except WorkerLostError as lost:
            code = lost.code
        finally:
            processes.end_session(process.pid)
            process.wait()
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()
