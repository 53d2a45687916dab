"""Teams that are alike: those that sent the same file, or agree where few others do."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Floats
from podium.common.wording import together
from podium.tables.sameness import row_hashes

MOST_IN_PAIRS = 50  # teams with the same file; more of them have only pairs with the first one
# If more teams than this share or this number have the same statistics of an item, the item tells nothing.
FEW_TEAMS, MOST_TEAMS = 0.25, 100
LEAST_AGREEMENT = 0.05
CELLS_AT_ONCE = 2**17
DEVIATIONS = 5  # beyond twice the expected agreement, because strong teams agree more with each other


def senders(files: pd.DataFrame) -> list[list[str]]:
    """List the teams that sent the same file, for each such file; the order of its rows does not count."""
    teams = (sorted(set(same)) for _, same in files.groupby("fingerprint", sort=False)["team"])
    return [same for same in teams if len(same) > 1]


def _same_files(files: pd.DataFrame) -> pd.DataFrame:
    """List pairs of teams with the same file; in a large group, only those with its first team."""
    rows = []
    for teams in senders(files):
        firsts = teams if len(teams) <= MOST_IN_PAIRS else teams[:1]
        rows += [(one, two, 1.0) for at, one in enumerate(firsts) for two in teams[at + 1 :]]
    return pd.DataFrame(rows, columns=["team", "other_team", "agreement"])


def entries(leaderboard: pd.DataFrame, files: pd.DataFrame) -> tuple[int, ...]:
    """Number the files that count, in the order of the board; teams that sent the same file have one number."""
    chosen = files[files["chosen"]].set_index("team").loc[leaderboard["team"]]
    keys = [chosen[name].fillna("") for name in ("fingerprint", "side_sha256") if name in chosen]
    return tuple(pd.factorize(pd.MultiIndex.from_arrays(keys))[0].tolist())


def entry_names(teams: Sequence[str], entries: Sequence[int], rows: Sequence[int]) -> list[tuple[int, str]]:
    """Name the files of some rows of a board, each once, with its first row.

    >>> entry_names(["A", "B", "C"], [0, 1, 0], [0, 1, 2])
    [(0, 'the file that A and C sent'), (1, 'B')]
    """
    of_file: dict[int, list[int]] = {}
    for row in rows:
        of_file.setdefault(entries[row] if entries else row, []).append(row)
    named = [(same[0], together([teams[row] for row in same])) for same in of_file.values()]
    shared = {same[0] for same in of_file.values() if len(same) > 1}
    return [(row, f"the file that {name} sent" if row in shared else name) for row, name in named]


def pairs(files: pd.DataFrame, agreeing: pd.DataFrame) -> pd.DataFrame:
    """List each pair of teams that are alike once, with its highest agreement."""
    same = _same_files(files)
    tables = [table for table in (same, agreeing) if len(table)]
    similar = pd.concat(tables or [same], ignore_index=True)
    teams = pd.DataFrame(np.sort(similar[["team", "other_team"]].to_numpy(dtype=str), axis=1))
    order = similar["agreement"].sort_values(ascending=False, kind="stable").index
    kept = order[~teams.loc[order].duplicated().to_numpy()]
    return similar.loc[sorted(kept)].reset_index(drop=True)


def fingerprint(numbers: Floats) -> npt.NDArray[np.uint32]:
    """Hash the statistics of each item."""
    hashes = row_hashes(pd.DataFrame(numbers + 0.0))  # -0.0 is equal to 0.0, and has other bits
    return (hashes >> np.uint64(32)).astype(np.uint32)


def agreements(teams: Sequence[str], fingerprints: Sequence[npt.NDArray[np.uint32]]) -> pd.DataFrame:
    """Find pairs of teams that agree in statistics that few other teams have, more often than by chance.

    Two teams agree on an item if they have the same statistics of it. Few teams may have them: at most a
    quarter, and at most 100. Let u be the median number of agreements of a team with the others. Two
    independent teams are expected to agree on e = u₁·u₂ / median(u) items. A pair is listed if it agrees on at
    least 5% of the items, and on more than 2·e + 5·√e of them. This rule is our own.
    """
    number = len(fingerprints)
    if number < 3:
        return pd.DataFrame(columns=["team", "other_team", "agreement"])
    counts = _common_items(fingerprints, max(2, min(int(FEW_TEAMS * number), MOST_TEAMS)))
    items = len(fingerprints[0])
    a, b = np.nonzero(counts >= LEAST_AGREEMENT * items)
    usual = np.array([np.median(np.delete(counts[team] + counts[:, team], team)) for team in range(number)])
    count, expected = counts[a, b], usual[a] * usual[b] / max(np.median(usual), 1)
    often = count > 2 * expected + DEVIATIONS * np.sqrt(expected)
    names = np.array(teams, dtype=object)
    table: pd.DataFrame = pd.DataFrame(
        {"team": names[a], "other_team": names[b], "agreement": count / items}
    ).loc[often]
    return table.sort_values(["agreement", "team"], ascending=[False, True], kind="stable", ignore_index=True)


def _common_items(fingerprints: Sequence[npt.NDArray[np.uint32]], most: int) -> npt.NDArray[np.int32]:
    """Count on how many items each pair of teams agrees, shape (t, t), in the upper triangle.

    An item counts only if at most `most` teams have the same statistics of it.
    """
    number, items = len(fingerprints), len(fingerprints[0])
    counts = np.zeros((number, number), dtype=np.int32)
    step = max(1, CELLS_AT_ONCE // number)
    for first in range(0, items, step):
        # Within an item, sorting brings the teams with the same hash together.
        some = np.stack([each[first : first + step] for each in fingerprints], axis=1)
        hashes = some.astype(np.uint64) << np.uint64(32)
        cells = np.sort(hashes | np.arange(number, dtype=np.uint64), axis=1).ravel()
        team = (cells & np.uint64(2**32 - 1)).astype(np.int64)
        is_first = np.append(True, np.diff(cells >> np.uint64(32)) != 0)
        is_first[::number] = True
        starts = np.flatnonzero(is_first)
        sizes = np.diff(starts, append=len(cells))
        for size in np.unique(sizes[(sizes > 1) & (sizes <= most)]).tolist():
            together = team[starts[sizes == size] + np.arange(size)[:, np.newaxis]]
            one, other = np.triu_indices(size, 1)
            np.add.at(counts, (together[one], together[other]), 1)
    return counts
