"""Score a submission in a Hugging Face competition, which calls `compute`."""

import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download

HOME = Path(tempfile.mkdtemp())


def fetched(params: Any, name: str) -> Path:
    return Path(
        hf_hub_download(repo_id=params.competition_id, filename=name, token=params.token, repo_type="dataset")
    )


def compute(params: Any) -> dict[str, dict[str, float]]:
    with zipfile.ZipFile(fetched(params, "program.zip")) as program:
        program.extractall(HOME)
    sys.path.insert(0, str(HOME / "lib"))
    from podium.hosting import judge

    submission = fetched(params, f"submissions/{params.team_id}-{params.submission_id}.csv")
    evaluation = judge.judge(HOME, fetched(params, "solution.csv"), submission)
    return {
        f"{part.lower()}_score": {"score": judge.measures(evaluation, part)["score"]}
        for part in ("Public", "Private")
    }
