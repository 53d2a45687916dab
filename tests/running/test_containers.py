"""Containers work with the real engines, if they are installed; images are made from this machine's shell."""

import functools
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from podium.running import containers, machine, settings
from podium.running.measuring import Log, Outcome, Run
from podium.running.models import Model, find_model, with_digest, with_printed
from tests.running.support import settings_for, write_model

pytestmark = pytest.mark.slow

PROGRAMS = ("sh", "sleep", "ls", "id", "head", "cat", "ln")
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
) -> tuple[Run, str]:
    """Run an image with this entry point, or with this text as a script, and return the run and its log."""
    assert make_image(engine, ["sh", "-c", entry] if isinstance(entry, str) else entry, changes) == ""
    write_model(folder / "models" / "team", IMAGE, "container.txt")
    model = find_model(folder / "models" / "team", "team")
    assert isinstance(model, Model)
    given = settings_for(folder, container_engine=engine, **changed)
    given.data.chmod(0o755)
    made = machine._ready(model, given)
    log = machine.Log(folder / "log.txt", "")
    result = machine.run_once(made, given, log)
    return result, log.path.read_text() if log.path.exists() else ""


def test_what_a_model_is_given(tmp_path: Path, engine: str) -> None:
    tell = "ls -A; ls $PODIUM_DATA; id -u; echo x > /tmp/x && echo tmp"
    result, log = run(tmp_path, engine, f"{tell}; sleep 1; {SUBMIT}")
    assert (result.outcome, result.submission) == (Outcome.DONE, b"a,b\n1,2\n"), log
    user = 0 if engine == "podman" and not settings.is_root() else os.getuid() or settings.NOBODY
    assert log.splitlines() == ["texts.txt", str(user), "tmp"]
    assert 0.9 < result.seconds < 60


def test_nothing_works_on_after_the_clock_has_stopped(tmp_path: Path, engine: str) -> None:
    late = "trap '' HUP TERM; sleep 3; echo late > submission.csv; sleep 4321"
    result, log = run(tmp_path, engine, f"({late}) & {SUBMIT}")
    assert (result.outcome, result.submission) == (Outcome.DONE, b"a,b\n1,2\n"), log
    assert result.seconds < 3
    assert b"sleep 4321" not in call("ps", "-eo", "args").stdout


def test_a_container_reaches_nothing(tmp_path: Path, engine: str) -> None:
    (tmp_path / "solution.csv").write_text("the truth")
    places = "/x /kaggle/x $PODIUM_DATA/x $PODIUM_DATA/texts.txt /proc/sys/kernel/hostname"
    attempts = f"for place in {places}; do (echo x > $place) 2> /dev/null && echo $place; done"
    look = f"cat {tmp_path}/solution.csv 2> /dev/null; ls /sys/class/net"
    look += f"; ln -s {tmp_path}/solution.csv submission.csv"
    result, log = run(tmp_path, engine, f"{attempts}; {look}")
    assert result.outcome is Outcome.SUBMISSION
    assert log == "lo\n"


@pytest.mark.parametrize(
    ("entry", "outcome", "reason"),
    [
        ("echo why; exit 3", Outcome.EXIT, "exit code 3: why"),
        ("trap '' TERM; while :; do sleep 1; done", Outcome.TIME, "time limit of 3 s"),
        ("head -c 100M /dev/zero > big; exit $?", Outcome.DISK, r"disk limit of 64 MB \(--disk-limit\)"),
        (":", Outcome.SUBMISSION, "no submission.csv"),
        (["/no/such"], Outcome.LOST, "the container cannot be started: .*/no/such"),
        (None, Outcome.EXIT, "the image .* has no entry point"),
    ],
)
def test_why_a_container_fails(
    tmp_path: Path, engine: str, entry: list[str] | str | None, outcome: Outcome, reason: str
) -> None:
    result, log = run(tmp_path, engine, entry, time_limit=3.0 if outcome is Outcome.TIME else 120.0)
    assert result.outcome is outcome, log
    assert re.match(reason, with_printed(result.reason, result.printed))
    assert result.submission == b""


def test_an_image_that_was_rebuilt_is_another_model(tmp_path: Path, engine: str) -> None:
    model = find_model(write_model(tmp_path / "models" / "team", IMAGE, "container.txt"), "team")
    assert isinstance(model, Model)
    digests = set()
    for text in ("one", "two"):
        assert make_image(engine, ["sh", "-c", f"echo {text}"]) == ""
        made = machine._ready(model, settings_for(tmp_path, container_engine=engine))
        assert made.image == containers.image_id(engine, IMAGE)
        digests.add(with_digest(made).digest)
    assert len(digests) == 2


def test_images_that_are_their_team_s_failure(tmp_path: Path, engine: str) -> None:
    assert make_image(engine, ["sh"], ["VOLUME /vol"]) == ""
    with pytest.raises(ValueError, match="has a volume"):
        containers.image_id(engine, IMAGE)
    with pytest.raises(ValueError, match="the image localhost:9/none:1 cannot be pulled: "):
        containers.image_id(engine, "localhost:9/none:1")


def test_a_clock_that_is_set_back_during_a_run_leaves_a_runtime(tmp_path: Path) -> None:
    state: dict[str, str | int | bool] = {
        "StartedAt": "2027-01-15T12:00:00+00:00",
        "FinishedAt": "2027-01-15T11:59:00+00:00",
        "ExitCode": 0,
    }
    run = containers._result(state, True, str(tmp_path), settings_for(tmp_path), Log(tmp_path / "log", ""))
    assert run.seconds > 0
