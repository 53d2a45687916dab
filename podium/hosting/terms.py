"""When a competition runs on a site, and who may submit how often: options that are declared here alone."""

import math
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, NamedTuple

from podium.common.options import Values, whole_number

DAY = timedelta(days=1)


def _moment(text: str) -> datetime:
    """Read a time, in UTC and without a time zone."""
    when = datetime.fromisoformat(text)
    return when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)


def _last_moment(text: str) -> datetime:
    """Read the time at which something ends; a day without a time ends when it is over.

    >>> str(_last_moment("2027-04-15")), str(_last_moment("2027-04-15T12:00+02:00"))
    ('2027-04-15 23:59:59', '2027-04-15 10:00:00')
    """
    when = _moment(text)
    with suppress(ValueError):
        date.fromisoformat(text)
        return when + DAY - timedelta(seconds=1)
    return when


def _is_time(value: object) -> bool:
    """Whether a value is a time without a time zone."""
    return isinstance(value, datetime) and value.tzinfo is None


FIRST_DATE = Values("a date such as 2027-01-15T12:00Z", _is_time, _moment)
LAST_DATE = FIRST_DATE._replace(read=_last_moment)


class Quota(NamedTuple):
    """How often a team may submit in a phase."""

    per_day: int  # the number of submissions on one day
    total: int  # the number of submissions in the whole phase


@dataclass(frozen=True, kw_only=True)
class Terms:
    """When a competition runs, and who may submit how often.

    Parameters
    ----------
    start : DATE
        When it opens, in UTC.
    switch : DATE
        When the Private phase begins (not if all rows are Public), in UTC.
    end : DATE
        When it closes, in UTC; a day without a time counts to its end.

    Other Parameters
    ----------------
    per_day : N
        How many submissions a team may send each day of the Public phase.
    total : N
        How many submissions a team may send in the whole Public phase (default: the daily limit times the
        number of days).
    approve_entrants : bool
        Let you approve everybody who wants to take part (default: everybody may).
    """

    start: Annotated[datetime, FIRST_DATE]
    switch: Annotated[datetime | None, FIRST_DATE] = None
    end: Annotated[datetime, LAST_DATE]
    per_day: Annotated[int, whole_number(1)] = 5
    total: Annotated[int | None, whole_number(1)] = None
    approve_entrants: bool = False

    @property
    def told(self) -> str:
        """The dates, as they are printed."""
        switch = f", the Private phase begins {self.switch} UTC" if self.switch else ""
        return f"it opens {self.start} UTC{switch}, and it closes {self.end} UTC"

    @property
    def phases(self) -> list[tuple[str, tuple[datetime, datetime], Quota]]:
        """The name, the two dates and the limits of each phase.

        The Private phase takes one submission of a team. With two, the team could learn which one is better.
        """
        until = self.switch or self.end
        days = math.ceil((until - self.start) / DAY)
        total = self.per_day * days if self.total is None else self.total
        phases = [("Public", (self.start, until), Quota(self.per_day, total))]
        return phases + ([("Private", (self.switch, self.end), Quota(1, 1))] if self.switch else [])
