"""Made-up essays in any number, for the samples, the tests and the benchmarks.

    python -m examples.essays          writes solution_sample.csv and sample_submission.csv

They resemble the Feedback-Prize truth, which has 144,293 segments in 15,594 essays:

- An essay has 1 to 26 segments, with a median of 9.
- A segment has at most 836 words, with a median of 27; 0.2% of the segments have a single word.
- The seven types and the writers' demographics have the same frequencies.
- In 0.9% of the cases, a segment shares a word with the one before.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

TYPES = np.array(
    ["Lead", "Position", "Claim", "Counterclaim", "Rebuttal", "Evidence", "Concluding Statement"],
    dtype=object,
)
# There are two kinds of essays: developed ones have counterclaims and rebuttals, and plain ones have none.
# Listed for each kind: its share, its mean number of segments, the shares of its essays with a lead and with a
# conclusion. Then follow the frequencies of the types among all other segments.
DEVELOPED = (0.4, 11.0, 0.9, 0.98, (0.0, 0.02, 0.38, 0.13, 0.1, 0.37, 0.0))
PLAIN = (0.6, 8.1, 0.4, 0.8, (0.0, 0.03, 0.52, 0.0, 0.0, 0.45, 0.0))
# The median number of words and the share of effective segments, for each type.
MEDIAN_WORDS = np.array([42, 16, 17, 23, 27, 58, 50])
EFFECTIVE_SHARE = np.array([0.35, 0.25, 0.3, 0.3, 0.35, 0.25, 0.3])
POSITION_SHARE = 0.86
ONE_WORD_SHARE = 0.0023
SHARED_WORD_SHARE = 0.0087
MOST_SEGMENTS, MOST_WORDS, MOST_ESSAY_WORDS = 26, 836, 1656

ELL_STATUS = {"No": 0.847, "Yes": 0.086, None: 0.067}
ECONOMICALLY_DISADVANTAGED = {
    "Economically disadvantaged": 0.389,
    "Not economically disadvantaged": 0.478,
    None: 0.133,
}
PUBLIC_SHARE = 0.3

SAMPLE_ESSAYS, SAMPLE_SEED = 40, 18
SOLUTION_SAMPLE = Path("solution_sample.csv")
SUBMISSION_SAMPLE = Path("sample_submission.csv")


def make_competition(
    essays: int, seed: int = 0, shared_words: bool = True
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make up a solution and a submission to it."""
    random = np.random.default_rng(seed)
    developed = random.random(essays) < DEVELOPED[0]
    mean_segments, lead_share, conclusion_share = (
        np.where(developed, ours, theirs) for ours, theirs in zip(DEVELOPED[1:4], PLAIN[1:4])
    )
    per_essay = np.rint(random.gamma(9.0, mean_segments / 9.0)).clip(1, MOST_SEGMENTS).astype(np.int64)
    essay = np.repeat(np.arange(essays), per_essay)
    position = np.arange(len(essay)) - np.repeat(np.cumsum(per_essay) - per_essay, per_essay)

    has_lead = random.random(essays) < lead_share
    kind = np.where(
        developed[essay],
        random.choice(len(TYPES), len(essay), p=DEVELOPED[4]),
        random.choice(len(TYPES), len(essay), p=PLAIN[4]),
    )
    kind[(position == has_lead[essay]) & (random.random(essays) < POSITION_SHARE)[essay]] = 1
    kind[(position == 0) & has_lead[essay]] = 0
    is_last = (position == per_essay[essay] - 1) & (position > 0)
    kind[is_last & (random.random(essays) < conclusion_share)[essay]] = 6

    words = np.rint(MEDIAN_WORDS[kind] * np.exp(random.normal(0, 0.6, len(essay)))).astype(np.int64)
    words = np.clip(words, 2, MOST_WORDS)
    words[random.random(len(essay)) < ONE_WORD_SHARE] = 1
    gap = np.where(random.random(len(essay)) < 0.3, random.geometric(0.1, len(essay)), 0)
    if shared_words:
        gap[(position > 0) & (random.random(len(essay)) < SHARED_WORD_SHARE)] = -1
    end = np.cumsum(words + gap)
    end -= np.repeat((end - words - gap)[position == 0], per_essay)
    # The first segment always fits. A later one is left out if it would lie beyond the longest essay.
    exists = (end <= MOST_ESSAY_WORDS) | (position == 0)
    essay, kind, words, end = essay[exists], kind[exists], words[exists], end[exists]
    first = np.maximum(end - words, 0)
    effective = random.random(len(essay)) < EFFECTIVE_SHARE[kind]

    # The formula is bijective, so that ids are unique, and gives them no apparent order.
    essay_ids = np.array(
        [f"{(n * 0x9E3779B97F4B + seed) % 2**48:012X}" for n in range(1, essays + 1)], dtype=object
    )
    ell_status = _draw(random, ELL_STATUS, essays)
    solution = pd.DataFrame(
        {
            "row_id": np.arange(len(essay)),
            "essay_id": essay_ids[essay],
            "discourse_type": TYPES[kind],
            "predictionstring": predictionstrings(first, end - 1),
            "discourse_effectiveness": effective.astype(np.int64),
            "ell_status": ell_status[essay],
            "economically_disadvantaged": _draw(random, ECONOMICALLY_DISADVANTAGED, essays)[essay],
            "Usage": np.where(random.random(essays) < PUBLIC_SHARE, "Public", "Private").astype(object)[essay],
        }
    )
    skill = np.where(ell_status == "Yes", 0.74, 0.82)[essay]
    return solution, _make_submission(random, essay_ids, essay, kind, first, end - 1, effective, skill)


def _make_submission(
    random: np.random.Generator,
    essay_ids: npt.NDArray[np.object_],
    essay: npt.NDArray[np.int64],
    kind: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    last: npt.NDArray[np.int64],
    effective: npt.NDArray[np.bool_],
    skill: npt.NDArray[np.float64],
) -> pd.DataFrame:
    """The predictions of a model that has a certain skill, from 0 to 1, for each segment."""
    is_found = random.random(len(essay)) < skill + 0.05
    essay, kind, first, last = essay[is_found], kind[is_found], first[is_found], last[is_found]
    effective, skill = effective[is_found], skill[is_found]
    kind = np.where(random.random(len(kind)) < skill + 0.08, kind, random.permutation(kind))
    spread = (1 - skill) * 0.9 * (last - first + 1)
    first = np.maximum(first + np.rint(random.normal(0, 1, len(first)) * spread), 0).astype(np.int64)
    last = np.maximum(last + np.rint(random.normal(0, 1, len(last)) * spread), first).astype(np.int64)
    certainty = random.beta(2 + 6 * skill, 3)
    d1 = np.where(effective, certainty, 1 - certainty).round(4)

    # Some segments are predicted twice, a little shifted. Overlap removal takes the words of most of these.
    twice = random.random(len(essay)) < 0.02
    order = np.argsort(np.concatenate([np.arange(len(essay)), np.flatnonzero(twice)]), kind="stable")

    def doubled(column: npt.NDArray[Any], shift: int = 0) -> npt.NDArray[Any]:
        return np.concatenate([column, column[twice] + shift if shift else column[twice]])[order]

    return pd.DataFrame(
        {
            "row_id": np.arange(len(order)),
            "essay_id": essay_ids[doubled(essay)],
            "discourse_type": TYPES[doubled(kind)],
            "predictionstring": predictionstrings(doubled(first, 1), doubled(last, 1)),
            "score_discourse_effectiveness_0": (1 - doubled(d1)).round(4),
            "score_discourse_effectiveness_1": doubled(d1),
        }
    )


def predictionstrings(first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]) -> list[str]:
    """Write the positions from first to last as text, for each segment."""
    positions = [str(position) for position in range(int(max(last, default=0)) + 1)]
    return [" ".join(positions[a : b + 1]) for a, b in zip(first.tolist(), last.tolist())]


def _draw(random: np.random.Generator, shares: dict[str | None, float], number: int) -> npt.NDArray[np.object_]:
    """Draw a number of values with these shares."""
    probability = np.array(list(shares.values()))
    chosen = random.choice(len(shares), number, p=probability / probability.sum())
    return np.array(list(shares), dtype=object)[chosen]


def write_samples(folder: Path) -> None:
    """Write the two sample files into a folder."""
    solution, submission = make_competition(SAMPLE_ESSAYS, SAMPLE_SEED, shared_words=False)
    solution.to_csv(folder / SOLUTION_SAMPLE, index=False, lineterminator="\n")
    submission.to_csv(folder / SUBMISSION_SAMPLE, index=False, lineterminator="\n")


if __name__ == "__main__":
    write_samples(Path())
