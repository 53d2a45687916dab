"""Items that count for nobody are left out with a reason."""

import pandas as pd
import pytest

import podium
from podium.common.errors import HostError
from podium.metric import hosted
from podium.ranking import leaving_out
from podium.scoring import evaluating
from podium.scoring.alignment import names_of_rows
from tests.support.frames import solution
from tests.support.samples import ROOT, case_of

ROWS = [("A", "Lead", "0 1", 1), ("B", "Claim", "0 1", 0), ("C", "Lead", "0 1", 1), ("C", "Claim", "2 3", 1)]


@pytest.fixture
def whole():
    """A prepared solution of three essays, of which two are Private and one is of a learner of English."""
    table = solution(*ROWS).assign(Usage=["Private", "Public", "Private", "Private"])
    table["ell_status"] = ["Yes", "No", "No", "No"]
    parameters = {"subpopulation_column_names": "ell_status"}
    return evaluating.prepare(hosted.load("unified"), table, parameters)


def table_of(*rows):
    """A table of items that are left out."""
    return pd.DataFrame(rows, columns=["item", "reason"])


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("item,reason\nA,wrong\nA,again", "row number 2: expected another one than in row number 1 in the col"),
        ("item,reason\nA,", "row number 1: expected a text in the column reason, found an empty cell"),
        ("item\nA", "expected the column reason, found item"),
        ("item,resaon\nA,wrong", "expected the column reason, found item, resaon"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path, lines, told):
    (tmp_path / "left_out.csv").write_text(lines)
    with pytest.raises(HostError, match=told):
        leaving_out.read(str(tmp_path / "left_out.csv"))


def test_rows_of_the_table_of_items_are_read(tmp_path):
    (tmp_path / "t.csv").write_text("item,why,answered,reason\nA,solved by none,10, wrong\x1btype \n")
    assert leaving_out.read(str(tmp_path / "t.csv")).values.tolist() == [["A", "wrong\\x1btype"]]


def test_items_are_refused_that_are_unknown_or_leave_nothing(whole):
    with pytest.raises(
        HostError, match=r"t\.csv, row number 2: expected an item of the solution, such as A in the "
    ):
        leaving_out.check(whole, table_of(("A", "x"), ("Z", "x")), "t.csv")
    with pytest.raises(HostError, match="found 'a'"):
        leaving_out.check(whole, table_of(("a", "x")), "t.csv")  # another spelling is another item
    with pytest.raises(
        HostError, match=r"t\.csv: expected some items in the Private part that are not left out"
    ):
        leaving_out.check(whole, table_of(("A", "x"), ("C", "x")), "t.csv")
    assert leaving_out.check(whole, table_of(("C", "x")), "t.csv") == []


def test_what_follows_from_items_is_told(whole):
    told = [*map(str, leaving_out.check(whole, table_of(("A", "x"), ("B", "x")), "t.csv"))]
    assert told == [
        "no item of the Public part is left, so there are no Public scores to choose files by",
        "no item of ell_status = Yes is left, so no score depends on such items any more",
    ]
    narrow = leaving_out.narrowed(whole, ["A", "B"])
    assert narrow.prepared["All"].items == ["C"]
    assert leaving_out.narrowed(whole, []) is whole


def test_the_reasons_are_counted():
    told = leaving_out.with_reasons(
        table_of(("A", "wrong type"), ("B", "torn"), ("C", "wrong type")).to_dict("records"), "essay"
    )
    assert told == "3 essays were left out after submissions were seen: wrong type (2), torn (1)."
    assert (
        leaving_out.with_reasons([{"item": "A", "reason": "torn"}], "row")
        == "1 row was left out after submissions were seen: torn."
    )


COMPLETE = ["scifact", "readable", "markup_consistency", "trec_is"]


@pytest.mark.parametrize("name", COMPLETE)
def test_complete_submissions_are_narrowed_with_the_solution(name):
    """An item counts for nobody, as if neither side had ever had it; only its rows of a submission go."""
    loaded, _, truth, submission, row_id = case_of(name)
    whole = evaluating.prepare(loaded, truth, {})
    names = names_of_rows(whole)
    gone = [*names.unique()[:2]]
    narrow = leaving_out.narrowed(whole, gone)
    assert not {*gone} & {*map(str, narrow.prepared["All"].items)}
    column = "tweet_id" if name == "trec_is" else row_id
    rows = names.isin(gone).to_numpy()
    left = submission[~submission[column].isin(truth[column][rows])]
    assert len(left) < len(submission)
    alone = evaluating.evaluate(evaluating.prepare(loaded, truth[~rows], {}), left)
    assert evaluating.evaluate(narrow, submission).scores == alone.scores


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPLETE)
def test_a_board_of_complete_submissions_is_verified_without_items(name, tmp_path, monkeypatch, call):
    loaded, _, truth, submission, _ = case_of(name)
    (tmp_path / "teams").mkdir()
    truth.to_csv(tmp_path / "solution.csv", index=False)
    submission.to_csv(tmp_path / "teams" / "Ada.csv", index=False)
    gone = names_of_rows(evaluating.prepare(loaded, truth, {})).unique()[:2]
    table_of(*((item, "odd") for item in gone)).to_csv(tmp_path / "out.csv", index=False)
    files = tmp_path / "solution.csv", tmp_path / "teams"
    how = {"metric": name, "boost": False, "resamples": 0, "jobs": 1}
    first = podium.rank(*files, out=tmp_path / "first", **how)
    board = podium.rank(again=tmp_path / "first", out=tmp_path / "board", left_out=tmp_path / "out.csv", jobs=1)
    assert board.changes["score_earlier"].tolist() == first.leaderboard["score"].tolist()
    assert {*gone}.isdisjoint(board.items["item"].astype(str))
    assert podium.verify(tmp_path / "board", jobs=1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()  # a folder that has the name of the metric
    again = (
        "rank",
        *files,
        "--metric",
        name,
        "--no-boost",
        "--resamples",
        0,
        "--jobs",
        1,
        "--out",
        f"{name}/board",
    )
    assert call(*again)[0] == 0


def test_other_decisions_see_the_rows_that_count(tmp_path):
    """A file that is wrong in an item that is left out has a score, and scores under other decisions."""
    sent = pd.read_csv(ROOT / "sample_submission.csv")
    first = sent["essay_id"].iloc[0]
    sent.loc[sent["essay_id"] == first, "predictionstring"] = "5 3"
    (tmp_path / "sent").mkdir()
    sent.to_csv(tmp_path / "sent" / "Ada.csv", index=False)
    table_of((first, "mislabeled")).to_csv(tmp_path / "left_out.csv", index=False)
    options = {"out": tmp_path / "board", "variants": True, "resamples": 0, "jobs": 1, "boost": False}
    more = options | {"left_out": tmp_path / "left_out.csv"}
    board = podium.rank(ROOT / "solution_sample.csv", tmp_path / "sent", **more)
    assert board.variants["decision"].str.contains("overlaps kept").any()
