"""The plots of the notebooks, which show the first teams of a board.

The colors are those of Okabe and Ito (2008), which color-blind readers can tell apart.  Shape or position says
the same as color.

Every function returns a figure that need not be closed.  A notebook shows it as the last value of a cell.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

__all__ = ["before_and_after", "rank_intervals", "score_and_runtime", "subpopulation_scores", "what_if_curve"]

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
DARK, GRAY, LIGHT = "#333333", "#777777", "#DDDDDD"
# There are 6 colors and 7 markers, so that 42 sub-populations look different.
COLORS, MARKERS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY), "os^DvPX"

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
    teams: int = 30,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> Figure:
    """Plot score against runtime, with the region of eligible teams and with what the boost adds.

    Parameters
    ----------
    leaderboard : DataFrame
        A board as `boost.boost` returns it.
    teams : int
        The number of teams that are drawn, from the top.  Teams without a score or a runtime are left out.
    eligibility_ratio, slowdown_limit : float
        The parameters with which the board was boosted.

    Returns
    -------
    Figure
        A scatter plot, with lines from each score to the boosted score.
    """
    board = leaderboard.dropna(subset=["score", "runtime"]).head(teams)
    if board.empty:
        return _message("No team has a score and a runtime.")
    figure = _figure(5.5)
    axes = _frameless(figure.subplots())
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
    axes.set_title(
        f"{_first(len(board), leaderboard)}: {leaderboard['eligible'].sum():,} eligible, "
        f"{(leaderboard['boost'] > 0).sum():,} boosted",
        loc="left",
    )
    figure.legend(ncols=3, **LEGEND)
    figure.draw_without_rendering()  # now the limits are known
    _label_points(axes, board.head(LABELED))
    return figure


def subpopulation_scores(
    subpopulations: pd.DataFrame | None, leaderboard: pd.DataFrame, teams: int = 10
) -> Figure:
    """Plot the scores of teams in each sub-population, beside the score that is made from these.

    Parameters
    ----------
    subpopulations : DataFrame or None
        The scores in each sub-population, see `podium.ranking.board.Ranking`.  None if the metric has none.
    leaderboard : DataFrame
        The board of the same ranking.
    teams : int
        The number of teams that are drawn, from the top.

    Returns
    -------
    Figure
        A row per team with a marker for each sub-population.
    """
    if subpopulations is None:
        return _message("The metric has no sub-populations.")
    board = leaderboard.head(teams)
    scores = board[["team"]].merge(subpopulations, on="team", how="left").drop(columns="team")
    figure = _figure(1.3 + 0.1 * scores.shape[1] + len(board) * max(ROW, 0.1 * scores.shape[1]))
    axes = _frameless(figure.subplots())
    rows = np.arange(len(board))
    lanes = np.linspace(-0.4, 0.4, scores.shape[1]) if scores.shape[1] > 1 else [0]
    axes.vlines(board["score"], rows - 0.5, rows + 0.5, color=DARK, linewidth=2, label="score")
    for number, (name, lane) in enumerate(zip(scores, lanes)):
        axes.scatter(
            scores[name],
            rows + lane,
            s=20,
            marker=MARKERS[number % len(MARKERS)],
            color=COLORS[number % len(COLORS)],
            label=str(name),
            zorder=3,
        )
    _rows(axes, board["rank"], board["team"])
    axes.set(xlabel="score before the boost")
    axes.set_title(f"{_first(len(board), leaderboard)}: scores of sub-populations", loc="left")
    for text in figure.legend(ncols=2, **LEGEND).get_texts():
        text.set_parse_math(False)
    return figure


def rank_intervals(intervals: pd.DataFrame | None, teams: int = 30) -> Figure:
    """Plot the rank set of each team alone.

    Parameters
    ----------
    intervals : DataFrame or None
        The intervals of a ranking, see `podium.ranking.board.Ranking`.  None if there are none.
    teams : int
        The number of teams that are drawn, from the top.

    Returns
    -------
    Figure
        A row per team with a line from its first to its last possible rank.
    """
    if intervals is None:
        return _message("There are no intervals: the board has no resamples, or the metric has no statistics.")
    board = intervals.head(teams)
    figure = _figure(1.6 + ROW * len(board))
    axes = _frameless(figure.subplots())
    rows = np.arange(len(board))
    axes.hlines(rows, board["rank_low"], board["rank_high"], color=BLUE, linewidth=2)
    axes.scatter(board["rank"], rows, s=30, color=BLUE, zorder=3)
    axes.set_xlim(0.5, max(board["rank_high"].max(), board["rank"].max()) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.grid(axis="x", color=LIGHT)
    axes.set_axisbelow(True)
    axes.set(xlabel="rank after the boost (the dot) and its 95% interval (the line)")
    axes.set_title(f"{_first(len(board), intervals)}: how sure the ranks are", loc="left")
    _rows(axes, board["rank"], board["team"])
    return figure


def before_and_after(leaderboard: pd.DataFrame, teams: int = 30) -> Figure:
    """Plot which teams gain ranks and which lose ranks by the boost.

    Parameters
    ----------
    leaderboard : DataFrame
        A board as `boost.boost` returns it.
    teams : int
        A team is drawn if its rank is at most this, before or after the boost.

    Returns
    -------
    Figure
        A line per team from its rank before the boost to its rank after it.
    """
    among = leaderboard[(leaderboard["rank"] <= teams) | (leaderboard["rank_before"] <= teams)]
    before, after = among["rank_before"].rank().to_numpy(), among["rank"].rank().to_numpy()
    figure = _figure(1.2 + ROW * len(among), 7.0)
    axes = figure.subplots()
    columns = among[["team", "rank_before", "rank", "boost"]].to_numpy()
    for left, right, (name, rank_before, rank, share) in zip(before.tolist(), after.tolist(), columns):
        color = BLUE if rank < rank_before else VERMILLION if rank > rank_before else GRAY
        axes.plot([0, 1], [left, right], "o-", color=color, markersize=5)
        style: dict[str, Any] = {"va": "center", "color": color, "fontsize": SMALL, "parse_math": False}
        axes.text(-0.04, left, f"{_short(name)}  {rank_before}", ha="right", **style)
        axes.text(1.04, right, f"{rank}  {_short(name)} {_added(share)}".rstrip(), ha="left", **style)
    axes.set(xlim=(-0.9, 1.9), ylim=(len(among) + 0.6, 0.4))
    axes.set_xticks([0, 1], labels=["rank before", "rank after the boost"])
    axes.xaxis.tick_top()
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_visible(False)
    axes.spines[:].set_visible(False)
    return figure


def what_if_curve(
    leaderboard: pd.DataFrame, team: object, curve: pd.DataFrame, break_even: pd.DataFrame
) -> Figure:
    """Plot the boosted score and the rank that a team would have with other runtimes.

    Parameters
    ----------
    leaderboard : DataFrame
        A board as `boost.boost` returns it.
    team : object
        The name of the team.
    curve : DataFrame
        What `podium.ranking.estimate.what_if` returned for two runtimes or more.
    break_even : DataFrame
        What `podium.ranking.estimate.break_even_runtimes` returned.

    Returns
    -------
    Figure
        Two plots above each other, with the present runtime as a dot.
    """
    now = leaderboard[leaderboard["team"].astype(str) == str(team)].iloc[0]
    curve = curve.sort_values("runtime")
    start, end = curve["runtime"].iloc[0], curve["runtime"].iloc[-1]
    changes = break_even[break_even["runtime"].between(start, end)]
    ranks = [curve["rank"].iloc[0], *changes["rank_above"]]

    figure = _figure(7.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(curve["runtime"], curve["boosted_score"], color=BLUE, linewidth=2)
    upper.set(ylabel="boosted score", xlim=(start, end))
    edges = [start, *np.repeat(changes["runtime"], 2), end]
    lower.plot(edges, np.repeat(ranks, 2), color=BLUE, linewidth=2)
    lower.set(xlabel="runtime in seconds", ylabel="rank", ylim=(max(ranks) + 0.7, min(ranks) - 0.7))
    lower.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    for axes, name in ((upper, "boosted_score"), (lower, "rank")):
        _frameless(axes)
        if start <= now["runtime"] <= end:
            axes.plot(now["runtime"], now[name], "o", color=VERMILLION, markersize=8)
    its_runtime = "no runtime" if math.isnan(now["runtime"]) else _seconds(now["runtime"])
    upper.set_title(
        f"{_short(team)} now: {its_runtime}, boosted score {now['boosted_score']:.4f}, rank {now['rank']}",
        loc="left",
        parse_math=False,
    )
    return figure


# ---- Parts of figures ----------------------------------------------------------------------------------


def _figure(height: float, width: float = WIDTH) -> Figure:
    """Make an empty figure; the sizes are in inches."""
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def _frameless(axes: Axes) -> Axes:
    """Remove the lines at the top and on the right."""
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _message(text: str) -> Figure:
    """Make a figure that only says why there is no plot."""
    figure = _figure(1.0)
    figure.text(0.5, 0.5, text, ha="center", va="center", color=DARK)
    return figure


def _short(team: object) -> str:
    """Shorten a team's name so that it fits a label."""
    text = " ".join(str(team).split())
    return text if len(text) <= CHARACTERS_SHOWN else text[: CHARACTERS_SHOWN - 1] + "…"


def _added(boost: float) -> str:
    """Write a boost beside a team's name."""
    return f" +{boost:.1%}" if boost > 0 else ""


def _seconds(runtime: float) -> str:
    """Write a runtime with six digits."""
    return f"{float(f'{runtime:.6g}'):,.15g} s"


def _first(shown: int, board: pd.DataFrame) -> str:
    """Say in a title how many teams are shown."""
    return f"{len(board):,} teams" if shown == len(board) else f"The first {shown:,} of {len(board):,} teams"


def _rows(axes: Axes, ranks: "pd.Series[Any]", teams: "pd.Series[Any]") -> None:
    """Label the rows of a list with teams and ranks, the first team at the top."""
    labels = [f"{_short(team)}  {rank}" for team, rank in zip(teams, ranks)]
    axes.set_yticks(range(len(labels)), labels=labels, parse_math=False)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


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
            _short(team) + _added(share),
            (runtime, top),
            xytext=(1.02, height),
            textcoords="axes fraction",
            va="center",
            fontsize=SMALL,
            color=DARK,
            parse_math=False,
            arrowprops={"arrowstyle": "-", "color": GRAY, "linewidth": 0.5, "relpos": (0, 0.5)},
        )
