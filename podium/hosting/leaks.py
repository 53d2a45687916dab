"""Check that no file for participants reveals what only the solution knows.

`podium make` checks the files that it has written.  `podium publish` and `podium bundle` check the files again
before they are sent, because anybody may have added a file or a column in the meantime.

Every file is unpacked and decoded.  Wherever it names an id of the test set, the values beside the id are
taken: those of its row or object, those up to the next id, and the last one before it.  If the truth of an id
is among them much more often than that of another id would be, the file reveals the solution.
"""

import math
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from podium.contest import recorded
from podium.contest.recorded import INNOCENT, PRIVATE, PUBLIC_COLUMNS, RECORD
from podium.hosting.determined import (
    LEAST_EVIDENCE,
    LEAST_ROWS,
    MOST_CODES,
    PURE,
    classes_told,
    natural,
    numbers_told,
    order_told,
    tells,
)
from podium.hosting.folders import METRIC, PERFECT, PUBLIC, SOLUTION, STARTER, public_files, read_csv
from podium.hosting.unpacking import decoded, tables_of, unpacked
from podium.scoring.evaluating import USAGE
from podium.tables.files import Location
from podium.words.errors import HostError
from podium.words.wording import listed

TEXT_COLUMNS = ("full_text", "text")  # participants predict for these texts, so a solution may repeat them
SHORTEST_TEXT = 40  # characters: shorter texts may be equal by chance

MOST_VALUES = 2  # beside an id for each of its truths: many values together do not tell which is true
MOST_CLASSES = 0.75  # of the values that there are, for the same reason
NAMED_EVIDENCE = math.log(50)  # the same for a column that has the name of the truth and nothing but truths

MOST_IDS = 2_000  # of a table or text; more would only take time
MOST_BESIDE = 80  # words before or after an id
MOST_IN_CELL = 2_000  # characters
UNIQUE = 0.9  # of the rows of a table, by whose cells a row is known
NATURAL = 2  # times as many equal rows as within the test set are no copies of its rows
MOST_LISTED = 0.9  # of the ids: a file that names more of them does not tell them apart
MOST_PLACES = 12  # places in lines whose ids are also looked at alone
LONGEST_PHRASE = 40  # words by which an id or a value is known; a longer one is known by its first words
CHUNK = 1 << 20  # characters of a text that are looked at together

# Words consist of letters, digits and minus signs, so that the ending of a file is a word of its own.
SPACES = bytes(code if chr(code).isalnum() or code >= 128 or code == ord("-") else 32 for code in range(256))
WHOLE = re.compile(r"(?<=\d)\.0+(?![\d.])")  # 7.0 is 7
POINT = re.compile(r"(?<=\d)\.(?=\d)")  # 7.2 is one word, and no class 2
YES = re.compile(r"1|1\.0|true|yes|x|0?\.[5-9]\d*", re.IGNORECASE)  # also most of a probability

Found = dict[str, set[str]]  # for each id, the values that stand beside it
Places = dict[object, list[tuple[int, int, str]]]  # by group, where ids begin and end


def words_of(text: str) -> list[bytes]:
    """Split a text into words, whatever their case.

    >>> words_of("Images/R01_cat.PNG: -1.0")
    [b'images', b'r01', b'cat', b'png', b'-1']
    """
    return _pieces_of(POINT.sub("\N{MIDDLE DOT}", WHOLE.sub("", text)) if "." in text else text)


def _pieces_of(text: str) -> list[bytes]:
    """Split a text into words, of which 7.2 is two."""
    return text.lower().encode("utf-8", "replace").translate(SPACES).split()


class Phrases:
    """Texts of one or several words, such as ids, that are looked for among words."""

    def __init__(self, texts: Iterable[str], *, joined: bool = False) -> None:
        """Take the words of texts, also `joined` by hyphens or with spaces instead of them, as ids may be."""
        self.texts: dict[tuple[bytes, ...], str] = {}
        lengths: dict[bytes, set[int]] = defaultdict(set)
        for text in texts:
            words = tuple(words_of(text)[:LONGEST_PHRASE])
            others = (
                [(b"-".join(words),), tuple(b" ".join(words).replace(b"-", b" ").split())] if joined else []
            )
            pieces = tuple(_pieces_of(text)[:LONGEST_PHRASE])  # as with a decimal comma
            for form in filter(None, dict.fromkeys([words, pieces, *others])):
                if any(form):
                    self.texts.setdefault(form, text)
                    lengths[form[0]].add(len(form))
        self.lengths = {word: sorted(those, reverse=True) for word, those in lengths.items()}

    def within(self, words: Sequence[bytes]) -> Iterator[tuple[int, int, str]]:
        """Find the phrases among some words: where each begins and ends, and its text."""
        end = 0
        for place, word in enumerate(words):
            for length in self.lengths.get(word, ()) if place >= end else ():
                text = self.texts.get(tuple(words[place : place + length]))
                if text is not None:
                    end = place + length
                    yield place, end, text
                    break

    def first_in(self, cell: str) -> str | None:
        """The first phrase in a cell, perhaps in the name of a file or in an address."""
        return next((text for _, _, text in self.within(words_of(cell[:200]))), None)

    def may_be_in(self, lines: Sequence[str]) -> bool:
        """Whether a phrase begins with one of the words in some lines."""
        return not self.lengths.keys().isdisjoint(_pieces_of(" ".join(lines)))  # 7 is among those of 7.0, too


@dataclass(frozen=True)
class Truth:
    """The values of a column of the solution for the ids of another column."""

    name: str
    of_id: Mapping[str, set[str]]
    share: Mapping[str, float]  # for each value, the chance that it is a truth of an id that is drawn at random


@dataclass(frozen=True)
class Known:
    """What the solution knows."""

    ids_of: Mapping[str, Collection[str]]  # the ids of each column that has some
    ids: Phrases
    rows: Sequence[str]  # the ids of the rows, in the order of the solution
    numbered: Mapping[int, str]  # the ids by their numbers, if nothing else tells them apart
    part_of: Mapping[str, str]  # "Public" or "Private", for each id
    truths: Sequence[Truth]
    values: Phrases
    texts: dict[str, str] = field(default_factory=dict)  # the id of each text of the test set
    features: list[pd.DataFrame] = field(default_factory=list)  # what public tables say of ids, by id
    named_in: list[tuple[str, str]] = field(default_factory=list)  # ids, and the files that name them
    # how many ids of each column were compared, for tables that come in pieces
    compared: Counter[object] = field(default_factory=Counter)

    def values_in(self, words: Sequence[bytes]) -> set[str]:
        """The values of the solution that stand among some words."""
        return {value for _, _, value in self.values.within(words)}

    @property
    def orders(self) -> list[Sequence[str]]:
        """The ids of the rows as a file without ids may have them: in the order of the solution, and sorted."""
        ordered = sorted(self.rows, key=natural)
        return [self.rows, ordered] if ordered != list(self.rows) else [self.rows]


@dataclass(frozen=True)
class Text:
    """The text in a file for participants."""

    name: str  # with the names of the archives around it
    content: str
    excused: Collection[str]  # columns that are passed over; ``*`` is the whole file

    def tables(self) -> Iterator[pd.DataFrame]:
        """The tables in the text, without the excused columns."""
        if "*" in self.excused:
            return
        for table in tables_of(self.content):
            innocent = [str(name).rpartition(".")[2] in self.excused for name in table.columns]
            yield table.loc[:, np.logical_not(innocent)] if any(innocent) else table


class Revealed(HostError):
    """A file for participants reveals the solution."""


def refuse(
    folder: Path,
    items: Collection[str],
    solution: Location | None = None,
    further: Iterable[Path] = (),
    advice: str = "",
) -> None:
    """Raise an error if a file for participants reveals the solution; warn of files that cannot be searched.

    Of the competition's record, `public_columns` names columns of the solution that all may know, and
    `innocent` the columns of public files that are passed over. The `solution` may have been read. `advice`
    says how to allow a column where there is no record yet.
    """
    record = recorded.read(folder)
    solution = solution or folder / PRIVATE / SOLUTION
    known = _known(solution, items, record.public_columns if record else ())
    cure = "Give the rows other ids, as podium make does by --new-ids"
    try:
        _check_ids(known)
        cure = "Take it out"
        unreadable = _search(folder, further, known, record.innocent if record else {})
    except Revealed as problem:
        where = f"see {PUBLIC_COLUMNS} and {INNOCENT} in {RECORD}"
        if record is None:
            where = f"write {folder / RECORD} with {PUBLIC_COLUMNS} or {INNOCENT}"
        raise HostError(f"{problem}. {cure}; {advice or f'if all may know it, {where}'}") from None
    if unreadable := list(dict.fromkeys(unreadable)):
        more = f" and {len(unreadable) - 5:,} more" if unreadable[5:] else ""
        warnings.warn(
            "these files cannot be searched for the solution; look at them yourself: "
            f"{', '.join(unreadable[:5])}{more}",
            stacklevel=2,
        )


def _search(
    folder: Path, further: Iterable[Path], known: Known, innocent: Mapping[str, Sequence[str]]
) -> list[str]:
    """Search every file for participants, and list those that cannot be searched."""
    further, private = list(further), _digests(folder / PRIVATE)
    names, unreadable = list[tuple[Path, str]](), list[str]()
    for file, name, content, text in _public_files(folder, further):
        _check_copy(name, content, private)
        # The number of a notebook's cell is no id.
        path = Path(file if file.endswith(".ipynb") else name)
        names.append((path, (text or "")[:MOST_IN_CELL]))
        if text is None:
            unreadable.append(name)
    _check_names(names, known)
    # The files are read again instead of being held, because they may be larger than the memory.
    for check in (_check_near_ids, _check_other_ids):
        for file, name, _, text in _public_files(folder, further):
            try:
                if text is not None:
                    check(Text(name, text, innocent.get(file.removeprefix(f"{PUBLIC}/"), ())), known)
            except (HostError, MemoryError):
                raise
            except Exception:  # JSON of another shape than any library expects must not stop the others
                unreadable.append(name)
    if (
        len({file for _, file in known.named_in}) <= MOST_PLACES
    ):  # not those of pictures, each of which is named after its id
        for truth in known.truths:
            _determined(PUBLIC, "in the names of the files that list ids", known.named_in, truth)
    return unreadable


def _check_near_ids(text: Text, known: Known) -> None:
    """Compare what stands near ids with their truths, in the tables of a text and in its lines."""
    for table in text.tables():
        _learn_texts(text.name, table, known)
        _check_table(text.name, table, known)
        _check_positions(text.name, table, known)
    # an excused column is known in tables alone
    if not text.excused and any(known.ids.may_be_in(lines) for lines in _chunks(text.content)):
        _check_text(text, known)


def _public_files(folder: Path, further: Iterable[Path]) -> Iterator[tuple[str, str, bytes | None, str | None]]:
    """The name, the name with archives, the content and the text of each file for participants.

    Large ones come in pieces.
    """
    files = [(path.name, path) for path in further]
    files += [(f"{PUBLIC}/{name}", path) for name, path in public_files(folder).items()]
    for file, path in files:
        if path.is_file():
            with path.open("rb") as stream:
                for name, content in unpacked(file, stream):
                    yield file, name, content, None if content is None else decoded(content)


def _digests(private: Path) -> dict[int, str]:
    """The names of private files by the digests of their contents."""
    names: dict[int, str] = {}
    for path in sorted(private.iterdir()):
        if path.is_file():
            with path.open("rb") as stream:
                for _, content in unpacked(path.name, stream):
                    if content is not None:
                        names[_digest(content)] = path.name
    return names


def _check_copy(name: str, content: bytes | None, private: Mapping[int, str]) -> None:
    """Refuse a private file."""
    if Path(name).name.removesuffix(".gz") in (SOLUTION, PERFECT):
        raise HostError(f"{name} has the name of a private file: delete it or call it something else")
    if content is not None and _digest(content) in private:
        raise HostError(f"{name} is a copy of {PRIVATE}/{private[_digest(content)]}: delete it")


def _digest(content: bytes) -> int:
    """The hash of a content, which does not depend on the ends of its lines."""
    return hash(content.replace(b"\r\n", b"\n").strip())


# ---- The solution --------------------------------------------------------------------------------------------


def _known(solution: Location, items: Collection[str], public_columns: Collection[str]) -> Known:
    """Read the solution."""
    rows = read_csv(solution)
    header = next(rows)
    table = pd.DataFrame(rows, columns=header, dtype=object)
    row_id, *others = header
    id_columns = [row_id, *(name for name in others if len(table) and set(items).issuperset(table[name]))]
    values = [name for name in others if name not in {*id_columns, *TEXT_COLUMNS, *public_columns}]
    phrases = Phrases(value for name in values for value in table[name].unique())
    parts = table[USAGE] if USAGE in table else ["test"] * len(table)
    known = Known(
        ids_of={name: table[name].unique().tolist() for name in id_columns},
        ids=Phrases((item for name in id_columns for item in table[name]), joined=True),
        rows=table[row_id].tolist(),
        numbered=_numbered(table[row_id].tolist()),
        part_of={item: part for name in id_columns for item, part in zip(table[name], parts)},
        truths=[_truth(name, table[of], table[name], phrases) for name in values for of in id_columns],
        values=phrases,
    )
    _learn_texts(SOLUTION, table, known)
    return known


def _numbered(ids: Sequence[str]) -> dict[int, str]:
    """The ids by their numbers, if each has one and the same text before it."""
    parts = [re.fullmatch(r"(.*?)(\d+)", each) for each in ids]
    numbers = {int(part[2]): each for part, each in zip(parts, ids) if part}
    same = len({part[1] if part else None for part in parts}) == 1
    return numbers if same and len(numbers) == len(ids) else {}


def _truth(name: str, ids: Iterable[str], values: Iterable[str], phrases: Phrases) -> Truth:
    """The truths of each id in a column of the solution."""
    of_id: Found = defaultdict(set)
    for item, value in zip(ids, values):
        same = phrases.texts.get(tuple(words_of(value)[:LONGEST_PHRASE]))
        if same is not None:
            of_id[item].add(same)
    share: dict[str, float] = defaultdict(float)
    for those in of_id.values():
        for value in those:
            share[value] += 1 / len(those) / len(of_id)
    return Truth(name, dict(of_id), dict(share))


# ---- What stands beside the ids ------------------------------------------------------------------------------


def _check_ids(known: Known) -> None:
    """Compare the parts of ids, such as img, 17 and cat of "img17_cat", with their truths."""
    for column, ids in known.ids_of.items():
        parts = [re.findall(r"[0-9]+|[^\W\d_]+", item) for item in ids]
        if len({len(each) for each in parts}) == 1:
            columns = {f"part {number}": those for number, those in enumerate(zip(*parts), 1)}
            _check_table(SOLUTION, pd.DataFrame({"": ids} | columns), known, f"in {{}} of the ids in {column}")


def _check_complete(files: Iterable[Path], known: Known) -> None:
    """Warn if most ids have a file, such as a picture, and some have none."""
    ids = set(known.rows)
    of_kind: dict[tuple[Path, str], set[str]] = defaultdict(set)
    for path in files:
        of_kind[path.parent, path.suffix].add(known.ids.first_in(path.stem) or "")
    for (folder, suffix), named in of_kind.items():
        lacking = [item for item in known.rows if item not in named]
        if lacking and len(ids & named) > len(ids) / 2:
            warnings.warn(
                f"{folder}: {len(set(lacking)):,} of {len(ids):,} ids of the test set have no file {suffix}, "
                f"such as {lacking[0]}",
                stacklevel=2,
            )


def _check_names(files: Sequence[tuple[Path, str]], known: Known) -> None:
    """Compare the folders, names and beginnings of files that are named after ids."""
    rows = [
        (stem, path.parent.name, stem, content, content.partition(" ")[0].strip())
        for path, content in files
        for stem in dict.fromkeys([path.stem, path.stem.replace("-", " ")])
    ]
    _check_complete([path for path, _ in files], known)
    table = pd.DataFrame(rows, columns=["", "folders", "names", "contents", "first words"])
    _check_table(PUBLIC, table, known, "in the {} of files")


def _check_table(name: str, table: pd.DataFrame, known: Known, where: str = "in the column {}") -> None:
    """Compare each column of a table with the truths of the ids in its rows; ids may be in any column."""
    columns = {str(column): cells.tolist() for column, cells in table.items()}
    for named, cells in columns.items():
        column = (name, named, *columns)
        if known.compared[column] >= MOST_IDS:
            continue
        beside = {other: columns[other] for other in columns if other != named}
        readings = [ids for ids in _ids_in(cells, known) if ids]
        for ids in readings:
            _compare_columns(name, beside, ids, known, where)
        if not readings:
            continue
        ids = readings[0]
        known.compared[column] += len(ids)
        _check_order(name, list(ids.values()), known)
        truths = {truth.name for truth in known.truths}
        others = [other for other in table if str(other) not in {named, *truths, *known.ids_of}]
        if others and len(ids) >= LEAST_ROWS:
            features = table.iloc[list(ids)][others].set_axis(list(ids.values())).rename(columns=str)
            known.features.append(features.map(hash))  # a cell may be the text of an essay


def _check_other_ids(text: Text, known: Known) -> None:
    """Look for rows of the test set under other ids, by their texts and by their features."""
    for table in text.tables() if known.texts or known.features else ():
        _check_test_texts(text.name, table, known)
        _check_twins(text.name, table, known)


def _check_twins(name: str, table: pd.DataFrame, known: Known) -> None:
    """Compare rows that have the features of a row of the test set, under another id, with its truths."""
    columns = {str(column): cells.tolist() for column, cells in table.items()}
    for features in known.features:
        shared = [name for name in features if name in columns]
        if not shared:
            continue
        of_row = dict(zip(features[shared].itertuples(index=False, name=None), features.index))
        if len(of_row) < UNIQUE * len(features):
            continue
        rows = enumerate(zip(*(map(hash, columns[name]) for name in shared)))
        twins = {row: of_row[cells] for row, cells in rows if cells in of_row}
        # Rows that are equal by chance, as those of all who gave the same answers, are no copies.
        by_chance = NATURAL * (len(features) - len(of_row)) * len(table) / len(features)
        if len(set(twins.values())) >= LEAST_ROWS + by_chance:
            others = {name: cells for name, cells in columns.items() if name not in shared}
            where = f"in the column {{}}, of rows with the same {listed(shared)}"
            _compare_columns(name, others, twins, known, where)


def _check_positions(name: str, table: pd.DataFrame, known: Known) -> None:
    """Compare a table that has a row for each row of the solution with the truths by their order."""
    if len(table) == len(known.rows) - 1:  # the first row was taken for names of columns
        table = pd.concat([pd.DataFrame([dict(zip(table.columns, table.columns))]), table])
    if len(table) == len(known.rows):
        columns = {str(column): cells.astype(str).tolist() for column, cells in table.items()}
        for order in known.orders:
            ids = dict(enumerate(order))
            _compare_columns(name, columns, ids, known, "in the column {}, by the order of the rows")


def _ids_in(cells: Sequence[str], known: Known) -> list[dict[int, str]]:
    """The ids in some cells, by row: spelled as they are, or else by their numbers, and by their positions."""
    ids: dict[int, str] = {}
    step = -(-len(cells) // MOST_IDS) or 1  # all parts of a long table are looked at
    if known.ids.may_be_in(cells):
        for row in (row for start in range(step) for row in range(start, len(cells), step)):
            item = known.ids.first_in(cells[row])
            if item is not None:
                ids[row] = item
                if len(ids) == MOST_IDS:
                    break
    if ids or not all(cell.isdecimal() and len(cell) < 18 for cell in cells):
        return [dict(sorted(ids.items()))]
    numbers = list(map(int, cells))
    found = {row: known.numbered[number] for row, number in enumerate(numbers) if number in known.numbered}
    numbered = [found] if len(set(found.values())) == len(found) else []
    if len(numbers) != len(known.rows) or sorted(numbers) not in (
        list(range(len(numbers))),
        list(range(1, len(numbers) + 1)),
    ):
        return numbered
    first = min(numbers)
    positions = [{row: order[number - first] for row, number in enumerate(numbers)} for order in known.orders]
    return numbered + positions


def _compare_columns(
    name: str, columns: Mapping[str, Sequence[str]], ids: Mapping[int, str], known: Known, where: str
) -> None:
    """Compare the columns beside ids with their truths."""
    beside = {other: [cells[row] for row in ids] for other, cells in columns.items()}
    for other, values in beside.items():
        found = [(item, value.strip()) for item, value in zip(ids.values(), values)]
        _compare_cells(name, where.format(other), found, known, other)
    # With one-hot columns, the values are the names of the columns whose cells are 1.
    on = [" ; ".join(n for n, v in zip(beside, row) if YES.fullmatch(v)) for row in zip(*beside.values())]
    _compare_cells(name, "as the name of a column with 1", list(zip(ids.values(), on)), known)


def _check_order(name: str, ids: Sequence[str], known: Known) -> None:
    """Refuse a file in which the order of the rows tells their truths, unless the ids have this order, too."""
    order = {item: position for position, item in enumerate(known.rows)}
    positions = [order[item] for item in ids if item in order]
    if len(positions) < len(ids) or positions == sorted(positions) or list(ids) == sorted(ids, key=natural):
        return
    for truth in known.truths:
        if told := order_told([_only(truth, item) or "" for item in ids]):
            raise Revealed(
                f"{name} reveals {truth.name} of {SOLUTION} by the order of its rows: of neighbors, {told:.0%} "
                "are alike"
            )


def _compare_cells(
    name: str, where: str, cells: Sequence[tuple[str, str]], known: Known, column: str = ""
) -> None:
    """Compare cells with the truths of their ids, also if each truth has another word or number for it."""
    found: Found = defaultdict(set)
    for item, cell in cells:
        found[item] |= known.values_in(words_of(cell[:MOST_IN_CELL]))
    for truth in known.truths:
        _compare(name, where, found, truth, is_named=column == truth.name)
        if column not in known.ids_of:
            _determined(name, where, cells, truth)


def _determined(name: str, where: str, cells: Sequence[tuple[str, str]], truth: Truth) -> None:
    """Refuse a file if its cells determine the truths of their ids, in whatever form."""
    rows = [(cell, only) for item, cell in cells if (only := _only(truth, item)) is not None]
    column, truths = [cell for cell, _ in rows], [only for _, only in rows]
    # What keeps rows together, such as a patient, determines their part, and does not tell which one it is.
    most_codes = 1 if truth.name == USAGE else MOST_CODES
    if told := classes_told(column, truths, most_codes) or numbers_told(column, truths):
        raise Revealed(
            f"{name} reveals {truth.name} of {SOLUTION} {where}, in another form: the values there determine "
            f"{told:.1%} of it for {len(rows):,} ids of the test set"
        )


def _only(truth: Truth, item: str) -> str | None:
    """The truth of an id that has a single one."""
    values = truth.of_id.get(item, ())
    return next(iter(values)) if len(values) == 1 else None


def _check_text(text: Text, known: Known) -> None:
    """Compare what stands near the ids in a text with their truths.

    Ids may be short numbers, which stand elsewhere, too.  So the ids in each place of a line are also looked at
    alone.
    """
    found: dict[tuple[str, object], Found] = defaultdict(lambda: defaultdict(set))
    # A file may have the name of a class and list its ids.
    for lines in _chunks(f"{text.name}\n{text.content}"):
        if known.ids.may_be_in(lines):
            words, places = _words_and_places(lines, known)
            headings = _last_values(words, known)
            for group, those in places.items():
                following = [start for start, _, _ in those[1:]] + [len(words)]
                for (start, end, item), limit in zip(those, following):
                    after = words[end : min(limit, end + MOST_BESIDE)]
                    found["after ids", group][item] |= known.values_in(after)
                    found["before ids", group][item] |= headings[start]
            if len(places["all"]) >= MOST_IDS:
                break
    everywhere = {item for (_, group), beside in found.items() if group == "all" for item in beside}
    is_code = not {STARTER, METRIC}.isdisjoint(Path(text.name).parts)  # its numbers may look like ids
    if len(everywhere) <= MOST_LISTED * len(known.rows) and not is_code:
        known.named_in.extend((item, text.name) for item in everywhere)
    for (where, _), beside in found.items():
        for truth in known.truths:
            _compare(text.name, where, beside, truth)


def _words_and_places(lines: Sequence[str], known: Known) -> tuple[list[bytes], Places]:
    """The words of some lines, and where ids begin and end: all of them, and those of each place in a line."""
    words = list[bytes]()
    places: Places = defaultdict(list)
    for line in lines:
        of_line = words_of(line)
        for start, end, item in known.ids.within(of_line):
            place = (len(words) + start, len(words) + end, item)
            places["all"].append(place)
            if start < MOST_PLACES:
                places[start].append(place)
        words += of_line
        if len(places["all"]) >= MOST_IDS:
            break
    return words, places


def _last_values(words: Sequence[bytes], known: Known) -> list[set[str]]:
    """For each place among some words, the last value of each truth before it, perhaps a heading."""
    begins = {end: value for _, end, value in known.values.within(words)}
    last: dict[str, str] = {}
    headings = [set[str]()]
    for place in range(1, len(words)):
        value = begins.get(place)
        if value is not None:
            last |= {truth.name: value for truth in known.truths if value in truth.share}
            headings.append(set(last.values()))
        else:
            headings.append(headings[-1])
    return headings


def _chunks(text: str) -> Iterator[list[str]]:
    """The lines of a text in large parts; that one of them is cut at the end of a part does not matter."""
    for start in range(0, len(text), CHUNK):
        yield text[start : start + CHUNK].split("\n")


# ---- The comparison ------------------------------------------------------------------------------------------


def _compare(name: str, where: str, found: Found, truth: Truth, *, is_named: bool = False) -> None:
    """Refuse a file if the truths of ids stand beside them much more often than those of other ids would.

    What was true before, such as the region of last year, predicts well and is no leak. So all but a column
    with the name of the truth has to determine it.
    """
    ids = [item for item in found if item in truth.of_id]
    right = {item: found[item] & truth.of_id[item] for item in ids}
    if not any(right.values()):
        return
    rate = sum(len(right[item]) / len(truth.of_id[item]) for item in ids) / len(ids)
    chance = sum(truth.share.get(value, 0) for item in ids for value in found[item]) / len(ids)
    number = sum(len(found[item] & truth.share.keys()) / len(truth.of_id[item]) for item in ids) / len(ids)
    if number > min(MOST_VALUES, MOST_CLASSES * len(truth.share)) or (rate < PURE and not is_named):
        return
    if tells(rate, chance, len(ids), NAMED_EVIDENCE if is_named else LEAST_EVIDENCE):
        item = next(item for item in ids if right[item])
        raise Revealed(
            f"{name} reveals {truth.name} of {SOLUTION} {where}, such as {min(right[item])!r} of {item}: "
            f"it is there for {rate:.0%} of {len(ids):,} ids of the test set, and would be for {chance:.0%} by "
            "chance"
        )


# ---- Texts of the test set -----------------------------------------------------------------------------------


def _learn_texts(name: str, table: pd.DataFrame, known: Known) -> None:
    """Keep the texts of the test set, and check that equal ones are in one part."""
    for of in known.ids_of.keys() & table.columns:
        for column in table.columns.intersection(list(TEXT_COLUMNS)):
            for item, text in zip(table[of], table[column]):
                if item in known.part_of and text.strip():
                    first = known.texts.setdefault(_normalized(text), item)
                    if known.part_of[first] != known.part_of[item]:
                        raise HostError(
                            f"{name}: the text of {item} ({known.part_of[item]}) is that of {first} "
                            f"({known.part_of[first]}), too: expected equal texts in one part"
                        )


def _check_test_texts(name: str, table: pd.DataFrame, known: Known) -> None:
    """Check that no cell is a text of the test set under another id, where its labels may be known."""
    for row in zip(*(cells.tolist() for _, cells in table.items())) if known.texts else ():
        for cell in row:
            owner = known.texts.get(_normalized(cell)) if len(cell) >= SHORTEST_TEXT else None
            if owner is not None and known.part_of[owner] not in map(known.part_of.get, row):
                where = f"which is in {SOLUTION}, under another id"
                raise HostError(f"{name} has the text of {owner}, {where}: take it out")


def _normalized(text: str) -> str:
    """A text whose case and spaces do not count."""
    return " ".join(text.split()).casefold()
