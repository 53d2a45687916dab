"""Transcribe, team by team and draw by draw, how `podium.statistics.first_again` draws scores on new items."""

import math

import numpy as np

from podium.statistics import may_be_best


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
    of_families = np.stack([population[:, family].mean(axis=1) for family in families], axis=1)
    relative = [[each - mean_of(row) for each in row] for row in common]
    of_family = with_leaders(true_scores(middle, relative, random), of_families, middle, relative, random)
    scores = [[0.0] * teams for _ in range(number)]
    for position, family in enumerate(families):
        for row in range(number):
            for team in family:
                scores[row][team] = of_family[row][position]
        if len(family) > 1:
            own = [[e[row][team] - common[row][position] for team in family] for row in range(number)]
            theirs = true_scores([c[team] - middle[position] for team in family], own, random)
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
        true = true_scores([math.log(each) for each in measured], noise, random)
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


def with_leaders(scores, of_families, c, e, random):
    """The same draws, in which those that cannot be told from a third of the best have a prior of their own.

    It speaks on all draws but for the share of those that only the first team excludes as the best.
    """
    number = sum(may_be_best(of_families))
    leading = [team for team, may_be in enumerate(may_be_best(of_families, max(1, number // 3))) if may_be]
    own = true_scores([c[team] for team in leading], [[row[team] for team in leading] for row in e], random)
    others = [team for team in range(len(c)) if team != max(range(len(c)), key=lambda each: c[each])]
    without = sum(may_be_best(of_families[:, others]))
    proven = 1 if number == 1 else max(0, 1 - (number - 1) / without)
    drawn = [list(row) for row in scores]
    for row, theirs, chance in zip(drawn, own, random.random(len(scores))):
        for team, score in zip(leading, theirs):
            row[team] = score if chance >= proven else row[team]
    return drawn


def true_scores(c, e, random):
    """Draws of true scores from their centers and the errors of draws."""
    number, teams = len(e), len(c)
    v = []
    for team in range(teams):
        errors = [row[team] for row in e]
        v.append(sum((error - mean_of(errors)) ** 2 for error in errors) / number)
    middle = mean_of(c)
    widest = 3 * math.sqrt(sum((each - middle) ** 2 for each in c) / (teams - 1)) if teams > 1 else 0
    grid = [(step + 0.5) / 120 * (widest or 1) for step in range(120)]
    log_density, means, totals = [], [], []
    for tau in grid:
        p = [1 / (each + tau**2) for each in v]
        total = sum(p)
        mean = sum(weight * center for weight, center in zip(p, c)) / total
        log_density.append(
            sum(math.log(weight) - weight * (center - mean) ** 2 for weight, center in zip(p, c)) / 2
            - math.log(total) / 2
        )
        means.append(mean)
        totals.append(total)
    density = [math.exp(each - max(log_density)) for each in log_density]
    chosen = random.choice(120, number, p=np.array(density) / sum(density))
    noise = random.standard_normal(number)
    scores = []
    for row in range(number):
        tau = grid[chosen[row]]
        mu = means[chosen[row]] + noise[row] / math.sqrt(totals[chosen[row]])
        b = [tau**2 / (tau**2 + v[team]) for team in range(teams)]
        scores.append([mu + b[t] * (c[t] - mu) + math.sqrt(b[t]) * e[row][t] for t in range(teams)])
    return scores
