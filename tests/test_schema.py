"""One schema says what a table has, and one sentence what is wrong with a cell."""

import pandas as pd
import pytest

from podium.common.errors import HostError, SubmissionRejected
from podium.tables.schema import NAME, REMARK, TEXT, TIME, Table, number, one_of, whole

RUNS = Table(
    key=["team"],
    team=TEXT,
    seconds=number("seconds", above=0),
    share=number("a share", 0).optional,
    kind=one_of("slow", "quick").optional,
    at=TIME.optional,
)


def read(tmp_path, text):
    (tmp_path / "runs.csv").write_text(text)
    return RUNS.read(tmp_path / "runs.csv")


def test_the_columns_of_the_schema_are_taken_with_what_their_cells_mean(tmp_path):
    table = read(tmp_path, "other,share,team,seconds,at\n1,,007,1.5,2026-03-01\n2,0,'=NA,2,\n")
    assert table.to_dict("list") == {
        "team": ["007", "=NA"], "seconds": [1.5, 2.0], "share": [None, 0.0], "at": ["2026-03-01", None],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("team\nA\n", ": expected the column seconds, found team"),
        ("team,second\nA,1\n", ": expected the column seconds, found second"),
        ("team,seconds,shares\nA,1,2\n", ": expected the column share, found shares"),
        ("team,seconds\nA,1\n,2\n", "row number 2: expected a text in the column team, found an empty cell"),
        (
            "team,seconds\nA,1\nB,\n",
            "row number 2: expected seconds above 0 in the column seconds, found an em",
        ),
        ("team,seconds\nA,1\nB,0\n", "row number 2: expected seconds above 0 in the column seconds, found '0'"),
        ("team,seconds\nA,inf\n", "in the column seconds, found 'inf'"),
        ("team,seconds\nA,1 s\n", "in the column seconds, found '1 s'"),
        ("team,seconds,share\nA,1,-1\n", "expected a share of at least 0 in the column share, found '-1'"),
        ("team,seconds,kind\nA,1,fast\n", "expected one of slow, quick in the column kind, found 'fast'"),
        ("team,seconds,at\nA,1,noon\n", "in the column at, found 'noon'"),
        ("team,seconds\nA,1\nB,1\nA,2\n", "row number 3: expected another one than in row number 1 in the col"),
    ],
)
def test_one_sentence_names_the_file_the_row_and_the_cell(tmp_path, text, told):
    with pytest.raises(HostError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(str(tmp_path / "runs.csv"))
    assert told in str(error.value)


def test_what_readers_see_moves_no_cursor_and_names_can_be_published(tmp_path):
    table, path = Table(name=NAME.optional, remark=REMARK.optional), tmp_path / "said.csv"
    path.write_text("name,remark\nZoë,a\x1b[2Jb\u202ec\nBo,\n")
    assert table.read(path)["remark"].tolist() == ["a\\x1b[2Jb\\u202ec", None]
    for name in ("a\x1b[2Jb", "a\u202eb", "\u200b"):
        path.write_text(f"name,remark\n{name},\n")
        with pytest.raises(
            HostError, match="row number 1: expected a name that can be published in the column"
        ):
            table.read(path)


@pytest.mark.parametrize("cell", ["0", "-1", "1.5", "1e300", "11", "x", "inf", "9" * 400, "\x1b1"])
def test_a_whole_number_has_a_least_and_a_largest_value(cell):
    table = Table(rank=whole("a rank", 1, 10).optional)
    right = pd.DataFrame({"rank": ["1", "10", "2.0", None]})
    assert len(table.checked(right, "the file")) == 4
    with pytest.raises(HostError, match="row number 1: expected a rank from 1 to 10 in the column rank"):
        table.checked(pd.DataFrame({"rank": [cell]}), "the file")


def test_a_long_cell_is_cut_and_a_table_has_an_error_of_its_own():
    table = Table(error=SubmissionRejected, team=TEXT, kind=one_of("a"))
    frame = pd.DataFrame({"team": ["A"], "kind": ["\x1b" + "x" * 1000]})
    with pytest.raises(SubmissionRejected, match=r"^the file, row number 1: .* found '.{60,70}'$"):
        table.checked(frame, "the file")
