"""A picture of a companion's histograms: figures, and panels in them, by title.

A panel has ``series``, values by name, drawn over each other as shares; ``lines``, a value by name, in the
colour of its series; and ``last``, where the scale ends: what lies beyond is in the last bin.
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

COLOURS = ("#e69f00", "#0072b2")  # told apart without colour vision
OTHER_COLOUR = "#333333"


def save(explanation: Any, path: str | Path) -> None:
    """Draw an explanation's histograms into a file.

    Parameters
    ----------
    explanation : podium.contract.Explanation or podium.contract.Agreement
    path : str or Path
        Its ending tells the format: .png, .svg or .pdf.

    Raises
    ------
    UsageError
        There is nothing to draw, the ending is another one, or matplotlib is not installed.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"cannot draw {path}: expected a name that ends in {', '.join(FORMATS)}")
    write_atomically(path, draw(explanation).savefig)


def draw(explanation: Any) -> Any:
    """A matplotlib Figure."""
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
    axis.set_title(name, fontsize="medium")
    axis.tick_params(labelsize="small")
    edges = np.linspace(0, last, BINS + 1)
    beyond = 0
    for label, values in series.items():
        numbers = np.asarray(values, dtype=np.float64)
        beyond += int((numbers > last).sum())
        weights = np.full(len(numbers), 1 / max(len(numbers), 1))
        bars = np.minimum(numbers, last)
        axis.hist(bars, edges, weights=weights, color=colours[label], alpha=0.55, label=label)
    for label, value in lines.items():
        if label in series:
            axis.axvline(min(value, last), color=colours[label])
        else:
            axis.axvline(min(value, last), color=OTHER_COLOUR, linestyle="--", label=label)
    axis.set_xlim(-0.02 * last, 1.02 * last)
    corpus = ", ".join(f"{value:.3g}" for label, value in lines.items() if label in series)
    more = f"; {beyond:,} beyond {last:g}" if beyond else ""
    axis.set_xlabel(f"corpus {corpus}{more}", fontsize="small")
