"""Make a competition for another platform from what `podium make` made.

    podium bundle codabench files --title "Feedback on writing" --start 2027-01-15 --switch 2027-04-01 \\
        --end 2027-04-15 --out bundle

The Public part is scored from --start to --switch, the Private part from then to --end. Every public file is
checked once more: if one of them reveals the solution, nothing is written.
"""

import itertools
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Literal

from podium.cli import arguments
from podium.cli.arguments import OfCompetition
from podium.common.errors import UsageError
from podium.hosting.terms import Terms


@dataclass(frozen=True)
class Options(Terms, OfCompetition):
    """The options of ``podium bundle``.

    Parameters
    ----------
    out : FOLDER
        A new folder for the bundle.
    """

    site: Literal["codabench", "evalai"]
    _: KW_ONLY
    out: Path


def run(options: Options) -> None:
    """Write the bundle, and tell where it is."""
    from podium.hosting.bundles import bundle
    from podium.hosting.competition import keep_parameters
    from podium.hosting.competition_pages import to_edit

    dates = [date for date in (options.start, options.switch, options.end) if date is not None]
    if any(first >= second for first, second in itertools.pairwise(dates)):
        raise UsageError("expected --start before --switch before --end")
    competition = arguments.competition(options)
    for path in bundle.bundle(options.site, competition, options, options.out):
        size = f" ({path.stat().st_size / 1e6:.1f} MB)" if path.is_file() else ""
        print(f"written to {path}{size}")
    advice = bundle.advice(options.site, competition)
    if advice:
        print(advice)
    kept = keep_parameters(competition)
    if kept:
        print(f"parameters: {kept}")
    print(f"dates: {options.told}")
    print(*to_edit(), sep="\n")
