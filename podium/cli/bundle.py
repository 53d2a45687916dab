"""Make a competition for another platform from what `podium make` made.

    podium bundle codabench files --title "Feedback on writing" --start 2027-01-15 --switch 2027-04-01 \\
        --end 2027-04-15 --out bundle

The Public part is scored from --start to --switch, the Private part from then to --end. Every public file is
checked once more: if one of them reveals the solution, nothing is written.
"""

import itertools
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from podium.cli import arguments
from podium.cli.arguments import OfCompetition, last_moment, moment, positive
from podium.words.errors import UsageError


@dataclass(frozen=True)
class Options(OfCompetition):
    """The options of ``podium bundle``.

    Parameters
    ----------
    out : FOLDER
        A new folder for the bundle.
    start : DATE
        When it opens, in UTC.
    switch : DATE
        When the Private phase begins (not if all rows are Public), in UTC.
    end : DATE
        When it closes, in UTC; a day without a time counts to its end.

    Other Parameters
    ----------------
    per_day : N
        How many submissions a team may send each day of the Public phase.
    total : N
        How many submissions a team may send in the whole Public phase (default: the daily limit times the
        number of days).
    approve_entrants : bool
        Let you approve everybody who wants to take part (default: everybody may).
    """

    site: Literal["codabench", "evalai"]
    _: KW_ONLY
    out: Path
    start: Annotated[datetime, moment]
    switch: Annotated[datetime | None, moment] = None
    end: Annotated[datetime, last_moment]
    per_day: Annotated[int, positive] = 5
    total: Annotated[int | None, positive] = None
    approve_entrants: bool = False


def run(options: Options) -> None:
    """Write the bundle, and tell where it is."""
    from podium.hosting.bundles import bundle
    from podium.hosting.competition import Terms, keep_parameters, to_edit

    dates = [date for date in (options.start, options.switch, options.end) if date is not None]
    if any(first >= second for first, second in itertools.pairwise(dates)):
        raise UsageError("expected --start before --switch before --end")
    competition = arguments.competition(options)
    terms = Terms(
        start=options.start,
        switch=options.switch,
        end=options.end,
        per_day=options.per_day,
        total=options.total,
        approve_entrants=options.approve_entrants,
    )
    for path in bundle.bundle(options.site, competition, terms, options.out):
        size = f" ({path.stat().st_size / 1e6:.1f} MB)" if path.is_file() else ""
        print(f"written to {path}{size}")
    advice = bundle.advice(options.site, competition)
    if advice:
        print(advice)
    kept = keep_parameters(competition)
    if kept:
        print(f"parameters: {kept}")
    print(f"dates: {terms.told}")
    print(*to_edit(), sep="\n")
