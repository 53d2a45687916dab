"""Pack a complete competition for a platform other than Kaggle.

A submission gets the same score on the platform as from `podium score`.
"""

from pathlib import Path

from podium.common.errors import HostError, UsageError
from podium.contest import pipeline, reading
from podium.hosting import leaks
from podium.hosting.bundles import codabench, evalai, program
from podium.hosting.competition import Competition
from podium.hosting.folders import SAMPLE, new_folder
from podium.hosting.kaggle import acceptance
from podium.hosting.terms import Terms
from podium.scoring import evaluating
from podium.scoring.evaluating import PARTS, USAGE
from podium.tables.files import read_once


def bundle(platform: str, competition: Competition, terms: Terms, out: Path) -> list[Path]:
    """Write what a platform needs into a new folder."""
    with new_folder(out) as whole:
        measures = _checked_measures(competition, terms)
        if platform == "codabench":
            content = codabench.content(competition, measures, terms)
            program.write_zip(content, whole / "competition.zip")
        else:
            program.write(evalai.content(competition, terms), whole)
    return sorted(out.iterdir())


def advice(platform: str, competition: Competition) -> str:
    """Say what a bundle needs on its platform beyond numpy and pandas; an empty text if it needs nothing."""
    further = [name for name in program.libraries(competition) if name not in ("numpy", "pandas")]
    if platform != "codabench" or not further:
        return ""
    return (
        f"the metric imports {', '.join(further)}: the image {codabench.IMAGE} has to have it. Try a "
        "submission before you publish, or name an image of your own in the editor, under Docker image"
    )


def _checked_measures(competition: Competition, terms: Terms) -> list[str]:
    """Check everything that goes out, and list the measures of the metric, the score first."""
    metric, arguments = competition.metric, competition.arguments
    solution = read_once(competition.solution)
    prepared = pipeline.prepared(metric, solution, arguments)
    if PARTS[0] not in prepared.rows:
        raise HostError(f"{USAGE}: expected Public rows in the solution, found none")
    has_private = PARTS[1] in prepared.rows
    if has_private != (terms.switch is not None):
        found = "Private rows: give the date at which their phase begins" if has_private else "no Private rows"
        raise UsageError(f"--switch: the solution has {found}{'' if has_private else ', so leave it out'}")
    # The measures of all items are listed, because one part alone may lack a group.
    everything = prepared.prepared.get(evaluating.ALL)
    leaks.refuse(competition.folder, [] if everything is None else everything.items, solution)
    sample = reading.read_submission(metric, competition.sample, arguments)
    expected = pipeline.of_host(prepared, sample, SAMPLE, acceptance.refusals).scores
    for part, score in program.scores(competition, [part for part in PARTS if part in expected]).items():
        if score != expected[part]:
            wanted = f"a score of {expected[part]!r} in {part} from the packed program"
            raise HostError(f"{SAMPLE}: expected {wanted}, found {score!r}")
    return ["score"] if everything is None else list(everything.measure_names)
