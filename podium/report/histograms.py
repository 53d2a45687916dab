"""The histograms that a companion offers: as a picture in a file, and as numbers for the report.

The histograms are figures by title, and each figure has panels by title. A panel has three parts:

- ``series`` has values by name. Each series is drawn as a histogram of shares, one over the other;
- ``lines`` has one value by name, which is drawn as a line in the color of its series;
- ``last`` is where the scale ends. Larger values are in the last bin.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.common import pages
from podium.common.errors import UsageError
from podium.tables.files import write_atomically

COLUMNS = 4
BINS = 20
TEMPLATES = Path(__file__).with_name("templates")
PANEL_WIDTH, ROW_HEIGHT, TITLE_HEIGHT = 260, 210, 60  # of a picture, in pixels


def save(explanation: Any, path: str | Path) -> None:
    """Draw an explanation's histograms into a file in SVG."""
    path = Path(path)
    if path.suffix != ".svg":
        raise UsageError(f"cannot draw {path}: expected a name that ends in .svg")
    svg = draw(explanation)
    write_atomically(path, lambda part: part.write_text(svg, encoding="utf-8"))


def draw(explanation: Any) -> str:
    """Draw an explanation's histograms in SVG."""
    drawn, top = figures(explanation), 0
    if not drawn:
        raise UsageError("this metric offers no histograms")
    for figure in drawn:
        figure["top"] = top
        top += TITLE_HEIGHT + ROW_HEIGHT * math.ceil(len(figure["panels"]) / COLUMNS)
    return pages.template(TEMPLATES, "histograms.svg", {}).render(
        figures=drawn, height=top, columns=COLUMNS, width=PANEL_WIDTH, row=ROW_HEIGHT
    )


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
