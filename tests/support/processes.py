"""Wait for processes and look at them."""

import time
from pathlib import Path

SECONDS = 300  # the longest wait; workers end within a second, but the machine may be very busy


def children_of(process: int) -> list[int]:
    """The processes that a process has started."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for children in threads for child in children.read_text().split()]


def is_running(process: int) -> bool:
    """Whether a process runs and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(fits) -> bool:
    """Whether a condition comes true in time."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if fits():
            return True
        time.sleep(0.05)
    return False
