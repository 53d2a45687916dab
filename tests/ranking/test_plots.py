"""The plots show what they should, as read from the figures, and labels never cover each other."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from boost import boost
from podium.ranking import plots
from tests.support.boards import TABLE_2, TABLE_3

BOARD_2, BOARD_3 = boost(TABLE_2), boost(TABLE_3)


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


def assert_labels_are_apart(figure: Figure) -> None:
    """Check that the labels beside the plot are in the figure, and that none covers a dot or another label."""
    (axes,) = drawn(figure).axes
    boxes = sorted((Text.get_window_extent(text) for text in axes.texts), key=lambda box: box.y0)
    assert all(figure.bbox.padded(2).contains(*corner) for box in boxes for corner in (box.p0, box.p1))
    assert min(box.x0 for box in boxes) > axes.get_window_extent().x1
    assert all(upper.y0 > lower.y1 - 1 for lower, upper in itertools.pairwise(boxes))


# --- score against runtime --------------------------------------------------------------------------


def test_everybody_of_table_2_is_eligible():
    (axes,) = drawn(plots.score_and_runtime(BOARD_2)).axes
    assert points(axes, "eligible, boosted") == [(40, 0.58), (45, 0.595)]
    assert points(axes, "eligible") == [(50, 0.6), (48, 0.59)]
    assert points(axes, "boosted score") == [(40, 0.609), (45, 0.60615625)]
    assert labels(axes) == ["eligible, boosted", "eligible", "boosted score"]
    (bars,) = [artist for artist in axes.collections if isinstance(artist, LineCollection)]
    lines = [line.tolist() for line in bars.get_segments()]
    assert lines == [[[40, 0.58], [40, 0.609]], [[45, 0.595], [45, 0.60615625]]]
    assert axes.get_title("left") == "4 teams: 4 eligible, 2 boosted"


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


@pytest.mark.parametrize("column", ["score", "runtime"])
def test_teams_without_score_or_runtime_are_left_out(column):
    board = boost(TABLE_2.assign(**{column: TABLE_2[column].mask(TABLE_2["team"] == "Blue")}))
    (axes,) = drawn(plots.score_and_runtime(board)).axes
    assert [text.get_text().split()[0] for text in axes.texts] == ["Green", "Red", "Yellow"]


def test_the_axis_is_logarithmic_where_runtimes_differ_much():
    assert plots.score_and_runtime(BOARD_2).axes[0].get_xscale() == "linear"
    (axes,) = drawn(plots.score_and_runtime(BOARD_3)).axes
    assert axes.get_xscale() == "log"
    left, right = axes.get_xlim()
    shown = [tick.get_text() for tick in axes.get_xticklabels() if left <= tick.get_position()[0] <= right]
    assert shown == ["5 s", "10 s", "20 s", "50 s"]


def test_only_the_first_teams_are_drawn():
    board = crowd().dropna(subset="runtime")
    (axes,) = plots.score_and_runtime(board).axes
    assert axes.get_title("left").startswith(f"The first 30 of {len(board)} teams: ")
    assert sum(len(points(axes, label)) for label in labels(axes) if label != "boosted score") == 30


@pytest.mark.parametrize("teams", [1, 40])
def test_the_first_teams_have_labels_that_cover_nothing(teams):
    board = crowd(teams).dropna(subset="runtime")
    figure = plots.score_and_runtime(board)
    named = {text.get_text().split(" +")[0] for text in figure.axes[0].texts}
    assert named == {plots._short(team) for team in board.head(12)["team"]}
    assert_labels_are_apart(figure)


def test_names_of_teams_at_one_point_are_drawn_as_they_are(tmp_path):
    names = ["$\\alpha$", "a_b^c", "x" * 50, "two\nlines", *"defghijk"]
    scores = [*[0.6] * len(names), 0.3]
    board = boost(pd.DataFrame({"team": [*names, "far below"], "score": scores, "runtime": 40}))
    figure, listed = plots.score_and_runtime(board), plots.scores(board)
    listed.savefig(tmp_path / "names.png")
    assert_labels_are_apart(figure)
    labels = figure.axes[0].texts
    assert {text.get_text() for text in labels} == {f"{plots._short(name)} +5.0%" for name in names}
    ticks = listed.axes[0].get_yticklabels()
    assert {"$\\alpha$", "a_b^c", "x" * 19 + "…", "two lines"} < {text.get_text() for text in ticks}
    assert not any(text.get_parse_math() for text in [*labels, *ticks])


def test_scores_where_speed_is_not_rewarded():
    (axes,) = plots.scores(boost(TABLE_2.drop(columns="runtime"))).axes
    assert axes.collections[0].get_offsets()[:, 0].tolist() == [0.6, 0.595, 0.59, 0.58]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Red", "Blue", "Green", "Yellow"]
