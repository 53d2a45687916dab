"""Pack a complete competition for a platform other than Kaggle.

A submission gets the same score on the platform as from `podium score`.
"""

import warnings
from pathlib import Path

from podium import reading, scoring
from podium.errors import ContractWarning, HostError
from podium.hosting import leaks
from podium.hosting.bundles import codabench, evalai
from podium.hosting.competition import Competition, Terms
from podium.hosting.folders import SAMPLE, new_folder, scores_of_host
from podium.hosting.kaggle import acceptance
from podium.scoring import PARTS, USAGE

PLATFORMS = ("codabench", "evalai")


def bundle(platform: str, competition: Competition, terms: Terms, out: Path) -> list[Path]:
    """Write what a platform needs into a new folder."""
    with new_folder(out) as whole:
        measures = _checked_measures(competition)
        if platform == "evalai":
            files = evalai.content(competition, terms)
        else:
            files = codabench.content(competition, measures, terms)
        for name, content in files.items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return sorted(out.iterdir())


def _checked_measures(competition: Competition) -> list[str]:
    """Check everything that goes out, and list the measures of the metric, the score first."""
    metric, arguments = competition.metric, competition.arguments
    prepared = scoring.prepare(
        metric, reading.read_solution(metric, competition.solution, arguments), arguments
    )
    for part in PARTS:
        if part not in prepared.rows:
            raise HostError(
                f"{USAGE}: expected Public and Private rows in the solution, found none that is {part}"
            )
    # The measures of all items are listed, because one part alone may lack a group.
    everything = prepared.prepared.get(scoring.ALL)
    leaks.refuse(competition.folder, [] if everything is None else everything.items)
    sample = reading.read_submission(metric, competition.sample, arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the metric says of the sample is no news
        warnings.simplefilter("always", ContractWarning)
        scores_of_host(prepared, sample, SAMPLE, acceptance.refusals)
    return ["score"] if everything is None else list(everything.measure_names)
