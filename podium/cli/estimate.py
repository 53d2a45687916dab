"""Estimate what another runtime would change on the final board if all else stays equal.

    podium estimate board.csv "My team"
    podium estimate board.csv "My team" --runtimes 30,40,50

It prints where the team stands, what it would get for other runtimes, and the runtimes at which its rank
changes. BOARD has the columns team, score, runtime (seconds) and, to break ties, submitted_at.
"""

import argparse

from podium.cli.boost import add_board, board_in, formula
from podium.errors import HostError, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium estimate``."""
    add_board(parser)
    parser.add_argument("team", metavar="TEAM", nargs="?", help="a team on the board (default: list the teams)")
    parser.add_argument(
        "--runtimes",
        metavar="30,40,50",
        help="seconds to try (default: 0.8 to 1.25 times the fastest eligible runtime of the other teams)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with all digits")


def run(options: argparse.Namespace) -> None:
    """Estimate and print the effect of other runtimes."""
    from podium.cli import console
    from podium.ranking.estimate import estimate
    from podium.ranking.submissions import errors_of_boost

    with errors_of_boost() as boost:
        leaderboard = board_in(options.board)
        if "runtime" not in leaderboard:
            raise HostError(
                f"{options.board}: add the column runtime (seconds), with at least your own and those of the "
                f"fastest teams; the board has {', '.join(map(str, leaderboard))}"
            )
    if options.team is None:
        if options.runtimes:
            raise UsageError("--runtimes needs TEAM, the team that would have these runtimes")
        teams = boost.boost(leaderboard, **formula(options))[["rank", "team", "score", "runtime"]]
        if options.json:
            console.print_json({"teams": teams})
        else:
            console.print_table("The teams, of which TEAM is one", teams)
        return
    tried = options.runtimes.split(",") if options.runtimes else None
    found = estimate(leaderboard, options.team, tried, **formula(options))
    if options.json:
        console.print_json({"version": boost.__version__, **found._asdict()})
    else:
        print(found)
