"""Leaderboards for the tests: the memo's tables, boards with few different values, and section 4 transcribed
literally.
"""

from fractions import Fraction
from typing import Any

import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st

from tests.support.examples import examples

QUICK = settings(examples(40), derandomize=True)

TABLE_2 = pd.DataFrame(
    {"team": ["Red", "Blue", "Green", "Yellow"], "score": [0.6, 0.595, 0.59, 0.58], "runtime": [50, 45, 48, 40]}
)
TABLE_3 = pd.DataFrame(
    {"team": ["Red", "Green", "Blue", "Yellow"], "score": [0.6, 0.59, 0.55, 0.25], "runtime": [50.4, 48, 45, 5]}
)

Row = tuple[str, object, object] | tuple[str, object, object, object]


def leaderboard(*rows: Row, dtype: Any = None) -> pd.DataFrame:
    """A leaderboard from rows of team, score, runtime and, if given, time of submission."""
    columns = ["team", "score", "runtime", "submitted_at"][: len(rows[0])]
    return pd.DataFrame(rows, columns=columns, dtype=dtype)


def by_team(board: pd.DataFrame, column: str) -> dict[str, Any]:
    """The cells of a column by team."""
    return dict(zip(board["team"], board[column].tolist()))


def exact(cell: object) -> Fraction | None:
    """A cell as the fraction that its decimal digits mean; None if it is missing."""
    return None if pd.isna(cell) else Fraction(str(cell))


def transcribed(
    board: pd.DataFrame, max_boost: float = 0.05, eligibility_ratio: float = 1.05, slowdown_limit: float = 1.2
) -> list[dict[str, Any]]:
    """Transcribe section 4 of the memo team by team and pair by pair, in the order of the rows."""
    most, ratio, limit = (Fraction(str(number)) for number in (max_boost, eligibility_ratio, slowdown_limit))
    teams: list[dict[str, Any]] = []
    for row in board.to_dict("records"):
        when = row.get("submitted_at")
        teams.append(
            {
                "team": row["team"],
                "score": exact(row["score"]),
                "runtime": exact(row["runtime"]),
                "when": None if when is None or pd.isna(when) else str(when),
            }
        )
    best = max((team["score"] for team in teams if team["score"] is not None), default=0)
    for team in teams:
        team["eligible"] = bool(team["runtime"] and team["score"] and best / team["score"] <= ratio)
    fastest = min((team["runtime"] for team in teams if team["eligible"]), default=None)
    for team in teams:
        team["slowdown"] = team["runtime"] / fastest if team["runtime"] and fastest else None
        team["boost"] = Fraction(0)
        if team["eligible"] and team["slowdown"] <= limit:
            team["boost"] = most - most / (limit - 1) * (team["slowdown"] - 1)
        team["boosted_score"] = None if team["score"] is None else team["score"] * (1 + team["boost"])
    for team in teams:
        team["rank"] = 1 + sum(beats(other, team, "boosted_score") for other in teams if other is not team)
        team["rank_before"] = 1 + sum(beats(other, team, "score") for other in teams if other is not team)
    return teams


def beats(a: dict[str, Any], b: dict[str, Any], score: str) -> bool:
    """Whether a team is before another one by score, time of submission, runtime and name."""
    for name, better in ((score, "higher"), ("when", "lower"), ("runtime", "lower"), ("team", "lower")):
        if a[name] != b[name]:
            if a[name] is None or b[name] is None:
                return b[name] is None
            return (a[name] > b[name]) == (better == "higher")
    raise AssertionError("two teams of one name")


@st.composite
def leaderboards(draw: st.DrawFn, max_size: int = 7) -> pd.DataFrame:
    """Boards with few different values, so that ties, limits and missing cells are common."""
    any_score = st.sampled_from([0.6, 0.63, 0.5943, 0.566, 0.615, 0.6225, 0.0]) | st.integers(560, 640).map(
        lambda n: n / 1000
    )
    any_runtime = st.sampled_from([40.0, 44.0, 48.0, 0.342, 0.285]) | st.integers(350, 700).map(
        lambda n: n / 10
    )
    scores = st.sampled_from([*draw(st.lists(any_score, min_size=1, max_size=5)), None])
    runtimes = st.sampled_from([*draw(st.lists(any_runtime, min_size=1, max_size=5)), None])
    when = st.sampled_from(["2024-01-23", "2024-01-24", None])
    names = draw(st.lists(st.sampled_from("ABCDEFGHIJ"), min_size=1, max_size=max_size, unique=True))
    rows = [(name, draw(scores), draw(runtimes), draw(when)) for name in names]
    board = leaderboard(*rows).astype({"score": float, "runtime": float, "submitted_at": object})
    return board if draw(st.booleans()) else board.drop(columns="submitted_at")


PARAMETERS = st.sampled_from(
    [{}, {}, {}, {"max_boost": 0.0}, {"max_boost": 0.1}, {"eligibility_ratio": 1.0}, {"slowdown_limit": 1.1}]
)
