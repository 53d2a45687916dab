"""Make the files of a competition from official labels, such as those of SciFact.

All items become the test set.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium import contract, scoring
from podium.errors import HostError, UsageError
from podium.hosted import Metric
from podium.hosting.folders import PERFECT, SAMPLE, SOLUTION, Files, as_texts, scores, section
from podium.hosting.split import split
from podium.scoring import PARTS, USAGE

TEST, TEXT = "test.csv", "text"
NO_ITEMS = (
    "the metric has no prepare(), so every row was drawn by itself. If rows belong together, such as those of "
    "one patient, define prepare() or give the labels a column Usage, and make the files anew"
)


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
        The metric.  Its ``prepare`` says which rows belong to one item; without it, rows with the same id do.
        Its companion reads the labels and makes the sample submission and the perfect one.
    path : Path
        The file or folder with the labels.
    sample : Path or None
        A file to use as the sample submission; None takes the one that the companion makes.
    public_share : float
        The share of the items that become Public, between 0 and 1.
    seed : int
        The seed with which the parts are drawn.
    parameters : mapping
        The parameters of the metric.

    Returns
    -------
    Files
        The files, which are not written yet.

    Raises
    ------
    UsageError
        If there is no sample submission.
    HostError
        If the labels are wrong, if the score of a part is undefined, or if their `Usage` lacks a part.
    """
    arguments = dict(parameters)
    labels = scoring.read_solution(metric, path, arguments)
    notices = []
    solution = labels.drop(columns=USAGE, errors="ignore")
    whole = scoring.prepare(metric, solution, arguments)
    if whole.prepared:
        prepared = whole.prepared[scoring.ALL]
        items, item_of_row = prepared.items, prepared.item_of_row
        strata = [tuple(str(group) for group in groups) for groups in np.asarray(prepared.groups).T.tolist()]
        if USAGE in labels:
            notices.append(f"the column {USAGE} of the labels is replaced by a new drawing")
    else:
        ids = solution[whole.arguments["row_id_column_name"]].astype(str)
        items = sorted(set(ids))
        item_of_row = pd.Index(items).get_indexer(pd.Index(ids))
        strata = [()] * len(items)
    if USAGE in labels and not whole.prepared:
        part, solution = labels[USAGE].to_numpy(), labels
        drawn = f"The parts are those of the column {USAGE} of the labels."
        absent = [name for name in PARTS if name not in scoring.rows_of_parts(labels)]
        if absent:
            raise HostError(
                f"{USAGE}: expected Public and Private rows in the labels, found none that is {absent[0]}"
            )
    else:
        part = split(items, strata, items, 1.0, public_share, seed)
        drawn = f"The parts were drawn with seed {seed}: {public_share:g} of the items are Public."
        solution = solution.assign(**{USAGE: part[item_of_row]})
        if not whole.prepared:
            notices.append(NO_ITEMS)
    shown = _sample(metric, solution.drop(columns=USAGE), sample)
    best = metric.companion.perfect_submission
    perfect = None
    if best is not None:
        perfect = contract.made_submission("perfect_submission", best(solution.drop(columns=USAGE)))
    parts = scoring.prepare(metric, solution, arguments)
    counts = {"rows": len(solution), "items": len(items)}
    counts |= {f"items that are {name}": int((part == name).sum()) for name in PARTS}
    report = [
        "# The competition's files",
        drawn,
        section("The labels", ("what", "number"), counts.items()),
        scores(parts, seed, shown, perfect),
        f"`{parts.signature}`",
    ]
    public = {SAMPLE: as_texts(shown)}
    known = [
        name for name in metric.companion.public_columns if name in solution and solution[name].notna().any()
    ]
    shown_columns = [*known, *([TEXT] if TEXT in solution else [])]
    if shown_columns:
        public[TEST] = as_texts(solution[[whole.arguments["row_id_column_name"], *shown_columns]])
    private = {SOLUTION: as_texts(solution)} | ({} if perfect is None else {PERFECT: as_texts(perfect)})
    return Files(
        public,
        private,
        "\n\n".join(report) + "\n",
        [*notices, *parts.notices],
        items,
        metric.name,
        arguments,
        known,
    )


def _sample(metric: Metric, solution: pd.DataFrame, path: str | Path | None) -> pd.DataFrame:
    """The sample submission in the form that Kaggle takes, from a file or from the companion."""
    companion = metric.companion
    if path is None:
        if companion.sample_submission is None:
            raise UsageError("--sample: expected a submission to show, as the metric's companion makes none")
        return contract.made_submission("sample_submission", companion.sample_submission(solution))
    frame = scoring.read_submission(metric, path, {})
    return frame if companion.kaggle_submission is None else companion.kaggle_submission(frame, solution)
