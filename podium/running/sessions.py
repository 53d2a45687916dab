"""Models that were measured in another session than most: how far their runtimes can be compared.

A machine is never the same on another day.  So one of the earlier models runs along, and what its time has
changed by is added to the uncertainty of the runtimes of that session.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from podium.running.fairness import DECIDED, SHARED, MachineNoise, State, state_of
from podium.running.journal import REFERENCE, Row, measured


class Later(NamedTuple):
    """What is to be said of a runtime from a later session."""

    mark: str = ""
    error: float = 0.0  # relative, beyond that of the runs themselves
    is_apart: bool = False  # whether it cannot be compared with the others


def main_session(runs_of_models: Iterable[Sequence[Row]]) -> int:
    """The session in which most runs of these models were made; the first of several."""
    number = Counter(row.session for runs in runs_of_models for row in runs)
    return min(number, key=lambda session: (-number[session], session), default=1)


def later(counting: Sequence[Row], main: int, rows: Sequence[Row], noise: MachineNoise) -> Later:
    """Compare a model that was measured after the main session by the one that ran along."""
    sessions = {row.session for row in counting}
    if main in sessions:
        return Later()
    along = [row for row in measured(rows) if row.role == REFERENCE and row.session in sessions]
    along = [row for row in along if row.key == along[0].key]
    of_then = [row for row in measured(rows) if row.session == main]
    # It may have been mended since, and its later runs compare nothing.
    before = [row for row in of_then if along and row.key == along[0].key and row.digest == along[0].digest]
    if not before:
        return Later("measured later, without a reference", 0.0, True)
    now, then = ([row.seconds for row in runs] for runs in (along, before))
    change = statistics.median(now) / statistics.median(then)
    error = math.hypot(noise.error_of(now), noise.error_of(then))
    is_apart = abs(math.log(change)) > max(DECIDED * error, math.log1p(SHARED))
    mark = f"measured later, beside {along[0].key.replace(';', ',')}"
    if is_apart:
        mark += f", which took {change:.2f} times as long"
    return Later(mark, math.hypot(error, math.log(change)), is_apart)


def worst_state(rows: Sequence[Row]) -> State:
    """How quiet the machine was: in the first session that was not, and else in all of them."""
    sessions = sorted({row.session for row in measured(rows)})
    states = [state_of([row for row in rows if row.session == session]) for session in sessions]
    return next((state for state in states if state.is_provisional), state_of(rows))
