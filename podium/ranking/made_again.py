"""A board that is made again: the recorded command with changes, and what these have changed.

options, parameters = with_changes(asked)    what is recorded, and what was given in place of it
earlier = read(options.again)                the earlier board
compared(final, earlier, …)                  what was given differently, and the ranks before and after
"""

import math
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from podium.common.errors import HostError, UsageError
from podium.common.options import flag_of
from podium.metric import hosted
from podium.metric.parameters import defaults
from podium.ranking import run_json, store
from podium.ranking.final import FinalBoard
from podium.ranking.job import content_digest, opened
from podium.ranking.passes import Scored
from podium.ranking.rules import POSITIONAL, RUN, Options, Rules
from podium.ranking.submissions import Submission
from podium.tables.files import Location, check_apart
from podium.tables.schema import NAME, Table, number, whole

BOARD_FILE = "final_leaderboard.csv"
BOARD = Table(key=["team"], team=NAME, rank=whole("a rank", 1, 10**9).optional, score=number("a score"))
COLUMNS = ["rank", "rank_earlier", "team", "score", "score_earlier", "change"]
NECESSARY = ("metric", "solution", "submissions")
SCORED_AGAIN = ("solution", "left_out")  # of which every score depends


DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Options) if each.name != "given"}


class Earlier(NamedTuple):
    """An earlier board."""

    facts: dict[str, Any]  # its run.json
    board: pd.DataFrame  # the ranks and scores of the teams that had a rank


# ---- The recorded command with changes --------------------------------------------------------------------


def with_changes(asked: Options) -> tuple[Options, dict[str, Any]]:
    """Put what was given in the place of what an earlier run records; with the metric's recorded parameters.

    An empty text takes a recorded option back.
    """
    assert asked.again is not None
    record = record_in(asked.again)
    facts, home = read(record).facts, Path(record).parent
    check_apart(asked.out, [home])
    _check_new(Path(asked.out))
    recorded = run_json.options_of(facts, home)
    if recorded.limits == Options(out=home).limits:
        recorded = replace(recorded, **{name: DEFAULTS[name] for name in DEFAULTS if name.endswith("_limit")})
    given = {name: getattr(asked, name) for name in asked.given - {"again", "parameters"}}
    given = {name: DEFAULTS[name] if value in ("", [""]) else value for name, value in given.items()}
    if lacking := [name for name in NECESSARY if name in given and not given[name]]:
        raise UsageError(f"{lacking[0]}: expected a path, found an empty text")
    # Other runtimes have another failed.csv beside them; beside the same ones, the recorded failures count.
    is_found_beside = "runtimes" in given and "failed" not in given
    given |= {"failed": None} if is_found_beside else {}
    options = replace(recorded, again=record, parameters=asked.parameters, **given)
    named = _named(options, recorded) - ({"failed"} if is_found_beside else set())
    options = replace(options, given=frozenset(named))
    _check_there(options, record)
    options = opened(options)  # what is compared is what is ranked
    _tell_changed(facts, options, given)
    return options, recorded.metric_parameters


def _named(options: Options, recorded: Options) -> set[str]:
    """Name the options that a command must have to ask the same, also those that are taken back.

    A flag that was recorded and is not set any more has no form in a command.
    """
    named = {name for name, default in DEFAULTS.items() if getattr(options, name) != default}
    taken_back = {name for name, default in DEFAULTS.items() if getattr(recorded, name) != default}
    taken_back -= {name for name, default in DEFAULTS.items() if isinstance(default, bool)}
    return named | taken_back | {"resamples"} | ({"failed"} if options.runtimes else set())


def record_in(again: Location) -> str:
    """Find the record of a board by its folder."""
    return str(Path(again) / RUN) if Path(again).is_dir() else os.fspath(again)


def _check_new(out: Path) -> None:
    """Refuse a folder that has a board already, which a comparison with another one would replace."""
    if (out / RUN).exists():
        raise UsageError(f"--out {out}: expected a new folder for the board that is made again, found a board")


def _check_there(options: Options, record: str) -> None:
    """Make sure that the inputs that only a record names are there."""
    in_order = f"--again {Path(record).parent} {' '.join(map(str.upper, POSITIONAL))}"
    named = {name: in_order if name in POSITIONAL else f"{flag_of(name)} PATH" for name in options.paths}
    run_json.check_inputs(options, named)


def _tell_changed(facts: Mapping[str, Any], options: Options, given: Collection[str]) -> None:
    """Refuse another metric before it is executed, and warn of what it means that an input has changed.

    Whoever gives another table knows that it counts.
    """
    changes = run_json.changed_metric(facts, options)
    if changes and run_json.has_own_of_other_version(facts, options):
        warnings.warn(f"{changes[0]}; every submission is scored again", stacklevel=2)
    elif changes:
        raise UsageError(f"{changes[0]}; a board is made again with the same metric: rank without --again")
    for name in facts["inputs"]:
        if name in ("metric", "again") or (name in given and name not in SCORED_AGAIN):
            continue
        so = "every submission is scored again" if name in SCORED_AGAIN else "what is there now counts"
        for change in run_json.changed_input(facts, options, name):
            warnings.warn(f"{change}; {so}", stacklevel=2)


def copy_store(record: Location, to: Path) -> None:
    """Copy what an earlier run has learned of submissions, as far as it can be used again."""
    facts = run_json.read(record)
    earlier = Path(record).parent / facts["store"]
    for name in store.names(earlier):
        is_new = not store.path_of(to, name).exists() and not store.path_of(earlier, name).is_symlink()
        if is_new and (entry := store.load(earlier, name)):
            store.save(to, entry)


# ---- What was given differently, and what that changed ------------------------------------------------------


def read(record: Location) -> Earlier:
    """Read an earlier board, whose table has to be the recorded one."""
    facts, table = run_json.read(record), Path(record).parent / BOARD_FILE
    if content_digest(str(table)) != facts["outputs"].get(BOARD_FILE):
        raise HostError(f"{table} is not the one that {RUN} beside it records; verify that board first")
    board = BOARD.read(str(table))
    return Earlier(facts, board[board["rank"].notna()].astype({"rank": int, "score": float}))


def compared(
    final: FinalBoard, earlier: Earlier, files: Sequence[Submission], scored: Sequence[Scored]
) -> FinalBoard:
    """Add to a board what was given differently than for an earlier one, and what has changed since."""
    table, facts = changes(final.leaderboard, earlier.board)
    facts |= {
        "inputs": _inputs(earlier.facts, final.options),
        "given": _given(earlier.facts, final.options),
        "submissions": _submissions(earlier.facts, files, scored),
    }
    return replace(final, changes=table, facts=final.facts | {"again": facts})


def _inputs(facts: Mapping[str, Any], options: Options) -> dict[str, str]:
    """Name the inputs that are new, changed or gone."""
    differing = {}
    for name, path in options.paths.items():
        then = facts["inputs"].get(name)
        if name in ("metric", "submissions", "again") or (path is None and then is None):
            continue
        if path is None or then is None:
            differing[name] = "gone" if path is None else "new"
        elif run_json.changed_input(facts, options, name):
            differing[name] = "changed"
    return differing


def _given(facts: Mapping[str, Any], options: Options) -> list[dict[str, Any]]:
    """List the rules and the parameters of the metric that differ, with both values."""
    now = {each.name: getattr(options, each.name) for each in fields(Rules)} | {"part": options.part}
    then = facts["rules"] | {"part": facts.get("part", "")}
    parameters = {
        name: "inf" if value == math.inf else value for name, value in options.metric_parameters.items()
    }
    usual = defaults(hosted.load(options.metric)) | facts["parameters"]
    pairs = [(name, then[name], now[name]) for name in now]
    pairs += [(name, usual.get(name), value) for name, value in parameters.items()]
    return [{"name": name, "was": was, "is": value} for name, was, value in pairs if was != value]


def _submissions(
    facts: Mapping[str, Any], files: Sequence[Submission], scored: Sequence[Scored]
) -> dict[str, int]:
    """Count the submissions that are new, that have changed, and that are missing."""
    then = {
        (each["team"], each["submission"]): (each["sha256"], each.get("side_sha256", ""))
        for each in facts["submissions"]
    }
    now = {file[:2]: (each.digest, each.side_digest) for file, each in zip(files, scored)}
    return {
        "new": len(now.keys() - then.keys()),
        "changed": sum(then[key] != now[key] for key in now.keys() & then.keys()),
        "missing": len(then.keys() - now.keys()),
    }


def changes(board: pd.DataFrame, earlier: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """List each team with its rank and score, here and on the earlier board, with what to say of that."""
    both = board[["team", "rank", "score"]].merge(earlier, on="team", how="outer", suffixes=("", "_earlier"))
    both = both.sort_values(["rank", "rank_earlier"], ignore_index=True)
    ranks = {name: both[name].astype("Int64") for name in ("rank", "rank_earlier")}
    table = both.assign(**ranks, change=both["score"] - both["score_earlier"])[COLUMNS]
    known = table.dropna(subset=["rank", "rank_earlier"])
    facts = {
        "first": table.loc[table["rank"] == 1, "team"].tolist(),
        "first_earlier": table.loc[table["rank_earlier"] == 1, "team"].tolist(),
        "moved": int((known["rank"] != known["rank_earlier"]).sum()),
        "largest_change": float(known["change"].abs().max()) if len(known) else None,
        "only_here": table.loc[table["rank_earlier"].isna(), "team"].tolist(),
        "only_earlier": table.loc[table["rank"].isna(), "team"].tolist(),
    }
    return table, facts
