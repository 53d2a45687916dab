"""Check that no file for participants reveals what only the solution knows.

`podium make` checks the files that it has written.  `podium publish` and `podium bundle` check the files again
before they are sent, because anybody may have added a file or a column in the meantime.

Every file is unpacked and decoded.  Wherever it names an id of the test set, the words beside the id are taken:
those of its line, those up to the next id, and those of its row or object.  If the truth of an id is among them
much more often than that of another id would be, the file tells the solution.
"""

import csv
import itertools
import json
import math
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import HostError
from podium.hosting.folders import PERFECT, PRIVATE, PUBLIC, RECORD, SOLUTION, read_csv, read_record
from podium.hosting.unpacking import decoded, unpacked
from podium.scoring import USAGE

TEXT_COLUMNS = ("full_text", "text")  # participants predict for these texts, so a solution may repeat them
SHORTEST_TEXT = 40  # characters: shorter texts may be equal by chance

CLEARLY = 0.75  # of the way from chance to certainty: a baseline stays below, labels with some noise do not
LEAST_EVIDENCE = math.log(1e6)  # the odds against chance
NAMED_EVIDENCE = 0.5  # the same for a column that has the name of the truth and nothing but truths

MOST_OCCURRENCES = 5_000  # of ids in one text; more would only take time
MOST_IDS = 2_000  # of one column of a table, which is compared with every other column
MOST_CELLS = 2_000_000  # of a table
MOST_BESIDE = 80  # words before or after an id
MOST_IN_LINE = 300  # words of a line
MOST_IN_CELL = 2000  # characters of a cell
MOST_GROUPS = 12  # of occurrences
LONGEST_KEY = 40  # words by which an id or a value is known; a longer one is known by its first words
CHUNK = 1 << 22  # characters of a text that are looked at together

# Words consist of letters, digits and minus signs, so that the ending of a file is a word of its own.
SPACES = bytes(
    code if chr(code).isalnum() or code >= 128 or code in b"-\n" else ord(" ") for code in range(256)
)
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
LIST = re.compile(r"[\[(]([^\[\](){}]*)[\])]")
YES = {"1", "1.0", "true", "yes", "x"}

Words = tuple[bytes, ...]
Found = Mapping[str, set[int]]  # for each id, the numbers of the values that stand beside it
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Truth:
    """The values of a column of the solution, which are known by numbers, for the ids of another column."""

    name: str
    of_id: Mapping[str, set[int]]
    share: Mapping[int, float]  # for each value, the chance that it is a truth of an id that is drawn at random


class Phrases:
    """Texts of one or several words that are looked for; each has an entry, such as the ids that it spells."""

    def __init__(self) -> None:
        self.entries: dict[Words, list[Any]] = defaultdict(list)
        self.lengths: dict[bytes, list[int]] = {}  # by the first word, the longest phrase first

    def add(self, text: str, entry: Any) -> None:
        """Look for a text, too."""
        words = tuple(words_of(text)[:LONGEST_KEY])
        if words:
            self.entries[words].append(entry)
            lengths = {len(words), *self.lengths.get(words[0], ())}
            self.lengths[words[0]] = sorted(lengths, reverse=True)

    def within(self, words: Sequence[bytes]) -> Iterator[tuple[int, int, list[Any]]]:
        """Find the phrases among some words: the place, the number of words, and the entries of each."""
        end = 0
        for place, word in enumerate(words):
            for length in self.lengths.get(word, ()) if place >= end else ():
                entries = self.entries.get(tuple(words[place : place + length]))
                if entries is not None:
                    yield place, length, entries
                    end = place + length
                    break

    def may_be_in(self, words: Sequence[bytes]) -> bool:
        """Whether a phrase begins with one of the words."""
        return not self.lengths.keys().isdisjoint(words)


@dataclass
class Known:
    """What the solution knows."""

    ids: Phrases = field(default_factory=Phrases)
    column_of: dict[str, str] = field(default_factory=dict)  # the column of each id
    part_of: dict[str, str] = field(default_factory=dict)  # "Public" or "Private", for each id
    truths: list[Truth] = field(default_factory=list)
    values: Phrases = field(default_factory=Phrases)  # the numbers of values
    spelled: list[str] = field(default_factory=list)  # each value by its number
    lines: dict[bytes, str] = field(default_factory=dict)  # the first cell of each row, by its words
    texts: dict[str, str] = field(default_factory=dict)  # the id of each text of the test set

    def id_in(self, cell: str) -> str | None:
        """The first id that a cell names, perhaps as the name of a file or in an address."""
        return next((entries[0] for _, _, entries in self.ids.within(words_of(cell[:200]))), None)

    def values_in(self, words: Sequence[bytes]) -> set[int]:
        """The numbers of the values that stand among some words."""
        return {number for _, _, entries in self.values.within(words) for number in entries}


def words_of(text: str) -> list[bytes]:
    """Split a text into words, whatever their case.

    >>> words_of("Images/R01_cat.PNG: -1")
    [b'images', b'r01', b'cat', b'png', b'-1']
    """
    return text.lower().encode("utf-8", "replace").translate(SPACES).split()


def refuse(folder: Path, items: Collection[str], further: Iterable[Path] = ()) -> None:
    """Raise an error if a file for participants reveals the solution; warn of files that cannot be searched.

    Of the competition's record, `public_columns` names columns of the solution that all may know, and
    `innocent` the columns of public files that are passed over.
    """
    record = read_record(folder)
    known = _known(folder / PRIVATE / SOLUTION, items, [] if record is None else record.public_columns)
    innocent = {} if record is None else record.innocent
    private = {
        _digest(content): path.name
        for path in sorted((folder / PRIVATE).iterdir())
        if path.is_file()
        for _, content in unpacked(path.name, path.read_bytes())
    }
    files = [(path.name, path) for path in further]
    files += [(path.relative_to(folder).as_posix(), path) for path in sorted((folder / PUBLIC).rglob("*"))]
    texts: list[tuple[str, str | None, set[str]]] = []
    for name, path in files:
        excused = set(innocent.get(name.removeprefix(f"{PUBLIC}/"), ()))
        for inner, content in unpacked(name, path.read_bytes()) if path.is_file() else ():
            if Path(inner).name.removesuffix(".gz") in (SOLUTION, PERFECT):
                raise HostError(f"{inner} has the name of a private file: delete it or call it something else")
            same = private.get(_digest(content))
            if same is not None:
                raise HostError(f"{inner} is a copy of {PRIVATE}/{same}: delete it")
            texts.append((inner, decoded(content), excused))
    _check_names([(name, text or "") for name, text, _ in texts], known)
    _check_ids(known)
    _check_contents([(name, text, excused) for name, text, excused in texts if text is not None], known)
    unreadable = [name for name, text, _ in texts if text is None]
    if unreadable:
        more = f" and {len(unreadable) - 5:,} more" if unreadable[5:] else ""
        warnings.warn(
            "these files cannot be searched for the solution; look at them yourself: "
            f"{', '.join(unreadable[:5])}{more}",
            stacklevel=2,
        )


def _check_contents(texts: Sequence[tuple[str, str, set[str]]], known: Known) -> None:
    """Look for the solution in the content of each file."""
    with_ids = [name for name, text, _ in texts if _names_ids(text, known)]
    for name, text, excused in texts:
        if name in with_ids:
            header, rows = _as_table(text, excused)
            _learn_texts(name, header, rows, known)
            if "*" not in excused:
                _check_table(name, header, rows, known)
            if not excused:  # an excused column is known in tables alone
                _check_words(name, text, known)
    for name, text, excused in texts if known.texts else ():
        if "*" not in excused:
            _check_texts(name, *_as_table(text, excused), known)


def _names_ids(text: str, known: Known) -> bool:
    """Whether an id may stand in a text."""
    return any(known.ids.may_be_in(chunk.split()) for chunk in _chunks(text))


def _chunks(text: str) -> Iterator[bytes]:
    """The words of a text in parts that end with a line, or at least with a word."""
    start = 0
    while start < len(text):
        end = text.rfind("\n", start, start + CHUNK) if start + CHUNK < len(text) else len(text)
        end = end if end > start else text.rfind(" ", start, start + CHUNK)
        end = end if end > start else start + CHUNK
        yield text[start:end].lower().encode("utf-8", "replace").translate(SPACES)
        start = end


def _known(solution: Path, items: Collection[str], public_columns: Collection[str]) -> Known:
    """Read the solution."""
    rows = read_csv(solution)
    header = next(rows)
    cells = [list(column) for column in zip(*rows)] or [[] for _ in header]
    columns = dict(zip(header, cells))
    of_items = set(items)
    further = [name for name in header[1:] if columns[name] and of_items.issuperset(columns[name])]
    id_columns = [header[0], *further]
    known = Known()
    for name in id_columns:
        for item, part in zip(columns[name], columns.get(USAGE, ["test"] * len(columns[name]))):
            if item not in known.column_of:
                known.ids.add(item, item)
            known.column_of.setdefault(item, name)
            known.part_of[item] = part
    for name in header:
        if name not in {*id_columns, *TEXT_COLUMNS, *public_columns}:
            known.truths += _truths(name, columns, id_columns, known)
    if known.truths:
        known.lines = {b" ".join(words_of(" ".join(row))): row[0] for row in zip(*cells)}
    _learn_texts(SOLUTION, header, list(zip(*cells)), known)
    return known


def _truths(
    name: str, columns: Mapping[str, list[str]], id_columns: Sequence[str], known: Known
) -> Iterator[Truth]:
    """Number the values of a column of the solution."""
    numbers: dict[str, int] = {}
    for value in filter(words_of, dict.fromkeys(columns[name])):
        numbers[value] = len(known.spelled)
        known.spelled.append(value)
        for spelling in _spellings(value):
            known.values.add(spelling, numbers[value])
    for id_column in id_columns:
        of_id: dict[str, set[int]] = defaultdict(set)
        for item, value in zip(columns[id_column], columns[name]):
            if value in numbers:
                of_id[item].add(numbers[value])
        share: dict[int, float] = defaultdict(float)
        for those in of_id.values():
            for number in those:
                share[number] += 1 / len(those) / len(of_id)
        yield Truth(name, dict(of_id), share)


def _spellings(value: str) -> set[str]:
    """A value, and other ways to write it if it is a number.

    >>> sorted(_spellings("7.0")), _spellings("cat")
    (['7', '7.0'], {'cat'})
    """
    try:
        number = float(value)
    except ValueError:
        return {value}
    return {value, f"{number:g}", str(number)} if math.isfinite(number) else {value}


def _digest(content: bytes) -> int:
    """The hash of a content, which does not depend on the ends of its lines."""
    return hash(content.replace(b"\r\n", b"\n").strip())


# ---- Texts, whatever their format is -------------------------------------------------------------------------


class _Beside:
    """The values that stand near ids in a text.

    Ids may be short numbers, which stand elsewhere, too.  So occurrences are also grouped by their place in the
    line and by the word before them.
    """

    def __init__(self, known: Known) -> None:
        self.known = known
        self.found: dict[tuple[str, object], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self.occurrences: Counter[object] = Counter()

    def look_into(self, name: str, chunk: bytes) -> None:
        """Take the words near each id in a part of a text."""
        known, stream = self.known, list[bytes]()
        places: dict[object, list[tuple[int, str]]] = defaultdict(list)
        for line in chunk.split(b"\n"):
            if self.occurrences["all"] >= MOST_OCCURRENCES:
                break
            words = line.split()
            for place, length, entries in known.ids.within(words):
                row = known.lines.get(b" ".join(words))
                if row is not None:
                    raise HostError(f"{name} has a row of {SOLUTION}, that of {row}: take it out")
                item = entries[0]
                first = max(0, place - MOST_IN_LINE)
                others = words[first:place], words[place + length : place + length + MOST_IN_LINE]
                values = set[int]().union(*map(known.values_in, others))
                before = words[place - 1] if place else b"".join(stream[-1:])
                together: tuple[object, ...] = ("all", place, before)
                for group in together:
                    if group in self.occurrences or len(self.occurrences) < MOST_GROUPS:
                        self.occurrences[group] += 1
                        self.found["in its line", group][item] |= values
                        places[group].append((len(stream) + place, item))
            stream += words
        for group, those in places.items():
            self._look_around(group, those, stream)

    def _look_around(self, group: object, places: list[tuple[int, str]], stream: list[bytes]) -> None:
        """Take the words between the ids of a group, which may stand in other lines."""
        ends = [-1, *(place for place, _ in places), len(stream)]
        for (place, item), last, following in zip(places, ends, ends[2:]):
            after = stream[place + 1 : min(following, place + MOST_BESIDE)]
            before = stream[max(last + 1, place - MOST_BESIDE) : place]
            self.found["after it", group][item] |= self.known.values_in(after)
            self.found["before it", group][item] |= self.known.values_in(before)


def _check_words(name: str, text: str, known: Known) -> None:
    """Compare what stands near the ids in a text with their truths."""
    text = text.replace("\\n", "\n").replace("\\t", " ")  # as in the strings of a notebook
    beside = _Beside(known)
    for chunk in _chunks(text):
        if beside.occurrences["all"] < MOST_OCCURRENCES and known.ids.may_be_in(chunk.split()):
            beside.look_into(name, chunk)
    for (where, _), found in beside.found.items():
        _compare(name, where, found, known)
    if beside.occurrences["all"]:
        _check_lists(name, text, known)


def _check_lists(name: str, text: str, known: Known) -> None:
    """Compare lists of the same length, one of which has ids, as in a table that is written by columns."""
    of_length: dict[int, list[list[str]]] = defaultdict(list)
    for found in LIST.finditer(text):
        cells = found[1].split(",")
        if len(cells) > 1 and len(of_length[len(cells)]) < MOST_GROUPS:
            of_length[len(cells)].append(cells)
    for together in of_length.values():
        _check_table(name, [f"list {number}" for number, _ in enumerate(together, 1)], [*zip(*together)], known)


# ---- Tables --------------------------------------------------------------------------------------------------


def _as_table(text: str, excused: Collection[str]) -> tuple[list[str], Rows]:
    """Read a text as a table of JSON objects or of lines with delimiters, without the excused columns."""
    header, rows = _from_json(text) if text.lstrip()[:1] in ("{", "[") else _from_lines(text)
    kept = [number for number, name in enumerate(header) if name.rpartition(".")[2] not in excused]
    if len(kept) == len(header):
        return header, rows
    return [header[number] for number in kept], [[row[number] for number in kept] for row in rows]


def _from_lines(text: str) -> tuple[list[str], Rows]:
    """The columns and rows of a text whose lines have the same number of delimiters; nothing for other
    texts.
    """
    csv.field_size_limit(1 << 30)
    head = text[:100_000].partition("\n")[0]
    delimiter = max("\t;|,", key=head.count)
    if delimiter not in head:
        return [], []
    try:
        rows = [row for row in csv.reader(map(re.Match.group, LINE.finditer(text)), delimiter=delimiter) if row]
    except csv.Error:
        return [], []
    fitting = [row for row in rows if len(row) == len(rows[0])]
    return (rows[0], fitting[1:]) if len(fitting) >= 0.9 * len(rows) else ([], [])


def _from_json(text: str) -> tuple[list[str], Rows]:
    """The objects of a JSON text, or of its lines, as the rows of a table; nothing for other texts."""
    try:
        content = json.loads(text)
    except ValueError:
        try:
            content = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return [], []
    if isinstance(content, dict) and content and all(isinstance(column, dict) for column in content.values()):
        by_columns = zip(*(column.values() for column in content.values()))  # as pandas writes a table
        content = [content, *(dict(zip(content, row)) for row in by_columns)]
    records = list(itertools.islice(_objects(content, _by_reference(content)), MOST_CELLS // 10))
    header = list(dict.fromkeys(key for record in records for key in record))
    records = records[: MOST_CELLS // max(1, len(header))]
    return header, [[record.get(key, "") for key in header] for record in records]


def _objects(content: Any, others: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """All objects in a value of JSON, each with what is in it; an entry of an object counts with its key."""
    if isinstance(content, dict):
        yield _flat(content, others)
        yield from ({"key": key} | _flat({"value": value}, others) for key, value in content.items())
        content = list(content.values())
    for each in content if isinstance(content, list) else ():
        yield from _objects(each, others)


def _flat(content: Any, others: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """The plain values in an object, with those of the objects to which it refers; nothing if they are many."""
    cells: dict[str, str] = {}
    if len(content) > MOST_BESIDE:
        return cells
    for key, value in content.items() if isinstance(content, dict) else zip(itertools.repeat(""), content):
        name = f"{prefix}.{key}".strip(".")
        if isinstance(value, dict | list):
            inside = _flat(value, others, name)
        else:
            inside = {name: value if isinstance(value, str) else json.dumps(value)}
            inside |= _flat(others.get(f"{key} {value}", {}), {}, name)
        for each, text in inside.items():
            cells[each] = f"{cells[each]} {text}" if each in cells else text
    return cells


def _by_reference(content: Any) -> dict[str, Any]:
    """The objects that others name by ``image_id`` or the like, as in COCO's files."""
    return {
        f"{re.sub('ie$', 'y', name.removesuffix('s'))}_id {each['id']}": each
        for name, value in (content.items() if isinstance(content, dict) else ())
        for each in (value if isinstance(value, list) else ())
        if isinstance(each, dict) and "id" in each
    }


def _check_table(name: str, header: Sequence[str], rows: Rows, known: Known) -> None:
    """Compare each column of a table with the truths of the ids in its rows; ids may be in any column."""
    rows = rows[: MOST_CELLS // max(1, len(header))]
    for number, _ in enumerate(header):
        # Most columns name no id at all, which is quickly seen of the whole column.
        if not known.ids.may_be_in(words_of(" ".join(row[number] for row in rows))):
            continue
        every = ((item, row) for row in rows if (item := known.id_in(row[number])) is not None)
        named = list(itertools.islice(every, MOST_IDS))
        if not named:
            continue
        # With one-hot columns, the values are the names of the columns whose cells are 1.
        on = [
            (item, " ; ".join(each for each, cell in zip(header, row) if _is_on(cell))) for item, row in named
        ]
        _compare(name, "as the name of a column with 1", _values_of(on, known), known)
        flags = [place for place in range(len(header)) if all(row[place] in "01" for _, row in named)]
        _compare_codes(
            name, "in columns of 0 and 1", [(i, "".join(r[at] for at in flags)) for i, r in named], known
        )
        for other, column in enumerate(header):
            if other != number:
                cells = [(item, row[other].strip()) for item, row in named]
                _compare(name, f"in the column {column}", _values_of(cells, known), known, column)
                _compare_codes(name, f"in the column {column}, in another form", cells, known)


def _values_of(cells: Iterable[tuple[str, str]], known: Known) -> Found:
    """The values that stand in the cells of each id."""
    found: dict[str, set[int]] = defaultdict(set)
    for item, cell in cells:
        words = words_of(cell[:MOST_IN_CELL])
        whole = known.values.entries.get(tuple(words[:LONGEST_KEY]))
        found[item] |= known.values_in(words) if whole is None else set(whole)
    return found


def _is_on(cell: str) -> bool:
    """Whether a cell says yes, or is most of a probability."""
    cell = cell.strip().lower()
    return cell in YES or re.fullmatch(r"0?\.[5-9]\d*", cell) is not None


def _check_names(names: Sequence[tuple[str, str]], known: Known) -> None:
    """Compare the folders, names and contents of files that are named after ids."""
    rows = []
    for name, text in names:
        path = Path(name)
        for stem in dict.fromkeys([path.stem, path.stem.replace("-", " ")]):
            rows.append([stem, path.parent.name, stem, text[:4000]])
    _check_table(f"the names of the files in {PUBLIC}", ["id", "folder", "name", "content"], rows, known)


def _check_ids(known: Known) -> None:
    """Compare the parts of ids, such as img, 17 and cat of "img17_cat", with their truths."""
    for column in dict.fromkeys(known.column_of.values()):
        ids = [item for item, of in known.column_of.items() if of == column]
        parts = [re.findall(r"[0-9]+|[^\W\d_]+", item) for item in ids]
        if len({len(each) for each in parts}) == 1:
            for number, those in enumerate(zip(*parts), 1):
                where = f"in part {number} of the ids"
                _compare(SOLUTION, where, _values_of(zip(ids, those), known), known)
                _compare_codes(SOLUTION, f"{where}, in another form", list(zip(ids, those)), known)


# ---- The comparison ------------------------------------------------------------------------------------------


def _compare(
    name: str, where: str, found: Found, known: Known, column: str = "", least: float = LEAST_EVIDENCE
) -> None:
    """Refuse a file if the truths of ids stand beside them much more often than those of other ids would."""
    for truth in known.truths if any(found.values()) else ():
        ids = [item for item in found if item in truth.of_id]
        right = {item: found[item] & truth.of_id[item] for item in ids}
        if not any(right.values()):
            continue
        rate = sum(len(those) / len(truth.of_id[item]) for item, those in right.items()) / len(ids)
        chance = sum(truth.share.get(number, 0) for item in ids for number in found[item]) / len(ids)
        if _tells(rate, chance, len(ids), least, column == truth.name):
            item = next(item for item in ids if right[item])
            raise HostError(
                f"{name} tells {truth.name} of {SOLUTION} {where}, such as "
                f"{known.spelled[min(right[item])]!r} of {item}: it is there for {rate:.0%} of "
                f"{len(ids):,} ids of the test set, and would be for {chance:.0%} by chance. Take it out; "
                f"if all may know it, see public_columns and innocent in {RECORD}"
            )


def _tells(rate: float, chance: float, number: int, least: float, is_named: bool) -> bool:
    """Whether the truths of so many ids stand beside them at a rate that chance does not explain."""
    if chance >= 0.95 or (rate - chance) / (1 - chance) < CLEARLY:
        return False
    # Chernoff's bound: the logarithm of the odds against this rate.
    evidence = number * rate * math.log(rate / max(chance, 1e-12))
    if rate < 1:
        evidence += number * (1 - rate) * math.log((1 - rate) / (1 - chance))
    return evidence >= least or (is_named and rate == 1 and evidence >= NAMED_EVIDENCE)


def _compare_codes(name: str, where: str, cells: Sequence[tuple[str, str]], known: Known) -> None:
    """Refuse a column whose values stand one to one for those of a truth, such as 0, 1, 2 for three labels."""
    if not 2 <= len({code for _, code in cells}) <= len(cells) / 4:
        return
    for truth in known.truths:
        single = [(item, code) for item, code in cells if len(truth.of_id.get(item, ())) == 1]
        codes, values = {code for _, code in single}, {min(truth.of_id[item]) for item, _ in single}
        if len(codes) != len(values):
            continue
        meaning: dict[str, int] = {}
        for (value, code), _ in Counter((min(truth.of_id[item]), code) for item, code in single).most_common():
            if code not in meaning and value not in meaning.values():
                meaning[code] = value
        if len(meaning) == len(codes):
            # The best translation was chosen, so the number of translations counts against the evidence.
            least = LEAST_EVIDENCE + math.lgamma(len(codes) + 1)
            _compare(name, where, {item: {meaning[code]} for item, code in single}, known, least=least)


# ---- Texts of the test set -----------------------------------------------------------------------------------


def _learn_texts(name: str, header: Sequence[str], rows: Rows, known: Known) -> None:
    """Keep the texts of the test set, and check that equal ones are in one part."""
    named = [number for number, title in enumerate(header) if title in known.column_of.values()]
    for number in [number for number, title in enumerate(header) if title in TEXT_COLUMNS]:
        for row in rows:
            item = next((row[place] for place in named if row[place] in known.part_of), None)
            if item is not None and row[number].strip():
                first = known.texts.setdefault(_normalized(row[number]), item)
                if known.part_of[first] != known.part_of[item]:
                    raise HostError(
                        f"{name}: the text of {item} ({known.part_of[item]}) is that of {first} "
                        f"({known.part_of[first]}), too: expected equal texts in one part"
                    )


def _check_texts(name: str, header: Sequence[str], rows: Rows, known: Known) -> None:
    """Check that no cell is a text of the test set under another id, where its labels may be known."""
    for row in rows if known.texts else ():
        for title, cell in zip(header, row):
            if len(cell) >= SHORTEST_TEXT or title in TEXT_COLUMNS:
                owner = known.texts.get(_normalized(cell))
                if owner is not None and known.part_of[owner] not in map(known.part_of.get, row):
                    raise HostError(
                        f"{name} has the text of {owner}, which is in {SOLUTION}, under another id: take it out"
                    )


def _normalized(text: str) -> str:
    """A text whose case and spaces do not count."""
    return " ".join(text.split()).casefold()
