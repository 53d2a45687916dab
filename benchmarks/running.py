"""Do three identical models get the same runtime from `podium run`, on cold and on warm caches?

    python -m benchmarks.running [--seconds 0.5] [--repeats 3]

The models import numpy and then work. "cold" means that the files of Python, numpy and the models were
dropped from the page cache before; podium's own unmeasured run has to make up for it. The last row leaves that
run out. Run it as root and as another user; it takes about a
minute.
"""

import argparse
import contextlib
import io
import itertools
import os
import statistics
import sysconfig
import tempfile
import warnings
from pathlib import Path

from benchmarks.measure import machine, print_table
from podium.running import rounds
from podium.running.fairness import DECIDED, noise_of
from podium.running.machine import make_ready
from podium.running.models import find_models, paths_in
from podium.running.settings import Settings, is_root

TEAMS = ("One", "Two", "Three")
# This model works in many small parts, so that its cost is the same in each run.
MODEL = """
import hashlib
import numpy
for _ in range({parts}):
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 1000)
open("submission.csv", "w").write("a\\n")
"""
PARTS_PER_SECOND = 2000


def main() -> None:
    """Print the runtimes of the three models, and whether they are equal within the noise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="of work in each model")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine(), "\nas", "root" if is_root() else "a user")
    rows = []
    for caches, warm_up in (("warm", True), ("cold", True), ("cold", False)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder.chmod(0o755)
            rows.append(measured(folder, caches, warm_up, options.seconds, options.repeats))
    print_table("Runtimes of three identical models in seconds", [*rows[0]], [[*row.values()] for row in rows])


def measured(folder: Path, caches: str, warm_up: bool, seconds: float, repeats: int) -> dict[str, str]:
    """Measure the three models, and compare each two with the noise of a runtime."""
    (folder / "data").mkdir()
    for team in TEAMS:
        (folder / "models" / team).mkdir(parents=True)
        source = MODEL.format(parts=int(seconds * PARTS_PER_SECOND))
        (folder / "models" / team / "run.py").write_text(source)
    models, _ = find_models(folder / "models")
    made = make_ready("auto", models, Settings(folder / "data", 600.0, 2**30, 2**26, 1, False))
    if caches == "cold":
        drop([Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")] + [folder / "models"])
    plan = rounds.Plan(repeats, warm_up=warm_up)
    execute = rounds.here(made.settings, folder / "out")
    with contextlib.redirect_stderr(io.StringIO()):
        results = rounds.run_all(made, [], folder / "out", plan, execute)
    runs = [[row.seconds for row in timing.counting] for timing in results.timings]
    runtimes = [timing.runtime.seconds for timing in results.timings]
    apart = max(abs(one - other) / min(one, other) for one, other in itertools.combinations(runtimes, 2))
    error = statistics.mean(timing.runtime.error / timing.runtime.seconds for timing in results.timings)
    return {
        "caches": caches,
        "first run": "not measured" if warm_up else "measured",
        **{team: f"{runtime:.3f}" for team, runtime in zip(TEAMS, runtimes)},
        "longest run": f"{max(map(max, runs)):.3f}",
        "noise of a run": f"{noise_of(runs).one_run:.1%}",
        "most apart": f"{apart:.1%}",
        "equal within": f"{DECIDED * 2**0.5 * error:.1%}",
        "machine": results.state.text,
    }


def drop(folders: list[Path]) -> None:
    """Drop what is in the page cache of these folders' files; root drops all of it."""
    if is_root():
        os.sync()
        with contextlib.suppress(OSError):
            Path("/proc/sys/vm/drop_caches").write_text("3")
            return
    for folder in folders:
        for entry in paths_in(folder):
            if entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError), open(entry.path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    main()
