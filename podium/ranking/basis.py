"""What a board rests on: what its metric rewards, how the models were measured, and whom to ask."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from podium.common.errors import ToolError
from podium.common.statements import say
from podium.common.wording import counted, listed, printable
from podium.ranking.speed import KEYS
from podium.running.settings import HARDWARE
from podium.tables.files import Location, read_bytes

MOST_CHARACTERS = 500  # of the description of a machine
WITHOUT = "none"  # the engine of models that ran without a sandbox


def measured(leaderboard: pd.DataFrame, runtimes: pd.DataFrame | None) -> dict[str, Any]:
    """Collect how the runtimes of a board were measured; nothing if there are none."""
    if runtimes is None:
        return {}
    keys = [name for name in KEYS if name in runtimes]
    known = leaderboard.loc[leaderboard["runtime"].notna(), keys].merge(runtimes, on=keys)
    runs = pd.to_numeric(known["runs"]).dropna() if "runs" in known else pd.Series(dtype=float)
    engines = sorted({*known["engine"].dropna()}) if "engine" in known else []
    facts: dict[str, Any] = {"models": len(known), "engines": engines}
    return facts | ({"runs": [int(runs.min()), int(runs.max())]} if len(runs) == len(known) > 0 else {})


def machine_beside(runtimes: Location | None) -> str | None:
    """Describe the machine of ``podium run`` in a line, if its description lies beside the runtimes."""
    if runtimes is None:
        return None
    with suppress(ToolError, ValueError, LookupError, TypeError):  # whoever edited it loses the line
        machine = json.loads(read_bytes(Path(str(runtimes)).with_name(HARDWARE)))["hardware"]
        if isinstance(machine, dict):  # as podium 11.0 wrote it
            cores, memory = counted(machine["cores"], "core"), f"{machine['memory_gb']:g} GB of memory"
            machine = ", ".join([machine["cpu"], cores, memory, *machine["accelerators"], machine["kernel"]])
        return printable(machine)[:MOST_CHARACTERS] if isinstance(machine, str) else None
    return None


def lines(facts: dict[str, Any], organizer: str) -> dict[str, str]:
    """Say in a line each what a board rests on.

    >>> lines({"purpose": "The share of right labels.", "measured": {}}, "Jo <jo@example.org>")
    {'What is rewarded?': 'The share of right labels.', 'Whom can one ask?': 'Jo <jo@example.org>.'}
    """
    how, machine = facts.get("measured") or {}, facts.get("hardware", {}).get("models")
    of_constant = facts.get("constant")
    said = {
        "What is rewarded?": facts.get("purpose", ""),
        "What does a constant answer score?": "" if of_constant is None else f"{of_constant:.5f}.",
        "How were models measured?": _measuring(how, machine) if how else "",
        "Whom can one ask?": organizer and f"{organizer.removesuffix('.')}.",
    }
    return {question: line for question, line in said.items() if line}


def _measuring(how: dict[str, Any], machine: str | None) -> str:
    """Say on which machine, how isolated and how often models ran."""
    if "runs" not in how or not how["engines"]:
        return say("runtimes_were_given", models=how["models"])
    fewest, most = how["runs"]
    times = "once" if most == 1 else f"{most} times" if fewest == most else f"{fewest} to {most} times"
    engines = [each for each in how["engines"] if each != WITHOUT]
    sandbox = f"in a sandbox ({listed(engines)})" if engines else "without a sandbox"
    if engines and len(engines) < len(how["engines"]):
        sandbox += ", and some without one"
    where = f", on this machine: {machine}" if machine else ""
    return say("models_ran", models=how["models"], times=times, sandbox=sandbox, where=where)
