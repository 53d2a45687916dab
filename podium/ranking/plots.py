"""The plots of the notebooks: of the first teams of a board, each a matplotlib Figure, which needs no closing.

A `leaderboard` is as `boost.boost` returns it.  Labels never cover each other.  The colours are those of Okabe
and Ito (2008), for colour-blind readers; shape or place says the same once more.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, PercentFormatter
from matplotlib.transforms import blended_transform_factory

__all__ = ["before_and_after", "rank_intervals", "score_and_runtime", "subpopulation_scores", "what_if_curve"]

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
DARK, GREY, LIGHT = "#333333", "#777777", "#DDDDDD"
# 6 and 7 of them: 42 sub-populations look different.
COLOURS, MARKERS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY), "os^DvPX"

CHARACTERS_SHOWN = 20
DPI = 100
WIDTH, ROW = 9.0, 0.27  # inches of a figure, and of a team in a list
SMALL = 9  # points
PRIZES_WIDE = 10  # the intervals are as wide as so many columns of prizes
THIN, THICK = 1.2, 2.5
LEGEND: dict[str, Any] = {"loc": "outside lower center", "fontsize": SMALL, "frameon": False}
MARKER_RADIUS, PIXELS = 4, DPI / 72  # points, and how large one is
RIGHT = 0.975  # of the width of a plot
LOGARITHMIC_FROM = 4  # slowest / fastest runtime from which the axis is logarithmic

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Where a label may be, in points from its point: on its right (side 1), on its left (-1), above or below.
LENGTHS, ANGLES = (
    grid.ravel()
    for grid in np.meshgrid(
        [9.0, 14, 20, 28, 38, 50, 65, 85, 110, 140, 180, 230],
        np.deg2rad([0, 180, 20, 160, -20, -160, 45, 135, -45, -135, 65, 115, -65, -115, 90, -90]),
        indexing="ij",
    )
)
OFFSETS: Floats = LENGTHS[:, np.newaxis] * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
SIDES: Floats = np.round(np.cos(ANGLES))
NEAR = 14  # up to here a label needs no line to its point
NOWHERE = -1
CLOSE = 7  # so near to another marker a label could be taken for its own
# Points by which a line may be longer rather than run over a marker or be mistaken, or run over a label.
WORSE, CROSSED, UNLABELLED = 60.0, 500.0, 5000.0
ORDERS_TRIED = 10


def score_and_runtime(
    leaderboard: pd.DataFrame,
    teams: int = 30,
    eligibility_ratio: float = 1.05,
    slowdown_limit: float = 1.2,
) -> Figure:
    """Score against runtime, with the region of the eligible and what the boost, of these parameters, adds.

    Teams without a runtime are at the right edge, teams without a score are left out.
    """
    board = leaderboard[leaderboard["score"].notna()].head(teams)
    if board.empty:
        return _message("No team has a score.")
    figure = _figure(5.2 + 0.06 * len(board))
    axes = _frameless(figure.subplots())
    x_of_missing = blended_transform_factory(axes.transAxes, axes.transData)
    has_runtime = board["runtime"].notna()
    eligible, boosted = board["eligible"], board["boost"] > 0
    kinds: list[tuple[str, Any, dict[str, Any]]] = [
        ("eligible, boosted", boosted, {"marker": "o", "color": BLUE}),
        ("eligible", eligible & ~boosted, {"marker": "o", "edgecolor": BLUE, "facecolor": "white"}),
        ("not eligible", has_runtime & ~eligible, {"marker": "s", "color": VERMILLION}),
        ("no runtime, not eligible", ~has_runtime, {"marker": ">", "color": GREY, "transform": x_of_missing}),
    ]
    place = board["runtime"].fillna(RIGHT)
    for label, which, style in kinds:
        if which.any():
            axes.scatter(place[which], board["score"][which], s=36, zorder=3, label=label, **style)
    if boosted.any():
        runtime, score, top = (board.loc[boosted, name] for name in ("runtime", "score", "boosted_score"))
        axes.vlines(runtime, score, top, color=BLUE, linewidth=1.5, zorder=2)
        axes.scatter(runtime, top, s=30, marker="^", color=BLUE, zorder=3, label="boosted score")
    axes.margins(0.08, 0.1)
    axes.set(xlabel="runtime", ylabel="score")
    _runtime_axis(axes, board.loc[has_runtime, "runtime"])
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
    right = axes.transData.inverted().transform(axes.transAxes.transform((RIGHT, 0)))[0]
    place = board["runtime"].fillna(right)
    bottoms, tops = (np.column_stack([place, board[name]]) for name in ("score", "boosted_score"))
    markers = np.hstack([axes.transData.transform(ends) for ends in (bottoms, tops)])
    markers += MARKER_RADIUS * PIXELS * np.array([-1, -1, 1, 1])
    labels = [_short(name) + _added(share) for name, share in zip(board["team"], board["boost"])]
    _label_points(axes, tops, labels, markers)
    return figure


def subpopulation_scores(
    subpopulations: pd.DataFrame | None, leaderboard: pd.DataFrame, teams: int = 10
) -> Figure:
    """What teams score in each sub-population, beside the score that is made of these.

    Both frames are a final ranking's; `subpopulations` is None where the metric has none.
    """
    if subpopulations is None:
        return _message("The metric has no sub-populations.")
    board = leaderboard.head(teams)
    scores = board[["team"]].merge(subpopulations, on="team", how="left").drop(columns="team")
    figure = _figure(1.3 + 0.1 * scores.shape[1] + len(board) * max(ROW, 0.1 * scores.shape[1]))
    axes = _frameless(figure.subplots())
    rows = np.arange(len(board))
    lanes = np.linspace(-0.4, 0.4, scores.shape[1]) if scores.shape[1] > 1 else [0]
    for row in rows[::2]:
        axes.axhspan(row - 0.5, row + 0.5, color=LIGHT, alpha=0.4, linewidth=0)
    axes.vlines(board["score"], rows - 0.5, rows + 0.5, color=DARK, linewidth=2, label="score")
    for number, (name, lane) in enumerate(zip(scores, lanes)):
        axes.scatter(
            scores[name],
            rows + lane,
            s=20,
            marker=MARKERS[number % len(MARKERS)],
            color=COLOURS[number % len(COLOURS)],
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
    """The 95% interval of each rank, and how likely each team wins which prize.

    The intervals are a final ranking's; None where it was made without.
    """
    if intervals is None:
        return _message("There are no intervals: without resamples, or the metric does not offer them.")
    board = intervals.head(teams)
    prizes = board[[name for name in board if str(name).startswith("prize_")]]
    figure = _figure(1.6 + ROW * len(board))
    grid = figure.add_gridspec(1, PRIZES_WIDE + prizes.shape[1])
    axes = _frameless(figure.add_subplot(grid[:PRIZES_WIDE]))
    rows = np.arange(len(board))
    axes.hlines(rows, board["rank_low"], board["rank_high"], color=BLUE, linewidth=THICK)
    axes.scatter(board["rank"], rows, s=30, color=BLUE, zorder=3)
    axes.set_xlim(0.5, max(board["rank_high"].max(), board["rank"].max()) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.grid(axis="x", color=LIGHT)
    axes.set_axisbelow(True)
    axes.set(xlabel="rank after the boost (the dot) and its 95% interval (the line)")
    figure.suptitle(f"{_first(len(board), intervals)}: how sure the ranks are", x=0.01, ha="left")
    if prizes.shape[1]:
        _probabilities(figure.add_subplot(grid[PRIZES_WIDE:], sharey=axes), prizes)
    _rows(axes, board["rank"], board["team"])
    return figure


def before_and_after(leaderboard: pd.DataFrame, teams: int = 30) -> Figure:
    """Who of the first teams, before or after the boost, gains and who loses by it."""
    among = leaderboard[(leaderboard["rank"] <= teams) | (leaderboard["rank_before"] <= teams)]
    before, after = among["rank_before"].rank().to_numpy(), among["rank"].rank().to_numpy()
    figure = _figure(1.2 + ROW * len(among), 7.0)
    axes = figure.subplots()
    columns = among[["team", "rank_before", "rank", "boost"]].to_numpy()
    for left, right, (name, rank_before, rank, share) in zip(before.tolist(), after.tolist(), columns):
        colour = BLUE if rank < rank_before else VERMILLION if rank > rank_before else GREY
        line = "o--" if rank > rank_before else "o-"
        width = THICK if share > 0 else THIN
        axes.plot([0, 1], [left, right], line, color=colour, linewidth=width, markersize=5)
        style: dict[str, Any] = {"va": "center", "color": colour, "fontsize": SMALL, "parse_math": False}
        axes.text(-0.04, left, f"{_short(name)}  {rank_before}", ha="right", **style)
        axes.text(1.04, right, f"{rank}  {_short(name)} {_added(share)}".rstrip(), ha="left", **style)
    axes.set(xlim=(-0.9, 1.9), ylim=(len(among) + 0.6, 0.4))
    axes.set_xticks([0, 1], labels=["rank before", "rank after the boost"])
    axes.xaxis.tick_top()
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_visible(False)
    axes.spines[:].set_visible(False)
    handles = [
        Line2D([], [], color=BLUE, linewidth=THIN, label="gains"),
        Line2D([], [], color=VERMILLION, linewidth=THIN, linestyle="--", label="loses"),
        Line2D([], [], color=DARK, linewidth=THICK, label="boosted"),
    ]
    figure.legend(handles=handles, ncols=3, **LEGEND)
    return figure


def what_if_curve(
    leaderboard: pd.DataFrame, team: object, curve: pd.DataFrame, break_even: pd.DataFrame
) -> Figure:
    """A team's boosted score and rank for other runtimes, with the runtimes at which the rank changes.

    The frames are what `what_if` returned for two runtimes or more, and `break_even_runtimes`.
    """
    now = leaderboard[leaderboard["team"].astype(str) == str(team)].iloc[0]
    curve = curve.sort_values("runtime")
    start, end = curve["runtime"].iloc[0], curve["runtime"].iloc[-1]
    changes = break_even[break_even["runtime"].between(start, end)]
    ranks = [curve["rank"].iloc[0], *changes["rank_above"]]
    lines = max(ranks) - min(ranks) + 1

    rank_height = min(max(1.6, ROW * lines), 9.0)
    figure = _figure(3.6 + rank_height)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2.6, rank_height])
    upper.plot(curve["runtime"], curve["boosted_score"], color=BLUE, linewidth=2)
    upper.set(ylabel="boosted score", xlim=(start, end + 0.1 * (end - start)))
    if now["score"] > 0:
        right = upper.secondary_yaxis(
            "right",
            functions=(lambda boosted: boosted / now["score"] - 1, lambda added: now["score"] * (1 + added)),
        )
        right.yaxis.set_major_formatter(PercentFormatter(1, decimals=1))
        right.set_ylabel("boost")
    edges = [start, *np.repeat(changes["runtime"], 2), end]
    lower.plot(edges, np.repeat(ranks, 2), color=BLUE, linewidth=2)
    lower.set(xlabel="runtime in seconds", ylabel="rank", ylim=(max(ranks) + 0.7, min(ranks) - 0.7))
    lower.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    # A line of text needs some ranks' height; the curve falls to the right, so that above it there is room.
    height = 0.17 * (lines + 0.4) / rank_height
    named, last = [], -math.inf
    for runtime, rank_below, rank_above in changes.to_numpy():
        middle = (rank_below + rank_above) / 2
        if middle - last >= height:
            last = middle
            named.append(runtime)
            lower.annotate(
                _seconds(runtime),
                (runtime, middle),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=SMALL,
                bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
                zorder=1,
            )
    its_runtime = "no runtime" if math.isnan(now["runtime"]) else _seconds(now["runtime"])
    is_drawn = start <= now["runtime"] <= end
    for axes, name in ((upper, "boosted_score"), (lower, "rank")):
        everywhere = _frameless(axes).get_xaxis_transform()
        axes.vlines(named, 0, 1, transform=everywhere, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
        if is_drawn:
            axes.plot(now["runtime"], now[name], "o", color=VERMILLION, markersize=8)
    upper.set_title(
        f"{_short(team)} now: {its_runtime}{' (the dot)' if is_drawn else ''}, boosted score "
        f"{now['boosted_score']:.4f}, rank {now['rank']}",
        loc="left",
        parse_math=False,
    )
    return figure


# ---- Parts of figures ----------------------------------------------------------------------------------


def _figure(height: float, width: float = WIDTH) -> Figure:
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained")


def _frameless(axes: Axes) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _message(text: str) -> Figure:
    figure = _figure(1.0)
    figure.text(0.5, 0.5, text, ha="center", va="center", color=DARK)
    return figure


def _short(team: object) -> str:
    text = " ".join(str(team).split())
    return text if len(text) <= CHARACTERS_SHOWN else text[: CHARACTERS_SHOWN - 1] + "…"


def _added(boost: float) -> str:
    return f" +{boost:.1%}" if boost > 0 else ""


def _seconds(runtime: float) -> str:
    return f"{float(f'{runtime:.6g}'):,.15g} s"


def _first(shown: int, board: pd.DataFrame) -> str:
    return f"{len(board):,} teams" if shown == len(board) else f"The first {shown:,} of {len(board):,} teams"


def _rows(axes: Axes, ranks: "pd.Series[Any]", teams: "pd.Series[Any]") -> None:
    labels = [f"{_short(team)}  {rank}" for team, rank in zip(teams, ranks)]
    axes.set_yticks(range(len(labels)), labels=labels, parse_math=False)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _runtime_axis(axes: Axes, runtimes: "pd.Series[Any]") -> None:
    if runtimes.empty:
        axes.xaxis.set_major_locator(NullLocator())
        return
    if runtimes.max() >= LOGARITHMIC_FROM * runtimes.min():
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda seconds, _: _seconds(seconds))


def _eligible_region(axes: Axes, lowest: float, slowest: float) -> None:
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    right, bottom = max(right, slowest), min(bottom, lowest - 0.05 * (top - lowest))
    boosted, eligible = f"boosted: faster than {_seconds(slowest)}", f"eligible: score at least {lowest:.4f}"
    axes.fill_between([left, slowest], lowest, top, color=SKY, alpha=0.4, linewidth=0, label=boosted)
    axes.fill_between([slowest, right], lowest, top, color=SKY, alpha=0.15, linewidth=0, label=eligible)
    axes.set(xlim=(left, right), ylim=(bottom, top))


def _probabilities(table: Axes, prizes: pd.DataFrame) -> None:
    table.imshow(prizes, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), share in np.ndenumerate(prizes.to_numpy()):
        text = "" if share == 0 else "<1%" if share < 0.005 else f"{share:.0%}"
        colour = "white" if share > 0.6 else DARK
        table.text(column, row, text, ha="center", va="center", fontsize=SMALL, color=colour)
    table.set_xticks(range(prizes.shape[1]), labels=map(str, range(1, prizes.shape[1] + 1)))
    table.xaxis.tick_top()
    table.set_title("probability of place", fontsize=SMALL, loc="right")
    table.tick_params(length=0, labelleft=False, labelsize=SMALL)
    table.spines[:].set_visible(False)


# ---- Labels of points ----------------------------------------------------------------------------------


def _label_points(axes: Axes, points: Floats, labels: list[str], markers: Floats) -> None:
    """Write a label near each point, (n, 2), where the markers leave room for it; with a line unless close."""
    sizes = []
    for text in labels:
        probe = axes.text(0, 0, text, fontsize=SMALL, parse_math=False)
        sizes.append(probe.get_window_extent().size)
        probe.remove()
    inside = np.array(axes.get_window_extent().extents)
    places = _places(axes.transData.transform(points), np.array(sizes), markers, inside, PIXELS)
    line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": MARKER_RADIUS}
    for (x, y), text, place in zip(points.tolist(), labels, places.tolist()):
        if place == NOWHERE:
            continue
        axes.annotate(
            text,
            (x, y),
            xytext=tuple(OFFSETS[place]),
            textcoords="offset points",
            ha=("center", "left", "right")[int(SIDES[place])],
            va="center",
            fontsize=SMALL,
            color=DARK,
            parse_math=False,
            arrowprops=line if np.hypot(*OFFSETS[place]) > NEAR else None,
        )


def _places(
    points: Floats, sizes: Floats, markers: Floats, inside: Floats, scale: float
) -> npt.NDArray[np.int64]:
    """Which of the `OFFSETS` labels take, (n,), to cover no marker and no other label; or `NOWHERE`.

    In several orders, each takes the best place that is left.  Points and sizes are (n, 2) pixels, markers
    (n, 4) boxes: left, bottom, right, top.
    """
    ends = points[:, np.newaxis] + OFFSETS * scale
    corners = ends - sizes[:, np.newaxis] * np.stack([0.5 - 0.5 * SIDES, np.full(len(SIDES), 0.5)], axis=1)
    boxes = np.concatenate([corners, corners + sizes[:, np.newaxis]], axis=2)
    lines = np.concatenate([np.broadcast_to(points[:, np.newaxis], ends.shape), ends], axis=2)
    possible = np.all((boxes >= inside) == [True, True, False, False], axis=2)
    possible &= ~_overlap(boxes, markers).any(axis=2)
    close = CLOSE * scale * np.array([-1, -1, 1, 1])
    mistakable = _crosses(lines, markers).astype(int) + _overlap(boxes + close, markers)
    mistakable[np.arange(len(points)), :, np.arange(len(points))] = 0

    random = np.random.default_rng(0)
    best, least = np.full(len(points), NOWHERE), math.inf
    for _ in range(ORDERS_TRIED):
        places, cost = np.full(len(points), NOWHERE), 0.0
        for own in random.permutation(len(points)):
            others = np.flatnonzero(places != NOWHERE)
            taken, leaders = boxes[others, places[others]], lines[others, places[others]]
            free = possible[own] & ~_overlap(boxes[own], taken).any(axis=1)
            crossings = _crosses(lines[own], taken).sum(axis=1) + _crosses(leaders, boxes[own]).sum(axis=0)
            costs = LENGTHS + WORSE * mistakable[own].sum(axis=1) + CROSSED * crossings
            costs[~free] = math.inf
            if free.any():
                places[own] = costs.argmin()
            cost += min(costs.min(), UNLABELLED)
        if cost < least:
            best, least = places, cost
    return best


def _overlap(boxes: Floats, others: Floats) -> Bools:
    """Which boxes (..., 4) overlap which others (m, 4): (..., m)."""
    boxes = boxes[..., np.newaxis, :]
    overlap: Bools = np.all((boxes[..., :2] < others[:, 2:]) & (boxes[..., 2:] > others[:, :2]), axis=-1)
    return overlap


def _crosses(lines: Floats, boxes: Floats) -> Bools:
    """Which lines (..., 4) from one point to another touch which boxes (m, 4): (..., m)."""
    start, end = lines[..., np.newaxis, :2], lines[..., np.newaxis, 2:]
    step = np.where(np.abs(end - start) < 1e-9, 1e-9, end - start)
    # Where on the line, from 0 to 1, it enters and leaves the box.
    first, second = (boxes[:, :2] - start) / step, (boxes[:, 2:] - start) / step
    enters = np.minimum(first, second).max(axis=-1)
    leaves = np.maximum(first, second).min(axis=-1)
    touches: Bools = np.maximum(enters, 0) <= np.minimum(leaves, 1)
    return touches
