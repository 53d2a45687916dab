"""Check that no file for participants reveals what only the solution knows.

`podium make` checks the files that it has written. `podium publish` and `podium bundle` check the files again
before they are sent, because anybody may have added a file or a column in the meantime.

In a table, the cells of a row stand beside its id. The names and sizes of files that are named after ids make
a table, too, and so does how often a file lists the ids. `evidence` says whether a column tells an answer of
the solution. Files that are no tables are listed, so that the host looks at them.
"""

import functools
import itertools
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd

from podium.common.arrays import Ints
from podium.common.errors import HostError
from podium.common.wording import listed
from podium.contest import recorded
from podium.contest.recorded import PRIVATE, RECORD
from podium.hosting import evidence
from podium.hosting.evidence import LEAST_ROWS, MOST_ROWS, Coded, Evidence, Secrets, natural
from podium.hosting.folders import (
    LEARNED,
    METRIC,
    PERFECT,
    PUBLIC,
    SOLUTION,
    STARTER,
    public_files,
    read_csv,
)
from podium.hosting.public_tables import PublicFile, files_in
from podium.hosting.solution_ids import Ids
from podium.metric import hosted
from podium.scoring.evaluating import USAGE
from podium.tables.files import Location

TEXT_COLUMNS = ("full_text", "text")  # participants predict for these texts, so a solution may repeat them
SHORTEST_TEXT = 40  # characters: shorter texts may be equal by chance
LEAST_SHARE = 0.05  # of the test set: fewer rows that are elsewhere, too, are no news
ID_COLUMNS = 3  # columns of a table that are taken for its ids

ALL_MAY_KNOW = "All may know this column, as public_columns says"
PARTS_KNOWN = "So participants know which rows are Public and which are Private, as in a split by time"
TAKE_OUT, OTHER_IDS = "Take it out", "Give the rows other ids, as podium make does by --new-ids"

Beside = Mapping[str, Coded]
Told = Callable[[Secrets], Evidence | None]  # what something tells of some secrets
Prints = Mapping[str, tuple[int, bytes]]  # the size and the digest of each file
# Written by podium, and no tables.
WRITTEN = {f"{PUBLIC}/{name}" for name in (STARTER, METRIC, f"{hosted.UTILITIES}.py")}


@dataclass(frozen=True)
class Known:
    """What the solution knows, and what the public files say of it."""

    ids: Sequence[Ids]  # of each column that has some
    row_ids: Sequence[str]  # or those of items whose rows podium has numbered
    parts: Sequence[str]  # "Public" or "Private", for each row
    secrets: Secrets
    usage: Secrets  # the part of each row, which is no answer
    public_columns: Collection[str]  # of the solution, which all may know
    advice: str  # how to allow what tells an answer
    texts: dict[int, int] = field(default_factory=dict)  # the row of each text of the test set, by its hash
    # what public tables say of rows, as hashes, because cells may be texts of essays
    features: list[tuple[Mapping[str, Ints], Ints]] = field(default_factory=list)
    # how often the ids of a column are named, by file and column
    listed: dict[tuple[str, str, int], Ints] = field(default_factory=dict)
    text_columns: set[str] = field(default_factory=set)  # of public tables, which have those texts
    tells_parts: set[str] = field(default_factory=set)  # the files that tell which rows are Public
    doubts: list[str] = field(default_factory=list)  # what the host should look at

    @property
    def orders(self) -> list[Ints]:
        """The rows as a file without ids may have them: in the order of the solution, and sorted."""
        by_name = sorted(range(len(self.row_ids)), key=lambda row: natural(self.row_ids[row]))
        return [np.arange(len(by_name)), *([np.array(by_name)] if by_name != sorted(by_name) else [])]


def refuse(
    folder: Path,
    items: Collection[str],
    solution: Location | None = None,
    advice: str = "",
) -> None:
    """Raise an error if a file for participants reveals the solution; warn of files that are no tables.

    Of the competition's record, `public_columns` names columns of the solution that all may know, and
    `innocent` the columns of public files that are passed over. The `solution` may have been read. `advice`
    says how to allow a column where there is no record yet.
    """
    record = recorded.read(folder)
    solution = solution or folder / PRIVATE / SOLUTION
    where = f"see public_columns and innocent in {RECORD}"
    if record is None:
        where = f"write {folder / RECORD} with public_columns or innocent"
    advice = advice or f"if all may know it, {where}"
    known = _known(solution, items, record.public_columns if record else (), advice)
    others = _search(folder, known, record.innocent if record else {})
    _check_ids(known)
    if others:
        more = f" and {len(others) - 5:,} more" if others[5:] else ""
        known.doubts.append(
            "these files are no tables, so they are not searched for the solution; look at them yourself: "
            f"{', '.join(others[:5])}{more}"
        )
    for doubt in dict.fromkeys(known.doubts):
        warnings.warn(doubt, stacklevel=2)


def _search(folder: Path, known: Known, innocent: Mapping[str, Sequence[str]]) -> list[str]:
    """Search every table for participants, and list the files that are none."""
    private = _private_files(folder / PRIVATE)
    prints, others = dict[str, tuple[int, bytes]](), dict[str, None]()
    # A table whose rows may be those of another one is read again, because both may be larger than the memory.
    for check in (_check_table, _check_other_ids):
        for file in _public_files(folder):
            excused = innocent.get(file.path.removeprefix(f"{PUBLIC}/"), ())
            try:
                if check is _check_table:
                    prints[file.name] = file.fingerprint()
                    _check_copy(file.name, prints[file.name], private)
                if file.is_table() and "*" not in excused:
                    for table in file.tables():
                        check(file.name, _without(table, excused), known)
                elif prints[file.name][0] and not excused and file.name not in WRITTEN:
                    others[file.name] = None
            except (HostError, MemoryError):
                raise
            except Exception:  # each library has its own for a file that is damaged or no table
                others[file.name] = None
        if not (known.texts or known.features):
            break
    _check_files(prints, known)
    for (name, _, kind), times in known.listed.items():
        first = known.ids[kind].rows[known.ids[kind].starts]
        told = functools.partial(evidence.told_by_number, times, first)
        where = "which ids it lists, and how often"
        _demand_nothing(told, name, where, Coded.of(times.astype(str)), first, known)
    return [*others]


def _without(table: pd.DataFrame, excused: Collection[str]) -> pd.DataFrame:
    """A table without the excused columns, which may be fields of an object in JSON."""
    return table.loc[:, [str(name).rpartition(".")[2] not in excused for name in table.columns]]


def _public_files(folder: Path) -> Iterator[PublicFile]:
    """The files for participants, and those in their zips."""
    for name, path in public_files(folder).items():
        yield from files_in(f"{PUBLIC}/{name}", path)


def _private_files(private: Path) -> dict[tuple[int, bytes], str]:
    """The names of private files by their sizes and digests."""
    files = [path for path in sorted(private.iterdir()) if path.is_file()]
    return {each.fingerprint(): path.name for path in files for each in files_in(path.name, path)}


def _check_copy(name: str, print_: tuple[int, bytes], private: Mapping[tuple[int, bytes], str]) -> None:
    """Refuse a private file."""
    if Path(name).name.removesuffix(".gz") in (SOLUTION, PERFECT):
        raise HostError(f"{name} has the name of a private file: delete it or call it something else")
    if print_[0] and print_ in private:
        raise HostError(f"{name} is a copy of {PRIVATE}/{private[print_]}: delete it")


# ---- The solution --------------------------------------------------------------------------------------------


def _known(solution: Location, items: Collection[str], public_columns: Collection[str], advice: str) -> Known:
    """Read the solution."""
    columns = _read(solution)
    row_id, *others = columns
    of_items = [name for name in others if _names_items(columns[name], set(items))]
    ids = [Ids(name, columns[name]) for name in (row_id, *of_items)]
    passed_over = {row_id, *of_items, *TEXT_COLUMNS, *public_columns, USAGE}
    secret = {name: cells for name, cells in columns.items() if name not in passed_over}
    parts = {name: cells for name, cells in columns.items() if name == USAGE and len(cells.texts) > 1}
    # The rows of an item that podium numbers itself, as E1:0 and E1:1, have an order that all may know.
    whole = next((each for each in ids if _are_numbered(ids[0], each)), ids[0])
    places = np.array(pd.Series(whole.numbers).groupby(whole.numbers).cumcount(), dtype=np.int64)
    known = Known(
        ids,
        [whole.texts[number] for number in whole.numbers],
        list(map(columns[USAGE].cell, range(len(places)))) if USAGE in columns else ["test"] * len(places),
        Secrets(secret, whole.numbers, places),
        Secrets(parts, whole.numbers, places),
        public_columns,
        advice,
    )
    for name in columns.keys() & TEXT_COLUMNS:
        _learn_texts(SOLUTION, name, columns[name], np.arange(len(places)), known)
    return known


def _read(solution: Location) -> dict[str, Coded]:
    """The columns of a solution, which was checked before; its cells get numbers while they are read."""
    rows = read_csv(solution)
    header = next(rows)
    number_of = defaultdict[str, int](itertools.count().__next__)
    cells = itertools.chain.from_iterable(row + [""] * (len(header) - len(row)) for row in rows)
    numbers = np.fromiter(map(number_of.__getitem__, cells), np.int64).reshape(-1, len(header))
    texts, columns = np.array([*number_of], dtype=object), dict[str, Coded]()
    for name, those in zip(header, numbers.T):
        codes, occurring = pd.factorize(those)
        columns[name] = Coded(codes, texts[occurring].tolist())
    return columns


def _names_items(cells: Coded, items: Collection[str]) -> bool:
    """Whether a column has the ids of most items, and nothing else; labels may be numbers that ids are, too."""
    return len(items) / 2 < len(cells.texts) and {*cells.texts} <= {*items}


def _are_numbered(rows: Ids, items: Ids) -> bool:
    """Whether the ids of rows are those of items and a number, as podium makes them."""
    pairs = zip(rows.numbers.tolist(), items.numbers.tolist())
    return rows is not items and all(rows.texts[row].startswith(f"{items.texts[item]}:") for row, item in pairs)


def _demand_nothing(
    told: Told, file: str, where: str, cells: Coded, rows: Ints, known: Known, cure: str = TAKE_OUT
) -> None:
    """Refuse a file that tells an answer; warn of one that tells which rows are Public."""
    if found := told(known.secrets):
        raise HostError(f"{_revealed(found, file, where, cells, rows, known)}. {cure}; {known.advice}")
    if file not in known.tells_parts and known.usage.names and (found := told(known.usage)):
        known.tells_parts.add(file)
        known.doubts.append(f"{_revealed(found, file, where, cells, rows, known)}. {PARTS_KNOWN}")


def _revealed(found: Evidence, file: str, where: str, cells: Coded, rows: Ints, known: Known) -> str:
    """Say what a file tells."""
    place = f"by {found.form}{where}" if found.form else f"in {where}"
    example = f"{cells.cell(found.example)[:40]!r} of {known.row_ids[rows[found.example]]}"
    return (
        f"{file} reveals {found.answer} of {SOLUTION} {place}, such as {example}: it is right for "
        f"{found.rate:.0%} of {found.rows:,} ids of the test set, and would be for {found.chance:.0%} by chance"
    )


# ---- What stands beside the ids ------------------------------------------------------------------------------


def _check_ids(known: Known) -> None:
    """Compare the parts of ids that participants see, such as cat of "img17_cat", with the answers."""
    for ids in [known.ids[kind] for kind in {kind for _, _, kind in known.listed}]:
        parts = [re.findall(r"[0-9]+|[^\W\d_]+", item) for item in ids.texts]
        for number, part in enumerate(zip(*parts), 1) if len({*map(len, parts)}) == 1 else ():
            rows, cells = ids.rows[ids.starts], Coded.of(part)
            told = functools.partial(evidence.told, cells, rows, has_order=False)
            where = f"part {number} of the ids in {ids.name}"
            _demand_nothing(told, SOLUTION, where, cells, rows, known, OTHER_IDS)


def _check_files(prints: Prints, known: Known) -> None:
    """Compare the folders, names, endings and sizes of files whose paths have ids."""
    for kind, ids in enumerate(known.ids):
        around = {name: _around_id(PurePosixPath(name), ids) for name in sorted(prints, key=natural)}
        around = {name: parts for name, parts in around.items() if parts[0] >= 0}
        if around:
            numbers, folders, names, endings = map(np.array, zip(*around.values()))
            columns = {"folders": folders, "names": names, "endings": endings}
            columns["sizes"] = np.array([str(prints[name][0]) for name in around])
            beside = {name: Coded.of(cells) for name, cells in columns.items()}
            _compare(PUBLIC, beside, kind, numbers, known, "the {} of files", "files")
        _check_copies(around, prints, known)


def _around_id(path: PurePosixPath, ids: Ids) -> tuple[int, str, str, str]:
    """The id in a path, the folder above it, the names without it, and the ending; -1 without an id."""
    parts = [*path.parent.parts, path.stem]
    for at in range(len(parts) - 1, -1, -1):
        number, rest = ids.in_name(parts[at])
        if number >= 0:
            return number, parts[at - 1] if at else "", "/".join([rest, *parts[at + 1 :]]), path.suffix
    return -1, "", "", ""


def _check_copies(named: Collection[str], prints: Prints, known: Known) -> None:
    """Warn if files that are named after ids have the bytes of other files."""
    other = {print_: name for name, print_ in prints.items() if name not in named}
    twins = {name: other[prints[name]] for name in named if prints[name] in other}
    if len(twins) >= LEAST_SHARE * len(named) > 0:
        first = min(twins)
        what = f"files of the test set have the bytes of other files, such as {first} and {twins[first]}"
        _doubt_twins(known, len(twins), len(named), what)


def _check_table(name: str, table: pd.DataFrame, known: Known) -> None:
    """Compare each column of a table with the answers of the ids in its rows; ids may be in any column."""
    columns, readings, is_exact = _columns(table, known), [], False
    for kind, ids in enumerate(known.ids):
        for named, cells in columns.items():
            numbers = ids.named_by(cells.texts)
            if is_within := max(numbers, default=-1) < 0:
                numbers = ids.within(cells.texts)
            distinct = len({*numbers} - {-1})
            if distinct >= LEAST_ROWS or (distinct and named == ids.name):
                readings.append((distinct, is_within, kind, named, np.array(numbers)[cells.codes]))
    readings = sorted(readings, key=lambda reading: (-reading[0], reading[1]))[:ID_COLUMNS]
    for _, is_within, kind, named, those in readings:
        at = np.flatnonzero(those >= 0)
        beside = {other: cells.taken(at) for other, cells in columns.items() if other != named}
        if is_within:  # Which of these a file lists is no evidence: store_7 may be none of the ids.
            rows = known.ids[kind].rows_of(those[at])
            _check_columns(name, beside, rows, known, "the column {}")
            continue
        _compare(name, beside, kind, those[at], known, "the column {}", named)
        if columns[named].cell(at[0]) in known.ids[kind].number_of:
            is_exact = True
            _learn(name, beside, known.ids[kind].rows_of(those[at]), known)
    if not is_exact:
        _check_positions(name, columns, known)


def _columns(table: pd.DataFrame, known: Known) -> Beside:
    """The columns of a table, or of one that lies on its side, with the ids in a row."""
    header = [str(column) for column in table]
    exact = known.ids[0].number_of
    for cells in [header, *table.iloc[:LEAST_ROWS].to_numpy(dtype=object).tolist()]:
        if len(exact.keys() & set(cells)) >= LEAST_ROWS:
            lines = [header, *table.to_numpy(dtype=object).tolist()]
            others = {str(line[0]): Coded.of(line[1:]) for line in lines if line is not cells}
            return {"": Coded.of(cells[1:])} | others
    return evidence.coded(table)


def _check_positions(name: str, columns: Beside, known: Known) -> None:
    """Compare a table that has a row for each row of the solution with the answers by their order."""
    number = len(known.row_ids)
    if {len(cells.codes) for cells in columns.values()} == {number - 1}:  # the first row was taken for names
        columns = {
            name: Coded.of([name, *(cells.cell(row) for row in range(number - 1))])
            for name, cells in columns.items()
        }
    for order in known.orders if {len(cells.codes) for cells in columns.values()} == {number} else ():
        # Of a table that is sorted by a column, its few blocks may meet those of the solution by chance.
        mixed = {
            name: cells
            for name, cells in columns.items()
            if np.count_nonzero(np.diff(cells.codes)) >= LEAST_ROWS
        }
        _check_columns(name, mixed, order, known, "the column {}, by the order of the rows")


def _compare(
    name: str, columns: Beside, kind: int, numbers: Ints, known: Known, where: str, named: str
) -> None:
    """Compare columns beside some ids with their answers, and note which ids a file names."""
    ids = known.ids[kind]
    rows = ids.rows_of(numbers)
    _check_columns(name, columns, rows, known, where)
    times = np.bincount(numbers, minlength=len(ids.texts))
    known.listed[name, named, kind] = known.listed.get((name, named, kind), 0) + times
    by_name = rows[np.argsort(ids.by_name[numbers], kind="stable")]

    def told(secrets: Secrets) -> Evidence | None:
        found = evidence.told_by_order(rows, secrets)
        # What the order of the ids tells, as in a series, is no news.
        return None if found is None or evidence.told_by_order(by_name, secrets) else found

    if (np.diff(rows) < 0).any():
        _demand_nothing(told, name, "the order of its rows", Coded(numbers, ids.texts), rows, known)


def _check_columns(name: str, columns: Beside, rows: Ints, known: Known, where: str) -> None:
    """Compare columns that have a cell for each of some rows of the solution with their answers."""
    for column, cells in columns.items():
        told = functools.partial(evidence.told, cells, rows, name=column)
        place = where.format(column)
        if column in known.public_columns and (found := told(known.secrets)):
            known.doubts.append(f"{_revealed(found, name, place, cells, rows, known)}. {ALL_MAY_KNOW}")
        else:
            _demand_nothing(told, name, place, cells, rows, known)


# ---- Rows of the test set under other ids --------------------------------------------------------------------


def _learn(name: str, columns: Beside, rows: Ints, known: Known) -> None:
    """Keep what a public table says of rows of the test set."""
    some = np.unique(np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64))
    passed_over = {*known.secrets.names, *(ids.name for ids in known.ids)}
    features = {column: cells for column, cells in columns.items() if column not in passed_over}
    if features and len(rows) >= LEAST_ROWS:
        keys = {column: _keys(cells.taken(some)) for column, cells in features.items()}
        known.features.append((keys, rows[some]))
    for column, cells in features.items():
        those = cells.taken(some)
        is_text = those.each(len).mean() >= SHORTEST_TEXT and those.different > len(some) / 2
        if column in TEXT_COLUMNS or is_text:
            known.text_columns.add(column)
            _learn_texts(name, column, cells, rows, known)


def _learn_texts(name: str, column: str, cells: Coded, rows: Ints, known: Known) -> None:
    """Keep the texts of the test set, and check that equal ones are in one part."""
    is_said = cells.each(lambda text: bool(text.strip()), bool)
    for key, row in zip(_keys(cells)[is_said].tolist(), rows[is_said].tolist()):
        first = known.texts.setdefault(key, row)
        if known.parts[first] != known.parts[row] and column in TEXT_COLUMNS:
            raise HostError(
                f"{name}: the text of {known.row_ids[row]} ({known.parts[row]}) is that of "
                f"{known.row_ids[first]} ({known.parts[first]}), too: expected equal texts in one "
                f"part, as --items {column} keeps them"
            )


def _keys(cells: Coded) -> Ints:
    """A number for each cell, whose case and spaces do not count."""
    keys: Ints = cells.each(lambda text: hash(" ".join(text.split()).casefold()), np.int64)
    return keys


def _check_other_ids(name: str, table: pd.DataFrame, known: Known) -> None:
    """Look for rows of the test set under other ids, by their texts and by their features."""
    columns = evidence.coded(table)
    pairs = list(itertools.product(columns, known.ids))
    named = [(column, ids) for column, ids in pairs if column == ids.name] or pairs
    is_id = max((columns[column].each(ids.number_of.__contains__, bool) for column, ids in named), key=np.sum)
    columns = {column: cells.taken(~is_id) for column, cells in columns.items()}
    _check_test_texts(name, columns, known)
    _check_twins(name, columns, known)


def _check_test_texts(name: str, columns: Beside, known: Known) -> None:
    """Check that no cell is a text of the test set under another id, where its labels may be known."""
    for column, cells in columns.items() if known.texts else ():
        keys = set(_keys(cells)[cells.each(len) >= SHORTEST_TEXT].tolist())
        if twins := [known.texts[key] for key in keys & known.texts.keys()]:
            if Path(name).name != LEARNED:
                where = f"which is in {SOLUTION}, under another id"
                raise HostError(f"{name} has the text of {known.row_ids[min(twins)]}, {where}: take it out")
            _doubt_twins(
                known, len(twins), len(known.texts), f"texts of the test set stand in {name}, too", column
            )


def _check_twins(name: str, columns: Beside, known: Known) -> None:
    """Count the rows of the test set that stand in a file, too, under another id.

    In another file than the one to learn from, they must not tell answers. Few different rows are classes, such
    as those of a store, and equal rows no news.
    """
    for features, rows in known.features:
        shared = [column for column in features if column in columns]
        tested = pd.DataFrame({column: features[column] for column in shared})
        given = pd.DataFrame({column: _keys(columns[column]) for column in shared})
        if len(tested.drop_duplicates()) < LEAST_ROWS or known.text_columns.issuperset(shared):
            continue  # Equal texts are counted whatever their column is called.
        where = f"with the same {listed(shared)}"
        if Path(name).name == LEARNED:
            if number := len(tested.merge(given.drop_duplicates(), on=shared)):
                what = f"rows of the test set stand in {name}, too, {where}"
                _doubt_twins(known, number, len(tested), what, shared[0] if len(shared) == 1 else "COLUMN")
            continue
        once = tested.assign(row=rows).drop_duplicates(shared)
        row_of = given.merge(once, how="left", on=shared)["row"]
        is_twin = row_of.notna().to_numpy()
        if is_twin.sum() >= LEAST_ROWS:
            others = {column: those.taken(is_twin) for column, those in columns.items() if column not in shared}
            twins = row_of[is_twin].to_numpy(dtype=np.int64)
            _check_columns(name, others, twins, known, f"the column {{}}, of rows {where}")


def _doubt_twins(known: Known, number: int, of: int, what: str, column: str = "COLUMN") -> None:
    """Tell that something is in the test set and elsewhere."""
    known.doubts.append(
        f"{number:,} of {of:,} ({number / of:.0%}) {what}: whoever learns from the others "
        f"may know their answers; podium make --items {column} keeps together what belongs together"
    )
