"""Names of teams and files: which are refused, and which look alike.

People read a published board. So a name must not look like another one, and must not reverse the text beside
it.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable

from podium.common.errors import HostError
from podium.common.statements import Statement
from podium.common.wording import listed, printable, spreadsheet_original

# Characters without width that Unicode does not call format characters (Cf).
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
INVISIBLE_OR_ACCENT = re.compile(f"{INVISIBLE.pattern[:-1]}\u0300-\u036f]")
BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# These are control characters, halves of surrogate pairs, and separators of lines and of paragraphs.
REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
SHOWN, UTF8 = 5, "UTF-8"
# What systems and programs leave in folders: copies, marks of open files, settings, and unfinished files.
OF_SYSTEM = re.compile(
    r"__MACOSX|desktop\.ini|(eh)?thumbs\.db|lost\+found|\$RECYCLE\.BIN|System Volume Information"
    r"|~\$.*|\._.*|\.~lock\..*|\.#.*|\.nfs[0-9a-f]+|\.new-.*|\.[0-9a-f]{32}(\..*)?|\.lock|\.DS_Store"
    r"|\.(git|hg|svn|idea|vscode|venv|cache|ipynb_checkpoints|virtual_documents|pytest_cache)"
    r"|\.(Trash.*|Trashes|fseventsd|Spotlight-V100|TemporaryItems|DocumentRevisions-V100|AppleDouble)",
    re.IGNORECASE,
)
MOST_SHOWN = 20  # files that are left out
LONGEST_COLUMN = 40  # characters of a column's name in a message
# The endings of files with data, packed or not. What else stands behind a dot belongs to a name, as in TREC's
# IRIT.run1.
OF_DATA = re.compile(
    r"(\.(csv|tsv|txt|jsonl?|ndjson|parquet|feather|arrow|xlsx?|ods|xml|xmi|conll|zip|tar|tgz|7z|rar))?"
    r"(\.(gz|bz2|xz|zst))?$",
    re.IGNORECASE,
)


def key_of(name: str) -> str:
    """Reduce a name to what it has in common with names that look alike.

    This is the caseless matching of compatible texts of the Unicode Standard (section 3.13: NFKC, case-folded).
    Beyond it, characters without width, white space at the ends and the apostrophe that tables have before
    what a spreadsheet would execute are left out.

    >>> {key_of(name) for name in ("Red", "red", "Red ", "Ｒed", "Red\u200b")}
    {'red'}
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    visible = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return spreadsheet_original(INVISIBLE.sub("", visible).strip())


def skeleton_of(name: str) -> str:
    """Reduce a name further, to Latin letters where those of other scripts look like them.

    >>> skeleton_of("Alpha") == skeleton_of("\u0410lpha"), key_of("Alpha") == key_of("\u0410lpha")
    (True, False)
    """
    return key_of("".join(map(_latin, unicodedata.normalize("NFKC", name))))


@functools.cache
def _latin(character: str) -> str:
    """The Latin letter like which a letter looks, by Unicode Technical Standard 39, or the character itself."""
    if character.isascii():
        return character
    from confusable_homoglyphs.confusables import confusables_data  # takes long to import

    alike = (each["c"] for each in confusables_data.get(character, []))
    return next((c for c in alike if c.isascii() and c.isalpha()), character)


def alike(names: Iterable[str], key: Callable[[str], str] = key_of) -> list[list[str]]:
    """Group different names that have the same key; names that look like no other one are left out."""
    groups: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        groups.setdefault(key(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def shown(name: str) -> str:
    r"""Put a name in quotation marks, and write characters that cannot be seen as escapes.

    >>> shown("Red"), shown("Red\u200b "), shown("Zoe\u0308")
    ('“Red”', '“Red\\u200b ”', '“Zoe\\u0308”')
    """
    hidden = INVISIBLE if unicodedata.is_normalized("NFC", name) else INVISIBLE_OR_ACCENT
    escaped = hidden.sub(lambda match: match.group().encode("unicode_escape").decode(), printable(name))
    return f"“{escaped}”"


def of_column(name: object) -> str:
    """Write the name of a column in a message, where only quotation marks show a space around it.

    >>> of_column("fold"), of_column(" fold")
    ('fold', "' fold'")
    """
    text = printable(name)[:LONGEST_COLUMN]
    return text if text == text.strip() else repr(text)


def is_of_system(name: str, is_folder: bool = False) -> bool:
    """Tell whether a file or folder is one that a system or a program leaves, and nobody's entry.

    >>> [is_of_system(name) for name in (".DS_Store", "Thumbs.db", ".Ada.swp", ".NET Ninjas.csv", "Ada.csv")]
    [True, True, True, False, False]
    >>> is_of_system(".git", is_folder=True), is_of_system(".NET Ninjas", is_folder=True)
    (True, False)
    """
    if OF_SYSTEM.fullmatch(name):
        return True
    return name.startswith(".") and not is_folder and without_ending(name) == name


def without_ending(name: str) -> str:
    """Take the ending of a file with data from its name.

    >>> [without_ending(name) for name in ("Ada.csv", "Ada.CSV.gz", "input.RunB.gz", "IRIT.run1", ".csv")]
    ['Ada', 'Ada', 'input.RunB', 'IRIT.run1', '.csv']
    """
    return OF_DATA.sub("", name) or name


def left_out(names: Iterable[str], source: str, what: str) -> str:
    """Say what is left out of a folder, as it is not what was looked for; files of the system come last."""
    order = sorted(names, key=lambda name: (any(map(is_of_system, name.split("/"))), name))
    return f"{source}: left out, as they are not {what}: {listed([shown(name) for name in order], MOST_SHOWN)}"


def fault_of_name(name: str) -> str:
    """Say what is expected in place of a name that cannot be published; "" if it can."""
    if any("\udc80" <= character <= "\udcff" for character in name):
        return f"expected names in {UTF8}"
    if not key_of(name) or any(map(_is_refused, name)):
        return "expected visible names without control and bidirectional characters"
    if spreadsheet_original(name) != name:
        return "expected names without the apostrophe that tables have before = + - @"
    return ""


def check_names(names: Iterable[str], what: str, source: str) -> None:
    """Refuse names that cannot be published and different names that look alike."""
    different = sorted(set(names))
    faults = {name: fault for name in different if (fault := fault_of_name(name))}
    for fault in faults.values():
        found = listed([shown(name) for name in faults if faults[name] == fault], SHOWN)
        cure = f", or set PYTHONUTF8=1 if this system does not read names as {UTF8}" if UTF8 in fault else ""
        raise HostError(f"{source}: {fault}, found the {what} {found}; rename it{cure}")
    if groups := alike(different):
        found = "; ".join(listed([shown(name) for name in group], SHOWN) for group in groups[:SHOWN])
        raise HostError(
            f"{source}: expected the names of {what}s to differ in more than case, width, outer spaces, a "
            f"first apostrophe and invisible characters, found {found}; rename or remove all but one"
        )


def of_other_scripts(names: Iterable[str]) -> list[Statement]:
    """Find the names of teams that differ only in letters of other scripts that look like Latin ones."""
    groups = [group for group in alike(names, skeleton_of) if len({*map(key_of, group)}) > 1]
    found = "; ".join(listed(list(map(ascii, group)), SHOWN) for group in groups[:SHOWN])
    return [Statement("names_look_alike", names=found)] if groups else []


def _is_refused(character: str) -> bool:
    return character in BIDIRECTIONAL or unicodedata.category(character) in REFUSED_CATEGORIES


def near_misses(given: Iterable[tuple[str, ...]], known: Iterable[tuple[str, ...]]) -> list[str]:
    """List given names that are not known but look like known ones."""
    names = set(known)
    of_key = {tuple(map(key_of, name)): name for name in names}
    missed = sorted({name for name in given if name not in names})
    return [
        f"{shown('/'.join(name))} (expected {shown('/'.join(meant))})"
        for name in missed
        if (meant := of_key.get(tuple(map(key_of, name)))) is not None
    ]
