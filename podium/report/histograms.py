"""A picture of the histograms that a companion offers.

The histograms are figures by title, and each figure has panels by title.  A panel has three parts:

- ``series`` has values by name.  Each series is drawn as a histogram of shares, one over the other;
- ``lines`` has one value by name, which is drawn as a line in the color of its series;
- ``last`` is where the scale ends.  Larger values are in the last bin.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.errors import UsageError, missing_extra
from podium.files import write_atomically

COLUMNS = 4
BINS = 20
PANEL_INCHES = (3.2, 2.2)
FORMATS = (".png", ".svg", ".pdf")

COLORS = ("#e69f00", "#0072b2")  # can be told apart without color vision
OTHER_COLOR = "#333333"


def save(explanation: Any, path: str | Path) -> None:
    """Draw an explanation's histograms into a file.

    Parameters
    ----------
    explanation : podium.contract.Explanation or podium.contract.Agreement
        The explanation with the histograms.
    path : str or Path
        The path of the file.  Its ending decides the format: .png, .svg or .pdf.

    Raises
    ------
    UsageError
        There are no histograms, the path has another ending, or matplotlib is not installed.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"cannot draw {path}: expected a name that ends in {', '.join(FORMATS)}")
    write_atomically(path, draw(explanation).savefig)


def draw(explanation: Any) -> Any:
    """Draw an explanation's histograms.

    Parameters
    ----------
    explanation : podium.contract.Explanation or podium.contract.Agreement
        The explanation with the histograms.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    UsageError
        There are no histograms, or matplotlib is not installed.
    """
    figures: Mapping[str, Mapping[str, Any]] = explanation.histograms
    if not figures:
        raise UsageError("this metric offers no histograms")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("a picture", "matplotlib", "plots") from None

    rows = [math.ceil(len(panels) / COLUMNS) for panels in figures.values()]
    width, height = PANEL_INCHES
    picture = Figure(figsize=(width * COLUMNS, height * sum(rows) + 0.6 * len(rows)), layout="constrained")
    parts = picture.subfigures(len(rows), height_ratios=[height * n + 0.6 for n in rows], squeeze=False)[:, 0]
    for part, number, (title, panels) in zip(parts, rows, figures.items()):
        part.suptitle(title, x=0.01, ha="left", fontweight="bold")
        axes = part.subplots(number, COLUMNS, squeeze=False).ravel()
        labels = dict.fromkeys(label for panel in panels.values() for label in panel["series"])
        colors = dict(zip(labels, COLORS))
        for axis, (name, panel) in zip(axes, panels.items()):
            _draw(axis, name, colors, **panel)
        handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels())}
        style = {"loc": "upper right", "ncols": len(handles), "fontsize": "small", "frameon": False}
        part.legend(handles.values(), handles, **style)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
    return picture


def _draw(
    axis: Any,
    name: str,
    colors: Mapping[str, str],
    series: Mapping[str, npt.ArrayLike],
    lines: Mapping[str, float],
    last: float,
) -> None:
    """Draw one panel."""
    axis.set_title(name, fontsize="medium")
    axis.tick_params(labelsize="small")
    edges = np.linspace(0, last, BINS + 1)
    beyond = 0
    for label, values in series.items():
        numbers = np.asarray(values, dtype=np.float64)
        beyond += int((numbers > last).sum())
        weights = np.full(len(numbers), 1 / max(len(numbers), 1))
        bars = np.minimum(numbers, last)
        axis.hist(bars, edges, weights=weights, color=colors[label], alpha=0.55, label=label)
    for label, value in lines.items():
        if label in series:
            axis.axvline(min(value, last), color=colors[label])
        else:
            axis.axvline(min(value, last), color=OTHER_COLOR, linestyle="--", label=label)
    axis.set_xlim(-0.02 * last, 1.02 * last)
    corpus = ", ".join(f"{value:.3g}" for label, value in lines.items() if label in series)
    more = f"; {beyond:,} beyond {last:g}" if beyond else ""
    axis.set_xlabel(f"corpus {corpus}{more}", fontsize="small")
