"""Containers work with the real engines, if they are installed; images are made from this machine's shell."""

import functools
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.errors import UsageError
from podium.running import engines, settings
from podium.running.models import Model, find_model
from podium.running.rounds import _outcome
from podium.running.settings import Run
from tests.running.support import settings_for, write_model

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


def make_image(engine: str, entry: list[str] | None) -> str:
    """Make the image, and return what the engine says if it cannot."""
    call(engine, "rmi", "--force", IMAGE)
    change = ["--change", f"ENTRYPOINT {json.dumps(entry)}"] if entry else []
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


def run(folder: Path, engine: str, entry: list[str] | str | None, **changed: float) -> tuple[str, Run]:
    """Run an image with this entry point, or with this text as a script, and return its outcome and the run."""
    assert make_image(engine, ["sh", "-c", entry] if isinstance(entry, str) else entry) == ""
    model = find_model(write_model(folder / "models" / "team", IMAGE, "container.txt"), "team")
    assert isinstance(model, Model)
    given = settings_for(folder, container_engine=engine, **changed)
    given.data.chmod(given.data.stat().st_mode | 0o555)
    result = engines.run(model, given)
    return _outcome(result.measured, result.log, given), result


def test_what_a_model_is_given(tmp_path: Path, engine: str) -> None:
    tell = "ls -A; ls $PODIUM_DATA; ls /sys/class/net; id -u; echo x > /tmp/x && echo tmp"
    outcome, result = run(tmp_path, engine, f"{tell}; {SUBMIT}")
    assert outcome == "done", result.log
    assert result.submission == b"a,b\n1,2\n"
    assert result.log.splitlines() == ["texts.txt", "lo", str(os.getuid() or settings.NOBODY), "tmp"]


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
            "for n in 1 2 3; do head -c 30M /dev/zero > $n; done; sleep 1000",
            "disk limit of 0.0625 GB",
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
