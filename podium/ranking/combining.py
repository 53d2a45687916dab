"""Several boards become one: what `podium combine` does.

An input is the folder of a board or a table of teams and scores.  What an input adds to a team is a function of
that input's column alone, so the combined board is a board whose score is a mean of columns.  Where every board
has its store, the same function of draws says what chance may have done.
"""

import itertools
import os
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.ranking import comparing, exports, making, redrawing, run_json, uncertainty
from podium.ranking.final import FinalBoard
from podium.ranking.job import content_digest, versions
from podium.ranking.jury import Prizes, with_prizes
from podium.ranking.leaving_out import BOARD_FILE, board_in
from podium.ranking.redrawing import Redrawn
from podium.ranking.rewards import BY_INPUT, BY_NAME
from podium.ranking.rules import CIRCUMSTANCES, RUN, Choices, Options, Rules
from podium.ranking.uncertainty import Certainty, Field
from podium.statistics import Scores
from podium.statistics.inference import UNBOUNDED
from podium.tables import names, records
from podium.tables.files import alone_in, check_apart, read_bytes
from podium.words.arrays import Floats, Ints
from podium.words.errors import HostError, UsageError
from podium.words.options import fault_in
from podium.words.wording import listed

BY_SCORE, BY_RANK, BY_WINS = "score", "rank", "wins"
WORST, LEAVE_OUT = "worst", "leave-out"
WHAT = {
    BY_SCORE: "the weighted mean of the scores",
    BY_RANK: "the weighted mean of the ranks",
    BY_WINS: "the weighted mean of the shares of the other teams that are beaten",
}
TOO_FAR = 10  # how many times farther apart than others the scores of an input may lie
STREAM = 8  # of random numbers


class Input(NamedTuple):
    """An input: what decides there, for each of its teams."""

    name: str  # the last part of its path, or the path from the board
    teams: list[str]
    values: Floats  # (teams,)
    higher_is_better: bool | None  # None of a table, which does not say it
    drawn: Redrawn | None  # None of a table, which is taken as exact
    silence: str = ""  # why nothing is said about chance, if that is so


def combined(paths: Sequence[str], out: Path, choices: Choices, title: str, organizer: str) -> FinalBoard:
    """Combine boards and tables, and write the board, its tables and its page."""
    check_apart(out, paths)
    with alone_in(out):
        return making.written(_made(paths, choices, _options(choices, out, title, organizer)))


def _options(choices: Choices, out: Path, title: str, organizer: str) -> Options:
    """The options of a board, as far as a combined one has them."""
    return Options(
        out=out, title=title, organizer=organizer, boost=False, prizes=choices.prizes, seed=choices.seed
    )


def _made(paths: Sequence[str], choices: Choices, options: Options) -> FinalBoard:
    """Read the inputs, and make the combined board."""
    out = Path(options.out)
    columns = [_read(path, name) for path, name in zip(paths, _names(paths, out))]
    higher = _direction(columns, choices)
    weights = _weights(choices.weights, len(columns))
    teams = _teams(columns, choices.missing)
    given = np.stack([_in_order(column, teams) for column in columns], axis=-1)
    directions = [
        bool(higher if column.higher_is_better is None else column.higher_is_better) for column in columns
    ]
    parts = _added(given, directions, choices)
    scores = _mean(parts, weights)
    higher_is_better = choices.by == BY_WINS or (choices.by == BY_SCORE and higher)
    order, decided = _ordered(scores, parts, teams, -1 if higher_is_better else 1)
    prizes = Prizes(choices.prizes, tuple(range(len(teams))))
    in_order = [teams[row] for row in order]
    board = _board(in_order, scores[order], parts[order], given[order], columns, decided, prizes)
    draws, silence = _draws(columns, teams, directions, weights, choices)
    chance = None if draws is None else _chance(board, draws, order, prizes, higher_is_better, choices.seed)
    resamples = 0 if draws is None else len(draws.scores.population)
    facts = {
        **_facts(choices, columns, board, higher_is_better, decided, silence, draws),
        "rules": run_json.of_fields(Rules, options) | {"resamples": resamples},
        "inputs": _inputs(paths, out),
        "page": {"title": options.title, "organizer": options.organizer},
    }
    return FinalBoard(
        options=options,
        folder=out,
        leaderboard=board,
        submissions=pd.DataFrame(columns=["team", "submission", "fingerprint"]),
        rejected=pd.DataFrame(columns=["team", "submission", "reason"]),
        failed=pd.DataFrame(columns=["team", "model", "reason"]),
        similar=pd.DataFrame(columns=["team", "other_team", "agreement"]),
        facts=facts,
        prizes=prizes,
        resamples=resamples,
        chance=chance,
    )


# ---- Inputs -----------------------------------------------------------------------------------------------


def _names(paths: Sequence[str], out: Path) -> list[str]:
    """Name inputs by the last part of their paths, or by as much of the path from the board as is necessary."""
    relative = [run_json.relative(path, out) for path in paths]
    if len({*relative}) < len(relative):
        raise UsageError(f"expected different inputs, found {listed(sorted(relative))}")
    below = [path.replace("../", "") for path in relative]
    last = [os.path.basename(os.path.abspath(path)) for path in paths]
    forms = last, below, relative
    return [next(name for form, name in zip(forms, each) if form.count(name) == 1) for each in zip(*forms)]


def _read(path: str, name: str) -> Input:
    """Read an input."""
    is_board = os.path.isdir(path) and os.path.isfile(os.path.join(path, RUN))
    table, _ = exports.read_board(board_in(path))
    teams, values = table["team"].tolist(), pd.to_numeric(table["score"], errors="coerce")
    decides = pd.to_numeric(table.get("boosted_score", values), errors="coerce").fillna(values)
    wrong = [team for team, value in zip(teams, decides) if not np.isfinite(value)]
    if wrong:
        raise HostError(f"{path}: expected a score for every team, found none for {listed(wrong)}")
    names.check_names(teams, "team", path)
    if not is_board:
        return Input(name, teams, decides.to_numpy(dtype=np.float64), None, None)
    facts = run_json.read(path)
    if facts["outputs"].get(BOARD_FILE) != content_digest(board_in(path)):
        raise HostError(f"{path}: {BOARD_FILE} is not the one that {RUN} records; verify the board first")
    drawn, silence = redrawing.of_board(Path(path), facts)
    if drawn is not None:
        by_team = dict(zip(teams, decides))
        teams, decides = drawn.teams, pd.Series([by_team[team] for team in drawn.teams])
    return Input(name, teams, decides.to_numpy(dtype=np.float64), facts["higher_is_better"], drawn, silence)


def _direction(columns: Sequence[Input], choices: Choices) -> bool:
    """Tell whether a higher score is better; scores of different directions cannot be added."""
    known = {column.name: column.higher_is_better for column in columns if column.higher_is_better is not None}
    if choices.by == BY_SCORE and len(set(known.values())) > 1:
        lower = [name for name, higher in known.items() if not higher]
        raise UsageError(
            f"--by score: expected boards of one direction; a lower score is better in {listed(lower)}"
        )
    return next(iter(known.values()), True)


def _weights(given: Sequence[float], inputs: int) -> Floats:
    """The weights of the inputs, which add to 1."""
    weights = np.array(given or [1.0] * inputs, dtype=np.float64)
    if len(weights) != inputs or not (np.isfinite(weights) & (weights > 0)).all():
        raise UsageError(
            f"--weights: expected a number above 0 for each of {inputs} inputs, found {list(given)}"
        )
    shares: Floats = weights / weights.sum()
    return shares


def _teams(columns: Sequence[Input], missing: str) -> list[str]:
    """List all teams, by name; one that an input lacks is refused unless it was said what becomes of it."""
    everybody = sorted({team for column in columns for team in column.teams})
    nearly = names.near_misses(((team,) for team in columns[0].teams), ((team,) for team in everybody))
    alike = nearly or names.alike(everybody)
    if alike:
        raise HostError(
            f"expected the same names of teams in all inputs, found names that look alike: {listed(alike)}"
        )
    lacking = {column.name: sorted(set(everybody) - set(column.teams)) for column in columns}
    told = [f"{name} lacks {listed(teams)}" for name, teams in lacking.items() if teams]
    if told and not missing:
        raise UsageError(f"{'; '.join(told)}: give --missing worst or --missing leave-out")
    return everybody


def _in_order(column: Input, teams: Sequence[str]) -> Floats:
    """The values of an input in the order of the teams; NaN for one that it lacks."""
    return np.asarray(pd.Series(column.values, column.teams).reindex(list(teams)), dtype=np.float64)


# ---- Functions of columns ---------------------------------------------------------------------------------


def _added(given: Floats, directions: Sequence[bool], choices: Choices) -> Floats:
    """What each input adds to each team, (…, teams, inputs), from what it has; of draws, for each draw."""
    parts = []
    for column, higher in zip(np.moveaxis(given, -1, 0), directions):
        worst = np.nanmin(column, axis=-1) if higher else np.nanmax(column, axis=-1)
        if choices.missing == WORST:
            column = np.where(np.isnan(column), worst[..., np.newaxis], column)
        parts.append(_ways(choices)(column, higher))
    return np.stack(parts, axis=-1)


def _ways(choices: Choices) -> Callable[[Floats, bool], Floats]:
    """How the column of an input becomes what is added."""
    if choices.by == BY_SCORE:
        return _scaled if choices.scale else lambda column, higher: column
    return _ranks if choices.by == BY_RANK else _wins


def _scaled(column: Floats, higher: bool) -> Floats:
    """Scores as shares of the best one."""
    best = np.nanmax(column, axis=-1, keepdims=True)
    if not higher or np.nanmin(column) < 0 or (best <= 0).any():
        raise UsageError("--scale best: expected scores from 0 where a higher one is better, and one above 0")
    shares: Floats = column / best
    return shares


def _ranks(column: Floats, higher: bool) -> Floats:
    """Ranks from 1; teams with the same value share the mean of their ranks, and NaN stays."""
    frame = pd.DataFrame(np.atleast_2d(column)).rank(axis=1, ascending=not higher, na_option="keep")
    return frame.to_numpy().reshape(column.shape)


def _wins(column: Floats, higher: bool) -> Floats:
    """The share of the other teams that are beaten; a tie counts half."""
    number = (~np.isnan(column)).sum(axis=-1, keepdims=True)
    shares: Floats = (number - _ranks(column, higher)) / np.maximum(number - 1, 1)
    return shares


def _mean(parts: Floats, weights: Floats) -> Floats:
    """The weighted mean over the inputs that a team has, (…, teams)."""
    there = ~np.isnan(parts)
    means: Floats = np.where(there, parts, 0.0) @ weights / (there @ weights)
    return means


def _ordered(scores: Floats, parts: Floats, teams: Sequence[str], sign: int) -> tuple[Ints, list[str]]:
    """Sort the teams, ties by the first, then the next input, and then by name; tell what decided a tie."""
    known = np.where(np.isnan(parts), np.inf, sign * parts)
    keys = [np.array(teams), *known.T[::-1], sign * scores]
    order = np.lexsort(keys)
    decided = []
    for above, below in itertools.pairwise(order.tolist()):
        by = BY_INPUT if (known[above] != known[below]).any() else BY_NAME
        decided.append(by if scores[above] == scores[below] else "")
    return order, decided


def _board(
    teams: list[str],
    scores: Floats,
    parts: Floats,
    given: Floats,
    columns: Sequence[Input],
    decided: Sequence[str],
    prizes: Prizes,
) -> pd.DataFrame:
    """The combined board, with what each input has and what it adds."""
    notes = [f"same score as the next one; {by} decides" if by else "" for by in [*decided, ""]]
    rank = np.arange(len(teams)) + 1
    of_input: dict[str, Floats] = {}
    for number, column in enumerate(columns):
        of_input |= {f"{column.name}: has": given[:, number], f"{column.name}: adds": parts[:, number]}
    board = pd.DataFrame(
        {"rank": rank, "team": teams, "submission": "", "score": scores, "eligible": False, "boost": 0.0,
         "boosted_score": scores, "rank_before": rank, "runtime": np.nan, "note": notes} | of_input
    )  # fmt: skip
    return with_prizes(board, prizes)


# ---- Chance -----------------------------------------------------------------------------------------------


class Draws(NamedTuple):
    """Draws of the combined scores, and what they were made of."""

    scores: Scores  # (r, teams) each, by name
    influence: Floats  # of the items of all boards, (n, teams)
    is_of_groups: bool


def _draws(
    columns: Sequence[Input],
    teams: Sequence[str],
    directions: Sequence[bool],
    weights: Floats,
    choices: Choices,
) -> tuple[Draws | None, str]:
    """Draw the combined scores, or say why not; boards are drawn independently if their items differ."""
    known = [column.drawn for column in columns if column.drawn is not None]
    silence = next((column.silence for column in columns if column.silence), "")
    doubt = next((f"too little decides: {each.withheld}" for each in known if each.withheld is not None), "")
    if not known or silence or doubt:
        return None, silence or doubt or "no input is a board with a store"
    if choices.same_items and len({(each.items, each.seed, len(each.scores.population)) for each in known}) > 1:
        raise UsageError(
            "--same-items: expected boards of the same items, seed and number of draws, found different ones"
        )
    number = min(len(each.scores.population) for each in known)
    drawn, influences = [], []
    for at, column in enumerate(columns):
        if column.drawn is None:
            drawn.append([np.tile(_in_order(column, teams), (number, 1))] * len(Scores._fields))
            continue
        random = np.random.default_rng([choices.seed, STREAM, 0 if choices.same_items else at])
        rows = random.permutation(len(column.drawn.scores.population))[:number]
        drawn.append([_of_teams(column.drawn, each[rows], teams) for each in column.drawn.scores])
        influences.append(weights[at] * _of_teams(column.drawn, column.drawn.influence, teams, 0.0))
    given = [np.stack(of_columns, axis=-1) for of_columns in zip(*drawn)]
    scores = Scores(*(_mean(_added(each, directions, choices), weights) for each in given))
    influence = np.sum(influences, axis=0) if choices.same_items else np.concatenate(influences)
    return Draws(scores, influence, any(each.is_of_groups for each in known)), ""


def _of_teams(drawn: Redrawn, numbers: Floats, teams: Sequence[str], lacking: float = np.nan) -> Floats:
    """Put numbers of the teams of a board, (…, teams), into the order of all teams, also of those it lacks."""
    return (
        pd.DataFrame(numbers, columns=drawn.teams).reindex(columns=list(teams), fill_value=lacking).to_numpy()
    )


def _chance(
    board: pd.DataFrame, draws: Draws, order: Ints, prizes: Prizes, higher_is_better: bool, seed: int
) -> Certainty:
    """Say what the draws say about the combined board."""
    scores = Scores(*(each[:, order] for each in draws.scores))
    influence = list(draws.influence[:, order].T)
    of_groups = [draws.is_of_groups] * len(board)
    field = Field(scores, scores.population, influence, of_groups, higher_is_better, UNBOUNDED)
    hidden = "only each board knows which groups decide" if draws.is_of_groups else ""
    table = uncertainty.intervals(board, field, prizes, {"seed": seed}).assign(note="")
    differences = uncertainty.differences(board, field, prizes, lambda *_: (None, hidden))
    return Certainty(table, differences, [None] * len(board))


# ---- The record -------------------------------------------------------------------------------------------


def _facts(
    choices: Choices,
    columns: Sequence[Input],
    board: pd.DataFrame,
    higher_is_better: bool,
    decided: Sequence[str],
    silence: str,
    draws: Draws | None,
) -> dict[str, Any]:
    """Collect what run.json records and sentences are made of."""
    weights = _weights(choices.weights, len(columns))
    return {
        "combined": run_json.of_fields(Choices, choices)
        | {"weights": [round(float(weight), 6) for weight in weights]},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "rule": _rule(columns, weights, choices),
        "signature": f"combined by {choices.by}",
        "decided_by": "All",
        "items": 0 if draws is None else len(draws.influence),
        "item": "item",
        "halves": False,
        "higher_is_better": higher_is_better,
        "higher_is_better_assumed": False,
        "boosted": False,
        "noise_known": True,
        "counts": {"submissions": len(columns), "rejected": 0, "teams": len(board), "teams_without_score": 0,
                   "eligible": 0, "failed": 0},
        "warnings": _told(columns, board["team"].tolist(), choices) + _outweighed(columns, weights, choices),
        "ties": list(decided) if any(decided) else [],
        "silence": silence,
        "versions": versions(),
        "hardware": {"system": platform.system(), "machine": platform.machine()},
    }  # fmt: skip


def _rule(columns: Sequence[Input], weights: Floats, choices: Choices) -> str:
    """Say what the score is."""
    shares = ", ".join(f"{round(weight, 6):g} of {column.name}" for weight, column in zip(weights, columns))
    scaled = ", each divided by its best one" if choices.scale else ""
    return f"{WHAT[choices.by]} of {len(columns)} inputs ({shares}){scaled}"


def _told(columns: Sequence[Input], teams: list[str], choices: Choices) -> list[str]:
    """Say which teams an input lacks, and which inputs are taken as exact."""
    missing = {column.name: sorted(set(teams) - set(column.teams)) for column in columns}
    instead = "the worst of its teams counts" if choices.missing == WORST else "the other inputs count"
    lacking = [f"{name} lacks {listed(those)}, for which {instead}" for name, those in missing.items() if those]
    exact = listed([column.name for column in columns if column.higher_is_better is None])
    return lacking + (
        [f"the points of {exact} are taken as exact: a table says nothing about chance"] if exact else []
    )


def _outweighed(columns: Sequence[Input], weights: Floats, choices: Choices) -> list[str]:
    """Say if one input decides nearly alone, because its scores lie much farther apart than those of others."""
    if choices.by != BY_SCORE or choices.scale:
        return []
    spreads = {each.name: weight * float(np.ptp(each.values)) for each, weight in zip(columns, weights)}
    most, least = (choose(spreads, key=lambda name: spreads[name]) for choose in (max, min))
    if spreads[most] <= TOO_FAR * spreads[least]:
        return []
    return [
        f"{most} decides nearly alone: times their weights, its scores lie {spreads[most]:.3g} apart, and "
        f"those of {least} {spreads[least]:.3g}; give --scale best, --by rank or other weights"
    ]


def _inputs(paths: Sequence[str], out: Path) -> dict[str, dict[str, str]]:
    """Where the inputs are, seen from the board, and their digests."""
    return {
        f"input {number}": {"path": run_json.relative(path, out), "sha256": _digest(path)}
        for number, path in enumerate(paths, 1)
    }


def _digest(path: str) -> str:
    """The SHA-256 of an input: of a board that of its record, which names all of its files."""
    record = os.path.join(path, RUN)
    return content_digest(record if os.path.isfile(record) else board_in(path))


def record_in(folder: Path) -> dict[str, Any] | None:
    """Read the record in a folder, if the board was made of others."""
    try:
        facts, fault = records.parsed(read_bytes(folder / RUN, follow_links=False), dict[str, Any])
    except UsageError:
        return None
    return None if fault or "combined" not in facts else facts


def compared(facts: dict[str, Any], home: Path) -> tuple[list[str], list[str]]:
    """Combine the inputs of a board again; list the differences, and what to know."""
    choices, paths, options = _recorded(facts, home)
    differences, notices = comparing.told_beside(facts, home, paths)
    differences += [
        f"the {name} {path} has changed: its SHA-256 is {_digest(path)}, was {then['sha256']}"
        for (name, then), path in zip(facts["inputs"].items(), paths)
        if _digest(path) != then["sha256"]
    ]
    final = _made(paths, choices, options)
    final.facts.update({name: facts[name] for name in CIRCUMSTANCES if name in facts})
    files = making.files_of(final)
    differences += comparing.changed_files(facts, files, final.facts, home, not differences)
    return differences, notices


def _recorded(facts: dict[str, Any], home: Path) -> tuple[Choices, list[str], Options]:
    """Read from a record how boards were combined."""
    read: Any = records.form("Input", {"path": str, "sha256": str})
    forms = {
        "combined": records.form("Combined", Choices.__annotations__),
        "inputs": dict[str, read],
        "outputs": dict[str, str],
        "page": records.form("Page", {"title": str, "organizer": str}),
    }
    wrong = [name for name, form in forms.items() if records.fault_in(facts.get(name), form)]
    if not wrong:
        said, page_of = facts["combined"], facts["page"]
        choices = Choices(**{**said, "weights": tuple(map(float, said["weights"]))})
        paths = [os.path.normpath(home / each["path"]) for each in facts["inputs"].values()]
    if wrong or fault_in(choices) or len(paths) < 2:
        raise UsageError(f"{home / RUN}: expected the run.json of podium combine")
    if lacking := [path for path in paths if not os.path.exists(path)]:
        raise UsageError(f"{RUN} names {lacking[0]}, which is not there")
    return choices, paths, _options(choices, home, page_of["title"], page_of["organizer"])
