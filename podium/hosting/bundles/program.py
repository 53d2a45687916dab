"""The parts that the bundles of all platforms share: the scoring program, and files in memory."""

import ast
import importlib.metadata
import io
import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from podium.child.programs import run_and_end
from podium.common.errors import HostError
from podium.hosting.competition import Competition
from podium.metric import hosted
from podium.metric.executed import Executed, of_metric
from podium.metric.hosted import Metric

PACKAGE = Path(__file__).parents[2]
TEMPLATES = Path(__file__).with_name("templates")
OLDEST_PYTHON = "3.11"  # on which the package runs; the pages of a bundle name it
METRIC = "metric/metric.py"
LICENSE = "LICENSE"
LINES_SHOWN, LONGEST_REASON = 3, 1000  # of what a program prints
# It ends like the programs of platforms, because a thread of Arrow may abort an interpreter that shuts down.
ALONE = """
import json, os, sys
from pathlib import Path
home, solution, submission, *parts = sys.argv[1:]
sys.path.insert(0, str(Path(home, "lib")))
from podium.hosting.bundles import evaluator
try:
    measured = evaluator.measures(*map(Path, (home, solution, submission)), parts)
    print(json.dumps({part: values["score"] for part, values in measured.items()}), flush=True)
    os._exit(0)
except Exception as problem:
    print(problem, flush=True)
    os._exit(1)
"""
BYTES_AT_ONCE = 2**20
TIMESTAMP = (2024, 1, 23, 0, 0, 0)  # the same for everything in an archive, so that its bytes can be reproduced

# The content of each file, or the path of a file with that content, by its path within a bundle.
Content = dict[str, bytes | Path]


def scoring_program(competition: Competition) -> Content:
    """Collect all files that score a submission: the metric, its parameters and podium, without other
    libraries.
    """
    metric = competition.metric
    files = files_of(metric)
    content: Content = {
        METRIC: files[metric.path.name],
        **{f"metric/{name}": text for name, text in files.items() if name != metric.path.name},
        "settings.json": to_json({"metric": METRIC, "arguments": competition.arguments}),
        f"lib/{LICENSE}": _license(),
        # `podium.metric.hosted` searches this folder for built-in metrics, so it has to exist.
        "lib/podium/_hosted/metrics/README.md": b"Only the metric of this competition is here.\n",
    }
    if metric.is_built_in:
        content |= {f"lib/podium/_hosted/metrics/{metric.name}/{name}": text for name, text in files.items()}
    for path in sorted(PACKAGE.rglob("*")):
        inside = path.relative_to(PACKAGE)
        if path.is_file() and not {"__pycache__", "_hosted"} & {*inside.parts}:
            content[f"lib/podium/{inside.as_posix()}"] = path.read_bytes()
    return content


def scores(competition: Competition, parts: Sequence[str]) -> dict[str, float]:
    """Let the packed program score the sample submission, in a process that has no other podium."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "program")
        write(scoring_program(competition), home)
        return run_alone(home, competition.solution, competition.sample, parts)


def run_alone(home: Path, solution: Path, submission: Path, parts: Sequence[str]) -> dict[str, float]:
    """Run an unpacked program on parts of a solution, and take the scores from its last line."""
    given = map(str, (home, solution.resolve(), submission.resolve(), *parts))
    command = [sys.executable, "-I", "-c", ALONE, *given]
    code, out, err = run_and_end(command, home)
    said = (out or err).decode(errors="replace").strip().splitlines()
    if code or not said:
        found = " ".join(said[-LINES_SHOWN:])[:LONGEST_REASON] or f"exit code {code}"
        raise HostError(f"{submission.name}: expected a score from the packed program, found none: {found}")
    return dict(json.loads(said[-1]))


def write(files: Content, folder: Path) -> None:
    """Write files into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, path)
        else:
            path.write_bytes(content)


def files_of(metric: Metric) -> Executed:
    """A metric, its companion, and the files of its folder that one of them imports.

    Nothing else of the folder goes out. A test, a draft or a note beside the metric may tell the solution.
    """
    return of_metric(metric.path, hosted.folder(metric.name)) if metric.is_built_in else metric.files


def imported(tree: ast.Module) -> set[str]:
    """List the packages that a file imports anywhere; "." stands for a relative import.

    Podium does not count where ``prepare`` imports it, because podium alone calls that function.

    >>> sorted(imported(ast.parse("import os.path, polars\\nfrom . import a")))
    ['.', 'os', 'polars']
    >>> sorted(imported(ast.parse("def prepare():\\n import scipy\\n from podium import statistics")))
    ['scipy']
    """
    packages: set[str] = set()
    for statement in tree.body:
        is_prepare = isinstance(statement, ast.FunctionDef) and statement.name == "prepare"
        packages |= _imported_in(statement) - ({"podium"} if is_prepare else set())
    return packages


def _imported_in(statement: ast.stmt) -> set[str]:
    """List the packages that a statement imports, also within it."""
    packages: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            packages.add("." if node.level else (node.module or "").partition(".")[0])
    return packages


def libraries(competition: Competition) -> list[str]:
    """List what pip has to install for the scoring program."""
    files = files_of(competition.metric).values()
    packages = {name for content in files for name in imported(ast.parse(content))} - {"podium"}
    known = importlib.metadata.packages_distributions()
    return sorted({"numpy", "pandas", *(known[name][0] for name in packages if name in known)})


def requirements(competition: Competition, *further: str) -> bytes:
    """Write a ``requirements.txt`` for the scoring program."""
    return "".join(f"{name}\n" for name in sorted({*libraries(competition), *further})).encode()


def _license() -> bytes:
    """The text of the license: in a clone it lies beside the package, otherwise in its metadata."""
    beside = PACKAGE.parent / LICENSE
    if beside.is_file():
        return beside.read_bytes()
    text = importlib.metadata.distribution("podium").read_text(f"licenses/{LICENSE}")
    if text is None:
        raise HostError("the installed package lacks its license: install it again")
    return text.encode()


def to_json(value: object) -> bytes:
    """Write a value as JSON, which is valid YAML as well."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def within(folder: str, content: Mapping[str, bytes | Path]) -> Content:
    """Move files into a folder."""
    return {f"{folder}/{name}": data for name, data in content.items()}


def to_zip(content: Mapping[str, bytes | Path]) -> bytes:
    """Pack files into a small zip archive."""
    buffer = io.BytesIO()
    write_zip(content, buffer)
    return buffer.getvalue()


def write_zip(content: Mapping[str, bytes | Path], target: Path | io.BytesIO) -> None:
    """Pack files into a zip archive, piece by piece, because the data of a competition may be large."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            info = zipfile.ZipInfo(name, TIMESTAMP)
            info.compress_type = zipfile.ZIP_DEFLATED
            source = data.open("rb") if isinstance(data, Path) else io.BytesIO(data)
            with source, archive.open(info, "w", force_zip64=True) as packed:
                shutil.copyfileobj(source, packed, BYTES_AT_ONCE)


def logo() -> bytes:
    """Read the placeholder for the host's own picture."""
    return (TEMPLATES / "logo.png").read_bytes()
