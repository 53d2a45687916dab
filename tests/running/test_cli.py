"""The command line refuses wrong usage, serves a participant with one model, and survives kill -9."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import podium
from podium.cli import main
from podium.common.errors import UsageError
from tests.running.support import SUBMIT, needs_sandbox, table, write_model

# The command prints its warnings, and these tests do not depend on how slow this machine is now.
pytestmark = pytest.mark.filterwarnings("default")

SMALL = ["--memory-limit", "256M", "--disk-limit", "64M", "--time-limit", "60s", "--cores", "1"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with data and two models, a good one and a bad one."""
    tmp_path.parent.chmod(0o755)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "texts.txt").write_text("one two three\n")
    write_model(tmp_path / "models" / "Good", "print('hello')\n" + SUBMIT)
    write_model(tmp_path / "models" / "Bad", "raise SystemExit('no idea')")
    return tmp_path


def call(place: Path, *more: str, models: str = "models") -> int:
    """Run `podium run` with small limits in this process."""
    given = {"--data": str(place / "data"), "--out": str(place / "out"), **dict(zip(SMALL[::2], SMALL[1::2]))}
    options = [word for pair in given.items() if pair[0] not in more for word in pair]
    return main(["run", str(place / models), *options, *more])


@needs_sandbox
def test_a_run_from_end_to_end(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(place, "--repeats", "2") == 0
    said = capsys.readouterr()
    assert "models with predictions: 1, failed: 1" in said.out
    assert "warning: Bad failed: exit code 1: no idea\nwarning: 1 failed, see" in said.err
    assert re.search(r"round 1, 1 of 1: Good runs\n    Good: \d+\.\d\d s\n", said.err)
    assert "not measured, 2 of 2: " in said.err
    assert "    Bad: exit code 1: no idea\n" in said.err
    out = place / "out"
    assert [row["submission"] for row in table(out / "runtimes.csv")] == ["submission.csv"]
    assert table(out / "failed.csv") == [
        {"team": "Bad", "model": "", "reason": "exit code 1", "engine": "bubblewrap"}
    ]
    assert (out / "submissions" / "Good" / "submission.csv").read_text() == "a,b\n1,2\n"
    assert call(place, "--repeats", "2") == 0
    assert "going on after" in capsys.readouterr().err
    assert call(place, "--repeats", "2", "--env", "MODE=1") == 2
    assert "were made in another way: MODE: 1 instead of nothing" in capsys.readouterr().err


SECRET = "an essay of the test set"
TELL_TALES = {
    "Prints": f"raise SystemExit({SECRET!r})",
    "Raises": f"raise RuntimeError({SECRET!r})",
    "Names a class": f"raise type({SECRET!r}, (Exception,), {{}})",
    "Names a file": f"open({SECRET!r}, 'w')",
    "Fills a disk": f"import sys\nsys.stderr.write({SECRET!r})\nopen('big', 'wb').write(bytes(90_000_000))",
}


@needs_sandbox
@pytest.mark.slow
def test_what_a_failed_model_printed_stands_in_no_public_table(place: Path, capsys) -> None:
    for team, source in TELL_TALES.items():
        write_model(place / "models" / team, source)
    assert call(place, "--repeats", "1") == 0
    out = place / "out"
    public = [path.read_text() for path in out.iterdir() if path.is_file() and path.name != "printed.csv"]
    assert len(public) == 4
    assert not any("essay" in text for text in public)
    reasons = {row["team"]: row["reason"] for row in table(out / "failed.csv")}
    assert {reasons[team] for team in ("Prints", "Raises", "Names a class")} == {"exit code 1"}
    assert reasons["Names a file"] == "no submission.csv"
    told = {row["team"]: row["printed"] for row in table(out / "printed.csv")}
    assert all(SECRET in told[team] for team in TELL_TALES)
    capsys.readouterr()
    assert call(place, "--repeats", "1") == 0
    assert f"warning: Names a class failed: {reasons['Names a class']}: Traceback" in capsys.readouterr().err


@needs_sandbox
@pytest.mark.slow
@pytest.mark.parametrize(
    ("closed", "program"),
    [
        ("<&-", ["-c", "import sys; from podium.cli import main; sys.exit(main())"]),  # as in a script
        (">&-", ["-m", "podium"]),
        ("<&- >&- 2>&-", ["-m", "podium"]),
    ],
)
def test_with_closed_standard_streams(place: Path, closed: str, program: list[str]) -> None:
    out, good = place / "out", place / "models" / "Good"
    command = [sys.executable, *program, "run", "--one", str(good), "--data", str(place / "data")]
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *command, "--out", str(out), *SMALL]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert (out / "submissions" / "Good" / "submission.csv").read_text() == "a,b\n1,2\n"


@needs_sandbox
@pytest.mark.parametrize(("team", "code"), [("Good", 0), ("Bad", 3)])
def test_a_participant_tries_one_model(
    place: Path, capsys: pytest.CaptureFixture[str], team: str, code: int
) -> None:
    assert call(place, "--one", models=f"models/{team}") == code
    said = capsys.readouterr()
    if code == 0:
        assert (place / "out" / "submissions" / "Good" / "submission.csv").exists()
        assert "hello" in (place / "out" / "logs" / "Good" / "run.1.txt").read_text()
    else:
        assert f"error: exit code 1: no idea (its whole log is in {place / 'out' / 'logs'})" in said.err
        assert "no idea" in (place / "out" / "logs" / "Bad" / "run.1.txt").read_text()
    assert len(table(place / "out" / "runs.csv")) == 1


def test_without_a_sandbox_it_says_so_in_every_output(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(place, "--repeats", "1", "--engine", "none") == 0
    assert "warning: no sandbox" in capsys.readouterr().err
    out = place / "out"
    for name in ("runs.csv", "runtimes.csv", "failed.csv"):
        assert {row["engine"] for row in table(out / name)} == {"none"}
    assert "engine none" in (out / "logs" / "Bad" / "run.0.txt").read_text()
    assert '"sandbox": "none"' in (out / "hardware.json").read_text()


def test_all_models_fail(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "models" / "Good" / "run.py").write_text("pass")
    assert call(place, "--engine", "none") == 4
    assert "error: no model gave predictions; Bad: exit code 1: no idea" in capsys.readouterr().err
    assert len(table(place / "out" / "failed.csv")) == 2


@pytest.mark.parametrize(
    ("models", "options", "code", "message"),
    [
        ("models", "--data {place}/none", 2, "there is no folder {place}/none (--data)"),
        ("models", "--out {place}/text", 2, "cannot write into {place}/text: File exists"),
        ("models", "--out {place}/data/out", 2, "could read {place}/data/out, because it is in {place}/data"),
        ("models", "--data {place}", 2, "every model could read {place}/models, because it is in {place}"),
        ("models", "--cores 1000", 2, "--cores: expected at most"),
        ("models", "--time-limit 9x", 2, "--time-limit: expected a "),
        ("models", "--env MODE", 2, "--env: expected NAME=VALUE, found MODE"),
        pytest.param("models", "--dask tcp://127.0.0.1:9", 2, "no Dask scheduler at", marks=pytest.mark.slow),
        ("nowhere", "", 2, "there is no folder {place}/nowhere"),
        ("empty", "", 2, "there are no models in {place}/empty"),
        ("models/Good", "", 2, "models/Good is a model itself: give the folder that has a folder per team"),
        ("nowhere", "--one", 2, "there is no folder {place}/nowhere"),
        ("empty", "--one", 3, "there is no model: expected one notebook"),
    ],
)
def test_wrong_usage(
    place: Path, capsys, monkeypatch, models: str, options: str, code: int, message: str
) -> None:
    monkeypatch.setattr("podium.child.cluster.SECONDS_TO_CONNECT", 1)
    (place / "empty").mkdir()
    (place / "text").touch()
    assert call(place, "--engine", "none", *options.format(place=place).split(), models=models) == code
    assert message.format(place=place) in capsys.readouterr().err


@pytest.mark.slow
def test_the_function_does_what_the_command_does_and_returns_tables(place: Path) -> None:
    """In a plain script, without a guard for __main__."""
    write_model(place / "models" / "007", SUBMIT)
    script = f"""
import podium
made = podium.run({str(place / "models")!r}, data={str(place / "data")!r}, out={str(place / "out")!r},
                  repeats=1, engine="none")
print(repr(made))
print(made.runtimes["team"].tolist(), made.runtimes["runtime"].dtype, made.runtimes["runs"].tolist())
print(made.failed["reason"].tolist(), made.failed["printed"].tolist(), len(made.runs), made.provisional)
"""
    (place / "script.py").write_text(script)
    done = subprocess.run([sys.executable, str(place / "script.py")], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        f"<models with predictions: 2, failed: 1; runs: 5; machine: unknown; in {place / 'out'}>",
        "['007', 'Good'] float64 [1, 1]",
        "['exit code 1'] ['no idea'] 5 True",
    ], done.stderr
    assert "UserWarning: no sandbox" in done.stderr


def test_the_function_refuses_what_the_command_does(place: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*: it lies in the input"):
        podium.run(place / "models", data=place / "data", out=place / "models" / "Good" / "out", engine="none")
    assert [path.name for path in (place / "models" / "Good").iterdir()] == ["run.py"]


# Run podium on a disk with this many bytes left, and again when there is room.
ON_A_FULL_DISK = """
import os, pathlib, sys
from podium.cli import main
from podium.common.errors import UsageError
arguments, out, room = sys.argv[1:-2], pathlib.Path(sys.argv[-2]), int(sys.argv[-1])
filler = out / "filler"
try:
    with filler.open("wb", 0) as file:
        while file.write(bytes(4096)):
            pass
except OSError:
    os.truncate(filler, filler.stat().st_size - room)
first = main(arguments)
kept = (out / "runs.csv").read_text().count("\\n") if (out / "runs.csv").exists() else 0
whole = all(path.read_text() == "a,b\\n1,2\\n" for path in out.glob("submissions/*/[!.]*"))
filler.unlink()
print(first, whole, kept, main(arguments), (out / "runs.csv").read_text().count("\\n"))
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not here")
@pytest.mark.parametrize("pages", [0, 1, 6])
def test_a_disk_that_is_full_stops_the_run_and_nothing_is_lost(place: Path, pages: int) -> None:
    out = place / "out"
    out.mkdir()
    for team in "ABC":
        write_model(place / "models" / team, SUBMIT)
    disk = ["bwrap", "--dev-bind", "/", "/", "--size", str(2**20), "--tmpfs", str(out)]
    if subprocess.run([*disk, "true"], capture_output=True).returncode:
        pytest.skip("no file system of its own can be mounted here")
    arguments = ["run", str(place / "models"), "--data", str(place / "data"), "--out", str(out), *SMALL]
    arguments += ["--engine", "none", "--repeats", "1"]
    done = subprocess.run(
        [*disk, sys.executable, "-c", ON_A_FULL_DISK, *arguments, str(out), str(4096 * pages)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert re.search(r"error: cannot write \S+: No space left on device", done.stderr), done
    assert "Traceback" not in done.stderr
    first, whole, kept, then, runs = done.stdout.split()[-5:]
    assert (first, whole, then) == ("2", "True", "0")
    assert int(runs) >= 10  # a header, Bad once, and Good, A, B, C at least twice
    assert ("going on after" in done.stderr) == (int(kept) > 1)


@needs_sandbox
@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on(place: Path) -> None:
    """The command is killed again and again. Every file is whole at any time, and in the end all of them
    exist.
    """
    for team in "ABC":
        write_model(place / "models" / team, "import time\ntime.sleep(0.1)\n" + SUBMIT)
    out = place / "out"
    command = [sys.executable, "-m", "podium", "run", str(place / "models"), "--data", str(place / "data")]
    command += ["--out", str(out), *SMALL, "--repeats", "2"]
    for made in ("hardware.json", "submissions/B", "logs/C/run.1.txt"):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and not (out / made).exists():
                time.sleep(0.01)
            process.kill()
        assert all(row["digest"] for path in out.glob("runs.csv") for row in table(path))
        for path in out.glob("submissions/*/[!.]*"):
            assert path.read_text() == "a,b\n1,2\n"
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert [row["team"] for row in table(out / "runtimes.csv")] == ["A", "B", "C", "Good"]
    seen = [(row["team"], row["round"]) for row in table(out / "runs.csv") if row["round"] != "0"]
    assert len(seen) == len(set(seen))


def test_names_that_look_alike_or_are_formulas(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for team in ("good", "=1+1", "Ｇood"):
        write_model(place / "models" / team, "raise SystemExit('=no')")
    assert call(place, "--repeats", "1", "--engine", "none") == 0
    said = capsys.readouterr().err
    assert "names of teams that look alike, which podium rank refuses: “Good”, “good”, “Ｇood”" in said
    assert [row["team"] for row in table(place / "out" / "failed.csv")][:2] == ["'=1+1", "Bad"]


@pytest.mark.slow
@needs_sandbox
def test_what_protects_less_is_said(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.running.control_group.is_available", lambda: False)
    assert call(place, "--repeats", "1") == 0
    said = capsys.readouterr().err
    assert "systemd-run --user --scope -p Delegate=yes podium run" in said
