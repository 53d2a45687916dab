"""Apply the runtime rewards to a leaderboard and print the final one, sorted by rank.

    podium boost board.csv
    podium boost board.csv --max-boost 0.1 --out final.csv

BOARD has the columns team, score and, as far as known, runtime (seconds) and submitted_at. It may also be the
leaderboard that Kaggle's site or client, Codabench or EvalAI exports.
"""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OfBoard:
    """A leaderboard and the parameters of the formula.

    Parameters
    ----------
    board : BOARD
        The leaderboard: .csv, .csv.gz, .parquet, - for standard input, or a platform's export.
    max_boost : NUMBER
        The boost of the fastest eligible team, as a share of its score.
    eligibility_ratio : NUMBER
        A team is eligible for a boost if the best score is at most this many times its own.
    slowdown_limit : NUMBER
        A team gets no boost if its runtime is this many times the fastest one, or more.
    """

    board: str
    _: KW_ONLY
    max_boost: float = 0.05
    eligibility_ratio: float = 1.05
    slowdown_limit: float = 1.2

    @property
    def formula(self) -> dict[str, float]:
        """The parameters of the formula."""
        return {name: getattr(self, name) for name in ("max_boost", "eligibility_ratio", "slowdown_limit")}

    def leaderboard(self) -> "pd.DataFrame":
        """Read the leaderboard, and print what was left out of a platform's export."""
        from podium.cli.console import warn
        from podium.ranking.exports import read_board
        from podium.tables import names

        board, notices = read_board(self.board)
        names.check_names(filter(None, board["team"]), "team", self.board)
        warn(notices)
        return board


@dataclass(frozen=True)
class Options(OfBoard):
    """The options of ``podium boost``.

    Parameters
    ----------
    out : CSV
        Also write the final board, with all digits.
    """

    _: KW_ONLY
    out: Path | None = None


def run(options: Options) -> None:
    """Read a board, apply the rewards, and write and print the final board."""
    from podium.ranking.submissions import errors_of_boost
    from podium.tables.formats import check_table_name, write_table

    if options.out is not None:
        check_table_name(options.out)
    with errors_of_boost() as boost:
        final = boost.boost(options.leaderboard(), **options.formula)
    if options.out is not None:
        write_table(final, options.out)
    boost.show(final)
