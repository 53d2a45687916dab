"""Reading tables the same with pyarrow and with pandas, and writing files all or nothing."""

import gzip

import numpy as np
import pytest

from podium import files
from podium.errors import HostError, UsageError
from podium.files import read_table, write_atomically

CSV = '''id,name,note,x,n,day,flag
0012,NA,"two
lines, ""quoted""",0.5,1,2024-01-23,True
13,null,nan,,2,2024-01-24,False
14,,"",1e-3,3,2024-01-25,True
'''


@pytest.fixture(params=["pyarrow", "pandas"])
def reader(request, monkeypatch):
    if request.param == "pandas":  # as where pyarrow gives up
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


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2,3\n", b'a,b\n"1', b"a\n\xff\n"])
def test_no_table(reader, tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(HostError, match=r"table\.csv is not"):
        read_table(path, set(), HostError)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"a;b\n0,5;1\n", "commas between the columns, found semicolons"),
        (b"a\tb\n0,5\t1\n", "commas between the columns, found tabs"),
        ("a,b\n1,2\n".encode("utf-16"), "a CSV table, found UTF-16; in Excel, save as CSV UTF-8"),
        (b"PK\3\4\x14\0\6\0", "a CSV table, found an Excel workbook; in Excel, save as CSV UTF-8"),
    ],
)
def test_what_spreadsheets_write(reader, tmp_path, content, found):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(HostError, match=rf"table\.csv: expected {found}$"):
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


def test_a_gzip_bomb_is_not_expanded(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 2**20)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"0" * 2**22))
    with pytest.raises(HostError, match="expected at most 1 MB once expanded, found more"):
        read_table(tmp_path / "bomb.csv.gz", set(), HostError)
