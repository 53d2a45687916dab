"""What a jury decides about teams and late submissions: a table of teams, and a deadline.

Who does not compete decides nothing: the files of baselines and of teams that withdrew or are disqualified are
taken out before speed is rewarded and chance is examined. So the rest of the board is the one without these
files.
"""

import difflib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import pandas as pd

from podium.common.errors import HostError
from podium.common.statements import Statement
from podium.common.wording import listed, printable
from podium.ranking import choice
from podium.ranking.submissions import Submission
from podium.tables import names
from podium.tables.files import Location
from podium.tables.schema import REMARK, TEXT, Table, one_of, wrong

NO_PRIZE, BASELINE, WITHDRAWN, DISQUALIFIED = "no prize", "baseline", "withdrawn", "disqualified"
STATUSES = (NO_PRIZE, BASELINE, WITHDRAWN, DISQUALIFIED)
OUT = (BASELINE, WITHDRAWN, DISQUALIFIED)  # who has one of these does not compete
COLUMNS = ["team", "status", "reason"]
TEAMS = Table(
    key=["team"],
    team=TEXT,
    status=one_of(*STATUSES),
    reason=REMARK.optional,
)
NOTHING_DECIDED = pd.DataFrame(columns=COLUMNS)
A_DATE = len("2024-01-23")
START = datetime(1970, 1, 1, tzinfo=UTC)
RANKS = (
    "rank",
    "prize",
    "rank_before",
    "public_rank",
)  # the columns of whole numbers that a baseline has none in
END_OF_DAY = "T23:59:59"
SHOWN = "%Y-%m-%d %H:%M:%S"


class Prizes(NamedTuple):
    """Who may win the prizes of a board, by the rows of the board."""

    number: int  # of prizes
    may_win: tuple[int, ...]  # the rows of the teams that may win one, in the order of the board

    @property
    def winners(self) -> tuple[int, ...]:
        """The rows that win a prize."""
        return self.may_win[: self.number]

    @property
    def borders(self) -> tuple[tuple[int, int], ...]:
        """Each row that wins a prize, with the next one that could have won it."""
        return tuple(zip(self.winners, self.may_win[1:]))


# ---- The table of teams -----------------------------------------------------------------------------------


def read(path: Location, submissions: Sequence[Submission], failed: pd.DataFrame) -> pd.DataFrame:
    """Read the table of decisions, and make sure that it speaks of teams that there are."""
    table = TEAMS.read(path).reindex(columns=COLUMNS).astype(object).fillna("")
    table["reason"] = table["reason"].str.strip()
    teams = {each.team for each in submissions} | {*failed["team"]}
    for row, (team, status, reason) in enumerate(table.itertuples(index=False, name=None)):
        if team not in teams:
            raise HostError(wrong(path, row, "team", _known_team(team, teams), team))
        if status == DISQUALIFIED and not reason:
            raise HostError(wrong(path, row, "reason", f"why {printable(team)[:60]} is {DISQUALIFIED}", None))
    return table


def _known_team(name: str, teams: set[str]) -> str:
    """Say which team may be meant by a name that is none."""
    alike = [team for team in sorted(teams) if names.key_of(team) == names.key_of(name)]
    nearest = alike or difflib.get_close_matches(name, sorted(teams), 3, 0.5) or sorted(teams)
    return f"a team with a submission or a failed model, such as {listed(nearest, 3)}"


# ---- Who competes ------------------------------------------------------------------------------------------


def baselines_in(teams: pd.DataFrame) -> list[str]:
    """List the teams that are baselines."""
    return teams.loc[teams["status"] == BASELINE, "team"].tolist()


def competing(files: pd.DataFrame, teams: pd.DataFrame) -> pd.DataFrame:
    """Take the files of teams that do not compete out of those that count, and say why."""
    status = files["team"].map(dict(zip(teams["team"], teams["status"])))
    is_out = status.isin(OUT)
    why = np.where(is_out & files["chosen"], status, files["why"])
    return files.assign(chosen=files["chosen"] & ~is_out, why=why)


def prizes_of(leaderboard: pd.DataFrame, teams: pd.DataFrame, number: int) -> Prizes:
    """Find out who of a board may win a prize."""
    excluded = leaderboard["team"].isin(teams.loc[teams["status"] == NO_PRIZE, "team"]).to_numpy()
    return Prizes(number, tuple(np.flatnonzero(~excluded).tolist()))


def with_notes(leaderboard: pd.DataFrame, teams: pd.DataFrame) -> pd.DataFrame:
    """Say in the notes of a board, and in a column, what was decided about a team."""
    if teams.empty:
        return leaderboard
    rows = teams.itertuples(index=False, name=None)
    of_team = {team: ": ".join(filter(None, each)) for team, *each in rows}
    decided = leaderboard["team"].map(of_team).fillna("")
    notes = ["; ".join(filter(None, both)) for both in zip(decided, leaderboard["note"])]
    return leaderboard.assign(
        note=notes, status=leaderboard["team"].map(dict(zip(teams["team"], teams["status"])))
    )


def with_prizes(leaderboard: pd.DataFrame, prizes: Prizes) -> pd.DataFrame:
    """Add the column with the number of the prize that a team wins."""
    prize = pd.Series(pd.NA, index=leaderboard.index, dtype="Int64")
    prize.iloc[list(prizes.winners)] = np.arange(len(prizes.winners)) + 1
    at = list(leaderboard).index("rank_before") + 1
    leaderboard.insert(at, "prize", prize)
    return leaderboard


def with_baselines(leaderboard: pd.DataFrame, baselines: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    """Add baselines where their plain score would stand, below teams with the same one, without a rank."""
    if baselines.empty:
        return leaderboard
    nothing = {name: pd.array([pd.NA] * len(baselines), dtype="Int64") for name in RANKS if name in leaderboard}
    rows = baselines.sort_values("team").assign(**nothing, eligible=False, boost=0.0, slowdown=np.nan)
    both = pd.concat([leaderboard, rows.reindex(columns=leaderboard.columns)], ignore_index=True)
    sign = -1 if higher_is_better else 1
    # The board is in order already, also where what decides is the same.
    order = np.argsort(sign * both["boosted_score"].to_numpy(dtype=np.float64), kind="stable")
    return both.iloc[order].reset_index(drop=True)


# ---- The deadline -----------------------------------------------------------------------------------------


def late(
    files: pd.DataFrame, runtimes: pd.DataFrame | None, deadline: str
) -> tuple[pd.DataFrame, list[Statement]]:
    """Reject the files that were submitted after the deadline, and tell what is not known of others.

    Times without an offset are in UTC. A deadline without a time is the end of its day. A file of which only
    the day is known is not late on the day of the deadline.
    """
    if not deadline:
        return files, []
    given = choice.with_runtimes(files, runtimes).reindex(columns=["submitted_at"])["submitted_at"]
    texts = given.map(lambda text: "" if pd.isna(text) else str(text).strip())
    end = f"{deadline}{END_OF_DAY}" if len(deadline) == A_DATE else deadline
    limit, *times = [_moment(each) for each in choice.times_of([end, *texts], len(texts) + 1)]
    is_day = texts.str.len().eq(A_DATE)
    on_the_day = is_day & texts.eq(limit.date().isoformat())
    is_late = pd.Series([time > limit for time in times], index=files.index) & ~on_the_day & (texts != "")
    shown = pd.Series([f"{time:{SHOWN}} UTC" for time in times], index=files.index).where(~is_day, texts)
    reasons = "submitted " + shown[is_late] + f", after the deadline of {limit:{SHOWN}} UTC"
    rejected = files["rejected"].where(~is_late | files["rejected"].notna(), reasons)
    found = []
    if unknown := int((texts == "").sum()):
        found.append(Statement("time_unknown", unknown=unknown, files=len(files)))
    if on_the_day.any() and end == deadline:
        teams = sorted(set(files.loc[on_the_day, "team"]))
        found.append(Statement("on_the_day", files=int(on_the_day.sum()), teams=teams))
    return files.assign(rejected=rejected), found


def _moment(microseconds: int) -> datetime:
    """The time so long after 1970; the last one that there is for what is not known."""
    try:
        return START + timedelta(microseconds=int(microseconds))
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)
