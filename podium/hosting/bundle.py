"""A competition for another platform: Codabench, EvalAI, Hugging Face.

Each bundle takes the package's own scoring along, in the folder `lib`; so what a platform gives is what
`podium score` gives, to the last bit, for good submissions and for bad ones.  The solution is scored whole
there, too, and each phase shows its part.
"""

import csv
import importlib.util
import io
import json
import math
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium import hosted, scoring
from podium.errors import HostError, UsageError
from podium.hosted import Metric
from podium.hosting.folders import PRIVATE, PUBLIC, SAMPLE, SOLUTION, read_csv
from podium.hosting.pages import pages
from podium.scoring import PARTS, USAGE

__all__ = ["PLATFORMS", "Competition", "bundle"]

PACKAGE = Path(__file__).parents[1]
TEMPLATES = Path(__file__).with_name("templates")
# What scoring needs of the package, and what its report needs of others.
ROOMS = ("", "companions", "report", "report/templates")
JUDGE = ("hosting/__init__.py", "hosting/judge.py")
LIBRARIES = ("jinja2", "markupsafe")
SUFFIXES = (".py", ".html", ".css", ".js")
METRIC = "metric_file.py"
# So that the same input gives the same file.
TIMESTAMP = (2024, 1, 23, 0, 0, 0)
IMAGE = "codalab/codalab-legacy:py312"
SECONDS = 1800
PRECISION = 6
LONGEST_NAME = 36  # of a column of Codabench's leaderboard
LOGO_SIZE = 64

Content = dict[str, bytes]


class Competition(NamedTuple):
    """What a bundle is made of.

    Attributes
    ----------
    folder : of the files that `podium make` made
    metric : a module as `podium.hosted.load` returns it
    arguments : keyword arguments of its `score`
    title, subtitle : for people
    start, switch, end : datetime, UTC; Public is scored from `start` to `switch`, Private from there to `end`
    """

    folder: Path
    metric: Metric
    arguments: dict[str, Any]
    title: str
    subtitle: str
    start: datetime
    switch: datetime
    end: datetime


def bundle(platform: str, competition: Competition, out: Path) -> list[Path]:
    """Write a bundle into a new folder, all of it or nothing.

    Returns
    -------
    list of Path
        What was written, files and folders to upload.

    Raises
    ------
    UsageError
        `out` is there and not empty, or cannot be written; the files are not there.
    HostError
        The solution or a parameter is wrong.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"cannot write {out}: expected a new or empty folder")
    for path in (competition.folder / PUBLIC / SAMPLE, competition.folder / PRIVATE / SOLUTION):
        if not path.is_file():
            raise UsageError(f"there is no {path}: expected the folder that podium make wrote")
    solution = scoring.read_solution(
        competition.metric, competition.folder / PRIVATE / SOLUTION, competition.arguments
    )
    prepared = scoring.prepare(competition.metric, solution, competition.arguments)
    lacking = [part for part in PARTS if part not in prepared.rows]
    if lacking:
        raise HostError(
            f"{USAGE}: expected Public and Private rows in the solution, found none that is {lacking[0]}"
        )
    names = ["score"]
    if prepared.prepared:
        names = list(prepared.prepared[PARTS[0]].measure_names)
    files = PLATFORMS[platform](competition, names)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".bundling-") as building:
            whole = Path(building, "bundle")
            for name, content in files.items():
                path = whole / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            if out.exists():
                out.rmdir()
            whole.rename(out)
    except OSError as problem:
        raise UsageError(f"cannot write {out}: {problem.strerror}") from None
    return sorted(out.iterdir())


# ---------------------------------------------------------------------------------------------
# What they share
# ---------------------------------------------------------------------------------------------


def _program(competition: Competition) -> Content:
    """The metric file, how to call it, and the package's scoring."""
    arguments = competition.arguments
    settings = {
        "metric": METRIC,
        # JSON has no infinity.
        "arguments": {name: str(value) if _is_odd(value) else value for name, value in arguments.items()},
        "floats": [name for name, value in arguments.items() if _is_odd(value)],
    }
    content = {
        METRIC: Path(str(competition.metric.__file__)).read_bytes(),
        "settings.json": _json(settings),
    }
    for room in ROOMS:
        for path in sorted((PACKAGE / room).iterdir()):
            if path.suffix in SUFFIXES:
                content[f"lib/podium/{path.relative_to(PACKAGE).as_posix()}"] = path.read_bytes()
    for name in JUDGE:
        content[f"lib/podium/{name}"] = (PACKAGE / name).read_bytes()
    for name, file in hosted.FILES.items():  # whose stages companions read official files with
        content[f"lib/podium/_hosted/{file}"] = hosted.find(name).read_bytes()
    for library in LIBRARIES:
        spec = importlib.util.find_spec(library)
        if spec is not None and spec.origin is not None:
            for path in sorted(Path(spec.origin).parent.glob("*.py")):
                content[f"lib/{library}/{path.name}"] = path.read_bytes()
    return content


def _is_odd(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _public(competition: Competition) -> Content:
    folder = competition.folder / PUBLIC
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def _pages(competition: Competition) -> dict[str, str]:
    return pages(
        competition.metric, competition.arguments, competition.title, competition.subtitle, competition.folder
    )


def _better(competition: Competition) -> bool:
    known = hosted.defaults(competition.metric)
    named = {name: value for name, value in competition.arguments.items() if name in known}
    return hosted.higher_is_better(competition.metric, named)


def _within(folder: str, content: Mapping[str, bytes]) -> Content:
    return {f"{folder}/{name}": data for name, data in content.items()}


def _zip(content: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, TIMESTAMP), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _yaml(value: Any, indent: str = "") -> str:
    """YAML of dicts and lists, whose scalars are written as in JSON: dates stay texts, with their time."""
    if isinstance(value, dict):
        return "".join(f"{indent}{name}:{_yaml_of_item(each, indent)}" for name, each in value.items())
    return "".join(f"{indent}-{_yaml_of_item(each, indent)}" for each in value)


def _yaml_of_item(value: Any, indent: str) -> str:
    if isinstance(value, dict | list) and value:
        return "\n" + _yaml(value, indent + "  ")
    return f" {json.dumps(value, ensure_ascii=False)}\n"


def _logo() -> bytes:
    """A picture, as platforms demand one: a plain square, PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", LOGO_SIZE, LOGO_SIZE, 8, 2, 0, 0, 0)
    row = b"\0" + bytes((31, 78, 121)) * LOGO_SIZE
    pixels = zlib.compress(row * LOGO_SIZE, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def _time(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M:%S")


# ---------------------------------------------------------------------------------------------
# The platforms
# ---------------------------------------------------------------------------------------------


def codabench(competition: Competition, names: list[str]) -> Content:
    """competition.zip, to be uploaded as a benchmark."""
    keys = {name: "score" if name == "score" else f"measure_{number}" for number, name in enumerate(names)}
    texts = _pages(competition)
    solution = (competition.folder / PRIVATE / SOLUTION).read_bytes()
    public = _public(competition)
    content = {f"pages/{name}.md": text.encode() for name, text in texts.items()}
    content |= {"logo.png": _logo()}
    program = _program(competition) | {
        "metadata.yaml": b"command: python3 /app/program/scoring.py /app/input /app/output\n",
        "scoring.py": (TEMPLATES / "codabench.py").read_bytes(),
    }
    content |= _within("scoring_program", program)
    content |= _within("public_data", public)
    content |= _within("starting_kit", {SAMPLE: public[SAMPLE], METRIC: program[METRIC]})
    phases, tasks = [], []
    times = (competition.start, competition.switch, competition.end)
    for index, (part, start, end) in enumerate(zip(PARTS, times[:-1], times[1:])):
        hidden = part == PARTS[1]
        reference = f"reference_{part.lower()}"
        phase = {"part": part, "hidden": hidden, "keys": keys}
        content |= _within(reference, {SOLUTION: solution, "phase.json": _json(phase)})
        tasks.append(
            {"index": index, "name": part, "scoring_program": "scoring_program", "reference_data": reference}
        )
        phases.append(
            {
                "index": index,
                "name": part,
                "description": f"The {part} part of the test set is scored",
                "start": _time(start),
                # The platform takes no phase that starts when another ends.
                "end": _time(end - timedelta(seconds=1)),
                "tasks": [index],
                "max_submissions_per_day": 5,
                "execution_time_limit": SECONDS,
                "accepts_only_result_submissions": True,
                "auto_migrate_to_this_phase": bool(index),
                "hide_output": hidden,
                "hide_score_output": True,
                "public_data": "public_data",
                "starting_kit": "starting_kit",
            }
        )
    content["competition.yaml"] = _yaml(
        {
            "version": 2,
            "title": competition.title,
            "description": competition.subtitle,
            "image": "logo.png",
            "terms": "pages/rules.md",
            "docker_image": IMAGE,
            "enable_detailed_results": True,
            "show_detailed_results_in_submission_panel": True,
            "show_detailed_results_in_leaderboard": False,
            "make_programs_available": False,
            "pages": [{"title": name, "file": f"pages/{name}.md"} for name in texts if name != "rules"],
            "tasks": tasks,
            "phases": phases,
            "leaderboards": [
                {
                    "title": "Results",
                    "key": "main",
                    "submission_rule": "Force_Best",
                    "columns": [
                        {
                            "title": name[:LONGEST_NAME],
                            "key": key,
                            "index": index,
                            "sorting": "desc" if _better(competition) else "asc",
                            "precision": PRECISION,
                            # The measures of parts would make probing the test set easier.
                            "hidden": name != "score",
                        }
                        for index, (name, key) in enumerate(keys.items())
                    ],
                }
            ],
        }
    ).encode()
    return {"competition.zip": _zip(content)}


def evalai(competition: Competition, names: list[str]) -> Content:
    """challenge.zip, to be uploaded, and the same evaluation script for the host's remote worker."""
    texts = _pages(competition)
    script = {
        "__init__.py": b"from .main import evaluate\n",
        "main.py": (TEMPLATES / "evalai.py").read_bytes(),
        "requirements.txt": b"numpy\npandas\n",
        **_program(competition),
    }
    phases = {
        "public": (competition.start, competition.switch),
        "private": (competition.switch, competition.end),
    }
    content = {
        **{f"{name}.html": _html(text).encode() for name, text in texts.items()},
        "logo.png": _logo(),
        "evaluation_script.zip": _zip(script),
        f"annotations/{SOLUTION}": (competition.folder / PRIVATE / SOLUTION).read_bytes(),
    }
    content["challenge_config.yaml"] = _yaml(
        {
            "title": competition.title,
            "short_description": competition.subtitle,
            "description": "description.html",
            "evaluation_details": "evaluation.html",
            "terms_and_conditions": "rules.html",
            "image": "logo.png",
            "submission_guidelines": "data-description.html",
            "evaluation_script": "evaluation_script.zip",
            # Its own workers have no Python that is new enough.
            "remote_evaluation": True,
            "start_date": _time(competition.start),
            "end_date": _time(competition.end),
            "published": False,
            "leaderboard": [{"id": 1, "schema": {"labels": names, "default_order_by": "score"}}],
            "challenge_phases": [
                {
                    "id": number,
                    "name": codename.capitalize(),
                    "description": "description.html",
                    "leaderboard_public": codename == "public",
                    "is_public": True,
                    "is_submission_public": False,
                    "start_date": _time(start),
                    "end_date": _time(end),
                    "test_annotation_file": f"annotations/{SOLUTION}",
                    "codename": codename,
                    "max_submissions_per_day": 5,
                    "max_submissions_per_month": 100,
                    "max_submissions": 500,
                    "allowed_submission_file_types": ".csv, .gz, .txt, .json, .jsonl, .parquet",
                }
                for number, (codename, (start, end)) in enumerate(phases.items(), 1)
            ],
            "dataset_splits": [
                {"id": number, "name": codename.capitalize(), "codename": codename}
                for number, codename in enumerate(phases, 1)
            ],
            "challenge_phase_splits": [
                {
                    "challenge_phase_id": number,
                    "leaderboard_id": 1,
                    "dataset_split_id": number,
                    "visibility": 3 if codename == "public" else 1,
                    "leaderboard_decimal_precision": PRECISION,
                    "is_leaderboard_order_descending": _better(competition),
                }
                for number, codename in enumerate(phases, 1)
            ],
        }
    ).encode()
    return {"challenge.zip": _zip(content), **_within("remote_worker/evaluation_script", script)}


def _html(markdown: str) -> str:
    """The page as it is, which every browser can show."""
    text = markdown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<pre style='white-space: pre-wrap'>{text}</pre>\n"


def huggingface(competition: Competition, names: list[str]) -> Content:
    """The private repository of the competition, and the data set for participants."""
    texts = _pages(competition)
    rows = list(read_csv(competition.folder / PRIVATE / SOLUTION))
    usage = rows[0].index(USAGE)
    table = [[*rows[0][:usage], *rows[0][usage + 1 :], "split"]]
    for row in rows[1:]:
        if row[usage] in PARTS:
            table.append([*row[:usage], *row[usage + 1 :], row[usage].lower()])
    solution = io.StringIO(newline="")
    csv.writer(solution, lineterminator="\r\n").writerows(table)
    public = _public(competition)
    sample = pd.read_csv(io.BytesIO(public[SAMPLE]), dtype=str)
    settings = {
        "COMPETITION_TYPE": "generic",
        "SUBMISSION_LIMIT": 5,
        "TIME_LIMIT": SECONDS,
        "HARDWARE": "cpu-basic",
        "SELECTION_LIMIT": 2,
        "END_DATE": competition.end.strftime("%Y-%m-%d"),
        "EVAL_HIGHER_IS_BETTER": int(_better(competition)),
        "SUBMISSION_ID_COLUMN": competition.arguments["row_id_column_name"],
        "SUBMISSION_COLUMNS": ",".join(sample.columns),
        "SUBMISSION_ROWS": len(sample),
        "EVAL_METRIC": "custom",
        "SCORING_METRIC": "score",
        "LOGO": "",
        "DATASET": "",
        "SUBMISSION_FILENAMES": ["submission.csv"],
    }
    private = {
        "conf.json": _json(settings),
        "COMPETITION_DESC.md": texts["description"].encode(),
        "DATASET_DESC.md": texts["data-description"].encode(),
        "SUBMISSION_DESC.md": texts["evaluation"].encode(),
        "RULES.md": texts["rules"].encode(),
        "solution.csv": solution.getvalue().encode(),
        "teams.json": b"{}\n",
        "user_team.json": b"{}\n",
        "metric.py": (TEMPLATES / "huggingface.py").read_bytes(),
        "program.zip": _zip(_program(competition)),
    }
    return _within("private_repository", private) | _within("public_dataset", public)


PLATFORMS: dict[str, Callable[[Competition, list[str]], Content]] = {
    "codabench": codabench,
    "evalai": evalai,
    "huggingface": huggingface,
}
