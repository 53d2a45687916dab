"""Pack a complete competition for a platform other than Kaggle.

A submission gets the same score on the platform as from `podium score`.
"""

import warnings
from collections.abc import Callable
from pathlib import Path

from podium import scoring
from podium.errors import HostError
from podium.hosting import codabench, evalai, huggingface, leaks
from podium.hosting.competition import Competition, Terms
from podium.hosting.folders import new_folder
from podium.hosting.program import Content
from podium.scoring import PARTS, USAGE

PLATFORMS: dict[str, Callable[[Competition, list[str], Terms], Content]] = {
    "codabench": codabench.content,
    "evalai": evalai.content,
    "huggingface": huggingface.content,
}


def bundle(platform: str, competition: Competition, terms: Terms, out: Path) -> list[Path]:
    """Write what a platform needs into a new folder.

    Parameters
    ----------
    platform : str
        The name of the platform, one of `PLATFORMS`.
    competition : Competition
        The competition to pack.
    terms : Terms
        Its dates and limits.
    out : Path
        The folder to write.  It must be empty or not exist yet.

    Returns
    -------
    list of Path
        The files and folders to upload.

    Raises
    ------
    HostError
        If a public file reveals the solution, or if the solution lacks the Public or the Private part.  Nothing
        is written in that case.
    UsageError
        If the folder cannot be written.
    """
    with new_folder(out) as whole:
        solution = scoring.read_solution(competition.metric, competition.solution, competition.arguments)
        prepared = scoring.prepare(competition.metric, solution, competition.arguments)
        for part in PARTS:
            if part not in prepared.rows:
                raise HostError(
                    f"{USAGE}: expected Public and Private rows in the solution, found none that is {part}"
                )
        everything = prepared.prepared.get(scoring.ALL)
        leaks.refuse(competition.folder, [] if everything is None else everything.items)
        if not competition.metric.is_own:  # scoring a first submission checks the metric against the contract
            sample = scoring.read_submission(competition.metric, competition.sample, competition.arguments)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scoring.evaluate(prepared, sample)
        # The measures of all items are listed: a platform refuses measures that were not announced, and one
        # part alone may lack a group.
        measures = ["score"] if everything is None else everything.measure_names
        for name, content in PLATFORMS[platform](competition, list(measures), terms).items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return sorted(out.iterdir())
