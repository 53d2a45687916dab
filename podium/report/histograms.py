"""The histograms that a companion offers: as a picture in a file, and as numbers for the report.

The histograms are figures by title, and each figure has panels by title.  A panel has three parts:

- ``series`` has values by name.  Each series is drawn as a histogram of shares, one over the other;
- ``lines`` has one value by name, which is drawn as a line in the color of its series;
- ``last`` is where the scale ends.  Larger values are in the last bin.
"""

import math
from collections.abc import Mapping, Sequence
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
    drawn = figures(explanation)
    if not drawn:
        raise UsageError("this metric offers no histograms")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("a picture", "matplotlib", "plots") from None

    rows = [math.ceil(len(figure["panels"]) / COLUMNS) for figure in drawn]
    width, height = PANEL_INCHES
    picture = Figure(figsize=(width * COLUMNS, height * sum(rows) + 0.6 * len(rows)), layout="constrained")
    parts = picture.subfigures(len(rows), height_ratios=[height * n + 0.6 for n in rows], squeeze=False)[:, 0]
    for part, number, figure in zip(parts, rows, drawn):
        part.suptitle(figure["title"], x=0.01, ha="left", fontweight="bold")
        axes = part.subplots(number, COLUMNS, squeeze=False).ravel()
        for axis, panel in zip(axes, figure["panels"]):
            _draw(axis, panel, figure["labels"])
        handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels())}
        style = {"loc": "upper right", "ncols": len(handles), "fontsize": "small", "frameon": False}
        part.legend(handles.values(), handles, **style)
        for axis in axes[len(figure["panels"]) :]:
            axis.set_axis_off()
    return picture


def _draw(axis: Any, panel: Mapping[str, Any], labels: Sequence[str]) -> None:
    """Draw one panel."""
    last = panel["last"]
    axis.set_title(panel["name"], fontsize="medium")
    axis.tick_params(labelsize="small")
    edges = np.linspace(0, last, BINS + 1)
    for series, shares in panel["shares"].items():
        style = {"color": COLORS[series], "alpha": 0.55, "label": labels[series]}
        axis.hist(edges[:-1], edges, weights=shares, **style)
    for label, series, place in panel["lines"]:
        style = {"color": OTHER_COLOR, "linestyle": "--", "label": label}
        axis.axvline(last * place / 100, **(style if series is None else {"color": COLORS[series]}))
    axis.set_xlim(-0.02 * last, 1.02 * last)
    axis.set_xlabel(panel["note"], fontsize="small")


def figures(explanation: Any) -> list[dict[str, Any]]:
    """Compute what a page and a picture draw of an explanation's histograms."""
    drawn = []
    for title, panels in explanation.histograms.items():
        labels = list(dict.fromkeys(label for panel in panels.values() for label in panel["series"]))
        others = [name for panel in panels.values() for name in panel["lines"] if name not in panel["series"]]
        drawn.append(
            {
                "title": title,
                "labels": labels,
                "others": list(dict.fromkeys(others)),
                "panels": [_panel(name, labels, **panel) for name, panel in panels.items()],
            }
        )
    return drawn


def _panel(
    name: str,
    labels: list[str],
    series: Mapping[str, npt.ArrayLike],
    lines: Mapping[str, float],
    last: float,
) -> dict[str, Any]:
    """Compute what is drawn of one panel; values beyond the scale are in its last bar."""
    shares, beyond = {}, 0
    for label, given in series.items():
        values = np.asarray(given, dtype=np.float64)
        beyond += int((values > last).sum())
        numbers, _ = np.histogram(np.minimum(values, last), BINS, (0, last))
        shares[labels.index(label)] = numbers / max(len(values), 1)
    most = max((float(each.max()) for each in shares.values()), default=0.0)
    corpus = ", ".join(f"{value:.3g}" for label, value in lines.items() if label in series)
    return {
        "name": name,
        "note": f"corpus {corpus}" + (f"; {beyond:,} beyond {last:g}" if beyond else ""),
        "last": last,
        "most": most,
        "shares": shares,
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
