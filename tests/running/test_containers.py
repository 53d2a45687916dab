"""Containers work with the real engines, if they are installed; images are made from this machine's shell."""

import functools
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from podium.errors import UsageError
from podium.running import containers, control_groups, engines, settings
from podium.running.models import Failure, Model, find_model
from podium.running.rounds import _outcome
from podium.running.settings import Run
from tests.running.bait import Bait, unharmed
from tests.running.support import settings_for, write_model
from tests.support.hostile import HOSTILE, PRELUDE, SECRET, Hostile

pytestmark = pytest.mark.slow

PROGRAMS = ("sh", "sleep", "ls", "id", "head", "tail")
SUBMIT = "echo a,b > submission.csv; echo 1,2 >> submission.csv"
IMAGE = f"localhost/podium-test:{os.getpid()}"  # several tests may run at the same time


@functools.cache
def root_file_system() -> bytes:
    """A tar archive with a few programs of this machine and their libraries."""
    paths = {path for name in PROGRAMS if (path := shutil.which(name))}
    for path in sorted(paths):
        said = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        paths |= {*re.findall(r"/\S+", said)}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", dereference=True) as tar:
        for folder in {str(parent) for path in paths for parent in Path(path).parents} - {"/"}:
            tar.add(folder, recursive=False)
        for path in sorted(paths):
            tar.add(path)
    return made.getvalue()


def call(*command: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run a command, and return what it printed."""
    return subprocess.run(command, input=given, capture_output=True)


def make_image(engine: str, entry: list[str] | None, changes: Sequence[str] = ()) -> str:
    """Make the image, and return what the engine says if it cannot."""
    call(engine, "rmi", "--force", IMAGE)
    changes = [f"ENTRYPOINT {json.dumps(entry)}", *changes] if entry else changes
    change = [word for line in changes for word in ("--change", line)]
    made = call(engine, "import", *change, "-", IMAGE, given=root_file_system())
    return made.stderr.decode() if made.returncode else ""


@functools.cache
def why_not(engine: str) -> str:
    """Why an engine does not work here, or "" if it does."""
    if not hasattr(os, "geteuid") or shutil.which(engine) is None:
        return f"{engine} is not here"
    if said := make_image(engine, ["sh", "-c", "exit 7"]):
        return f"{engine} makes no image: {said}"
    limits = ["--ulimit", "nofile=512", "--ulimit", "nproc=512"]
    ran = call(engine, "run", "--rm", "--network", "none", *limits, IMAGE)
    return "" if ran.returncode == 7 else f"{engine} runs no container: {ran.stderr.decode()}"


@pytest.fixture(params=["docker", "podman"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An engine that works here, after a check that no container is left."""
    if shutil.which("runc"):  # podman's first choice, crun, does not suit every kernel
        (tmp_path / "containers.conf").write_text('[engine]\nruntime = "runc"\n')
        monkeypatch.setenv("CONTAINERS_CONF", str(tmp_path / "containers.conf"))
    engine: str = request.param
    if reason := why_not(engine):
        pytest.skip(reason)
    yield engine
    assert call(engine, "ps", "--all", "--quiet", "--filter", f"ancestor={IMAGE}").stdout == b""
    assert call(engine, "rmi", "--force", IMAGE).returncode == 0


def run(
    folder: Path, engine: str, entry: list[str] | str | None, changes: Sequence[str] = (), **changed: object
) -> tuple[str, Run]:
    """Run an image with this entry point, or with this text as a script, and return its outcome and the run."""
    assert make_image(engine, ["sh", "-c", entry] if isinstance(entry, str) else entry, changes) == ""
    model = find_model(write_model(folder / "models" / "team", IMAGE, "container.txt"), "team")
    assert isinstance(model, Model)
    given = settings_for(folder, container_engine=engine, **changed)
    given.data.chmod(given.data.stat().st_mode | 0o555)
    result = engines.run(model, given)
    return _outcome(result.measured, result.log, given), result


def test_what_a_model_is_given(tmp_path: Path, engine: str) -> None:
    tell = "ls -A; ls $PODIUM_DATA; ls /sys; id -u; echo x > /tmp/x && echo tmp"
    outcome, result = run(tmp_path, engine, f"{tell}; {SUBMIT}")
    assert outcome == "done", result.log
    assert result.submission == b"a,b\n1,2\n"
    assert result.log.splitlines() == ["texts.txt", "devices", "fs", str(os.getuid() or settings.NOBODY), "tmp"]


def test_everything_else_is_read_only(tmp_path: Path, engine: str) -> None:
    data = settings_for(tmp_path).data
    data.chmod(0o777)
    (data / "texts.txt").chmod(0o666)
    places = "/x /kaggle/x /sys/x $PODIUM_DATA/x $PODIUM_DATA/texts.txt"
    attempts = f"for place in {places}; do (echo x > $place) 2> /dev/null && echo $place; done"
    outcome, result = run(tmp_path, engine, f"{attempts}; {SUBMIT}")
    assert (outcome, result.log) == ("done", "")


def test_the_time_is_the_container_s_own(tmp_path: Path, engine: str) -> None:
    start = time.perf_counter()
    outcome, result = run(tmp_path, engine, f"sleep 1; {SUBMIT}")
    assert outcome == "done"
    assert 0.9 < result.measured["seconds"] < time.perf_counter() - start


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ("echo why; exit 3", "exit code 3: why"),
        ("sleep 1000", "time limit of 3 s"),
        ("trap '' TERM; while :; do sleep 1; done", "time limit of 3 s"),
        ("head -c 600M /dev/zero | tail -c 500M; exit $?", r"memory limit|exit code 137 \(SIGKILL\)"),
        (
            "for n in 1 2 3; do head -c 30M /dev/zero > $n || exit 4; done; sleep 1000",
            "disk limit of 0.0625 GB|exit code 4: .*No space left",
        ),
        ("head -c 100M /dev/zero > big", r"exit code 153 \(SIGXFSZ\)|exit code 1: .*File too large"),
        (":", "no submission.csv"),
        (["/no/such"], "exit code 127: .*/no/such"),
        (["/dev"], "exit code 12[67]: .*/dev"),
        (None, "the image .* has no entry point"),
    ],
)  # fmt: skip
def test_why_a_container_fails(
    tmp_path: Path, engine: str, entry: list[str] | str | None, outcome: str
) -> None:
    said, result = run(tmp_path, engine, entry, time_limit=3.0 if outcome.startswith("time") else 120.0)
    assert re.match(outcome, said), (said, result.log)
    assert result.submission == b""


def test_an_image_that_cannot_be_had(tmp_path: Path, engine: str) -> None:
    model = find_model(write_model(tmp_path, "localhost:9/none:1", "container.txt"), "team")
    assert isinstance(model, Model)
    problem = engines.run(model, settings_for(tmp_path, container_engine=engine)).measured["problem"]
    assert problem.startswith("the image localhost:9/none:1 cannot be pulled: ")


def test_a_machine_s_fault_is_nobody_s_failure(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "cores_used", lambda number: [4095])
    with pytest.raises(UsageError, match=f"{engine} cannot (make|start) a container: .*"):
        run(tmp_path, engine, SUBMIT)


@pytest.mark.parametrize("team", ["dir:/etc", "oci-archive:/root/image.tar", "containers-storage:x"])
def test_images_come_from_registries_alone(tmp_path: Path, team: str) -> None:
    found = find_model(write_model(tmp_path, team, "container.txt"), "team")
    assert isinstance(found, Failure)
    assert found.reason == "container.txt names no image: expected a name such as docker.io/team/model:1"


def test_an_image_has_no_volumes(tmp_path: Path, engine: str) -> None:
    """A volume would be a folder on the machine's disk, without a limit."""
    outcome, _ = run(tmp_path, engine, f"echo x > /volume/x; {SUBMIT}", changes=["VOLUME /volume"])
    assert outcome == f"the image {IMAGE} has a volume, '/volume': take VOLUME out of its Dockerfile"


def test_the_machine_s_proxies_and_hosts_stay_unknown(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://user:password@proxy")
    tell = "echo [$http_proxy$https_proxy$HTTPS_PROXY]; ls -A /sys/fs/cgroup /run; echo x > /run/x"
    outcome, result = run(tmp_path, engine, f"{tell} || {{ {SUBMIT}; }}")
    assert outcome == "done"
    assert "[]" in result.log.splitlines()
    assert "password" not in result.log


@pytest.mark.parametrize("processes", [1, 40])
def test_a_container_cannot_shorten_its_time_by_keeping_the_engine_from_its_work(
    tmp_path: Path, engine: str, processes: int
) -> None:
    """The engine notes the time of the start only when the model is already running."""
    busy = "while :; do :; done & " * processes
    outcome, result = run(tmp_path, engine, f"{busy} sleep 3; {SUBMIT}")
    assert outcome == "done"
    assert result.measured["seconds"] > 2.9


def test_nothing_is_left_when_podium_was_killed(tmp_path: Path, engine: str) -> None:
    assert make_image(engine, ["sh", "-c", "echo > started; sleep 1000"]) == ""
    write_model(tmp_path / "team", IMAGE, "container.txt")
    group = group_for(engine)
    code = f"""
from pathlib import Path
from podium.running import caches, engines
from podium.running.models import find_model
from tests.running.support import settings_for
caches.DROP_CACHES = Path("nowhere")  # a process of root would drop the caches of the whole machine
settings = settings_for(Path({str(tmp_path)!r}), container_engine={engine!r}, control_group={group!r})
engines.run(find_model(Path({str(tmp_path / "team")!r}), "team"), settings)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2]) as podium:
        filters = ["--filter", f"ancestor={IMAGE}"]
        while not call(engine, "ps", "--quiet", *filters).stdout:
            assert podium.poll() is None
            time.sleep(0.2)
        podium.kill()
    while call(engine, "ps", "--quiet", *filters).stdout:
        time.sleep(0.2)
    containers.remove_left(engine)
    assert call(engine, "ps", "--all", "--quiet", *filters).stdout == b""
    assert f"podium-{podium.pid} " not in Path("/proc/self/mounts").read_text()


def test_the_time_of_a_container_s_processors_is_known_in_a_control_group(tmp_path: Path, engine: str) -> None:
    group = group_for(engine)
    if not group:
        pytest.skip("no control group can be had here")
    work = "n=0; while [ $n -lt 300000 ]; do n=$((n+1)); done"
    outcome, result = run(tmp_path, engine, f"{work}; {SUBMIT}", control_group=group)
    assert outcome == "done"
    assert result.measured["user_seconds"] > 0.01
    assert result.measured["cpu_seconds"] < 2 * result.measured["seconds"] + 2
    assert result.measured["peak_memory"] > 0
    assert not [*Path("/sys/fs/cgroup").glob(f"**/podium-{os.getpid()}-*")]


def group_for(engine: str) -> str:
    """The version of control groups that podium uses for containers of this engine."""
    return control_groups.available() if engine == "podman" and settings.is_root() else ""


PYTHON, PYTHON_IMAGE = "/usr/local/bin/python3", f"{IMAGE}-python"


def python_file_system() -> bytes:
    """A tar archive with this machine's Python, its libraries and ``id``."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library, tools = Path(sysconfig.get_path("stdlib")), [sys.executable, shutil.which("id") or ""]
    libraries: set[str] = set()
    for program in [*map(os.path.realpath, tools), *map(str, library.glob("lib-dynload/*.so"))]:
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        libraries |= {*re.findall(r"/\S+(?= \()", said)}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", dereference=True) as tar:
        tar.add(os.path.realpath(sys.executable), PYTHON)
        tar.add(tools[1], "/usr/bin/id")
        for path in sorted(libraries):
            tar.add(path, path if path.startswith("/lib") else f"/usr/lib/{Path(path).name}")
        for path in library.iterdir():
            if not re.match("site-packages|test|idlelib|lib2to3|ensurepip|__pycache__|config-", path.name):
                tar.add(path, f"/usr/local/lib/{version}/{path.name}")
    return made.getvalue()


@functools.cache
def python_image(engine: str) -> str:
    """An image with Python, on which those of the attacks are built."""
    made = call(engine, "import", "-", PYTHON_IMAGE, given=python_file_system())
    assert made.returncode == 0, made.stderr
    return PYTHON_IMAGE


@pytest.fixture(scope="module", autouse=True)
def no_image_stays() -> Iterator[None]:
    """Remove the images with Python at the end."""
    yield
    for engine in filter(shutil.which, containers.CONTAINER_ENGINES):
        call(engine, "rmi", "--force", PYTHON_IMAGE)


USER = str((hasattr(os, "getuid") and os.getuid()) or settings.NOBODY)
# What differs from bubblewrap: the outcome, and what is in the log.
OTHERWISE = {
    # The model is the container's first process, and there is no other.
    "other processes in /proc, and open files it inherited": ("done", "processes 1 uid "),
    # The engine lets no program in /dev/shm be executed.
    "set-uid programs": ("exit code 1", "id {uid}\nid {uid}\n"),
    # Where the folder is in memory, the kernel itself limits the files in it.
    "more files than allowed": (("more than", "exit code 1: .*No space left"), ""),
    "attributes of files, which take memory beside their content": (
        ("more than", "exit code 1: .*No space left"),
        "",
    ),
    # Root reads the folder from outside.
    "a submission and a folder that cannot be read": (("done", "Permission denied"), ""),
    "memory beyond the limit": ("memory limit", ""),
    # The first process of its namespace ignores the signal, and goes on to its end.
    "a child that stops, ignores all signals and waits for its own child": ("no submission.csv", ""),
}
# What models reach in a container, although not in bubblewrap, and what is the container's own.
HARMLESS = re.compile(
    r"/etc/passwd|/dev/mqueue|'/run'|\('/sys/fs(/cgroup)?',\)|/proc/timer_list'\)> \(\) b''"
    r"|/proc/1/|\('of {uid}', {uid}, -1\)".replace("{uid}", USER)
)


@pytest.mark.parametrize("hostile", [pytest.param(one, id=one.name) for one in HOSTILE])
def test_hostile_images_fail_without_harm(
    hostile: Hostile, tmp_path: Path, engine: str, bait: Bait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.running.settings.PROCESSES", 64)
    monkeypatch.setattr("podium.running.settings.FILES", 5000)
    monkeypatch.setattr("podium.running.settings.SUBMISSION_BYTES", 32 * 2**20)
    given = settings_for(
        tmp_path, container_engine=engine, control_group=group_for(engine),
        time_limit=60.0 if hostile.outcome != "time limit" else 10.0 if hostile.said else 3,
    )  # fmt: skip
    given.data.chmod(0o755)
    context = write_model(tmp_path / "image", PRELUDE + hostile.source)
    (context / "bait.json").write_text(bait.describe())
    (context / "link").symlink_to(bait.files[0])
    (context / "Containerfile").write_text(
        f'FROM {python_image(engine)}\nCOPY . /kaggle/model\nENTRYPOINT ["{PYTHON}", "/kaggle/model/run.py"]\n'
    )
    built = call(
        engine, "build", "--no-cache", "--file", f"{context}/Containerfile", "--tag", IMAGE, str(context)
    )
    assert built.returncode == 0, built.stderr
    model = find_model(write_model(tmp_path / "models" / "team", IMAGE, "container.txt"), "team")
    assert isinstance(model, Model)
    with unharmed(tmp_path, bait, given.data):
        result = engines.run(model, given)
    outcome = _outcome(result.measured, result.log, given)
    expected, said = OTHERWISE.get(hostile.name, (hostile.outcome, hostile.said))
    if hostile.name in OTHERWISE:
        said = said.replace("{uid}", USER)
    begins = (expected,) if isinstance(expected, str) else expected
    assert any(re.match(one, outcome) or outcome.startswith(one) for one in begins), result
    assert said in result.log
    reached = [line for line in result.log.splitlines() if "REACHED" in line]
    assert [line for line in reached if not HARMLESS.search(line)] == []
    assert SECRET not in result.log
    assert SECRET.encode() not in result.submission
    assert bool(result.submission) == (outcome == "done")
