"""Transcribe, team by team and draw by draw, how `podium.statistics.first_again` draws scores on new items."""

import math

import numpy as np


def transcribed(draws, places, seed, runtimes=None, measured=None, boost=None):
    """The share of draws (r, t) in which each team is among the first on new items."""
    number, teams = draws.shape
    random = np.random.default_rng([seed, 4])
    c = [sum(draws[:, team]) / number for team in range(teams)]
    e = [[draws[row, team] - c[team] for team in range(teams)] for row in range(number)]
    for row in e:
        mean = sum(row) / teams
        row[:] = [error - mean for error in row]
    v = []
    for team in range(teams):
        mean = sum(row[team] for row in e) / number
        v.append(sum((row[team] - mean) ** 2 for row in e) / number)
    middle = sum(c) / teams
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
    other = random.permutation(number)
    scores = []
    for row in range(number):
        tau = grid[chosen[row]]
        mu = means[chosen[row]] + noise[row] / math.sqrt(totals[chosen[row]])
        scores.append([])
        for team in range(teams):
            b = tau**2 / (tau**2 + v[team])
            theta = mu + b * (c[team] - mu) + math.sqrt(b) * e[row][team]
            scores[row].append(theta + e[other[row]][team])
    if boost is not None:
        again = random.permutation(number)
        for row in range(number):
            for team in range(teams):
                t2 = runtimes[row][team] * runtimes[again[row]][team] / measured[team]
                scores[row][team] *= 1 + boost(scores[row][team], t2)
    shares = [0.0] * teams
    for row in scores:
        for team in range(teams):
            shares[team] += sum(other > row[team] for other in row) < places
    return [share / number for share in shares]
