"""What a board that was made again says about itself: why, with what, and what that changed."""

from typing import Any

from podium.common.statements import say
from podium.common.wording import counted, listed

INPUTS = {
    "solution": ("a new solution", "another solution", "no solution"),
    "runtimes": ("runtimes", "other runtimes", "no runtimes"),
    "failed": ("failed models", "other failed models", "no failed models"),
    "teams": ("decisions about teams", "other decisions about teams", "no decisions about teams"),
    "site_board": ("the site's board", "another board of the site", "no board of the site"),
    "side": ("files beside the submissions", "other files beside the submissions", "no such files"),
    "left_out": ("left-out items", "other left-out items", "no left-out items"),
}
HOW = "new", "changed", "gone"


def sentences(facts: dict[str, Any]) -> list[str]:
    """Say why a board was made again, what was given differently, and what has changed."""
    if "again" not in facts:
        return []
    because, changed = facts.get("page", {}).get("because", ""), facts["again"]
    reason = [because if because[-1] in ".!?" else f"{because}."] if because else []
    return [*reason, _given(changed), _changes(changed)]


def _given(changed: dict[str, Any]) -> str:
    """Say what was given differently than for the earlier board."""
    parts = [INPUTS[name][HOW.index(how)] for name, how in changed["inputs"].items()]
    parts += [_of_option(each) for each in changed["given"]]
    numbers = changed["submissions"]
    parts += [f"{counted(numbers[how], f'{how} submission')}" for how in numbers if numbers[how]]
    return say("made_again", given=parts or ["nothing given differently"])


def _of_option(each: dict[str, Any]) -> str:
    name, now, then = each["name"], each["is"], each["was"]
    return f"{name} {_of_value(now)} instead of {_of_value(then)}"


def _of_value(value: Any) -> str:
    return "none" if value in ("", None) else str(value)


def _changes(changed: dict[str, Any]) -> str:
    """Say what has changed since the earlier board."""
    if changed["largest_change"] is None:
        return say("no_team_on_both")
    only = [("only on this board", "only_here"), ("only on the earlier one", "only_earlier")]
    absent = "".join(f", {where}: {listed(changed[key])}" for where, key in only if changed[key])
    is_same = changed["first"] == changed["first_earlier"]
    return say("first_is_same" if is_same else "first_is_another", **changed, absent=absent)
