"""The picture of a board for notebooks: the first teams, with the scores and the runtimes that decide.

The colors are those of Okabe and Ito (2008), which color-blind readers can tell apart.  Shape or position says
the same as color.
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from podium.ranking.sentences import cut

__all__ = ["score_and_runtime", "scores"]

BLUE, VERMILLION, SKY = "#0072B2", "#D55E00", "#56B4E9"
DARK, GRAY = "#333333", "#777777"
TEAMS = 30  # so many teams are drawn
CHARACTERS_SHOWN = 20
DPI = 100

# In inches: the width of a figure, the height of a team in a list, and the height of a label.
WIDTH, ROW = 9.0, 0.27
LABEL = 0.16

SMALL = 9  # size of letters, in points
LABELED = 12  # dots with a name beside them
LEGEND: dict[str, Any] = {"loc": "outside lower center", "fontsize": SMALL, "frameon": False}
LOGARITHMIC_FROM = 4  # ratio of the slowest to the fastest runtime from which their axis is logarithmic


def score_and_runtime(
    leaderboard: pd.DataFrame,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> Figure:
    """Plot score against runtime, with the region of eligible teams and with what the boost adds."""
    board = leaderboard.dropna(subset=["score", "runtime"]).head(TEAMS)
    figure, axes = _empty(5.5)
    eligible, boosted = board["eligible"], board["boost"] > 0
    kinds: list[tuple[str, Any, dict[str, Any]]] = [
        ("eligible, boosted", boosted, {"marker": "o", "color": BLUE}),
        ("eligible", eligible & ~boosted, {"marker": "o", "edgecolor": BLUE, "facecolor": "white"}),
        ("not eligible", ~eligible, {"marker": "s", "color": VERMILLION}),
    ]
    for label, which, style in kinds:
        if which.any():
            axes.scatter(board["runtime"][which], board["score"][which], s=36, zorder=3, label=label, **style)
    if boosted.any():
        runtime, score, top = (board.loc[boosted, name] for name in ("runtime", "score", "boosted_score"))
        axes.vlines(runtime, score, top, color=BLUE, linewidth=1.5, zorder=2)
        axes.scatter(runtime, top, s=30, marker="^", color=BLUE, zorder=3, label="boosted score")
    axes.margins(0.08, 0.1)
    axes.set(xlabel="runtime", ylabel="score")
    if board["runtime"].max() >= LOGARITHMIC_FROM * board["runtime"].min():
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda seconds, _: _seconds(seconds))
    if leaderboard["eligible"].any():
        fastest = leaderboard.loc[leaderboard["eligible"], "runtime"].min()
        lowest = leaderboard["score"].max() / eligibility_ratio
        _eligible_region(axes, lowest, slowdown_limit * fastest)
    counts = f"{leaderboard['eligible'].sum():,} eligible, {(leaderboard['boost'] > 0).sum():,} boosted"
    axes.set_title(f"{_first(len(board), leaderboard)}: {counts}", loc="left")
    figure.legend(ncols=3, **LEGEND)
    figure.draw_without_rendering()  # now the limits are known
    _label_points(axes, board.head(LABELED))
    return figure


def scores(leaderboard: pd.DataFrame) -> Figure:
    """Plot the scores of the first teams of a board on which speed is not rewarded."""
    board = leaderboard.head(TEAMS)
    figure, axes = _empty(1.0 + ROW * len(board))
    rows = np.arange(len(board))
    axes.scatter(board["score"], rows, s=30, color=BLUE)
    axes.set_yticks(rows, [_short(team) for team in board["team"]], parse_math=False)
    axes.invert_yaxis()
    axes.set(xlabel="score")
    axes.set_title(_first(len(board), leaderboard), loc="left")
    return figure


def _empty(height: float) -> tuple[Figure, Axes]:
    """Make an empty plot of that height in inches, without lines at the top and on the right."""
    figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _short(team: object) -> str:
    """Shorten a team's name so that it fits a label."""
    return cut(" ".join(str(team).split()), CHARACTERS_SHOWN)


def _seconds(runtime: float) -> str:
    """Write a runtime with six digits."""
    return f"{float(f'{runtime:.6g}'):,.15g} s"


def _first(shown: int, board: pd.DataFrame) -> str:
    """Say in a title how many teams are shown."""
    return f"{len(board):,} teams" if shown == len(board) else f"The first {shown:,} of {len(board):,} teams"


def _eligible_region(axes: Axes, lowest: float, slowest: float) -> None:
    """Shade where teams are eligible, from the lowest score, and where they are boosted, from the runtime."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    right, bottom = max(right, slowest), min(bottom, lowest - 0.05 * (top - lowest))
    boosted, eligible = f"boosted: faster than {_seconds(slowest)}", f"eligible: score at least {lowest:.4f}"
    axes.fill_between([left, slowest], lowest, top, color=SKY, alpha=0.4, linewidth=0, label=boosted)
    axes.fill_between([slowest, right], lowest, top, color=SKY, alpha=0.15, linewidth=0, label=eligible)
    axes.set(xlim=(left, right), ylim=(bottom, top))


def _label_points(axes: Axes, board: pd.DataFrame) -> None:
    """Write the teams beside the plot, with lines to their dots.

    Each name is as high as the team's boosted score, if there is room.
    """
    board = board.sort_values("boosted_score")
    number = np.arange(len(board))
    _, points = axes.transData.transform(board[["runtime", "boosted_score"]]).T
    inside, label = axes.get_window_extent(), LABEL * DPI
    # Going up, each label is at least its height above the one before, and leaves room for those above it.
    heights = np.maximum.accumulate(points - label * number) + label * number
    heights = np.minimum(heights, inside.y1 - label * number[::-1])
    columns = board[["runtime", "boosted_score", "team", "boost"]].to_numpy()
    for height, (runtime, top, team, share) in zip((heights - inside.y0) / inside.height, columns):
        axes.annotate(
            _short(team) + (f" +{share:.1%}" if share > 0 else ""),
            (runtime, top),
            xytext=(1.02, height),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL,
            color=DARK,
            parse_math=False,
            arrowprops={"arrowstyle": "-", "color": GRAY, "linewidth": 0.5, "relpos": (0, 0.5)},
        )
