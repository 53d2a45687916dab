"""What a reader of a board must look at before a prize is given."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from podium.common.wording import counted, listed, together
from podium.ranking.jury import Prizes
from podium.ranking.rewards import BY_NAME, what_decided
from podium.ranking.similarity import entry_names
from podium.ranking.uncertainty import Certainty
from podium.statistics import Doubt, Reason
from podium.statistics.doubts import FEWEST_ITEMS
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
    similar: pd.DataFrame,
) -> list[str]:
    """List what may be wrong with a prize, in sentences without a period at the end.

    ``decided`` says what decided the order of each team and the
    next one where they have the same score. ``similar`` has the pairs of teams that are alike.
    """
    doubts = [] if chance is None else chance.doubts
    of_winners = {row: doubts[row] for row in prizes.winners if row < len(doubts)}
    return [
        *_decided_by_names(leaderboard, decided, prizes.borders),
        *filter(None, [of_other_scripts(leaderboard["team"])]),
        *_same_files(leaderboard.iloc[list(prizes.winners)], files),
        *_similar_answers(leaderboard, prizes, entries, similar),
        *_small_groups(leaderboard, of_winners, entries),
        *_failures_of_the_metric(files.loc[files["failed"].notna(), "team"].tolist()),
    ]


def better_groups_that_lower(
    winners: pd.DataFrame, slopes: Sequence[dict[str, float]], entries: Sequence[int]
) -> list[str]:
    """Name the prize winners whose score would clearly rise if they got worse in a group.

    ``slopes`` says for each winner how fast its score rises with that of each group.
    """
    worst = {row: min(of_one.items(), key=lambda item: item[1]) for row, of_one in enumerate(slopes) if of_one}
    names = entry_names(
        winners["team"].tolist(), entries, [row for row, (_, slope) in worst.items() if slope < FALLING]
    )
    places, told = winners["rank"].tolist(), []
    for group in dict.fromkeys(worst[row][0] for row, _ in names):
        some = [(row, name) for row, name in names if worst[row][0] == group]
        where = f"place{'s' if len(some) > 1 else ''} {together([places[row] for row, _ in some])}"
        falls = together([f"{-worst[row][1] / 100:.4f}" for row, _ in some])
        told.append(
            f"{where}: the score of {together([name for _, name in some])} would rise if it got worse for "
            f"{group}, by {falls} for each 0.01 of that group's score: this is how the metric weighs groups"
        )
    return told


def shared_mistakes(mistakes: Sequence[Sequence[tuple[str, str]]]) -> list[str]:
    """Name the kinds of mistakes that half of the distinct files share, which is a doubt about the solution."""
    kinds = Counter(kind for of_file in mistakes for kind in {kind for kind, _ in of_file})
    return [
        f"{number:,} of {counted(len(mistakes), 'distinct file')} seem to have {kind}: look at the solution, "
        "too, because so many teams hardly make the same mistake"
        for kind, number in sorted(kinds.items())
        if number >= max(2, len(mistakes) / 2)
    ]


def of_other_cells(differing: Sequence[tuple[str, str]]) -> list[str]:
    """Name files that are worse than a constant answer because of their cells, with what the first one has."""
    if not differing:
        return []
    files, (_, first) = [shown(name) for name, _ in differing], differing[0]
    if len(files) == 1:
        return [f"{files[0]} has other cells than the solution and is worse than a constant answer: {first}"]
    return [
        f"{len(files):,} files have other cells than the solution and are worse than a constant answer: "
        f"{listed(files)}. In the first one, {first}"
    ]


def _decided_by_names(
    leaderboard: pd.DataFrame, decided: Sequence[str], borders: Iterable[tuple[int, int]]
) -> list[str]:
    """Name the prizes about which only the order of names decided."""
    teams, ranks = leaderboard["team"].tolist(), leaderboard["rank"].tolist()
    return [
        f"place {ranks[row]} was decided by {BY_NAME}: {teams[row]} and {teams[other]} have the same score"
        for row, other in borders
        if what_decided(decided[row:other]) == BY_NAME
    ]


def _same_files(winners: pd.DataFrame, files: pd.DataFrame) -> list[str]:
    """Name the prize winners whose file that counts was also sent by other teams, once for each file."""
    digest_of = dict(zip(files.loc[files["chosen"], "team"], files.loc[files["chosen"], "fingerprint"]))
    digests = winners["team"].map(digest_of)
    sentences = []
    for digest, same in winners.groupby(digests, sort=False):
        senders = set(files.loc[files["fingerprint"] == digest, "team"])
        if len(senders) > 1:
            own = same["team"].tolist()
            others = sorted(senders - set(own))
            places = together(same["rank"].tolist())
            sentences.append(
                f"place{'s' if len(own) > 1 else ''} {places}: {together([*own, *others])} sent the same file"
            )
    return sentences


def _similar_answers(
    leaderboard: pd.DataFrame, prizes: Prizes, entries: Sequence[int], similar: pd.DataFrame
) -> list[str]:
    """Name the pairs of teams with a prize, or next to one, that agree in answers that few other teams gave."""
    at_prizes = sorted({*prizes.winners, *(row for border in prizes.borders for row in border)})
    row_of = {leaderboard["team"].iloc[row]: row for row in at_prizes if row < len(leaderboard)}
    pairs = []
    for team, other, agreement in similar[["team", "other_team", "agreement"]].itertuples(index=False):
        if agreement >= ALIKE and team in row_of and other in row_of:
            first, second = sorted((row_of[team], row_of[other]))
            if entries[first] != entries[second]:
                ranks = together([leaderboard["rank"].iloc[row] for row in (first, second)])
                names = together([leaderboard["team"].iloc[row] for row in (first, second)])
                pairs.append(f"places {ranks} on {agreement:.0%} of the items ({names})")
    if not pairs:
        return []
    return [f"teams at a prize agree in answers that few others gave, {listed(pairs)}: ask how they worked"]


def _small_groups(
    leaderboard: pd.DataFrame, doubts: Mapping[int, Doubt | None], entries: Sequence[int]
) -> list[str]:
    """Name the prize winners whose score depends on groups of few items."""
    doubted = {
        row: f"{doubt.share:.0%} of the score of "
        for row, doubt in doubts.items()
        if doubt is not None and doubt.reason is Reason.SMALL_GROUPS
    }
    names = dict(entry_names(leaderboard["team"].tolist(), entries, list(doubted)))
    shares = [doubted[row] + name for row, name in names.items()]
    if not shares:
        return []
    return [f"groups of fewer than {FEWEST_ITEMS} items decide {listed(shares)}, so chance plays a large part"]


def _failures_of_the_metric(failures: Sequence[str]) -> list[str]:
    """Name the teams for whose files the metric failed, and say what the host can do."""
    if not failures:
        return []
    files = f"{counted(len(failures), 'file')} of {listed(sorted(set(failures)))}"
    so = "it does not count: if it is" if len(failures) == 1 else "these do not count: if they are"
    return [
        f"the metric failed for {files}, so {so} at fault, let the metric raise ParticipantVisibleError; "
        "rejected.csv has what it said"
    ]
