"""A submission that does not fit a custom metric is told what differs, and what mends it."""

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from podium.common.errors import MetricError, SubmissionRejected
from podium.contest import pipeline
from podium.metric import hosted
from podium.scoring import misfits
from tests.support import command_line
from tests.support.host_line import stay_in_process

ACCURACY = 'float((solution["label"] == submission["label"]).mean())'
ERROR = 'float(((solution["price"] - submission["price"]) ** 2).mean() ** 0.5)'
TWO_NAMES = 'float(((solution["price"] - submission["guess"]) ** 2).mean() ** 0.5)'
NUMBERS = [str(2000 + each) for each in range(12)]
IMAGES = [f"scan_{each}.jpg" for each in range(12)]
LARGE = [str(1234567890123456789 + 10**13 * each) for each in range(12)]

Change = Callable[[pd.DataFrame], pd.DataFrame]


def opened(folder: Path, formula: str, ids: list[str], more: str = "") -> pipeline.Solution:
    """A solution of twelve rows for a metric that has ``score()`` alone, as a host would write it."""
    better = formula == ACCURACY
    (folder / "metric.py").write_text(
        "class ParticipantVisibleError(Exception):\n    pass\n\n\n"
        f"{more}\ndef score(solution, submission, row_id_column_name):\n    return {formula}\n\n\n"
        f"def higher_is_better():\n    return {better}\n"
    )
    cells = {"label": ["cat", "dog", "fox"] * 4} if better else {"price": [1.5 * each for each in range(12)]}
    table = pd.DataFrame({"id": ids, **cells})
    table.to_csv(folder / "solution.csv", index=False)
    return pipeline.opened(hosted.load(str(folder / "metric.py")), str(folder / "solution.csv"), {})


def scored(solution: pipeline.Solution, folder: Path, change: Change) -> Any:
    """Score the solution's own table after a change, through a file as users do."""
    change(solution.frame.copy().astype({"id": str})).to_csv(folder / "submission.csv", index=False)
    submission, _ = pipeline.submitted(solution, str(folder / "submission.csv"))
    return pipeline.scored(solution, submission)


def of_ids(change: Callable[[str], str]) -> Change:
    return lambda table: table.assign(id=table["id"].map(change))


def of_cells(column: str, change: Callable[[Any], Any]) -> Change:
    return lambda table: table.assign(**{column: table[column].map(change)})


REFUSED: dict[str, tuple[list[str], Change, str]] = {
    "blank": (IMAGES, lambda table: table.rename(columns={"id": "id "}), "found 'id ': rename it"),
    "capital": (IMAGES, lambda table: table.rename(columns={"id": "ID"}), "found 'ID': rename it"),
    "no id": (IMAGES, lambda table: table.drop(columns="id"), "expected the column id, found 'label'"),
    "no ending": (IMAGES, of_ids(lambda each: each[:-4]), "write the ending, too"),
    "another ending": (IMAGES, of_ids(lambda each: each + ".txt"), "leave the ending out"),
    "folder": (IMAGES, of_ids("test/{}".format), "'test/scan_0.jpg' for 'scan_0.jpg': leave the folder out"),
    "backslash": (IMAGES, of_ids("test\\{}".format), "leave the folder out"),
    "upper case": (IMAGES, of_ids(str.upper), "write capital and small letters as there"),
    "commas": (NUMBERS, of_ids(lambda each: f"{int(each):,}"), "'2,000' for '2000': leave the commas out"),
    "quotes": (NUMBERS, of_ids("'{}".format), "leave the quotation marks"),
    "from zero": (NUMBERS, of_ids(lambda each: str(int(each) - 2000)), "'0' for '2000': add 2,000 to each"),
    "shifted": (NUMBERS, of_ids(lambda each: str(int(each) + 1)), "'2001' for '2000': subtract 1 from each"),
    "floats": (LARGE, of_ids(lambda each: f"{float(each):.8e}"), "floats have lost their last digits"),
    "missing": (IMAGES, lambda table: table.iloc[2:], "2 of 12 ids are missing in id, such as 'scan_0.jpg'"),
    "foreign": (
        IMAGES,
        lambda table: pd.concat([table, table.tail(1).assign(id="scan_99.jpg")]),
        "1 of 13 ids in id is not in the solution, such as 'scan_99.jpg'",
    ),
    "repeated": (IMAGES, lambda table: pd.concat([table, table.head(1)]), "1 id in id is repeated"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_file_is_told_what_differs_after_the_words_of_the_platform(name: str, tmp_path: Path) -> None:
    ids, change, cure = REFUSED[name]
    solution = opened(tmp_path, ACCURACY, ids)
    with pytest.raises(SubmissionRejected) as rejected:
        scored(solution, tmp_path, change)
    assert str(rejected.value).startswith(
        ("ID column id not", "Submission has", "Solution and submission values")
    )
    assert cure in rejected.value.for_host
    assert ("COMPLETE_SUBMISSION" in rejected.value.for_host) == (name in ("missing", "foreign", "repeated"))


FAILED: dict[str, tuple[Change, str]] = {
    "lists": (of_cells("price", "[{}]".format), "found '[0.0]' in row 1 and in 11 more rows: write 0.0"),
    "tensors": (of_cells("price", "tensor({})".format), "found 'tensor(0.0)' in row 1"),
    "thousands": (
        of_cells("price", lambda each: f"{each * 1000:,.2f}"),
        "'1,500.00' in row 2 and in 10 more rows: write 1500.00",
    ),
    "decimal commas": (
        of_cells("price", lambda each: f"{each:.2f}".replace(".", ",")),
        "'0,00' in row 1 and in 11 more rows: write 0.00",
    ),
    "commas of two meanings": (
        of_cells("price", lambda each: f"{each + 1:.3f}".replace(".", ",")),
        "'1,000' in row 1 and in 11 more rows: write 1000 or 1.000",
    ),
    "infinity": (
        of_cells("price", lambda each: float("inf") if each == 3 else each),
        "expected finite numbers, found inf in row 3",
    ),
    "another name": (lambda table: table.rename(columns={"price": "guess"}), "found 'guess': rename it"),
}


@pytest.mark.parametrize("name", FAILED)
def test_a_file_with_which_a_metric_fails_is_rejected_with_the_cause(name: str, tmp_path: Path) -> None:
    change, cause = FAILED[name]
    solution = opened(tmp_path, ERROR, NUMBERS)
    with pytest.raises(SubmissionRejected) as rejected:
        scored(solution, tmp_path, change)
    assert cause in str(rejected.value)
    assert "The metric says: " in str(rejected.value)
    assert len(str(rejected.value)) <= pipeline.LONGEST_MESSAGE


def test_a_metric_that_wants_two_names_is_not_told_to_rename(tmp_path: Path) -> None:
    solution = opened(tmp_path, TWO_NAMES, NUMBERS)
    guess = {"price": "guess"}
    assert scored(solution, tmp_path, lambda table: table.rename(columns=guess)).score == 0
    with pytest.raises(SubmissionRejected, match=r"guess: expected numbers .* found '\[0.0\]' in row 1"):
        scored(solution, tmp_path, lambda table: FAILED["lists"][0](table).rename(columns=guess))
    with pytest.raises(MetricError, match="KeyError"):  # it has another fault, which nothing here explains
        scored(solution, tmp_path, lambda table: table)


LABELS: dict[str, tuple[Callable[[str], object], str]] = {
    "capitals": (str.title, "label: none of its 3 values occurs in the solution, such as 'Cat' for 'cat'"),
    "lists": ("['{}']".format, "such as \"['cat']\" for 'cat'"),
    "codes": ({"cat": 0, "dog": 1, "fox": 2}.get, "such as '0'; the solution has cat, dog, fox"),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_that_never_occur_keep_their_score_and_are_the_reason_that_is_told(
    name: str, tmp_path: Path
) -> None:
    change, cause = LABELS[name]
    evaluation = scored(opened(tmp_path, ACCURACY, IMAGES), tmp_path, of_cells("label", change))
    assert evaluation.score == 0
    assert len(evaluation.notices) == 1
    assert cause in evaluation.notices[0]


def test_a_bad_answer_that_fits_is_worse_than_a_constant_one(tmp_path: Path) -> None:
    others = {"cat": "dog", "dog": "fox", "fox": "cat"}
    evaluation = scored(opened(tmp_path, ACCURACY, IMAGES), tmp_path, of_cells("label", others.get))
    assert "worse than that of a constant answer" in evaluation.notices[0]


def test_files_that_fit_differ_in_nothing(tmp_path: Path) -> None:
    solution = opened(tmp_path, ACCURACY, NUMBERS)
    for change in (
        of_ids(lambda each: f" {each}.0"),
        lambda table: table.iloc[::-1],
        lambda table: table.assign(a=1),
    ):
        evaluation = scored(solution, tmp_path, change)
        assert evaluation.score == 1
        assert misfits.found(solution, evaluation.submission) == []


def test_a_metric_that_matches_rows_itself_may_have_fewer_and_more_of_them(tmp_path: Path) -> None:
    solution = opened(tmp_path, "0.0", IMAGES, more="COMPLETE_SUBMISSION = True\n\n")
    table = solution.frame
    assert misfits.found(solution, pd.concat([table.iloc[3:], table.iloc[3:]])) == []
    foreign = [*misfits.found(solution, table.assign(id=[f"other {each}" for each in range(12)]))]
    assert [each.kind for each in foreign] == ["unknown ids"]


def test_numbers_beside_masks_and_lists_are_no_labels(tmp_path: Path) -> None:
    solution = opened(tmp_path, ACCURACY, IMAGES)
    masks = solution.frame.assign(label=[f"{each} 3" for each in range(12)])
    solution.frame["label"] = masks["label"]
    assert misfits.found(solution, masks.assign(label="-")) == []


# ---- The same comparison on a board, and as the host of a platform sees it -----------------------------------


def changed(folder: Path, solution: pipeline.Solution, changes: dict[str, Change]) -> Path:
    """A folder with a changed copy of the solution's own table for each team."""
    (folder / "teams").mkdir()
    table = solution.frame.copy().astype({"id": str})
    for team, change in changes.items():
        change(table).to_csv(folder / "teams" / f"{team}.csv", index=False)
    return folder / "teams"


def test_a_board_says_what_differs_and_shows_no_label_of_the_solution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_in_process(monkeypatch, tmp_path)
    changes: dict[str, Change] = {
        "good": lambda table: table,
        "ends": of_ids(lambda each: each[:-4]),
        "less": lambda table: table.iloc[2:],
        "name": lambda table: table.rename(columns={"label": "guess"}),
        "wide": of_cells("label", str.upper),
    }
    teams = changed(tmp_path, opened(tmp_path, ACCURACY, IMAGES), changes)
    asked = ["rank", tmp_path / "solution.csv", teams, "--metric", tmp_path / "metric.py"]
    asked += ["--out", tmp_path / "board", "--no-boost", "--resamples", "0", "--jobs", "1"]
    code, _, told = command_line.run(capsys, *asked)
    assert code == 0
    rejected = pd.read_csv(tmp_path / "board" / "rejected.csv").set_index("team")["reason"]
    assert "such as 'scan_0' for 'scan_0.jpg': write the ending, too" in rejected["ends"]
    assert rejected["less"].endswith(
        "expected. 2 of 12 ids are missing in id, such as 'scan_0.jpg' and 'scan_1.jpg'"
    )
    assert rejected["name"].startswith(
        "expected the column label, found 'guess': rename it. The metric says: KeyError"
    )
    assert len(rejected) == 3
    cause = "worse than a constant answer: label: none of its 3 values occurs in the solution, such as 'CAT'\n"
    assert f"“wide/wide.csv” has other cells than the solution and is {cause}" in told
    page = html.unescape((tmp_path / "board" / "board.html").read_text())
    assert "none of its 3 values occurs" in page
    assert "'cat'" not in page + told


def test_a_board_of_one_part_compares_with_the_rows_of_this_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_in_process(monkeypatch, tmp_path)
    solution = opened(tmp_path, ERROR, NUMBERS)
    parts = solution.frame.assign(Usage=["Public", "Private", "Private"] * 4)
    parts[parts["Usage"] == "Private"].to_csv(tmp_path / "private.csv", index=False)
    teams = changed(tmp_path, solution, {"good": lambda table: table, "list": FAILED["lists"][0]})
    asked = ["rank", tmp_path / "private.csv", teams, "--metric", tmp_path / "metric.py"]
    asked += ["--out", tmp_path / "board", "--no-boost", "--resamples", "0", "--jobs", "1"]
    assert command_line.run(capsys, *asked)[0] == 0
    (reason,) = pd.read_csv(tmp_path / "board" / "rejected.csv")["reason"]
    assert reason.startswith("price: expected numbers as in the solution, found '[1.5]' in row 1")


EMULATED: dict[str, tuple[Change, str]] = {
    "no ending": (of_ids(lambda each: each[:-4]), "write the ending, too"),
    "another name": (lambda table: table.rename(columns={"label": "guess"}), "found 'guess': rename it"),
}


@pytest.mark.parametrize("name", EMULATED)
def test_the_host_alone_is_told_what_differs_on_a_platform(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, cause = EMULATED[name]
    teams = changed(tmp_path, opened(tmp_path, ACCURACY, IMAGES), {"team": change})
    code, _, told = command_line.run(
        capsys, "emulate", tmp_path / "metric.py", tmp_path / "solution.csv", teams / "team.csv"
    )
    assert code == SubmissionRejected.exit_code
    for_all, *for_host = told.splitlines()
    assert for_all.startswith(("error: Solution and submission values", "error: Evaluation metric raised"))
    assert cause not in for_all
    assert all(line.startswith("host only: ") for line in for_host)
    assert cause in for_host[-1]
