"""Create a competition on Kaggle from what `podium make` made, step by step.

    podium publish kaggle files --title "Feedback on writing" --dry-run
    podium publish kaggle files --title "Feedback on writing" --deadline 2027-04-15

Each step first looks at the site whether it is done, so the command can be started again at any time. The step
“metric” says what to click and waits for it. You open the competition yourself, by a click on the site. Pages
are in files/kaggle/pages; edit them and start the command again. Settings of your own go into
files/kaggle/host.json. If a public file reveals the solution, nothing is sent.
"""

import math
import re
import typing
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Annotated, Literal

from podium.cli import arguments
from podium.cli.arguments import OfCompetition
from podium.common.errors import UsageError
from podium.common.options import Values
from podium.hosting.terms import LAST_DATE

minutes = Values("minutes, such as 60", lambda number: 0 <= number < math.inf, float)
StepName = Literal["create", "pages", "data", "solution", "settings", "metric", "sandbox", "benchmark"]


@dataclass(frozen=True)
class Options(OfCompetition):
    """The options of ``podium publish``.

    Parameters
    ----------
    deadline : DATE
        When it closes, in UTC, such as 2027-04-15T12:00Z; a day without a time counts to its end.
    step : STEP
        Take only this step, also if it was taken before; may be repeated (default: all steps that are due).
    dry_run : bool
        Print what would be done, and send nothing.

    Other Parameters
    ----------------
    slug : SLUG
        The competition's address on the site (default: made from the title).
    template : ID
        The number of a competition on the site whose settings and metric are copied (default: none).
    no_benchmark : bool
        Do not publish the score of the sample submission as a benchmark on the board.
    wait : MINUTES
        How long to wait for what you have to do on the site, and for its scores.
    """

    site: Literal["kaggle"]
    _: KW_ONLY
    deadline: Annotated[datetime | None, LAST_DATE] = None
    step: Sequence[StepName] = ()
    dry_run: bool = False
    slug: str | None = None
    template: Annotated[int | None, arguments.positive] = None
    no_benchmark: bool = False
    wait: Annotated[float, minutes] = 60.0


def run(options: Options) -> None:
    """Take the steps that are due."""
    from podium.hosting.kaggle import publish

    slug = options.slug or re.sub("[^a-z0-9]+", "-", options.title.lower()).strip("-")
    if not slug:
        raise UsageError(f"the title {options.title!r} has no Latin letters to make an address of: give --slug")
    competition = arguments.competition(options)
    plan = publish.Publication(
        folder=competition.folder,
        metric=competition.metric,
        arguments=competition.arguments,
        title=competition.title,
        subtitle=competition.subtitle,
        slug=slug,
        template=options.template,
        deadline=options.deadline,
        wait=options.wait * 60,
    )
    every = [name for name in typing.get_args(StepName) if name != "benchmark" or not options.no_benchmark]
    steps: list[str] = [*options.step] or every
    if options.dry_run:
        print("\n".join(publish.commands(plan, steps)))
        return
    for line in publish.publish(plan, steps, bool(options.step)):
        print(line, flush=True)
