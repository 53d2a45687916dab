"""Score a submission in a Hugging Face competition, which calls `compute`."""

import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download

HOME = Path(tempfile.mkdtemp())


def fetched(params: Any, name: str) -> Path:
    """A file of the competition's private data set."""
    return Path(
        hf_hub_download(repo_id=params.competition_id, filename=name, token=params.token, repo_type="dataset")
    )


def compute(params: Any) -> dict[str, dict[str, float]]:
    """What the platform calls: the scores of a submission on both parts."""
    with zipfile.ZipFile(fetched(params, "program.zip")) as program:
        program.extractall(HOME)
    sys.path.insert(0, str(HOME / "lib"))
    from podium.hosting import judge

    solution = fetched(params, "solution.csv")
    submission = fetched(params, f"submissions/{params.team_id}-{params.submission_id}.csv")
    measures = judge.measures(HOME, solution, submission, ("Public", "Private"))
    return {f"{part.lower()}_score": {"score": of_part["score"]} for part, of_part in measures.items()}
