"""Models are found in folders, and a folder without one gets a reason."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from podium.common.errors import UsageError
from podium.running.models import MOST_MODELS, Failure, Kind, digest_of, find_model, find_models, interpreter_of
from tests.running.support import open_for_others, write_model

NO_MODEL = "there is no model: expected one notebook (*.ipynb), run, run.py, run.sh or container.txt, found "
WINDOWS = ": expected the line ends of Unix, found those of Windows; convert it with dos2unix"


def test_a_folder_per_team_or_several_in_one(tmp_path: Path) -> None:
    write_model(tmp_path / "Blue")
    write_model(tmp_path / "Blue" / "weights", name="notes.md")
    write_model(tmp_path / "Red" / "first", name="run.sh")
    write_model(tmp_path / "Red" / "second", name="model.ipynb")
    write_model(tmp_path / "Red" / "data", name="notes.md")
    write_model(tmp_path / ".git")
    write_model(tmp_path / ".NET Ninjas")
    write_model(tmp_path / "Red" / ".ipynb_checkpoints")
    for name in ("README.md", "desktop.ini", ".DS_Store"):
        (tmp_path / name).write_text("not a model")
    of_system = r"“\.DS_Store”, “\.git”, “Red/\.ipynb_checkpoints”, “desktop\.ini”"
    with pytest.warns(UserWarning, match=f"left out, as they are not models: “README.md”, {of_system}$"):
        models, failures = find_models(tmp_path)
    assert [(model.key, model.entry, model.kind) for model in models] == [
        (".NET Ninjas", "run.py", Kind.SCRIPT),
        ("Blue", "run.py", Kind.SCRIPT),
        ("Red/first", "run.sh", Kind.SCRIPT),
        ("Red/second", "model.ipynb", Kind.NOTEBOOK),
    ]
    assert failures == [Failure("Red", "data", NO_MODEL + "notes.md")]


@pytest.mark.parametrize(
    "name", ["\U0001f469\u200d\U0001f52c lab", "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "Zoë", "a b"]
)
def test_a_name_that_can_be_published_runs(tmp_path: Path, name: str) -> None:
    write_model(tmp_path / name)
    (tmp_path / f"{name} 2").mkdir()
    models, failures = find_models(tmp_path)
    assert [model.team for model in models] == [name]
    assert [failure.team for failure in failures] == [f"{name} 2"]


def test_whatever_lies_beside_a_model_ran_failed_or_is_named(tmp_path: Path) -> None:
    teams = {
        "alpha": ("big/main.py", "README.md"),
        "eps": ("big.zip", "v3.tar.gz", "packed/model.zip"),
        "eta": ("v2/Run.py", "w/deep/weights.bin"),
    }
    for team, names in teams.items():
        write_model(tmp_path / team / "good")
        for name in names:
            write_model((tmp_path / team / name).parent, name=Path(name).name)
    write_model(tmp_path / "gamma" / "a" / "b")
    (tmp_path / "eps" / "two").symlink_to(tmp_path / "eps" / "good")
    (tmp_path / "eps" / "loop").symlink_to(tmp_path / "eps" / "loop")
    (tmp_path / "alpha" / ".git").mkdir()
    with pytest.warns(
        UserWarning, match=r"left out, as they are not models: “alpha/README.md”, “alpha/\.git”$"
    ):
        models, failures = find_models(tmp_path)
    assert [model.key for model in models] == [f"{team}/good" for team in teams]
    found = {f"{each.team}/{each.model}": each.reason.rpartition(", found ")[2] for each in failures}
    assert found == {
        "alpha/big": "main.py",
        "eps/big.zip": "a file; unpack it",
        "eps/loop": "a link",
        "eps/packed": "model.zip; unpack it",
        "eps/two": "a link",
        "eps/v3.tar.gz": "a file; unpack it",
        "eta/v2": "Run.py",
        "eta/w": "deep",
        "gamma/": "a",
    }


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
@pytest.mark.parametrize(("closed", "team", "name"), [("Closed", "Closed", ""), ("Red/b", "Red", "b")])
def test_a_folder_that_cannot_be_read_is_one_model_s_failure(tmp_path: Path, closed: str, team: str, name: str):
    for each in ("Blue", "Red/a", closed):
        write_model(tmp_path / each)
    open_for_others(tmp_path)
    (tmp_path / closed).chmod(0)
    me = os.geteuid()
    if me == 0:  # who may read everything
        os.seteuid(65534)
    try:
        models, failures = find_models(tmp_path)
    finally:
        os.seteuid(me)
        (tmp_path / closed).chmod(0o755)
    assert [model.key for model in models] == ["Blue", "Red/a"]
    assert failures == [Failure(team, name, "Permission denied")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_pointer_of_git_lfs_is_named_before_any_run(tmp_path: Path, end: str) -> None:
    pointer = ["version https://git-lfs.github.com/spec/v1", f"oid sha256:{'4d' * 32}", "size 12345678", ""]
    write_model(write_model(tmp_path / "Blue") / "weights", end.join(pointer), "model.pkl")
    write_model(write_model(tmp_path / "Red"), "version https://git-lfs.github.com/spec\n" * 5, "notes.txt")
    models, [failure] = find_models(tmp_path)
    assert [model.team for model in models] == ["Red"]
    told = "is a pointer of Git LFS in place of the file: fetch it with git lfs pull"
    assert failure == Failure("Blue", "", f"{os.path.join('weights', 'model.pkl')} {told}")


def test_a_team_has_at_most_so_many_models(tmp_path: Path) -> None:
    for number in range(MOST_MODELS):
        write_model(tmp_path / "Red" / str(number))
    models, failures = find_models(tmp_path)
    assert (len(models), failures) == (MOST_MODELS, [])
    write_model(tmp_path / "Red" / "one more")
    assert find_models(tmp_path) == ([], [Failure("Red", "", f"more than {MOST_MODELS} models")])


def test_a_folder_that_is_too_large_is_one_team_s_failure_before_it_is_read(tmp_path: Path) -> None:
    write_model(tmp_path / "Good")
    for team, size in (("Sparse", 4 * 2**40), ("Large", 2000)):
        write_model(tmp_path / team)
        with (tmp_path / team / "weights").open("wb") as file:
            file.write(bytes(2000))
            file.truncate(size)
    models, failures = find_models(tmp_path, 1000)
    assert [model.team for model in models] == ["Good"]
    reasons = {failure.team: failure.reason for failure in failures}
    assert reasons["Large"] == "expected at most 1000 B of files (--folder-limit), found 1.953 KB"
    assert reasons["Sparse"].endswith("found 4 TB")


def test_a_container_is_named_by_its_image(tmp_path: Path) -> None:
    write_model(tmp_path / "Blue", "  docker.io/blue/model:1.0@sha256:ab\n", "container.txt")
    [model], _ = find_models(tmp_path)
    assert (model.entry, model.kind) == ("docker.io/blue/model:1.0@sha256:ab", Kind.CONTAINER)


@pytest.mark.parametrize(
    "image", ["", "--privileged", "a b", "a\nb", "../x", "é", "x" * 1000, "dir:/etc", "oci-archive:/x.tar"]
)
def test_an_image_that_is_none(tmp_path: Path, image: str) -> None:
    failure = find_model(write_model(tmp_path / "Blue", image, "container.txt"), "Blue")
    assert isinstance(failure, Failure)
    assert "names no image" in failure.reason


def test_what_is_no_model_is_listed_with_a_reason_and_the_others_go_on(tmp_path: Path) -> None:
    write_model(tmp_path / "Good")
    (tmp_path / "Empty").mkdir()
    write_model(tmp_path / "Two", name="run.py")
    write_model(tmp_path / "Two", name="a.ipynb")
    write_model(tmp_path / "Not executable", "\x7fELF", "run")
    write_model(tmp_path / "No shebang", "#!/no/such/interpreter -x\n", "run")
    write_model(tmp_path / "Empty shebang", "#!\n", "run")
    write_model(tmp_path / "Windows", "", "run").joinpath("run").write_bytes(b"#!/bin/sh\r\n:\r\n")
    write_model(tmp_path / "Windows script", "", "run.sh").joinpath("run.sh").write_bytes(b"set -e\r\n:\r\n")
    for name in ("main.py", "Run.py"):
        write_model(tmp_path / "Program", name=name)
    for team in ("No shebang", "Empty shebang", "Windows"):
        (tmp_path / team / "run").chmod(0o755)
    (tmp_path / "Folder" / "run.py").mkdir(parents=True)
    (tmp_path / "Linked file").mkdir()
    (tmp_path / "Linked file" / "run.py").symlink_to(tmp_path / "Good" / "run.py")
    (tmp_path / "Linked folder").symlink_to(tmp_path / "Good")
    (tmp_path / "Linked inside").mkdir()
    (tmp_path / "Linked inside" / "one").symlink_to(tmp_path / "Good")
    write_model(tmp_path / "line\nend \x1b[2J")
    write_model(tmp_path / ("x" * 201))
    write_model(tmp_path / "'=1")
    write_model(tmp_path / "R", '{"metadata": {"kernelspec": {"name": "ir", "language": "R"}}}', "model.ipynb")
    write_model(tmp_path / "Deep", "[" * 100_000, "model.ipynb")
    write_model(tmp_path / "Packed", name="model.zip")
    (tmp_path / "Packed.zip").write_bytes(b"")
    models, failures = find_models(tmp_path)
    assert [model.key for model in models] == ["Deep", "Good"]
    reasons = {failure.team: failure.reason for failure in failures}
    expected = {
        "Empty": NO_MODEL + "nothing",
        "R": "model.ipynb: expected a notebook in Python, found R; give a run.sh instead",
        "Packed": NO_MODEL + "model.zip; unpack it",
        "Packed.zip": "expected a folder with one notebook (*.ipynb), run, run.py, run.sh or container.txt, "
        "found a file; unpack it",
        "Program": NO_MODEL + "Run.py, main.py",
        "Windows": "run" + WINDOWS,
        "Windows script": "run.sh" + WINDOWS,
        "Two": "expected one model in the folder, found 2: a.ipynb, run.py",
        "Not executable": "run is not executable (chmod +x run)",
        "No shebang": "run begins with #!/no/such/interpreter -x, but that program does not exist",
        "Empty shebang": "run begins with #!, but that program does not exist",
        "Folder": "run.py is not a regular file",
        "Linked file": "run.py is not a regular file",
        "Linked folder": "expected a folder with one notebook (*.ipynb), run, run.py, run.sh or container.txt, "
        "found a link",
        "Linked inside": NO_MODEL + "one",
        "line\\nend \\x1b[2J": "its name: expected visible names without control and bidirectional characters",
        "x" * 201: "its name is longer than 200 bytes",
        "'=1": "its name: expected names without the apostrophe that tables have before = + - @",
    }
    assert reasons == expected


@pytest.mark.skipif(os.name != "posix", reason="Windows finds a shell by its name")
@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("run.sh", "#!/bin/bash\n:", ["/bin/bash"]),
        ("run", "#! /bin/bash  -e -u\n", ["/bin/bash", "-e -u"]),
        ("run.sh", "#!/usr/bin/env -S bash -e", ["/usr/bin/env", "-S bash -e"]),
        ("run.sh", ":\n#!/bin/bash", ["sh"]),
        ("run", "\x7fELF", []),
    ],
)
def test_the_first_line_of_a_script_says_what_runs_it(tmp_path: Path, name: str, text: str, command: list[str]):
    assert interpreter_of(write_model(tmp_path, text, name) / name) == command


@pytest.mark.parametrize("text", [b"", b":", b":\nprintf 'a\r\n'\n", b"cat <<E\n1\r\n2\r\nE\n"])
def test_a_script_may_have_some_line_ends_of_windows(tmp_path: Path, text: bytes) -> None:
    folder = write_model(tmp_path / "Blue", "", "run.sh")
    (folder / "run.sh").write_bytes(text)
    assert not isinstance(find_model(folder, "Blue"), Failure)


def test_it_is_told_that_many_bytes_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("podium.running.models.LARGE", 10)
    digest_of(write_model(tmp_path / "Blue", "print('hello')\n"))
    digest_of(write_model(tmp_path / "Red", "pass"))
    assert capsys.readouterr().err == "Blue: 15 B are read, to notice later if a file has changed\n"


def test_a_folder_with_nothing_in_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are no models"):
        find_models(tmp_path)


def test_the_digest_changes_with_any_file(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "Blue", "pass")
    before = digest_of(folder)
    assert digest_of(folder) == before
    (folder / "run.py").touch()
    assert digest_of(folder) == before
    write_model(folder / "weights", "1", "one.txt")
    assert digest_of(folder) != before


@pytest.mark.skipif(sys.platform != "linux", reason="other systems forbid such names")
@pytest.mark.parametrize(
    ("depth", "reason"),
    [
        (150, ""),  # more than Python's functions may call themselves here
        pytest.param(2500, "File name too long", marks=pytest.mark.slow),
    ],
)
def test_whatever_is_in_a_folder_the_others_run(tmp_path: Path, depth: int, reason: str) -> None:
    odd = write_model(tmp_path / "models" / "Odd")
    write_model(tmp_path / "models" / "Good")
    (odd / "one").symlink_to(odd / "two")
    (odd / "two").symlink_to(odd / "one")
    (odd / "up").symlink_to("/", target_is_directory=True)
    os.mkfifo(odd / "fifo")
    os.close(os.open(os.fsencode(odd) + b"/\xff\xfe", os.O_CREAT))
    usual = sys.getrecursionlimit()
    try:
        code = f"import os\nfor _ in range({depth}):\n    os.mkdir('d')\n    os.chdir('d')\n"
        subprocess.run([sys.executable, "-c", code], cwd=odd, check=True)
        sys.setrecursionlimit(len(inspect.stack(0)) + 100)
        models, failures = find_models(tmp_path / "models")
        assert [model.team for model in models] == (["Good"] if reason else ["Good", "Odd"])
        assert [failure.reason for failure in failures] == ([reason] if reason else [])
    finally:
        sys.setrecursionlimit(usual)
        subprocess.run(["rm", "-rf", str(odd)], check=True)  # pytest's own clean-up is not made for this
