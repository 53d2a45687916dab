"""What a Parquet file holds, told before any of its pages is expanded.

The footer of a stranger's file may lie about sizes and encodings.  The headers of the pages cannot: libraries
expand each page by its own header.  So podium reads the footer and all headers itself.  It asks no library for
the footer's details, because pyarrow ends the process when some of them contradict each other.

Source: the file ``parquet.thrift`` of the Parquet format, and the compact protocol of Apache Thrift.
"""

from typing import Any, NamedTuple

__all__ = ["Chunk", "chunks_of"]

MOST_PARTS = 5_000_000  # values in the footer and in all headers; each takes about a microsecond to read
MOST_DEPTH = 20

# The kinds of values in the compact protocol.
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3
# For each type of page: the field with its own header, and the fields with its values and its encoding there.
HEADERS = {DATA_PAGE: (5, 1, 2), DICTIONARY_PAGE: (7, 1, 2), DATA_PAGE_V2: (8, 1, 4)}
TAIL = 8  # bytes at the end of a file: the size of the footer, and the letters PAR1


class Chunk(NamedTuple):
    """A column in one group of rows.

    Attributes
    ----------
    values : int
        The number of its values, missing ones included.
    size : int
        The bytes of its pages once they are expanded.
    encodings : set of int
        The encodings of its pages, numbered as in ``parquet.thrift``.
    """

    values: int
    size: int
    encodings: set[int]


def chunks_of(content: bytes) -> tuple[int, list[list[Chunk]]]:
    """Read the footer and the headers of all pages of a Parquet file.

    Parameters
    ----------
    content : bytes
        The content of the file.

    Returns
    -------
    rows : int
        The number of rows.
    chunks : list of list of Chunk
        The columns of each group of rows.

    Raises
    ------
    ValueError
        The footer or a header cannot be read, or there are more than `MOST_PARTS` values in them.
    """
    end = len(content) - TAIL
    start = end - int.from_bytes(content[end : end + 4], "little")
    if start < 0:
        raise ValueError("its footer begins before the file does")
    reader = _Reader(content, start)
    footer = reader.struct()
    groups = footer.get((4, LIST), [])
    rows = sum(max(group.get((3, I64), 0), 0) for group in groups)
    return max(rows, footer.get((3, I64), 0)), [
        [_chunk(reader, column.get((3, STRUCT), {})) for column in group.get((1, LIST), [])] for group in groups
    ]


def _chunk(reader: "_Reader", about: dict[tuple[int, int], Any]) -> Chunk:
    """Sum up the pages of a chunk, as far as a library reads them."""
    stated, begin = about.get((5, I64), 0), about.get((9, I64), 0)
    if 0 < (dictionary := about.get((11, I64), 0)) < begin:
        begin = dictionary
    if begin < 0:
        raise ValueError("a column begins before the file does")
    end = begin + about.get((7, I64), 0)
    values, size, encodings = 0, 0, {each for each in about.get((2, LIST), []) if isinstance(each, int)}
    reader.position = begin
    while values < stated and reader.position < end:
        header = reader.struct()
        kind, expanded, packed = (header.get((field, I32), 0) for field in (1, 2, 3))
        if expanded < 0 or packed < 0:
            raise ValueError("a page has a negative size")
        reader.position += packed
        size += expanded
        if kind in HEADERS:
            field, number, encoding = HEADERS[kind]
            own = header.get((field, STRUCT), {})
            encodings.add(own.get((encoding, I32), 0))
            values += max(own.get((number, I32), 0), 0) if kind != DICTIONARY_PAGE else 0
    return Chunk(max(values, stated), max(size, about.get((6, I64), 0)), encodings)


class _Reader:
    """Reads values of the compact protocol, one after the other.

    Attributes
    ----------
    content : bytes
        The content of the file.
    position : int
        Where the next value begins.
    left : int
        How many values may still be read.
    """

    def __init__(self, content: bytes, position: int) -> None:
        self.content, self.position, self.left = content, position, MOST_PARTS

    def struct(self, depth: int = 0) -> dict[tuple[int, int], Any]:
        """Read a struct: its values by the number and the kind of each field.

        Libraries ignore a field of another kind than they expect, so the kind belongs to the name.
        """
        values, field = {}, 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            values[field, kind] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth + 1)
        return values

    def _value(self, kind: int, depth: int) -> Any:
        """Read a value of this kind; texts and numbers with a fraction are skipped."""
        self.left -= 1
        if self.left < 0:
            raise ValueError(f"its footer and headers have more than {MOST_PARTS:,} values")
        if depth > MOST_DEPTH:
            raise ValueError("its footer is nested too deeply")
        if kind in (I16, I32, I64):
            return self._integer()
        if kind == BINARY:
            return self._skip(self._number())
        if kind == STRUCT:
            return self.struct(depth)
        if kind in (LIST, SET):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._number()
            return [self._value(head & 15, depth + 1) for _ in range(size)]
        if kind == MAP:
            size = self._number()
            kinds = self._byte() if size else 0
            for _ in range(size):
                self._value(kinds >> 4, depth + 1)
                self._value(kinds & 15, depth + 1)
            return None
        if kind in (TRUE, FALSE, BYTE, DOUBLE):  # in a list, a truth value takes a byte
            return self._skip(8 if kind == DOUBLE else 1)
        raise ValueError(f"its footer has a value of the unknown kind {kind}")

    def _integer(self) -> int:
        """Read a number with a sign."""
        number = self._number()
        return (number >> 1) ^ -(number & 1)

    def _number(self) -> int:
        """Read a number without a sign, of at most 10 bytes."""
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise ValueError("its footer has a number that is too long")

    def _byte(self) -> int:
        """Read a byte."""
        if not 0 <= self.position < len(self.content):
            raise ValueError("its footer or a header is cut off")
        self.position += 1
        return self.content[self.position - 1]

    def _skip(self, number: int) -> None:
        """Pass over some bytes."""
        self.position += number
