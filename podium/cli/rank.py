"""Score every submission after the deadline, reward speed, and write the final board with how sure it is.

    podium rank solution.csv submissions/ runtimes.csv --out final
    podium rank --again final --out other --set temperature=50

A submission that is rejected is listed in rejected.csv with the reason. What is not the submission's fault,
such as a file that cannot be read or a worker that dies, is tried again. If it fails again, it is listed. The
exit code is then 4 if the metric or a table is certainly wrong, and 2 otherwise. If the command is run again,
only what is new or changed is scored.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from podium.cli import arguments
from podium.cli.boost import add_formula

if TYPE_CHECKING:
    from podium.ranking.board import FinalBoard

TEAMS_SHOWN = 10
CHARACTERS_SHOWN = 40  # of a team's name in the table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium rank``."""
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
        help="the runtimes.csv of podium run, or a CSV with the columns team and runtime (seconds)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder for the results")
    arguments.add_metric(parser)
    parser.add_argument(
        "--no-boost",
        action="store_false",
        dest="boost",
        default=None,
        help="rank by score alone, and reward no speed",
    )
    parser.add_argument(
        "--prizes", type=arguments.natural, metavar="N", help="how many places win a prize (default: 3)"
    )
    parser.add_argument(
        "--title", help="the heading of the pages, such as the competition's name (default: The final board)"
    )
    parser.add_argument("--organizer", help="who publishes the board, for the pages (default: nobody is named)")
    parser.add_argument(
        "--teams",
        metavar="CSV",
        help="the jury's decisions: a CSV with the columns team, status (no prize, baseline or disqualified) "
        "and reason; they are published on the page and in run.json",
    )
    parser.add_argument("--team", metavar="NAME", help="also write team.html, the page of this team")
    parser.add_argument(
        "--again",
        type=Path,
        metavar="FOLDER",
        help="rank again from what an earlier run stored in this folder, with the options given now; no "
        "submission is read",
    )
    _add_advanced(parser.add_argument_group("advanced"))


def _add_advanced(group: argparse._ArgumentGroup) -> None:
    """Declare the arguments that few need."""
    group.add_argument(
        "--part",
        choices=("Public", "Private"),
        help="let only this part of the solution count, such as Public while the competition runs (default: "
        "the whole solution)",
    )
    group.add_argument(
        "--choose",
        type=choice,
        metavar="RULE",
        help="which file of a team counts: with public:N, of its N best files by Public score the one with the "
        "best Private score; with private, the best of all its files; with last, the one submitted last "
        "(default: public:2 if there are Public scores, otherwise private)",
    )
    group.add_argument(
        "--select",
        metavar="CSV",
        help="a CSV with the columns team and submission; of the teams in it, only the named files count",
    )
    group.add_argument(
        "--deadline",
        metavar="TIME",
        help="leave out files that were submitted later than this day and time in ISO 8601, such as "
        "2024-01-23T23:59+01:00 (in UTC without an offset)",
    )
    group.add_argument(
        "--site-board",
        metavar="CSV",
        help="the leaderboard of the competition's site, to be compared: as Kaggle, Codabench, EvalAI or "
        "podium collect writes it, or a table with the columns team and score",
    )
    group.add_argument(
        "--side",
        metavar="FOLDER",
        help="tables with what only the host can say of a submission, such as READ//ABLE's M7: TEAM.csv, or "
        "TEAM/SUBMISSION.csv if a team has several submissions",
    )
    group.add_argument(
        "--failed",
        metavar="CSV",
        help="the models that failed, to be named on the page; a CSV with the columns team, model and reason "
        "(default: failed.csv beside the runtimes, where podium run puts it)",
    )
    add_formula(group)
    group.add_argument(
        "--variants",
        action="store_true",
        default=None,
        help="also rank with other weights, thresholds and overlap rules, with each attribute alone, and with "
        "the memo's steps from the metric of Feedback Prize 1 (slower: the chosen files are read once more)",
    )
    group.add_argument(
        "--resamples",
        type=arguments.natural,
        metavar="N",
        help="number of draws; 0 for no statements about chance (default: 1000; for a metric with score() "
        "alone, as many of them as fit into ten minutes)",
    )
    group.add_argument(
        "--items",
        metavar="COLUMN",
        help="draw all items with the same value in this column of the solution together, such as those of a "
        "prompt or a patient (default: each item alone)",
    )
    group.add_argument(
        "--seed", type=arguments.natural, help="a number that decides what is drawn (default: 0)"
    )
    group.add_argument(
        "--jobs",
        type=arguments.positive,
        default=0,
        metavar="N",
        help="how many processes work at once (default: one per core)",
    )
    group.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="work on the cluster whose Dask scheduler is at this address (default: on this machine)",
    )
    group.add_argument(
        "--time-limit",
        default="10m",
        metavar="TIME",
        help="processor time for one submission, such as 90s or 20m; one that needs more is rejected "
        "(default: 10m)",
    )
    group.add_argument(
        "--memory-limit",
        default="4G",
        metavar="SIZE",
        help="memory for one submission, such as 500M; one that needs more is rejected (default: 4G)",
    )
    group.add_argument(
        "--idle-limit",
        default="60s",
        metavar="TIME",
        help="how long one submission may use no processor time, as where a metric waits; one that waits "
        "longer is rejected (default: 60s)",
    )


def choice(text: str) -> str:
    """Parse a rule by which a team's file is chosen."""
    from podium.ranking.rules import is_choice

    if not is_choice(text):
        raise argparse.ArgumentTypeError(f"expected public:N, such as public:2, private or last, found {text}")
    return text


def run(options: argparse.Namespace) -> None:
    """Rank the submissions, write the results, and print the first teams."""
    from podium import hosted
    from podium.errors import UsageError
    from podium.ranking import rank, run_json

    given = {name: value for name, value in vars(options).items() if name != "set"}
    metric = options.metric
    if options.again is not None:
        facts = run_json.read(options.again)
        request = run_json.request_of(facts, options.again)
        if changed := run_json.changed_metric(facts, request):
            raise UsageError(changed[0])
        metric = request.metric
    parameters = hosted.parse_parameters(hosted.load(metric), options.set)
    final = rank.rank(**given, parameters=parameters)
    print_report(final)
    if options.team is not None:
        print_team(final, options.team)


def print_team(final: "FinalBoard", team: str) -> None:
    """Print what became of a team's files and models, and where its page is."""
    from podium.ranking.output import TEAM_PAGE
    from podium.wording import printable

    print(f"\n{printable(team)}, as on {final.folder / TEAM_PAGE}:")
    files = final.submissions
    for _, file in files[files["team"] == team].iterrows():
        print(f"  {file['submission']}: {file['rejected'] or file['why']}")
    for _, model in final.failed[final.failed["team"] == team].iterrows():
        print(f"  model {model['model']}: failed: {model['reason']}")


def print_report(final: "FinalBoard") -> None:
    """Print the counts, the sentences for the jury, the first teams and the warnings."""
    from podium.cli import console
    from podium.ranking import rewards, sentences
    from podium.wording import counted, listed

    facts = final.facts
    counts = facts["counts"]
    if "read" in facts:
        print(facts["read"])
    eligible = f", eligible for a boost: {counts['eligible']:,}" if facts["boosted"] else ""
    print(
        f"{counted(counts['submissions'], 'submission')}, {counts['rejected']:,} rejected; teams on the board: "
        f"{counts['teams']:,}{eligible}; {facts['rule']}"
    )
    print(sentences.of_direction(facts))
    top = final.leaderboard.head(TEAMS_SHOWN)
    of_boost = ["runtime", "boost", "boosted_score", "rank_before"] if facts["boosted"] else []
    table = top[["rank", "team", "score", *of_boost]]
    table = table.assign(team=table["team"].map(lambda team: sentences.cut(team, CHARACTERS_SHOWN)))
    console.print_table(f"The first {len(top)}", table)
    if final.variants is not None and final.inputs.request.rules.variants:
        console.print_table("The board under other decisions", final.variants)
    print("", *sentences.summary(final), sep="\n")
    print(f"\nwritten to {final.folder}", flush=True)
    if counts["rejected"]:
        without = f"teams without any score, not on the board: {counts['teams_without_score']:,}"
        teams = listed(sorted(set(final.rejected["team"])))
        console.warn([f"{counts['rejected']:,} not scored, see rejected.csv: {teams}; {without}"])
    if len(final.failed):
        console.warn([f"models that failed, see failed.csv: {listed(sorted(set(final.failed['team'])))}"])
    notes = final.leaderboard["note"].map(rewards.without_ties)
    noted = final.leaderboard[notes != ""]
    console.warn(f"{note}: {listed(list(teams))}" for note, teams in noted.groupby(notes)["team"])
    if tied := sum(map(bool, facts["ties"])):
        console.warn(
            [f"teams with the same score as the next one: {tied:,}; the column note says what decided"]
        )
    console.warn(facts["warnings"])
