"""Models that try to get a shorter time get the same runtime as honest models that do the same work.

The work takes a fixed amount of processor time. No honest runtime can be below it, however busy the machine is;
an attack that works is far below it.
"""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.running import caches, control_groups, engines, rounds, settings, supervisor
from podium.running.fairness import REMEMBERED
from podium.running.journal import Row, read_journal
from podium.running.models import Model, find_model
from tests.running.support import SUBMIT, needs_sandbox, settings_for, write_model

pytestmark = pytest.mark.filterwarnings("default")

WORK_SECONDS = 0.4
WORK = f"""
import time
def work():
    end = time.process_time() + {WORK_SECONDS}
    while time.process_time() < end:
        pass
"""
HONEST = WORK + "work()\n" + SUBMIT
# Eight pages of the model's weights are the bits of a note: a page that is still cached is a one.
REMEMBERS = (
    WORK
    + """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
file = os.open(os.path.join(os.environ["PODIUM_MODEL"], "weights"), os.O_RDONLY)
PAGES, STEP = 8, 64 * 4096  # far apart: the kernel reads ahead

def is_cached(page):
    try:
        return os.preadv(file, [bytearray(1)], page * STEP, os.RWF_NOWAIT) == 1
    except OSError:
        return False

note = [is_cached(page) for page in range(PAGES)]
is_a_note = note == [page % 2 == 0 for page in range(PAGES)]
if is_a_note:
    print("remembered")
else:
    work()
libc.posix_fadvise(file, 0, 0, 4)
libc.posix_fadvise(file, 0, 0, 1)  # do not read ahead
for page in range(0, PAGES, 2):
    os.pread(file, 1, page * STEP)
"""
    + SUBMIT
)


def runs_of(
    folder: Path, given: settings.Settings, repeats: int = 2, **sources: str
) -> tuple[dict[str, dict[str, Any]], list[Row]]:
    """Run models with these sources, and return the rows of runtimes.csv by team, and the journal."""
    models = []
    for team, source in sources.items():
        home = write_model(folder / "models" / team, source)
        if not (home / "weights").exists():
            with (home / "weights").open("wb") as weights:
                weights.write(os.urandom(4 * 2**20))
                os.fsync(weights.fileno())  # only what is on the disk can be dropped
        model = find_model(home, team)
        assert isinstance(model, Model)
        models.append(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runtimes, results = rounds.run_all(
            models, [], given, folder / "out", rounds.Plan(repeats, repeats), {}, rounds.here(given)
        )
    assert results.failures == []
    return {row["team"]: row for row in runtimes}, read_journal(folder / "out" / rounds.RUNS)


def remembered(journal: list[Row], folder: Path) -> list[bool]:
    """For each run of the cheating model, whether it remembered the run before."""
    rounds_ = [row.round for row in journal if row.team == "Cheat"]
    return ["remembered" in (folder / f"out/logs/Cheat/run.{number}.txt").read_text() for number in rounds_]


@pytest.fixture
def no_equal_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the caches as they are before a run."""
    monkeypatch.setattr(engines.caches, "equalize", lambda folders: "read")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the attack is Linux's")
@pytest.mark.usefixtures("no_equal_caches")
def test_a_run_that_remembered_the_first_is_no_runtime(tmp_path: Path) -> None:
    """Without equal caches and without the filter, the attack works. Its processor time then gives it away."""
    runtimes, journal = runs_of(tmp_path, settings_for(tmp_path), 3, Honest=HONEST, Cheat=REMEMBERS)
    if not any(remembered(journal, tmp_path)):
        pytest.skip("this file system keeps what it was told to drop")
    first, *later = [row for row in journal if row.team == "Cheat"]
    assert any(row.cpu_seconds < REMEMBERED * first.cpu_seconds for row in later)
    assert "cached run" in runtimes["Cheat"]["marks"]
    assert min(row["runtime_low"] for row in runtimes.values()) >= WORK_SECONDS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the attack is Linux's")
@pytest.mark.parametrize("sandbox", [pytest.param("bubblewrap", marks=needs_sandbox), "none"])
def test_a_model_cannot_leave_itself_a_note_in_the_page_cache(tmp_path: Path, sandbox: str) -> None:
    """Equal caches are enough to stop it. In the sandbox, the calls are refused as well."""
    runtimes, journal = runs_of(
        tmp_path, settings_for(tmp_path, sandbox=sandbox), Honest=HONEST, Cheat=REMEMBERS
    )
    assert remembered(journal, tmp_path) == [False, False]
    assert min(row["runtime_low"] for row in runtimes.values()) >= WORK_SECONDS
    assert "cached run" not in runtimes["Cheat"]["marks"]


WORKS_ON = (
    WORK
    + """
import os, sys
if os.fork() == 0:
    os.setsid()
    os.close(1), os.close(2)
    work()
    """
    + SUBMIT
    + """    os._exit(0)
sys.exit(0)
"""
)


@pytest.mark.parametrize("sandbox", [pytest.param("bubblewrap", marks=needs_sandbox), "none"])
def test_who_says_to_have_ended_has_ended(tmp_path: Path, sandbox: str) -> None:
    """It is killed long before its work is done, even on a busy machine."""
    home = write_model(tmp_path / "models" / "Cheat", WORKS_ON.replace("    work()", "    work()\n" * 100, 1))
    model = find_model(home, "Cheat")
    assert isinstance(model, Model)
    given = settings_for(tmp_path, sandbox=sandbox)
    result = engines.run(model, given)
    assert rounds._outcome(result.measured, result.log, given) == "no submission.csv"


def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: str) -> None:
    """Run a supervisor that was changed in the way in which a successful attack would change it."""
    program = str(settings.HERE / "supervisor.py")
    text = f"""
import os, runpy, sys
sys.argv = [{program!r}]
source = open({program!r}).read().replace('if __name__ == "__main__":', "{changes}\\nif True:")
exec(compile(source, {program!r}, "exec"))
"""
    (tmp_path / "supervisor.py").write_text(text)
    monkeypatch.setattr("podium.running.settings.HERE", tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are not adopted")
def test_the_clock_stops_when_the_last_process_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can kill the process that works on here, so its time counts."""
    play(tmp_path, monkeypatch, "kill = lambda process: None")
    home = write_model(tmp_path / "models" / "Cheat", WORKS_ON)
    model = find_model(home, "Cheat")
    assert isinstance(model, Model)
    result = engines.run(model, settings_for(tmp_path))
    assert result.measured["exit_code"] == 0
    assert result.measured["seconds"] > WORK_SECONDS
    assert result.measured["cpu_seconds"] > WORK_SECONDS


@pytest.mark.skipif(sys.platform != "linux", reason="priorities are tested on Linux")
@pytest.mark.parametrize("sandbox", [pytest.param("bubblewrap", marks=needs_sandbox), "none"])
def test_the_supervisor_goes_before_the_model(tmp_path: Path, sandbox: str) -> None:
    source = """
import os
print(os.getpriority(os.PRIO_PROCESS, 0))
for value in -1, -10, -20:
    try:
        os.setpriority(os.PRIO_PROCESS, 0, value)
        print("raised", value)
    except OSError:
        pass
"""
    model = find_model(write_model(tmp_path / "models" / "Cheat", source + SUBMIT), "Cheat")
    assert isinstance(model, Model)
    log = engines.run(model, settings_for(tmp_path, sandbox=sandbox)).log
    is_root, own = settings.is_root(), os.getpriority(os.PRIO_PROCESS, 0)
    supervisor_s = max(own + settings.SUPERVISOR_OF_ROOT, -20) if is_root else own
    least = settings.MODEL_OF_ROOT if is_root else settings.MODEL_OF_OTHERS
    assert log.splitlines()[0] == str(min(max(least, supervisor_s + supervisor.LOWER), 19))
    assert "raised" not in log or (sandbox == "none" and is_root)


STARVES = (
    """
import os
for _ in range(300):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        os.setsid()
        while True:
            pass
"""
    + SUBMIT
)


@needs_sandbox
@pytest.mark.slow
def test_what_three_hundred_processes_do_after_the_exit_is_in_the_clock(tmp_path: Path) -> None:
    group = control_groups.available()
    model = find_model(write_model(tmp_path / "models" / "Cheat", STARVES), "Cheat")
    assert isinstance(model, Model)
    given = settings_for(
        tmp_path, sandbox="bubblewrap", control_group=group, memory_limit=2**30, time_limit=600.0
    )
    result = engines.run(model, given)
    assert rounds._outcome(result.measured, result.log, given) == "done"
    assert result.measured["cpu_seconds"] <= 1.1 * result.measured["seconds"] + 0.1  # on one core


def spread(folder: Path, number: int) -> None:
    """Make a number of folders within each other."""
    code = f"import os\nfor _ in range({number}):\n    os.mkdir('d')\n    os.chdir('d')\n"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


def make_many(folder: Path) -> None:
    """Make one file more than a team may have."""
    for number in range(300):
        (folder / f"{number}").touch()


def make_circle(folder: Path) -> None:
    """Make links that lead to each other and upwards."""
    (folder / "one").symlink_to(folder / "two")
    (folder / "two").symlink_to(folder / "one")
    (folder / "up").symlink_to(folder.parent)
    (folder / "inner").mkdir()
    (folder / "inner" / "out").symlink_to("/", target_is_directory=True)


def make_odd_names(folder: Path) -> None:
    """Make names with every character that a file's name may have."""
    for code in [*range(1, 47), *range(48, 256)]:
        (folder / f"x{chr(code)}").touch()
    os.close(os.open(os.fsencode(folder) + b"/\xff\xfe", os.O_CREAT))
    (folder / ("long" * 60)).touch()


def make_special(folder: Path) -> None:
    """Make files that are not regular files."""
    os.mkfifo(folder / "fifo")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems forbid such names")
@pytest.mark.parametrize(
    ("prepare_folder", "most", "reason"),
    [
        (lambda folder: spread(folder, 1500), 2000, ""),
        pytest.param(lambda folder: spread(folder, 2500), 9000, "File name too long", marks=pytest.mark.slow),
        (make_many, 300, "more than 300 files"),
        (make_circle, 300, ""),
        (make_odd_names, 300, ""),
        (make_special, 300, ""),
    ],
    ids=["deep", "too deep", "many", "circle", "odd names", "special"],
)
def test_whatever_is_in_a_folder_the_others_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prepare_folder: Callable[[Path], None],
    most: int,
    reason: str,
) -> None:
    from podium.running import models

    monkeypatch.setattr(models, "MOST_FILES", most)
    odd = write_model(tmp_path / "models" / "Odd", SUBMIT)
    write_model(tmp_path / "models" / "Good", SUBMIT)
    try:
        prepare_folder(odd)
        runnable, failures = models.find_models(tmp_path / "models")
        assert [model.team for model in runnable] == (["Good"] if reason else ["Good", "Odd"])
        assert [failure.reason for failure in failures] == ([reason] if reason else [])
        assert caches.equalize([odd]) == "read"
    finally:
        subprocess.run(["rm", "-rf", str(odd)], check=True)  # pytest's own clean-up is not made for this


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_one_team_s_failure(tmp_path: Path) -> None:
    from podium.running.models import find_models

    for path in ("Closed", "Inside/secret", "Several/closed"):
        write_model(tmp_path / "models" / path, SUBMIT)
    write_model(tmp_path / "models" / "Inside", SUBMIT)
    write_model(tmp_path / "models" / "Several" / "open", SUBMIT)
    closed = [tmp_path / "models" / path for path in ("Closed", "Inside/secret", "Several/closed")]
    for path in closed:
        path.chmod(0)
    runnable, failures = find_models(tmp_path / "models")
    for path in closed:
        path.chmod(0o755)
    assert [model.key for model in runnable] == ["Several/open"]
    assert {(one.team, one.model, one.reason) for one in failures} == {
        ("Closed", "", "Permission denied"),
        ("Inside", "", "Permission denied"),
        ("Several", "closed", "Permission denied"),
    }


def test_a_team_with_a_hundred_models_is_one_failure(tmp_path: Path) -> None:
    from podium.running.models import find_models

    for number in range(101):
        write_model(tmp_path / "Many" / f"{number:03}")
    write_model(tmp_path / "Good")
    runnable, failures = find_models(tmp_path)
    assert [model.team for model in runnable] == ["Good"]
    assert failures == [("Many", "", "more than 100 models")]


@pytest.mark.skipif(sys.platform != "linux", reason="the caches are Linux's")
def test_all_files_are_read_or_all_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write_model(tmp_path / "model", SUBMIT)
    with (home / "weights").open("wb") as weights:
        weights.write(os.urandom(2**23))
        os.fsync(weights.fileno())

    def is_cached(offset: int) -> bool:
        """For each offset, whether it is in the cache. Each is asked once, because the kernel reads ahead
        after that.
        """
        file = os.open(home / "weights", os.O_RDONLY)
        try:
            return os.preadv(file, [bytearray(1)], offset, os.RWF_NOWAIT) == 1
        except BlockingIOError:
            return False
        finally:
            os.close(file)

    try:
        is_cached(0)
    except OSError:
        pytest.skip("this file system does not tell what it has cached")
    monkeypatch.setattr(caches, "LARGEST_SHARE", 1e-9)
    assert caches.equalize([home]) == "dropped"
    if is_cached(2**21):
        pytest.skip("this file system keeps what it was told to drop")
    monkeypatch.undo()
    monkeypatch.setattr(caches, "DROP_CACHES", tmp_path / "drop_caches")
    (tmp_path / "drop_caches").touch()
    monkeypatch.setattr(caches, "WARM_UP", f"open({str(tmp_path / 'started')!r}, 'w')")
    assert caches.equalize([home]) == "read"
    assert is_cached(6 * 2**20)
    assert (tmp_path / "drop_caches").read_text() == "3"
    assert (tmp_path / "started").exists()


@needs_sandbox
def test_memory_of_sockets_is_counted(tmp_path: Path) -> None:
    group = control_groups.available()
    if not group:
        pytest.skip("no control group can be had here")
    source = """
import socket
pairs = []
for _ in range(600):
    pairs.append(socket.socketpair())
    pairs[-1][0].setblocking(False)
    try:
        while True:
            pairs[-1][0].send(bytes(65536))
    except BlockingIOError:
        pass
"""
    model = find_model(write_model(tmp_path / "models" / "Cheat", source + SUBMIT), "Cheat")
    assert isinstance(model, Model)
    given = settings_for(tmp_path, sandbox="bubblewrap", control_group=group)
    result = engines.run(model, given)
    assert rounds._outcome(result.measured, result.log, given) == "done"
    assert result.measured["peak_memory"] > 100 * 2**20
