"""A picture of the histograms that a companion offers.

``histograms`` is a dict of figures, each a dict of panels: title to a dict of

``series``   name to values, (n,): drawn over each other on one scale, as shares
``lines``    name to a value: a vertical line, in the colour of the series of its name
``last``     where the scale ends; what lies beyond is in the last bin

The picture shows the figures below each other, as .png, .svg or .pdf.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.errors import UsageError
from podium.files import write_atomically

__all__ = ["draw", "save"]

COLUMNS = 4
BINS = 20
PANEL_INCHES = (3.2, 2.2)
FORMATS = (".png", ".svg", ".pdf")

# Of series, which are told apart without colour vision, and of lines that belong to none.
COLOURS = ("#e69f00", "#0072b2")
OTHER_COLOUR = "#333333"


def save(explanation: Any, path: str | Path) -> None:
    """Draw an explanation's histograms into a file.

    Parameters
    ----------
    explanation : what a companion's `explain` returns
    path : the picture, whose suffix tells its format

    Raises
    ------
    UsageError
        The explanation offers no histograms, the suffix is none of `FORMATS`.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"cannot draw {path}: expected a name that ends in {', '.join(FORMATS)}")
    write_atomically(path, draw(explanation).savefig)


def draw(explanation: Any) -> Any:
    """An explanation's histograms as a matplotlib Figure.  Parameters and errors are those of `save`."""
    figures: Mapping[str, Mapping[str, Any]] = getattr(explanation, "histograms", {})
    if not figures:
        raise UsageError("this metric offers no histograms")
    from matplotlib.figure import Figure

    rows = [math.ceil(len(panels) / COLUMNS) for panels in figures.values()]
    width, height = PANEL_INCHES
    picture = Figure(figsize=(width * COLUMNS, height * sum(rows) + 0.6 * len(rows)), layout="constrained")
    parts = picture.subfigures(len(rows), height_ratios=[height * n + 0.6 for n in rows], squeeze=False)[:, 0]
    for part, number, (title, panels) in zip(parts, rows, figures.items()):
        part.suptitle(title, x=0.01, ha="left", fontweight="bold")
        axes = part.subplots(number, COLUMNS, squeeze=False).ravel()
        labels = dict.fromkeys(label for panel in panels.values() for label in panel["series"])
        colours = dict(zip(labels, COLOURS))
        for axis, (name, panel) in zip(axes, panels.items()):
            _draw(axis, name, colours, **panel)
        handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels())}
        style = {"loc": "upper right", "ncols": len(handles), "fontsize": "small", "frameon": False}
        part.legend(handles.values(), handles, **style)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
    return picture


def _draw(
    axis: Any,
    name: str,
    colours: Mapping[str, str],
    series: Mapping[str, npt.ArrayLike],
    lines: Mapping[str, float],
    last: float,
) -> None:
    """One panel, from 0 to `last`, whose last bin has what lies beyond, too."""
    axis.set_title(name, fontsize="medium")
    axis.tick_params(labelsize="small")
    edges = np.linspace(0, last, BINS + 1)
    beyond = 0
    for label, values in series.items():
        numbers = np.asarray(values, dtype=np.float64)
        beyond += int((numbers > last).sum())
        weights = np.full(len(numbers), 1 / max(len(numbers), 1))
        shares = {"weights": weights, "color": colours[label], "alpha": 0.55, "label": label}
        axis.hist(np.minimum(numbers, last), edges, **shares)
    for label, value in lines.items():
        style = (
            {"color": colours[label]}
            if label in series
            else {"color": OTHER_COLOUR, "linestyle": "--", "label": label}
        )
        axis.axvline(min(value, last), linewidth=1.4, **style)
    axis.set_xlim(-0.02 * last, 1.02 * last)
    corpus = ", ".join(f"{value:.3g}" for label, value in lines.items() if label in series)
    more = f"; {beyond:,} beyond {last:g}" if beyond else ""
    axis.set_xlabel(f"corpus {corpus}{more}", fontsize="small")
