"""Pack a challenge for EvalAI: an archive to upload, and a worker that runs on a machine of the host.

EvalAI's own workers have at most Python 3.9, on which podium does not run. So the challenge uses remote
evaluation, and neither the solution nor the scoring program is uploaded.

Source: ``challenge_config.yaml`` in the repository EvalAI-Starters.
"""

import html
from typing import Any

from podium.hosting.bundles import program
from podium.hosting.bundles.program import Content
from podium.hosting.competition import Competition
from podium.hosting.competition_pages import GAP, pages
from podium.hosting.folders import SOLUTION
from podium.hosting.terms import Terms
from podium.scoring.evaluating import PARTS

PRECISION = 6  # digits on the leaderboard
SCRIPT = "evaluation_script.zip"
FILE_TYPES = ".csv, .gz, .txt, .json, .jsonl, .parquet"
MEASURE = "score"  # alone on the board: further measures would make it easier to probe the test set
OF_THE_HOST, OF_EVERYBODY = 1, 3  # EvalAI's numbers for who can see a leaderboard
PLACEHOLDER = b'''"""Submissions are scored by the remote worker of the hosts, not by EvalAI."""


def evaluate(*_: object, **__: object) -> None:
    """Fail, as nothing here can score a submission."""
    raise RuntimeError("This challenge is evaluated by its hosts' remote worker")
'''


def content(competition: Competition, terms: Terms) -> Content:
    """Make the archive to upload, and the folder of the remote worker."""
    challenge = {
        **{f"{name}.html": _html(text).encode() for name, text in pages(competition, terms.end).items()},
        "logo.png": program.logo(),
        SCRIPT: program.to_zip({"__init__.py": b"from .main import evaluate\n", "main.py": PLACEHOLDER}),
        "challenge_config.yaml": program.to_json(_settings(competition, terms)),
    }
    worker: Content = {
        "evaluate.py": (program.TEMPLATES / "evalai.py").read_bytes(),
        "run.py": (program.TEMPLATES / "evalai_run.py").read_bytes(),
        "README.md": (program.TEMPLATES / "evalai.md")
        .read_bytes()
        .replace(b"OLDEST", program.OLDEST_PYTHON.encode()),
        "requirements.txt": program.requirements(competition, "requests"),  # which EvalAI's worker needs
        SOLUTION: competition.solution,
        **program.scoring_program(competition),
    }
    return {"challenge.zip": program.to_zip(challenge), **program.within("remote_worker", worker)}


def _settings(competition: Competition, terms: Terms) -> dict[str, Any]:
    """The content of ``challenge_config.yaml``."""
    numbered = [(number, part) for number, (part, *_) in enumerate(terms.phases, 1)]
    return {
        "title": competition.title,
        "short_description": competition.subtitle,
        "description": "description.html",
        "evaluation_details": "evaluation.html",
        "terms_and_conditions": "rules.html",
        "image": "logo.png",
        "submission_guidelines": "data-description.html",
        "evaluation_script": SCRIPT,
        "remote_evaluation": True,
        "manual_participant_approval": terms.approve_entrants,
        "start_date": str(terms.start),
        "end_date": str(terms.end),
        "published": False,
        "leaderboard": [{"id": 1, "schema": {"labels": [MEASURE], "default_order_by": MEASURE}}],
        "challenge_phases": _phases(terms),
        "dataset_splits": [{"id": number, "name": part, "codename": part.lower()} for number, part in numbered],
        "challenge_phase_splits": [
            {
                "challenge_phase_id": number,
                "leaderboard_id": 1,
                "dataset_split_id": number,
                "visibility": OF_EVERYBODY if part == PARTS[0] else OF_THE_HOST,
                "leaderboard_decimal_precision": PRECISION,
                "is_leaderboard_order_descending": competition.better == "higher",
            }
            for number, part in numbered
        ],
    }


def _phases(terms: Terms) -> list[dict[str, Any]]:
    """The Public and the Private phase; the Public leaderboard alone is visible to everybody.

    EvalAI puts a submission on the board only if submissions of the phase are public.
    """
    return [
        {
            "id": number,
            "name": part,
            "description": "description.html",
            "leaderboard_public": part == PARTS[0],
            "is_public": True,
            "is_submission_public": part == PARTS[0],
            "start_date": str(start),
            "end_date": str(end),
            "codename": part.lower(),
            "max_submissions_per_day": limits.per_day,
            "max_submissions_per_month": limits.total,
            "max_submissions": limits.total,
            "allowed_submission_file_types": FILE_TYPES,
        }
        for number, (part, (start, end), limits) in enumerate(terms.phases, 1)
    ]


def _html(markdown: str) -> str:
    """A page in HTML that shows Markdown as it is written, without its comment for the hosts."""
    text, gap, comment = markdown.partition(f"\n{GAP}")
    shown = html.escape(text, quote=False)
    return f"<pre style='white-space: pre-wrap'>{shown}</pre>\n{gap.lstrip()}{comment}"
