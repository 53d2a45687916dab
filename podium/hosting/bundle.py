"""A competition for another platform, complete: what is uploaded scores as `podium score` does."""

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
        One of `PLATFORMS`.
    competition : Competition
        What to bundle.
    terms : Terms
        Dates and limits.
    out : Path
        Where to write; it must not exist yet, or be empty.

    Returns
    -------
    list of Path
        The files and folders to upload.

    Raises
    ------
    HostError
        If a public file tells the solution, or the solution lacks a part. Nothing is written then.
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
        if not competition.metric.is_own:  # the first submission holds a metric to the contract
            sample = scoring.read_submission(competition.metric, competition.sample, competition.arguments)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scoring.evaluate(prepared, sample)
        # Of all items: platforms refuse measures that they do not know, and a part may lack a group.
        measures = ["score"] if everything is None else everything.measure_names
        for name, content in PLATFORMS[platform](competition, list(measures), terms).items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return sorted(out.iterdir())
