"""Create a competition on Kaggle from what `podium make` made, step by step.

    podium publish kaggle files --metric metric.py --title "Feedback on writing" --dry-run
    podium publish kaggle files --metric metric.py --title "Feedback on writing" --launch-at 2027-01-15T12:00Z

Steps: create, pages, data, solution, settings, metric (says what to click, and waits), sandbox (compares the
site's scores with those here), launch (only with --launch-at or --step launch).  What was done is not done
again; a step that is named is.  The pages are in files/kaggle/pages: edit them before they are sent.
"""

import argparse
import re
import sys
from pathlib import Path

from podium.cli.arguments import add_parameters, moment

STEP_NAMES = ("create", "pages", "data", "solution", "settings", "metric", "sandbox", "launch")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("site", choices=["kaggle"], help="where to")
    parser.add_argument("files", type=Path, help="the folder that podium make wrote")
    parser.add_argument("--metric", default="unified", help="a Python file with a score(), or a metric's name")
    parser.add_argument("--title", required=True, help="of the competition")
    parser.add_argument("--subtitle", help="one line under the title (default: the metric's first line)")
    parser.add_argument("--slug", help="its address on the site (default: the title in lower case)")
    parser.add_argument("--template", type=int, metavar="ID", help="clone this competition, with its metric")
    parser.add_argument(
        "--deadline", type=moment, metavar="DATE", help="when it closes, such as 2027-04-15T23:59Z"
    )
    parser.add_argument("--launch-at", type=moment, metavar="DATE", help="when it opens")
    parser.add_argument("--step", action="append", choices=STEP_NAMES, help="only this step; may be repeated")
    parser.add_argument("--dry-run", action="store_true", help="only print the calls")
    parser.add_argument(
        "--wait", type=float, default=60.0, metavar="MINUTES", help="for clicks and scores (default: 60)"
    )
    add_parameters(parser)


def run(options: argparse.Namespace) -> None:
    from podium import hosted
    from podium.hosting import publish
    from podium.hosting.emulate import load
    from podium.hosting.folders import row_id
    from podium.hosting.pages import summary

    metric = load(options.metric)
    arguments = {"row_id_column_name": row_id(options.files)}
    arguments |= hosted.parse_parameters(metric, options.set)
    plan = publish.Plan(
        options.files,
        metric,
        arguments,
        options.title,
        options.subtitle or summary(metric) or options.title,
        options.slug or re.sub("[^a-z0-9]+", "-", options.title.lower()).strip("-"),
        options.template,
        options.deadline,
        options.launch_at,
        options.wait * 60,
    )
    steps = options.step
    if options.launch_at is None and steps is None:
        steps_to_do = [step for step in STEP_NAMES if step != "launch"]
    else:
        steps_to_do = steps or list(STEP_NAMES)
    if options.dry_run:
        print("\n".join(publish.commands(plan, steps_to_do)))
        return
    out = sys.stdout
    publish.publish(plan, steps_to_do, steps is not None, lambda text: print(text, file=out, flush=True))
