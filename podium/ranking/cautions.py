"""What a jury must check before it gives the prizes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from podium.common.statements import Statement, say
from podium.ranking.jury import Prizes
from podium.ranking.rewards import BY_NAME, by_name_alone, what_decided
from podium.ranking.similarity import entry_names
from podium.ranking.uncertainty import Certainty
from podium.statistics import Doubt, Reason
from podium.statistics.doubts import FEWEST_ITEMS, ROUNDED_TO
from podium.tables.names import of_other_scripts, shown

ALIKE = 0.5  # the share of the items on which teams agree that a jury must look at
FALLING = -0.05  # a score clearly falls with that of a group if a point there costs so much


def cautions(
    leaderboard: pd.DataFrame,
    files: pd.DataFrame,
    prizes: Prizes,
    entries: Sequence[int],
    chance: Certainty | None,
    decided: Sequence[str],
    agreeing: pd.DataFrame,
) -> list[Statement]:
    """List what may be wrong with a prize.

    ``decided`` says what decided the order of each team and the next one where they have the same score.
    ``agreeing`` has the pairs of teams whose files that count agree where few others do.
    """
    doubts = [] if chance is None else chance.doubts
    of_winners = {row: doubts[row] for row in prizes.winners if row < len(doubts)}
    return [
        *_decided_by_names(leaderboard, decided, prizes.borders),
        *of_other_scripts(leaderboard["team"]),
        *_same_files(leaderboard.iloc[list(prizes.winners)], files),
        *_similar_answers(leaderboard, prizes, entries, agreeing),
        *_small_groups(leaderboard, of_winners, entries),
        *_failures_of_the_metric(files.loc[files["failed"].notna(), "team"].tolist()),
    ]


def better_groups_that_lower(
    winners: pd.DataFrame, slopes: Sequence[dict[str, float]], entries: Sequence[int]
) -> list[Statement]:
    """Name the prize winners whose score would clearly rise if they got worse in a group.

    ``slopes`` says for each winner how fast its score rises with that of each group.
    """
    rounded = [{group: round(slope, ROUNDED_TO) for group, slope in of_one.items()} for of_one in slopes]
    worst = {row: min(of_one.items(), key=lambda item: item[1]) for row, of_one in enumerate(rounded) if of_one}
    names = entry_names(
        winners["team"].tolist(), entries, [row for row, (_, slope) in worst.items() if slope < FALLING]
    )
    places, found = winners["rank"].tolist(), []
    for group in dict.fromkeys(worst[row][0] for row, _ in names):
        some = [(row, name) for row, name in names if worst[row][0] == group]
        facts = {
            "places": [places[row] for row, _ in some],
            "teams": [name for _, name in some],
            "falls": [f"{-worst[row][1] / 100:.4f}" for row, _ in some],
        }
        found.append(Statement("worse_is_better", group=group, **facts))
    return found


def shared_mistakes(mistakes: Sequence[Sequence[tuple[str, str]]]) -> list[Statement]:
    """Name the kinds of mistakes that half of the distinct files share, which is a doubt about the solution."""
    kinds = Counter(kind for of_file in mistakes for kind in {kind for kind, _ in of_file})
    return [
        Statement("shared_mistake", number=number, files=len(mistakes), mistake=kind)
        for kind, number in sorted(kinds.items())
        if number >= max(2, len(mistakes) / 2)
    ]


def of_other_cells(differing: Sequence[tuple[str, str]]) -> list[Statement]:
    """Name files that are worse than a constant answer because of their cells, with what the first one has."""
    if not differing:
        return []
    kind = "file_of_other_cells" if len(differing) == 1 else "files_of_other_cells"
    files = [shown(name) for name, _ in differing]
    return [Statement(kind, number=len(files), files=files, first=differing[0][1])]


def _decided_by_names(
    leaderboard: pd.DataFrame, decided: Sequence[str], borders: Iterable[tuple[int, int]]
) -> list[Statement]:
    """Name the prizes about which only the order of names decided, once for all teams with one score."""
    teams, ranks, told = leaderboard["team"].tolist(), leaderboard["rank"].tolist(), list[Statement]()
    by_name = [border for border in borders if what_decided(decided[slice(*border)]) == BY_NAME]
    for run in by_name_alone(decided):
        places = [ranks[row] for row, _ in by_name if row in run]
        if places and len(run) == 2:
            told.append(Statement("decided_by_name", place=places[0], team=teams[run[0]], other=teams[run[1]]))
        elif places:
            told.append(Statement("decided_by_names", places=places, teams=len(run)))
    return told


def _same_files(winners: pd.DataFrame, files: pd.DataFrame) -> list[Statement]:
    """Name the prize winners whose file that counts was also sent by other teams, once for each file."""
    digest_of = dict(zip(files.loc[files["chosen"], "team"], files.loc[files["chosen"], "fingerprint"]))
    found = []
    for digest, same in winners.groupby(winners["team"].map(digest_of), sort=False):
        senders = set(files.loc[files["fingerprint"] == digest, "team"])
        if len(senders) > 1:
            own = same["team"].tolist()
            teams = [*own, *sorted(senders - set(own))]
            found.append(Statement("same_file", places=same["rank"].tolist(), teams=teams))
    return found


def _similar_answers(
    leaderboard: pd.DataFrame, prizes: Prizes, entries: Sequence[int], agreeing: pd.DataFrame
) -> list[Statement]:
    """Name the pairs of teams with a prize, or next to one, that agree in answers that few other teams gave."""
    at_prizes = sorted({*prizes.winners, *(row for border in prizes.borders for row in border)})
    row_of = {leaderboard["team"].iloc[row]: row for row in at_prizes if row < len(leaderboard)}
    pairs = []
    for team, other, agreement in agreeing[["team", "other_team", "agreement"]].itertuples(index=False):
        if agreement >= ALIKE and team in row_of and other in row_of:
            rows = sorted((row_of[team], row_of[other]))
            if entries[rows[0]] != entries[rows[1]]:
                both = {name: leaderboard[name].iloc[rows].tolist() for name in ("rank", "team")}
                pairs.append(say("agree_on", places=both["rank"], share=agreement, teams=both["team"]))
    return [Statement("agree_rarely", pairs=pairs)] if pairs else []


def _small_groups(
    leaderboard: pd.DataFrame, doubts: Mapping[int, Doubt | None], entries: Sequence[int]
) -> list[Statement]:
    """Name the prize winners whose score depends on groups of few items."""
    share_of = {
        row: doubt.share
        for row, doubt in doubts.items()
        if doubt is not None and doubt.reason is Reason.SMALL_GROUPS
    }
    names = entry_names(leaderboard["team"].tolist(), entries, list(share_of))
    shares = [say("share_of_score", share=share_of[row], team=name) for row, name in names]
    return [Statement("small_groups", fewest=FEWEST_ITEMS, shares=shares)] if shares else []


def _failures_of_the_metric(failures: Sequence[str]) -> list[Statement]:
    """Name the teams for whose files the metric failed."""
    return [Statement("metric_failed", files=failures, teams=sorted(set(failures)))] if failures else []
