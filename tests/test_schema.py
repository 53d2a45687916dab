"""One schema says what a table has, and one sentence what is wrong with a cell."""

import pandas as pd
import pytest

from podium.tables.schema import TEXT, TIME, Table, number, one_of
from podium.words.errors import HostError, SubmissionRejected

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


def test_a_long_cell_is_cut_and_a_table_has_an_error_of_its_own():
    table = Table(error=SubmissionRejected, team=TEXT, kind=one_of("a"))
    frame = pd.DataFrame({"team": ["A"], "kind": ["\x1b" + "x" * 1000]})
    with pytest.raises(SubmissionRejected, match=r"^the file, row number 1: .* found '.{60,70}'$"):
        table.checked(frame, "the file")
