"""Models of each kind run within their limits, in the sandbox and without one."""

import json
import math
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from podium.common.errors import UsageError
from podium.running import control_group, fairness, hardware, machine, rounds, sandbox, settings, system_calls
from podium.running.measuring import LOG_BYTES, Outcome, core_seconds
from podium.running.models import Kind, Model, find_model, with_printed
from podium.running.settings import cores_used
from tests.running.support import (
    SMALL,
    SUBMIT,
    in_sandbox,
    needs_kernel,
    needs_sandbox,
    notebook,
    run_model,
    settings_for,
    write_model,
)

ROOT = Path(__file__).parents[2]
DONE = Outcome.DONE
SANDBOXES = pytest.mark.parametrize("given_by", [pytest.param(in_sandbox, marks=needs_sandbox), settings_for])


@SANDBOXES
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("run.py", "import sys\nprint(sys.executable)\n" + SUBMIT),
        ("run.sh", "echo a,b > submission.csv; echo 1,2 >> submission.csv; pwd; ls"),
        ("run.sh", "#!/usr/bin/env -S bash -e\nset -o pipefail\nprintf 'a,b\\n1,2\\n' > submission.csv"),
        ("run", f"#!/usr/bin/env python3\n{SUBMIT}"),
    ],
)
def test_scripts_run_whatever_their_mode(tmp_path, given_by, name, source):
    run, log = run_model(tmp_path, given_by(tmp_path), source, name, mode=0o644)
    assert (run.outcome, run.reason, run.name) == (DONE, "", "submission.csv"), log
    assert run.submission == b"a,b\n1,2\n"
    assert 0 < run.seconds < SMALL.time_limit
    assert run.used.peak_memory > 10**5


@SANDBOXES
def test_what_a_model_is_given(tmp_path, given_by):
    source = """
import json, os
data, model = (sorted(os.listdir(os.environ[name])) for name in ("PODIUM_DATA", "PODIUM_MODEL"))
print(data, model, os.listdir(), *sorted(os.environ))
"""
    run, log = run_model(tmp_path, given_by(tmp_path), source + SUBMIT)
    assert run.outcome is DONE
    seen, _, names = log.partition("[] ")
    assert seen == "['texts.txt'] ['run.py'] "
    assert {*names.split()} <= {
        "HOME", "KAGGLE_IS_COMPETITION_RERUN", "LANG", "LC_CTYPE", "PATH", "PIP_PREFIX", "PODIUM_DATA",
        "PODIUM_MODEL", "PWD", "PYTHONPATH", "TMPDIR", "TZ", "USER",
    }  # fmt: skip


@SANDBOXES
def test_python_may_be_started_by_a_path_with_dots(tmp_path, given_by, monkeypatch):
    """As in `../venv/bin/python -m podium run`."""
    up = [".."] * (len(tmp_path.parts) - 1)
    monkeypatch.setattr(sys, "executable", os.path.join(tmp_path, *up, *Path(sys.executable).parts[1:]))
    assert ".." in sys.executable
    assert os.path.exists(sys.executable)
    run, log = run_model(tmp_path, given_by(tmp_path), SUBMIT)
    assert (run.outcome, run.reason) == (DONE, ""), log
    (tmp_path / "models" / "team" / "run.py").unlink()
    run, log = run_model(tmp_path, given_by(tmp_path), 'python -c "' + SUBMIT.strip() + '"', "run.sh")
    assert run.outcome is DONE, log


def test_dots_behind_a_link_lead_to_where_they_did(tmp_path):
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "far" / "venv").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far" / "away")
    assert settings.plain(str(tmp_path / "near" / ".." / "venv")) == str((tmp_path / "far" / "venv").resolve())
    assert settings.plain(str(tmp_path / "far" / "away" / ".." / "venv")) == str(tmp_path / "far" / "venv")
    assert settings.plain(str(tmp_path / "near")) == str(tmp_path / "near")


LOOK = """
import json, os, tempfile
for names, may in json.loads(ROWS):
    for name in names:
        place = os.environ[name[1:]] if name.startswith("$") else name
        if may == "see":
            assert place, name
            continue
        assert os.access(place, os.R_OK), name
        assert os.access(place, os.W_OK) == (may == "write" or place.startswith("/dev/")), name
        if may == "write":
            tempfile.TemporaryFile(dir=place).write(b"x")
"""


@needs_sandbox
def test_a_model_finds_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "explanation" / "sandbox.md").read_text(encoding="utf-8")
    table = page.partition("## What your model finds\n")[2].partition("\n## ")[0]
    lines = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| `")]
    rows = [(re.findall("`(.+?)`", first), may.strip()) for first, _, may in lines]
    assert len(rows) > 8
    source = (
        LOOK.replace("ROWS", repr(json.dumps(rows)))
        + """
import getpass, pwd, socket
assert getpass.getuser() == pwd.getpwuid(os.getuid()).pw_name == "model"
assert pwd.getpwuid(os.getuid()).pw_dir == os.path.expanduser("~") == "/tmp"
assert socket.gethostbyname(socket.gethostname()) == "127.0.0.1"
assert os.listdir("/kaggle/input/competitions/data") == os.listdir(os.environ["PODIUM_DATA"]) == ["texts.txt"]
assert [name for *_, names in os.walk("/kaggle/input") for name in names] == ["texts.txt"]
assert os.environ["MODE"] == "a=b" and not os.listdir()
"""
    )
    run, log = run_model(tmp_path, in_sandbox(tmp_path, environment={"MODE": "a=b"}), source + SUBMIT)
    assert run.outcome is DONE, log


@needs_kernel
@SANDBOXES
@pytest.mark.slow
def test_a_notebook_installs_wheels_and_imports_modules_beside_it(tmp_path: Path, given_by) -> None:
    folder = write_model(tmp_path / "models" / "team", "X = 3", "helper.py")
    (folder / "wheels").mkdir()
    with zipfile.ZipFile(folder / "wheels" / "tiny_one-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_one.py", "Y = 4")
        about = {"METADATA": "Metadata-Version: 2.1\nName: tiny_one\nVersion: 1.0\n"}
        about |= {"WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "RECORD": ""}
        for name, text in about.items():
            wheel.writestr(f"tiny_one-1.0.dist-info/{name}", text)
    install = "!pip install --no-index --find-links $PODIUM_MODEL/wheels tiny_one"
    content = notebook("import helper", install, "import tiny_one\nprint(helper.X + tiny_one.Y)", SUBMIT)
    run, log = run_model(tmp_path, given_by(tmp_path, memory_limit=2**30), content, "model.ipynb")
    assert run.outcome is DONE, log
    assert log.endswith("\n7\n")


@SANDBOXES
@pytest.mark.parametrize(
    ("source", "outcome", "reason"),
    [
        ("pass", Outcome.SUBMISSION, "no submission.csv$"),
        ("open('Submission.csv', 'w')", Outcome.SUBMISSION, "no submission.csv: found Submission.csv$"),
        (
            "import os\nos.mkdir('output')\nopen('output/submission.csv', 'w')",
            Outcome.SUBMISSION,
            "no submission.csv: found output/submission.csv, output$",
        ),
        ("import os\nos.mkdir('submission.csv')", Outcome.SUBMISSION, "submission.csv is not a regular file"),
        ("import os\nos.mkfifo('submission.csv')", Outcome.SUBMISSION, "submission.csv is not a regular file"),
        (
            SUBMIT + "open('submission.parquet', 'w')",
            Outcome.SUBMISSION,
            "submission.csv and submission.parquet are there, expected one",
        ),
        ("print('one')\nprint('two')\nraise SystemExit(3)", Outcome.EXIT, r"exit code 3: one \| two$"),
        ("import os\nos.abort()", Outcome.EXIT, r"exit code -?\d+ \(SIGABRT\)"),
        (
            "echo a,b >submission.csv\n[ -f none ] && cat none",
            Outcome.EXIT,
            r"exit code 1, although submission.csv was there \(run by sh\)$",
        ),
        (
            "import sys\nprint('ERROR: Could not find a version')\nprint('1\\n2\\n3\\n4\\n5')\nsys.exit(1)",
            Outcome.EXIT,
            r"exit code 1: ERROR: Could not find a version \| … \| 1 \| 2 \| 3 \| 4 \| 5$",
        ),
        ("exit 7", Outcome.EXIT, r"exit code 7 \(run by sh\)$"),
        (
            "echo it\npython2 predict.py",
            Outcome.EXIT,
            r"exit code 127 \(run by sh\): it \| .*python2: not found$",
        ),
        (
            "echo it; (sleep 100; echo a,b >submission.csv) &",
            Outcome.SUBMISSION,
            "no submission.csv; what the model had left running when its first process ended, was ended, too$",
        ),
        ("echo it; (sleep 0) & wait; (sleep .01; :)", Outcome.SUBMISSION, "no submission.csv$"),
        ("echo loading\nsleep 100", Outcome.TIME, r"time limit of 2 s \(--time-limit\): loading$"),
    ],
)
@pytest.mark.slow
def test_why_a_model_fails(tmp_path, given_by, source, outcome, reason):
    given = given_by(tmp_path, **({"time_limit": 2.0} if outcome is Outcome.TIME else {}))
    name = "run.sh" if source.startswith(("echo", "exit")) else "run.py"
    run, log = run_model(tmp_path, given, source, name)
    assert run.outcome is outcome, log
    assert re.match(reason, with_printed(run.reason, run.printed))
    assert run.submission == b""
    assert run.seconds < 100, "it was waited for and not ended"


@needs_sandbox
def test_limits_without_a_control_group(tmp_path):
    given = in_sandbox(tmp_path, control_group=False)
    run, _ = run_model(tmp_path, given, "block = b'x' * 400_000_000")
    assert (run.outcome, "MemoryError" in run.printed) == (Outcome.EXIT, True)
    run, _ = run_model(tmp_path, given, "open('big', 'wb').write(bytes(100_000_000))")
    assert run.outcome is Outcome.DISK
    assert re.match(r"disk limit of 64 MB \(--disk-limit\)$", run.reason)
    (tmp_path / "models" / "team" / "run.py").unlink()
    run, _ = run_model(tmp_path, given, "ulimit -f 1\nexec head -c 9999 /dev/zero > big", "run.sh")
    assert run.outcome is Outcome.DISK  # by a signal
    (tmp_path / "models" / "team" / "run.sh").unlink()
    source = (
        "import os\nos.sched_setaffinity(0, range(os.cpu_count()))\nassert len(os.sched_getaffinity(0)) == 1\n"
    )
    run, log = run_model(tmp_path, given, source + SUBMIT)
    assert run.outcome is DONE, log
    assert run.used.cpu_seconds > 0


@SANDBOXES
def test_a_submission_that_is_too_large(tmp_path, monkeypatch, given_by):
    monkeypatch.setattr(settings, "SUBMISSION_BYTES", 1000)
    for size, reason in ((1000, ""), (1001, "submission.csv is larger than 1,000 bytes")):
        run, _ = run_model(tmp_path, given_by(tmp_path), f"open('submission.csv', 'w').write('x' * {size})")
        assert (run.reason, len(run.submission)) == (reason, 0 if reason else 1000)


def test_the_log_keeps_its_beginning_and_its_end(tmp_path):
    source = "for n in range(300_000):\n    print(n)\n" + SUBMIT
    _, log = run_model(tmp_path, settings_for(tmp_path), source)
    assert log.startswith("0\n1\n")
    assert log.endswith("\n299999\n")
    assert "bytes left out]" in log
    assert len(log) < 1.1 * LOG_BYTES


def test_the_log_grows_while_the_model_runs(tmp_path):
    source = f"""
import pathlib, time
print("half", flush=True)
log = pathlib.Path({str(tmp_path / "log.txt")!r})
while not log.exists() or "half" not in log.read_text():
    time.sleep(0.05)
"""
    run, _ = run_model(tmp_path, settings_for(tmp_path), source + SUBMIT)
    assert run.outcome is DONE


@needs_sandbox
@pytest.mark.parametrize("group", [True, False])
def test_what_stands_behind_etc_works(tmp_path, group):
    """Programs behind /etc/alternatives, the name localhost, temporary files and shared memory."""
    source = """
import multiprocessing, socket, subprocess, tempfile
from multiprocessing.shared_memory import SharedMemory
def square(number):
    return number * number
if __name__ == "__main__":
    assert subprocess.run(["awk", "BEGIN {print 42}"], capture_output=True, check=True).stdout == b"42\\n"
    assert socket.gethostbyname("localhost") == "127.0.0.1"
    tempfile.TemporaryFile().write(b"x")
    SharedMemory(create=True, size=10).unlink()
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, [2, 3]) == [4, 9]
"""
    given = in_sandbox(tmp_path, **({} if group else {"control_group": False}))
    run, log = run_model(tmp_path, given, source + "    " + SUBMIT)
    assert run.outcome is DONE, log


@SANDBOXES
def test_a_model_brings_packages_in_a_folder_site(tmp_path, given_by):
    write_model(tmp_path / "models" / "team" / "site" / "brought", "ANSWER = 42\n", "__init__.py")
    run, log = run_model(tmp_path, given_by(tmp_path), "import brought\nprint(brought.ANSWER)\n" + SUBMIT)
    assert (run.outcome, log) == (DONE, "42\n")


@needs_kernel
@pytest.mark.slow
@SANDBOXES
@pytest.mark.parametrize(
    ("content", "reason", "said"),
    [
        (notebook("print('hello')", SUBMIT, kernel="another-conda-env"), "", "hello\n"),
        (
            notebook("print('hello')", "1 / 0"),
            "cell 3 of 3 failed: ZeroDivisionError: division by zero",
            "hello\n",
        ),
        (notebook("import os\nos._exit(0)"), "cell 2 of 2 failed: the kernel died", ""),
        (notebook(SUBMIT, "import sys\nsys.exit(0)"), "", ""),
        (notebook("import os\nprint(os.listdir())"), "no submission.csv", ""),
        (notebook("import subprocess\nsubprocess.Popen(['sleep', '600'])", SUBMIT), "", ""),
        ("no notebook", "the file is not a notebook: ", ""),
    ],
    ids=["good", "an error", "a dead kernel", "an end", "nothing", "a process left behind", "text"],
)
def test_notebooks(tmp_path, given_by, content, reason, said):
    given = given_by(tmp_path, memory_limit=2**30)
    run, log = run_model(tmp_path, given, content, "model.ipynb")
    assert (run.outcome is DONE) == (not reason), log
    assert reason in with_printed(run.reason, run.printed)
    assert said in log


WRITE = """
import glob, os
for path in ["/proc/self/fd/5", *glob.glob("/proc/[0-9]*/fd/*")]:
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), b"0\\nREACHED\\n")
    except OSError:
        pass
"""


@needs_kernel
@needs_sandbox
@pytest.mark.slow
def test_the_time_of_a_notebook_begins_with_its_first_cell_and_nothing_of_it_is_executed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(tmp_path / "models" / "team" / "site", "print('EARLY')", "sitecustomize.py")
    write_model(tmp_path / "models" / "team" / "site", "print('brought')", "nbformat.py")
    late = tmp_path / "notebook.py"
    source = (ROOT / "podium" / "running" / "notebook.py").read_text(encoding="utf-8")
    late.write_text(source.replace("import re\n", "import re\nimport time\ntime.sleep(10)\n"))
    monkeypatch.setattr("podium.running.view.NOTEBOOK", late)
    cells = ("import nbformat", WRITE, SUBMIT)
    given = in_sandbox(tmp_path, memory_limit=2**30)
    run, log = run_model(tmp_path, given, notebook(*cells), "model.ipynb")
    assert (run.outcome, run.submission) == (DONE, b"a,b\n1,2\n"), log
    assert "EARLY" not in log
    assert "brought" in log
    assert run.seconds < 10
    run, _ = run_model(tmp_path, given._replace(time_limit=3.0), notebook(*cells), "model.ipynb")
    assert run.outcome is Outcome.TIME  # a kernel must start in this time, too


# In place of podium's program for notebooks: the start of the kernel, the first cell, and the submission.
PLAYED_NOTEBOOK = """
import os, sys, time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
work(0.9)
os.write(int(sys.argv[2]), b"begins\\n")
work(0.2)
"""


@needs_sandbox
@pytest.mark.parametrize("group", [pytest.param(True, marks=pytest.mark.slow), False])
def test_both_clocks_of_a_notebook_begin_with_its_first_cell_also_on_a_busy_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: bool
) -> None:
    monkeypatch.setattr(
        "podium.running.view.NOTEBOOK", write_model(tmp_path, PLAYED_NOTEBOOK + SUBMIT) / "run.py"
    )
    given = in_sandbox(tmp_path, **({} if group else {"control_group": False}))
    loop = [sys.executable, "-c", "import os\nos.sched_setaffinity(0, {int(os.sys.argv[1])})\nwhile True: pass"]
    loops = [subprocess.Popen([*loop, str(core)]) for core in cores_used(1)]
    try:
        run, log = run_model(tmp_path, given, "{}", "model.ipynb")
    finally:
        for each in loops:
            each.kill()
            each.wait()
    assert run.outcome is DONE, log
    assert 0.1 < run.used.cpu_seconds < 0.7, "the start of the kernel counts, or the first cell does not"
    assert run.used.cpu_seconds < run.seconds + 0.1  # on one core
    row = rounds._row(Model("A", "", tmp_path, "model.ipynb", Kind.NOTEBOOK), 1, run, "", "bubblewrap")
    assert "others" in fairness.state_of([row]).text
    assert fairness.state_of([row]).is_provisional


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose orphans processes are")
@pytest.mark.slow
def test_without_a_sandbox_nothing_works_on_after_the_clock_has_stopped(tmp_path):
    source = (
        SUBMIT
        + f"""
import os, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            time.sleep(1)
            open({str(tmp_path / "late")!r}, 'w').write('late')
            open('submission.csv', 'w').write('late')
            time.sleep(60)
        os._exit(0)
    os.wait()
"""
    )
    own = subprocess.Popen(["sleep", "600"], start_new_session=True)  # of whoever calls podium
    try:
        run, log = run_model(tmp_path, settings_for(tmp_path), source)
        assert (run.outcome, run.submission) == (DONE, b"a,b\n1,2\n"), log
        time.sleep(1.2)
        assert not (tmp_path / "late").exists()
        assert own.poll() is None
    finally:
        own.kill()
        own.wait()


def test_a_machine_is_described_in_a_line(monkeypatch):
    cards = {"nvidia-smi": "A100, 535.1, 81920 MiB\nA100, 535.1, 81920 MiB\nT4, 535.1, 15360 MiB"}
    monkeypatch.setattr(hardware, "_said", lambda *command: cards.get(command[0], ""))
    told = (
        r".+, [\d,]+ cores?(, [\d.]+ GB of memory)?, 2 × A100, 535.1, 81920 MiB, T4, 535.1, 15360 MiB, \w+ \S+"
    )
    assert re.fullmatch(told, hardware.describe())
    assert {"podium", "python", "numpy"} <= hardware.versions().keys()


@needs_sandbox
def test_data_that_models_cannot_see_stop_the_run(tmp_path):
    given = in_sandbox(tmp_path)
    (given.data / "again.txt").symlink_to("texts.txt")
    assert machine.make_ready("auto", [], given).failures == []
    (given.data / "away").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a link to a file that models do not see"):
        machine.make_ready("auto", [], given)


@needs_sandbox
def test_limits_within_which_nothing_runs_are_refused_before_any_model(tmp_path):
    with pytest.raises(UsageError, match=r"not even a small program runs within the limits: exit code"):
        sandbox.probe(in_sandbox(tmp_path, memory_limit=1, control_group=False))


@needs_sandbox
@pytest.mark.skipif(not settings.is_root(), reason="only root runs models as another user")
def test_a_folder_that_the_models_user_cannot_read_is_one_team_s_failure(tmp_path):
    models = [find_model(write_model(tmp_path / team, SUBMIT), team) for team in ("Open", "Closed")]
    (tmp_path / "Closed" / "run.py").chmod(0o600)
    made = machine.make_ready(
        "auto", [model for model in models if isinstance(model, Model)], in_sandbox(tmp_path)
    )
    assert [model.team for model in made.models] == ["Open"]
    [failure] = made.failures
    assert "cannot read Closed/run.py (chmod -R o+rX)" in failure.reason


@pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")
def test_without_libseccomp_the_command_ends_before_any_model_runs(monkeypatch):
    system_calls.filter_program.cache_clear()
    monkeypatch.setattr("ctypes.CDLL", lambda name: (_ for _ in ()).throw(OSError()))
    with pytest.raises(UsageError, match=r"needs libseccomp \(apt-get install libseccomp2\)"):
        system_calls.filter_program(True)


def test_how_long_cores_have_worked(tmp_path):
    stat = tmp_path / "stat"
    stat.write_text("cpu  9 9\ncpu0 1 2 5 6 7 8 9 300 0 0\ncpu3 100 0 5 6 7 8 9 0 0 0\nctxt 1\n")
    hertz = os.sysconf("SC_CLK_TCK")
    assert [core_seconds(cores, stat) * hertz for cores in ([], [0], [0, 3])] == pytest.approx([0, 303, 403])
    assert math.isnan(core_seconds([1], stat))
    assert math.isnan(core_seconds([0], tmp_path / "none"))


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
def test_what_a_control_group_limits_and_counts(tmp_path):
    """The files of control groups that this machine may not have."""
    folder = tmp_path / "group"
    folder.mkdir()
    (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n")
    (folder / "memory.peak").write_text("4096\n")
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    group = control_group.Group(folder, holds_cores=True)
    assert group.used() == (1.5, 1.0, 4096, True, False)
    (folder / "memory.events").write_text("low 0\noom 0\noom_kill 1\n")  # a group above or the machine was full
    assert group.used()[3:] == (False, True)
    control_group._limit(group, 1000, 64, [0, 1])
    limits = {name: (folder / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max")}
    assert limits == {"memory.max": "1000", "memory.swap.max": "0", "pids.max": "64"}
    assert (folder / "cpuset.cpus").read_text() == "0,1"
    assert group.door == folder / "cgroup.procs"


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
def test_all_controllers_are_enabled_in_one_group_that_is_podium_s(tmp_path, monkeypatch):
    """Where podium runs in a group that was not delegated to it, only the machine's root group remains."""
    mount, own = tmp_path / "mount", tmp_path / "mount" / "scope"
    own.mkdir(parents=True)
    for group in (mount, own):
        (group / "cgroup.controllers").write_text("cpuset cpu memory pids\n")
        (group / "cgroup.procs").write_text("")
    monkeypatch.setattr(control_group, "_mounts", lambda: [mount])
    monkeypatch.setattr(control_group, "_own_groups", lambda: ["scope"])
    for delegated, parent, controllers in (
        (False, mount, ("memory", "pids")),
        (True, own, ("memory", "pids", "cpuset")),
    ):
        monkeypatch.setattr(control_group, "_is_delegated", lambda *_, said=delegated: said)
        assert control_group._found_parent() == (parent, "cpuset" in controllers)
        assert (parent / "cgroup.subtree_control").read_text() == " ".join(f"+{one}" for one in controllers)
    (own / "cgroup.controllers").write_text("cpuset pids\n")
    assert control_group._found_parent() == (mount, False)


@needs_sandbox
def test_a_model_out_of_memory_fails_and_a_machine_out_of_memory_loses_the_run(tmp_path, monkeypatch):
    given, greedy = in_sandbox(tmp_path), "block = b'x' * 400_000_000"
    if not given.control_group:
        pytest.skip("no control group can be had here")
    run, _ = run_model(tmp_path, given, greedy)
    assert run.outcome is Outcome.MEMORY
    assert run.reason.startswith(
        "memory limit of 320 MB for all of its processes and files (--memory-limit plus"
    )
    fields = control_group._fields
    monkeypatch.setattr(control_group, "_fields", lambda path: fields(path) | {"oom": 0})
    run, _ = run_model(tmp_path, given, greedy)
    assert (run.outcome, run.reason) == (Outcome.LOST, "the machine ran out of memory")


@needs_sandbox
@pytest.mark.slow
def test_a_sandbox_that_is_never_ready_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "SECONDS_TO_START", 0.5)
    monkeypatch.setattr("podium.running.sandbox.SCRIPT", "exec sleep 1000")
    with pytest.raises(UsageError, match=r"cannot be made on this machine: it was not ready within 0\.5 s"):
        run_model(tmp_path, in_sandbox(tmp_path), SUBMIT)


@needs_sandbox
@pytest.mark.slow
def test_a_submission_that_podium_does_not_get_whole_loses_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "SECONDS_TO_SEND", 0.5)
    script = sandbox.SCRIPT.replace("exec head", "head -c 5; exec sleep 1000; head")
    monkeypatch.setattr(sandbox, "SCRIPT", script)
    run, _ = run_model(tmp_path, in_sandbox(tmp_path), SUBMIT)
    assert (run.outcome, run.submission) == (Outcome.LOST, b"")


@needs_sandbox
def test_cores_are_counted_and_held(tmp_path):
    run, log = run_model(tmp_path, in_sandbox(tmp_path), "import os\nprint(os.sched_getaffinity(0))\n" + SUBMIT)
    assert log == f"{ {*cores_used(1)} }\n"
    assert run.others >= 0


FILTERED = """
import asyncio, ctypes, os, subprocess, sys
program = sys.stdin.buffer.read()
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]
content = ctypes.create_string_buffer(program, len(program))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, ctypes.byref(Filter(len(program) // 8, ctypes.addressof(content))), 0, 0) == 0
try:
    os.pidfd_open(os.getpid())
except OSError as problem:
    print(problem.strerror)
descriptor = ctypes.c_int(-1)
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
if (child := libc.syscall(clone, 0x1000 | 17, 0, ctypes.byref(descriptor), 0, 0)) == 0:
    os._exit(0)
print(child, descriptor.value)
print(subprocess.run(["echo", "one"], capture_output=True, text=True).stdout, end="")
async def other():
    process = await asyncio.create_subprocess_exec("echo", "two", stdout=subprocess.PIPE)
    print((await process.communicate())[0].decode(), end="")
asyncio.run(other())
"""


def test_no_run_leaves_a_note_in_the_numbers_of_pidfds() -> None:
    """What waits for its children by pidfds falls back on the older way."""
    try:
        program = system_calls.filter_program(True)
    except UsageError:
        pytest.skip("libseccomp is not installed")
    done = subprocess.run([sys.executable, "-c", FILTERED], input=program, capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["Function not implemented", "-1 -1", "one", "two"]
