"""Create a competition on Kaggle from what `podium make` made, step by step.

    podium publish kaggle files --metric metric.py --title "Feedback on writing" --dry-run
    podium publish kaggle files --metric metric.py --title "Feedback on writing" --launch-at 2027-01-15T12:00Z

The step “metric” says what to click and waits for it. The step “launch” needs --launch-at or --step launch.
What was sent is sent again if it has changed, or if --step asks for it. Pages are in files/kaggle/pages. Pages
that you have edited are kept, and they are sent when the command is started again. Settings of your own go into
files/kaggle/host.json. If a public file reveals the solution, nothing is sent.
"""

import re
import typing
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Annotated, Literal

from podium.cli import arguments
from podium.cli.arguments import OfCompetition
from podium.hosting.terms import FIRST_DATE, LAST_DATE
from podium.words.errors import UsageError

StepName = Literal[
    "create", "pages", "data", "solution", "settings", "metric", "sandbox", "benchmark", "launch"
]


@dataclass(frozen=True)
class Options(OfCompetition):
    """The options of ``podium publish``.

    Parameters
    ----------
    deadline : DATE
        When it closes, in UTC, such as 2027-04-15T12:00Z; a day without a time counts to its end.
    launch_at : DATE
        When it opens, in UTC (default: not yet).
    step : STEP
        Take only this step; may be repeated (default: all steps that are due).
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
    force : bool
        Open the competition although something has changed since it was tried on the site.
    wait : MINUTES
        How long to wait for what you have to do on the site, and for its scores.
    """

    site: Literal["kaggle"]
    _: KW_ONLY
    deadline: Annotated[datetime | None, LAST_DATE] = None
    launch_at: Annotated[datetime | None, FIRST_DATE] = None
    step: Sequence[StepName] = ()
    dry_run: bool = False
    slug: str | None = None
    template: int | None = None
    no_benchmark: bool = False
    force: bool = False
    wait: float = 60.0


def run(options: Options) -> None:
    """Take the steps that are due."""
    from podium.hosting.kaggle import publish

    if options.deadline and options.launch_at and options.deadline <= options.launch_at:
        raise UsageError("expected --launch-at before --deadline")
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
        launch_at=options.launch_at,
        wait=options.wait * 60,
    )
    left_out = {"launch": not options.launch_at, "benchmark": options.no_benchmark}
    steps: list[str] = [*options.step] or [name for name in typing.get_args(StepName) if not left_out.get(name)]
    if options.dry_run:
        print("\n".join(publish.commands(plan, steps)))
        return
    for line in publish.publish(plan, steps, bool(options.step), options.force):
        print(line, flush=True)
