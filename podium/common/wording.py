"""Write numbers, lists and foreign text in messages and on pages.

Foreign text is text that strangers chose: names of teams and files, ids, messages of their programs. It goes
through `printable` before it reaches a terminal. It goes through `spreadsheet_safe` before it reaches a CSV
that a spreadsheet may open. On pages in HTML, jinja2 escapes it.
"""

import re
from collections.abc import Sequence

FORMULA_STARTS = "=+-@\t\r"  # A spreadsheet executes a cell that begins with one of these.
NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)|-")


def counted(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "essay"), counted(1200, "essay")
    ('1 essay', '1,200 essays')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Put a noun into the plural, by the regular rules of English.

    >>> plural("essay"), plural("query"), plural("box"), plural("sub-population")
    ('essays', 'queries', 'boxes', 'sub-populations')
    """
    if re.search("[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search("(s|x|z|ch|sh)$", noun) else "s")


def ordinal(number: int) -> str:
    """Write a place, such as that of a team.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 21, 102, 113)]
    ['first', 'second', 'third', '4th', '11th', '21st', '102nd', '113th']
    """
    if number <= 3:
        return ["first", "second", "third"][number - 1]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def listed(items: Sequence[object], most: int = 5) -> str:
    """List the first few of some items, and say how many more there are.

    >>> listed("abcdef", 2)
    'a, b and 4 more'
    """
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more


def together(items: Sequence[object], most: int = 5) -> str:
    """List some items for the subject of a sentence.

    >>> together("a"), together("abc"), together("abcdef", 4)
    ('a', 'a, b and c', 'a, b, c, d and 2 more')
    """
    *first, last = map(str, items)
    if len(items) > most:
        return listed(items, most)
    return f"{', '.join(first)} and {last}" if first else last


def natural_order(text: str) -> tuple[int, int, str, str]:
    """Make a key that sorts whole numbers as numbers, and other ids after them as text.

    >>> sorted(["b", "10", "9", "a", "0"], key=natural_order)
    ['0', '9', '10', 'a', 'b']
    """
    digits = text.lstrip("0")
    # Without leading zeros, numbers compare by their lengths and then as text. So no long text is ever
    # converted to an integer, which would take quadratic time.
    return (0, len(digits), digits, text) if text.isascii() and text.isdigit() else (1, 0, text, text)


def printable(text: object, keep: str = "") -> str:
    r"""Make foreign text safe for a terminal by escaping the characters that are not visible.

    Such characters can move the cursor, change colors, titles or the clipboard (ESC), or reverse the direction
    of writing. They can also make two different names look alike, as a space without width does.

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
    """Make foreign text safe for a CSV by an apostrophe in front of what a spreadsheet would execute.

    Numbers are left alone, as is a lone "-".

    >>> spreadsheet_safe("=HYPERLINK(A1)"), spreadsheet_safe("-0.5"), spreadsheet_safe("good")
    ("'=HYPERLINK(A1)", '-0.5', 'good')

    OWASP, CSV Injection.
    """
    return "'" + text if text.startswith(tuple(FORMULA_STARTS)) and not NUMBER.fullmatch(text) else text


def spreadsheet_original(text: str) -> str:
    """Take away the apostrophe that `spreadsheet_safe` has put in front of a text.

    >>> spreadsheet_original("'=HYPERLINK(A1)"), spreadsheet_original("-0.5"), spreadsheet_original("'good'")
    ('=HYPERLINK(A1)', '-0.5', "'good'")
    """
    is_ours = text.startswith("'") and spreadsheet_safe(text[1:]) == text
    return text[1:] if is_ours else text
