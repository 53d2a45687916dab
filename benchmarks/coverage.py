"""Does what podium says about chance come true?

    python -m benchmarks.coverage [--boards 50] [--kinds SET … | --only NAME …] [--fields FOLDER] [--save CSV]
    python -m benchmarks.coverage --detectable [--sets 200]

A population of items is made, with teams whose answers to every item are known. A test set is drawn from it
with replacement, and podium says what it says about the board. Then 20 other test sets of the same size are
drawn, and the program looks who is first there, and whether intervals hold the values of the population.

What is said is compared with what came. A withheld number says nothing. After ± stands the standard error
over boards.

In each board, everything is drawn again: the groups of the items, the teams and their runtimes.

The results of real systems are a population, too. They are read from ``--fields``, where a CSV file has a row
per item and a column per system: ratings of translations (google/wmt-mqm-human-evaluation), and public results
of TREC, ASlib, OpenML and the M3 competition.
"""

import argparse
import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.measure import machine, print_table
from examples.essays import make_competition
from podium import statistics
from podium.common.arrays import Floats, Ints
from podium.metric import hosted
from podium.ranking import jury, uncertainty
from podium.ranking.uncertainty import Doubts, Field
from podium.scoring import evaluating
from podium.statistics import Doubt, Reason, halves
from podium.statistics.doubts import FEWEST_ON_A_BOARD, Units, doubt_of_difference, doubt_of_score, reaction
from podium.statistics.inference import interval, widening, widening_jointly, widening_of_borders
from podium.statistics.sampling import influences

POPULATION = 5000  # items
RESAMPLES = 300
PRIZES = 3
BINS = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 1.01)
LIKELY = 0.3  # shares from which populations are compared
SHARES = ("first again", "prize again", "ahead")
INTERVALS = ("border", "borders", "winner", "difference", "score")
AGAIN = 20  # test sets on which a board is repeated
CHANGED = 0.01  # the share of answers that a near copy changes
MEASURED_WITHIN, OF_A_RUN = 0.02, 0.15  # the relative noise of a measured runtime, and of one of noisy runs
SYSTEMS = 8  # of a translation field on each board; of the others, all
LIMITS = {"m3_smape": (0.0, 200.0)}  # a few values of the source are impossible, such as -265,929


# The degrees of freedom of Student's t of errors that are squared.
SQUARES = {"squares": 1e9, "squares, t(4)": 4.0, "squares, t(2.5)": 2.5}


class Kind(NamedTuple):
    """A kind of population with the board of its teams."""

    teams: int
    # The relative sizes of the groups of items. Without them, the metric is a mean without groups.
    shares: tuple[float, ...] = ()
    # How much more likely a wrong answer is in each group.
    harder: tuple[float, ...] = ()
    spread: float = 0.1  # how different the teams are
    errors: float = 0.5  # the share of a poor submission in the answers of an average team
    copies: float = 0.0  # the share of teams that send the file of another one
    near_copies: float = 0.0  # the share of teams that send one team's file with 1% of its answers changed
    copied: float = 0.5  # which team that is: the best one at 0, and the worst one at 1
    attributes: int = 1  # how often the items are divided into groups
    levels: str = "normal"  # how the teams are spread, a name in `levels_of`
    is_rewarded: bool = False  # whether speed is rewarded
    higher_is_better: bool = True
    prizes: int = 3
    hardness: float = 0.2  # how different the items are, which is noise that all teams share
    values: str = "skewed"  # what a metric without groups is a mean of, a name in `values_of`
    long: int = 1  # how many essays of the pool make a long one; so many fewer are in a test set
    runs: int = 0  # a runtime is the median of so many noisy runs, or measured with little noise
    blow_ups: float = 0.0  # the share of the answers whose value is 400 times as large
    field: str = ""  # the real field whose systems are the teams


KINDS = {
    "8 equal groups, 30 teams": Kind(30, (1,) * 8),
    "8 equal groups, 30 alike teams": Kind(30, (1,) * 8, spread=0.02),
    "one low group of 5%, 20 teams": Kind(20, (0.05, 0.25, 0.3, 0.4), (0.4, 0, 0, 0)),
    "one low group of 20%, 100 teams": Kind(100, (0.2, 0.2, 0.25, 0.35), (0.3, 0, 0, 0)),
    "a ramp of 6 groups, 10 teams": Kind(10, (1,) * 6, (0, 0.08, 0.16, 0.24, 0.32, 0.4)),
    "a group of three items, 30 teams": Kind(30, (0.006, 0.494, 0.5)),
    "few mistakes, 30 teams": Kind(30, (1,) * 4, errors=0.08, spread=0.03),
    "5 teams": Kind(5, (1,) * 4),
    "3 teams": Kind(3, (1,) * 4),
    "no groups, 50 teams": Kind(50, spread=0.05),
    "copied files, 30 teams": Kind(30, (1,) * 5, copies=0.3),
    "lower is better, 30 teams": Kind(30, spread=0.05, higher_is_better=False),
    "rewards, 8 equal groups, 30 teams": Kind(30, (1,) * 8, is_rewarded=True),
    "rewards, one low group of 5%, 20 teams": Kind(
        20, (0.05, 0.25, 0.3, 0.4), (0.4, 0, 0, 0), is_rewarded=True
    ),
    "rewards, no groups, 50 teams": Kind(50, spread=0.05, is_rewarded=True),
    "rewards, 5 teams": Kind(5, (1,) * 4, is_rewarded=True),
    "near copies of a team, 40 teams": Kind(40, (1,) * 5, near_copies=0.75),
    "near copies of the best, 40 teams": Kind(40, (1,) * 5, near_copies=0.75, copied=0),
    "near copies of the worst, 40 teams": Kind(40, (1,) * 5, near_copies=0.75, copied=1),
    "near copies, no groups, 40 teams": Kind(40, spread=0.05, near_copies=0.75),
    "rewards, near copies, 40 teams": Kind(40, (1,) * 5, near_copies=0.75, is_rewarded=True),
    "two attributes, 30 teams": Kind(30, (1,) * 4, attributes=2),
    "two attributes, 30 alike teams": Kind(30, (1,) * 4, attributes=2, spread=0.02),
    "rewards, two attributes, 30 teams": Kind(30, (1,) * 4, attributes=2, is_rewarded=True),
    "heavy tails, 30 teams": Kind(30, (1,) * 4, spread=0.05, levels="heavy tails"),
    "a long tail, 60 teams": Kind(60, (1,) * 4, spread=0.03, levels="a long tail"),
    "a dominant team, 30 teams": Kind(30, (1,) * 4, levels="a dominant team"),
    "a dominant team, no groups, 30 teams": Kind(30, spread=0.05, levels="a dominant team"),
    "a low group of 3%, 20 teams": Kind(20, (0.03, 0.3, 0.67), (0.4, 0, 0)),
}
# These were made after the code, and nothing was chosen by them.
FURTHER_KINDS = {
    "12 groups, 60 teams": Kind(60, (1,) * 12, spread=0.06),
    "a ramp of 4 unequal groups, 25 teams": Kind(25, (0.1, 0.2, 0.3, 0.4), (0.15, 0.1, 0.05, 0)),
    "no groups, 12 teams": Kind(12, spread=0.08),
    "no groups, 30 alike teams": Kind(30, spread=0.03),
    "2 groups, heavy tails, 40 teams": Kind(40, (1, 2), spread=0.04, levels="heavy tails"),
    "half near copies, 6 groups, 25 teams": Kind(25, (1,) * 6, near_copies=0.5, copied=0.3),
    "rewards, 3 groups, 15 teams": Kind(15, (1,) * 3, is_rewarded=True),
    "lower is better, a long tail, 40 teams": Kind(
        40, spread=0.03, levels="a long tail", higher_is_better=False
    ),
    "two attributes of 6 groups, 20 teams": Kind(20, (1,) * 6, attributes=2, spread=0.06),
}
# The shapes of fields that somebody else thought of, for whom podium 6 promised winners too much.
FRESH_KINDS = {
    "a ceiling and a tail, 50 teams": Kind(50, errors=0.15, spread=0.15, levels="a ceiling"),
    "a ceiling, 8 groups, 50 teams": Kind(50, (1,) * 8, errors=0.15, spread=0.15, levels="a ceiling"),
    "rewards, a ceiling, 50 teams": Kind(50, errors=0.15, spread=0.15, levels="a ceiling", is_rewarded=True),
    "two clusters of quality, 40 teams": Kind(40, errors=0.15, spread=0.02, levels="two clusters"),
    "two teams far ahead, 30 teams": Kind(30, spread=0.08, levels="two ahead"),
    "three teams far ahead, 30 teams": Kind(30, spread=0.08, levels="three ahead"),
    "8 teams, 5 prizes": Kind(8, spread=0.05, prizes=5),
    "40 teams, 10 prizes": Kind(40, spread=0.05, prizes=10),
    "50 long essays, 20 teams": Kind(20, long=10),
    "noise shared by all, 30 teams": Kind(30, spread=0.03, hardness=2.0),
}
# Items of very different size, for a metric with statistics.
LARGE_KINDS = {
    "square errors, 20 teams": Kind(20, values="squares", higher_is_better=False),
    "square errors of t(4), 20 teams": Kind(20, values="squares, t(4)", higher_is_better=False),
    "square errors of t(2.5), 20 teams": Kind(20, values="squares, t(2.5)", higher_is_better=False),
    "log-normal weights, 20 teams": Kind(20, values="weights"),
}


# The distribution of true scores was chosen by `FRESH_KINDS`, `LEVEL_KINDS`, two of `REAL_KINDS`, and the
# kinds with a dominant team.
LEVEL_KINDS = {
    "a ceiling and a tail, 12 teams": Kind(12, errors=0.15, spread=0.15, levels="a ceiling"),
    "two clusters of quality, 12 teams": Kind(12, errors=0.15, spread=0.02, levels="two clusters"),
    "two teams far ahead, 10 teams": Kind(10, spread=0.08, levels="two ahead"),
    "even steps, 12 teams": Kind(12, errors=0.2, spread=0.05, levels="even"),
}
OTHER_KINDS = {
    "equal teams, 12 teams": Kind(12, levels="equal"),
    "equal teams, 30 teams": Kind(30, levels="equal"),
    "unequal groups, 20 teams": Kind(20, (0.6, 0.25, 0.1, 0.05), spread=0.05),
    "rewards, 3 noisy runs, 30 teams": Kind(30, spread=0.05, is_rewarded=True, runs=3),
}
RARE_KINDS = {
    "rare blow-ups, 20 teams": Kind(20, values="squares", higher_is_better=False, blow_ups=0.005),
}
REAL_KINDS = {
    **{f"real: {name}": Kind(SYSTEMS, field=name) for name in ("wmt20_en_de", "wmt20_zh_en", "ted_en_de")},
    **{
        f"real: {name}": Kind(teams, field=name, higher_is_better=is_higher)
        for name, teams, is_higher in (
            ("trec8_ap", 129, True),
            ("sat2020_par2", 67, False),
            ("weka_openml", 30, True),
            ("m3_smape", 22, False),
            ("maxsat2016_solved", 19, True),
        )
    },
}


def main() -> None:
    """Simulate, and print all tables."""
    parser = argparse.ArgumentParser(description="Does what podium says about chance come true?")
    parser.add_argument("--boards", type=int, default=50, help="for each kind of population")
    parser.add_argument("--items", type=int, default=500, help="in a test set")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--only", nargs="+", choices=ALL_KINDS, metavar="NAME", help="kinds of populations")
    which.add_argument("--kinds", nargs="+", choices=[*SETS, "all"], default=["usual"], help="sets of them")
    parser.add_argument("--fields", type=Path, metavar="FOLDER", help="the results of real systems")
    parser.add_argument("--save", type=Path, metavar="CSV", help="write a row per statement")
    which.add_argument("--detectable", action="store_true", help="whether what is called detectable is found")
    parser.add_argument("--sets", type=int, default=200, help="test sets of each kind, for --detectable")
    options = parser.parse_args()
    print(machine())
    if options.detectable:
        from benchmarks import detectable  # it makes its populations of what is here

        detectable.show([], options.sets)
        return
    start = time.process_time()
    sets = SETS if "all" in options.kinds else options.kinds
    names = options.only or [name for each in sets for name in SETS[each]]
    rows = simulate(names, options.boards, options.items, options.fields)
    if options.save:
        rows.to_csv(options.save, index=False)
    show(rows)
    boards = rows.groupby("population")["board"].nunique().max()
    print(f"\n{boards} boards of each of {rows['population'].nunique()} kinds", end=", ")
    print(f"{time.process_time() - start:.0f} CPU seconds")


def simulate(names: list[str], boards: int, items: int, fields: Path | None = None) -> pd.DataFrame:
    """Draw boards, and collect what podium says about each, and what comes true.

    - ``population``, ``board``: the kind of population, and the number of the board;
    - ``what``: what is said: "first again", "prize again", "ahead", "score", "difference", "border", "borders"
      (all of them), "winner" (the interval beside the first team) or "best";
    - ``said``: a share, or the confidence of an interval or of a set;
    - ``came``: 1 if it came true, else 0; of "first again" and "prize again" the share of other test sets;
    - ``doubt``: whether podium doubts it, and says it with a note or not at all;
    - ``won``: how many of these prizes the file has won on the board itself;
    - ``size``: the share of the teams that are in a set, or how much wider intervals are that hold together.

    Real fields are left out unless their folder is given.
    """
    rows: list[dict[str, Any]] = []
    pool = pool_of_answers(fields)
    for name in names:
        if name in REAL_KINDS and fields is None:
            continue
        for number in range(boards):
            random = np.random.default_rng([ALL_KINDS.index(name), number])
            kind = EVERY_KIND[name]
            if isinstance(kind, PlainKind):
                told = of_plain_board(kind, items, random)
            else:
                told = of_board(kind, pool, items_of_board(kind, pool, items), random)
            rows += [{"population": name, "board": number} | row for row in told]
    return pd.DataFrame([{"doubt": False} | row for row in rows])


# ---- Populations and teams ---------------------------------------------------------------------------------


class Pool(NamedTuple):
    """A prepared population of essays, the statistics of two submissions to it, and results of real systems."""

    prepared: Any
    good: Floats
    poor: Floats
    fields: Mapping[str, Floats]  # (items, systems) each


@dataclasses.dataclass(frozen=True)
class Mean:
    """A metric without groups: the mean of one number per item."""

    items: list[str]
    labels: list[tuple[str, str]]
    groups: Ints
    measure_names: tuple[str, ...] = ("score",)

    def measures(self, sums: Floats) -> Floats:
        """Divide the sum of the numbers by that of ones."""
        quotients: Floats = sums[..., 0, :1] / sums[..., 0, 1:]
        return quotients


def pool_of_answers(fields: Path | None = None) -> Pool:
    """Score the perfect submission and a poor one on many essays, and read real fields from a folder."""
    solution, submission = make_competition(POPULATION, seed=20)
    solution = solution.drop(columns="Usage", errors="ignore")
    prepared = evaluating.prepare(hosted.load("unified"), solution, {}).prepared[evaluating.ALL]
    effective = solution["discourse_effectiveness"].astype(float)
    perfect = solution[["row_id", "essay_id", "discourse_type", "predictionstring"]].assign(
        score_discourse_effectiveness_0=1 - effective, score_discourse_effectiveness_1=effective
    )
    paths = [] if fields is None else sorted(fields.glob("*.csv*"))
    tables = {path.name.partition(".")[0]: pd.read_csv(path, index_col=0) for path in paths}
    read = {name: table.clip(*LIMITS.get(name, ())).to_numpy(np.float64) for name, table in tables.items()}
    return Pool(prepared, prepared.statistics(perfect[list(submission)]), prepared.statistics(submission), read)


class Population(NamedTuple):
    """A population with the answers of t teams to its n items."""

    prepared: Any
    teams: Floats  # the statistics, (t, n, k)
    files: Ints  # the file of each team
    runtimes: Floats  # the true runtimes


def population_of(kind: Kind, pool: Pool, random: np.random.Generator) -> Population:
    """Make teams that answer each item well or poorly at random, and the groups of the items."""
    if kind.field:
        return population_of_field(pool.fields[kind.field], kind.teams, random)
    number = len(pool.prepared.items)
    groups = np.zeros((1, number), dtype=np.int64)
    alone = [("(all)", "(all)")]
    prepared: Any = Mean(list(pool.prepared.items), alone, groups)
    good, poor = pool.good, pool.poor
    if kind.shares:
        bounds = np.rint(np.cumsum(kind.shares) / np.sum(kind.shares) * number).astype(int)
        ordered = np.searchsorted(bounds, np.arange(number), side="right")
        groups = np.stack([random.permutation(ordered) for _ in range(kind.attributes)])
        labels = [(f"attribute {a}", str(g)) for a in range(kind.attributes) for g in range(len(kind.shares))]
        own = groups + len(kind.shares) * np.arange(kind.attributes)[:, np.newaxis]
        prepared = dataclasses.replace(pool.prepared, labels=labels, groups=own)
    elif kind.long > 1:
        prepared = dataclasses.replace(pool.prepared, labels=alone, groups=groups)
    else:
        good, poor = values_of(kind, number, random)
    level = kind.errors + kind.spread * levels_of(kind, random)
    harder = np.array(kind.harder or [0.0] * max(len(kind.shares), 1))[groups[0]]
    # Items differ, and the same items are hard for all teams.
    hardness = kind.hardness * random.standard_normal(number)
    wrong = random.random((kind.teams, number)) < level[:, np.newaxis] + harder + hardness
    copied = np.argsort(level)[round(kind.copied * (kind.teams - 1))]
    near = (random.random(kind.teams) < kind.near_copies) & (np.arange(kind.teams) != copied)
    unchanged = near[:, np.newaxis] & (random.random(wrong.shape) >= CHANGED)
    wrong = np.where(unchanged, wrong[copied], wrong)
    files = np.arange(kind.teams)
    copying = random.random(kind.teams) < kind.copies
    files[copying] = random.integers(kind.teams, size=int(copying.sum()))
    files = files[files]
    teams = np.where(wrong[files][..., np.newaxis], poor, good)
    if kind.blow_ups:
        teams[..., 0] *= np.where(random.random(teams.shape[:2]) < kind.blow_ups, 400, 1)
    if kind.long > 1:
        teams = teams.reshape(kind.teams, -1, kind.long, teams.shape[-1]).sum(axis=2)
        items = prepared.items[:: kind.long]
        prepared = dataclasses.replace(prepared, items=items, groups=groups[:, :: kind.long])
    return Population(prepared, teams, files, random.lognormal(4, 0.15, kind.teams))


def items_of_board(kind: Kind, pool: Pool, items: int) -> int:
    """Count the items of a test set: fewer if they are long, or if a real field has fewer."""
    return min(items // kind.long, len(pool.fields[kind.field])) if kind.field else items // kind.long


def population_of_field(results: Floats, teams: int, random: np.random.Generator) -> Population:
    """Make the results of some systems, (items, systems), a population."""
    number, systems = results.shape
    chosen = results[:, random.choice(systems, teams, replace=False)].T
    prepared = Mean(list(map(str, range(number))), [("(all)", "(all)")], np.zeros((1, number), dtype=np.int64))
    return Population(prepared, np.stack([chosen, np.ones_like(chosen)], 2), np.arange(teams), np.ones(teams))


def values_of(kind: Kind, number: int, random: np.random.Generator) -> Floats:
    """Draw what good and poor answers to items are worth, with the weights of the items, (2, number, 2)."""
    weights = np.ones(number)
    if kind.values == "weights":
        weights = random.lognormal(0, 1.5, number)
        values = weights * (random.random((2, number)) < [[0.9], [0.6]])
    elif kind.values in SQUARES:
        errors = random.standard_t(SQUARES[kind.values], number)
        values = errors**2 * np.array([[1.0], [1.6]])
    else:
        values = random.gamma(2.0, 1.0, (2, number)) + np.array([[1.5], [0.0]])
    return np.stack([values, np.broadcast_to(weights, values.shape)], axis=2)


def levels_of(kind: Kind, random: np.random.Generator) -> Floats:
    """Draw how poor each team is, in units of the spread."""
    if kind.levels == "heavy tails":
        return random.standard_t(2, kind.teams)
    levels = random.standard_normal(kind.teams)
    ahead = {"a dominant team": 1, "two ahead": 2, "three ahead": 3}.get(kind.levels, 0)
    if ahead:
        levels[:ahead] = levels.min() - 2 + 0.3 * (random.random(ahead) if ahead > 1 else 0)
    elif kind.levels == "a long tail":
        levels[random.random(kind.teams) < 0.6] += random.uniform(3, 9)
    elif kind.levels == "two clusters":
        levels[kind.teams // 2 :] += 20
    elif kind.levels == "a ceiling":
        levels = random.exponential(size=kind.teams)
    elif kind.levels == "even":
        levels = np.arange(float(kind.teams))
    elif kind.levels == "equal":
        levels = np.zeros(kind.teams)
    return levels


# ---- One board ---------------------------------------------------------------------------------------------


class Board(NamedTuple):
    """A test set with the answers of all teams, and their runtimes."""

    prepared: Any
    teams: list[Floats]
    scores: Floats
    runtimes: Floats


def board_of(kind: Kind, population: Population, items: int, random: np.random.Generator) -> Board:
    """Draw a test set, and measure the runtimes."""
    board = board_of_items(population, random.integers(len(population.prepared.items), size=items))
    return board._replace(runtimes=population.runtimes * measured_again(kind, len(board.teams), random))


def measured_again(kind: Kind, shape: int | tuple[int, ...], random: np.random.Generator) -> Floats:
    """Draw factors of runtimes that are measured again."""
    normal = random.standard_normal((max(kind.runs, 1), *np.atleast_1d(shape)))
    factors: Floats = np.exp((OF_A_RUN if kind.runs else MEASURED_WITHIN) * np.median(normal, axis=0))
    return factors


def board_of_items(population: Population, items: Ints) -> Board:
    """Make the board of a test set with these items."""
    whole, drawn = population.prepared, np.sort(items)
    occurring, groups = np.unique(whole.groups[:, drawn], return_inverse=True)
    prepared = dataclasses.replace(
        whole,
        items=[whole.items[item] for item in drawn],
        labels=[whole.labels[group] for group in occurring],
        groups=groups.reshape(len(whole.groups), -1),
    )
    teams = list(population.teams[:, drawn])
    scores = np.array([statistics.measures(prepared, team)["score"] for team in teams])
    return Board(prepared, teams, scores, population.runtimes)


def boost(scores: Floats, runtimes: Floats) -> Floats:
    """Compute the rewards for speed."""
    fractions: Floats = hosted.module("boost").boost_fractions(scores, runtimes)[2]
    return fractions


def of_board(kind: Kind, pool: Pool, items: int, random: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield what podium says about a board, and what comes true."""
    population = population_of(kind, pool, random)
    board = board_of(kind, population, items, random)
    sign = 1 if kind.higher_is_better else -1
    seed = int(random.integers(2**31))
    resampler = statistics.Resampler(board.prepared, statistics.draw(items, RESAMPLES, seed), seed)
    draws = resampler.scores(*board.teams)
    true = np.array([statistics.measures(population.prepared, team)["score"] for team in population.teams])
    own, runtimes = board.scores, None
    if kind.is_rewarded:
        runtimes = board.runtimes * measured_again(kind, draws.population.shape, random)
        own = own * (1 + boost(own, board.runtimes))
        true = true * (1 + boost(true, population.runtimes))
    order = np.argsort(-sign * own, kind="stable")
    in_order = [board.teams[team] for team in order]
    both = [(each, statistics.sums(each, board.prepared.groups)) for each in in_order]
    reactions = [reaction(board.prepared, *each) for each in both]
    units = Units(board.prepared)

    def doubts_of(row: int, other: int) -> Doubts:
        differing = (in_order[row] != in_order[other]).any(axis=1)
        of_both = reactions[row], reactions[other]
        return doubt_of_difference(units, differing, *of_both, FEWEST_ON_A_BOARD), ""

    scores, rewards = statistics.Scores(*(each[:, order] for each in draws)), None
    if runtimes is not None:
        rewards = statistics.Rewards(runtimes[:, order], board.runtimes[order], boost)
    influence = [influences(board.prepared, *each) for each in both]
    of_groups = [reactions[0].is_of_groups] * kind.teams
    decides = uncertainty.rewarded(scores.population, rewards)
    yield from _statements(
        Field(scores, decides, influence, of_groups, kind.higher_is_better),
        Came(board.scores[order], own[order], true[order], repeated(kind, population, items, random)[:, order]),
        jury.Prizes(kind.prizes, tuple(range(kind.teams))),
        {"files": population.files[order], "rewards": rewards, "seed": seed},
        doubts_of,
        lambda row: doubt_of_score(units, reactions[row], FEWEST_ON_A_BOARD),
        doubt_of_score(units, reactions[0]),
    )
    if not kind.is_rewarded:
        yield from _of_participants(kind, board, true, seed)


class Came(NamedTuple):
    """What is known about the teams in the order of a board."""

    scores: Floats  # before rewards, (t,)
    own: Floats  # what decides, (t,)
    true: Floats  # the same on the population, (t,)
    again: Floats  # and on other test sets, (AGAIN, t)


def _statements(
    field: Field,
    came: Came,
    prizes: jury.Prizes,
    again: dict[str, Any],
    doubts_of: Callable[[int, int], Doubts],
    doubt_of: Callable[[int], Doubt | None],
    of_winner: Doubt | None,
) -> Iterator[dict[str, Any]]:
    """Yield what the functions of a board say about it, and whether it came true.

    ``doubt_of`` is the doubt about the score of a team, by its row.
    """
    teams, files, sign = len(came.own), again["files"], 1 if field.higher_is_better else -1
    ranks = range(1, teams + 1)
    board = pd.DataFrame({"rank": ranks, "team": ranks, "score": came.scores, "boosted_score": came.own})
    table = uncertainty.intervals(board, field, prizes, again)
    _, silence = uncertainty.withheld(table, prizes, doubt_of)
    is_heavy = silence is not None and silence.reason is Reason.HEAVY_TAIL
    best = table["may_be_best"] | (silence is not None)
    held = float(best[(sign * came.true).argmax()])
    yield {"what": "best", "said": statistics.LEVEL, "came": held, "size": best.mean()}
    for what, column, places in ((SHARES[0], "first_again", 1), (SHARES[1], "prize_again", prizes.number)):
        if places >= teams:
            continue
        won_again = np.mean([_among_first(sign * each, places, files) for each in came.again], axis=0)
        winners = pd.unique(files)[:places]
        for file, row in zip(*np.unique(files, return_index=True)):
            told = {"said": table[column][row], "came": won_again[row], "won": int(file in winners)}
            yield {"what": what, "doubt": silence is not None, **told}
    steps = uncertainty.differences(board, field, prizes, doubts_of)
    rows = [
        _held("border", low, high, came.true[row] - came.true[row + 1], note or is_heavy)
        for row, (low, high, note) in enumerate(zip(steps["low"], steps["high"], steps["note"]))
        if files[row] != files[row + 1]
    ]
    yield from rows
    if rows:
        known = [row["came"] for row in rows if not row["doubt"]]
        size = np.mean(widening_of_borders(field.decides, len(steps)))
        yield rows[0] | {"what": "borders", "came": min(known, default=1.0), "doubt": not known, "size": size}
    low, high = (float(table[f"boosted_score_{end}"][0]) for end in ("low", "high"))
    jointly = widening_jointly(field.decides[:, table["may_win_prize"].to_numpy()])
    yield _held("winner", low, high, came.true[0], of_winner or is_heavy) | {"size": jointly}


def repeated(kind: Kind, population: Population, items: int, random: np.random.Generator) -> Floats:
    """Compute the scores, with rewards, of all teams on other test sets, (AGAIN, t)."""
    number = len(population.prepared.items)
    drawn = [np.bincount(random.integers(number, size=items), minlength=number) for _ in range(AGAIN)]
    weights = np.array(drawn, dtype=np.uint16)
    samples = [statistics.resample(population.prepared, team, weights)[:, 0] for team in population.teams]
    scores = np.stack(samples, axis=1)
    if kind.is_rewarded:
        noise = measured_again(kind, scores.shape, random)
        scores = scores * (1 + boost(scores, population.runtimes * noise))
    return scores


def _among_first(scores: Floats, places: int, files: Ints) -> Floats:
    """Tell which teams are among the first, or have the same file as one of them; a file takes one place."""
    of_files = pd.Series(scores).groupby(files).max()
    least = of_files.nlargest(places).min()
    return np.array([float(of_files[file] >= least) for file in files.tolist()])


def _of_participants(kind: Kind, board: Board, true: Floats, seed: int) -> Iterator[dict[str, Any]]:
    """Yield whether what `podium score` prints about the first two teams, in no order, comes true."""
    table = statistics.intervals_of(board.prepared, board.teams[0], RESAMPLES, seed)
    score = table.iloc[0]
    yield _held("score", float(score["low"]), float(score["high"]), true[0], score["note"])
    mine, theirs = board.teams[0], board.teams[1]
    compared = statistics.difference(board.prepared, mine, theirs, kind.higher_is_better, RESAMPLES, seed).score
    yield _held("difference", compared.low, compared.high, true[0] - true[1], compared.doubt)
    sign = 1 if kind.higher_is_better else -1
    is_ahead = (np.sign(sign * (true[0] - true[1])) + 1) / 2
    for said, came in ((compared.ahead, is_ahead), (1 - compared.ahead, 1 - is_ahead)):
        yield {"what": "ahead", "said": said, "came": came, "doubt": compared.doubt is not None}


def _held(what: str, low: float, high: float, true: float, doubt: object) -> dict[str, Any]:
    """Make the row of an interval."""
    rounding = 1e-9
    held = low - rounding <= true <= high + rounding
    return {"what": what, "said": statistics.LEVEL, "came": float(held), "doubt": bool(doubt)}


# ---- Metrics with score() alone ------------------------------------------------------------------------------


class PlainKind(NamedTuple):
    """A metric with ``score()`` alone, and the population on which it is tried."""

    score: Callable[[Floats, Floats, Ints], float]  # of truth, answers and groups of items
    is_number: bool = False  # whether the truth is a number, and not one of two classes
    rare: float = 0.5  # the share of the rarer class
    tail: float = 0.0  # the degrees of freedom of Student's t of the errors, or 0 for normal ones


def accuracy(truth: Floats, answers: Floats, groups: Ints) -> float:
    """Compute the share of right answers."""
    return float((truth == answers).mean())


def macro_f1(truth: Floats, answers: Floats, groups: Ints) -> float:
    """Compute the mean F1 of both classes."""
    hits = [((truth == each) & (answers == each)).sum() for each in (0, 1)]
    both = [(truth == each).sum() + (answers == each).sum() for each in (0, 1)]
    return float(np.mean([2 * hit / max(all_of, 1) for hit, all_of in zip(hits, both)]))


def rmse(truth: Floats, answers: Floats, groups: Ints) -> float:
    """Compute the root of the mean square error, with the sign turned."""
    return -float(np.sqrt(((truth - answers) ** 2).mean()))


def auc(truth: Floats, answers: Floats, groups: Ints) -> float:
    """Compute the area under the ROC curve of numbers whose sign is the class."""
    positive = truth > 0
    ranks = np.argsort(np.argsort(answers)) + 1
    number = positive.sum()
    return float((ranks[positive].sum() - number * (number + 1) / 2) / (number * (~positive).sum()))


def spearman(truth: Floats, answers: Floats, groups: Ints) -> float:
    """Compute the correlation of ranks."""
    of_truth, of_answers = (np.argsort(np.argsort(each)) for each in (truth, answers))
    return float(np.corrcoef(of_truth, of_answers)[0, 1])


def ndcg(truth: Floats, answers: Floats, groups: Ints) -> float:
    """Compute the discounted gain of the 50 highest answers, relative to that of the best order."""
    gains, discounts = np.maximum(truth, 0), 1 / np.log2(np.arange(2, 52))
    first, best = np.argsort(-answers)[:50], np.sort(-gains)[:50]
    return float(gains[first] @ discounts[: len(first)] / -(best @ discounts[: len(best)]))


def worst_group(truth: Floats, answers: Floats, groups: Ints) -> float:
    """Compute the lowest accuracy of eight groups of equal size."""
    return float(np.min(np.bincount(groups, truth == answers, 8) / np.maximum(np.bincount(groups, None, 8), 1)))


PLAIN_KINDS = {
    "score(): accuracy": PlainKind(accuracy),
    "score(): macro F1, a class of 5%": PlainKind(macro_f1, rare=0.05),
    "score(): macro F1, a class of 30%": PlainKind(macro_f1, rare=0.3),
    "score(): root mean square error": PlainKind(rmse, is_number=True),
    "score(): area under the curve": PlainKind(auc, is_number=True),
    "score(): worst of eight groups": PlainKind(worst_group),
}
FRESH_PLAIN_KINDS = {
    "score(): area under the curve, a class of 10%": PlainKind(auc, is_number=True, rare=0.1),
    "score(): Spearman's correlation": PlainKind(spearman, is_number=True),
    "score(): root mean square error, heavy tails": PlainKind(rmse, is_number=True, tail=2.5),
    "score(): NDCG of the first 50": PlainKind(ndcg, is_number=True),
}
PLAIN_DRAWS, PLAIN_TEAMS = 200, 12
SETS: dict[str, Mapping[str, Any]] = {
    "usual": KINDS | PLAIN_KINDS,
    "further": FURTHER_KINDS,
    "fresh": FRESH_KINDS | FRESH_PLAIN_KINDS,
    "large": LARGE_KINDS,
    "levels": LEVEL_KINDS,
    "others": OTHER_KINDS,
    "real": REAL_KINDS,
    "rare": RARE_KINDS,
}
EVERY_KIND = {name: kind for kinds in SETS.values() for name, kind in kinds.items()}
ALL_KINDS = list(EVERY_KIND)  # the place of a name is its seed


def of_plain_board(kind: PlainKind, items: int, random: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield what podium says about a board of a metric with ``score()`` alone, and what comes true."""
    hardness, groups = random.random(POPULATION), random.integers(8, size=POPULATION)
    truth = random.standard_normal(POPULATION) + NormalDist().inv_cdf(kind.rare)
    if not kind.is_number:
        truth = (random.random(POPULATION) < kind.rare).astype(float)
    levels = 0.2 + 0.03 * random.standard_normal(PLAIN_TEAMS)
    if kind.is_number:
        noise = 0.5 * random.standard_normal(POPULATION) * (0.5 + hardness)
        own = random.standard_normal((PLAIN_TEAMS, POPULATION))
        if kind.tail:
            own = random.standard_t(kind.tail, own.shape)
        answers = list(truth + noise + 3 * levels[:, np.newaxis] * own)
    else:
        wrong = [0.6 * hardness + 0.4 * random.random(POPULATION) < level + 0.1 for level in levels]
        answers = [np.where(each, 1 - truth, truth) for each in wrong]

    def scores(rows: Ints) -> Floats:
        return np.array([kind.score(truth[rows], each[rows], groups[rows]) for each in answers])

    seed, some = int(random.integers(2**31)), random.integers(POPULATION, size=items)
    everything = halves.Items(np.arange(items), np.zeros(items, dtype=np.int64))
    drawn = np.stack([scores(some[halves.half(everything, seed, draw)]) for draw in range(PLAIN_DRAWS)])
    own, true, new = (
        scores(some),
        scores(np.arange(POPULATION)),
        scores(random.integers(POPULATION, size=items)),
    )
    centered = [halves.centered(score, of_one) for score, of_one in zip(own, drawn.T)]
    quarters = [scores(some[halves.half(everything, seed, draw, 4)])[:2] for draw in range(halves.QUARTERS)]
    first, second = (
        halves.centered(score, *both).doubt for score, *both in zip(own, drawn.T, np.transpose(quarters))
    )
    wider, doubt = widening(np.ones(items)), first
    low, high = map(float, interval(centered[0].draws, wider))
    yield _held("score", low, high, true[0], doubt)
    difference = halves.centered(own[0] - own[1], drawn[:, 0] - drawn[:, 1])
    low, high = map(float, interval(difference.draws, wider))
    yield _held("difference", low, high, true[0] - true[1], doubt or second or difference.doubt)
    order = np.argsort(-own)
    draws = np.stack([each.draws for each in centered], axis=1)[:, order]
    is_silent, teams = any(each.doubt for each in centered), range(PLAIN_TEAMS)
    doubt_of_all, alike = Doubt(Reason.FAR) if is_silent else None, [np.ones(items)] * len(teams)
    yield from _statements(
        Field(statistics.Scores(draws, draws, draws), draws, alike, [False] * len(teams), True),
        Came(own[order], own[order], true[order], new[np.newaxis, order]),
        jury.Prizes(PRIZES, tuple(teams)),
        {"files": np.array(teams), "seed": seed},
        lambda *_: (doubt_of_all, ""),
        lambda _: doubt_of_all,
        doubt_of_all,
    )


# ---- Tables ------------------------------------------------------------------------------------------------


def show(rows: pd.DataFrame) -> None:
    """Print what was said against what came."""
    _show_winners(rows)
    trusted = rows[~rows["doubt"].astype(bool)]
    lines = []
    for what in SHARES:
        some = trusted[trusted["what"] == what]
        of_bin = pd.cut(some["said"], [0, *BINS], right=False)
        lines.append([what, *(_said_and_came(some[of_bin == each]) for each in of_bin.cat.categories)])
    ends = [f"{low:g} to {min(high, 1):g}" for low, high in itertools.pairwise((0, *BINS))]
    print_table("said → came (statements), in bins", ["what", *ends], lines)

    lines = []
    for name, some in [*rows.groupby("population", sort=False), ("all", rows)]:
        likely = some[(some["said"] >= LIKELY) & ~some["doubt"].astype(bool)]
        cells = [_said_and_came(likely[likely["what"] == what]) for what in SHARES]
        cells += [_held_and_doubted(some[some["what"] == what]) for what in INTERVALS]
        best = some[some["what"] == "best"]
        cells.append(f"{best['came'].mean():.1%} ({best['size'].mean():.0%} of the teams)")
        lines.append([str(name), *cells])
    title = f"by population: shares from {LIKELY} on as said → came (statements), and what holds"
    print_table(title, ["population", *SHARES, *INTERVALS, "best"], lines)


def _show_winners(rows: pd.DataFrame) -> None:
    """Print for each kind what was said of those that won and what came, and by how much they differ."""
    asked, lines, numbers = SHARES[:2], [], []
    for name, of_kind in rows.groupby("population", sort=False):
        told = [_of_winners(of_kind[of_kind["what"] == what]) for what in asked]
        lines.append([str(name), *(text for text, _ in told)])
        numbers.append([of_one for _, of_one in told])
    means = (f"{bias:.1f}, {square:.1f}" for bias, square in np.nanmean(np.array(numbers), axis=0))
    lines.append(["means of absolute differences and of squares", *means])
    title = (
        "those that won: said → came, difference in points ± standard error, squared errors of a board × 100"
    )
    print_table(title, ["kind", *asked], lines)


def _of_winners(of_kind: pd.DataFrame) -> tuple[str, tuple[float, float]]:
    """Write what was said of those that won, with the absolute difference and the squared error."""
    some = of_kind[~of_kind["doubt"].astype(bool)]
    won = some[some["won"] > 0]
    if won.empty:
        return "withheld" if len(of_kind) else "", (np.nan, np.nan)
    said, came = (_mean_and_error(won, column)[0] for column in ("said", "came"))
    bias, error = (100 * each for each in _mean_and_error(won.assign(bias=won["said"] - won["came"]), "bias"))
    square = 100 * float(((some["said"] - some["came"]) ** 2).sum() / some["board"].nunique())
    withheld = 1 - some["board"].nunique() / of_kind["board"].nunique()
    text = f"{said:.2f} → {came:.2f}, {bias:+.0f} ± {error:.0f}, {square:.0f}"
    return text + (f", {withheld:.0%} withheld" if withheld else ""), (abs(bias), square)


def _mean_and_error(rows: pd.DataFrame, column: str) -> tuple[float, float]:
    """Compute the mean over boards, and its standard error. In a board, statements are weighted by prizes."""
    weights = rows["won"].where(rows["won"] > 0, 1.0)
    boards = [rows["population"], rows["board"]]
    of_boards = (rows[column] * weights).groupby(boards).sum() / weights.groupby(boards).sum()
    return float(of_boards.mean()), float(of_boards.std() / len(of_boards) ** 0.5)


def _said_and_came(rows: pd.DataFrame) -> str:
    """Write the mean share that was said, the one that came, and the number of statements."""
    if rows.empty:
        return ""
    return f"{rows['said'].mean():.2f} → {rows['came'].mean():.2f} ({len(rows):,})"


def _held_and_doubted(rows: pd.DataFrame) -> str:
    """Write which share of the intervals without a doubt hold, and which share is in doubt."""
    trusted = rows[~rows["doubt"].astype(bool)]
    if trusted.empty:
        return ""
    doubted = 1 - len(trusted) / len(rows)
    held, error = _mean_and_error(trusted, "came")
    wider = f", {trusted['size'].mean():.2f} times as wide" if trusted["size"].notna().any() else ""
    return f"{held:.1%} ± {error:.1%}" + wider + (f", {doubted:.0%} in doubt" if doubted > 0 else "")


if __name__ == "__main__":
    main()
