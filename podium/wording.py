"""Words for messages and pages: numbers, lists, and foreign text made harmless.

Text that strangers chose (names of teams and files, ids, messages of their programs) goes through `printable`
before it reaches a terminal and through `spreadsheet_safe` before it reaches a CSV that a spreadsheet may open.
Pages in HTML are escaped by jinja2, which does so by itself.
"""

import re
from collections.abc import Sequence

FORMULA_STARTS = "=+-@\t\r"  # of a cell that a spreadsheet executes
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)|-")


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "essay"), counted(1200, "essay")
    ('1 essay', '1,200 essays')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(items: Sequence[object], most: int = 5) -> str:
    """The first few of some items, and how many more there are.

    >>> listed("abcdef", 2)
    'a, b and 4 more'
    """
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more


def natural_order(text: str) -> tuple[int, int, str, str]:
    """A key that sorts ids which are whole numbers as numbers, and other ids behind them as text.

    >>> sorted(["b", "10", "9", "a", "0"], key=natural_order)
    ['0', '9', '10', 'a', 'b']
    """
    digits = text.lstrip("0")
    # Numbers without leading zeros compare as their lengths, then as text: the longest cell costs no more.
    return (0, len(digits), digits, text) if text.isascii() and text.isdigit() else (1, 0, text, text)


def printable(text: object, keep: str = "") -> str:
    r"""Foreign text as a terminal may have it: what is no visible character is written as Python escapes it.

    Such characters move the cursor, change colors, titles or the clipboard (ESC), turn the direction of writing
    around, or make two different names look alike (a space without width).

    Parameters
    ----------
    text : object
        Its `str` is taken.
    keep : str
        Characters that stay, such as line ends of the program's own.

    Examples
    --------
    >>> printable("good\x1b[2J\u202ename\n")
    'good\\x1b[2J\\u202ename\\n'
    >>> printable("Zoë 🎉")
    'Zoë 🎉'
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep else _escaped(character) for character in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def spreadsheet_safe(text: str) -> str:
    """Foreign text as a cell of a CSV: an apostrophe stands before what a spreadsheet would execute.

    Numbers are left alone, as is a lone "-".

    Examples
    --------
    >>> spreadsheet_safe("=HYPERLINK(A1)"), spreadsheet_safe("-0.5"), spreadsheet_safe("good")
    ("'=HYPERLINK(A1)", '-0.5', 'good')

    References
    ----------
    OWASP, CSV Injection.
    """
    return "'" + text if text.startswith(tuple(FORMULA_STARTS)) and not NUMBER.fullmatch(text) else text
