"""The command `podium`: one module of this package per command, imported when it is called.

It defines ``add_arguments(parser)`` and ``run(options)``; only `run` imports pandas and what needs it, so that
``podium COMMAND --help`` is quick.
"""

import argparse
import importlib

import podium
from podium import errors

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "score": "score a submission and see where the score comes from",
    "agreement": "how well the experts of an annotation project agree with each other",
    "tune": "find the thresholds that maximise the metric on out-of-fold predictions",
    "estimate": "what another runtime would change on the final board",
    "make": "from a corpus or official labels to the files of a competition",
    "new": "write a folder with a new metric, to be edited from there",
    "check": "try a metric file: does it obey everything that Kaggle demands?",
    "emulate": "score a submission as Kaggle would, and show what the participant would see",
    "publish": "create a competition on Kaggle, step by step",
    "bundle": "make a competition for another platform",
    "leaderboard": "fetch a competition's leaderboard",
    "run": "run submitted models on identical hardware and record their runtimes",
    "rank": "score all submissions, reward speed, say how sure the order is",
    "verify": "compute a published board again and compare",
    "boost": "apply the runtime rewards to a leaderboard",
}

EXIT_CODES = "Exit codes: 0 done, 1 differences found, 2 wrong usage, 3 submission rejected, 4 host's error."


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="podium",
        description="Hosted competition metrics, and everything around them.",
        epilog="\n".join(
            ["commands:", *(f"  {name:<12} {what}" for name, what in COMMANDS.items()), "", EXIT_CODES]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="podium COMMAND …  (podium COMMAND --help says more)",
    )
    parser.add_argument("--version", action="version", version=f"podium {podium.__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="see below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)

    command = importlib.import_module(f"podium.cli.{chosen.command}")
    of_command = argparse.ArgumentParser(
        prog=f"podium {chosen.command}",
        description=command.__doc__,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(of_command)
    options = of_command.parse_args(chosen.rest)
    return errors.run(lambda: command.run(options))
