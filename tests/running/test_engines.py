"""Models are started within their limits: in containers of a stand-in for docker, as notebooks, and without
a sandbox.
"""

import errno
import importlib.util
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from podium.errors import UsageError
from podium.running import bubblewrap, containers, control_groups, engines, settings, supervisor, syscalls
from podium.running.models import Model, find_model
from podium.running.rounds import _outcome
from podium.running.settings import Run, Settings, cores_used
from podium.running.supervisor import busy_seconds, descendants, machine_is_full, memory_of
from tests.running.support import SMALL, SUBMIT, needs_sandbox, notebook, settings_for, write_model

SANDBOXES = [pytest.param("bubblewrap", marks=needs_sandbox), "none"]


def run(
    folder: Path, settings: Settings, source: str, name: str = "run.py", mode: int = 0o755
) -> tuple[str, Run]:
    """Run a model made of one file, and return its outcome and the run."""
    path = write_model(folder / "models" / "team", source, name)
    (path / name).chmod(mode)
    model = find_model(path, "team")
    assert isinstance(model, Model)
    result = engines.run(model, settings)
    return _outcome(result.measured, result.log, settings), result


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("run.py", "import sys\nprint(sys.executable)\n" + SUBMIT),
        ("run.sh", "echo a,b > submission.csv; echo 1,2 >> submission.csv; pwd; ls"),
        ("run", "#!/bin/sh\nprintf 'a,b\\n1,2\\n' > submission.csv\n"),
        ("run", f"#!/usr/bin/env python3\n{SUBMIT}"),
    ],
)
def test_scripts(tmp_path: Path, sandbox: str, name: str, source: str) -> None:
    outcome, result = run(tmp_path, settings_for(tmp_path, sandbox=sandbox), source, name)
    assert outcome == "done", result.log
    assert result.submission == b"a,b\n1,2\n"
    assert result.measured["submission"] == "submission.csv"
    assert 0 < result.measured["seconds"] < SMALL.time_limit
    assert result.measured["peak_memory"] > 10**5


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_what_a_model_is_given(tmp_path: Path, sandbox: str) -> None:
    source = (
        """
import json, os
data, model = (sorted(os.listdir(os.environ[name])) for name in ("PODIUM_DATA", "PODIUM_MODEL"))
print(json.dumps([data, model, os.listdir(), sorted(os.environ), len(os.sched_getaffinity(0))]))
"""
        + SUBMIT
    )
    outcome, result = run(tmp_path, settings_for(tmp_path, sandbox=sandbox), source)
    assert outcome == "done"
    data, model, working, environment, cores = json.loads(result.log)
    assert (data, model, working, cores) == (["texts.txt"], ["run.py"], [], 1)
    assert set(environment) <= {
        "HOME", "LANG", "LC_CTYPE", "PATH", "PODIUM_DATA", "PODIUM_MODEL", "PWD", "TMPDIR", "TZ", "USER",
    }  # fmt: skip


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("pass", "no submission.csv$"),
        ("open('Submission.csv', 'w')", "no submission.csv; found 'Submission.csv'"),
        ("open('\\x1b[2J' + 'x' * 99, 'w')", r"no submission.csv; found '\\x1b\[2Jx{36}'$"),
        ("import sys\nprint('one')\nprint('two')\nsys.exit(3)", "exit code 3: one | two"),
        ("raise SystemExit(3)", "exit code 3"),
        (
            "import os\n\nos.listdir('none')",
            r"exit code 1: .*line 3, in <module> \| os.listdir\('none'\) \| File",
        ),
        (
            SUBMIT + "open('submission.parquet', 'w')",
            "submission.csv and submission.parquet are there, expected one",
        ),
        ("import time\ntime.sleep(60)", "time limit of 1 s"),
        (
            "block = b'x' * 400_000_000\nimport time\ntime.sleep(60)",
            "memory limit of 0.25 GB|exit code 1.*MemoryError",
        ),
        (
            "open('big', 'wb').write(bytes(100_000_000))\nimport time\ntime.sleep(60)",
            "disk limit|.*File too large",
        ),
    ],
)
def test_why_a_model_fails(tmp_path: Path, sandbox: str, source: str, outcome: str) -> None:
    settings = settings_for(tmp_path, sandbox=sandbox, time_limit=1.0 if "time limit" in outcome else 60.0)
    said, result = run(tmp_path, settings, source)
    assert re.match(outcome, said), result
    assert result.submission == b""


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_model_that_crashes(tmp_path: Path, sandbox: str) -> None:
    outcome, _ = run(tmp_path, settings_for(tmp_path, sandbox=sandbox), "import os\nos.abort()")
    assert "SIGABRT" in outcome


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_what_cannot_be_executed(tmp_path: Path, sandbox: str) -> None:
    outcome, _ = run(tmp_path, settings_for(tmp_path, sandbox=sandbox), "no shebang and no program", "run")
    assert re.search("Exec format error|not found", outcome)  # some tools then try a shell


@needs_sandbox
def test_a_file_that_is_larger_than_a_submission_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.running.settings.SUBMISSION_BYTES", 1000)
    settings = settings_for(tmp_path, sandbox="bubblewrap")
    for size, outcome in ((1000, "done"), (1001, "submission.csv is larger than 1,000 bytes")):
        assert run(tmp_path, settings, f"open('submission.csv', 'w').write('x' * {size})")[0] == outcome


def test_the_log_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    source = "for n in range(50_000):\n    print(n)\n" + SUBMIT
    _, result = run(tmp_path, settings_for(tmp_path), source)
    assert result.log.startswith("0\n1\n")
    assert result.log.endswith("\n49999\n")
    assert "bytes left out]" in result.log
    assert len(result.log) < supervisor.LOG_BYTES + 100


@pytest.mark.skipif(sys.platform != "linux" or len(cores_used(0)) < 2, reason="needs two cores on Linux")
@pytest.mark.parametrize("thread", [False, True], ids=["process", "thread"])
def test_without_a_sandbox_a_model_that_leaves_its_cores_is_stopped(tmp_path: Path, thread: bool) -> None:
    source = "import os, threading, time\ndef leave():\n    os.sched_setaffinity(0, range(os.cpu_count()))\n"
    source += "    time.sleep(60)\n" + ("threading.Thread(target=leave).start()" if thread else "leave()")
    outcome, _ = run(tmp_path, settings_for(tmp_path), source)
    assert outcome == "it left the cores to which it was pinned (1)"


@needs_sandbox
def test_a_model_has_no_core_dumps_and_no_right_to_raise_its_priority(tmp_path: Path) -> None:
    """At a limit of 1 the kernel starts no other program, which it would at 0."""
    import resource

    source = """
import resource
print(*map(resource.getrlimit, (resource.RLIMIT_CORE, resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE)))
"""
    most = min(resource.getrlimit(resource.RLIMIT_CORE)[1] % 2**64, 1)
    outcome, result = run(tmp_path, settings_for(tmp_path, sandbox="bubblewrap"), source + SUBMIT)
    assert (outcome, result.log) == ("done", f"({most}, {most}) (0, 0) (0, 0)\n")


def test_folders_that_a_model_left_within_each_other_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's own way to remove them fails on so many."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with engines._working_folder() as working:
        code = "import os\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\nos.chmod('.', 0)\n"
        subprocess.run([sys.executable, "-c", code], cwd=working, check=True)
        Path(working, "closed").mkdir(mode=0)
        Path(working, "link").symlink_to(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [Path(working).parent.name]
    assert [*tmp_path.iterdir()] == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can look")
def test_a_model_that_cannot_be_watched_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = str(settings.HERE / "supervisor.py")
    broken = f"import os, runpy\nos.listdir = None\nrunpy.run_path({program!r}, run_name='__main__')\n"
    (tmp_path / "supervisor.py").write_text(broken)
    monkeypatch.setattr("podium.running.settings.HERE", tmp_path)
    outcome, _ = run(tmp_path, settings_for(tmp_path), "import time\ntime.sleep(1000)")
    assert outcome == "its processes could not be watched"


@pytest.mark.slow
@needs_sandbox
def test_what_others_take_of_the_cores_is_seen(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, sandbox="bubblewrap")
    [core] = cores_used(settings.cores)
    code = f"import os; os.sched_setaffinity(0, [{core}])\nwhile True: pass"
    busy = "import time\nstart = time.perf_counter()\nwhile time.perf_counter() - start < 1: pass\n"
    with subprocess.Popen([sys.executable, "-c", code]) as other:
        try:
            _, result = run(tmp_path, settings, busy + SUBMIT)
        finally:
            other.kill()
    measured = result.measured
    assert 0.1 < result.others < 1.1
    assert result.others + measured["cpu_seconds"] / measured["seconds"] < 1.2


def test_how_long_cores_have_worked(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text(
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 5 6 7 8 9 300 0 0\ncpu3 100 0 5 6 7 8 9 0 0 0\nctxt 1\n"
    )
    hertz = os.sysconf("SC_CLK_TCK")
    assert [busy_seconds(cores, stat) * hertz for cores in ([], [0], [0, 3])] == pytest.approx([0, 303, 403])
    assert math.isnan(busy_seconds([1], stat))
    assert math.isnan(busy_seconds([0], tmp_path / "none"))


def test_memory_that_processes_share_is_counted_once() -> None:
    code = "import os, time; block = b'x' * 50_000_000; os.fork(); os.fork(); print(flush=True); time.sleep(60)"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        for _ in range(4):
            process.stdout.readline()
        pids = [process.pid, *descendants(process.pid)]
        apart, together = memory_of(pids, limit=10**12), memory_of(pids, limit=0)
        os.killpg(process.pid, signal.SIGKILL)
    assert len(pids) == 4
    assert apart > 4 * 50_000_000
    assert 50_000_000 < together < 2 * 50_000_000


def test_a_machine_without_memory(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    for available, is_full in ((400, True), (600, False)):
        meminfo.write_text(f"MemTotal: 10000 kB\nMemFree: 100 kB\nMemAvailable: {available} kB\n")
        assert machine_is_full(meminfo) == is_full


@needs_sandbox
def test_when_podium_is_killed_the_model_is_too(tmp_path: Path) -> None:
    path = write_model(tmp_path / "models" / "team", "import time\ntime.sleep(1000)  # podium-orphan")
    (path / "run").write_text(f"#!/bin/sh\nexec sleep 1000.{os.getpid()}\n")
    (path / "run").chmod(0o755)
    (path / "run.py").unlink()
    code = f"""
from pathlib import Path
from podium.running import caches, engines
from podium.running.models import find_model
from tests.running.support import settings_for
caches.DROP_CACHES = Path("nowhere")  # a process of root would drop the caches of the whole machine
settings = settings_for(Path({str(tmp_path)!r}), sandbox="bubblewrap", time_limit=500.0)
engines.run(find_model(Path({str(path)!r}), "team"), settings)
"""

    def sleepers() -> list[Path]:
        marker = f"1000.{os.getpid()}"
        commands = []
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                commands += [command] if marker in command.read_text().split("\0") else []
            except OSError:
                continue
        return commands

    process = subprocess.Popen([sys.executable, "-c", code])
    end = time.monotonic() + 300
    try:
        while not sleepers():
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    while sleepers():
        assert time.monotonic() < end
        time.sleep(0.05)


# --- notebooks ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.parametrize(
    ("content", "outcome", "said"),
    [
        (notebook("print('hello')", SUBMIT), "done", "hello\n"),
        (
            notebook("print('hello')", "1 / 0", SUBMIT),
            "cell 3 of 4 failed: ZeroDivisionError: division by zero",
            "hello\n",
        ),
        (notebook("import os\nos._exit(0)"), "cell 2 of 2 failed: the kernel died", ""),
        ("no notebook", "the file is not a notebook: ", ""),
        ("{}", "exit code 1", ""),
        (notebook("pass"), "no submission.csv", ""),
    ],
    ids=["good", "an error", "a dead kernel", "text", "empty JSON", "no submission"],
)
def test_notebooks(tmp_path: Path, sandbox: str, content: str, outcome: str, said: str) -> None:
    settings = settings_for(tmp_path, sandbox=sandbox, memory_limit=2**30, time_limit=120.0)
    outcome_of_run, result = run(tmp_path, settings, content, "model.ipynb")
    assert outcome in outcome_of_run, result.log
    assert said in result.log


# --- containers ---------------------------------------------------------------------------------------------


FAKE = Path(__file__).with_name("fake_container_engine.py")
FAKE_ENGINE_STARTER = '#!/bin/sh\nexec {python} {source} "${{0##*/}}" "$@"\n'
ENGINES = containers.CONTAINER_ENGINES
# The engines have most behavior in common, which is the default here.
BLUE = "docker.io/blue/model:1"
DOCKER_FIRST = ["docker", pytest.param("podman", marks=pytest.mark.slow)]


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of images, and three container engines on PATH that take them from there."""
    home, programs = tmp_path / "images", tmp_path / "programs"
    home.mkdir()
    programs.mkdir()
    for name in ENGINES:
        # The path of Python may have a space or be too long for a line that begins with #!.
        program = FAKE_ENGINE_STARTER.format(python=shlex.quote(sys.executable), source=shlex.quote(str(FAKE)))
        (programs / name).write_text(program)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("FAKE_IMAGES", str(home))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return home


def calls(images: Path, first: str) -> list[list[str]]:
    """The calls of the container engine whose first argument is this one."""
    lines = (images / "calls.jsonl").read_text().splitlines()
    return [call for call in map(json.loads, lines) if call[1] == first]


def run_image(folder: Path, engine: str, **changed: float) -> tuple[str, Run]:
    """Run the image of the team Blue with changed settings."""
    settings = settings_for(folder, container_engine=engine, **changed)
    return run(folder, settings, BLUE, "container.txt")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_container(tmp_path: Path, images: Path, engine: str) -> None:
    source = "import os\nprint(os.listdir(os.environ['PODIUM_DATA']), os.listdir())\n" + SUBMIT
    (images / "docker.io_blue_model_1").write_text(source)
    outcome, result = run_image(tmp_path, engine)
    assert outcome == "done", result.log
    assert result.submission == b"a,b\n1,2\n"
    assert result.log == "['texts.txt'] []\n"
    assert 0.0 < result.measured["seconds"] < SMALL.time_limit
    [call] = calls(images, "create")
    # Podium keeps the working folder in memory where it may: as root, and with podman.
    memory = int(call[call.index("--memory") + 1])
    in_memory = [67108864] if engine == "podman" and settings.is_root() else []
    assert memory - 268435456 in [0, *in_memory]
    for words in (
        "--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges",
        "--pids-limit 512", f"--memory {memory}", f"--memory-swap {memory}", "--ulimit fsize=67108864",
        "--cpuset-cpus", "--log-driver none", "--tmpfs /tmp:size=67108864", "--shm-size 67108864",
        "--ipc private", "--cgroupns private", "--no-healthcheck", "--tmpfs /sys:ro,size=4k",
    ):  # fmt: skip
        assert f" {words} " in f" {' '.join(call)} "
    assert sorted(path.name for path in images.iterdir() if path.name.startswith("podium-")) == (
        [f"{call[call.index('--name') + 1]}.state"]
    )


def test_a_container_has_the_same_filter_of_system_calls(tmp_path: Path, images: Path) -> None:
    (images / "docker.io_blue_model_1").write_text(SUBMIT)
    assert run_image(tmp_path, "docker")[0] == "done"
    profile = json.loads((images / "profile.json").read_text())
    assert (profile["defaultAction"], profile["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", errno.ENOSYS)
    of_call: dict[str, list[dict[str, Any]]] = {}
    for rule in profile["syscalls"]:
        of_call.setdefault(*rule["names"], []).append(rule)
    for name in syscalls.REFUSED:
        assert [(one["action"], one["errnoRet"], one["args"]) for one in of_call[name]] == (
            [("SCMP_ACT_ERRNO", errno.EPERM, [])]
        )
    assert all([one["action"] for one in of_call[name]] == ["SCMP_ACT_ALLOW"] for name in syscalls.ALLOWED)
    families = {one["args"][0]["value"] for one in of_call["socket"] if one["action"] == "SCMP_ACT_ALLOW"}
    assert families == {*syscalls.FAMILIES.values()}
    [clone] = of_call["clone"]
    assert clone["args"] == [
        {"index": 0, "value": syscalls.NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    ]
    assert {one["errnoRet"] for one in of_call["madvise"] if one["action"] == "SCMP_ACT_ERRNO"} == {0}
    assert "clone3" not in of_call


@pytest.mark.parametrize("engine", ENGINES)
def test_what_each_engine_would_hand_to_a_container_unasked(tmp_path: Path, images: Path, engine: str) -> None:
    (images / "docker.io_blue_model_1").write_text(SUBMIT)
    assert run_image(tmp_path, engine)[0] == "done"
    [call] = calls(images, "create")
    podman = {"--read-only-tmpfs=false", "--systemd=false", "--http-proxy=false", "--no-hosts"}
    docker = {"http_proxy=", "HTTPS_PROXY=", "no_proxy="}
    assert {"podman": podman, "docker": docker}[engine] <= {*call}
    assert not {"podman": docker, "docker": podman}[engine] & {*call}


def test_containers_of_a_podium_that_was_killed_are_removed(tmp_path: Path, images: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, running = images / f"podium-{ended.pid}-aa", images / f"podium-{os.getpid()}-aa"
    for path in (left, running, images / "podium-other"):
        path.touch()
    chosen("auto", [container(tmp_path)])
    assert [path.name for path in images.glob("podium-*")].count(left.name) == 0
    assert running.exists()
    assert (images / "podium-other").exists()


def test_a_control_group_of_scripts_is_not_docker_s(tmp_path: Path, images: Path) -> None:
    (images / "docker.io_blue_model_1").write_text(SUBMIT)
    settings = settings_for(tmp_path, container_engine="docker", control_group="v2")
    assert run(tmp_path, settings, BLUE, "container.txt")[0] == "done"
    [call] = calls(images, "create")
    assert "--cgroup-parent" not in call


def test_an_image_with_a_volume(tmp_path: Path, images: Path) -> None:
    """Without this, the model could fill the machine's disk: engines make a folder there for each volume."""
    (images / "docker.io_blue_model_1").write_text(f"# VOLUME\n{SUBMIT}")
    outcome, _ = run_image(tmp_path, "docker")
    assert outcome == f"the image {BLUE} has a volume, '/vol': take VOLUME out of its Dockerfile"


@pytest.mark.parametrize("engine", DOCKER_FIRST)
def test_the_time_of_a_container_is_its_own(tmp_path: Path, images: Path, engine: str) -> None:
    """The time of the engine's programs does not count: here they begin 0.2 s after the start that the
    engine reports.
    """
    (images / "docker.io_blue_model_1").write_text(SUBMIT)
    (images / "pulled").touch()
    _, result = run_image(tmp_path, engine)
    assert result.measured["seconds"] > 0.2
    assert result.measured["cpu_seconds"] != result.measured["cpu_seconds"]
    assert calls(images, "pull") == []


def test_commas_in_the_paths_of_a_container(tmp_path: Path, images: Path) -> None:
    """The engines read --mount as a line of CSV."""
    (images / "docker.io_blue_model_1").write_text(SUBMIT)
    settings = settings_for(tmp_path)
    data = settings.data.rename(tmp_path / 'a,b "c"')
    script = run(tmp_path, settings._replace(data=data, container_engine="docker"), BLUE, "container.txt")
    assert script[0] == "done"
    [call] = calls(images, "create")
    [mount, _] = [word for word in call if "readonly" in word]
    quoted = str(data).replace('"', '""')
    assert mount.startswith(f'type=bind,"source={quoted}","target=/kaggle/input/a,b ""c""",readonly')


@pytest.mark.parametrize("change", [3600.0, -3600.0])
def test_a_clock_that_is_changed_during_a_container_s_run_is_the_machine_s_fault(
    tmp_path: Path, images: Path, monkeypatch: pytest.MonkeyPatch, change: float
) -> None:
    clock = iter([1e9, 1e9 + change])
    monkeypatch.setattr(containers, "time", SimpleNamespace(time=lambda: next(clock), monotonic=lambda: 0.0))
    (images / "docker.io_blue_model_1").write_text(SUBMIT)
    with pytest.raises(UsageError, match=r"clock was changed by [+-]3,600.0 s .* start the same command"):
        run_image(tmp_path, "docker")
    assert len(calls(images, "rm")) == 1


def test_a_container_whose_end_lies_before_its_start_has_the_time_of_the_engine_s_program(
    tmp_path: Path, images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Podman sometimes says so; a runtime of 0 would be the best of all."""
    (images / "docker.io_blue_model_1").write_text(SUBMIT)
    program = images.parent / "programs" / "docker"
    program.write_text(program.read_text().replace("datetime.now(UTC).isoformat(),", '"2001-01-01T00:00:00Z",'))
    _, result = run_image(tmp_path, "docker")
    assert result.measured["seconds"] > 0.2


@pytest.mark.parametrize("engine", ENGINES[:1])
@pytest.mark.usefixtures("images")
def test_a_registry_that_never_answers_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setattr(containers, "SECONDS_TO_PULL", 0.001)
    outcome, _ = run_image(tmp_path, engine)
    assert outcome == "the image docker.io/blue/model:1 cannot be pulled within 0.001 s"


@pytest.mark.parametrize("engine", ENGINES)
def test_an_image_that_cannot_be_pulled(tmp_path: Path, images: Path, engine: str) -> None:
    outcome, _ = run_image(tmp_path, engine)
    assert outcome == (
        "the image docker.io/blue/model:1 cannot be pulled: "
        "Error: no such image \\x1b[31mdocker.io/blue/model:1"
    )


@pytest.mark.parametrize("engine", DOCKER_FIRST)
@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("print('why')\nraise SystemExit(3)", "exit code 3: why"),
        ("raise SystemExit(137)", r"memory limit of 0\.25 GB"),
        ("import time\ntime.sleep(1000)", "time limit of 1 s"),
        pytest.param(
            "import time\nopen('big', 'wb').write(bytes(100_000_000))\ntime.sleep(1000)",
            # A folder in memory, which only root can have, ends the writing before podium looks.
            r"disk limit of 0\.0625 GB|exit code 1: .*No space left on device",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "import os\nos.symlink('/etc/passwd', 'submission.csv')",
            "submission.csv is not a regular file",
            marks=pytest.mark.slow,
        ),
        pytest.param("pass", "no submission.csv", marks=pytest.mark.slow),
    ],
)
def test_why_a_container_fails(tmp_path: Path, images: Path, engine: str, source: str, outcome: str) -> None:
    (images / "docker.io_blue_model_1").write_text(source)
    said, _ = run_image(tmp_path, engine, time_limit=1.0 if outcome.startswith("time") else 60.0)
    assert re.fullmatch(outcome, said)
    assert len(calls(images, "rm")) >= 1


def script_in(folder: Path) -> Model:
    """A model that is a script."""
    model = find_model(write_model(folder / "Red"), "Red")
    assert isinstance(model, Model)
    return model


def container(folder: Path, team: str = "Blue") -> Model:
    """A model that is a container."""
    model = find_model(write_model(folder / team, "blue/model:1", "container.txt"), team)
    assert isinstance(model, Model)
    return model


def chosen(engine: str, models: list[Model]) -> tuple[str, str]:
    """The sandbox and the container engine that were chosen."""
    taken = engines.choose(engine, models, SMALL)
    return taken.sandbox, taken.container_engine


def test_the_first_container_engine_that_works_is_chosen(tmp_path: Path, images: Path) -> None:
    models = [container(tmp_path)]
    assert chosen("auto", models) == ("bubblewrap", "docker")
    assert chosen("podman", models) == ("bubblewrap", "podman")
    assert chosen("none", models) == ("none", "docker")
    (tmp_path / "programs" / "docker").write_text("#!/bin/sh\necho down >&2; exit 1\n")
    assert chosen("auto", models) == ("bubblewrap", "podman")
    with pytest.raises(UsageError, match=r"container.txt of Blue needs docker, which .* docker says: down"):
        chosen("docker", models)


# --- no engine ----------------------------------------------------------------------------------------------


def test_no_engine_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    script = script_in(tmp_path)
    with pytest.raises(UsageError, match=r"no sandbox: bwrap is not here .*--engine none"):
        chosen("auto", [script])
    with pytest.raises(UsageError, match="needs docker or podman"):
        chosen("auto", [container(tmp_path)])
    assert chosen("none", [script]) == ("none", "")
    assert chosen("auto", []) == ("bubblewrap", "")


def test_what_executes_notebooks_is_missed_before_any_model_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is a fault of the machine, which is never held against a team."""
    model = find_model(write_model(tmp_path / "Blue", notebook(SUBMIT), "model.ipynb"), "Blue")
    assert isinstance(model, Model)
    assert chosen("none", [model]) == ("none", "")
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "nbclient" else find_spec(name)
    )
    with pytest.raises(UsageError, match=r"^the notebook of Blue needs nbclient: pip install 'podium\[n"):
        chosen("none", [model])
    assert chosen("none", [script_in(tmp_path)]) == ("none", "")


def tool(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program of this name first on PATH."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_a_bubblewrap_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, script in (("bwrap", "echo bubblewrap 0.6.1"), ("prlimit", "true"), ("setpriv", "true")):
        tool(tmp_path, name, script, monkeypatch)
    script = script_in(tmp_path)
    with pytest.raises(UsageError, match=r"bubblewrap is 0.6.1, expected at least 0.8"):
        chosen("auto", [script])


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="bubblewrap is for Linux")
def test_a_machine_that_forbids_namespaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, "bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1", monkeypatch)
    with pytest.raises(
        UsageError, match=r"cannot be made on this machine: bwrap: No permissions.*user namespaces"
    ):
        engines.probe(settings_for(tmp_path, sandbox="bubblewrap"), [script_in(tmp_path)])


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="root's models run as nobody")
def test_data_that_nobody_can_read_is_said_before_any_model_runs(tmp_path: Path) -> None:
    script, settings = script_in(tmp_path), settings_for(tmp_path, sandbox="bubblewrap")
    engines.probe(settings, [script])
    for path in settings.data / "texts.txt", settings.data:
        path.chmod(0o700)
        with pytest.raises(UsageError, match=rf"nobody, who cannot read {path} \(chmod -R o\+rX\)"):
            engines.probe(settings, [script])
        path.chmod(0o755)


@needs_sandbox
def test_files_that_the_user_of_podium_cannot_read_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root can read everything, so here the operating system's answer is made up."""
    script, settings = script_in(tmp_path), settings_for(tmp_path, sandbox="bubblewrap")
    monkeypatch.setattr("podium.running.settings.is_root", lambda: False)
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith((".txt", "run.py")))
    with pytest.raises(
        UsageError, match=r"^models run as .*podium, who cannot read .*texts.txt \(chmod -R u\+rX\)$"
    ):
        engines.probe(settings, [script])
    assert engines.run(script, settings).measured["problem"] == (
        "models run as the user who runs podium, who cannot read Red/run.py (chmod -R u+rX)"
    )


@needs_sandbox
@pytest.mark.parametrize("target", ["../run.py", "inner/../../run.py", "/etc/passwd"])
def test_links_that_lead_out_of_the_data_are_said_before_any_model_runs(tmp_path: Path, target: str) -> None:
    """Every model that reads such a file would fail, through no fault of its own."""
    script, settings = script_in(tmp_path), settings_for(tmp_path, sandbox="bubblewrap")
    (settings.data / "inner").mkdir()
    (settings.data / "inner" / "same").symlink_to("../texts.txt")
    engines.probe(settings, [script])
    (settings.data / "link").symlink_to(target)
    with pytest.raises(UsageError, match="data/link is a link to a file that models do not see"):
        engines.probe(settings, [script])
    engines.probe(settings._replace(sandbox="none"), [script])


@needs_sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="root's models run as nobody")
@pytest.mark.parametrize("closed", ["Red", "Red/run.py", "Red/weights", "Red/weights/first.bin"])
def test_a_model_that_nobody_can_read_is_one_team_s_failure(tmp_path: Path, closed: str) -> None:
    script, settings = script_in(tmp_path), settings_for(tmp_path, sandbox="bubblewrap")
    (tmp_path / "Red" / "weights").mkdir(mode=0o755)
    (tmp_path / "Red" / "weights" / "first.bin").touch(0o644)
    (tmp_path / closed).chmod(0o700)
    engines.probe(settings, [script])
    result = engines.run(script, settings)
    assert _outcome(result.measured, result.log, settings) == (
        f"as podium runs as root, models run as the user nobody, who cannot read {closed} (chmod -R o+rX)"
    )


# --- the filter of system calls -------------------------------------------------------------------------------


@needs_sandbox
@pytest.mark.parametrize(
    ("module", "said"),
    [
        (None, r"needs pyseccomp: pip install 'podium\[run\]'"),
        (
            "raise RuntimeError('Unable to find libseccomp')",
            r"needs libseccomp \(apt-get install libseccomp2\)",
        ),
        (
            "ERRNO, ALLOW = str, 0\ndef SyscallFilter(default): raise OSError(22, 'Invalid argument')",
            "libseccomp cannot build the filter of system calls: .*Invalid argument",
        ),
    ],
)
def test_without_the_filter_no_model_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str | None, said: str
) -> None:
    syscalls.filter_program.cache_clear()
    if module is None:
        monkeypatch.setitem(sys.modules, "pyseccomp", None)
    else:
        (tmp_path / "pyseccomp.py").write_text(module)
        monkeypatch.delitem(sys.modules, "pyseccomp", raising=False)
        monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match=said):
        engines.choose("auto", [script_in(tmp_path)], SMALL)
    sys.modules.pop("pyseccomp", None)
    assert chosen("none", [script_in(tmp_path)]) == ("none", "")


@needs_sandbox
def test_a_filter_that_the_kernel_does_not_load_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bubblewrap, "FILTER_IS_LOADED", "grep -q '^Seccomp:[[:space:]]*9' /proc/self/status")
    with pytest.raises(UsageError, match="filter of system calls was not loaded"):
        engines.probe(settings_for(tmp_path, sandbox="bubblewrap"), [script_in(tmp_path)])


REFUSED_CALLS = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in map(int, sys.argv[1:]):
    ctypes.set_errno(0)
    result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    print(result, errno.errorcode.get(ctypes.get_errno(), ""))
"""


@needs_sandbox
def test_every_refused_call_is_refused(tmp_path: Path) -> None:
    """Each call is made by its number, as a program without libc would make it."""
    import pyseccomp

    numbers = [pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) for name in syscalls.REFUSED]
    known = [number for number in numbers if number >= 0]
    assert len(known) > 30
    source = REFUSED_CALLS.replace("sys.argv[1:]", repr(known)) + SUBMIT
    outcome, result = run(tmp_path, settings_for(tmp_path, sandbox="bubblewrap"), source)
    assert outcome == "done"
    assert result.log == "-1 EPERM\n" * len(known)


def test_no_call_is_both_allowed_and_refused() -> None:
    names = [
        *syscalls.ALLOWED,
        *syscalls.REFUSED,
        *syscalls.IGNORED,
        *syscalls.BY_FLAG,
        "prctl",
        "socket",
        "clone",
        "preadv2",
        "personality",
    ]
    assert len({*names}) == len(names)
    assert all(reason for reason in syscalls.REFUSED.values())
    assert "clone3" not in names  # filters cannot see its flags


@needs_sandbox
def test_models_may_use_threads_processes_and_numpy(tmp_path: Path) -> None:
    source = """
import multiprocessing, subprocess, sys
import numpy as np
from concurrent.futures import ThreadPoolExecutor

def work(seed):
    return float((np.random.default_rng(seed).random((200, 200)) @ np.eye(200)).sum() > 0)

if __name__ == "__main__":
    with ThreadPoolExecutor(4) as threads:
        print(sum(threads.map(work, range(8))))
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(sum(pool.map(work, range(4))))
    queue = multiprocessing.Queue()
    queue.put(1)
    print(queue.get(), subprocess.run(["sh", "-c", "echo hello | cat"], capture_output=True, text=True).stdout)
""" + SUBMIT.replace("open", "if __name__ == '__main__': open")
    settings = settings_for(tmp_path, sandbox="bubblewrap", memory_limit=2**30, time_limit=120.0)
    outcome, result = run(tmp_path, settings, source)
    assert outcome == "done", result.log
    assert result.log == "8.0\n4.0\n4.0\n4.0\n1 hello\n\n"


# --- control groups -------------------------------------------------------------------------------------------


@needs_sandbox
@pytest.mark.skipif(not control_groups.available(), reason="no control group can be had here")
def test_a_control_group_limits_and_counts(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, sandbox="bubblewrap", control_group=control_groups.available())
    hidden = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever does not wait for its children hides their time
if os.fork() == 0:
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
    os._exit(0)
try:
    os.wait()
except ChildProcessError:
    pass
"""
    outcome, result = run(tmp_path, settings, hidden + SUBMIT)
    assert outcome == "done", result.log
    assert result.measured["cpu_seconds"] > 0.5
    assert control_groups._parents(settings.control_group)
    for parent in {*control_groups._parents(settings.control_group).values()}:
        assert [*parent.glob(f"podium-{os.getpid()}-*")] == []


def played_version_2(folder: Path, monkeypatch: pytest.MonkeyPatch, own: str = "/user/podium") -> Path:
    """A folder that looks like control groups of version 2, and the group of this process."""
    for path in (folder / "cgroup", folder / "cgroup" / own.strip("/")):
        path.mkdir(parents=True)
        (path / "cgroup.controllers").write_text("cpu memory pids\n")
        (path / "cgroup.subtree_control").write_text("\n")
        (path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    place = f"{folder}/cgroup".replace(" ", "\\040")  # as the kernel writes it
    (folder / "mounts").write_text(f"30 23 0:26 / {place} rw,nosuid - cgroup2 cgroup2 rw\n")
    (folder / "own").write_text(f"0::{own}\n")
    monkeypatch.setattr(control_groups, "MOUNTS", folder / "mounts")
    monkeypatch.setattr(control_groups, "OWN", folder / "own")
    control_groups._parents.cache_clear()
    return folder / "cgroup" / own.strip("/")


@pytest.fixture
def groups_are_asked_again() -> Iterator[None]:
    """Forget what is known about control groups."""
    yield
    control_groups._parents.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
@pytest.mark.usefixtures("groups_are_asked_again")
def test_control_groups_of_version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = played_version_2(tmp_path, monkeypatch)
    assert control_groups.available() == "v2"
    assert (group / "cgroup.subtree_control").read_text() == "+memory +pids"
    name = f"podium-{os.getpid()}-{next(control_groups.numbers) + 1}"
    made = group / name
    monkeypatch.setattr(control_groups, "SECONDS_TO_EMPTY", 0)  # the kernel removes its files with their folder
    made.mkdir()
    (made / "cgroup.procs").touch()
    with control_groups.group_of_a_run("v2", 1000, 64) as given:
        assert given is not None
        assert (made / "memory.max").read_text() == "1000"
        assert (made / "memory.swap.max").read_text() == "0"
        assert (made / "pids.max").read_text() == "64"
        os.write(given.joins[0], b"0")
        assert (made / "cgroup.procs").read_text() == "0"
        (made / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n")
        (made / "memory.peak").write_text("900\n")
        (made / "memory.events").write_text("low 0\nhigh 0\nmax 3\noom 1\noom_kill 0\n")
        assert given.used() == (2.5, 2.0, 900, False)
        (made / "memory.events").write_text("oom 1\noom_kill 2\n")
        (made / "memory.peak").unlink()
        assert given.used() == (2.5, 2.0, 0, True)


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
@pytest.mark.usefixtures("groups_are_asked_again")
def test_where_control_groups_belong_to_others_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = played_version_2(tmp_path, monkeypatch)
    for folder in (group, tmp_path / "cgroup"):
        (folder / "cgroup.controllers").write_text("cpu\n")
    assert control_groups.available() == ""
    names = ("memory", "pids", "cpuacct")
    mounts = [
        f"3{n} 23 0:2{n} / {tmp_path}/none/{name} rw - cgroup cgroup rw,{name}" for n, name in enumerate(names)
    ]
    (tmp_path / "mounts").write_text("\n".join(mounts))
    (tmp_path / "own").write_text("".join(f"{n}:{name}:/\n" for n, name in enumerate(names)))
    control_groups._parents.cache_clear()
    assert control_groups.available() == ""
    with control_groups.group_of_a_run("", 1000, 64) as given:
        assert given is None
