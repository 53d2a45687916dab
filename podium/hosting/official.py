"""From a sibling's official labels to the files of a competition; all items are the test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium import scoring
from podium.errors import UsageError
from podium.essays.split import split
from podium.hosted import Metric
from podium.hosting.folders import PERFECT, SAMPLE, SOLUTION, Files, as_texts, scores, section
from podium.scoring import PARTS, USAGE

TEST, TEXT = "test.csv", "text"


def make_files(
    metric: Metric,
    path: str | Path,
    sample: str | Path | None,
    public_share: float,
    seed: int,
    parameters: Mapping[str, Any] = {},
) -> Files:
    """Make the files of a competition from official labels.

    Parameters
    ----------
    metric : Metric
        With a `prepare`, which says what belongs together; its companion reads the labels and writes the sample
        and the perfect submission.
    path : Path
        The labels.
    sample : Path or None
        A submission to show; None for the companion's.
    public_share : float
        The share of the items that is Public, between 0 and 1.
    seed : int
        Of the drawing.
    parameters : mapping
        Of the metric.

    Returns
    -------
    Files
        Not yet written.

    Raises
    ------
    UsageError
        The metric has no `prepare`, or there is no sample submission.
    """
    arguments = dict(parameters)
    labels = scoring.read_solution(metric, path, arguments)
    redrawn = [f"the column {USAGE} of the labels is replaced by a new drawing"] if USAGE in labels else []
    solution = labels.drop(columns=USAGE, errors="ignore")
    whole = scoring.prepare(metric, solution, arguments)
    if not whole.prepared:
        raise UsageError("the metric does not say what belongs together: it has no prepare()")
    prepared = whole.prepared[scoring.ALL]
    strata = [tuple(str(group) for group in groups) for groups in np.asarray(prepared.groups).T.tolist()]
    part = split(prepared.items, strata, prepared.items, 1.0, public_share, seed)
    solution = solution.assign(**{USAGE: part[prepared.item_of_row]})
    shown = _sample(metric, solution.drop(columns=USAGE), sample)
    best = metric.companion.perfect_submission
    perfect = None if best is None else best(solution.drop(columns=USAGE))
    parts = scoring.prepare(metric, solution, arguments)
    counts = {"rows": len(solution), "items": len(part)}
    counts |= {f"items that are {name}": int((part == name).sum()) for name in PARTS}
    report = [
        "# The competition's files",
        f"Drawn with seed {seed}: {public_share:g} of the items Public.",
        section("The labels", ("what", "number"), counts.items()),
        scores(parts, seed, shown, perfect),
        f"`{parts.signature}`",
    ]
    public = {SAMPLE: as_texts(shown)}
    if TEXT in solution:
        public[TEST] = as_texts(solution[[str(solution.columns[0]), TEXT]])
    private = {SOLUTION: as_texts(solution)} | ({} if perfect is None else {PERFECT: as_texts(perfect)})
    return Files(
        public,
        private,
        "\n\n".join(report) + "\n",
        [*redrawn, *parts.notices],
        prepared.items,
        metric.name,
        arguments,
    )


def _sample(metric: Metric, solution: pd.DataFrame, path: str | Path | None) -> pd.DataFrame:
    companion = metric.companion
    if path is None:
        if companion.sample_submission is None:
            raise UsageError("--sample: expected a submission to show, as the metric's companion makes none")
        return companion.sample_submission(solution)
    frame = scoring.read_submission(metric, path, {})
    return frame if companion.kaggle_submission is None else companion.kaggle_submission(frame, solution)
