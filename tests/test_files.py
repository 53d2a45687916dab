"""Tables are read alike with pyarrow and with pandas, and files are written completely or not at all."""

import base64
import csv
import gc
import gzip
import io
import os
import pickle
import re
import socket
import sys
import zipfile
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from podium import files, parquet_pages
from podium.errors import HostError, NotAFile, SubmissionRejected, UsageError
from podium.files import parse_json, parse_table, read_table, write_atomically, write_table

EXCEL = "; in Excel, save as CSV UTF-8"
PANDAS = "; write it with to_csv or to_parquet"
CSV = '''id,name,note,x,n,day,flag
0012,NA,"two
lines, ""quoted""",0.5,1,2024-01-23,True
13,null,nan,,2,2024-01-24,False
14,,"",1e-3,3,2024-01-25,True
'''


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def parquet_of(table: pa.Table, **options) -> bytes:
    """A table as the content of a Parquet file."""
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd", **options)
    return buffer.getvalue()


@pytest.fixture(params=["pyarrow", "pandas"])
def reader(request, monkeypatch):
    """Reads CSV with pyarrow, or with pandas as where pyarrow gives up."""
    if request.param == "pandas":  # as in the cases in which pyarrow gives up
        monkeypatch.setattr(files, "_read_with_pyarrow", lambda content, text_columns: None)
    return request.param


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_text_stays_text_and_numbers_become_numbers(reader, tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    path.write_bytes(gzip.compress(CSV.encode()) if suffix.endswith("gz") else CSV.encode())
    table = read_table(path, {"id", "no such column"}, HostError)
    assert table["id"].tolist() == ["0012", "13", "14"]
    assert table["name"].tolist()[:2] == ["NA", "null"]
    assert table["note"].tolist()[:2] == ['two\nlines, "quoted"', "nan"]
    assert table[["name", "note"]].iloc[2].isna().all()
    assert np.isnan(table["x"][1])
    assert table["x"].tolist()[::2] == [0.5, 0.001]
    assert table["n"].tolist() == [1, 2, 3]
    assert table["day"].tolist() == ["2024-01-23", "2024-01-24", "2024-01-25"]
    assert table["flag"].tolist() == [True, False, True]
    assert list(table.index) == [0, 1, 2]


def test_windows_files(reader, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfid,x\r\n007,1\r\n8,2\r\n")
    table = read_table(path, {"id"}, HostError)
    assert table.to_dict("list") == {"id": ["007", "8"], "x": [1, 2]}


def test_names_and_rows_only(reader, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,x\n")
    table = read_table(path, {"id"}, HostError)
    assert (list(table.columns), len(table)) == (["id", "x"], 0)


def test_repeated_names_are_numbered(reader, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,id\n1,2\n")
    assert list(read_table(path, {"id"}, HostError).columns) == ["id", "id.1"]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2,3\n", b'a,b\n"1', b"a\n\xff\n", b"a,\xff\n1,2\n"])
def test_no_table(reader, tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(HostError, match=r"table\.csv is not"):
        read_table(path, set(), HostError)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'a,b\n1,2\n3,"4\n', "a quotation mark is never closed; was it downloaded whole?"),
        (b"a,b\n1,2\n3,4,5\n", "Expected 2 fields in line 3, saw 3"),
    ],
)
def test_damaged_tables_are_told_without_words_of_the_parser(reader, tmp_path, content, problem):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(HostError, match=re.escape(f"table.csv is not a CSV table: {problem}") + "$"):
        read_table(path, set(), HostError)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            b"a;b\n0,5;1\n",
            "commas between the columns, found semicolons; read it with "
            "pandas.read_csv(…, sep=';', decimal=',') and write it with to_csv",
        ),
        (
            b"a;b\n0.5;1\n",
            "commas between the columns, found semicolons; read it with pandas.read_csv(…, sep=';')"
            " and write it with to_csv",
        ),
        (
            b"a\tb\n0,5\t1\n",
            r"commas between the columns, found tabs; read it with pandas.read_csv(…, sep='\t', decimal=',')"
            " and write it with to_csv",
        ),
        ("a,b\n1,2\n".encode("utf-16"), "a CSV table, found UTF-16" + EXCEL),
        (
            zipped({"[Content_Types].xml": b"", "xl/workbook.xml": b""}),
            f"a CSV table, found an Excel workbook{EXCEL}",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"a CSV table, found an Excel workbook{EXCEL}"),
        (pickle.dumps({"id": [1]}), f"a CSV table, found a pickle{PANDAS}"),
        (b'[{"id": 1, "x": 2}]\n', f"a CSV table, found JSON{PANDAS}"),
        (b'{"id": 1}\n{"id": 2}\n', f"a CSV table, found JSON{PANDAS}"),
        (b"<!DOCTYPE html>\n<html></html>", "a CSV table, found a page in HTML; was it downloaded whole?"),
        (b"\xfd7zXZ\0", "a CSV table, found a file packed by xz; pack it with gzip"),
        ("a,b\n1,2\n".encode("utf-16-le"), f"a CSV table, found null bytes, as in UTF-16{EXCEL}"),
        (
            gzip.compress(gzip.compress(b"a,b\n", mtime=0), mtime=0),
            "a CSV table, found a file packed twice; pack it once",
        ),
    ],
)
def test_other_forms_are_named(reader, tmp_path, content, problem):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(HostError, match=re.escape(f"table.csv: expected {problem}") + "$"):
        read_table(path, set(), HostError)


def test_no_file(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        read_table(tmp_path / "none.csv", set(), HostError)


def test_writing_is_all_or_nothing(tmp_path):
    path = tmp_path / "new folder" / "file.txt"
    write_atomically(path, lambda part: part.write_text("first"))

    def fail(part):
        part.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomically(path, fail)
    assert path.read_text() == "first"
    assert [file.name for file in path.parent.iterdir()] == ["file.txt"]


@pytest.fixture(params=["gz", "zip"])
def packed(request):
    """One way to pack a table."""
    return gzip.compress if request.param == "gz" else lambda content: zipped({"table.csv": content})


def test_a_bomb_is_not_expanded(packed, monkeypatch):
    monkeypatch.setattr(files, "BYTES_AT_ANY_RATIO", 2**20)
    bomb = packed(b"a,b\n" + b"0" * 2**24)
    with pytest.raises(HostError, match="bomb: expected at most 1 MB once expanded, found more"):
        parse_table(bomb, "bomb", set(), HostError)


def test_a_small_file_may_expand_and_a_limit_of_the_caller_holds(packed):
    content = b"a,b\n" + b"0,0\n" * 2**18
    assert len(parse_table(packed(content), "table", set(), HostError)) == 2**18
    for given in (packed(content), content):
        with pytest.raises(HostError, match="table: expected at most 1 MB"):
            parse_table(given, "table", set(), HostError, most_bytes=len(content) - 1)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b",".join(b"%d" % number for number in range(5_001)) + b"\n", "at most 5,000 columns, found 5,001"),
        (b"a," * 500_000 + b"a\n", "at most 5,000 columns, found 5,001 or more"),
        # The first line is short, the first row is not.
        (b'"x\n"' + b",a" * 500_000 + b"\n", "at most 5,000 columns, found 5,001 or more"),
        (b"a" * 2_000_000 + b",b\n", "is not a CSV table: its header has more than 1 MB"),
        # The next row takes pandas minutes, because it makes an index of as many levels.
        (b"a,b\n" + b'"",' * 500_000, "its rows have more fields than its header"),
        (b'\xef\xbb\xbfa,"b\nc"\r\n \r\n\r\n' + b"," * 500_000, "its rows have more fields than its header"),
        # A quotation mark within a cell opens nothing.
        (b'a,b\nx"' + b",1" * 500_000 + b'"\n', "its rows have more fields than its header"),
        (b'a,b\n"x""y"z' + b",1" * 500_000, "its rows have more fields than its header"),
    ],
    ids=[
        "header",
        "long header",
        "header of two lines",
        "long name",
        "row",
        "row after empty lines",
        "quote",
        "quotes",
    ],
)
def test_columns_are_counted_before_any_is_made(monkeypatch, content, expected):
    monkeypatch.setattr(files, "_read_with_pyarrow", lambda *_: pytest.fail("a table was made"))
    monkeypatch.setattr(files, "_read_with_pandas", lambda *_: pytest.fail("a table was made"))
    limit = csv.field_size_limit(131_072)
    try:
        with pytest.raises(SubmissionRejected, match=expected):
            parse_table(content, "table", set(), SubmissionRejected)
    finally:
        csv.field_size_limit(limit)


@pytest.mark.parametrize("content", [b'a,b\n"x,y",2\n', b'a,b\n"x""y,",2\n', b'"a,b",c\n\n1,"2\n,3"\n'])
def test_commas_in_quotes_are_no_cells(reader, content):
    assert parse_table(content, "table", set(), HostError).shape == (1, 2)


def test_a_file_of_one_line_is_read_in_time():
    assert parse_table(b"a,b\n1," + b"x" * 2**25, "table", set(), HostError).shape == (1, 2)


LONG = "x" * 100_000


@pytest.mark.parametrize(
    ("table", "options", "expected"),
    [
        # In each of these, a few hundred bytes expand to gigabytes.
        (lambda: {"row_id": [LONG] * 2_000}, {}, "at most 64 MB once expanded, found 190 MB"),
        (lambda: {"row_id": [[LONG, LONG]] * 1_000}, {}, "at most 64 MB once expanded, found 190 MB"),
        (
            lambda: {"row_id": [LONG] * 2_000},
            {"use_dictionary": False, "column_encoding": {"row_id": "DELTA_BYTE_ARRAY"}},
            "row_id in DELTA_BYTE_ARRAY, of which nothing tells how large it becomes",
        ),
        (
            lambda: {"x": np.zeros(10_000_000)},
            {},
            "at most 64 MB once expanded, found 76 MB in 10,000,000 rows",
        ),
        (
            lambda: {"x": pa.nulls(10_000_000)},
            {},
            "at most 64 MB once expanded, found 76 MB in 10,000,000 rows",
        ),
        (lambda: {"x": [[0] * 10_000_000]}, {}, "at most 64 MB once expanded, found 76 MB in 1 rows"),
        (lambda: {f"{number}": [0] for number in range(5_001)}, {}, "at most 5,000 columns, found 5,001"),
    ],
    ids=["dictionary", "lists of a dictionary", "beginnings", "zeros", "nulls", "one list", "columns"],
)
def test_parquet_is_weighed_before_it_becomes_a_frame(table, options, expected):
    content = parquet_of(pa.table(table()), **options)
    assert len(content) < 2_000_000
    with pytest.raises(SubmissionRejected, match=expected):
        parse_table(content, "x.parquet", {"row_id"}, SubmissionRejected)


@pytest.mark.parametrize(
    ("table", "options", "truth", "lie", "expected"),
    [
        # The encodings of the column: the dictionary becomes plain.
        ({"row_id": [LONG] * 2_000}, {}, b"\x35\x00\x06\x10", b"\x35\x00\x06\x00", "found 190 MB"),
        (
            {"row_id": [LONG] * 2_000},
            {"use_dictionary": False, "column_encoding": {"row_id": "DELTA_BYTE_ARRAY"}},
            b"\x25\x06\x0e",
            b"\x25\x06\x00",
            "row_id in DELTA_BYTE_ARRAY",
        ),
        # The expanded size of the column.
        ({"row_id": [LONG] * 2_000}, {"use_dictionary": False}, None, None, "found 190 MB"),
    ],
    ids=["dictionary", "beginnings", "size"],
)
def test_a_parquet_footer_that_lies_is_found_out(table, options, truth, lie, expected):
    content = parquet_of(pa.table(table), **options)
    if truth is None:
        [column] = [parquet.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)]
        number, truth = column.total_uncompressed_size * 2, b""
        while number:
            truth += bytes([number & 127 | 128])
            number >>= 7
        truth = truth[:-1] + bytes([truth[-1] & 127])
        lie = b"\x84" + b"\x80" * (len(truth) - 2) + b"\x00"
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert content.count(truth, footer) >= 1
    content = content[:footer] + content[footer:].replace(truth, lie)
    with pytest.raises(SubmissionRejected, match=expected):
        parse_table(content, "x.parquet", {"row_id"}, SubmissionRejected)


# pyarrow ends the process when it is asked for the column in this file's footer, which contradicts itself.
CONTRADICTION = (
    "UEFSMRUAFRYVFiwVAhUAFQYVBhw2ACgBeBgBeBERAAAAAgAAAAIBAQAAAHgVBBksNQAYBnNjaGVtYRUCABUMJAIYAWElAEwc"
    "AAAAFgIZHBkcJgAcFQwZJQYAGRgBYRUAFgIWUBZQJgg8NgAoAXgYAXgREQAZHBUAFQAVAgA8FgIZBhkmAAIAAAAWUBYCJggW"
    "UAAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAjgAAAFBBUjE="
)


def test_a_parquet_footer_that_contradicts_itself_does_not_end_the_process():
    with pytest.raises(SubmissionRejected, match=r"x\.parquet is not a Parquet table: "):
        parse_table(base64.b64decode(CONTRADICTION), "x.parquet", set(), SubmissionRejected)


@pytest.mark.parametrize(
    ("footer", "expected"),
    [
        (b"\x18\x7f", "its footer or a header is cut off"),
        (b"\x1c" * 50, "nested too deeply"),
        (b"\x19\xf8" + b"\xff" * 20, "a number that is too long"),
        (b"\x19\xf5\xff\xff\xff\x7f" + bytes(3_000), "more than 1,000 values"),
        (b"\x1e", "the unknown kind 14"),
        (b"\x1b\x02\x55\x00\x00\x02\x02\x17" + bytes(8) + b"\x11\x23\x07\x00", ""),
        # A column that begins before the file, and a page with a negative size.
        (b"\x49\x1c\x19\x1c\x3c\x56\x02\x46\x01\x00\x00\x00\x00", "begins before the file"),
        (b"\x49\x1c\x19\x1c\x3c\x56\x02\x26\xf0\x01\x26\x08\x00\x00\x00\x00", "a negative size"),
    ],
    ids=["cut off", "deep", "long number", "many values", "unknown", "all kinds", "before", "negative"],
)
def test_footers_are_read_with_care(monkeypatch, footer, expected):
    monkeypatch.setattr(parquet_pages, "MOST_PARTS", 1_000)
    content = b"PAR1\x15\x00\x15\x03\x00" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    if not expected:
        assert parquet_pages.chunks_of(content) == (0, [])
        return
    with pytest.raises(ValueError, match=expected):
        parquet_pages.chunks_of(content)


def test_pages_of_all_kinds_are_counted():
    table = pa.table({"a": ["x", "y"] * 5_000, "b": [[1, 2]] * 10_000, "c": [None] * 9_999 + [0.5]})
    for version in ("1.0", "2.0"):
        content = parquet_of(table, data_page_version=version, data_page_size=1_000, row_group_size=6_000)
        rows, groups = parquet_pages.chunks_of(content)
        about = parquet.ParquetFile(io.BytesIO(content)).metadata
        assert (rows, len(groups)) == (10_000, 2)
        for number, group in enumerate(groups):
            for place, chunk in enumerate(group):
                column = about.row_group(number).column(place)
                assert chunk.values == column.num_values
                # The stated size contains the headers of the pages as well.
                assert chunk.size == column.total_uncompressed_size


def test_parquet_that_is_nested_deeply():
    kind = pa.int8()
    for _ in range(1_000):
        kind = pa.list_(kind)
    content = parquet_of(pa.table({"x": pa.array([None], kind)}), store_schema=False)
    with pytest.raises(SubmissionRejected, match=r"is not a Parquet table: .*nested"):
        parse_table(content, "x.parquet", set(), SubmissionRejected)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[[]," * 2_000_000])
def test_json_is_bounded(monkeypatch, text):
    monkeypatch.setattr(files, "MOST_VALUES", 3_000_000)
    with pytest.raises(ValueError, match=r"nested too deeply|more than 3,000,000 values"):
        parse_json(text)


def test_half_of_a_character_in_json_is_refused():
    assert parse_json(r'"\ud83c\udf89"') == "\U0001f389"
    for text in (r'"\ud800"', r'{"\uDFFF": 1}', r'["\udf89\ud83c"]'):
        with pytest.raises(ValueError, match="half of a character"):
            parse_json(text)


def test_the_collector_runs_again_after_a_fault():
    with pytest.raises(ValueError, match="nested"):
        parse_json("[" * 100_000)
    assert gc.isenabled()


# ---- What strangers put where a file should be ----------------------------------------------------------


@pytest.fixture
def odd(tmp_path):
    """A path for each kind of thing that is not a regular file."""
    (tmp_path / "a folder").mkdir()
    os.mkfifo(tmp_path / "a pipe")
    with socket.socket(socket.AF_UNIX) as server:
        folder = os.open(tmp_path, os.O_RDONLY)  # the whole path may be too long
        server.bind(f"/proc/self/fd/{folder}/a socket")
        os.close(folder)
    (tmp_path / "there").write_text("id\n1\n")
    (tmp_path / "a link").symlink_to(tmp_path / "there")
    (tmp_path / "a circle").symlink_to(tmp_path / "a circle")
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="names of sockets")
@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a socket", "a device", "a link"])
def test_only_regular_files_are_opened(odd, kind):
    path = "/dev/zero" if kind == "a device" else odd / kind
    with pytest.raises(NotAFile, match=f"cannot read .*: expected a regular file, found {kind}$") as caught:
        files.read_bytes(path, follow_links=False)
    assert caught.value.kind == kind


@pytest.mark.skipif(sys.platform != "linux", reason="names of sockets")
def test_links_of_ones_own_are_followed(odd):
    assert files.read_bytes(odd / "a link") == b"id\n1\n"
    with pytest.raises(UsageError, match="Too many levels of symbolic links"):
        files.read_bytes(odd / "a circle")


def test_a_file_that_becomes_a_pipe_is_not_waited_for(tmp_path, monkeypatch):
    """The file is replaced by a pipe after podium has looked at it and before podium opens it."""
    path = tmp_path / "file"
    path.touch()
    real = os.open

    def exchange(*arguments):
        path.unlink()
        os.mkfifo(path)
        return real(*arguments)

    monkeypatch.setattr(os, "open", exchange)
    with pytest.raises(NotAFile, match="found a pipe"):
        files.read_bytes(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "sparse.csv"
    with path.open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)
    with pytest.raises(UsageError, match="expected at most 2,048 MB, found more"):
        files.read_bytes(path)


# ---- Habits of participants -----------------------------------------------------------------------------


def test_a_zip_with_one_table_is_read():
    for inside, content in (
        ("a/b.csv", b"id,x\n007,1\n"),
        ("b.parquet", parquet_of(pa.table({"id": ["007"], "x": [1]}))),
    ):
        archive = zipped({inside: content, "__MACOSX/a/._b.csv": b"\0"})
        frame = parse_table(archive, "b.zip", {"id"}, HostError)
        assert frame.to_dict("list") == {"id": ["007"], "x": [1]}


def test_a_zip_with_the_longest_comment_is_read():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("table.csv", "a,b\n1,2\n")
        archive.comment = b"x" * (2**16 - 1)
    assert parse_table(packed.getvalue(), "t.zip", (), HostError).values.tolist() == [[1, 2]]


@pytest.mark.parametrize("path", ["memory://table.csv", "-", "table.csv"])
def test_no_more_than_the_limit_is_read(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "MOST_BYTES", 10)

    def read(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        Path("table.csv").write_bytes(content)
        fsspec.filesystem("memory").pipe("/table.csv", content)
        return files.read_bytes(path)

    assert read(b"0123456789") == b"0123456789"
    with pytest.raises(UsageError, match=f"cannot read {path}: expected at most 1 MB, found more"):
        read(b"0123456789x")


def test_the_values_of_a_json_are_counted_before_they_are_built(monkeypatch):
    monkeypatch.setattr(files, "MOST_VALUES", 4)
    assert parse_json('{"a": [1, 2]}') == {"a": [1, 2]}
    for text in ("[[], [], []]", b"[1, 2, 3, 4, 5]"):
        with pytest.raises(ValueError, match="it has more than 4 values"):
            parse_json(text)


def test_an_index_beside_one_column_is_left_out():
    assert list(parse_table(b",a\n0,x\n1,y\n", "t.csv", (), HostError)) == ["a"]


def test_values_of_no_text_are_written_as_texts(tmp_path):
    table = pd.DataFrame({"seen": pd.Series([True, None, False], dtype=object)})
    write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "seen\nTrue\n\nFalse\n"


def test_a_table_without_a_name_in_a_zip_is_read():
    archive = zipped({"n": b"id,x\n1,2\n"}).replace(b"n", b"\0")
    assert parse_table(archive, "b.zip", set(), HostError).shape == (1, 2)


@pytest.mark.parametrize(
    ("archive", "expected"),
    [
        (zipped({"a.csv": b"", "b\x1b.csv": b""}), r"one table, found 2 files: a.csv, b\\x1b.csv$"),
        (zipped({}), "one table, found 0 files: none"),
        (zipped({"._a": b""}), "one table, found 0 files: none"),
        (zipped({"a.csv": b"x"})[:-8], "a whole zip file, found a"),
        (zipped({"a.csv": b"x"})[:30], "found a zip without its end"),
        (zipped({f"{number}": b"" for number in range(2_000)}), "found too many files in it"),
    ],
    # Zips hold the time at which they are made, so names from their bytes differ between the workers.
    ids=[
        "two tables",
        "nothing",
        "only hidden files",
        "cut near its end",
        "cut near its start",
        "many files",
    ],
)
def test_other_zips_are_refused(archive, expected):
    with pytest.raises(HostError, match=expected):
        parse_table(archive, "b.zip", set(), HostError)


def test_what_the_file_holds_decides_not_its_name():
    content = parquet_of(pa.table({"id": [1]}))
    assert parse_table(content, "x.csv", set(), HostError)["id"].tolist() == [1]
    with pytest.raises(HostError, match=r"x\.parquet is not a Parquet table"):
        parse_table(b"id\n1\n", "x.parquet", set(), HostError)


def test_lists_of_positions_are_read():
    lists = {"whole": [[3, 4], []], "floats": [[3.0, 4.0], None], "others": [[0.5], None]}
    frame = parse_table(parquet_of(pa.table(lists)), "x", set(lists), HostError)
    assert frame["whole"].tolist() == ["3 4", ""]
    assert frame["floats"].tolist()[0] == "3 4"
    assert frame["floats"].isna().tolist() == [False, True]
    assert frame["others"][0].tolist() == [0.5]


@pytest.mark.parametrize("index", [pd.Index(["a", "b"], name="row_id"), pd.RangeIndex(5, 7, name="row_id")])
def test_ids_in_the_index_of_parquet_are_a_column(index):
    buffer = io.BytesIO()
    pd.DataFrame({"x": [1, 2]}, index=index).to_parquet(buffer)
    frame = parse_table(buffer.getvalue(), "x", {"row_id"}, HostError)
    assert frame.to_dict("list") == {"row_id": list(index), "x": [1, 2]}
    assert list(frame.index) == [0, 1]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_index_that_pandas_wrote_without_a_name_is_no_column(reader, form):
    frame, buffer = pd.DataFrame({"id": [7, 8], "x": [1, 2]}), io.BytesIO()
    frame.to_csv(buffer) if form == "csv" else frame.set_axis([3, 1]).to_parquet(buffer)
    assert parse_table(buffer.getvalue(), "x", set(), HostError).equals(frame)
    ids = parse_table(b",x\n7,1\n9,2\n", "x", set(), HostError)
    assert ids.iloc[:, 0].tolist() == [7, 9]  # not 0, 1, …, so it may be needed


def test_categories_stay(tmp_path):
    frame = pd.DataFrame({"id": pd.Categorical(["b", "a", "b"])})
    frame.to_parquet(tmp_path / "x.parquet")
    assert read_table(tmp_path / "x.parquet", set(), HostError)["id"].tolist() == ["b", "a", "b"]


# ---- Line ends in values, larger than a block of pyarrow --------------------------------------------------


def test_line_ends_in_values_are_read_across_blocks():
    """The values are longer than a block of pyarrow, so that a block ends within one of them, wherever the
    first block starts.
    """
    rows = 400_000
    frame = parse_table(b"text\n" + b'"1\n2\n3"\n' * rows, "x", {"text"}, HostError)
    assert len(frame) == rows
    assert (frame["text"] == "1\n2\n3").all()


def test_text_beyond_ascii_that_is_not_utf8_is_found_without_a_quote():
    with pytest.raises(HostError, match="is not UTF-8 text"):
        parse_table(b"id,x\nab\xff,1\n", "x", {"id"}, HostError)


# ---- Writing ---------------------------------------------------------------------------------------------


def test_a_name_that_is_no_table_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"x\.xlsx: expected a name that ends in \.csv, \.csv\.gz, \.parquet"):
        write_table(pd.DataFrame({"x": [1]}), tmp_path / "x.xlsx")


def test_texts_that_a_spreadsheet_would_execute(tmp_path):
    texts = ["=1+1", "+1", "-1.5e3", "-", "@x", "-x", "\tx", "a=b", None]
    frame = pd.DataFrame({"text": texts, "number": -1.5})
    write_table(frame, tmp_path / "x.csv")
    back = pd.read_csv(tmp_path / "x.csv")
    assert back["text"].tolist()[:-1] == ["'=1+1", "+1", "-1.5e3", "-", "'@x", "'-x", "'\tx", "a=b"]
    assert back["number"].tolist() == [-1.5] * 9
    write_table(frame, tmp_path / "x.parquet")
    assert pd.read_parquet(tmp_path / "x.parquet").equals(frame)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_csv_reads_back_the_same(tmp_path, suffix):
    frame = pd.DataFrame(
        {
            "text": ["a,b", 'say "x"', None],
            "float": [1.0, 0.1 + 0.2, 1e-300],
            "small": [-2.1814342504366257e-08, np.nan, 1e22],
            "int": [1, -2, 2**62],
            "maybe": pd.array([1, None, 3], dtype="Int64"),
            "mixed": [1, "x", None],
            "flag": [True, False, True],
            'odd "name", ': ["line\nend", "ä", " "],
        }
    )
    path = tmp_path / f"x{suffix}"
    write_table(frame, path)
    first = path.read_bytes()
    back = read_table(path, {"text", "mixed", 'odd "name", '}, HostError)
    assert list(back) == list(frame)
    for name in ("float", "small", "int", "flag"):
        assert np.array_equal(back[name], frame[name], equal_nan=name == "small"), name
    assert (
        back.astype(object)
        .where(back.notna(), None)[["text", 'odd "name", ']]
        .equals(frame.astype(object).where(frame.notna(), None)[["text", 'odd "name", ']])
    )
    assert back["mixed"].tolist()[:2] == ["1", "x"]
    assert back["maybe"].tolist()[::2] == [1.0, 3.0]
    write_table(frame, path)
    assert path.read_bytes() == first


def test_texts_that_need_no_quotes_have_none(tmp_path):
    write_table(pd.DataFrame({"a": ["x", None], "b": [1.0, 0.5], "c": [True, None]}), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == b"a,b,c\nx,1,True\n,0.5,\n"


@pytest.mark.parametrize(("last", "expected"), [("+7", 7), ("7 8", "7 8")])
def test_a_column_becomes_numbers_only_if_its_last_cell_is_one_too(last, expected):
    content = "a\n" + "3.0\n" * 1000 + last + "\n"
    column = parse_table(content.encode(), "table", {"a"}, SubmissionRejected, number_columns={"a"})["a"]
    assert column.tolist() == [3 if expected == 7 else "3.0"] * 1000 + [expected]
