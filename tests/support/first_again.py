"""Transcribe, team by team and draw by draw, how `podium.statistics.first_again` draws scores on new items."""

import math
import statistics

import numpy as np


def transcribed(draws, places, seed, runtimes=None, measured=None, boost=None):
    """The share of draws in which each team is among the first on new items, from three arrays (r, t)."""
    population, of_middle, of_test_set = (np.asarray(each) for each in draws)
    number, teams = population.shape
    random = np.random.default_rng([seed, 4])
    c = [mean_of(population[:, team]) for team in range(teams)]
    scores = true_scores(c, apart(of_middle))
    other, noise = random.permutation(number), apart(of_test_set)
    for row in range(number):
        for team in range(teams):
            scores[row][team] += noise[other[row]][team]
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


def apart(draws):
    """The deviations of each team's draws from their mean, without the mean of all teams on the draw."""
    means = [mean_of(column) for column in draws.T]
    errors = [[value - mean for value, mean in zip(row, means)] for row in draws]
    return [[error - mean_of(row) for error in row] for row in errors]


def true_scores(c, e):
    """True scores from their centers and the errors of draws, with the textbook's normal prior."""
    teams = len(c)
    if teams == 1:
        return [[c[0] + row[0]] for row in e]
    v = [statistics.pvariance([row[team] for row in e]) for team in range(teams)]
    tau_squared = max(statistics.variance(c) - mean_of(v), 0)
    b = [tau_squared / (tau_squared + each) for each in v]
    mu = mean_of(c)
    return [
        [mu + b[team] * (c[team] - mu) + math.sqrt(b[team]) * row[team] for team in range(teams)] for row in e
    ]
