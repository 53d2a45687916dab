"""Arguments that several commands share."""

import argparse
import datetime

__all__ = ["add_metric", "add_parameters", "moment", "natural", "positive", "share"]


def add_metric(parser: argparse.ArgumentParser) -> None:
    """--metric and --set."""
    parser.add_argument(
        "--metric",
        default="unified",
        metavar="NAME_OR_FILE",
        help="unified, scifact, trec_is, markup_consistency, readable, or a Python file with a score() "
        "(default: unified)",
    )
    add_parameters(parser)


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """--set."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the metric, such as temperature=80; may be repeated",
    )


def moment(text: str) -> datetime.datetime:
    """A date and perhaps a time, of UTC where nothing else is said; UTC without a time zone."""
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected a date such as 2027-01-15T12:00Z") from None
    return when if when.tzinfo is None else when.astimezone(datetime.UTC).replace(tzinfo=None)


def natural(text: str) -> int:
    """A whole number, at least 0."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number


def positive(text: str) -> int:
    """A whole number, at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return number


def share(text: str) -> float:
    """A number between 0 and 1, both excluded."""
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number
