"""The figures of the documentation: their size, their colors and how they are saved."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
BLUE, ORANGE, GRAY = "#0072b2", "#e69f00", "#6e7781"  # told apart without color vision
# In dark mode, light and dark change places, and hues stay.
DARK = "@media (prefers-color-scheme:dark){svg{filter:invert(.9) hue-rotate(180deg)}}"


def figure(width: float = 5.0, height: float = 3.2) -> tuple[Figure, Axes]:
    """A figure that is narrow enough to be read on a phone, and its axes without a frame."""
    picture = Figure(figsize=(width, height), layout="constrained")
    axes = picture.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return picture, axes


def save(picture: Figure, name: str) -> None:
    """Save a figure as SVG, on white or, where the reader prefers that, on black.

    The same figure always gives the same bytes.
    """
    with mpl.rc_context({"svg.hashsalt": "podium", "svg.fonttype": "path"}):
        picture.savefig(FOLDER / f"{name}.svg", metadata={"Date": None}, facecolor="white")
    path = FOLDER / f"{name}.svg"
    path.write_text(
        path.read_text(encoding="utf-8").replace("</style>", f"{DARK}</style>", 1), encoding="utf-8"
    )
