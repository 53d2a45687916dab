"""Check that no file for participants reveals what only the solution knows.

`podium make` checks the files that it has written.  `podium publish` and `podium bundle` check the files again
before they are sent, because anybody may have added a file or a column in the meantime.
"""

import contextlib
import csv
import gzip
import json
import re
import shutil
import tarfile
import tempfile
import warnings
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import HostError
from podium.files import read_bytes, read_table
from podium.hosting import disguises, record
from podium.hosting.folders import PERFECT, PRIVATE, PUBLIC, SAMPLE, SOLUTION, read_csv
from podium.scoring import USAGE

TEXT_COLUMNS = ("full_text", "text")  # participants predict for these texts, so a solution may repeat them

SHORTEST_ID = 6  # characters: shorter values can be equal to an id of the test set by chance
SHORTEST_TEXT = 40  # characters: likewise for texts

MOST_ROWS = 20_000  # in which a truth in disguise is looked for

# What programs write into Parquet files by themselves.
KNOWN_METADATA = {b"ARROW:schema", b"pandas", b"huggingface", b"org.apache.spark.version"}

FEWEST_ANSWERS = 10  # a column with fewer right values is not taken for one of the solution's

DELIMITED = (".tsv", ".tab", ".txt")  # files with these endings are read as tables, if they have delimiters
DELIMITERS = "\t;|,"
WORDS = re.compile(r"""[^\s"',;:|=\[\]{}()]+""")  # a text's words, also between the signs of JSON
GZIP = b"\x1f\x8b"


class Truths(NamedTuple):
    """What the solution knows, with hashes in place of values.

    Attributes
    ----------
    id_columns : set of str
        The columns with ids of rows or items, which may be public.
    secrets : list of str
        All other columns except texts; `Usage` is one of them.
    part_of : dict of str to str
        The part, such as "Public", of each id of a row or an item.
    answers : dict
        For each secret column and each id, the sorted hashes of the values.
    lines : set of int
        The hashes of the solution's rows.
    uniform : set of str
        The secret columns that have the same values in the same order for every item.  An example are the types
        of essays that all consist of a lead, a position and a claim.  Repeating such values reveals nothing.
    of_id : dict
        For each secret column and each id, the value; None if the id has several values.
    level : dict
        For each secret column, the column of ids that has the fewest ids with one value each.  For an essay's
        gender it is the column of essays, and for a segment's type the column of segments.
    """

    id_columns: set[str]
    secrets: list[str]
    part_of: dict[str, str]
    answers: dict[str, dict[str, list[int]]]
    lines: set[int]
    uniform: set[str]
    of_id: dict[str, dict[str, str | None]]
    level: dict[str, str]


class Table(NamedTuple):
    """A table for participants, whose rows can be read several times.

    Attributes
    ----------
    name : str
        Its name in messages.
    path : Path
        The file.
    """

    name: str
    path: Path

    def rows(self) -> Iterator[Sequence[str]]:
        """Read the table.

        Yields
        ------
        sequence of str
            The cells of the header, then those of each row.
        """
        if self.path.suffix == ".parquet":
            frame = read_table(self.path, (), HostError).assign(**_hidden_columns(self.path))
            yield list(map(str, frame))
            yield from frame.astype(object).where(frame.notna(), "").astype(str).itertuples(index=False)
        elif self.path.suffix in (".json", ".jsonl"):
            yield from _json_rows(self.path)
        elif self.path.suffix in DELIMITED:
            yield from _delimited_rows(self.path)
        else:
            yield from read_csv(self.path)


class Paths(NamedTuple):
    """The names of files as a table: pictures in folders, for example, may be sorted by their label.

    Attributes
    ----------
    name : str
        Its name in messages.
    files : list of str
        The paths of the files.
    id_column : str
        The column of the solution whose ids the files may be named after.
    """

    name: str
    files: list[str]
    id_column: str

    def rows(self) -> Iterator[Sequence[str]]:
        """List the files.

        Yields
        ------
        sequence of str
            The header, then the name of each file without its ending, and the name of its folder.
        """
        yield [self.id_column, "folder"]
        for file in self.files:
            path = Path(file)
            yield [path.name.partition(".")[0], path.parent.name]


def refuse(folder: Path, items: Collection[str], further: Iterable[Path] = ()) -> None:
    """Raise an error if a file for participants reveals the solution.

    Every file below ``public/`` is looked at, and every file in archives:

    - No file may have the name or the content of a private file.
    - No table but the sample submission may have a column of the solution, under any name, for ids of the test
      set.
    - No column of a table may have the right values of the solution.
    - No other file may have a row of the solution.
    - No text of the test set may occur under another id.
    - No column, no part of an id and no name of a folder may stand for the values of the solution.
    - No column may have numbers in the same order as the solution's.
    - No metadata of a Parquet file may name ids of the test set.

    A warning tells that items stand in the order of their truths, which has other reasons, too.  Columns of the
    solution that `record.Record.public_columns` names may be public.

    Parameters
    ----------
    folder : Path
        The folder that `podium make` wrote, with ``public/`` and ``private/``.
    items : collection of str
        The ids of the items that the metric scores, such as essays.  Columns of such ids may be public.
    further : iterable of Path
        Other files that will be sent, such as pages.

    Raises
    ------
    HostError
        If a file reveals something.  The message names the file and what it reveals.
    """
    private = {_digest(path): path.name for path in sorted((folder / PRIVATE).iterdir()) if path.is_file()}
    recorded = record.read(folder)
    known = [] if recorded is None else recorded.public_columns
    truths = _truths(folder / PRIVATE / SOLUTION, items, known)
    with tempfile.TemporaryDirectory() as unpacked:
        files = list(_files(folder / PUBLIC, PUBLIC, Path(unpacked)))
        tables = [Table(name, path) for name, path in files if _is_table(path)]
        for name, path in files:
            _check_file(name, path, private)
        for name, path in [*((path.name, path) for path in further), *files]:
            if not _is_table(path):
                _check_lines(name, path, truths)
            if path.suffix == ".parquet":
                _check_metadata(name, path, truths)
        texts = _texts_of_the_test(tables, folder / PRIVATE / SOLUTION, truths)
        for table in tables:
            _check_table(table, truths, texts)
        for id_column in truths.id_columns:
            names = Paths(f"the names of the files in {PUBLIC}", [name for name, _ in files], id_column)
            _check_table(names, truths, texts)


def _truths(solution: Path, items: Collection[str], public_columns: Collection[str]) -> Truths:
    """Read the solution, and hash its values and rows."""
    rows = read_csv(solution)
    header = next(rows)
    cells = [list(column) for column in zip(*rows)] or [[] for _ in header]
    columns = dict(zip(header, cells))
    known = set(items)
    row_ids = columns[header[0]]
    id_columns = {header[0]} | {
        name for name in header[1:] if columns[name] and known.issuperset(columns[name])
    }
    secrets = [name for name in header if name not in {*id_columns, *TEXT_COLUMNS, *public_columns}]
    usage = columns.get(USAGE, ["test"] * len(row_ids))
    part_of = dict(zip(row_ids, usage))
    answers: dict[str, dict[str, list[int]]] = {name: defaultdict(list) for name in secrets}
    for id_column in id_columns:
        part_of |= dict(zip(columns[id_column], usage))
        for name in secrets:
            for item, value in zip(columns[id_column], columns[name]):
                answers[name][item].append(hash(value))
    for of_column in answers.values():
        for values in of_column.values():
            values.sort()
    lines = {hash(row) for row in zip(*cells)}
    item_column = next(name for name in reversed(header) if name in id_columns)
    uniform = {name for name in secrets if _is_uniform(columns[item_column], columns[name])}
    of_id: dict[str, dict[str, str | None]] = {name: {} for name in secrets}
    level = {}
    coarse_first = sorted(id_columns, key=lambda name: len(set(columns[name])))
    for name in secrets:
        for id_column in coarse_first:
            for item, value in zip(columns[id_column], columns[name]):
                of_id[name][item] = value if of_id[name].get(item, value) == value else None
            if name not in level and None not in map(of_id[name].get, columns[id_column]):
                level[name] = id_column
    return Truths(id_columns, secrets, part_of, answers, lines, uniform, of_id, level)


def _is_uniform(items: list[str], values: list[str]) -> bool:
    """Whether a column has the same values, several of them, in the same order for each of several items.

    >>> _is_uniform(["a", "a", "b", "b"], ["Lead", "Claim", "Lead", "Claim"])
    True
    >>> _is_uniform(["a", "a", "b", "b"], ["Lead", "Claim", "Claim", "Lead"])
    False
    """
    sequences: dict[str, list[str]] = defaultdict(list)
    for item, value in zip(items, values):
        sequences[item].append(value)
    first = next(iter(sequences.values()), [])
    return len(sequences) > 1 and len(first) > 1 and all(each == first for each in sequences.values())


def _files(folder: Path, name: str, unpacked: Path) -> Iterator[tuple[str, Path]]:
    """All files below a folder and in its archives, each with its name for messages."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        called = f"{name}/{path.relative_to(folder).as_posix()}"
        yield called, path
        if zipfile.is_zipfile(path) or _is_tape(path):
            inside = unpacked / str(len(list(unpacked.iterdir())))
            inside.mkdir()
            _unpack(called, path, inside)
            yield from _files(inside, called, unpacked)


def _is_tape(path: Path) -> bool:
    """Whether a file is a tar archive, packed or not."""
    try:
        return tarfile.is_tarfile(path)
    except (OSError, EOFError, zlib.error):  # the file is packed and damaged
        return False


def _unpack_tape(tape: tarfile.TarFile, folder: Path) -> None:
    """Write the files of a tar archive below a folder.

    Links are left out: a file in the archive to which a link leads is written itself.
    """
    for member in tape:
        target = (folder / member.name).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise tarfile.TarError(f"{member.name} outside of the archive")
        content = tape.extractfile(member) if member.isfile() else None
        if content is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                shutil.copyfileobj(content, file)


def _unpack(name: str, path: Path, folder: Path) -> None:
    """Unpack an archive into a folder; a HostError if that is impossible."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
        else:
            with tarfile.open(path) as tape:
                _unpack_tape(tape, folder)
    except (zipfile.BadZipFile, tarfile.TarError, RuntimeError, OSError, EOFError, zlib.error) as problem:
        raise HostError(f"{name}: expected an archive that can be unpacked, found {problem}") from None


def _is_table(path: Path) -> bool:
    """Whether a file can be read as a table."""
    if path.name.endswith((".csv", ".csv.gz", ".parquet")):
        return True
    rows = {".json": _json_rows, ".jsonl": _json_rows} | dict.fromkeys(DELIMITED, _delimited_rows)
    return path.suffix in rows and next(rows[path.suffix](path), None) is not None


def _json_rows(path: Path) -> Iterator[list[str]]:
    """The header and the rows of a file with a list of JSON objects; nothing for any other content."""
    try:
        text = path.read_text(encoding="utf-8")
        read = (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if path.suffix == ".jsonl"
            else None
        )
        objects = json.loads(text) if read is None else read
    except ValueError:
        return
    if isinstance(objects, list) and objects and all(isinstance(each, dict) for each in objects):
        names = list(dict.fromkeys(name for each in objects for name in each))
        yield names
        for each in objects:
            yield [_as_cell(each.get(name)) for name in names]


def _delimited_rows(path: Path) -> Iterator[list[str]]:
    """The rows of a text whose first line has tabs, semicolons, bars or commas; nothing for any other text."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    delimiter = max(DELIMITERS, key=(lines or [""])[0].count)
    if lines and delimiter in lines[0]:
        rows = list(csv.reader(lines, delimiter=delimiter))
        width = max(map(len, rows))
        yield from (row + [""] * (width - len(row)) for row in rows)


def _as_cell(value: Any) -> str:
    """A value of JSON as the text of a cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _digest(path: Path) -> int:
    """The hash of a file's content, which is unpacked first if it is packed by gzip."""
    content = read_bytes(path)
    if content.startswith(GZIP):
        with contextlib.suppress(OSError, EOFError, zlib.error):  # a damaged file is refused where it is read
            content = gzip.decompress(content)
    return hash(content)


def _check_file(name: str, path: Path, private: dict[int, str]) -> None:
    """Check that a file has neither the name nor the content of a private one."""
    if path.name.removesuffix(".gz") in (SOLUTION, PERFECT):
        raise HostError(f"{name} has the name of a private file: delete it or call it something else")
    same = private.get(_digest(path))
    if same is not None:
        raise HostError(f"{name} is a copy of {PRIVATE}/{same}: delete it")


def _check_lines(name: str, path: Path, truths: Truths) -> None:
    """Check that no line of a text, which is not a table, is a row of the solution."""
    _check_text_lines(name, read_bytes(path), truths)


def _check_text_lines(name: str, content: bytes, truths: Truths) -> None:
    """Check that no line of a text is a row of the solution; other contents than texts are passed over."""
    if b"\0" in content:
        return
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        cells = (next(csv.reader([line], delimiter=each), []) for each in DELIMITERS if each in line)
        if any(hash(tuple(cell.strip() for cell in row)) in truths.lines for row in cells):
            raise HostError(f"{name} has a row of {SOLUTION} in line {number:,}: take it out")


def _normalized(text: str) -> int:
    """The hash of a text, which does not depend on case and spaces."""
    return hash(" ".join(text.split()).casefold())


def _texts_of_the_test(tables: list[Table], solution: Path, truths: Truths) -> dict[int, str]:
    """The id of each text of the test set, by the text's hash."""
    texts: dict[int, str] = {}
    for table in [*tables, Table(SOLUTION, solution)]:
        rows = table.rows()
        header = next(rows)
        named = [number for number, name in enumerate(header) if name in TEXT_COLUMNS]
        ids = [number for number, name in enumerate(header) if name in truths.id_columns]
        for row in rows if named and ids else ():
            item = next((row[number] for number in ids if row[number] in truths.part_of), None)
            for number in named if item is not None else ():
                if row[number].strip():
                    _check_twins(
                        table, texts.setdefault(_normalized(row[number]), str(item)), str(item), truths
                    )
    return texts


def _check_twins(table: Table, first: str, second: str, truths: Truths) -> None:
    """Check that two ids with the same text are in the same part."""
    if truths.part_of[first] != truths.part_of[second]:
        raise HostError(
            f"{table.name}: the text of {second} ({truths.part_of[second]}) is that of {first} "
            f"({truths.part_of[first]}), too: expected equal texts in one part"
        )


def _check_table(table: Table | Paths, truths: Truths, texts: dict[int, str]) -> None:
    """Check that no column of a table reveals values of the solution or texts under another id."""
    rows = table.rows()
    header = next(rows)
    is_sample = table.name == f"{PUBLIC}/{SAMPLE}"
    named = [number for number, name in enumerate(header) if name in truths.id_columns]
    secret = [name for name in header if name in truths.secrets]
    told: list[dict[str, list[int]]] = [defaultdict(list) for _ in header]
    of_the_test: dict[str, list[Sequence[str]]] = {name: [] for name in truths.id_columns}
    seen: set[str] = set()
    for row in rows:
        item = _id_of(row, named, truths)
        for number, cell in enumerate(row):
            _check_text(table, header[number], cell, item, truths, texts)
        if item is None:
            continue
        if secret and not is_sample:
            raise HostError(
                f"{table.name} would reveal {', '.join(secret)} of {item}, which is in {SOLUTION}: take it out"
            )
        _keep_first(row, item, header, truths, seen, of_the_test)
        for number, cell in enumerate(row):
            told[number][item].append(hash(cell))
    for name, answers in zip(header, told):
        if name in truths.id_columns or name in TEXT_COLUMNS:
            continue
        for column in truths.secrets:
            if column not in truths.uniform and _are_answers(answers, truths.answers[column]):
                raise HostError(
                    f"{table.name}: the column {name} has the values of {column} in {SOLUTION} for the "
                    f"{len(answers):,} ids of the test set that are there: take it out"
                )
    for column, id_column in truths.level.items():
        if column not in truths.uniform:
            _check_disguises(table.name, header, of_the_test[id_column], column, truths)


def _keep_first(
    row: Sequence[str],
    item: str,
    header: Sequence[str],
    truths: Truths,
    seen: set[str],
    kept: dict[str, list[Sequence[str]]],
) -> None:
    """Keep the first row of each id, with the id in front; an id column may have another name in this table."""
    named = [(name, row[header.index(name)]) for name in truths.id_columns if name in header]
    for name, each in named or [(name, item) for name in truths.id_columns]:
        if each not in seen and each in truths.part_of and len(kept[name]) < MOST_ROWS:
            kept[name].append([each, *row])
    seen.update(each for _, each in named or [("", item)])


def _check_disguises(
    name: str, header: Sequence[str], rows: list[Sequence[str]], column: str, truths: Truths
) -> None:
    """Check that a table does not tell a column of the solution in another form; the id begins each row."""
    of_id = truths.of_id[column]
    rows = [row for row in rows if of_id.get(row[0]) is not None]
    secret = [str(of_id[row[0]]) for row in rows]
    if len(set(secret)) < 2:
        return
    columns = list(zip(*rows))
    ids, public = columns[0], columns[1:]
    for title, values in zip(header, public):
        if title in truths.id_columns or title in TEXT_COLUMNS or values == ids:
            continue
        if disguises.stands_for(values, secret) or disguises.ranks_like(values, secret):
            raise HostError(
                f"{name}: the column {title} tells {column} in {SOLUTION} for {len(secret):,} ids of the test "
                f"set, in another form: take it out, or list {column} as public_columns in {record.RECORD}"
            )
    for number, part in enumerate(disguises.parts_of_ids(ids), 1):
        if disguises.stands_for(part, secret):
            raise HostError(
                f"{name}: part {number} of the ids, such as {part[0]!r} in {ids[0]!r}, tells {column} in "
                f"{SOLUTION}: expected ids that tell nothing"
            )
    by_id = [value for _, value in sorted(zip(ids, secret), key=lambda pair: disguises.order_of_id(pair[0]))]
    for how, order in (("as they stand", secret), ("sorted by their ids", by_id)):
        if disguises.is_in_order(order):
            warnings.warn(
                f"{name}: the ids of the test set are, {how}, in the order of {column} in {SOLUTION}; if that "
                "tells too much, shuffle them and give them new ids",
                stacklevel=2,
            )
            break


def _hidden_columns(path: Path) -> dict[str, Any]:
    """The columns of a Parquet file that reading with pandas turns into an index without a name."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        names = [name for name in file.schema_arrow.names if name.startswith("__index_level_")]
        return {name: file.read(columns=[name]).column(name).to_pylist() for name in names}


def _check_metadata(name: str, path: Path, truths: Truths) -> None:
    """Check that what a Parquet file says beside its table names no ids of the test set and repeats no row."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
    pairs = [pair for each in (schema, *schema) for pair in (each.metadata or {}).items()]
    for key, content in pairs:
        if key in KNOWN_METADATA or key.startswith(b"PARQUET:"):
            continue
        called = f"{name} (metadata {key.decode(errors='replace')})"
        _check_text_lines(called, content, truths)
        words = set(WORDS.findall(content.decode(errors="replace")))
        named = [word for word in words if word in truths.part_of]
        if len(named) >= FEWEST_ANSWERS:
            raise HostError(
                f"{called} names {len(named):,} ids of the test set: write the table anew without it"
            )


def _id_of(row: Sequence[str], named: list[int], truths: Truths) -> str | None:
    """The id of the test set that a row names, also if the column has another name; None if it names none."""
    for number in named:
        if row[number] in truths.part_of:
            return row[number]
    return next((cell for cell in row if len(cell) >= SHORTEST_ID and cell in truths.part_of), None)


def _check_text(
    table: Table | Paths, column: str, cell: str, item: str | None, truths: Truths, texts: dict[int, str]
) -> None:
    """Check that a cell is not a text of the test set under another id."""
    if not texts or not cell.strip() or (len(cell) < SHORTEST_TEXT and column not in TEXT_COLUMNS):
        return
    owner = texts.get(_normalized(cell))
    if owner is not None and (item is None or truths.part_of[owner] != truths.part_of[item]):
        raise HostError(
            f"{table.name} has the text of {owner}, which is in {SOLUTION}, under another id: take it out"
        )


def _are_answers(told: dict[str, list[int]], answers: dict[str, list[int]]) -> bool:
    """Whether a column has the solution's values, in a number and variety that cannot be chance."""
    if len(told) < FEWEST_ANSWERS or len({value for values in told.values() for value in values}) < 2:
        return False
    return all(sorted(values) == answers.get(item) for item, values in told.items())
