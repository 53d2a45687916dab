"""How often a gain that `podium estimate` promises from a Public board comes true on other essays.

    python -m benchmarks.promises

Forty made-up teams submit to a competition of 2,500 essays. In each trial some of them have random
runtimes. A team learns from the Public board how fast its model must be to gain a rank. On the board of 1,500
other essays, the same change gains a rank or not.
"""

import numpy as np
import pandas as pd

import podium
from examples.essays import make_competition
from podium import statistics
from podium.common.arrays import Floats
from podium.metric.contract import Measured
from podium.ranking import estimate

ESSAYS, OTHERS = 2500, 1500
TEAMS = 40
TRIALS = 100
KINDS = [(6, 300), (12, 100), (12, 300), (12, 1000), (40, 40), (40, 300)]  # teams, essays of the Public board
ASKING = 4  # teams of each trial that ask for an estimate


def make_submission(sample: pd.DataFrame, share: float, certainty: float, seed: int) -> pd.DataFrame:
    """The predictions of a better or worse model, made from the sample submission."""
    kept = sample[np.random.default_rng(seed).random(len(sample)) < share]
    d1 = (0.5 + certainty * (kept["score_discourse_effectiveness_1"] - 0.5)).clip(0, 1).round(4)
    return kept.assign(score_discourse_effectiveness_0=(1 - d1).round(4), score_discourse_effectiveness_1=d1)


def rank_of(board: pd.DataFrame, team: str, runtime: float) -> int:
    """Get the rank that a team has with a runtime."""
    final = estimate.boost.boost(board.assign(runtime=board["runtime"].mask(board["team"] == team, runtime)))
    return int(final.loc[final["team"] == team, "rank"].iloc[0])


def promises(prepared: Measured, counts: list[Floats], teams: int, public: int, seed: int) -> list[bool]:
    """Tell for each promised gain of a rank whether it comes true."""
    random = np.random.default_rng(seed)
    kept = []
    for _ in range(TRIALS):
        order = random.permutation(ESSAYS)
        chosen = random.choice(TEAMS, teams, replace=False).tolist()
        runtimes = random.uniform(600, 1200, len(chosen)).round()
        boards = []
        for essays in (order[:public], order[public : public + OTHERS]):
            here = np.isin(np.arange(ESSAYS), essays)
            part = statistics.part(prepared, here)
            scores = [statistics.measures(part, counts[team][here])["score"] for team in chosen]
            names = [f"team {team}" for team in chosen]
            boards.append(pd.DataFrame({"team": names, "score": scores, "runtime": runtimes}))
        for row in random.choice(len(chosen), ASKING, replace=False).tolist():
            team, now = boards[0]["team"][row], float(runtimes[row])
            changes = estimate.break_even_runtimes(boards[0], team)["runtime"]
            faster = changes[changes < now]
            if len(faster):
                wanted = float(faster.iloc[-1]) * (1 - 1e-6)
                kept.append(rank_of(boards[1], team, wanted) < rank_of(boards[1], team, now))
    return kept


def main() -> None:
    """Print the share of promises that came true, by the numbers of teams and of essays of the Public board."""
    solution, sample = make_competition(ESSAYS, seed=5, shared_words=False)
    prepared = podium.prepare(solution).prepared["All"]
    random = np.random.default_rng(0)
    qualities = random.uniform([0.9, 0.8], [1.0, 1.3], (TEAMS, 2)).tolist()
    submissions = [make_submission(sample, share, sure, seed) for seed, (share, sure) in enumerate(qualities)]
    counts = [prepared.statistics(submission) for submission in submissions]
    for teams, public in KINDS:
        kept = promises(prepared, counts, teams, public, seed=1)
        print(
            f"{teams} teams, Public board of {public:,} essays: {np.mean(kept):.0%} of {len(kept)} promised "
            "gains came true"
        )


if __name__ == "__main__":
    main()
