"""Teams with the same file and teams that copied are shown, and independent teams hardly ever."""

import itertools
import shutil

import numpy as np
import pandas as pd
import pytest

import podium
from podium.ranking import similarity
from tests.support.samples import ROOT


@pytest.mark.parametrize(("teams", "pairs"), [(4, 6), (similarity.MOST_IN_PAIRS + 1, similarity.MOST_IN_PAIRS)])
def test_every_team_with_the_same_file_is_seen(teams, pairs):
    names = [f"team {number:03}" for number in range(teams)]
    files = pd.DataFrame({"team": [*names, "other", names[0]], "fingerprint": ["a"] * teams + ["b", "a"]})
    agreeing = pd.DataFrame({"team": [names[1]], "other_team": [names[0]], "agreement": [0.5]})
    similar = similarity.pairs(files, agreeing)  # a pair is listed once
    assert len(similar) == pairs
    assert set(similar["agreement"]) == {1.0}
    assert {*similar["team"], *similar["other_team"]} == {*names}


def test_agreements_of_copies_and_of_independent_submissions():
    random = np.random.default_rng(0)
    numbers = random.random((40, 100, 5))
    numbers[:, :30] = 0.0  # all teams agree on them, so they say nothing
    numbers[7, 50:80] = numbers[3, 50:80]
    numbers[9, :, 4] = numbers[8, :, 4]  # of five numbers of an item, one says nothing
    numbers[11, 90:94] = numbers[10, 90:94]  # these are too few
    table = similarity.agreements(
        [str(team) for team in range(40)], np.stack([similarity.fingerprint(each) for each in numbers])
    )
    assert table.to_numpy().tolist() == [["3", "7", 0.3]]
    assert (similarity.fingerprint(numbers[0]) == similarity.fingerprint(numbers[0] * 1.0)).all()


def test_files_that_do_not_count_agree_with_nothing(tmp_path):
    sample = pd.read_csv(ROOT / "sample_submission.csv")
    for place, team in enumerate(("one", "two", "three")):
        (tmp_path / "sent" / team).mkdir(parents=True)
        sample.iloc[place::3].to_csv(tmp_path / "sent" / team / "own.csv", index=False)
    sample.to_csv(tmp_path / "sent" / "one" / "best.csv", index=False)
    shutil.copy(tmp_path / "sent" / "two" / "own.csv", tmp_path / "sent" / "one" / "copy.csv")
    options = {"out": tmp_path / "board", "boost": False, "resamples": 0, "jobs": 1, "prizes": 2}
    board = podium.rank(ROOT / "solution_sample.csv", tmp_path / "sent", **options)
    assert board.similar.to_numpy().tolist() == [["one", "two", 1.0]]
    assert not any("agree in answers" in warning for warning in board.warnings)


def coarse(teams, random, worst, best):
    """The statistics of independent teams on 300 items, as whole numbers: hits and misses among a few things
    to find.
    """
    items = random.integers(1, 7, 300)
    quality = random.uniform(worst, best, teams)[:, np.newaxis] + random.uniform(-0.2, 0.2, 300)
    hits = random.binomial(items, np.clip(quality, 0.02, 0.98))
    return np.stack([hits, items - hits, random.poisson(1.5 * (1 - quality.clip(0, 1)))], axis=-1).astype(float)


def pairs_of(numbers):
    """The pairs of similar submissions among teams with these statistics."""
    names = [str(team) for team in range(len(numbers))]
    return similarity.agreements(names, np.stack([similarity.fingerprint(each) for each in numbers]))


@pytest.mark.parametrize("teams", [2, 3, 5, 8, 20, 70])
def test_independent_teams_are_hardly_ever_shown(teams):
    """Whole numbers often agree by chance. Of equally good teams no pair is shown, and of other teams few
    are.
    """
    random = np.random.default_rng(teams)
    boards = 6 if teams < 20 else 2
    assert sum(len(pairs_of(coarse(teams, random, 0.7, 0.7))) for _ in range(boards)) == 0
    shown = sum(len(pairs_of(coarse(teams, random, 0.4, 0.9))) for _ in range(boards))
    assert shown <= 0.1 * boards * teams * (teams - 1) / 2


@pytest.mark.parametrize("teams", [10, 30, 100])
def test_many_partial_copies_of_one_team_are_all_shown(teams):
    """Each team copied another 30% of the items, so that many teams share some items."""
    random = np.random.default_rng(teams)
    numbers = random.random((teams, 300, 3))
    copies = range(1, 1 + teams // 3)
    for copy in copies:
        copied = random.random(300) < 0.3
        numbers[copy, copied] = numbers[0, copied]
    table = pairs_of(numbers)
    assert set(table.loc[table["team"] == "0", "other_team"]) == set(map(str, copies))
    assert table["other_team"].astype(int).max() <= copies[-1]


@pytest.mark.parametrize(("together", "is_shown"), [(18, False), (19, True)])
def test_where_chance_ends(together, is_shown):
    """All pairs of four teams agree on 4 items, and one pair on more: 2·4 + 5·√4 = 18 may still be chance."""
    numbers = np.arange(4 * 200.0).reshape(4, 200, 1)
    item = iter(range(200))
    for (one, other), count in zip(itertools.combinations(range(4), 2), [together, 4, 4, 4, 4, 4]):
        for shared in itertools.islice(item, count):
            numbers[other, shared] = numbers[one, shared]
    assert pairs_of(numbers).to_numpy().tolist() == [["0", "1", together / 200]] * is_shown
