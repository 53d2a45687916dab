"""What a board that was made again says about itself: why, with what, and what that changed."""

from typing import Any

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
    return f"This board was made again with {listed(parts, 9) if parts else 'nothing given differently'}."


def _of_option(each: dict[str, Any]) -> str:
    name, now, then = each["name"], each["is"], each["was"]
    return f"{name} {_of_value(now)} instead of {_of_value(then)}"


def _of_value(value: Any) -> str:
    return "none" if value in ("", None) else str(value)


def _changes(changed: dict[str, Any]) -> str:
    """Say what has changed since the earlier board."""
    first, before = changed["first"], changed["first_earlier"]
    if changed["largest_change"] is None:
        return "No team is on both boards."
    leads = (
        "The first is unchanged" if first == before else f"{listed(first)} is first instead of {listed(before)}"
    )
    parts = [
        f"{leads}; {counted(changed['moved'], 'team')} moved",
        f"the largest change of a score is {changed['largest_change']:.4f}",
    ]
    for where, key in (("only on this board", "only_here"), ("only on the earlier one", "only_earlier")):
        if changed[key]:
            parts.append(f"{where}: {listed(changed[key])}")
    return f"{', '.join(parts)}."
