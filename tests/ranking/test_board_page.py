"""The board's page has the right numbers, neighbors, labels, axes and sentences, on boards made by hand."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest

import boost
from podium.ranking import page, ties, wording
from podium.ranking.board import Ranking, Request, Run
from podium.ranking.robustness import Variants
from podium.ranking.rules import Heading, Rules
from podium.ranking.uncertainty import Uncertainty
from tests.support.boards import TABLE_2

NOTHING = pd.DataFrame(columns=["team", "submission", "reason"])


def run_of(
    leaderboard: pd.DataFrame, rules: Rules | None = None, higher_is_better=True, boosted=True, **more
) -> Run:
    """A run with a given board; `more` has further fields of `Ranking` and of `facts`."""
    rules = rules or Rules()
    facts = {
        "date": "2026-11-22T18:00:00+00:00",
        "signature": "metric:x|version:1",
        "decided_by": "Private",
        "items": 100,
        "item": "essay",
        "higher_is_better": higher_is_better,
        "higher_is_better_assumed": False,
        "boosted": boosted,
        "rule": "the best of each team's files by Private score",
        "counts": {
            "submissions": len(leaderboard), "rejected": 0, "teams": len(leaderboard), "teams_without_score": 0,
            "eligible": int(leaderboard["eligible"].sum()), "failed": 0,
        },
        "ties": [],
        "runtimes_drawn": {},
        "warnings": [],
        "rules": rules._asdict(),
        "inputs": {},
        "versions": {"podium": "2"},
    }  # fmt: skip
    facts |= {name: more.pop(name) for name in list(more) if name in facts}
    leaderboard = leaderboard.assign(submission="a.csv")
    submissions = leaderboard[["team", "submission", "score"]].assign(sha256="0" * 64, why="best", chosen=True)
    failed = more.pop("failed", pd.DataFrame(columns=["team", "model", "reason"]))
    rejected = more.pop("rejected", NOTHING)
    similar = pd.DataFrame(columns=["team", "other_team", "agreement"])
    ranking = Ranking(leaderboard, submissions.assign(rejected=None), rejected, failed, facts, similar, **more)
    return Run(Request("x", "s", "t"), rules, Heading(), ranking, facts)


def of_scores(scores: np.ndarray, rules: Rules, **columns) -> dict:
    """Intervals, neighbors and draws of shape (r, t), in the form in which the uncertainty has them."""
    teams = scores.shape[1]
    order = np.argsort(-scores, axis=1)
    ranks = np.argsort(order, axis=1) + 1
    names = [f"T{number}" for number in range(1, teams + 1)]
    intervals = pd.DataFrame(
        {
            "rank": range(1, teams + 1),
            "team": names,
            "score": scores.mean(axis=0),
            "boosted_score": scores.mean(axis=0),
        }
    )
    for name in ("score", "boosted_score"):
        intervals[f"{name}_low"], intervals[f"{name}_high"] = scores.min(axis=0), scores.max(axis=0)
    for name in ("rank", "all_ranks"):
        intervals[f"{name}_low"], intervals[f"{name}_high"] = ranks.min(axis=0), ranks.max(axis=0)
    shares = {f"prize_{place}": (ranks == place).mean(axis=0) for place in range(1, rules.prizes + 1)}
    intervals = pd.concat([intervals, pd.DataFrame(shares)], axis=1)
    intervals["note"] = ""
    neighbors = pd.DataFrame(
        {
            "rank": range(1, teams), "team": names[:-1], "next_team": names[1:],
            "difference": -np.diff(scores.mean(axis=0)), "low": -0.01, "high": 0.02, "p": 0.25,
            "probability_ahead": 0.75, "note": "",
        }
    )  # fmt: skip
    return {
        "intervals": intervals.assign(**columns),
        "neighbors": neighbors,
        "uncertainty": Uncertainty(ranks, ranks, scores, scores),
    }


def board_of(number: int, **columns) -> pd.DataFrame:
    """A board of teams whose scores fall evenly."""
    names = [f"T{each}" for each in range(1, number + 1)]
    return boost.boost(pd.DataFrame({"team": names, "score": np.linspace(0.6, 0.3, number)} | columns))


# --- the page of a team -------------------------------------------------------------------------------------


def test_no_model_seems_to_take_no_time():
    html = page.of_board(run_of(boost.boost(TABLE_2.assign(runtime=[0.0388, 4.5, 1181.87, None]))))
    shown = re.findall(r"<td>([\d,.]+|–)</td></tr>", html)
    assert sorted(shown) == sorted(["0.039", "4.50", "1,181.9", "–"])


def test_runtimes_that_would_have_changed_the_rank_go_with_the_ranks():
    """In Table 2, Red is third at 50 s. Up to 45.6 s it would be first, and up to 46.3 s second."""
    run = run_of(boost.boost(TABLE_2))
    (row,) = np.flatnonzero(run.ranking.leaderboard["team"] == "Red")
    told = page._of_row(run, "Red", int(row))["break_even"]
    assert [rank for _, rank in told] == [2, 1]
    for runtime, rank in told:
        for little, is_there in ((-0.01, True), (0.01, False)):
            again = boost.boost(TABLE_2.assign(runtime=[runtime + little, 45, 48, 40])).set_index("team")
            assert (again.loc["Red", "rank"] <= rank) == is_there
    html = page.of_team(run, "Red")
    (table,) = re.findall(r"with a runtime of at most</th></tr></thead>(.*?)</table>", html, re.DOTALL)
    rows = [f'<tr><th scope="row">{rank}</th><td>{runtime:,.1f} s</td></tr>' for runtime, rank in told]
    assert table.split("\n") == ["", *rows, ""]


def test_why_a_team_is_not_one_rank_better():
    """In Table 2, Blue is second and Red third by speed, although Red has the better score."""
    rules = Rules()
    names = ["T3", "T2", "T4", "T1"]
    draws = np.array([[0.61, 0.6, 0.59, 0.58], [0.6, 0.61, 0.59, 0.58]])
    run = run_of(boost.boost(TABLE_2.assign(team=names)), rules, **of_scores(draws, rules))
    assert wording.why_not_better(run, 0) == []
    assert wording.why_not_better(run, 2) == [
        "T2 is ahead by 0.00616 in boosted score: 0.60616 against 0.60000.",
        "Before rewards T3 has the higher score, 0.60000 against 0.59500. So speed decides: T2 got a reward of "
        "1.9% for a runtime of 45.0 s, and T3 got none for a runtime of 50.0 s.",
        "With other essays of the same kind, T2 would be ahead in about 75 of 100 cases.",
        "The difference of the scores before rewards may be chance (p = 0.250).",
        "The ranks follow the boosted scores, whether or not the difference is certain.",
    ]
    assert "<h2>Why not rank 2?</h2><p>T2 is ahead by" in page.of_team(run, "T3")
    assert "Why not rank" not in page.of_team(run, "T1")
    neighbors = run.ranking.neighbors.assign(p=0.01)
    plain = run_of(board_of(3), boosted=False, ties=["", ties.BY_NAME], neighbors=neighbors)
    assert wording.why_not_better(plain, 1)[0] == "T1 is ahead by 0.15000 in score: 0.60000 against 0.45000."
    assert "The difference of the scores is hardly chance (p = 0.010)." in wording.why_not_better(plain, 1)
    assert wording.why_not_better(plain, 1)[-1].startswith("The ranks follow the scores, ")
    at_the_limit = run_of(board_of(3), boosted=False, neighbors=run.ranking.neighbors.assign(p=0.05))
    assert "The difference of the scores is hardly chance (p = 0.050)." in wording.why_not_better(
        at_the_limit, 1
    )
    assert wording.why_not_better(plain, 2)[0] == (
        "T2 has the same score, 0.30000, and the order of the names puts it ahead."
    )


def test_a_team_without_a_reward_is_told_why():
    run = run_of(board_of(3, runtime=[40, None, 40]))
    unknown, too_far = (" ".join(wording.why_not_better(run, row)) for row in (1, 2))
    assert "T2 was not eligible, because its runtime is not known." in unknown
    assert "T2 was not eligible, because its runtime is not known, " in too_far
    assert "T3 was not eligible, because its score is too far from the best one." in too_far


def test_a_team_far_behind_is_told_the_nearest_better_ranks_and_the_best_one():
    board = boost.boost(board_of(60)[["team"]].assign(score=0.6, runtime=np.linspace(100, 119, 60)))
    html = page.of_team(run_of(board), "T60")
    ranks = re.findall(r'<th scope="row">(\d+)</th><td>[\d.]+ s', html)
    assert ranks == ["59", "58", "57", "56", "55", "54", "53", "52", "51", "1"]
    assert "the nearest 9 of 59 better ranks, and the best one" in html


@pytest.mark.parametrize(
    ("team", "expected"),
    [
        (5, [2, 3, 4, 5, 6, 7, 8]),
        (1, [1, 2, 3, 4]),
        (2, [1, 2, 3, 4, 5]),
        (9, [6, 7, 8, 9]),
        (8, [5, 6, 7, 8, 9]),
    ],
)
def test_three_neighbors_on_either_side(team, expected):
    html = page.of_team(run_of(board_of(9), boosted=False), f"T{team}")
    neighbors = html.partition("Neighbors")[2].partition("<h2>Files")[0]
    assert re.findall(r'title="(T\d)"', neighbors) == [f"T{number}" for number in expected]


def test_the_worst_sub_population_is_first_also_where_lower_is_better():
    groups = pd.DataFrame({"team": ["T1", "T2"], "a = 1": [0.2, 0.3], "a = 2": [0.9, 0.8]})
    board = board_of(2)
    for higher, first in ((True, "a = 1"), (False, "a = 2")):
        html = page.of_team(run_of(board, None, higher, False, subpopulations=groups), "T1")
        assert html.index(first) < html.index({"a = 1": "a = 2", "a = 2": "a = 1"}[first])


# --- plots --------------------------------------------------------------------------------------------------


def test_the_shake_up_names_the_first_three_and_those_that_moved_most():
    board = board_of(30)
    public = list(range(1, 31))
    public[9], public[24] = 25, 10  # T10 and T25 changed places
    public[4], public[19] = 20, 5  # and T5 and T20
    public[6] = 9
    points = page._shake(board.assign(public_rank=public))
    assert [team for _, _, team, *_ in points if team] == ["T1", "T2", "T3", "T5", "T7", "T10", "T20", "T25"]
    assert {each[-2:] for each in points if each[2] == "T10"} == {(25, 10)}
    x, y = {team: (x, y) for x, y, team, *_ in points}["T10"]
    assert (x, y) == (24 / 29, 9 / 29)


def test_labels_of_the_shake_up_are_not_written_over_each_other():
    labels = [("T" * 18, 0.1, 0.5), ("T" * 18, 0.11, 0.5), ("T" * 18, 0.9, 0.51), ("T" * 18, 0.12, 0.52)]
    shifts = page._apart(labels)
    assert shifts[0] == shifts[2] - page.LINE * round(shifts[2] / page.LINE) == 0
    middles = [y * page.PHONE_HEIGHT + shift for (_, _, y), shift in zip(labels, shifts)]
    assert min(abs(a - b) for a, b in itertools.combinations(sorted(middles), 2)) >= page.LINE - 1e-9
    assert page._apart([("a", 0.1, 0.5), ("b", 0.9, 0.5)]) == [0, 0]


@pytest.mark.parametrize("teams", [1, 2, 8, 12, 13, 40, 41, 200, 2000, 10_000])
def test_axes_have_ticks_and_nothing_is_beyond_them(teams):
    ticks = page._ticks(teams)
    ranks, positions = [rank for rank, _ in ticks], [position for _, position in ticks]
    assert ranks[0] == 1
    assert ranks[-1] == teams
    assert len(ticks) >= min(teams, 4)
    assert len(set(ranks)) == len(ranks)
    assert positions == sorted(positions)
    # On a phone, the numbers at two ticks need a fourteenth of the axis.
    assert teams == 1 or np.diff(positions).min() >= 0.07
    assert teams <= page.LINEAR_UP_TO or all(3 * a <= b for a, b in itertools.pairwise(ranks))
    assert positions == pytest.approx(page._axis(ranks, teams).tolist())
    everything = page._axis(np.arange(1, teams + 1), teams)
    assert 0 <= everything.min() <= everything.max() <= 1
    assert everything[0] == 0
    assert teams == 1 or everything[-1] == 1


@pytest.mark.parametrize("teams", [8, 60])
def test_what_is_drawn_is_inside_the_picture(teams):
    rules = Rules()
    draws = np.linspace(0.6, 0.3, teams) + 0.1 * np.random.default_rng(0).standard_normal((50, teams))
    public = np.random.default_rng(1).permutation(teams) + 1
    run = run_of(board_of(teams).assign(public_rank=public), rules, boosted=False, **of_scores(draws, rules))
    html = page.of_board(run)
    pictures = re.findall(r"<svg [^>]*>(.*?)</svg>", html, re.DOTALL)
    assert len(pictures) == 1 + min(teams, page.TEAMS_DRAWN) + 1  # the axis, a row for each team, the shake-up
    for content in pictures:
        assert len(re.findall(r"<text|<line", content)) >= 4
        values = [float(value) for value in re.findall(r' [xyc]+[12]?="([-\d.]+)%"', content)]
        assert len(values) >= 4
        assert 0 <= min(values) <= max(values) <= 100
    words = re.findall(r'aria-label="rank (\d+) on the board, ranks (\d+) to (\d+) on 95% of the draws"', html)
    assert len(words) == min(teams, page.TEAMS_DRAWN)
    assert all(1 <= int(low) <= int(high) <= teams for _, low, high in words)


def test_dots_are_shares_of_draws_and_ties_are_shared():
    ranks = np.array([[1, 1, 3], [1, 2, 3]])
    last = np.array([[2, 2, 3], [1, 2, 3]])
    shares = [page._shares_of_ranks(ranks[:, team], last[:, team], 3).tolist() for team in range(3)]
    assert shares == [[0.75, 0.25, 0], [0.25, 0.75, 0], [0, 0, 1]]


def test_the_ranks_on_95_of_100_draws_leave_out_the_rarest_ones():
    # T1 is first on 2 of 100 draws, then second on 95, and third on 3.  T2 and T3 are where T1 is not.
    ranks = np.array([[1, 2, 3]] * 2 + [[2, 1, 3]] * 95 + [[3, 1, 2]] * 3)
    sure = Uncertainty(ranks, ranks, -ranks.astype(float), -ranks.astype(float))
    words = [row[3] for row in page._blobs(run_of(board_of(3), boosted=False, uncertainty=sure))]
    assert words == [
        "rank 1 on the board, ranks 2 to 3 on 95% of the draws",
        "rank 2 on the board, ranks 1 to 1 on 95% of the draws",
        "rank 3 on the board, ranks 2 to 3 on 95% of the draws",
    ]


def test_the_podium_plot_says_how_many_teams_it_leaves_out():
    teams = page.TEAMS_DRAWN + 3
    rules = Rules(prizes=teams)
    draws = np.linspace(0.6, 0.3, teams) + np.random.default_rng(0).standard_normal((200, teams))
    run = run_of(board_of(teams), rules, boosted=False, **of_scores(draws, rules))
    podium = page._podium(run.ranking.intervals)
    assert (len(podium["rows"]), podium["more"]) == (page.TEAMS_DRAWN, 3)
    assert "and 3 more." in page.of_board(run)


def test_both_teams_of_a_tie_are_marked():
    run = run_of(
        board_of(4).assign(boosted_score=[0.6, 0.5, 0.5, 0.4]), boosted=False, ties=["", ties.BY_NAME, ""]
    )
    assert [row["tied"] for row in page._rows(run)] == [False, True, True, False]


def test_bold_in_the_map_are_teams_that_the_sets_of_all_ranks_separate_and_nothing_else():
    rules = Rules()
    draws = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    sets = {"all_ranks_low": [1, 1, 3], "all_ranks_high": [2, 2, 3]}
    run = run_of(board_of(3), rules, boosted=False, **of_scores(draws, rules, **sets))
    ahead = page._ahead(run)
    # T1 is ahead of T2 on every draw, and yet their sets overlap.
    assert list(map(list, ahead["cells"])) == [
        [(0.5, False), (1.0, False), (1.0, True)],
        [(0.0, False), (0.5, False), (1.0, True)],
        [(0.0, True), (0.0, True), (0.5, False)],
    ]
    map_ = page.of_board(run).partition("Who is ahead of whom")[2].partition("</table>")[0]
    assert len(re.findall(r"<td [^>]*><strong>\d+</strong></td>", map_)) == 4


def test_sub_populations_are_darker_the_worse_they_are_whichever_way_is_better():
    table = pd.DataFrame({"team": ["T1"], "a = 1": [0.2], "a = 2": [0.9]})
    assert page._groups(table, True)["rows"] == [("T1", [[0.2, 1.0], [0.9, 0.0]])]
    assert page._groups(table, False)["rows"] == [("T1", [[0.2, 0.0], [0.9, 1.0]])]


# --- the board ----------------------------------------------------------------------------------------------


def test_moves_anchors_the_line_below_the_last_prize_and_the_unit_of_runtimes():
    html = page.of_board(run_of(boost.boost(TABLE_2), Rules(prizes=2)))
    rows = re.findall(r'<tr id="(team-\w+)" class="(.*?)">(.*?)</tr>', html, re.DOTALL)
    assert [anchor for anchor, _, _ in rows] == ["team-Yellow", "team-Blue", "team-Red", "team-Green"]
    assert [name.strip() for _, name, _ in rows] == ["", "last-prize", "", ""]
    moves = [
        re.findall(r"([▲▼=])</span><span class=\"hidden\">(\w+) ?</span>(\d?)", cells) for _, _, cells in rows
    ]
    assert moves == [[("▲", "up", "3")], [("=", "no", "")], [("▼", "down", "2")], [("▼", "down", "1")]]
    assert '<th scope="col">runtime (s)</th>' in html
    assert "The line below rank 2 marks the last prize." in html
    for word in ("score", "rank", "eligible", "boosted", "runtime", "moved"):
        assert f"<dt>{word}</dt>" in html
    assert page.anchor_of("a b/ü<") == "team-a%20b%2F%C3%BC%3C"


def test_an_interval_that_is_refused_is_a_dash_with_the_reason():
    rules = Rules()
    tables = of_scores(np.array([[0.6, 0.5], [0.55, 0.52]]), rules)
    tables["intervals"][["boosted_score_low", "boosted_score_high"]] = np.nan
    tables["intervals"]["note"] = "no interval: only one item"
    html = page.of_board(run_of(board_of(2), rules, boosted=False, **tables))
    assert "–<small>no interval: only one item</small>" in html
    assert "nan" not in html.partition("<script>")[0]


@pytest.mark.parametrize(("teams", "prizes", "pairs"), [(150, 3, "100"), (150, 120, "120"), (101, 3, None)])
def test_the_page_says_where_p_values_end(teams, prizes, pairs):
    rules = Rules(prizes=prizes)
    draws = np.linspace(0.6, 0.3, teams) + 0.1 * np.random.default_rng(0).standard_normal((20, teams))
    html = page.of_board(run_of(board_of(teams), rules, boosted=False, **of_scores(draws, rules)))
    assert ("Only the first" in html) == (pairs is not None)
    assert pairs is None or f"Only the first {pairs} pairs of neighbors have a p" in html


def test_a_metric_without_statistics_has_no_bootstrap_and_no_empty_section():
    run = run_of(board_of(3), boosted=False)
    assert "<dt>bootstrap</dt><dd>none, so the page has no intervals</dd>" in page.of_board(run)
    html = page.of_team(run, "T2")
    assert "Why not rank 1?" in html
    assert "What would have changed the rank" not in html


def test_one_team_is_not_called_teams():
    html = page.of_board(run_of(board_of(1), boosted=False, items=1))
    assert (
        "<strong>1</strong>team</div><div><strong>1</strong>submission</div><div><strong>0</strong>rejected<"
        in html
    )
    assert "<strong>1</strong>essay decides</div>" in html


def test_the_direction_and_whether_it_is_assumed():
    board = board_of(2)
    assert "Lower is better." in page.of_board(run_of(board, None, False, False))
    html = page.of_board(run_of(board, None, True, False, higher_is_better_assumed=True))
    assert "Higher is better (assumed: the metric does not say)." in html


def test_how_far_a_winner_is_ahead_is_above_zero_whichever_way_is_better():
    rules = Rules(prizes=1)
    lower = board_of(2).iloc[::-1].assign(rank=[1, 2], rank_before=[1, 2])
    tables = of_scores(np.array([[0.3, 0.6], [0.31, 0.6]]), rules)
    tables["neighbors"]["difference"] = -0.295
    run = run_of(lower, rules, False, False, **tables)
    (place,) = page._prize_places(run)
    assert [place["next"][name] for name in ("difference", "low", "high")] == [0.295, -0.02, 0.01]
    html = page.of_board(run).partition("The prizes")[2].partition("</table>")[0]
    assert "<td>0.29500</td><td>-0.0200 to 0.0100</td>" in html


def test_who_is_not_on_the_board_and_why():
    failed = pd.DataFrame({"team": ["Fay", "T1"], "model": ["run.py", "x"], "reason": ["exit code 1", "y"]})
    rejected = pd.DataFrame({"team": ["Guy"], "submission": ["g.csv"], "reason": ["<row_id> twice"]})
    run = run_of(board_of(2), boosted=False, failed=failed, rejected=rejected)
    assert page._absent(run) == [
        ("Fay", "model run.py", "failed: exit code 1"),
        ("Guy", "file g.csv", "rejected: <row_id> twice"),
    ]
    assert "<bdi>rejected: &lt;row_id&gt; twice</bdi>" in page.of_board(run)


def test_prizes_from_one_percent_on():
    rules = Rules(prizes=2)
    tables = of_scores(np.array([[0.6, 0.5, 0.4, 0.3]]), rules)
    tables["intervals"][["prize_1", "prize_2"]] = [[0.9, 0.1], [0.095, 0.85], [0.005, 0.046], [0.0, 0.004]]
    podium = page._podium(tables["intervals"])
    assert [team for team, _, _ in podium["rows"]] == ["T1", "T2", "T3"]
    html = page.of_board(run_of(board_of(4), rules, boosted=False, **tables))
    assert re.search(r"T3</bdi></a></th><td[^>]*>&lt;1%</td><td[^>]*>4.6%</td>", html)


def test_a_prize_that_speed_decides_has_the_share_of_draws_in_which_the_team_is_eligible():
    rules = Rules(prizes=1)
    board = boost.boost(TABLE_2.assign(team=["T3", "T2", "T4", "T1"]))
    tables = of_scores(np.array([[0.61, 0.6, 0.59, 0.58], [0.6, 0.61, 0.59, 0.58]]), rules)
    tables["intervals"]["eligible_share"] = [0.661, 1.0, 1.0, 1.0]
    html = page.of_board(run_of(board, rules, **tables))
    assert (
        "by its speed: by score alone, place 1 would go to <bdi>T3</bdi>. Eligible on 66.1% of the draws"
        in html
    )
    assert "It is eligible for the reward on 66.1% of the draws." in html


def test_variants_are_one_table_with_the_ranks_of_the_first_teams():
    ranks = pd.DataFrame(
        {"rank": [1, 2], "team": ["T1", "T2"], "held": [0.5, 0.5], "held_by_runtimes": [0.999, 1.0],
         "max boost 0": [1, 2], "temperature 0": [2, 1]}
    )  # fmt: skip
    table = pd.DataFrame(
        {"variant": ["max boost 0", "temperature 0"], "mean_score": [0.5, 0.4], "kendall_tau": [1.0, -1.0],
         "first": ["T1", "T2"], "same": [1.0, 0.0]}
    )  # fmt: skip
    variants = Variants(table, ranks, {"draws": 100, "kendall_tau": 0.99, "same": 0.9995})
    run = run_of(
        board_of(2), boosted=False, variants=variants.table, variant_ranks=variants.ranks,
        runtimes_drawn=variants.runtimes,
    )  # fmt: skip
    html = page.of_board(run).partition("Other decisions, other boards?")[2]
    assert html.partition("<h2>")[0].count("<table") == 1
    assert "Over 100 draws, with the same scores, &gt;99.9% of the ranks stay the same" in html
    assert re.search(r"rank kept in</th>(<td></td>){3}<td>50%</td><td>50%</td>", html)
    assert re.search(r"with other runtimes</th>(<td></td>){3}<td>99%</td><td>100%</td>", html)
    assert wording.summary(run)[-1] == (
        "Under 1 of 2 other decisions about the metric and the rewards, T1 would also be first."
    )


def test_every_table_has_a_caption_and_headings_and_every_plot_has_words():
    rules = Rules()
    draws = np.linspace(0.6, 0.3, 8) + 0.1 * np.random.default_rng(0).standard_normal((50, 8))
    groups = pd.DataFrame({"team": [f"T{number}" for number in range(1, 9)], "a = 1": 0.2})
    failed = pd.DataFrame({"team": ["Fay"], "model": ["run.py"], "reason": ["exit code 1"]})
    run = run_of(
        board_of(8).assign(public_rank=range(1, 9)), rules, boosted=False, subpopulations=groups, failed=failed,
        **of_scores(draws, rules),
    )  # fmt: skip
    for html in (page.of_board(run), page.of_team(run, "T3")):
        tables = re.findall(r'<div class="wide[^>]*>(<table.*?)</table></div>', html, re.DOTALL)
        assert len(tables) == html.count("<table") >= 3
        for table in tables:
            assert re.search(r'<caption class="hidden">\w.*</caption>', table)
            assert re.search(r"<thead>.*</thead>", table)
            headings = re.findall(r"<th\b[^>]*>", table)
            assert len(headings) >= 2
            assert all('scope="col"' in each or re.search('scope="?row', each) for each in headings)
        assert all("aria-" in svg for svg in re.findall(r"<svg[^>]*>", html))
        assert html.count("<main id=") == html.count("<h1>") == html.count('<a class="skip" href="#main">') == 1


# --- in plain words -----------------------------------------------------------------------------------------


def test_a_winner_that_is_certain():
    rules = Rules()
    draws = np.array([[0.6, 0.5, 0.4, 0.3], [0.61, 0.5, 0.41, 0.3]])
    run = run_of(board_of(4), rules, boosted=False, **of_scores(draws, rules))
    assert wording.summary(run) == [
        "T1 is first with a score of 0.60000, and T2 is second with 0.50000.",
        "100 essays of the Private part decide.",
        "With other essays of the same kind, T1 would win in nearly all cases.",
        "At the usual level of 95% it is certain that T1 is truly the best.",
        "The last prize, place 3, goes to T3; T4 follows 0.10500 behind in score and would win a prize in "
        "hardly any case.",
    ]


def test_a_winner_by_speed_that_is_likely_but_not_certain_is_reconciled():
    rules = Rules(prizes=1)
    board = boost.boost(TABLE_2.assign(team=["T3", "T2", "T4", "T1"]))
    draws = np.array([[0.61, 0.6, 0.59, 0.58]] * 9 + [[0.6, 0.61, 0.59, 0.58]])
    run = run_of(board, rules, runtimes_drawn={"draws": 100, "same": 0.9}, **of_scores(draws, rules))
    assert wording.summary(run) == [
        "T1 is first with a boosted score of 0.60900, and T2 is second with 0.60616.",
        "100 essays of the Private part decide.",
        "T1 leads because of its speed. By score alone it would have rank 4, and T3 would be first.",
        "With other essays of the same kind and other runs of the models, T1 would win in about 90 of 100 "
        "cases, T2 in about 10 of 100 cases.",
        "It is not certain that T1 is truly the best: at the usual level of 95%, T2 cannot be excluded. Both "
        "are true: T1 is the most likely winner, and the evidence does not exclude the other one.",
    ]


def test_names_from_right_to_left_are_isolated_and_long_ones_are_cut():
    board = board_of(2).assign(team=["עט אדום 12", "x" * 200])
    first, *_ = wording.summary(run_of(board, boosted=False))
    assert first == (
        f"\u2068עט אדום 12\u2069 is first with a score of 0.60000, and {'x' * 59}… is second with 0.30000."
    )


def test_a_tie_for_the_first_place_and_a_single_team():
    tied = run_of(board_of(2), boosted=False, ties=[ties.BY_TIME])
    assert wording.summary(tied)[0] == (
        "T1 and T2 have the same score, 0.60000; the earlier submission puts T1 first."
    )
    assert wording.summary(run_of(board_of(1), boosted=False)) == [
        "T1 is the only team on the board.",
        "100 essays of the Private part decide.",
    ]
