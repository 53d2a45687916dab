"""`podium.verify`: do the inputs of a published board lead to its tables and pages?

The work is done by `podium.ranking.comparing`, which is imported only then, so that --help loads no library.
"""

import html
import os
from dataclasses import dataclass
from pathlib import Path

from podium.ranking.rules import CIRCUMSTANCES, RUN
from podium.words.wording import listed

__all__ = ["Verification", "verify"]

UNCHECKED = f"Nothing confirms what {RUN} says about: {listed(list(CIRCUMSTANCES), 9)}."


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """What `verify` found out.

    Attributes
    ----------
    folder : Path
        The folder of the board.
    differences : list of str
        What is not as the inputs lead to it. It is empty if the board is true to the last bit.
    notices : list of str
        What could not be compared, and versions that differ from those of the run.
    """

    folder: Path
    differences: list[str]
    notices: list[str]

    def __bool__(self) -> bool:
        """Whether the board is what its inputs lead to."""
        return not self.differences

    def __repr__(self) -> str:
        if not self.differences:
            return f"{self.folder} is what its inputs lead to, to the last bit.\n{UNCHECKED}"
        return "\n".join([f"{self.folder} is not what its inputs lead to:", *self.differences])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def verify(
    folder: str | os.PathLike[str],
    *,
    metric: str | os.PathLike[str] | None = None,
    solution: str | os.PathLike[str] | None = None,
    submissions: str | os.PathLike[str] | None = None,
    runtimes: str | os.PathLike[str] | None = None,
    selection: str | os.PathLike[str] | None = None,
    failed: str | os.PathLike[str] | None = None,
    side: str | os.PathLike[str] | None = None,
    teams: str | os.PathLike[str] | None = None,
    site_board: str | os.PathLike[str] | None = None,
    left_out: str | os.PathLike[str] | None = None,
    before: str | os.PathLike[str] | None = None,
    deadline: str | None = None,
    jobs: int = 0,
) -> Verification:
    """Rank again from the inputs of a published board, and compare its files with the published ones.

    This is the command ``podium verify``. It reads the folder's ``run.json`` and the inputs that this file
    names, and no stored statistics. There is no signature: whoever can replace all files can publish another
    board that is verified, too.

    Parameters
    ----------
    folder : str or path
        The folder of the board, or its ``run.json``. The metric that it names is executed if its file, its
        companion and what they import from their folder have the recorded SHA-256.
    metric, solution, submissions, runtimes, selection, failed, side, teams, site_board : str or path, optional
        Where this input is now, if it is not where ``run.json`` says.
    left_out, before : str or path, optional
        The same.
    deadline : str, optional
        The deadline that was announced. By default it is the one in ``run.json``.
    jobs : int
        How many processes work at once. With 0, it is one per core.

    Returns
    -------
    Verification
        The differences. It is true if there are none.

    Raises
    ------
    podium.words.errors.UsageError
        The folder has no ``run.json`` of a finished run, an input is missing, or ``run.json``, which may be a
        stranger's, names an address that is not given here.

    Examples
    --------
    >>> podium.verify("final").differences  # doctest: +SKIP
    []
    """
    from podium.ranking import combining, comparing
    from podium.ranking.asked import given

    paths = given(
        metric=metric, solution=solution, submissions=submissions, runtimes=runtimes, selection=selection,
        failed=failed, side=side, teams=teams, site_board=site_board, left_out=left_out, before=before,
    )  # fmt: skip

    home = Path(folder) if Path(folder).is_dir() else Path(folder).parent
    if combining.is_combined(home):
        return Verification(home, *combining.compared(home))
    return Verification(home, *comparing.compared(folder, home, paths, deadline, jobs))
