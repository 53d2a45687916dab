"""Transcribe, draw by draw, how `podium.statistics.population` finds the scores that the whole population
may have.
"""

import math
from typing import Any

import numpy as np

SHARES = [(number + 0.5) / 200 for number in range(200)]


def sums_of_groups(prepared: Any, mine: Any, weights: Any) -> list[Any]:
    """The weighted sums of the statistics of each group, item by item."""
    sums = [np.zeros(mine.shape[1]) for _ in prepared.labels]
    for item, weight in enumerate(weights):
        for group in prepared.groups[:, item]:
            sums[group] = sums[group] + float(weight) * mine[item]
    return sums


def plausible_scores(prepared: Any, mine: Any, weights: Any, seed: int) -> list[list[float]]:
    """For each draw (r, n) a plausible score, one with the noise of the middle, and one with that of a test
    set.
    """
    ones, once = np.ones((len(mine), 1)), np.ones(len(mine))
    observed, sizes = sums_of_groups(prepared, mine, once), sums_of_groups(prepared, ones, once)
    means = [total / size for total, size in zip(observed, sizes)]
    drawn = [sums_of_groups(prepared, mine, draw) for draw in weights]
    sizes_drawn = [sums_of_groups(prepared, ones, draw) for draw in weights]
    noise = [
        [total / size - mean if size > 0 else 0 * mean for total, size, mean in zip(totals, its_sizes, means)]
        for totals, its_sizes in zip(drawn, sizes_drawn)
    ]
    columns = [prepared.measure_names.index(f"{attribute} = {value}") for attribute, value in prepared.labels]
    scores = prepared.measures(np.array(observed))[columns]
    scores_drawn = np.array([prepared.measures(np.array(totals))[columns] for totals in drawn])
    variances = [
        np.var(column[~np.isnan(column)]) if not np.isnan(column).all() else np.nan for column in scores_drawn.T
    ]
    random = np.random.default_rng([seed, 3])
    order, others = random.permutation(len(weights)), random.permutation(len(weights))
    plausible, middle, test_set = ([list(means) for _ in weights] for _ in range(3))
    for attribute in dict.fromkeys(attribute for attribute, _ in prepared.labels):
        groups = [number for number, label in enumerate(prepared.labels) if label[0] == attribute]
        known = [g for g in groups if math.isfinite(scores[g]) and math.isfinite(variances[g])]
        score = {g: scores[g] if g in known else np.mean([scores[k] for k in known]) for g in groups}
        of_item = sum(sizes[g][0] * variances[g] for g in known) / len(known)
        sigma2 = {g: of_item / sizes[g][0] for g in groups}
        posterior = posterior_of(score, sigma2)
        total, cumulated = 0.0, []
        for density, _ in posterior:
            total += density
            cumulated.append(total)
        quantiles = [(number + 0.5) / len(weights) * total for number in range(len(weights))]
        sorted_ones = [next(n for n, c in enumerate(cumulated) if c >= q) for q in quantiles]
        chosen = [sorted_ones[place] for place in order]
        kept_on_draws: dict[int, list[float]] = {g: [] for g in groups}
        weights_on_draws: dict[int, list[float]] = {g: [] for g in groups}
        for draw, of_draw in enumerate(plausible):
            omega2 = posterior[chosen[draw]][1]
            precision = {g: 1 / (sigma2[g] + omega2[g]) for g in groups}
            mu = 0 * means[groups[0]]
            for g in groups:
                widened = math.sqrt(1 + omega2[g] / sigma2[g]) * noise[others[draw]][g]
                mu = mu + precision[g] / sum(precision.values()) * (means[g] + widened)
            for g in groups:
                kept = omega2[g] / (sigma2[g] + omega2[g])
                kept_on_draws[g].append(kept)
                weights_on_draws[g].append(precision[g] / sum(precision.values()))
                of_draw[g] = kept * means[g] + (1 - kept) * mu + math.sqrt(kept) * noise[draw][g]
        kept_by = {g: np.mean(kept_on_draws[g]) for g in groups}
        weight_of = {g: np.mean(weights_on_draws[g]) for g in groups}
        for draw in range(len(weights)):
            drawn_means = {g: means[g] + noise[draw][g] for g in groups}
            common = sum(weight_of[g] * drawn_means[g] for g in groups)
            common_mean = sum(weight_of[g] * means[g] for g in groups)
            for g in groups:
                middle[draw][g] = kept_by[g] * drawn_means[g] + (1 - kept_by[g]) * common
                moved = kept_by[g] * means[g] + (1 - kept_by[g]) * common_mean
                test_set[draw][g] = moved + noise[draw][g]
    return [
        [
            float(prepared.measures(np.array([np.maximum(m, 0) * n for m, n in zip(of_draw, sizes)]))[0])
            for of_draw in each
        ]
        for each in (plausible, middle, test_set)
    ]


def posterior_of(score: dict[int, float], sigma2: dict[int, float]) -> list[tuple[float, dict[int, float]]]:
    """The density, up to a constant factor, of each ω² of the groups: they are all alike, or one of them is
    far off.
    """
    typical = len(sigma2) / sum(1 / value for value in sigma2.values())
    densities = []
    for far in [None, *score]:
        for share in SHARES:
            omega2 = {g: typical * (1 - share) / share + (100 * typical if g == far else 0) for g in score}
            precision = {g: 1 / (sigma2[g] + omega2[g]) for g in score}
            total = sum(precision.values())
            center = sum(precision[g] * score[g] for g in score) / total
            density = share**-1.5 * (1 - share) ** -0.9 / math.sqrt(total) / (1 if far is None else len(score))
            for g in score:
                density *= math.sqrt(precision[g]) * math.exp(-precision[g] * (score[g] - center) ** 2 / 2)
            densities.append((density, omega2))
    return densities
