"""A competition for another platform; each bundle has the package's own scoring in its folder `lib`."""

import html
import importlib.util
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.image import imsave

from podium import hosted, scoring
from podium.errors import HostError
from podium.hosting.competition import Competition, pages
from podium.hosting.folders import SAMPLE, SOLUTION, new_folder
from podium.scoring import PARTS, USAGE

PACKAGE = Path(__file__).parents[1]
TEMPLATES = Path(__file__).with_name("templates")
# What scoring and its report need.
ROOMS = ("", "essays", "markups", "report", "report/templates", "hosting")
JUDGE = ("__init__", "judge")  # of this room
LIBRARIES = ("jinja2", "markupsafe")
SUFFIXES = (".py", ".html", ".css", ".js")
METRIC = "metric_file.py"
TIMESTAMP = (2024, 1, 23, 0, 0, 0)
IMAGE = "codalab/codalab-legacy:py312"
RULES = "pages/rules.md"
SECONDS = 1800
SUBMISSIONS_PER_DAY = 5
PRECISION = 6
LONGEST_NAME = 36  # of Codabench's columns
LOGO_SIZE, LOGO_COLOUR = 64, (31, 78, 121)

Content = dict[str, bytes]
Phases = dict[str, tuple[datetime, datetime]]  # when each part is scored, in UTC


def bundle(
    platform: str, competition: Competition, start: datetime, switch: datetime, end: datetime, out: Path
) -> list[Path]:
    """Write a bundle into a new folder; returns the files and folders to upload.  Times are in UTC."""
    metric, arguments = competition.metric, competition.arguments
    with new_folder(out) as whole:
        solution = scoring.read_solution(metric, competition.solution, arguments)
        prepared = scoring.prepare(metric, solution, arguments)
        for part in PARTS:
            if part not in prepared.rows:
                raise HostError(
                    f"{USAGE}: expected Public and Private rows in the solution, found none that is {part}"
                )
        measures = prepared.prepared[PARTS[0]].measure_names if prepared.prepared else ["score"]
        phases = dict(zip(PARTS, ((start, switch), (switch, end))))
        for name, content in PLATFORMS[platform](competition, list(measures), phases).items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return sorted(out.iterdir())


def _program(competition: Competition) -> Content:
    content = {
        METRIC: competition.metric.path.read_bytes(),
        "settings.json": _json({"metric": METRIC, "arguments": competition.arguments}),
    }
    for room in ROOMS:
        for path in sorted((PACKAGE / room).iterdir()):
            if path.suffix in SUFFIXES and (room != "hosting" or path.stem in JUDGE):
                content[f"lib/podium/{path.relative_to(PACKAGE).as_posix()}"] = path.read_bytes()
    # The metric's own folder, if it is one of podium's: its companion reads official files.
    for name in hosted.names():
        for path in (hosted.find(name), *sorted(hosted.folder(name).glob("*.py"))):
            content[f"lib/podium/_hosted/metrics/{name}/{path.name}"] = path.read_bytes()
    for library in LIBRARIES:
        spec = importlib.util.find_spec(library)
        if spec is not None and spec.origin is not None:
            for path in sorted(Path(spec.origin).parent.glob("*.py")):
                content[f"lib/{library}/{path.name}"] = path.read_bytes()
    return content


def _json(value: object) -> bytes:
    """JSON is YAML, too."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _public(competition: Competition) -> Content:
    return {path.name: path.read_bytes() for path in competition.public}


def _within(folder: str, content: Mapping[str, bytes]) -> Content:
    return {f"{folder}/{name}": data for name, data in content.items()}


def _zip(content: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, TIMESTAMP), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _logo() -> bytes:
    picture = io.BytesIO()
    square = np.full((LOGO_SIZE, LOGO_SIZE, 3), LOGO_COLOUR, dtype=np.uint8)
    imsave(picture, square, format="png", metadata={"Software": "podium"})
    return picture.getvalue()


def codabench(competition: Competition, measures: list[str], phases: Phases) -> Content:
    keys = {name: "score" if name == "score" else f"measure_{number}" for number, name in enumerate(measures)}
    texts = {f"pages/{name}.md": text.encode() for name, text in pages(competition).items()}
    public = _public(competition)
    program = _program(competition) | {
        "metadata.yaml": b"command: python3 /app/program/scoring.py /app/input /app/output\n",
        "scoring.py": (TEMPLATES / "codabench.py").read_bytes(),
    }
    content = texts | {"logo.png": _logo()}
    content |= _within("scoring_program", program)
    content |= _within("public_data", public)
    content |= _within("starting_kit", {SAMPLE: public[SAMPLE], METRIC: program[METRIC]})
    settings: list[dict[str, Any]] = []
    tasks = []
    for index, (part, (start, end)) in enumerate(phases.items()):
        hidden = part == PARTS[1]
        reference = f"reference_{part.lower()}"
        phase = {"part": part, "hidden": hidden, "keys": keys}
        solution = {SOLUTION: competition.solution.read_bytes(), "phase.json": _json(phase)}
        content |= _within(reference, solution)
        tasks.append(
            {"index": index, "name": part, "scoring_program": "scoring_program", "reference_data": reference}
        )
        settings.append(
            {
                "index": index,
                "name": part,
                "description": f"The {part} part of the test set is scored",
                "start": str(start),
                # No phase may start when another ends.
                "end": str(end - timedelta(seconds=1)),
                "tasks": [index],
                "max_submissions_per_day": SUBMISSIONS_PER_DAY,
                "execution_time_limit": SECONDS,
                "accepts_only_result_submissions": True,
                "auto_migrate_to_this_phase": bool(index),
                "hide_output": hidden,
                "hide_score_output": True,
                "public_data": "public_data",
                "starting_kit": "starting_kit",
            }
        )
    columns = [
        {
            "title": name[:LONGEST_NAME],
            "key": key,
            "index": index,
            "sorting": "desc" if competition.better == "higher" else "asc",
            "precision": PRECISION,
            # Others would make probing the test set easier.
            "hidden": name != "score",
        }
        for index, (name, key) in enumerate(keys.items())
    ]
    content["competition.yaml"] = _json(
        {
            "version": 2,
            "title": competition.title,
            "description": competition.subtitle,
            "image": "logo.png",
            "terms": RULES,
            "docker_image": IMAGE,
            "enable_detailed_results": True,
            "show_detailed_results_in_submission_panel": True,
            "show_detailed_results_in_leaderboard": False,
            "make_programs_available": False,
            "pages": [{"title": Path(path).stem, "file": path} for path in texts if path != RULES],
            "tasks": tasks,
            "phases": settings,
            "leaderboards": [
                {"title": "Results", "key": "main", "submission_rule": "Force_Best", "columns": columns}
            ],
        }
    )
    return {"competition.zip": _zip(content)}


def evalai(competition: Competition, measures: list[str], phases: Phases) -> Content:
    script = {
        "__init__.py": b"from .main import evaluate\n",
        "main.py": (TEMPLATES / "evalai.py").read_bytes(),
        "requirements.txt": b"numpy\npandas\n",
        **_program(competition),
    }
    content = {
        **{f"{name}.html": _html(text).encode() for name, text in pages(competition).items()},
        "logo.png": _logo(),
        "evaluation_script.zip": _zip(script),
        f"annotations/{SOLUTION}": competition.solution.read_bytes(),
    }
    numbered = list(enumerate(phases.items(), 1))
    content["challenge_config.yaml"] = _json(
        {
            "title": competition.title,
            "short_description": competition.subtitle,
            "description": "description.html",
            "evaluation_details": "evaluation.html",
            "terms_and_conditions": "rules.html",
            "image": "logo.png",
            "submission_guidelines": "data-description.html",
            "evaluation_script": "evaluation_script.zip",
            # Its own workers' Python is too old.
            "remote_evaluation": True,
            "start_date": str(phases[PARTS[0]][0]),
            "end_date": str(phases[PARTS[1]][1]),
            "published": False,
            "leaderboard": [{"id": 1, "schema": {"labels": measures, "default_order_by": "score"}}],
            "challenge_phases": [
                {
                    "id": number,
                    "name": part,
                    "description": "description.html",
                    "leaderboard_public": part == PARTS[0],
                    "is_public": True,
                    "is_submission_public": False,
                    "start_date": str(start),
                    "end_date": str(end),
                    "test_annotation_file": f"annotations/{SOLUTION}",
                    "codename": part.lower(),
                    "max_submissions_per_day": SUBMISSIONS_PER_DAY,
                    "max_submissions_per_month": 100,
                    "max_submissions": 500,
                    "allowed_submission_file_types": ".csv, .gz, .txt, .json, .jsonl, .parquet",
                }
                for number, (part, (start, end)) in numbered
            ],
            "dataset_splits": [
                {"id": number, "name": part, "codename": part.lower()} for number, (part, _) in numbered
            ],
            "challenge_phase_splits": [
                {
                    "challenge_phase_id": number,
                    "leaderboard_id": 1,
                    "dataset_split_id": number,
                    "visibility": 3 if part == PARTS[0] else 1,
                    "leaderboard_decimal_precision": PRECISION,
                    "is_leaderboard_order_descending": competition.better == "higher",
                }
                for number, (part, _) in numbered
            ],
        }
    )
    return {"challenge.zip": _zip(content), **_within("remote_worker/evaluation_script", script)}


def _html(markdown: str) -> str:
    return f"<pre style='white-space: pre-wrap'>{html.escape(markdown, quote=False)}</pre>\n"


def huggingface(competition: Competition, measures: list[str], phases: Phases) -> Content:
    texts = pages(competition)
    solution, sample = (
        pd.read_csv(path, dtype=str, keep_default_na=False)
        for path in (competition.solution, competition.sample)
    )
    solution = solution[solution[USAGE].isin(PARTS)]
    solution = solution.drop(columns=USAGE).assign(split=solution[USAGE].str.lower())
    settings = {
        "COMPETITION_TYPE": "generic",
        "SUBMISSION_LIMIT": SUBMISSIONS_PER_DAY,
        "TIME_LIMIT": SECONDS,
        "HARDWARE": "cpu-basic",
        "SELECTION_LIMIT": 2,
        "END_DATE": phases[PARTS[1]][1].strftime("%Y-%m-%d"),
        "EVAL_HIGHER_IS_BETTER": int(competition.better == "higher"),
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
        "solution.csv": solution.to_csv(index=False, lineterminator="\r\n").encode(),
        "teams.json": b"{}\n",
        "user_team.json": b"{}\n",
        "metric.py": (TEMPLATES / "huggingface.py").read_bytes(),
        "program.zip": _zip(_program(competition)),
    }
    return _within("private_repository", private) | _within("public_dataset", _public(competition))


PLATFORMS: dict[str, Callable[[Competition, list[str], Phases], Content]] = {
    "codabench": codabench,
    "evalai": evalai,
    "huggingface": huggingface,
}
