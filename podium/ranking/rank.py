"""`podium.rank`: the function behind ``podium rank``.

The work is done by `podium.ranking.making`, which is imported only then, so that --help loads no library.
"""

from typing import TYPE_CHECKING, Any

from podium.common.options import takes
from podium.ranking.rules import Options

if TYPE_CHECKING:
    from podium.ranking.final import FinalBoard

__all__ = ["rank"]


@takes(Options)
def rank(options: Options, **more: Any) -> "FinalBoard":
    """Score every submission, reward speed, rank the teams, and write the final board.

    This is the command ``podium rank``, whose options are these arguments; `podium.ranking.rules.Options`
    describes them. Submissions whose content is already in the store of the folder are not scored again, so a
    call that was interrupted goes on where it stopped.

    Returns
    -------
    FinalBoard
        The board with its tables. The files are in the folder `out`.

    Raises
    ------
    podium.common.errors.UsageError
        A file is missing or cannot be read, a worker was lost, or two arguments contradict each other.
    podium.common.errors.HostError
        The solution, another table of the host, a parameter or the metric is wrong.

    Notes
    -----
    An argument of another name, such as ``temperature=80``, is a parameter of the metric, too. Without
    `parameters`, an argument such as `seed` or `title` goes to the metric if the metric has a parameter of that
    name, with a warning.

    Examples
    --------
    >>> board = podium.rank("solution.csv", "submissions/", "runtimes.csv", out="final")  # doctest: +SKIP
    >>> board.leaderboard, board.certainty, board.rejected  # doctest: +SKIP
    >>> podium.rank(again="final", out="other", parameters={"temperature": 50})  # doctest: +SKIP
    """
    from podium.ranking import making

    options = making.as_recorded(options)
    if options.parameters is None:
        options, more = making.with_parameters_of_metric(options, more)
    return making.made(options, more)
