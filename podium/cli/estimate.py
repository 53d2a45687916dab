"""Estimate what another runtime would change on the final board if all else stays equal.

    podium estimate board.csv "My team"
    podium estimate board.csv "My team" --runtimes 30,40,50

It prints where the team stands, what it would get for other runtimes, and the runtimes at which its rank
changes. BOARD has the columns team, score, runtime (seconds) and, to break ties, submitted_at.
"""

from dataclasses import KW_ONLY, dataclass

from podium.cli.boost import OfBoard
from podium.common.errors import HostError, UsageError


@dataclass(frozen=True)
class Options(OfBoard):
    """The options of ``podium estimate``.

    Parameters
    ----------
    team : TEAM
        A team on the board (default: list the teams).
    runtimes : 30,40,50
        Seconds to try (default: 0.8 to 1.25 times the fastest eligible runtime of the other teams).
    json : bool
        Print JSON, with all digits.
    """

    team: str | None = None
    _: KW_ONLY
    runtimes: str | None = None
    json: bool = False


def run(options: Options) -> None:
    """Estimate and print the effect of other runtimes."""
    from podium.cli import console
    from podium.ranking.estimate import estimate
    from podium.ranking.submissions import errors_of_boost

    with errors_of_boost() as boost:
        leaderboard = options.leaderboard()
        if "runtime" not in leaderboard:
            raise HostError(
                f"{options.board}: add the column runtime (seconds), with at least your own and those of the "
                f"fastest teams; the board has {', '.join(map(str, leaderboard))}"
            )
    if options.team is None:
        if options.runtimes:
            raise UsageError("--runtimes needs TEAM, the team that would have these runtimes")
        teams = boost.boost(leaderboard, **options.formula)[["rank", "team", "score", "runtime"]]
        if options.json:
            console.print_json({"teams": teams})
        else:
            console.print_table("The teams, of which TEAM is one", teams)
        return
    tried = options.runtimes.split(",") if options.runtimes else None
    found = estimate(leaderboard, options.team, tried, **options.formula)
    if options.json:
        console.print_json({"version": boost.__version__, **found._asdict()})
    else:
        print(found)
