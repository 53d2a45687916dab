"""Pack a complete competition for a platform other than Kaggle.

A submission gets the same score on the platform as from `podium score`.
"""

import math
import warnings
from pathlib import Path

from podium import reading, scoring
from podium.errors import HostError, SubmissionRejected
from podium.hosting import codabench, evalai, leaks
from podium.hosting.competition import Competition, Terms
from podium.hosting.folders import SAMPLE, new_folder
from podium.scoring import PARTS, USAGE

PLATFORMS = ("codabench", "evalai")


def bundle(platform: str, competition: Competition, terms: Terms, out: Path) -> list[Path]:
    """Write what a platform needs into a new folder."""
    with new_folder(out) as whole:
        solution = reading.read_solution(competition.metric, competition.solution, competition.arguments)
        prepared = scoring.prepare(competition.metric, solution, competition.arguments)
        for part in PARTS:
            if part not in prepared.rows:
                raise HostError(
                    f"{USAGE}: expected Public and Private rows in the solution, found none that is {part}"
                )
        everything = prepared.prepared.get(scoring.ALL)
        leaks.refuse(competition.folder, [] if everything is None else everything.items)
        if not competition.metric.is_own:
            try:
                sample = reading.read_submission(competition.metric, competition.sample, competition.arguments)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    evaluation = scoring.evaluate(prepared, sample)
                    scoring.hold(evaluation)
            except SubmissionRejected as problem:  # The sample is the host's own file.
                raise HostError(str(problem)) from None
            undefined = [part for part, score in evaluation.scores.items() if not math.isfinite(score)]
            if undefined:
                raise HostError(
                    f"{SAMPLE}: expected a finite score, found another one in {', '.join(undefined)}"
                )
        if platform == "evalai":
            files = evalai.content(competition, terms)
        else:
            # The measures of all items are listed, because one part alone may lack a group.
            measures = ["score"] if everything is None else list(everything.measure_names)
            files = codabench.content(competition, measures, terms)
        for name, content in files.items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return sorted(out.iterdir())
