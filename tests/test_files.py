"""Tables are read alike with pyarrow and with pandas, and files are written completely or not at all."""

import base64
import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import socket
import stat
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from podium.common.errors import HostError, NotAFile, SubmissionRejected, UsageError
from podium.contest import reading
from podium.metric import hosted
from podium.ranking import submissions
from podium.tables import files, formats
from podium.tables.files import parse_json, write_atomically
from podium.tables.formats import parse_table, read_table, read_texts, write_table
from tests.support.examples import some

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
        monkeypatch.setattr(formats, "_read_with_pyarrow", lambda content, text_columns: None)
    return request.param


@pytest.mark.parametrize("content", [CSV.encode(), gzip.compress(CSV.encode(), mtime=0)], ids=["csv", "gz"])
def test_text_stays_text_and_numbers_become_numbers(reader, content):
    table = parse_table(content, "table", {"id", "no such column"}, HostError)
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


def test_windows_files(reader):
    table = parse_table(b"\xef\xbb\xbfid,x\r\n007,1\r\n8,2\r\n", "table.csv", {"id"}, HostError)
    assert table.to_dict("list") == {"id": ["007", "8"], "x": [1, 2]}


def test_repeated_names_are_numbered(reader):
    assert list(parse_table(b"id,id\n1,2\n", "table.csv", {"id"}, HostError)) == ["id", "id.1"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", ""),
        (b'a,b\n1,2\n3,"4\n', r"the row that begins in line 3 seems to have a quotation mark"),
        (b'a,b\n"1",2\n3,"4\n', "a quotation mark that is never closed"),  # with three of them
        (b"a,b\n1,2\n3,4,5\n", "expected 2 fields in line 3, as in the header, found 3$"),
    ],
)
def test_damaged_tables(reader, content, problem):
    with pytest.raises(HostError, match=r"^table\.csv is not .*" + problem):
        parse_table(content, "table.csv", set(), HostError)


@pytest.mark.parametrize(
    "read",
    [formats.parse_rows, formats.parse_texts, lambda content, *of: parse_table(content, of[0], {"b"}, of[1])],
)
@pytest.mark.parametrize(
    ("content", "where"),
    [(b"a,\xe9\n1,2\n", "0xe9 in line 1"), (b"a,b\n1,2\n" * 9999 + b"x,d\xe9j\xe0\n", "0xe9 in line 19,999")],
)
def test_a_text_in_another_encoding_is_told_with_its_line(reader, read, content, where):
    """Decoders count bytes from wherever their piece of the file begins."""
    message = rf"^table\.csv: expected UTF-8 text, found the byte {where}; in Excel, save as CSV UTF-8$"
    with pytest.raises(HostError, match=message):
        list(read(content, "table.csv", HostError))


def test_where_memory_ends_no_table_is_called_damaged(monkeypatch):
    """pandas says that memory is not enough by the class with which it says that a table is damaged."""

    def fail(*_, **__):
        raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")

    monkeypatch.setattr(formats, "_read_with_pyarrow", lambda content, text_columns: None)
    monkeypatch.setattr(pd, "read_csv", fail)
    with pytest.raises(MemoryError):
        parse_table(b'a,b\n1,"2"\n', "table.csv", set(), HostError)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"a;b\n0,5;1\n", "semicolons; read it with pandas.read_csv(…, sep=';', decimal=',') and write it"),
        (b"a|b\n0.5|1\n", "pipes; read it with pandas.read_csv(…, sep='|') and write it with to_csv"),
        (b"a;b\n0.5;1\n", "semicolons; read it with pandas.read_csv(…, sep=';') and write it with to_csv"),
        (b"a\tb\n5\t1\n", r"tabs; read it with pandas.read_csv(…, sep='\t') and write it with to_csv"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16; in Excel, save as CSV UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-le"), "null bytes, as in UTF-16; in Excel, save as CSV UTF-8"),
        (pickle.dumps([1, 2]), "a pickle, a packed file or another form of bytes; write it with to_csv"),
        (lzma.compress(b"a,b\n1,2\n"), "a pickle, a packed file or another form of bytes; write it with"),
        (bz2.compress(b"a,b\n1,2\n"), "a pickle, a packed file or another form of bytes; write it with"),
        (zipped({"xl/workbook.xml": b""}), "an Excel workbook; in Excel, save as CSV UTF-8"),
        (b'[{"id": 1, "x": 2}]\n', "JSON; write it with to_csv or to_parquet"),
        (b"sep=,\na,b\n1,2\n", "sep=, which Excel alone reads; delete that line"),
        (b"\xef\xbb\xbfsep=;\na;b\n", "sep=, which Excel alone reads; delete that line"),
        (b"<!DOCTYPE html>\n<html></html>", "a page in HTML; was it downloaded whole?"),
        (gzip.compress(gzip.compress(b"a,b\n", mtime=0), mtime=0), "a file packed twice; pack it once"),
        (tarfile.TarInfo("a.csv").tobuf(), "a tar archive; unpack it"),
    ],
)
def test_other_forms_are_named(content, found):
    """Excel writes the line sep= itself, and reads it alone."""
    with pytest.raises(HostError, match=rf"^table\.csv: expected .*, found {re.escape(found)}"):
        parse_table(content, "table.csv", set(), HostError)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (bytes(range(0x81, 0xFF)) * 9, "a pickle, a packed file or another form of bytes"),
        (b"a\x01b\x02" * 99, "another form"),
        (b"id,x\n1,2\n", "another form"),
    ],
)
def test_what_is_called_parquet_and_is_none_gets_no_advice_on_csv(content, found):
    cure = r"copy it again, write it with to_parquet, or name it by what it is$"
    with pytest.raises(HostError, match=rf"^t\.parquet: expected a Parquet table, found {found}; {cure}"):
        parse_table(content, "t.parquet", set(), HostError)


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


def test_a_small_file_may_expand(packed):
    content = b"a,b\n" + b"0,0\n" * 2**18
    assert len(parse_table(packed(content), "table", set(), HostError)) == 2**18


def test_a_limit_of_the_caller_holds():
    with pytest.raises(HostError, match="table: expected at most 1 MB"):
        parse_table(b"a\n0\n", "table", set(), HostError, most_bytes=3)


@pytest.mark.parametrize(
    "content",
    [
        b",".join(b"%d" % number for number in range(5_001)) + b"\n",
        b'"x\n"' + b",a" * 50_000 + b"\n",  # The first line is short, the first row is not.
        # The next row takes pandas minutes, because it makes an index of as many levels.
        b'\xef\xbb\xbfa,"b\nc"\r\n\r\n' + b"," * 500_000,
        b'a,b\nx"' + b",1" * 500_000 + b'"\n',  # A quotation mark within a cell opens nothing.
    ],
    ids=["header", "header of two lines", "row after empty lines", "quote"],
)
def test_columns_are_counted_before_any_is_made(monkeypatch, content):
    monkeypatch.setattr(formats, "_read_with_pyarrow", lambda *_: pytest.fail("a table was made"))
    monkeypatch.setattr(formats, "_read_with_pandas", lambda *_: pytest.fail("a table was made"))
    with pytest.raises(SubmissionRejected, match="at most 5,000 columns, found"):
        parse_table(content, "table", set(), SubmissionRejected)


@pytest.mark.parametrize("content", [b'a,b\n"x,y",2\n', b'a,b\n"x""y,",2\n', b'"a,b",c\n\n1,"2\n,3"\n'])
def test_commas_in_quotes_are_no_cells(reader, content):
    assert parse_table(content, "table", set(), HostError).shape == (1, 2)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (lambda: {"x": np.zeros(10_000_000)}, "at most 64 MB once expanded, found 76 MB in 10,000,000 rows"),
        (lambda: {f"{number}": [0] for number in range(5_001)}, "at most 5,000 columns, found 5,001"),
    ],
    ids=["rows", "columns"],
)
def test_the_size_that_parquet_states_is_checked(table, expected):
    with pytest.raises(SubmissionRejected, match=expected):
        parse_table(parquet_of(pa.table(table())), "x.parquet", {"row_id"}, SubmissionRejected)


# pyarrow ends the process if it is asked for the column in this file's footer, which contradicts itself.
CONTRADICTION = (
    "UEFSMRUAFRYVFiwVAhUAFQYVBhw2ACgBeBgBeBERAAAAAgAAAAIBAQAAAHgVBBksNQAYBnNjaGVtYRUCABUMJAIYAWElAEwc"
    "AAAAFgIZHBkcJgAcFQwZJQYAGRgBYRUAFgIWUBZQJgg8NgAoAXgYAXgREQAZHBUAFQAVAgA8FgIZBhkmAAIAAAAWUBYCJggW"
    "UAAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAjgAAAFBBUjE="
)


def test_a_parquet_footer_that_contradicts_itself_does_not_end_the_process():
    with pytest.raises(SubmissionRejected, match=r"^x\.parquet: expected a whole Parquet file "):
        parse_table(base64.b64decode(CONTRADICTION), "x.parquet", set(), SubmissionRejected)


def test_parquet_that_is_nested_deeply():
    kind = pa.int8()
    for _ in range(1_000):
        kind = pa.list_(kind)
    content = parquet_of(pa.table({"x": pa.array([None], kind)}), store_schema=False)
    with pytest.raises(
        SubmissionRejected, match=r"found one that is damaged or has columns of another library"
    ):
        parse_table(content, "x.parquet", set(), SubmissionRejected)


def test_json_in_another_encoding_is_told_with_its_line():
    with pytest.raises(ValueError, match=r"^expected UTF-8 text, found the byte 0xe9 in line 2$"):
        parse_json('{\n"team": "André"}'.encode("latin-1"))


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
    assert caught.value.found == kind


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


# ---- Habits of participants -----------------------------------------------------------------------------


def test_a_zip_with_one_table_is_read():
    """Also with what platforms and systems pack beside it."""
    beside = dict.fromkeys(["metadata", "README.txt", "__MACOSX/a/._b.csv", ".DS_Store", ".git/s.csv"], b"\0")
    of_parquet = parquet_of(pa.table({"id": ["007"], "x": [1]}))
    for inside, content in (("a/b.csv", b"id,x\n007,1\n"), ("b.parquet", of_parquet)):
        frame = parse_table(zipped({inside: content} | beside), "b.zip", {"id"}, HostError)
        assert frame.to_dict("list") == {"id": ["007"], "x": [1]}


@pytest.mark.parametrize("address", ["https://example.org/x.csv", "s3://bucket/x.jsonl", "file:///etc/passwd"])
def test_an_address_is_to_be_downloaded_first(address, tmp_path):
    def official(path):
        return reading.read_solution(hosted.load("scifact"), path, {})

    for read in (files.read_bytes, submissions.find, submissions.absolute, official):
        with pytest.raises(UsageError, match=f"cannot read {address}: it is an address; download it first"):
            read(address)
    (tmp_path / "manifest.csv").write_text(f"team,path\nA,{address}\n")
    with pytest.raises(HostError, match=rf"row number 1: expected a path .*download it first.*'{address}'"):
        submissions.find(tmp_path / "manifest.csv")


@pytest.mark.parametrize("path", ["-", "table.csv"])
def test_no_more_than_the_limit_is_read(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "MOST_BYTES", 10)

    def read(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        Path("table.csv").write_bytes(content)
        return files.read_bytes(path)

    assert read(b"0123456789") == b"0123456789"
    with pytest.raises(UsageError, match=f"cannot read {path}: expected at most 1 MB, found more"):
        read(b"0123456789x")


@pytest.mark.parametrize(
    ("before", "umask", "after"), [(None, 0o077, 0o600), (None, 0o027, 0o640), (0o600, 0o022, 0o600)]
)
def test_the_permissions_of_files_are_the_owner_s(tmp_path, before, umask, after):
    path = tmp_path / "x.csv"
    if before:
        path.touch(before)
    earlier = os.umask(umask)
    try:
        write_table(pd.DataFrame({"a": [1]}), path)
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "x.parquet")
    finally:
        os.umask(earlier)
    assert stat.S_IMODE(path.stat().st_mode) == after


@pytest.mark.parametrize(
    ("archive", "expected"),
    [
        (zipped({"a.csv": b"", "b\x1b.csv": b""}), r"one table, found 2 files: a.csv, b\\x1b.csv"),
        (zipped({"._a": b""}), "one table, found 0 files: none"),
        (zipped({"a.csv": b"x"})[:-8], "a whole zip file, found a"),
    ],
    # Zips hold the time at which they are made, so names from their bytes differ between the workers.
    ids=["two tables", "only hidden files", "cut"],
)
def test_other_zips_are_refused(archive, expected):
    with pytest.raises(HostError, match=expected):
        parse_table(archive, "b.zip", set(), HostError)


def test_lists_of_positions_are_read():
    lists = {"whole": [[3, 4], []], "floats": [[3.0, 4.0], None], "others": [[0.5], None]}
    lists |= {"digits": [["3", "4"], None], "words": [["cat", "3"], None]}
    frame = parse_table(parquet_of(pa.table(lists)), "x", set(lists), HostError)
    assert frame["whole"].tolist() == ["3 4", ""]
    assert frame["floats"].isna().tolist() == [False, True]
    first = {name: cell if isinstance(cell, str) else list(cell) for name, cell in frame.iloc[0].items()}
    of_numbers = dict.fromkeys(["whole", "floats", "digits"], "3 4")
    assert first == of_numbers | {"others": [0.5], "words": ["cat", "3"]}


@pytest.mark.parametrize(
    ("end", "found"),
    [
        (",,\n", "1 empty row, the first one as row number 2; delete it"),
        (",,\n1,,\n,,\n", "2 empty rows, the first one as row number 2; delete them"),
    ],
)
def test_rows_without_any_value_are_named(reader, end, found):
    with pytest.raises(SubmissionRejected, match=f"^x: expected values in every row, found {found}$"):
        parse_table(f"id,a,b\n1,2,3\n{end}".encode(), "x", {"id"}, SubmissionRejected)
    assert len(parse_table(b"id,a\n,2\n1,\n\n", "x", {"id"}, SubmissionRejected)) == 2  # the metric's affair


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.int64(), 2)])
def test_lists_of_every_type_of_arrow_are_read(kind):
    table = pa.table({"x": pa.array([[3, 4], [5, 6]], kind), "y": [1, 2]})
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)  # whose metadata pandas itself cannot read
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    for content in (parquet_of(table), buffer.getvalue()):
        read = parse_table(content, "x", {"x"}, HostError)
        assert read.to_dict("list") == {"x": ["3 4", "5 6"], "y": [1, 2]}


def test_a_parquet_table_with_a_name_twice_is_refused():
    table = pa.table([[1], [2]], names=["id", "id"])
    with pytest.raises(HostError, match=r"^x: expected every column once, found several called id$"):
        parse_table(parquet_of(table), "x", set(), HostError)


def test_texts_are_read_as_they_stand(tmp_path):
    (tmp_path / "x.csv").write_text("id,n\n007,1.50\nNA,\n")
    texts = read_texts(tmp_path / "x.csv", HostError)
    assert texts.to_dict("list") == {"id": ["007", "NA"], "n": ["1.50", None]}
    numbers = pa.table({"id": [7, None], "x": [1.0, 2.5]})
    (tmp_path / "x.parquet").write_bytes(parquet_of(numbers))
    texts = read_texts(tmp_path / "x.parquet", HostError)
    assert texts.to_dict("list") == {"id": ["7", None], "x": ["1.0", "2.5"]}


@pytest.mark.parametrize("form", ["parquet", "csv", "zip"])
def test_a_bit_that_is_wrong_leads_to_a_table_or_a_rejection(form):
    """No damage ends in an error of another class, which would stop a whole board."""
    table = pa.table({"id": ["a", "b"], "x": [1, 2], "y": [[1], [2, 3]], "z": ["é", None]})
    frame, buffer = table.to_pandas(), io.BytesIO()
    frame.to_parquet(buffer) if form == "parquet" else frame.to_csv(buffer)
    whole = zipped({"x.csv": buffer.getvalue()}) if form == "zip" else buffer.getvalue()
    begin = max(0, len(whole) - 4096) * 8
    outcomes = set()
    step = (len(whole) * 8 - begin) // some(2500) | 1  # an odd one comes to every place in a byte
    for bit in range(begin, len(whole) * 8, step):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            parse_table(bytes(damaged), f"x.{form}", {"id", "y"}, SubmissionRejected)
            outcomes.add("read")
        except SubmissionRejected:
            outcomes.add("rejected")
    assert outcomes == {"read", "rejected"}


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
    assert list(parse_table(b",a\n0,x\n1,y\n", "x", (), HostError)) == ["a"]


def test_line_ends_in_values_are_read_across_blocks():
    """Wherever a block of pyarrow begins, it ends within a value."""
    rows = 400_000
    frame = parse_table(b"text\n" + b'"1\n2\n3"\n' * rows, "x", {"text"}, HostError)
    assert len(frame) == rows
    assert (frame["text"] == "1\n2\n3").all()


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


AWKWARD = ["00012", "1e5", "NA", "null", "a,b", 'say "x"', "1\n2", "1\r2"]
AWKWARD += ["", "'", " ", "ä", "1.5E+11", "\ufeff"]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_csv_reads_back_the_same(tmp_path, suffix):
    bits = np.random.default_rng(0).integers(0, 2**63, 500, dtype=np.int64)
    numbers = np.concatenate([[0.1 + 0.2, 1e-5, 1e16, 1e22, -0.0, 5e-324, np.nan], bits.view(np.float64)])
    frame = pd.DataFrame(
        {
            "id": pd.Series(np.resize(AWKWARD, len(numbers)), dtype=object),
            "number": numbers,
            "int": np.resize([1, -2, 2**62], len(numbers)),
            "flag": np.resize([True, False], len(numbers)),
            'odd "name", ': pd.Series(np.resize(["line\nend", "=1+1", None], len(numbers)), dtype=object),
            "maybe": pd.array(np.resize([1, None, 2**60], len(numbers)), dtype="Int64"),
        }
    )
    path = tmp_path / f"x{suffix}"
    write_table(frame, path)
    first = path.read_bytes()
    back = read_table(path, {"id", "maybe"}, HostError)
    assert list(back) == list(frame)
    assert back["id"].fillna("").tolist() == frame["id"].tolist()
    for name in ("number", "int", "flag"):
        assert back[name].to_numpy().tobytes() == frame[name].to_numpy().tobytes(), name
    assert back.iloc[:3, 4].fillna("").tolist() == ["line\nend", "'=1+1", ""]
    assert back["maybe"].tolist()[2] == str(2**60)  # and no float
    write_table(frame, path)
    assert path.read_bytes() == first


def test_a_large_table_is_written_like_its_rows(tmp_path):
    columns = {"id": ["a", "a", None], "odd": ["1", 1, 1.0], "score": [0.0, -0.0, np.nan], "b": [1, 0, 1]}
    assert formats.table_bytes(pd.DataFrame(columns)) == b"id,odd,score,b\na,1,0.0,1\na,1,-0.0,0\n,1.0,,1\n"


@pytest.mark.parametrize("row", ["1,2,", "1,2,,", "1,2,3"])
def test_a_row_that_is_longer_than_the_header_shifts_no_column(reader, row):
    cure = r"with to_csv or to_parquet$" if row.endswith("3") else r"comma behind each row; .*index_col=False"
    with pytest.raises(HostError, match=r"^x: expected 2 cells in every row, .* found \d.*" + cure):
        parse_table(f"a,b\n{row}\n{row}\n".encode(), "x", (), HostError)


@pytest.mark.parametrize(("last", "expected"), [("+7", 7), ("7 8", "7 8")])
def test_a_column_becomes_numbers_only_if_its_last_cell_is_one_too(last, expected):
    content = "a\n" + "3.0\n" * 1000 + last + "\n"
    column = parse_table(content.encode(), "table", {"a"}, SubmissionRejected, number_columns={"a"})["a"]
    assert column.tolist() == [3 if expected == 7 else "3.0"] * 1000 + [expected]
