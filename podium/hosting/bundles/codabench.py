"""Pack a competition for Codabench, as one archive to upload.

Source: the keys of ``competition.yaml`` are those that the class `V2Unpacker` in Codabench's repository reads.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

from podium.hosting.bundles import program
from podium.hosting.bundles.program import Content
from podium.hosting.competition import Competition
from podium.hosting.competition_pages import pages
from podium.hosting.folders import METRIC, SAMPLE, SOLUTION, STARTER
from podium.hosting.terms import Terms

# The platform's default image has Python 3.7 and pandas 0.25, on which podium does not run.
IMAGE = "codalab/codalab-legacy:py312"
RULES = "pages/rules.md"
COMMAND = b"command: python3 /app/program/scoring.py /app/input /app/output\n"
SECONDS = 1800  # that scoring a submission may take
PRECISION = 6  # digits on the leaderboard
LONGEST_NAME = 36  # characters in the name of a column


def content(competition: Competition, measures: list[str], terms: Terms) -> Content:
    """Make the content of the file to upload.

    Detailed results are off. Once a competition is published, Codabench would show them to everybody, whatever
    ``hide_output`` says.

    When the Private phase starts, the platform copies into it the submission that each team has on the
    leaderboard. Copies do not count toward the limit of one submission, so a team can send one more.
    """
    keys = {name: "score" if name == "score" else f"measure_{number}" for number, name in enumerate(measures)}
    texts: Content = {f"pages/{name}.md": text.encode() for name, text in pages(competition, terms.end).items()}
    public: Content = dict(competition.public)
    scoring_program = program.scoring_program(competition) | {
        "metadata.yaml": COMMAND,
        "scoring.py": (program.TEMPLATES / "codabench.py").read_bytes(),
    }
    files: Content = texts | {"logo.png": program.logo()}
    files |= program.within("scoring_program", scoring_program)
    files |= program.within("public_data", public)
    kit = {name: public[name] for name in (SAMPLE, METRIC, STARTER) if name in public}
    if competition.metric.is_built_in:
        kit[METRIC] = scoring_program[program.METRIC]
    files |= program.within("starting_kit", kit)
    for part, *_ in terms.phases:
        phase = program.to_json({"part": part, "keys": keys})
        files |= program.within(_reference(part), {SOLUTION: competition.solution, "phase.json": phase})
    settings = _settings(competition, terms, list(texts), keys)
    files["competition.yaml"] = program.to_json(settings)
    return files


def _settings(
    competition: Competition, terms: Terms, page_paths: list[str], keys: dict[str, str]
) -> dict[str, Any]:
    """The content of ``competition.yaml``."""
    return {
        "version": 2,
        "title": competition.title,
        "description": competition.subtitle,
        "image": "logo.png",
        "terms": RULES,
        "docker_image": IMAGE,
        "registration_auto_approve": not terms.approve_entrants,
        "enable_detailed_results": False,
        "show_detailed_results_in_submission_panel": False,
        "show_detailed_results_in_leaderboard": False,
        "make_programs_available": False,
        "make_input_data_available": False,
        "pages": [{"title": Path(path).stem, "file": path} for path in page_paths if path != RULES],
        "tasks": [
            {
                "index": index,
                "name": part,
                "scoring_program": "scoring_program",
                "reference_data": _reference(part),
            }
            for index, (part, *_) in enumerate(terms.phases)
        ],
        "phases": _phases(terms),
        "leaderboards": [
            {
                "title": "Results",
                "key": "main",
                "submission_rule": "Force_Best",
                "columns": _columns(keys, competition.better),
            }
        ],
    }


def _reference(part: str) -> str:
    """The name of the folder with the solution of a phase."""
    return f"reference_{part.lower()}"


def _phases(terms: Terms) -> list[dict[str, Any]]:
    """The Public and the Private phase; outputs of the Private phase are hidden."""
    return [
        {
            "index": index,
            "name": part,
            "description": f"The {part} part of the test set is scored",
            "start": str(start),
            # No phase may start at the time at which another one ends.
            "end": str(end - timedelta(seconds=end == terms.switch)),
            "tasks": [index],
            "max_submissions_per_day": limits.per_day,
            "max_submissions": limits.total,
            "execution_time_limit": SECONDS,
            "auto_migrate_to_this_phase": bool(index),
            "hide_output": bool(index),
            "hide_score_output": True,
            "public_data": "public_data",
            "starting_kit": "starting_kit",
        }
        for index, (part, (start, end), limits) in enumerate(terms.phases)
    ]


def _columns(keys: dict[str, str], better: str) -> list[dict[str, Any]]:
    """The columns of the leaderboard.

    All measures but the score are hidden, because they would make it easier to probe the test set.
    """
    return [
        {
            "title": name[:LONGEST_NAME],
            "key": key,
            "index": index,
            "sorting": "desc" if better == "higher" else "asc",
            "precision": PRECISION,
            "hidden": name != "score",
        }
        for index, (name, key) in enumerate(keys.items())
    ]
