"""The board's page has the right numbers, neighbors, labels, axes and sentences, on boards made by hand."""

import dataclasses
import itertools
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import boost
from podium.ranking import drawing, jury, page, rewards
from podium.ranking.cautions import better_groups_that_lower, cautions
from podium.ranking.final import FinalBoard
from podium.ranking.rules import Options, Rules
from podium.ranking.uncertainty import Certainty
from podium.statistics import Doubt, Reason
from tests.support.boards import TABLE_2


def run_of(
    leaderboard: pd.DataFrame, rules: Rules | None = None, higher_is_better=True, boosted=True, **more
) -> FinalBoard:
    """A final board with given rows; `more` has further fields and facts."""
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
        "silence": "",
        "halves": False,
        "noise_known": True,
        "warnings": [],
        "rules": dataclasses.asdict(rules),
        "inputs": {},
        "versions": {"podium": "2"},
    }  # fmt: skip
    facts |= {name: more.pop(name) for name in list(more) if name in facts}
    leaderboard = leaderboard.assign(submission="a.csv")
    submissions = leaderboard[["team", "submission", "score"]].assign(
        sha256="0" * 64, fingerprint="0" * 64, why="best", chosen=True
    )
    failed = more.pop("failed", pd.DataFrame(columns=["team", "model", "reason"]))
    similar = pd.DataFrame(columns=["team", "other_team", "agreement"])
    options = Options(out="final", **dataclasses.asdict(rules))
    submissions = pd.concat([submissions.assign(rejected=None), more.pop("rejected", None)])
    prizes = jury.prizes_of(leaderboard, jury.NOTHING_DECIDED, rules.prizes)
    leaderboard = jury.with_prizes(leaderboard, prizes)
    out = Path("final")
    return FinalBoard(options, out, leaderboard, submissions, failed, similar, facts, prizes, **more)


def chance(teams: int, prizes: int = 3, **columns) -> Certainty:
    """What chance may have done to a board of so many teams; further columns replace those of the intervals."""
    names = [f"T{number}" for number in range(1, teams + 1)]
    shares = np.linspace(0.7, 0, teams)
    intervals = pd.DataFrame({"rank": range(1, teams + 1), "team": names, "first_again": shares})
    intervals = intervals.assign(
        prize_again=shares, may_be_best=shares > 0.3, may_win_prize=shares > 0.3, note=""
    )
    intervals = intervals.assign(boosted_score_low=0.2, boosted_score_high=0.7).assign(**columns)
    borders = min(prizes, teams - 1)
    differences = pd.DataFrame({"rank": range(1, borders + 1), "difference": 0.1, "low": -0.01, "high": 0.02})
    differences = differences.assign(detectable=0.0437, detectable_note="", note="")
    return Certainty(intervals, differences, [None] * teams)


def board_of(number: int, **columns) -> pd.DataFrame:
    """A board of teams whose scores fall evenly."""
    names = [f"T{each}" for each in range(1, number + 1)]
    return boost.boost(pd.DataFrame({"team": names, "score": np.linspace(0.6, 0.3, number)} | columns))


# --- the page of a team -------------------------------------------------------------------------------------


def test_runtimes_that_would_have_changed_the_rank_go_with_the_ranks():
    """In Table 2, Red is third at 50 s. Up to 45.6 s it would be first, and up to 46.3 s second."""
    run = run_of(boost.boost(TABLE_2))
    (row,) = np.flatnonzero(run.leaderboard["team"] == "Red")
    told = page._of_row(run, "Red", int(row))["break_even"]
    assert [rank for _, rank in told] == [2, 1]
    for runtime, rank in told:
        for little, is_there in ((-0.01, True), (0.01, False)):
            again = boost.boost(TABLE_2.assign(runtime=[runtime + little, 45, 48, 40])).set_index("team")
            assert (again.loc["Red", "rank"] <= rank) == is_there
    html = page.of_team(run, "Red")
    (table,) = re.findall(r"with a runtime of at most</th></tr></thead>(.*?)</table>", html, re.DOTALL)
    rows = re.findall(r'<th scope="row">(\d+)</th><td[^>]*>([\d,.]+) s</td>', table)
    assert rows == [(str(rank), f"{runtime:,.1f}") for runtime, rank in told]


def test_a_team_without_a_reward_is_told_why():
    run = run_of(board_of(3, runtime=[40, None, 40]))
    unknown, too_far = (" ".join(run.sentences.why_not_better(row)) for row in (1, 2))
    assert "T2 was not eligible, because its runtime is not known." in unknown
    assert "T2 was not eligible, because its runtime is not known, " in too_far
    assert "T3 was not eligible, because its score is too far from the best one." in too_far


def test_a_team_far_behind_is_told_the_nearest_better_ranks_and_the_best_one():
    board = boost.boost(board_of(60)[["team"]].assign(score=0.6, runtime=np.linspace(100, 119, 60)))
    html = page.of_team(run_of(board), "T60")
    ranks = re.findall(r'<th scope="row">(\d+)</th><td[^>]*>[\d.]+ s', html)
    assert ranks == ["59", "58", "57", "56", "55", "54", "53", "52", "51", "1"]
    assert "the nearest 9 of 59 better ranks, and the best one" in html


@pytest.mark.parametrize(("team", "expected"), [(5, range(2, 9)), (1, range(1, 5)), (8, range(5, 10))])
def test_three_neighbors_on_either_side(team, expected):
    html = page.of_team(run_of(board_of(9), boosted=False), f"T{team}")
    neighbors = html.partition("Neighbors")[2].partition("<h2>Files")[0]
    assert re.findall(r'title="(T\d)"', neighbors) == [f"T{number}" for number in expected]


def test_the_worst_sub_population_is_first_also_where_lower_is_better():
    groups = pd.DataFrame({"team": ["T1", "T2"], "a = 1": [0.2, 0.3], "a = 2": [0.9, 0.8]})
    board = board_of(2)
    for higher, first in ((True, "a = 1"), (False, "a = 2")):
        sizes = {"a = 1": 7, "a = 2": 1200}
        run = run_of(board, None, higher, False, groups=groups, group_sizes=sizes)
        html = page.of_team(run, "T1")
        assert ">1,200</td>" in html
        assert html.index(first) < html.index({"a = 1": "a = 2", "a = 2": "a = 1"}[first])


# --- plots --------------------------------------------------------------------------------------------------


def test_the_shake_up_names_the_first_three_and_those_that_win():
    public = list(range(1, 31))
    public[9], public[24] = 25, 10  # T10 and T25 changed places
    prize = pd.array([1, 2, None, None, None, None, None, None, None, 3, *[None] * 20], dtype="Int64")
    points = drawing.shake_up(board_of(30).assign(public_rank=public, prize=prize), 2000)
    assert [team for _, _, team, *_ in points if team] == ["T1", "T2", "T3", "T10"]
    assert {each[-2:] for each in points if each[2] == "T10"} == {(25, 10)}
    x, y = {team: (x, y) for x, y, team, *_ in points}["T10"]
    assert (x, y) == (24 / 29, 9 / 29)


def test_a_name_in_the_shake_up_is_not_written_over_another_one():
    """Forty teams are less than a line apart, unless their names are on different sides of their dots."""
    prize = pd.array([1, 2, 3, *[None] * 37], dtype="Int64")
    board = board_of(40).assign(prize=prize)
    for public_of_second, named in ((2, ["T1", "T3"]), (40, ["T1", "T2", "T3"])):
        public = [1, public_of_second, *range(3, 40), 42 - public_of_second]
        points = drawing.shake_up(board.assign(public_rank=public), 2000)
        assert [team for _, _, team, *_ in points if team] == named


@pytest.mark.parametrize("teams", [1, 2, 13, 40, 41, 10_000])
def test_axes_have_ticks_and_nothing_is_beyond_them(teams):
    ticks = drawing.rank_ticks(teams)
    ranks, positions = [rank for rank, _ in ticks], [position for _, position in ticks]
    assert ranks[0] == 1
    assert ranks[-1] == teams
    assert len(ticks) >= min(teams, 4)
    assert len(set(ranks)) == len(ranks)
    assert positions == sorted(positions)
    # On a phone, the numbers at two ticks need a fourteenth of the axis.
    assert teams == 1 or np.diff(positions).min() >= 0.07
    assert teams <= drawing.LINEAR_UP_TO or all(3 * a <= b for a, b in itertools.pairwise(ranks))
    assert positions == pytest.approx(drawing.rank_axis(ranks, teams).tolist())
    everything = drawing.rank_axis(np.arange(1, teams + 1), teams)
    assert 0 <= everything.min() <= everything.max() <= 1
    assert everything[0] == 0
    assert teams == 1 or everything[-1] == 1


@pytest.mark.parametrize("row", [0, 1])
def test_both_teams_of_a_tie_are_marked(row):
    ties = ["", "", ""]
    ties[row] = rewards.BY_NAME
    run = run_of(board_of(4), boosted=False, ties=ties)
    rows = page._rows(run, run.leaderboard)
    assert [each["rank"] for each in rows if each["tied"]] == [row + 1, row + 2]


def test_small_groups_of_many_essays_are_called_groups():
    """A hundred essays decide here, so it is not said that fewer than 30 do."""
    of_groups = Doubt(Reason.SMALL_GROUPS, 3, 1.0, 30)
    run = run_of(board_of(4), chance=chance(4, first_again=np.nan)._replace(withheld=of_groups))
    assert any(said.endswith("each group that counts has fewer than 30 essays.") for said in run.summary)


def test_the_first_three_warnings_are_shown_and_the_others_open():
    warned = [f"warning {number}" for number in range(5)]
    html = page.of_board(run_of(board_of(3), warnings=warned))
    box = html.partition('class="warnings"')[2].partition("</section>")[0]
    shown, _, behind = box.partition("<details>")
    assert [shown.count(f"arning {number}.") for number in range(5)] == [1, 1, 1, 0, 0]
    assert "<summary>2 more</summary>" in behind
    assert (
        "<details>" not in page.of_board(run_of(board_of(3), warnings=warned[:3])).partition('class="boxes"')[0]
    )


def test_borders_of_prizes_are_drawn_around_0():
    steps = [{"low": -0.1, "high": 0.3}, {"low": float("nan"), "high": float("nan")}, {"low": 0.1, "high": 0.2}]
    ticks = drawing.borders(steps)
    assert [tick for tick, _ in ticks] == [-0.1, 0, 0.1, 0.2, 0.3]
    zero = dict(ticks)[0]
    assert 0 < steps[0]["drawn"][0] < zero < steps[0]["drawn"][1] < 1
    assert steps[1]["drawn"] is None
    assert zero < steps[2]["drawn"][0] < steps[2]["drawn"][1]
    html = page.of_board(run_of(board_of(4), chance=chance(4)))
    assert html.partition("The prizes")[2].partition("</table>")[0].count('class="zero"') == 3
    assert re.findall(r"--back:-?\d+%\">([-\d.]+)<", html.partition("The prizes")[2]) == ["0", "0.02"]
    assert "shows a true difference of 0.04370 between the last winner" in html
    hidden = chance(4)
    note = "groups of fewer than 200 items decide 40%"
    hidden = hidden._replace(differences=hidden.differences.assign(detectable=np.nan, detectable_note=note))
    html = page.of_board(run_of(board_of(4), chance=hidden))
    assert "shows a true difference" not in html


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
    for word in ("score", "rank", "eligible", "boost", "runtime", "moved"):
        assert f"<dt>{word}</dt>" in html
    assert page.anchor_of("a b/ü<") == "team-a%20b%2F%C3%BC%3C"


def test_a_metric_without_statistics_has_no_bootstrap_and_no_empty_section():
    run = run_of(board_of(3), boosted=False)
    assert "<dt>chance</dt><dd>not examined, so the page has no intervals</dd>" in page.of_board(run)
    html = page.of_team(run, "T2")
    assert "Why not rank 1?" in html
    assert "What would have changed the rank" not in html


def test_who_is_not_on_the_board_and_why():
    failed = pd.DataFrame({"team": ["Fay", "T1"], "model": ["run.py", "x"], "reason": ["exit code 1", "y"]})
    rejected = pd.DataFrame({"team": ["Guy"], "submission": ["g.csv"], "rejected": ["<row_id> twice"]})
    run = run_of(board_of(2), boosted=False, failed=failed, rejected=rejected)
    assert page._absent(run) == [
        ("Fay", "model run.py", "failed: exit code 1"),
        ("Guy", "file g.csv", "<row_id> twice"),
    ]
    assert "<bdi>&lt;row_id&gt; twice</bdi>" in page.of_board(run)


def test_every_table_has_a_caption_and_headings_and_every_plot_has_words():
    groups = pd.DataFrame({"team": [f"T{number}" for number in range(1, 9)], "a = 1": 0.2})
    failed = pd.DataFrame({"team": ["Fay"], "model": ["run.py"], "reason": ["exit code 1"]})
    run = run_of(
        board_of(8).assign(public_rank=range(1, 9)), boosted=False, groups=groups, failed=failed,
        group_sizes={"a = 1": 5}, chance=chance(8),
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


def test_the_sentences_for_the_jury():
    """The fastest team wins although it has the worst score."""
    board = boost.boost(TABLE_2.assign(team=["T3", "T2", "T4", "T1"]))
    run = run_of(board, chance=chance(4))
    assert run.summary == [
        "T1 is first with a boosted score of 0.60900, and T2 is second with 0.60616.",
        "100 essays of the Private part decide.",
        "T1 leads because of its speed. By score alone it would come 4th, and T3 would be first.",
        "On new essays of the same kind and other runs of the models, T1 would be first in about 70 of 100 "
        "cases, T2 in about 50, T3 in about 20.",
        "With 95% confidence the truly best is one of these 2: T1, T2.",
        "Place 3 gets the last of 3 prizes: T3; T4 follows 0.01000 behind in boosted score.",
        "With 95% confidence the true lead of T3 is between -0.01000 and 0.02000.",
    ]
    unknown = run_of(board, chance=chance(4, first_again=np.nan), noise_known=False)
    told = unknown.summary
    assert "How often T1 would be first again cannot be said" in told[3]
    assert told[4] == "If the runtimes are exact, with 95% confidence the truly best is one of these 2: T1, T2."
    assert told[6].startswith("If the runtimes are exact, with 95% confidence the true lead of T3 is between ")
    columns = [page.of_board(each).count("first again, of 100") for each in (run, unknown)]
    assert columns[0] > columns[1] == 0
    few = Doubt(Reason.SMALL_GROUPS, 3, 0.5, 30)
    withheld = run_of(board, chance=chance(4, first_again=np.nan)._replace(withheld=few))
    assert withheld.summary[3] == (
        "How often T1 would be first again, and which team is truly the best, cannot be said, because too "
        "little is known about the score of a prize winner: groups of fewer than 30 items decide 50%."
    )
    of_one = {"may_be_best": [True, False]}
    alone = run_of(board_of(2), boosted=False, chance=chance(2, first_again=[0.97, 0.03], **of_one))
    assert "With 95% confidence T1 is truly the best." in alone.summary
    noisy = run_of(board_of(2), boosted=False, chance=chance(2, first_again=[0.7, 0.3], **of_one))
    assert noisy.summary[3] == (
        "With 95% confidence T1 is truly the best; a new test set has noise of its own, and another team would "
        "be first on it in about 30 of 100 cases."
    )
    same = run_of(board_of(2), boosted=False, chance=chance(2), entries=(0, 0))
    assert not any("95% confidence" in sentence or "first again" in sentence for sentence in same.summary)


def test_no_number_above_90_is_printed():
    certainty = chance(4, first_again=[0.96, 0.02, 0.01, 0.01], prize_again=[0.99, 0.95, 0.94, 0.3])
    html = page.of_board(run_of(board_of(4), boosted=False, chance=certainty))
    assert ' data-value="0.96">&gt;90</td>' in html
    assert "T1 would be first in more than 90 of 100 cases." in html
    assert html.count(">in more than 90 of 100 cases</td>") == 2
    assert html.count(">in about 90 of 100 cases</td>") == 1


def test_a_file_is_one_entry_of_every_sentence_whoever_sent_it():
    shares = {"first_again": [0.93] * 3 + [0.07], "may_be_best": True, "boosted_score_low": 0.2}
    run = run_of(
        board_of(4, score=[0.6] * 3 + [0.5]), Rules(prizes=2), boosted=False, chance=chance(4, **shares),
        entries=(0, 0, 0, 1), ties=[rewards.BY_TIME, rewards.BY_RUNTIME, ""],
    )  # fmt: skip
    summary = " ".join(run.summary)
    sent = "the file that T1, T2 and T3 sent"
    assert (
        "T1 and T2 sent the same file, with a score of 0.60000; the earlier submission puts T1 first."
        in summary
    )
    assert f"{sent} would be first in about 90 of 100 cases, T4 in about 10." in summary
    assert f"one of these 2: {sent}, T4." in summary
    assert "prizes: T2; T3 sent the same file, and the shorter runtime decides." in summary


def test_why_a_team_is_not_one_rank_better():
    """In Table 2, Blue is second and Red third by speed, although Red has the better score."""
    run = run_of(boost.boost(TABLE_2.assign(team=["T3", "T2", "T4", "T1"])), chance=chance(4))
    assert run.sentences.why_not_better(0) == []
    assert run.sentences.why_not_better(2) == [
        "T2 is ahead by 0.00616 in boosted score: 0.60616 against 0.60000.",
        "Before rewards T3 has the higher score, 0.60000 against 0.59500. So speed decides: T2 got a reward of "
        "1.9% for a runtime of 45.0 s, and T3 got none for a runtime of 50.0 s.",
        "With 95% confidence the true lead of T2 is between -0.01000 and 0.02000.",
        "The ranks follow the boosted scores, whether or not the difference is certain.",
    ]
    tied = run_of(board_of(3), boosted=False, ties=["", rewards.BY_NAME])
    assert tied.sentences.why_not_better(2)[0] == (
        "T2 has the same score, 0.30000, and the order of the names puts it ahead."
    )


def test_by_its_speed_stands_beside_teams_that_moved_up_alone():
    run = run_of(boost.boost(TABLE_2), Rules(prizes=3), chance=chance(4))
    assert [place["speed"] for place in page._prize_places(run)] == [
        "by its speed: by score alone it would come 4th",
        "",
        "by score alone it would come first",
    ]
    html = page.of_board(run).partition("The prizes")[2].partition("</table>")[0]
    assert html.count("by its speed") == 1


def test_a_difference_is_above_zero_whichever_way_is_better():
    lower = board_of(2).iloc[::-1].assign(rank=[1, 2], rank_before=[1, 2])
    run = run_of(lower, Rules(prizes=1), False, False, chance=chance(2))
    html = page.of_board(run).partition("The prizes")[2].partition("</table>")[0]
    assert '>0.30000</td><td data-label="95% interval">-0.0200 to 0.0100</td>' in html
    assert "the true lead of T2 is between -0.02000 and 0.01000." in " ".join(run.sentences.why_not_better(1))
    html = page.of_board(run_of(board_of(2), Rules(prizes=1), True, False, chance=chance(2)))
    assert '>0.30000</td><td data-label="95% interval">-0.0100 to 0.0200</td>' in html
    assert "usually scores worse" not in page.of_board(run)


def test_groups_have_their_numbers_of_items_and_darker_colors_the_worse_they_are():
    groups = pd.DataFrame({"team": ["T1", "T2"], "a = 1": [0.2, 0.3], "a = 2": [0.9, 0.8]})
    run = run_of(board_of(2), boosted=False, groups=groups, group_sizes={"a = 1": 7, "a = 2": 12})
    assert "1 <small>7 essays</small>" in page.of_board(run)
    for higher, worst in ((True, 0), (False, 1)):
        (table,) = page._groups(run, higher)
        rows = table["rows"]
        assert [int(np.argmax([depth for _, depth in cells])) for _, cells in rows] == [worst, worst]


def test_what_to_look_at_before_a_prize_is_given():
    files = pd.DataFrame({"team": ["T1", "T2", "T3", "T4"], "fingerprint": list("abac"), "chosen": True})
    files = files.assign(failed=[None, None, None, "ValueError"])
    doubt = Doubt(Reason.SMALL_GROUPS, 3, 0.5)
    prizes, doubts = jury.Prizes(2, (0, 1, 2, 3)), [None, doubt, None, doubt]
    pairs = [("T1", "T3", 1.0), ("T3", "T2", 0.871), ("T1", "T2", 0.3), ("T2", "T4", 0.9)]
    similar = pd.DataFrame(pairs, columns=["team", "other_team", "agreement"])
    known = chance(4)._replace(doubts=doubts)
    found = cautions(board_of(4), files, prizes, (0, 1, 0, 2), known, ["", rewards.BY_NAME, ""], similar)
    assert [*map(str, found)] == [
        "place 2 was decided by the order of the names: T2 and T3 have the same score",
        "place 1: T1 and T3 sent the same file",
        "teams at a prize agree in answers that few others gave, places 2 and 3 on 87% of the items (T2 and T3)"
        ": ask how they worked",
        "groups of fewer than 10 items decide 50% of the score of T2, so chance plays a large part",
        "the metric failed for 1 file of T4, so it does not count: if it is at fault, let the metric raise "
        "ParticipantVisibleError; rejected.csv has what it said",
    ]


def test_a_prize_winner_whose_score_falls_with_that_of_a_good_group_is_a_caution():
    slopes = [{"a = 1": 1.2, "a = 2": -0.2}, {"a = 1": 1.0, "a = 2": -0.01}, {}]
    assert [*map(str, better_groups_that_lower(board_of(3), slopes, (0, 1, 2)))] == [
        "place 1: doing worse for a = 2 would raise the score of T1, by 0.0020 for each 0.01 of that "
        "group's score: this is how the metric weighs groups"
    ]


def test_names_from_right_to_left_are_isolated_and_long_ones_are_cut():
    board = board_of(2).assign(team=["עט אדום 12", "x" * 200])
    first, *_ = run_of(board, boosted=False).summary
    assert first == (
        f"\u2068עט אדום 12\u2069 is first with a score of 0.60000, and {'x' * 59}… is second with 0.30000."
    )


def test_a_tie_for_the_first_or_the_last_prize_and_a_single_team():
    last = run_of(board_of(3), Rules(prizes=2), boosted=False, ties=["", rewards.BY_NAME])
    assert last.summary[-1] == (
        "Place 2 gets the last of 2 prizes: T2; T3 has the same score, and the order of the names decides."
    )
    ties = ["", rewards.BY_NAME, rewards.BY_TIME]
    around = run_of(board_of(4), Rules(prizes=2), boosted=False, ties=ties)  # T3 may win none
    around = dataclasses.replace(around, prizes=jury.Prizes(2, (0, 1, 3)))
    assert around.summary[-1].endswith("T2; T4 has the same score, and the earlier submission decides.")
    tied = run_of(board_of(2), boosted=False, ties=[rewards.BY_TIME])
    assert tied.summary[0] == ("T1 and T2 have the same score, 0.60000; the earlier submission puts T1 first.")
    assert run_of(board_of(1), boosted=False).summary == [
        "T1 is the only team on the board.",
        "100 essays of the Private part decide.",
    ]


# --- scores with their intervals, and scores with runtimes --------------------------------------------------


@pytest.mark.parametrize("higher", [True, False])
def test_scores_lie_within_their_intervals_on_one_axis(higher):
    board = board_of(40) if higher else board_of(40).iloc[::-1].assign(rank=range(1, 41))
    low = board["boosted_score"].to_numpy() - 0.02
    certainty = chance(40, boosted_score_low=low, boosted_score_high=low + 0.05)
    run = run_of(board, None, higher, False, chance=certainty)
    rows = page._rows(run, run.leaderboard)
    ticks = drawing.intervals(rows, higher)
    assert all(0 < place < 1 for _, place in ticks)
    drawn = [row["drawn"] for row in rows]
    assert sum(each is None for each in drawn) <= 2  # of the worst
    assert all(0 <= low < at < high <= 1 for low, at, high in filter(None, drawn))
    # A tick is where a score of that size is.
    (first, at), (last, other) = ticks[0], ticks[-1]
    expected = at + (board["boosted_score"].iloc[0] - first) / (last - first) * (other - at)
    assert drawn[0][1] == pytest.approx(expected)
    assert page.of_board(run).count('class="point"') == 40 - sum(each is None for each in drawn)


def test_the_mark_of_a_team_is_its_rank_or_a_dot():
    """The first ten and the prizes have their rank; who is at the same place shares a mark with all ranks."""
    board = board_of(30, runtime=np.linspace(50, 90, 30))
    prize = pd.Series(range(1, 31)).where(board["rank"].isin([1, 2, 25])).astype("Int64")
    marks = drawing.score_and_runtime(board.assign(prize=prize), Rules())["marks"]
    assert [mark["label"] for mark in marks if mark["is_ranked"]] == ["25", *map(str, range(10, 0, -1))]
    assert len(marks) == 30
    tied = board_of(6, runtime=[50, 50, 50, 60, 60, 70]).assign(boosted_score=[0.6, 0.6, 0.6, 0.5, 0.5, 0.4])
    assert [mark["label"] for mark in drawing.score_and_runtime(tied, Rules())["marks"]] == ["6", "4, 5", "1–3"]
    html = page.of_board(run_of(board))
    plot = html.partition("<h2>Score and speed")[2].partition("</figure>")[0]
    assert [int(text) for text in re.findall(r'text-anchor="middle">(\d+)</text></a>', plot)] == [
        *range(10, 0, -1)
    ]
    assert "T1: rank 1, boosted score 0.63000, score 0.60000, 50.0 s</title>" in plot
    assert 'href="#team-T30"' in plot


def test_scores_and_runtimes_lie_within_the_borders_of_the_reward():
    board = boost.boost(TABLE_2)
    plot = drawing.score_and_runtime(board, Rules())
    assert [mark["label"] for mark in plot["marks"]] == [
        "4",
        "3",
        "2",
        "1",
    ]  # the best one lies above the others
    dots = {mark["teams"][0]["team"]: mark for mark in plot["marks"]}
    assert {team: dot["kind"] for team, dot in dots.items()} == {
        "Yellow": "boosted", "Blue": "boosted", "Red": "eligible", "Green": "eligible",
    }  # fmt: skip
    for team, dot in dots.items():
        assert (dot["x"] < plot["slowest"]) == (dot["kind"] == "boosted"), team
        assert dot["y"] < plot["lowest"]
        assert (dot["top"] < dot["y"]) == (dot["kind"] == "boosted")
    assert plot["limits"] == pytest.approx((0.6 / 1.05, 48))
    for runtime in (np.nan, 40.0):
        assert drawing.score_and_runtime(board.assign(runtime=runtime), Rules()) is None
    far = drawing.score_and_runtime(board.assign(runtime=[1, 10, 100, 1000]), Rules())
    assert [tick for tick, _ in far["x"]] == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    steps = np.diff([at for _, at in far["x"]][::3])
    assert steps == pytest.approx(steps[0])
