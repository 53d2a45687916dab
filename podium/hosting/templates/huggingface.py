"""Score a submission in a Hugging Face competition, which calls `compute`."""

import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download

HOME = Path(tempfile.mkdtemp())


def fetched(params: Any, name: str) -> Path:
    """Download a file of the competition's private repository.

    Parameters
    ----------
    params : object
        What the platform passes to `compute`.
    name : str
        The path of the file in the repository.

    Returns
    -------
    Path
        The downloaded file.
    """
    return Path(
        hf_hub_download(repo_id=params.competition_id, filename=name, token=params.token, repo_type="dataset")
    )


def compute(params: Any) -> dict[str, dict[str, float]]:
    """Score a submission on both parts; the platform calls this function.

    Parameters
    ----------
    params : object
        The platform's description of the submission, with the names of competition, team and submission.

    Returns
    -------
    dict
        The scores under ``public_score`` and ``private_score``.
    """
    with zipfile.ZipFile(fetched(params, "program.zip")) as program:
        program.extractall(HOME)
    sys.path.insert(0, str(HOME / "lib"))
    from podium.hosting import judge

    solution = fetched(params, "solution.csv")
    submission = fetched(params, f"submissions/{params.team_id}-{params.submission_id}.csv")
    measures = judge.measures(HOME, solution, submission, ("Public", "Private"))
    return {f"{part.lower()}_score": {"score": of_part["score"]} for part, of_part in measures.items()}
