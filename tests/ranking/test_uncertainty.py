"""What a board says about chance is what its draws, files and runtimes say."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boost
from examples.essays import make_competition
from podium import statistics
from podium.metric import hosted
from podium.ranking import examining, sentences, speed, store, uncertainty
from podium.ranking.cautions import better_groups_that_lower
from podium.ranking.examining import Detail, How
from podium.ranking.jury import NOTHING_DECIDED, Prizes, prizes_of
from podium.ranking.rules import Rules
from podium.scoring import constant, evaluating
from podium.statistics import Doubt, Reason, doubts
from podium.statistics.doubts import ROUNDED_TO, Reaction, Units
from podium.statistics.inference import (
    UNBOUNDED,
    difference_of_draws,
    interval,
    widening,
    widening_jointly,
    widening_of_borders,
)
from podium.statistics.population import mean_of_groups, stacked
from tests.test_statistics import mean_of

RUNTIMES = np.array([40.0, 60.0, 40.0, 55.0])


def detail_of(numbers, scores, doubt=None):
    """What a worker reports about a submission whose items have these values, with draws of its score."""
    return Detail(
        measures=np.array([numbers.mean()]),
        scores=statistics.Scores(scores, scores, scores),
        reaction=Reaction(np.array([1.0]), np.array([30])),
        doubt=doubt,
        influence=(numbers - numbers.mean()).astype(np.float32),
        variants={},
        fingerprint=(numbers * 1000).astype(np.uint32),
    )


@pytest.fixture
def board():
    """Four teams, of whom the last two have the same file, with their details and draws (r, t)."""
    random = np.random.default_rng(0)
    numbers = random.random((4, 60))
    numbers[3] = numbers[2]
    scores = np.array([0.6, 0.59, 0.58, 0.58])
    draws = scores + random.normal(0, 0.02, (200, 4))
    draws[:, 3] = draws[:, 2]
    leaderboard = pd.DataFrame(
        {
            "rank": [1, 2, 3, 4],
            "team": list("abcd"),
            "submission": "a.csv",
            "score": scores,
            "boosted_score": scores,
            "runtime": RUNTIMES,
        }
    )
    return leaderboard, [detail_of(*each) for each in zip(numbers, draws.T)], draws


def of_teams(leaderboard, details, rules, runtimes=None, higher_is_better=True, items=60, prepared=None):
    """What a board says about chance."""
    prizes = prizes_of(leaderboard, NOTHING_DECIDED, rules.prizes)
    units = Units(prepared or mean_of(items))
    return uncertainty.of_teams(leaderboard, details, runtimes, rules, units, higher_is_better, prizes)


def widest_of(details, draws, may_win):
    """The factors of intervals, which hold together for the teams that may win a prize."""
    alone = np.array([float(widening(each.influence)) for each in details])
    return alone * np.where(may_win, widening_jointly(draws[:, may_win]), 1)


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_without_rewards_all_follows_from_the_scores(board, higher_is_better):
    leaderboard, details, draws = board
    table, differences, *_ = of_teams(
        leaderboard, details, Rules(boost=False, prizes=2), higher_is_better=higher_is_better
    )
    again = {"files": [0, 1, 2, 2], "higher_is_better": higher_is_better}
    assert table["first_again"].tolist() == statistics.first_again(draws, **again).tolist()
    assert table["prize_again"].tolist() == statistics.first_again(draws, 2, **again).tolist()
    assert table["first_again"][2] == table["first_again"][3]
    best = statistics.may_be_best(draws, higher_is_better=higher_is_better)
    assert table["may_be_best"].tolist() == best.tolist()
    low, high = interval(draws, widest_of(details, draws, table["may_win_prize"]))
    assert table["score_low"].tolist() == table["boosted_score_low"].tolist() == low.tolist()
    assert table["score_high"].tolist() == high.tolist()
    assert differences["team"].tolist() == ["a", "b"]
    assert differences["next_team"].tolist() == ["b", "c"]
    assert differences["difference"].tolist() == pytest.approx([0.01, 0.01])
    jointly, with_others = widening_of_borders(draws, 2)
    assert jointly == widening_jointly(draws[:, :2] - draws[:, 1:3]) < with_others
    lead = draws[:, 0] - draws[:, 1]
    wider = widening(details[0].influence - details[1].influence)
    near, far = (interval(lead, factor * wider, UNBOUNDED) for factor in (jointly, with_others))
    assert differences[["low", "high"]].iloc[0].tolist() == pytest.approx([float(near[0]), float(far[1])])
    half = float(near[1] - near[0]) / 2 / jointly
    assert differences["detectable"][0] == pytest.approx(2.8016 / 1.96 * half, rel=1e-3)


def test_who_may_not_win_a_prize_takes_none(board):
    leaderboard, details, draws = board
    may_win, rules = np.array([True, False, True, True]), Rules(boost=False, prizes=1)
    draws[:, 2:] -= 0.2
    prizes = Prizes(1, tuple(np.flatnonzero(may_win).tolist()))
    details = [each._replace(scores=statistics.Scores(*[of_one] * 3)) for each, of_one in zip(details, draws.T)]
    told = uncertainty.of_teams(leaderboard, details, None, rules, Units(mean_of(60)), True, prizes)
    may_win_prize = told.intervals["may_win_prize"].to_numpy()
    assert may_win_prize.tolist() == [True, False, False, False]
    again = statistics.first_again(draws, who=may_win, files=[0, 1, 2, 2])
    np.testing.assert_array_equal(told.intervals["prize_again"], again)
    ends = interval(draws, widest_of(details, draws, may_win_prize))
    assert told.intervals[["score_low", "score_high"]].to_numpy().T.tolist() == np.array(ends).tolist()
    assert told.differences["next_team"].tolist() == ["c"]


def test_rewards_change_what_decides(board):
    leaderboard, details, draws = board
    boosts = boost.boost_fractions(leaderboard["score"], RUNTIMES)[2]
    leaderboard = leaderboard.assign(boosted_score=leaderboard["score"] * (1 + boosts))
    runtimes = pd.DataFrame({"team": list("abcd"), "runtime": RUNTIMES, "runtime_error": 1.0})
    table = of_teams(leaderboard, details, Rules(), runtimes).intervals
    seconds = speed.draw(leaderboard, runtimes, len(draws), 0)
    boosted = draws * (1 + boost.boost_fractions(draws, seconds)[2])
    assert table["may_be_best"].tolist() == statistics.may_be_best(boosted).tolist()
    widest = widest_of(details, boosted, table["may_win_prize"])
    assert table["boosted_score_low"].tolist() == interval(boosted, widest)[0].tolist()
    rewards = statistics.Rewards(seconds, RUNTIMES, lambda *known: boost.boost_fractions(*known)[2])
    expected = statistics.first_again(draws, files=[0, 1, 2, 2], rewards=rewards)
    assert table["first_again"].tolist() == expected.tolist()
    assert table["first_again"].tolist() != statistics.first_again(draws, files=[0, 1, 2, 2]).tolist()


def test_without_known_noise_of_runtimes_nobody_is_said_to_be_first_again(board):
    leaderboard, details, _ = board
    table = of_teams(leaderboard, details, Rules()).intervals
    assert table[["first_again", "prize_again"]].isna().all(axis=None)
    assert table["may_be_best"].any()


def test_doubts_take_intervals_and_stand_in_the_notes(board):
    leaderboard, details, _ = board
    few, small = Doubt(Reason.FEW_ITEMS, 1), Doubt(Reason.SMALL_GROUPS, 3, 0.5)
    details[1] = details[1]._replace(doubt=few)
    details[2] = details[2]._replace(doubt=small)
    told = of_teams(leaderboard, details, Rules(boost=False, prizes=3))
    assert told.doubts == [None, few, small, None]
    assert told.intervals["note"].tolist() == ["", str(few), str(small), ""]
    assert told.intervals["score_low"].isna().tolist() == [False, True, True, False]
    assert told.differences["note"].eq("").all()  # the last two teams have the same file


def test_a_loser_in_doubt_takes_no_share_from_the_winner(board):
    """The last of three files is behind by .1, and would be first again in a third of new competitions.

    Where its noise cannot be known, nothing is said about any team, and it is not handed to the others.
    """
    leaderboard, details, draws = board
    draws[:, 2:] = draws[:, [2]] - 0.1 + np.random.default_rng(1).normal(0, 0.2, (200, 1))
    details = [each._replace(scores=statistics.Scores(*[of_one] * 3)) for each, of_one in zip(details, draws.T)]
    rules = Rules(boost=False, prizes=1)
    known = of_teams(leaderboard, details, rules)
    assert known.withheld is None
    assert known.intervals["first_again"][2] > 0.2
    heavy = Reaction(np.array([1.0]), np.array([30]), tail=1.2)
    told = of_teams(leaderboard, [*details[:3], details[3]._replace(reaction=heavy)], rules)
    assert (told.withheld, told.doubted) == (Doubt(Reason.HEAVY_TAIL), 3)
    assert told.intervals[["first_again", "prize_again"]].isna().all(axis=None)
    assert told.intervals["may_be_best"].all()
    # The winner may have such items, too, and merely lack them.
    assert told.intervals["score_low"].isna().all()
    assert told.differences["low"].isna().all()
    sentence = sentences_of(leaderboard, told, 1)["How much of that is luck?"]
    assert sentence == [
        "How often a would be first again, and which team is truly the best, cannot be said, because too "
        "little is known about the score of d: a few very large items decide, and others may be larger still."
    ]
    far = [each._replace(reaction=heavy) if row == 3 else each for row, each in enumerate(details)]
    far = [each._replace(scores=statistics.Scores(*[draws[:, row] - row] * 3)) for row, each in enumerate(far)]
    assert of_teams(leaderboard, far, rules).withheld is None  # it takes no share


def sentences_of(leaderboard, chance, prizes):
    """What a board says in sentences, if all files differ."""
    of_prizes = prizes_of(leaderboard, NOTHING_DECIDED, prizes)
    return sentences.Sentences(leaderboard, FACTS, of_prizes, (), chance).by_question()


def test_a_difference_that_one_item_decides_has_no_interval(board):
    leaderboard, details, _ = board
    fingerprint = details[0].fingerprint.copy()
    fingerprint[0] += 1
    details[1] = details[1]._replace(fingerprint=fingerprint)
    told = of_teams(leaderboard, details, Rules(boost=False, prizes=1))
    assert told.differences[["low", "high"]].isna().all(axis=None)
    assert told.differences["note"].tolist() == ["about 1 item decides"]


def test_what_small_groups_hide_at_a_border_is_said(board):
    leaderboard, details, _ = board
    of_groups = Reaction(np.array([0.6, 0.4]), np.array([30, 30]), is_of_groups=True)
    details = [each._replace(reaction=of_groups) for each in details]
    prepared = dataclasses.replace(
        mean_of(400),
        labels=[("group", "large"), ("group", "small")],
        groups=np.repeat([[0, 1]], [340, 60], axis=1),
    )
    details = [
        each._replace(fingerprint=np.resize(each.fingerprint, 400), influence=np.resize(each.influence, 400))
        for each in details
    ]
    told = of_teams(leaderboard, details, Rules(boost=False, prizes=1), prepared=prepared)
    (border,) = told.differences.to_dict("records")
    assert np.isfinite(border["low"])
    assert np.isnan(border["detectable"])
    assert border["detectable_note"] == "groups of fewer than 200 items decide 40%"


def test_the_headline_says_from_how_few_items_the_score_comes(board):
    leaderboard, details, _ = board
    labels = [("group", name) for name in ("large", "small")]
    groups = np.repeat([[0, 1]], [340, 60], axis=1)
    units = Units(dataclasses.replace(mean_of(400), labels=labels, groups=groups))
    prizes = prizes_of(leaderboard, NOTHING_DECIDED, 2)
    for share, few in ((0.96, uncertainty.Decisive(60, ["group = small"])), (0.5, None), (0.05, None)):
        of_groups = Reaction(np.array([1 - share, share]), np.array([30, 30]), is_of_groups=True)
        for_some = [each._replace(reaction=of_groups) for each in details]
        assert uncertainty.decisive(for_some, prizes, units) == few
        assert uncertainty.decisive(for_some, prizes._replace(number=0), units) == few  # of the first
    told = of_teams(leaderboard, details, Rules(boost=False))._replace(
        decisive=uncertainty.Decisive(9, ["a = b"])
    )
    assert sentences_of(leaderboard, told, 1)["Who is first?"][1] == (
        "60 essays count, but nearly all of the score comes from 9 of them (a = b)."
    )


def test_nobody_wins_again_where_few_items_decide_and_none_that_cannot_be_the_best(board):
    leaderboard, details, draws = board
    rules = Rules(boost=False, prizes=2)
    numbers = [np.full((200, 1), score) + draws[:, [0]] * 0 for score in (0.9, 0.1, 0.1, 0.1)]
    clear = [detail._replace(scores=statistics.Scores(*[n[:, 0]] * 3)) for detail, n in zip(details, numbers)]
    told = of_teams(leaderboard, clear, rules)
    assert told.withheld is None
    assert told.intervals["first_again"].tolist() == [1, 0, 0, 0]
    assert told.intervals["may_be_best"].tolist() == [True, False, False, False]
    some = [each._replace(fingerprint=each.fingerprint[:29], influence=each.influence[:29]) for each in clear]
    few = of_teams(leaderboard, some, rules, items=29)
    assert few.intervals[["may_be_best", "may_win_prize"]].all(axis=None)
    assert few.withheld == Doubt(Reason.SMALL_GROUPS, 30, 1.0, 30)
    assert few.intervals[["first_again", "prize_again"]].isna().all(axis=None)
    assert few.differences["low"].isna().all()


def test_without_prizes_there_is_no_border(board):
    leaderboard, details, _ = board
    told = of_teams(leaderboard, details, Rules(boost=False, prizes=0))
    assert told.differences.empty
    assert told.intervals["prize_again"].isna().all()
    assert told.intervals["first_again"].sum() == pytest.approx(1 + told.intervals["first_again"][3])
    assert told.intervals["may_win_prize"].tolist() == told.intervals["may_be_best"].tolist()


def test_where_nobody_wins_a_prize_a_doubt_about_the_first_counts(board):
    """Even if it would never be first again."""
    leaderboard, details, draws = board
    draws[:, 0] -= 1
    details = [each._replace(scores=statistics.Scores(*[of_one] * 3)) for each, of_one in zip(details, draws.T)]
    details[0] = details[0]._replace(doubt=Doubt(Reason.HEAVY_TAIL))
    told = of_teams(leaderboard, details, Rules(boost=False, prizes=0))
    assert (told.withheld, told.doubted) == (Doubt(Reason.HEAVY_TAIL), 0)


def test_below_a_gap_the_end_away_from_zero_holds_for_all_who_might_stand_there():
    """Two teams are far ahead of 30 equal ones, of which the luckiest is third."""
    random, held = np.random.default_rng(0), []
    true = np.repeat([0.3, 0.0], [2, 30])
    for _ in range(100):
        observed = np.sort(true + random.normal(0, 0.02, 32))[::-1]
        draws = observed + random.normal(0, 0.02, (300, 32))
        jointly = widening_of_borders(draws, 3)
        lead = draws[:, 1] - draws[:, 2]
        ends = [
            difference_of_draws(lead.mean(), *draws.T[1:3], np.ones(500), None, jointly=each).high
            for each in (jointly, (jointly[0], jointly[0]))
        ]
        held.append([end >= 0.3 for end in ends])
    with_others, without = np.mean(held, axis=0)
    assert with_others > 0.94 > 0.91 > without
    alike = true[:2] + random.normal(0, 0.02, (300, 2))
    assert len(set(widening_of_borders(alike, 1))) == 1  # nobody else


FACTS = {
    "silence": "", "boosted": False, "noise_known": True, "higher_is_better": True, "ties": [],
    "item": "essay", "items": 60, "decided_by": "All",
}  # fmt: skip


@given(st.integers(2, 9), st.integers(0, 4), st.integers(0, 4), st.integers(0, 2**16))
def test_shares_add_up_and_no_sentence_contradicts_another(teams, gap, copies, seed):
    """The first of all shares is that of a clear leader on some boards, and several teams send its file."""
    random = np.random.default_rng(seed)
    numbers, scores = random.random((teams, 60)), np.sort(random.normal(0.5, 0.02, teams))[::-1]
    scores[0] += 0.02 * gap
    sender = np.r_[np.arange(teams), random.integers(teams, size=copies)]
    sender = sender[np.argsort(-scores[sender], kind="stable")]
    draws = (scores + random.normal(0, 0.02, (200, teams)))[:, sender]
    leaderboard = pd.DataFrame({"rank": range(1, len(sender) + 1), "score": scores[sender]})
    leaderboard = leaderboard.assign(boosted_score=leaderboard["score"], runtime=np.nan)
    leaderboard["team"] = [f"T{row}" for row in leaderboard["rank"]]
    details = [detail_of(*each) for each in zip(numbers[sender], draws.T)]
    rules = Rules(boost=False, prizes=3)
    chance = of_teams(leaderboard, details, rules)
    table = chance.intervals.assign(file=sender)
    of_files = table.groupby("file")
    assert (of_files["first_again"].nunique() == 1).all()
    assert of_files["first_again"].first().sum() == pytest.approx(1)
    assert of_files["prize_again"].first().sum() == pytest.approx(min(3, teams))
    best = table[table["may_be_best"]]
    prizes = prizes_of(leaderboard, NOTHING_DECIDED, 3)
    told = sentences.Sentences(leaderboard, FACTS, prizes, sender.tolist(), chance).by_question()
    told = " ".join(told["How much of that is luck?"])
    is_likely = best.groupby("file")["first_again"].first().sum() > 1 - sentences.LIKELY
    assert ("noise of its own, and another team would be first on it in" in told) != is_likely
    if best["file"].nunique() == 1:
        assert "is truly the best" in told


def test_workers_draw_what_a_resampler_draws_of_all_teams():
    """Two teams sent the same file, and what was drawn to compare groups is kept for the details."""
    solution, model = make_competition(60, seed=3, shared_words=False)
    prepared = evaluating.prepare(hosted.load("unified"), solution.drop(columns="Usage"), {})
    some = [model.sample(frac=share, random_state=1) for share in (1.0, 0.9, 0.8)]
    numbers = [evaluating.evaluate(prepared, each).statistics for each in (*some, some[0])]
    names = ["A", "B", "C", "A"]  # by what the entries have
    entries = [store.encode({"sha256": name}, each) for name, each in zip(names, numbers)]
    how = How(evaluating.ALL, 40, 3)
    shared = mean_of_groups(examining.groups(how, prepared, entries))
    details = examining.detail(how, shared, prepared, entries)
    whole = prepared.prepared[evaluating.ALL]
    expected = statistics.Resampler(whole, statistics.draw(60, 40, 3), 3).scores(*numbers)
    for drawn, own in zip(stacked([each.scores for each in details]), expected):
        assert drawn.tolist() == own.tolist()


# ---- The last bits of a sum ---------------------------------------------------------------------------------


def nearly(value: float) -> list[float]:
    """A number, and what other versions of a library may make of it, within half of the tolerance."""
    return [
        value,
        value * (1 - 4e-16),
        value * (1 + 4e-16),
        *(value + sign * 10**-ROUNDED_TO / 2.1 for sign in (1, -1)),
    ]


def test_no_rule_and_no_sentence_depends_on_less_than_the_tolerance():
    """Between two versions of pandas or numpy, a sum differs in its last bits, and the board must not."""
    assert ROUNDED_TO == 9
    for share in (0, 0.001, 0.05, 0.25, 0.35, 0.45, 0.85, 0.95, 0.999, 1):
        for write in (sentences.percent, sentences.in_cases, sentences.about, sentences.tens):
            assert {write(each) for each in nearly(share)} == {write(share)}, (write, share)
    for index in nearly(doubts.HEAVIEST_TAIL):
        assert doubts._doubt_of_tail(index) is None
    for score in (0.3, 0.7, -12.5):
        told = {
            constant.is_worse(score * (1 + off), score, better)
            for off in (0, 4e-16, -4e-16)
            for better in (0, 1)
        }
        assert told == {False}
    assert constant.is_worse(0.3 - 1e-8, 0.3, True)


def test_three_equal_items_are_enough_whatever_the_last_bit_says():
    """By their squares, three equal items are three, and their last bits make them a little less."""
    others = np.concatenate([np.full(20, 1e-9), np.full(20, -1e-9)])
    answers = set()
    for off in np.random.default_rng(0).uniform(-1e-15, 1e-15, (50, 3)):
        answers.add(doubts._few_make_the_noise(np.concatenate([others, 1 + off])))
    assert answers == {False}
    assert doubts._few_make_the_noise(np.concatenate([others, [1.0, 1.0, 0.9]]))


def test_equal_slopes_name_the_first_group():
    slopes = [{"a = 1": -0.2, "a = 2": -0.2 * (1 + 4e-16)}, {"a = 1": -0.2 * (1 + 4e-16), "a = 2": -0.2}]
    board = pd.DataFrame({"team": ["A", "B"], "rank": [1, 2]})
    (told,) = better_groups_that_lower(board, slopes, (0, 1))
    assert "worse for a = 1 would raise the score of A and B" in str(told)
