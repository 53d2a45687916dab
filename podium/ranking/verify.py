"""`podium.verify`: do the inputs of a published board lead to its tables and pages?

The work is done by `podium.ranking.comparing`, which is imported only then, so that --help loads no library.
"""

import html
import os
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from podium.common.options import takes, whole_number
from podium.common.wording import listed
from podium.ranking.rules import CIRCUMSTANCES, MOMENT, PATHS, RUN
from podium.tables.files import Location

__all__ = ["Options", "Verification", "verified", "verify"]

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


@dataclass(frozen=True)
class Options:
    """The options of `podium.verify`.

    Parameters
    ----------
    folder : FOLDER
        The folder of the board, or its ``run.json``. The metric that it names is executed if its file, its
        companion and what they import from their folder have the recorded SHA-256.
    metric, solution, submissions, runtimes, failed, side, teams, site_board, left_out, again : PATH
        Where this input is now, if it is not where ``run.json`` says.
    deadline : TIME
        The deadline that was announced. By default it is the one in ``run.json``.
    jobs : N
        How many processes work at once. By default, it is one per core.
    """

    folder: Location
    _: KW_ONLY
    metric: Location | None = None
    solution: Location | None = None
    submissions: Location | None = None
    runtimes: Location | None = None
    failed: Location | None = None
    side: Location | None = None
    teams: Location | None = None
    site_board: Location | None = None
    left_out: Location | None = None
    again: Location | None = None
    deadline: Annotated[str | None, MOMENT] = None
    jobs: Annotated[int, whole_number(0)] = 0

    @property
    def paths(self) -> dict[str, str]:
        """The inputs that are given, by the names that run.json has for them."""
        return {name: os.fspath(path) for name in PATHS if (path := getattr(self, name)) is not None}


@takes(Options)
def verify(options: Options) -> Verification:
    """Rank again from the inputs of a published board, and compare its files with the published ones.

    This is the command ``podium verify``, whose options are these arguments; `podium.ranking.verify.Options`
    describes them. It reads the folder's ``run.json`` and the inputs that this file names, and no stored
    statistics. There is no signature: whoever can replace all files can publish another board that is verified,
    too.

    Returns
    -------
    Verification
        The differences. It is true if there are none.

    Raises
    ------
    podium.common.errors.UsageError
        The folder has no ``run.json`` of a finished run, an input is missing, or ``run.json``, which may be a
        stranger's, names an address that is not given here.

    Examples
    --------
    >>> podium.verify("final").differences  # doctest: +SKIP
    []
    """
    return verified(options)


def verified(options: Options) -> Verification:
    """Verify a board with what was asked for."""
    from podium.ranking import comparing

    home = Path(options.folder) if Path(options.folder).is_dir() else Path(options.folder).parent
    told = comparing.compared(options.folder, home, options.paths, options.deadline, options.jobs)
    return Verification(home, *told)
