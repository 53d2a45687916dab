"""The plots show what they should, as read from the figures, and labels never cover each other."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.axes._base import _AxesBase
from matplotlib.collections import Collection, LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from boost import boost
from podium.ranking import plots
from podium.ranking.estimate import break_even_runtimes, what_if
from tests.support.boards import TABLE_2, TABLE_3

BOARD_2, BOARD_3 = boost(TABLE_2), boost(TABLE_3)
ONE = boost(pd.DataFrame({"team": ["Solo"], "score": [0.6], "runtime": [40]}))


def crowd(teams: int = 40, seed: int = 1) -> pd.DataFrame:
    """A board like real ones, with close scores, different and missing runtimes, and all kinds of names."""
    random = np.random.default_rng(seed)
    board = pd.DataFrame(
        {
            "team": [
                f"Team of long name {n}" if n % 5 else f"${n}_x^$\nA name on two lines" for n in range(teams)
            ],
            "score": (0.62 - 0.06 * random.random(teams) ** 2).round(4),
            "runtime": (600 * np.exp(random.gamma(2, 0.3, teams))).round(1),
        }
    )
    board.loc[board.index[3::9], "runtime"] = np.nan
    return boost(board)


def made_up_intervals(board: pd.DataFrame) -> pd.DataFrame:
    """Intervals of ranks around those of the board."""
    ranks = board["rank"]
    return board[["rank", "team"]].assign(
        rank_low=(ranks - 5).clip(1), rank_high=(ranks + 7).clip(upper=len(board))
    )


def made_up_subpopulations(board: pd.DataFrame, number: int = 6) -> pd.DataFrame:
    """Scores of each team in some sub-populations."""
    scores = np.random.default_rng(0).uniform(0.5, 0.7, (len(board), number))
    table = pd.DataFrame(scores, columns=[f"$attribute$ = {n}" for n in range(number)])
    table.insert(0, "team", board["team"].to_numpy())
    return table


def what_if_figure(leaderboard: pd.DataFrame, team: str, runtimes: object) -> Figure:
    """The curve of a team's rank over these runtimes."""
    curve = what_if(leaderboard, team, runtimes)
    return plots.what_if_curve(boost(leaderboard), team, curve, break_even_runtimes(leaderboard, team))


def drawn(figure: Figure) -> Figure:
    """Draw the figure, so that everything has the place that it has in a file."""
    figure.draw_without_rendering()
    return figure


def labeled(axes: Axes, label: str) -> Any:
    """The only artist with this label."""
    (artist,) = [artist for artist in axes.get_children() if artist.get_label() == label]
    return artist


def points(axes: Axes, label: str) -> list[tuple[float, float]]:
    """The points of a scatter plot with this label."""
    collection = labeled(axes, label)
    assert isinstance(collection, PathCollection)
    return [tuple(point) for point in np.asarray(collection.get_offsets()).round(9).tolist()]


def labels(axes: Axes) -> list[str]:
    """The kinds of points in a plot."""
    return [str(artist.get_label()) for artist in axes.collections if isinstance(artist, PathCollection)]


def segments(artist: Collection) -> list[list[list[float]]]:
    """The lines of a collection, each as a list of points."""
    assert isinstance(artist, LineCollection)
    return [np.asarray(segment).round(9).tolist() for segment in artist.get_segments()]


def texts(figure: Figure) -> list[Text]:
    """All texts that can be seen.

    Labels of ticks beyond the end of an axis exist, but are not drawn.
    """
    beyond = {
        label
        for axes in figure.findobj(_AxesBase)
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()))
        for tick in axis.get_major_ticks()
        if not min(limits) <= tick.get_loc() <= max(limits)
        for label in (tick.label1, tick.label2)
    }
    artists = figure.findobj(Text)
    return [text for text in artists if text.get_visible() and text.get_text().strip() and text not in beyond]


def said(figure: Figure) -> str:
    """All visible texts of a figure."""
    return "\n".join(text.get_text() for text in texts(figure))


def assert_readable(figure: Figure) -> None:
    """Check that no text covers another one or leaves the figure."""
    drawn(figure)
    seen = texts(figure)
    boxes = [Text.get_window_extent(text) for text in seen]
    whole = figure.bbox.padded(2)
    for text, box in zip(seen, boxes):
        assert whole.contains(*box.p0), text
        assert whole.contains(*box.p1), text
    left, bottom, right, top = np.array([box.padded(-0.5).extents for box in boxes]).T
    sideways = (left[:, np.newaxis] <= right) & (left <= right[:, np.newaxis])
    overlaps = sideways & (bottom[:, np.newaxis] <= top) & (bottom <= top[:, np.newaxis])
    overlapping = [(seen[a].get_text(), seen[b].get_text()) for a, b in np.argwhere(np.triu(overlaps, 1))]
    assert overlapping == []


# --- score against runtime --------------------------------------------------------------------------


def test_everybody_of_table_2_is_eligible():
    (axes,) = drawn(plots.score_and_runtime(BOARD_2)).axes
    assert points(axes, "eligible, boosted") == [(40, 0.58), (45, 0.595)]
    assert points(axes, "eligible") == [(50, 0.6), (48, 0.59)]
    assert points(axes, "boosted score") == [(40, 0.609), (45, 0.60615625)]
    assert labels(axes) == ["eligible, boosted", "eligible", "boosted score"]
    (bars,) = [artist for artist in axes.collections if isinstance(artist, LineCollection)]
    assert segments(bars) == [[[40, 0.58], [40, 0.609]], [[45, 0.595], [45, 0.60615625]]]
    assert axes.get_title("left") == "4 teams: 4 eligible, 2 boosted"


def test_two_of_table_3_are_eligible():
    (axes,) = drawn(plots.score_and_runtime(BOARD_3)).axes
    assert points(axes, "eligible, boosted") == [(50.4, 0.6), (48, 0.59)]
    assert points(axes, "not eligible") == [(45, 0.55), (5, 0.25)]
    assert axes.get_title("left") == "4 teams: 2 eligible, 2 boosted"


@pytest.mark.parametrize(("ratio", "limit"), [(1.05, 1.2), (1.02, 1.5)])
def test_the_region(ratio, limit):
    board = boost(TABLE_2, eligibility_ratio=ratio, slowdown_limit=limit)
    figure = drawn(plots.score_and_runtime(board, eligibility_ratio=ratio, slowdown_limit=limit))
    (axes,) = figure.axes
    fastest = board.loc[board["eligible"], "runtime"].min()
    boosted = labeled(axes, f"boosted: faster than {limit * fastest:g} s").get_datalim(axes.transData)
    eligible = labeled(axes, f"eligible: score at least {0.6 / ratio:.4f}").get_datalim(axes.transData)
    assert (boosted.y0, eligible.y0) == pytest.approx((0.6 / ratio, 0.6 / ratio))
    assert (boosted.x1, eligible.x0) == pytest.approx((limit * fastest, limit * fastest))
    assert (boosted.x0, eligible.x1) == pytest.approx(axes.get_xlim())
    assert boosted.y1 == pytest.approx(axes.get_ylim()[1])
    # Every team lies in the area of its shade.
    for row in board.itertuples():
        assert (row.score >= boosted.y0 - 1e-12) == row.eligible
        assert (row.eligible and row.runtime < boosted.x1 - 1e-12) == (row.boost > 0)


def test_labels_name_the_teams_and_their_boost():
    (axes,) = plots.score_and_runtime(BOARD_2).axes
    at = {text.get_text(): tuple(text.xy) for text in axes.texts}
    assert at == {
        "Yellow +5.0%": (40, pytest.approx(0.609)),
        "Blue +1.9%": (45, pytest.approx(0.60615625)),
        "Red": (50, 0.6),
        "Green": (48, 0.59),
    }


@pytest.mark.parametrize("column", ["score", "runtime"])
def test_teams_without_score_or_runtime_are_left_out(column):
    board = boost(TABLE_2.assign(**{column: TABLE_2[column].mask(TABLE_2["team"] == "Blue")}))
    (axes,) = drawn(plots.score_and_runtime(board)).axes
    assert [text.get_text().split()[0] for text in axes.texts] == ["Green", "Red", "Yellow"]
    nobody = drawn(plots.score_and_runtime(boost(TABLE_2.assign(**{column: np.nan}))))
    assert said(nobody) == "No team has a score and a runtime."


def test_the_axis_is_logarithmic_where_runtimes_differ_much():
    assert plots.score_and_runtime(BOARD_2).axes[0].get_xscale() == "linear"
    (axes,) = drawn(plots.score_and_runtime(BOARD_3)).axes
    assert axes.get_xscale() == "log"
    left, right = axes.get_xlim()
    shown = [tick.get_text() for tick in axes.get_xticklabels() if left <= tick.get_position()[0] <= right]
    assert shown == ["5 s", "10 s", "20 s", "50 s"]


def test_only_the_first_teams_are_drawn():
    board = crowd()
    (axes,) = plots.score_and_runtime(board, teams=7).axes
    assert axes.get_title("left").startswith("The first 7 of 40 teams: ")
    assert sum(len(points(axes, label)) for label in labels(axes) if label != "boosted score") == 7


@pytest.mark.parametrize(("teams", "seed"), [(1, 0), pytest.param(30, 1, marks=pytest.mark.slow), (40, 2)])
def test_the_first_teams_have_labels_that_cover_nothing(teams, seed):
    board = crowd(teams, seed).dropna(subset="runtime")
    figure = plots.score_and_runtime(board, teams=teams)
    (axes,) = figure.axes
    first = board.head(12)
    assert {text.get_text().split(" +")[0] for text in axes.texts} == {
        plots._short(team) for team in first["team"]
    }
    assert_readable(figure)
    radius = 4 * figure.dpi / 72
    boxes = [Text.get_window_extent(text) for text in axes.texts]
    for scatter in (artist for artist in axes.collections if isinstance(artist, PathCollection)):
        for x, y in scatter.get_offset_transform().transform(scatter.get_offsets()):
            for box in boxes:
                assert not (box.x0 - radius < x < box.x1 + radius and box.y0 - radius < y < box.y1 + radius)


def test_labels_of_teams_at_one_point():
    board = boost(pd.DataFrame({"team": list("abcdefgh"), "score": 0.6, "runtime": 40}))
    figure = plots.score_and_runtime(board)
    assert len(figure.axes[0].texts) == 8
    assert_readable(figure)


def test_a_label_has_a_line_to_its_point_and_its_height_where_there_is_room():
    (axes,) = drawn(plots.score_and_runtime(BOARD_2)).axes
    for text in axes.texts:
        assert isinstance(text, Annotation)
        assert text.arrow_patch is not None
        height = axes.transAxes.transform((0, text.xyann[1]))[1]
        assert height == pytest.approx(axes.transData.transform(text.xy)[1], abs=1)


def test_labels_are_in_the_order_of_the_boosted_scores():
    board = crowd().dropna(subset="runtime")
    (axes,) = plots.score_and_runtime(board, teams=40).axes
    assert [text.xy[1] for text in axes.texts] == sorted(board["boosted_score"].head(12))
    heights = [text.xyann[1] for text in axes.texts]
    assert heights == sorted(heights)
    assert 0 <= heights[0] <= heights[-1] <= 1


# --- sub-populations --------------------------------------------------------------------------------


def test_sub_populations():
    table = pd.DataFrame(
        {
            "team": ["Yellow", "Blue", "Red", "Green"],
            "a = x": [0.5, 0.6, 0.7, 0.8],
            "a = y": [0.9, 0.8, 0.7, np.nan],
        }
    )
    (axes,) = drawn(plots.subpopulation_scores(table, BOARD_2)).axes
    x, y = np.transpose(points(axes, "a = x"))
    assert x.tolist() == [0.5, 0.6, 0.7, 0.8]
    assert np.rint(y).tolist() == [0, 1, 2, 3]
    assert [y for _, y in points(axes, "a = y")] == pytest.approx((y + 0.8).tolist())
    lines = segments(labeled(axes, "score"))
    assert [(line[0][0], line[0][1]) for line in lines] == [(0.58, -0.5), (0.595, 0.5), (0.6, 1.5), (0.59, 2.5)]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "Yellow  1",
        "Blue  2",
        "Red  3",
        "Green  4",
    ]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_sub_populations_are_in_the_order_of_the_board():
    board = crowd()
    table = made_up_subpopulations(board)
    (axes,) = plots.subpopulation_scores(table.sample(frac=1, random_state=0), board, teams=5).axes
    x = [x for x, _ in points(axes, "$attribute$ = 2")]
    assert x == pytest.approx(table["$attribute$ = 2"].head(5).tolist())


@pytest.mark.parametrize(("teams", "number"), [(1, 6), (10, 1), (40, 12)])
def test_sub_populations_are_readable(teams, number):
    board = crowd()
    assert_readable(plots.subpopulation_scores(made_up_subpopulations(board, number), board, teams=teams))


def test_42_sub_populations_look_different():
    board = BOARD_2
    (axes,) = plots.subpopulation_scores(made_up_subpopulations(board, 42), board).axes
    looks = {
        (to_hex(artist.get_facecolor()[0]), artist.get_paths()[0].vertices.tobytes())
        for artist in axes.collections
        if isinstance(artist, PathCollection)
    }
    assert len(looks) == 42


def test_a_metric_without_sub_populations():
    assert said(drawn(plots.subpopulation_scores(None, BOARD_2))) == "The metric has no sub-populations."


# --- intervals --------------------------------------------------------------------------------------


def test_rank_intervals():
    intervals = pd.DataFrame(
        {
            "rank": [1, 2, 3],
            "team": ["A", "B", "C"],
            "rank_low": [1, 1, 2],
            "rank_high": [2, 3, 3],
        }
    )
    (axes,) = drawn(plots.rank_intervals(intervals)).axes
    (lines,) = [artist for artist in axes.collections if isinstance(artist, LineCollection)]
    assert segments(lines) == [[[1, 0], [2, 0]], [[1, 1], [3, 1]], [[2, 2], [3, 2]]]
    (dots,) = [artist for artist in axes.collections if isinstance(artist, PathCollection)]
    assert np.asarray(dots.get_offsets()).tolist() == [[1, 0], [2, 1], [3, 2]]
    assert axes.get_xlim() == (0.5, 3.5)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["A  1", "B  2", "C  3"]


@pytest.mark.parametrize("teams", [1, 30, 40])
def test_rank_intervals_are_readable(teams):
    figure = plots.rank_intervals(made_up_intervals(crowd()), teams=teams)
    assert len(figure.axes[0].get_yticklabels()) == teams
    assert_readable(figure)


def test_one_team_is_sure_of_its_rank():
    axes = plots.rank_intervals(made_up_intervals(ONE)).axes[0]
    assert axes.get_xlim() == (0.5, 1.5)
    assert [tick for tick in axes.get_xticks() if 0.5 < tick < 1.5] == [1]


def test_a_ranking_without_intervals():
    assert said(drawn(plots.rank_intervals(None))).startswith(
        "There are no intervals: the board has no resamples"
    )


# --- before and after -------------------------------------------------------------------------------


def test_before_and_after():
    (axes,) = drawn(plots.before_and_after(BOARD_2)).axes
    lines = {tuple(line.get_ydata()): line for line in axes.lines}
    assert list(lines) == [(4, 1), (2, 2), (1, 3), (3, 4)]  # Yellow, Blue, Red, Green
    yellow, blue, red, green = lines.values()
    assert [line.get_color() for line in (yellow, blue, red, green)] == [
        plots.BLUE,
        plots.GRAY,
        plots.VERMILLION,
        plots.VERMILLION,
    ]
    at = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert at == {
        "Red  1": 1, "Blue  2": 2, "Green  3": 3, "Yellow  4": 4,
        "1  Yellow  +5.0%": 1, "2  Blue  +1.9%": 2, "3  Red": 3, "4  Green": 4,
    }  # fmt: skip
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_of_a_long_board_the_first_before_or_after_are_drawn():
    board = crowd(200)
    (axes,) = drawn(plots.before_and_after(board, teams=5)).axes
    expected = board[(board["rank"] <= 5) | (board["rank_before"] <= 5)]
    assert 5 < len(expected) == len(axes.lines)
    after = [text.get_text() for text in axes.texts if text.get_position()[0] > 1]
    assert [text.split()[0] for text in after] == [str(rank) for rank in expected["rank"]]
    assert sorted(line.get_ydata()[0] for line in axes.lines) == list(range(1, len(expected) + 1))


@pytest.mark.parametrize("teams", [1, 40])
def test_before_and_after_is_readable(teams):
    assert_readable(plots.before_and_after(crowd(teams), teams=teams))


# --- what if ----------------------------------------------------------------------------------------


def test_what_if():
    runtimes = np.arange(30, 53)
    upper, lower = drawn(what_if_figure(TABLE_2, "Red", runtimes)).axes
    curve = what_if(TABLE_2, "Red", runtimes)
    assert upper.lines[0].get_xdata().tolist() == curve["runtime"].tolist()
    assert upper.lines[0].get_ydata().tolist() == curve["boosted_score"].tolist()
    x, y = lower.lines[0].get_data()
    assert x.tolist() == pytest.approx([30, 45.6, 45.6, 46.358333, 46.358333, 52])
    assert y.tolist() == [1, 1, 2, 2, 3, 3]
    assert [line.get_data() for line in upper.lines[1:]] == [([50], [pytest.approx(0.6)])]
    assert [line.get_data() for line in lower.lines[1:]] == [([50], [3])]
    assert upper.get_title("left") == "Red now: 50 s, boosted score 0.6000, rank 3"


def test_the_steps_are_the_ranks_of_what_if():
    board = crowd()[["team", "score", "runtime"]]
    runtimes = np.linspace(400, 1200, 100)
    for team in board["team"][[0, 12]]:
        _, lower = what_if_figure(board, team, runtimes).axes
        x, y = lower.lines[0].get_data()
        stepped = y[np.searchsorted(x, runtimes, side="right").clip(max=len(x) - 1)]
        assert stepped.tolist() == what_if(board, team, runtimes)["rank"].tolist()


def test_runtimes_are_drawn_in_ascending_order():
    upper, _ = what_if_figure(TABLE_2, "Red", [52, 40, 30, 48]).axes
    assert upper.lines[0].get_xdata().tolist() == [30, 40, 48, 52]


def test_what_is_outside_of_the_curve_is_not_drawn():
    upper, lower = drawn(what_if_figure(TABLE_2, "Red", [46, 47])).axes
    assert lower.lines[0].get_xdata().tolist() == pytest.approx([46, 46.358333, 46.358333, 47])
    assert (len(upper.lines), len(lower.lines)) == (1, 1)
    assert "Red now: 50 s, boosted" in upper.get_title("left")


def test_what_if_without_runtime_or_rivals():
    board = TABLE_2.assign(runtime=[np.nan, 45, 48, 40])
    assert "Red now: no runtime, boosted score 0.6000" in said(drawn(what_if_figure(board, "Red", [40, 50])))
    figure = drawn(what_if_figure(ONE[["team", "score", "runtime"]], "Solo", [40, 41]))
    assert figure.axes[1].lines[0].get_ydata().tolist() == [1, 1]


@pytest.mark.parametrize("teams", [1, 40, 400])
def test_what_if_is_readable(teams):
    board = crowd(teams)
    team = board.loc[board["eligible"], "team"].iloc[-1]
    fastest = board.loc[board["eligible"], "runtime"].min()
    figure = what_if_figure(board[["team", "score", "runtime"]], team, fastest * np.linspace(0.9, 1.3, 9))
    assert_readable(figure)


def test_runtimes_are_plain_numbers():
    board = TABLE_2.assign(runtime=TABLE_2["runtime"] * 1e6)
    upper, _ = what_if_figure(board, "Red", [30e6, 52e6]).axes
    assert "Red now: 50,000,000 s" in upper.get_title("left")
    assert "40,000,000 s" in said(drawn(plots.score_and_runtime(boost(board))))


def test_teams_may_be_numbers():
    board = TABLE_2.assign(team=[7, 8, 9, 10])
    assert what_if_figure(board, 7, [30, 52]).axes[0].get_title("left").startswith("7 now: 50 s")


# --- all --------------------------------------------------------------------------------------------


def test_names_are_drawn_as_they_are(tmp_path):
    names = ["$\\alpha$", "a_b^c", "x" * 50, "two\nlines"]
    board = boost(pd.DataFrame({"team": names, "score": 0.6, "runtime": [40, 41, 42, 43]}))
    table = made_up_subpopulations(board)
    for figure in (
        plots.score_and_runtime(board),
        plots.before_and_after(board),
        plots.subpopulation_scores(table, board),
        plots.rank_intervals(made_up_intervals(board)),
    ):
        figure.savefig(tmp_path / "names.png")
        text = said(figure)
        for name in ("$\\alpha$", "a_b^c", "x" * 19 + "…", "two lines"):
            assert name in text
        assert not any(artist.get_parse_math() for artist in texts(figure) if "$" in artist.get_text())
    title = what_if_figure(board, "$\\alpha$", [40, 50]).axes[0]._left_title
    assert not title.get_parse_math()


@pytest.mark.slow
def test_plots_need_no_display_and_keep_no_figures():
    check = "import sys, podium.ranking.plots; print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", check], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
