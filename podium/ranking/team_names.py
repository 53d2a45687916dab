"""The team, the submission and its time in the name of a file, as learning platforms write them.

    noorsami_3312_770012_submission.csv                     {team}_{}_{}_{submission}
    Noor Sami_51207_assignsubmission_file_                  {team}_{}_assignsubmission_file_
    Work_noorsami_attempt_2026-03-05-10-11-12_sub.csv       Work_{team}_attempt_{submitted_at}_{}

A pattern is such a short form, or a regular expression with a group called team.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from podium.common.errors import HostError, UsageError
from podium.common.options import as_option
from podium.common.wording import counted, listed

GROUPS = ("team", "submission", "submitted_at")
HOLE = re.compile(r"\{(\w*)\}")
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[-T_ ](\d\d)[-:.](\d\d)(?:[-:.](\d\d))?")
NUMBER = re.compile(r"\d+")
SHOWN = {"number": "NUMBER", "time": "TIME"}  # what stands for parts of a name
USUAL = 0.5  # so many of the names have to share a shape


class Named(NamedTuple):
    """What a name says; texts are "" if it says nothing."""

    team: str
    submission: str = ""
    submitted_at: str = ""


def pattern_of(text: str) -> re.Pattern[str]:
    """Read a pattern.

    >>> pattern_of("{team}_{}").fullmatch("Ada_17")["team"]
    'Ada'
    >>> pattern_of("[0-9]+-(?P<team>.+)").fullmatch("1-Bo")["team"]
    'Bo'
    """
    try:
        pattern = re.compile(text if "(?P<" in text else _written_out(text))
    except re.error as problem:
        raise UsageError(
            f"{as_option('team_from', text)}: expected a regular expression, found {problem}"
        ) from None
    if "team" not in pattern.groupindex or not pattern.groupindex.keys() <= {*GROUPS}:
        found = listed([*pattern.groupindex]) or "none"
        raise UsageError(
            f"{as_option('team_from', text)}: expected a group team and perhaps submission and submitted_at, "
            f"such as {{team}}_{{}}_{{submission}}, found {found}"
        )
    return pattern


def _written_out(text: str) -> str:
    """The regular expression of a short form; each hole takes as little as possible, and a name something."""
    *_, last = [0, *(hole.end() for hole in HOLE.finditer(text))]
    parts, end = [], 0
    for hole in HOLE.finditer(text):
        name, least = hole[1], "+" if hole[1] else "*"
        greedy = "" if hole.end() == last else "?"
        parts += [
            re.escape(text[end : hole.start()]),
            f"(?P<{name}>.{least}{greedy})" if name else f".*{greedy}",
        ]
        end = hole.end()
    return "".join([*parts, re.escape(text[end:])])


def named(pattern: re.Pattern[str], name: str) -> Named:
    """Take a name apart, which is that of a file without its ending, or of a folder."""
    found = pattern.fullmatch(name)
    if found is None or not found["team"].strip():
        raise HostError(
            f"{name}: expected a name like {as_option('team_from')}, {pattern.pattern}, found another one"
        )
    groups = {group: (text or "").strip() for group, text in found.groupdict().items()}
    if at := groups.get("submitted_at"):
        groups["submitted_at"] = _moment(at, name)
    return Named(**groups)


def _moment(text: str, name: str) -> str:
    """Write a time as ISO 8601 does."""
    written = TIME.fullmatch(text)
    moment = text if written is None else f"{written[1]} {written[2]}:{written[3]}:{written[4] or '00'}"
    try:
        datetime.fromisoformat(moment)
    except ValueError:
        raise HostError(f"{name}: expected a day and a time at submitted_at, found {text}") from None
    return moment


def proposal(names: Sequence[str]) -> str | None:
    """Say that names have a common shape with numbers or times, and which pattern takes the team out of them.

    >>> proposal(["ada_31_770_sub", "bo_32_771_sub", "ada_31_772_sub"]).partition(": ")[0]
    '3 names are like ada_NUMBER_NUMBER_sub, and 2 of them have ada'
    >>> proposal(["team_1", "team_2"]), proposal(["Ada", "Bo"])
    (None, None)
    """
    shapes = Counter(_shape(name) for name in names)
    if not shapes:
        return None
    shape, number = shapes.most_common(1)[0]
    if number < 2 or number < USUAL * len(names) or not {*SHOWN} & {*shape}:
        return None
    alike = [name.split("_") for name in names if _shape(name) == shape]
    parts = [*_parts(shape, [*zip(*alike)])]
    if "{team}" not in parts:
        return None
    teams = Counter(each[parts.index("{team}")] for each in alike)
    most, times = teams.most_common(1)[0]
    example = "_".join(SHOWN.get(kind, part) for kind, part in zip(shape, alike[0]))
    several = f", and {times:,} of them have {most}" if times > 1 else ""
    return (
        f"{counted(number, 'name')} are like {example}{several}: each is published as a team of its own. "
        f"{as_option('team_from', '_'.join(parts))} takes the team out of them"
    )


def _shape(name: str) -> tuple[str, ...]:
    """The kinds of the parts of a name between underscores."""

    def kind(part: str) -> str:
        return "number" if NUMBER.fullmatch(part) else "time" if TIME.fullmatch(part) else "text"

    return tuple(map(kind, name.split("_")))


def _parts(shape: Sequence[str], columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """The parts of a short form: the first text that differs is the team, and one at the end is the file."""
    differs = [place for place, cells in enumerate(columns) if shape[place] == "text" and len({*cells}) > 1]
    for place, (kind, cells) in enumerate(zip(shape, columns)):
        if differs and place == differs[0]:
            yield "{team}"
        elif kind == "time":
            yield "{submitted_at}"
        elif place == len(shape) - 1 and place in differs and "time" not in shape:
            yield "{submission}"
        else:
            yield cells[0] if kind == "text" and place not in differs else "{}"
