"""The histograms that a companion offers: as a picture in a file, and as numbers for the report.

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
    """Draw an explanation's histograms into a file."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"cannot draw {path}: expected a name that ends in {', '.join(FORMATS)}")
    write_atomically(path, draw(explanation).savefig)


def draw(explanation: Any) -> Any:
    """Draw an explanation's histograms."""
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
        labels = _labels(panels)
        colors = dict(zip(labels, COLORS))
        for axis, (name, panel) in zip(axes, panels.items()):
            _draw(axis, name, colors, **panel)
        handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels())}
        style = {"loc": "upper right", "ncols": len(handles), "fontsize": "small", "frameon": False}
        part.legend(handles.values(), handles, **style)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
    return picture


def figures(explanation: Any) -> list[dict[str, Any]]:
    """Compute what a page draws of an explanation's histograms."""
    drawn = []
    for title, panels in explanation.histograms.items():
        labels = _labels(panels)
        others = [name for panel in panels.values() for name in panel["lines"] if name not in panel["series"]]
        drawn.append(
            {
                "title": title,
                "labels": labels,
                "others": list(dict.fromkeys(others)),
                "panels": [_numbers(name, labels, **panel) for name, panel in panels.items()],
            }
        )
    return drawn


def _labels(panels: Mapping[str, Any]) -> list[str]:
    """List the names of the series of all panels."""
    return list(dict.fromkeys(label for panel in panels.values() for label in panel["series"]))


def _numbers(
    name: str,
    labels: list[str],
    series: Mapping[str, npt.ArrayLike],
    lines: Mapping[str, float],
    last: float,
) -> dict[str, Any]:
    """Compute what a page draws of one panel."""
    shares = {labels.index(label): _shares(values, last) for label, values in series.items()}
    most = max((float(each.max()) for each in shares.values()), default=0.0)
    return {
        "name": name,
        "note": _note(series, lines, last),
        "last": last,
        "most": most,
        "bars": [
            (number, position, height)
            for number, each in shares.items()
            for position, height in enumerate((100 * each / (most or 1.0)).round(2).tolist())
            if height
        ],
        "lines": [
            (label, labels.index(label) if label in series else None, round(100 * min(value, last) / last, 2))
            for label, value in lines.items()
        ],
    }


def _shares(values: npt.ArrayLike, last: float) -> npt.NDArray[np.float64]:
    """Compute the share of values in each bin.  Values beyond the scale are in the last one."""
    numbers = np.minimum(np.asarray(values, dtype=np.float64), last)
    return np.histogram(numbers, BINS, (0, last))[0] / max(len(numbers), 1)


def _note(series: Mapping[str, npt.ArrayLike], lines: Mapping[str, float], last: float) -> str:
    """Say the values of the whole corpus, and how many values are beyond the scale."""
    beyond = sum(int((np.asarray(values, dtype=np.float64) > last).sum()) for values in series.values())
    corpus = ", ".join(f"{value:.3g}" for label, value in lines.items() if label in series)
    return f"corpus {corpus}" + (f"; {beyond:,} beyond {last:g}" if beyond else "")


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
    for label, values in series.items():
        numbers = np.asarray(values, dtype=np.float64)
        weights = np.full(len(numbers), 1 / max(len(numbers), 1))
        bars = np.minimum(numbers, last)
        axis.hist(bars, edges, weights=weights, color=colors[label], alpha=0.55, label=label)
    for label, value in lines.items():
        if label in series:
            axis.axvline(min(value, last), color=colors[label])
        else:
            axis.axvline(min(value, last), color=OTHER_COLOR, linestyle="--", label=label)
    axis.set_xlim(-0.02 * last, 1.02 * last)
    axis.set_xlabel(_note(series, lines, last), fontsize="small")
