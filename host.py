"""Host a competition: prepare its files, check and try out its metric, publish it, fetch the leaderboard.

    python host.py prepare corpus.csv --out competition_files
    python host.py check metric.py
    python host.py emulate metric.py solution.csv submission.csv
    python host.py push metric.py --owner NAME
    python host.py leaderboard COMPETITION --out board.csv

Exit codes: 0 done, 2 wrong usage, 3 the submission is rejected (why is on stderr), 4 the solution, the
corpus, a parameter or the metric file is wrong, or Kaggle refuses.
"""

import argparse
import functools
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from competition import bundles, checks, corpus, emulation, kaggle_site, metric_file, row_formats, scoring
from competition.errors import HostError, SubmissionRejected, UsageError, run
from competition.files import read_csv, write_atomically

MEGABYTE = 2**20


def main(arguments: list[str]) -> None:
    options = parse(arguments)
    try:
        options.command(options)
    except OSError as problem:
        if "out" not in options:
            raise
        # What is read has errors of its own.
        raise UsageError(f"cannot write {options.out}: {problem.strerror}") from None


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="host.py", description="Host a competition.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(command: Any, description: str) -> argparse.ArgumentParser:
        added = commands.add_parser(command.__name__, help=description, description=description)
        added.set_defaults(command=command)
        return added

    command = add(check, "Try a metric file: does it obey everything that Kaggle demands?")
    command.add_argument("metric", type=Path, help="a Python file with a score()")
    command.add_argument(
        "solution", type=Path, nargs="?", help="a solution to try it with, beside its doctests"
    )
    command.add_argument("submission", type=Path, nargs="?", help="and a submission, which must be scored")
    add_settings(command)

    command = add(emulate, "Score a submission as Kaggle would, and show what the participant would see.")
    command.add_argument("metric", type=Path, help="a Python file with a score()")
    command.add_argument("solution", type=Path, help="the truth, with Usage")
    command.add_argument("submission", type=Path, help="the predictions")
    command.add_argument(
        "--free-rows", action="store_true", help="the competition lets submissions have other rows"
    )
    add_settings(command)

    command = add(pack, "From one row per segment to one row per essay.")
    command.add_argument("file", type=Path, help="a solution or submission")
    command.add_argument(
        "--essays", type=Path, metavar="FILE", help="a file with the essays that a submission must have"
    )
    add_essay_id(command)
    add_out(command, "FILE")

    command = add(unpack, "From one row per essay to one row per segment.")
    command.add_argument("file", type=Path, help="a solution or submission")
    command.add_argument("--solution", action="store_true", help="it is a solution: 0 and 1 are labels")
    add_essay_id(command)
    add_out(command, "FILE")

    command = add(prepare, "From an annotated corpus to solution, sample submission and training data.")
    command.add_argument("corpus", type=Path, help="one row per segment, as in PERSUADE or the Feedback Prize")
    add_out(command, "FOLDER")
    command.add_argument(
        "--subpopulations",
        default="ell_status,economically_disadvantaged",
        metavar="NAMES",
        help="columns whose values are scored apart (default: %(default)s)",
    )
    command.add_argument(
        "--test", type=share, default=0.4, metavar="SHARE", help="of the essays, to be scored (default: 0.4)"
    )
    command.add_argument(
        "--public", type=share, default=0.3, metavar="SHARE", help="of those, Public (default: 0.3)"
    )
    command.add_argument("--seed", type=natural, default=0, help="of the drawing (default: 0)")

    command = add(push, "Send a metric file to Kaggle as a private script, without internet.")
    command.add_argument("metric", type=Path, help="the file, which is sent as it is")
    command.add_argument("--owner", required=True, metavar="NAME", help="user or organisation on Kaggle")
    command.add_argument("--title", help="of the script, at least 5 characters (default: the file's name)")
    command.add_argument(
        "--out", type=Path, default=Path("kernel"), metavar="FOLDER", help="what is sent (default: kernel)"
    )
    command.add_argument("--dry-run", action="store_true", help="only write the folder")

    command = add(leaderboard, "Fetch a leaderboard: the private one once the competition is closed.")
    command.add_argument("competition", help="as in the address of its page")
    add_out(command, "FILE")

    command = add(bundle, "Make a scoring program for another platform.")
    command.add_argument("metric", type=Path, help="a Python file with a score()")
    command.add_argument("solution", type=Path, help="the truth; with Usage, there is one file per part")
    command.add_argument("--platform", choices=sorted(bundles.PLATFORMS), required=True)
    add_out(command, "FILE")
    add_settings(command)
    return parser.parse_args(arguments)


def add_settings(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the metric, such as temperature=80; may be repeated",
    )


def add_out(command: argparse.ArgumentParser, kind: str) -> None:
    command.add_argument("--out", type=Path, required=True, metavar=kind, help="where to write")


def add_essay_id(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--essay-id", default="essay_id", metavar="COLUMN", help="names the essays (default: essay_id)"
    )


def natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number


def share(text: str) -> float:
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


# ---------------------------------------------------------------------------------------------
# The commands
# ---------------------------------------------------------------------------------------------


def check(options: argparse.Namespace) -> None:
    if (options.solution is None) != (options.submission is None):
        raise UsageError("give both a solution and a submission, or none")
    if not options.metric.is_file():
        raise UsageError(f"there is no metric file {options.metric}")
    frames, arguments = None, None
    if options.solution is not None:
        solution = emulation.read_as_kaggle(options.solution, HostError)
        submission = emulation.read_as_kaggle(options.submission, SubmissionRejected)
        arguments = arguments_of(options, solution)
        frames = (solution.drop(columns=scoring.USAGE, errors="ignore"), submission)
    results = checks.check(options.metric, frames, arguments)
    words = {True: "pass", False: "FAIL", None: "----"}
    for result in results:
        print(f"{words[result.passed]}  {result.name}{': ' if result.remark else ''}{result.remark}")
    failed = sum(result.passed is False for result in results)
    untried = sum(result.passed is None for result in results)
    if failed or untried:
        more = f", and {untried} could not be tried" if untried else ""
        raise HostError(f"{options.metric} fails {failed} of {len(results)} checks{more}")


def emulate(options: argparse.Namespace) -> None:
    solution = emulation.read_as_kaggle(options.solution, HostError)
    submission = emulation.read_as_kaggle(options.submission, SubmissionRejected)
    arguments = arguments_of(options, solution)
    for result in emulation.emulate(options.metric, solution, submission, arguments, options.free_rows):
        print(
            f"{result.part:<8} {result.score:.6f}  {result.seconds:6.2f} s  "
            f"{result.memory / MEGABYTE:6.0f} MB at most, "
            f"{result.memory_before / MEGABYTE:.0f} MB before scoring"
        )


def arguments_of(options: argparse.Namespace, solution: pd.DataFrame) -> dict[str, Any]:
    """The further arguments of `score`; by default, the first column is the row id."""
    arguments = {"row_id_column_name": str(solution.columns[0])}
    if options.set:
        arguments |= metric_file.parse_parameters(load(options.metric), options.set)
    return arguments


def load(path: Path) -> metric_file.Metric:
    try:
        return metric_file.load(path)
    except SystemExit as problem:
        raise HostError(f"{path} cannot be loaded: it ends the process ({problem})") from None


def pack(options: argparse.Namespace) -> None:
    frame = read_essays(options)
    essays = None
    if options.essays is not None:
        if row_formats.is_solution(frame):
            raise UsageError("--essays is for submissions; a solution has its own essays")
        listed = read_csv(options.essays, {options.essay_id}, HostError)
        if options.essay_id not in listed:
            raise HostError(f"{options.essays} has no column {options.essay_id}")
        essays = listed[options.essay_id].dropna().unique().tolist()
    packed, dropped = row_formats.pack(frame, options.essay_id, essays)
    if dropped:
        print(f"warning: left out, as they differ within an essay: {', '.join(dropped)}", file=sys.stderr)
    save(packed, options.out)


def unpack(options: argparse.Namespace) -> None:
    save(row_formats.unpack(read_essays(options), options.essay_id, options.solution), options.out)


def read_essays(options: argparse.Namespace) -> pd.DataFrame:
    error = HostError if getattr(options, "solution", False) else SubmissionRejected
    return read_csv(options.file, {options.essay_id, *row_formats.TEXT_COLUMNS}, error)


def prepare(options: argparse.Namespace) -> None:
    attributes = [name.strip() for name in options.subpopulations.split(",") if name.strip()]
    table = read_csv(options.corpus, {*corpus.TEXT_COLUMNS, *attributes}, HostError)
    files = corpus.prepare(table, attributes, options.test, options.public, options.seed)
    corpus.write(files, options.out)
    print(files.report, end="")
    print(f"\nwritten to {options.out}")


def push(options: argparse.Namespace) -> None:
    name = kaggle_site.write_kernel(options.metric, options.owner, options.out, options.title)
    print(f"{name}, written to {options.out}")
    if not options.dry_run:
        pushed = kaggle_site.push(options.out)
        print(f"pushed as version {pushed.version}: {pushed.url}")


def leaderboard(options: argparse.Namespace) -> None:
    board = kaggle_site.fetch_leaderboard(options.competition)
    without = int(board["score"].isna().sum())
    if without:
        print(f"warning: teams without a score: {without:,}", file=sys.stderr)
    save(board, options.out)


def bundle(options: argparse.Namespace) -> None:
    metric = load(options.metric)
    parameters = metric_file.parse_parameters(metric, options.set)
    solution = scoring.read_solution(metric, options.solution, parameters)
    for path in bundles.PLATFORMS[options.platform](metric, options.metric, solution, parameters, options.out):
        print(f"written to {path}")


def save(table: pd.DataFrame, path: Path) -> None:
    write_atomically(path, functools.partial(table.to_csv, index=False, lineterminator="\n"))
    print(f"{len(table):,} rows, written to {path}")


if __name__ == "__main__":
    sys.exit(run(main))
