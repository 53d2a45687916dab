"""A picture of the histograms that an evaluation offers.

    python -m competition.histograms --metric FILE SOLUTION SUBMISSION PICTURE

The evaluation's ``histograms`` is a dict of figures, each a dict of panels: title to values, (n,).  The
picture shows the figures below each other, as .png, .svg or .pdf.  Exit codes are those of ``evaluate.py``.
"""

import argparse
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from competition import metric_file, scoring
from competition.errors import UsageError, run
from competition.files import write_atomically

__all__ = ["draw", "save"]

COLUMNS = 4
BINS = 20
PANEL_INCHES = (3.2, 2.2)
FORMATS = (".png", ".svg", ".pdf")

Panels = Mapping[str, npt.ArrayLike]


def save(evaluation: Any, path: str | Path) -> None:
    """Draw an evaluation's histograms into a file.

    Parameters
    ----------
    evaluation : what a metric file's `evaluate` returns
    path : the picture, whose suffix tells its format

    Raises
    ------
    UsageError
        The evaluation offers no histograms, the suffix is none of `FORMATS`, or matplotlib is missing.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"cannot draw {path}: expected a name that ends in {', '.join(FORMATS)}")
    write_atomically(path, draw(evaluation).savefig)


def draw(evaluation: Any) -> Any:
    """An evaluation's histograms as a matplotlib Figure.  Parameters and errors are those of `save`."""
    figures: Mapping[str, Panels] = getattr(evaluation, "histograms", {})
    if not figures:
        raise UsageError("this metric offers no histograms")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("histograms need matplotlib: pip install matplotlib") from None
    rows = [math.ceil(len(panels) / COLUMNS) for panels in figures.values()]
    width, height = PANEL_INCHES
    picture = Figure(figsize=(width * COLUMNS, height * sum(rows) + 0.6 * len(rows)), layout="constrained")
    parts = picture.subfigures(len(rows), height_ratios=[height * n + 0.6 for n in rows], squeeze=False)[:, 0]
    for part, number, (title, panels) in zip(parts, rows, figures.items()):
        part.suptitle(title, x=0.01, ha="left", fontweight="bold")
        axes = part.subplots(number, COLUMNS, squeeze=False).ravel()
        for axis, (name, values) in zip(axes, panels.items()):
            _draw(axis, name, np.asarray(values, dtype=np.float64))
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
    return picture


def _draw(axis: Any, name: str, values: npt.NDArray[np.float64]) -> None:
    """One panel, from 0 to 1 or as far as the values go, with their mean as a line."""
    axis.set_title(name, fontsize="medium")
    axis.tick_params(labelsize="small")
    if not len(values):
        axis.text(0.5, 0.5, "no values", ha="center", va="center", transform=axis.transAxes)
        axis.set_xticks([])
        axis.set_yticks([])
        return
    last = max(1.0, values.max())
    axis.hist(values, bins=BINS, range=(0, last), color="#4878a8", edgecolor="white", linewidth=0.4)
    axis.axvline(values.mean(), color="#c44e52", linewidth=1.2)
    axis.set_xlim(-0.02 * last, 1.02 * last)
    axis.yaxis.get_major_locator().set_params(integer=True)
    axis.set_xlabel(f"{len(values):,} values, mean {values.mean():.3g}", fontsize="small")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m competition.histograms", description="Draw the histograms behind a score."
    )
    parser.add_argument("solution", type=Path, help="the truth, .csv, .csv.gz or what the metric reads")
    parser.add_argument("submission", type=Path, help="the predictions, likewise")
    parser.add_argument("picture", type=Path, help=f"where to draw, {', '.join(FORMATS)}")
    parser.add_argument("--metric", type=Path, required=True, metavar="FILE", help="a file with a score()")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the metric"
    )
    options = parser.parse_args(arguments)
    metric = metric_file.load(options.metric)
    parameters = metric_file.parse_parameters(metric, options.set)
    solution = scoring.read_solution(metric, options.solution, parameters)
    submission = scoring.read_submission(metric, options.submission, parameters)
    evaluations = scoring.evaluate(scoring.prepare(metric, solution, parameters), submission).evaluations
    save(evaluations.get(scoring.ALL), options.picture)


if __name__ == "__main__":
    sys.exit(run(main))
