"""What all benchmarks share: the clock, the machine and the table."""

import functools
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["machine", "memory_of", "print_table", "processor_seconds", "seconds_of", "seconds_of_processes"]


def seconds_of(work: Callable[[], Any], repeats: int = 1) -> float:
    """Measure the median processor time of a call, to which other load on the machine adds little."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def seconds_of_processes(commands: list[list[str]], repeats: int) -> list[float]:
    """Measure the least processor time of several commands; the first turn compiles their modules."""
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(command: list[str]) -> None:
        """Run a command in a process of its own."""
        done = subprocess.run(command, capture_output=True, text=True, env=compiled)
        # A process that used Arrow may abort while it ends, after all its work (apache/arrow#34314).
        if done.returncode not in (0, -signal.SIGABRT):
            raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")

    return processor_seconds([functools.partial(run, command) for command in commands], repeats)


def processor_seconds(work: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Measure the least processor time of several calls, including that of the processes that they start.

    The calls run in turns, so that a busy machine adds little.
    """

    def used() -> float:
        """Seconds of processor time of this process and of its children so far."""
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    times: list[list[float]] = [[] for _ in work]
    for _ in range(repeats):
        for each, taken in zip(work, times):
            start = used()
            each()
            taken.append(used() - start)
    return [min(taken) for taken in times]


def memory_of(program: str) -> tuple[float, float]:
    """Run a Python program in a process of its own, and measure its peak memory."""
    program += (
        "\nfrom pathlib import Path\n"
        "status = dict(line.split(':', 1) for line in Path('/proc/self/status').read_text().splitlines())\n"
        "print(int(status['VmHWM'].split()[0]) / 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    seconds, megabytes = done.stdout.split()[-2:]
    return float(seconds), float(megabytes)


def machine() -> str:
    """Describe the machine and the versions of Python, pandas and numpy."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), model)
    memory = resource.getpagesize() * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB; Python {platform.python_version()}, "
        f"pandas {pd.__version__}, numpy {np.__version__}"
    )


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a Markdown table."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    print(f"\n{title}\n")
    for row in [header, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])], *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        print(f"| {' | '.join(cells)} |", flush=True)
