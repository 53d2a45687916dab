"""Models whose predictions differ from run to run: do all of them get the same scores?

`podium run` knows no scores.  It takes the slowest run of such a model, and keeps the predictions of the other
ones in the folder ``differing`` beside runtimes.csv.  They are scored like submissions.  If all scores agree to
nine digits, the difference decides nothing: then the runtime is that of all runs.  The names of the files are
the hashes of their contents, so that runtimes.csv determines everything.
"""

import math
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from podium.ranking.final import Inputs
from podium.ranking.job import sha256
from podium.ranking.passes import Scored
from podium.ranking.speed import AGREED, DIFFERING
from podium.ranking.submissions import Submission
from podium.tables.files import is_url, read_bytes
from podium.words.errors import HostError
from podium.words.wording import listed, printable

__all__ = ["Other", "others_of", "settled"]

NAME = re.compile(r"([0-9a-f]{64})(\.csv|\.csv\.gz|\.parquet)")
DIGITS = 1e-9  # relative


class Other(NamedTuple):
    """What another run of a model has predicted."""

    row: int  # of the runtimes
    place: int  # of the submission among the others, with which it is compared
    submission: Submission


def others_of(inputs: Inputs) -> list[Other]:
    """The predictions of the runs that do not count, of each model for which all of them are there."""
    table, path = inputs.runtimes, inputs.options.runtimes
    if table is None or path is None or is_url(path) or not {"submission", DIFFERING, *AGREED} <= {*table}:
        return []
    places = {each[:2]: place for place, each in enumerate(inputs.submissions)}
    found, lacking = [], []
    for row, (team, name, cell) in enumerate(zip(table["team"], table["submission"], table[DIFFERING])):
        if not cell or (place := places.get((team, name))) is None:
            continue
        files = [Path(path).parent / DIFFERING / team / _checked(each, path) for each in str(cell).split()]
        if all(map(_is_there, files)):
            like = inputs.submissions[place]
            found += [Other(row, place, like._replace(name=file.name, path=str(file))) for file in files]
        else:
            lacking.append(team)
    if lacking:
        what = f"{path}: {DIFFERING}/ beside it lacks predictions of {listed(lacking)}"
        warnings.warn(f"{what}, so the slowest run counts, whatever their scores are", stacklevel=2)
    return found


def _checked(name: str, path: str) -> str:
    """The name of a file, which is the hash of its content and so leads nowhere else."""
    if not NAME.fullmatch(name):
        found = f"found {printable(name)[:80]}"
        raise HostError(f"{path}: expected files by their SHA-256 in the column {DIFFERING}, {found}")
    return name


def _is_there(file: Path) -> bool:
    """Whether a file has the content that its name says."""
    if file.is_symlink() or not file.is_file():
        return False
    return sha256(read_bytes(str(file), follow_links=False)) == file.name[:64]


def settled(inputs: Inputs, others: Sequence[Other], scored: Sequence[Scored]) -> Inputs:
    """Let all runs count of the models whose predictions differ and have the same scores.

    `scored` has what became of the submissions, and then of the others.
    """
    if inputs.runtimes is None:
        return inputs
    pairs = list(zip(others, scored[len(inputs.submissions) :]))
    decided = {other.row for other, result in pairs if not _agree(scored[other.place].scores, result.scores)}
    agreed = sorted({other.row for other in others} - decided)
    table = inputs.runtimes.copy()
    for column, original in AGREED.items() if agreed else ():
        table.loc[agreed, original] = table.loc[agreed, column]
    return inputs._replace(runtimes=table.drop(columns=[DIFFERING, *AGREED], errors="ignore"))


def _agree(one: dict[str, float] | None, other: dict[str, float] | None) -> bool:
    """Whether two submissions have the same scores on all parts."""
    if not one or not other or one.keys() != other.keys():
        return False
    return all(math.isclose(score, other[part], rel_tol=DIGITS) for part, score in one.items())
