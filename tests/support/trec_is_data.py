"""Made-up competitions for `metrics/trec_is`.

Nothing in them comes from the track: events, ids and labels are invented.
"""

import random
from pathlib import Path

import pandas as pd

from podium.metric import hosted

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "metrics" / "trec_is" / "samples"
DATA = ROOT.parent / "shared" / "data" / "trec_is"  # the track's own files, where they are at hand

TYPES = hosted.module("trec_is").INFORMATION_TYPES
PRIORITIES = ("Low", "Medium", "High", "Critical")
EVENTS = ("harbour_flood.2031", "mill_fire.2032", "old_bridge_collapse.2033", "quarry_landslide.2034")

ACTIONABLE = "Request-SearchAndRescue"
OTHER = "Report-News"
ANOTHER = "Other-Sentiment"
BOTH = f"{ACTIONABLE} {OTHER}"

QUIET_EVENT = 3  # has no tweet of High or Critical priority
ALERTING_EVENT = 1  # the run alerts to 25 unimportant tweets in a row there


def labeled(*tweets: tuple[str, ...]) -> pd.DataFrame:
    """A solution from (priority, types[, event]), with the ids t01, t02 and so on."""
    return pd.DataFrame(
        {
            "tweet_id": [f"t{number:02}" for number in range(1, len(tweets) + 1)],
            "event_id": [tweet[2] if len(tweet) > 2 else "flood" for tweet in tweets],
            "priority": [tweet[0] for tweet in tweets],
            "categories": [tweet[1] for tweet in tweets],
        }
    )


def answered(*tweets: tuple[float, str]) -> pd.DataFrame:
    """A run from (score, types) for t01, t02 and so on, ranked in this order."""
    return pd.DataFrame(
        {
            "tweet_id": [f"t{number:02}" for number in range(1, len(tweets) + 1)],
            "rank": range(1, len(tweets) + 1),
            "priority": [tweet[0] for tweet in tweets],
            "categories": [tweet[1] for tweet in tweets],
        }
    )


def competition(tweets: int = 160, events: int = 4, seed: int = 2019) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make up a solution and a submission; with at least 160 tweets every outcome occurs."""
    rng = random.Random(seed)
    event_ids = [EVENTS[number] if number < len(EVENTS) else f"event_{number}" for number in range(events)]
    type_sets = [[], *(rng.sample(TYPES, 1 + number % 4) for number in range(400))]

    event = [number * events // tweets for number in range(tweets)]
    first_id = 10**18 - 7919 * (tweets // 10)  # some ids have a digit less than the others
    ids = [str(first_id + 7919 * number + rng.randrange(7919)) for number in range(tweets)]
    level = rng.choices(range(4), (60, 20, 15, 5), k=tweets)
    level = [min(number, 1) if where == QUIET_EVENT else number for number, where in zip(level, event)]
    types = rng.choices(type_sets, k=tweets)
    solution = pd.DataFrame(
        {
            "tweet_id": ids,
            "event_id": [event_ids[number] for number in event],
            "priority": [PRIORITIES[number] for number in level],
            "categories": [" ".join(names) for names in types],
        }
    )

    noise = [rng.gauss(0.2 + 0.2 * number, 0.2) for number in level]
    score = [round(min(max(number, 0.0), 1.0), 2) for number in noise]
    burst = [n for n in range(tweets) if event[n] == ALERTING_EVENT and level[n] < 2][:25]
    for number in burst:
        score[number] = 0.99
    kept = [number for number in range(tweets) if rng.random() > 0.04]
    rows = [
        (ids[n], event_ids[event[n]], score[n] + (n in burst), score[n], _guess(types[n], rng)) for n in kept
    ]
    for number in range(tweets // 25):  # tweets without a label
        rows.append((str(2 * 10**18 + number), event_ids[number % events], 0.9, 0.9, ["Other-Irrelevant"]))
    rows.sort(key=lambda row: (row[1], -row[2]))
    submission = pd.DataFrame(
        {
            "tweet_id": [row[0] for row in rows],
            "event_id": [row[1] for row in rows],
            "rank": _ranks([row[1:3] for row in rows]),
            "priority": [row[3] for row in rows],
            "categories": [" ".join(row[4]) for row in rows],
        }
    )
    return solution, submission


def _guess(types: list[str], rng: random.Random) -> list[str]:
    """The types that a run predicts for a tweet: it misses some, adds others, and may write short names."""
    names = [name for name in types if rng.random() < 0.7]
    if rng.random() < 0.3:
        names.append(rng.choice(TYPES))
    return [name.partition("-")[2] for name in names] if rng.random() < 0.5 else names


def _ranks(rows: list[tuple[str, float]]) -> list[int]:
    """Ranks from 1 within each event; equal scores share a rank."""
    ranks: list[int] = []
    for position, row in enumerate(rows):
        if position and row == rows[position - 1]:
            ranks.append(ranks[-1])
        elif position and row[0] == rows[position - 1][0]:
            ranks.append(ranks[-1] + 1)
        else:
            ranks.append(1)
    return ranks


def official() -> pd.DataFrame:
    """The labels of 2021-A, with one row for each tweet."""
    return pd.read_csv(DATA / "solution_2021a.csv", dtype=str, keep_default_na=False)


def flat_run(solution: pd.DataFrame) -> pd.DataFrame:
    """A run in which every score is 0.5 and every tweet Other-Irrelevant, ranked as in the file."""
    rank = solution.groupby("event_id").cumcount() + 1
    return solution[["tweet_id"]].assign(rank=rank, priority=0.5, categories="Other-Irrelevant")


def perfect_run(solution: pd.DataFrame) -> pd.DataFrame:
    """A run in which every type and priority is right."""
    scores = {"Low": 0.0, "Medium": 0.5, "High": 0.75, "Critical": 1.0}
    return flat_run(solution).assign(
        priority=solution["priority"].map(scores), categories=solution["categories"]
    )
