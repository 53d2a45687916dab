"""Score every submission after the deadline, reward speed, and write the final board with how sure it is.

    podium rank solution.csv submissions/ runtimes.csv --out final
    podium rank --again final --out other --set temperature=50

A submission that is rejected is listed in rejected.csv with the reason. What is not the submission's fault,
such as a file that cannot be read or a worker that dies, is tried again. If it fails again, it is listed. The
exit code is then 4 if the metric or a table is certainly wrong, and 2 otherwise. If the command is run again,
only what is new or changed is scored.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from podium.cli import arguments
from podium.cli.boost import add_formula
from podium.cli.run import seconds, size
from podium.errors import UsageError
from podium.ranking.rules import Heading, Rules

if TYPE_CHECKING:
    from podium.ranking.board import Run

TEAMS_SHOWN = 10
CHARACTERS_SHOWN = 40  # of a team's name in the table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium rank``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the command.
    """
    parser.add_argument(
        "solution", nargs="?", help="the right answers: .csv, .csv.gz, .parquet, a URL, or an official file"
    )
    parser.add_argument(
        "submissions",
        nargs="?",
        help="a folder or URL with a file or a folder for each team; or a manifest, a CSV with the columns "
        "team and path and, if you like, submission, submitted_at, public_score and side",
    )
    parser.add_argument(
        "runtimes",
        nargs="?",
        help="the runtimes.csv of podium run, or a CSV with the columns team and runtime (seconds) and, if you "
        "like, submission, submitted_at, runtime_low, runtime_high, runs, runtime_error, marks and provisional",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder for the results")
    parser.add_argument(
        "--again",
        type=Path,
        metavar="FOLDER",
        help="rank again from what an earlier run stored in this folder, with the options given now; no "
        "submission is read",
    )
    arguments.add_metric(parser)
    parser.add_argument(
        "--choose",
        type=choice,
        metavar="RULE",
        help="which file of a team counts: with public:N, of its N best files by Public score the one with the "
        "best Private score; with private, the best of all its files (default: public:2 if there are Public "
        "scores, otherwise private)",
    )
    parser.add_argument(
        "--select",
        metavar="CSV",
        help="a CSV with the columns team and submission; of the teams in it, only the named files count",
    )
    parser.add_argument(
        "--side",
        metavar="FOLDER",
        help="tables with what only the host can say of a submission, such as READ//ABLE's M7: TEAM.csv, or "
        "TEAM/SUBMISSION.csv if a team has several submissions",
    )
    parser.add_argument(
        "--failed",
        metavar="CSV",
        help="the models that failed, to be named on the page; a CSV with the columns team, model and reason "
        "(default: failed.csv beside the runtimes, where podium run puts it)",
    )
    parser.add_argument(
        "--no-boost",
        action="store_false",
        dest="boost",
        default=None,
        help="rank by score alone, and reward no speed",
    )
    add_formula(parser)
    _add_work(parser)
    _add_certainty(parser)
    _add_heading(parser)


def _add_work(parser: argparse.ArgumentParser) -> None:
    """Declare how the work is done, and how much time and memory a submission may take."""
    parser.add_argument(
        "--jobs",
        type=arguments.positive,
        default=0,
        metavar="N",
        help="how many processes work at once (default: one per core)",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="work on the cluster whose Dask scheduler is at this address (default: on this machine)",
    )
    parser.add_argument(
        "--time-limit",
        type=seconds,
        default="10m",
        metavar="TIME",
        help="processor time for one submission, such as 90s or 20m; one that needs more is rejected "
        "(default: 10m)",
    )
    parser.add_argument(
        "--memory-limit",
        type=size,
        default="4G",
        metavar="SIZE",
        help="memory for one submission, such as 500M; one that needs more is rejected (default: 4G)",
    )


def _add_certainty(parser: argparse.ArgumentParser) -> None:
    """Declare what is computed about the certainty of the board."""
    parser.add_argument(
        "--resamples",
        type=arguments.natural,
        metavar="N",
        help="number of bootstrap resamples; 0 for no intervals (default: 1000)",
    )
    parser.add_argument(
        "--prizes",
        type=arguments.natural,
        metavar="N",
        help="how many places win a prize (default: 3)",
    )
    parser.add_argument(
        "--variants",
        action="store_true",
        default=None,
        help="also rank with other weights, thresholds and overlap rules, and with the memo's steps from the "
        "metric of Feedback Prize 1 (slower: the chosen files are read once more)",
    )
    parser.add_argument(
        "--seed", type=arguments.natural, help="a number that decides what is drawn (default: 0)"
    )


def _add_heading(parser: argparse.ArgumentParser) -> None:
    """Declare the texts at the top of the pages."""
    parser.add_argument(
        "--title", help="the heading of the pages, such as the competition's name (default: The final board)"
    )
    parser.add_argument("--organizer", help="who publishes the board, for the pages (default: nobody is named)")
    parser.add_argument("--team", metavar="NAME", help="also write team.html, the page of this team")


def choice(text: str) -> str:
    """Parse a rule by which a team's file is chosen.

    Parameters
    ----------
    text : str
        "private", or "public:N" with N at least 1.

    Returns
    -------
    str
        The same text.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is neither of the two.
    """
    from podium.ranking.rules import is_choice

    if not is_choice(text):
        raise argparse.ArgumentTypeError(f"expected public:N, such as public:2, or private, found {text}")
    return text


def run(options: argparse.Namespace) -> None:
    """Rank the submissions, write the results, and print the first teams.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Raises
    ------
    UsageError
        The options contradict each other, a file cannot be read, or work failed twice.
    HostError
        The solution, a parameter, the metric or another file of the host is wrong.
    """
    rules = {name: value for name in Rules._fields if (value := getattr(options, name)) is not None}
    again, out = options.again, options.out
    if again is None and options.submissions is None:
        raise UsageError("expected SOLUTION SUBMISSIONS [RUNTIMES], or --again FOLDER")
    if again is not None and (options.solution or options.dask or options.metric != "unified"):
        raise UsageError(
            "--again: expected neither files nor --metric nor --dask, because those of the earlier run are used"
        )
    if again is not None and options.side:
        raise UsageError("--side reads submissions: rank without --again")
    if again is not None and options.variants:
        raise UsageError("--variants reads submissions: rank without --again")

    from podium import hosted
    from podium.ranking import final
    from podium.ranking.limits import Limits

    metric = options.metric if again is None else final.request_of(final.read_run(again), again).metric
    if again is None:
        parameters = arguments.parameters(hosted.load(metric), options.set, options.solution)
    else:
        parameters = hosted.parse_parameters(hosted.load(metric), options.set)
    how = {"jobs": options.jobs, "command": ["podium", *sys.argv[1:]]}
    given = {name: value for name in Heading._fields if (value := getattr(options, name)) is not None}
    if again is None:
        failed = options.failed or failed_beside(options.runtimes)
        files = (options.solution, options.submissions, options.runtimes, options.select, failed)
        request = final.Request(metric, *files, options.side, parameters)
        limits = Limits(options.memory_limit, options.time_limit)
        asked = {"heading": Heading(**given), "limits": limits, "dask": options.dask}
        result = final.perform(request, Rules(**rules), out, **asked, **how)
    else:
        inputs = {"selection": options.select, "failed": options.failed}
        inputs = {name: path for name, path in inputs.items() if path is not None}
        heading = final.heading_of(final.read_run(again))._replace(**({"team": None} | given))
        result = final.perform_again(again, out, parameters, rules, heading=heading, **how, **inputs)
    print_report(result, out)


def failed_beside(runtimes: str | None) -> str | None:
    """Find the failed.csv that ``podium run`` wrote beside its runtimes.csv.

    Parameters
    ----------
    runtimes : str or None
        The path or URL of the runtimes, if there are any.

    Returns
    -------
    str or None
        Its path; None if there is no such file, if there are no runtimes, or if they are at a URL.
    """
    from podium.files import is_url

    if runtimes is None or is_url(runtimes):
        return None
    path = Path(runtimes).with_name("failed.csv")
    return str(path) if path.is_file() else None


def print_report(result: "Run", out: Path) -> None:
    """Print the counts, the first teams and the warnings.

    Parameters
    ----------
    result : podium.ranking.board.Run
        The ranking.
    out : Path
        The folder that was written.
    """
    from podium.cli import console
    from podium.ranking import ties, wording
    from podium.wording import counted, listed

    ranking = result.ranking
    counts, boosted = ranking.facts["counts"], ranking.facts["boosted"]
    eligible = f", eligible for a boost: {counts['eligible']:,}" if boosted else ""
    print(
        f"{counted(counts['submissions'], 'submission')}, {counts['rejected']:,} rejected; teams on the board: "
        f"{counts['teams']:,}{eligible}; {ranking.facts['rule']}"
    )
    print(wording.of_direction(ranking.facts))
    top = ranking.leaderboard.head(TEAMS_SHOWN)
    of_boost = ["runtime", "boost", "boosted_score", "rank_before"] if boosted else []
    table = top[["rank", "team", "score", *of_boost]]
    table = table.assign(team=table["team"].map(lambda team: wording.cut(team, CHARACTERS_SHOWN)))
    if ranking.intervals is not None:
        sets = ranking.intervals.head(TEAMS_SHOWN)
        table = table.assign(ranks=[f"{low}-{high}" for low, high in zip(sets["rank_low"], sets["rank_high"])])
    console.print_table(f"The first {len(top)}", table)
    print(f"\nwritten to {out}", flush=True)
    if counts["rejected"]:
        without = f"teams without any score, not on the board: {counts['teams_without_score']:,}"
        teams = listed(sorted(set(ranking.rejected["team"])))
        console.warn([f"{counts['rejected']:,} rejected, see rejected.csv: {teams}; {without}"])
    if len(ranking.failed):
        console.warn([f"models that failed, see failed.csv: {listed(sorted(set(ranking.failed['team'])))}"])
    notes = ranking.leaderboard["note"].map(ties.without_ties)
    noted = ranking.leaderboard[notes != ""]
    console.warn(f"{note}: {listed(list(teams))}" for note, teams in noted.groupby(notes)["team"])
    if tied := sum(map(bool, ranking.facts["ties"])):
        console.warn(
            [f"teams with the same score as the next one: {tied:,}; the column note says what decided"]
        )
    console.warn(ranking.facts["warnings"])
