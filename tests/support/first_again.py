"""Transcribe, team by team and draw by draw, how `podium.statistics.first_again` draws scores on new items."""

import itertools
import math
import operator
from statistics import NormalDist

import numpy as np

normal = NormalDist()


def transcribed(draws, places, seed, runtimes=None, measured=None, boost=None):
    """The share of draws in which each team is among the first on new items, from three arrays (r, t)."""
    population, of_middle, of_test_set = (np.asarray(each) for each in draws)
    number, teams = population.shape
    random = np.random.default_rng([seed, 4])
    c = [mean_of(population[:, team]) for team in range(teams)]
    families = families_of(population, c)
    middle = [mean_of([c[team] for team in family]) for family in families]
    e = centered(of_middle)
    common = [[mean_of([row[team] for team in family]) for family in families] for row in e]
    relative = [[each - mean_of(row) for each in row] for row in common]
    of_family = true_scores(middle, relative)
    scores = [[0.0] * teams for _ in range(number)]
    for position, family in enumerate(families):
        for row in range(number):
            for team in family:
                scores[row][team] = of_family[row][position]
        if len(family) > 1:
            own = [[e[row][team] - common[row][position] for team in family] for row in range(number)]
            theirs = true_scores([c[team] - middle[position] for team in family], own)
            for row in range(number):
                for team, score in zip(family, theirs[row]):
                    scores[row][team] += score - mean_of(theirs[row])
    other = random.permutation(number)
    noise = centered(of_test_set)
    for row in range(number):
        again = noise[other[row]]
        of_all = mean_of([mean_of([again[team] for team in family]) for family in families])
        for team in range(teams):
            scores[row][team] += again[team] - of_all
    if boost is not None:
        noise = [[math.log(t / m) for t, m in zip(row, measured)] for row in runtimes]
        true = true_scores([math.log(each) for each in measured], noise)
        again = random.permutation(number)
        for row in range(number):
            for team in range(teams):
                t2 = math.exp(true[row][team] + noise[again[row]][team])
                scores[row][team] *= 1 + boost(scores[row][team], t2)
    shares = [0.0] * teams
    for row in scores:
        for team in range(teams):
            shares[team] += sum(other > row[team] for other in row) < places
    return [share / number for share in shares]


def mean_of(values):
    return sum(values) / len(values)


def centered(draws):
    """The deviations of each team's draws from their mean."""
    means = [mean_of(column) for column in draws.T]
    return [[value - mean for value, mean in zip(row, means)] for row in draws]


def families_of(population, c):
    """Lists of teams: the best one that is left, and those whose draws hardly differ from its own.

    That is, by less than a tenth of the variance that 90% of all differences have at most.
    """
    distance = {
        (i, j): float(np.var((population[:, i] - c[i]) - (population[:, j] - c[j])))
        for i in range(len(c))
        for j in range(len(c))
    }
    pairs = [distance[i, j] for i in range(len(c)) for j in range(i)]
    limit = 0.1 * float(np.quantile(pairs, 0.9)) if pairs else 0
    left, families = sorted(range(len(c)), key=lambda team: -c[team]), []
    while left:
        first = left[0]
        family = [t for t in left if t == first or distance[first, t] < limit]
        families.append(sorted(family))
        left = [team for team in left if team not in family]
    return families


def true_scores(c, e):
    """True scores from their centers and the errors of draws, which say at which quantile each one lies."""
    number, teams = len(e), len(c)
    if teams == 1:
        return [[c[0] + row[0]] for row in e]
    v = []
    for team in range(teams):
        errors = [row[team] for row in e]
        v.append(sum((error - mean_of(errors)) ** 2 for error in errors) / number)
    s = [math.sqrt(each) for each in v]
    low, high = min(c) - 3 * max(s), max(c) + 3 * max(s)
    cells = int((high - low) / (0.25 * float(np.median(s))))
    edges = [low + (high - low) * step / cells for step in range(cells + 1)]
    below = [[normal.cdf((edge - c[i]) / s[i]) for edge in edges] for i in range(teams)]
    likely = [[after - before for before, after in itertools.pairwise(row)] for row in below]
    middle = float(np.median(c))
    observed = sum((each - middle) ** 2 for each in c if each > middle) / ((teams - 1) / 2)
    tau = math.sqrt(max(observed - mean_of(v), 0) + observed / teams)
    of_edges = [normal.cdf((edge - middle) / tau) for edge in edges]
    g = [max(after - before, 1e-300) for before, after in itertools.pairwise(of_edges)]
    for _ in range(3):
        totals = [sum(map(operator.mul, g, row)) for row in likely]
        g = [sum(g[k] * likely[i][k] / totals[i] for i in range(teams)) / teams for k in range(cells)]
    scores = [[0.0] * teams for _ in range(number)]
    for i in range(teams):
        weights = list(map(operator.mul, g, likely[i]))
        ends = [0.0, *itertools.accumulate(weights)]
        for row in range(number):
            left = normal.cdf(e[row][i] / s[i]) * ends[-1]
            k = max(cell for cell in range(cells) if ends[cell] <= left)
            part = (left - ends[k]) / weights[k]
            scores[row][i] = c[i] + s[i] * normal.inv_cdf(below[i][k] + part * likely[i][k])
    return scores
