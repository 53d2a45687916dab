"""A file is accepted or rejected alike wherever it goes in: as the hosted file on Kaggle, from Python and by
every command.
"""

import csv
from pathlib import Path

import pandas as pd
import pytest

import metric
import podium
from podium import hosted, reading, scoring
from podium.errors import SubmissionRejected
from podium.hosting import emulate
from tests.support.command_line import run
from tests.support.frames import WHOLE, solution, words

D0, D1 = metric.PROBABILITY_COLUMNS

# The first cell of a column whose second cell is "12" or "12 13", and whether the file is accepted then.
CELLS = {
    "3": (True, True),
    "3 4": (True, True),
    "99999": (True, True),
    # A reader of CSV takes these for the numbers 3, 0 and 10 if the other cell is a number, too.
    "3.0": (True, False),
    "03": (True, False),
    "1e1": (True, False),
    "3 ": (True, False),
    # These are wrong in any column.
    "3.0 4.0": (False, False),
    "３": (False, False),
    "3.5": (False, False),
    "-3": (False, False),
    "1_0": (False, False),
    "1e400": (False, False),
    "nan": (False, False),
    "inf": (False, False),
    "": (False, False),
    "18446744073709551616": (False, False),
    "3 5": (False, False),
    "3  4": (False, False),
}
CASES = [
    (first, second, is_valid)
    for first, both in CELLS.items()
    for second, is_valid in zip(("12", "12 13"), both)
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a solution, and with a submission for each case."""
    folder = tmp_path_factory.mktemp("entries")
    truth = solution(("A", "Lead", "3 4", 1), ("B", "Claim", words(12, 13), 0))
    truth.to_csv(folder / "solution.csv", index=False)
    (folder / "submissions").mkdir()
    for number, (first, second, _) in enumerate(CASES):
        with (folder / "submissions" / f"{number}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["row_id", "essay_id", "discourse_type", "predictionstring", D0, D1])
            rows.writerow(["t0", "A", "Lead", first, 0.25, 0.75])
            rows.writerow(["t1", "B", "Claim", second, 0.25, 0.75])
    return folder


def on_kaggle(files: Path, path: Path) -> float | None:
    """The score that Kaggle's own reader and the hosted file give."""
    try:
        return metric.score(pd.read_csv(files / "solution.csv"), pd.read_csv(path), "row_id", **WHOLE)
    except metric.ParticipantVisibleError:
        return None


def from_python(files: Path, path: Path) -> float | None:
    try:
        return podium.score(pd.read_csv(files / "solution.csv"), pd.read_csv(path), **WHOLE).score
    except SubmissionRejected:
        return None


def emulated(files: Path, path: Path) -> float | None:
    """The score of the tables as `podium emulate` and `podium check` read them."""
    unified = hosted.load("unified")
    tables = emulate.read_solution(unified, files / "solution.csv"), emulate.read_submission(unified, path)
    try:
        return metric.score(*tables, "row_id", **WHOLE)
    except metric.ParticipantVisibleError:
        return None


def as_on_other_platforms(files: Path, path: Path) -> float | None:
    """The score that the bundles for other platforms compute, and `podium rank`, which has read the bytes."""
    unified = hosted.load("unified")
    arguments = {"row_id_column_name": "row_id"} | WHOLE
    prepared = scoring.prepare(
        unified, reading.read_solution(unified, files / "solution.csv", arguments), arguments
    )
    scores = set()
    for table in (
        reading.read_submission(unified, path, arguments),
        reading.parse_submission(unified, path.read_bytes(), path.name, arguments),
    ):
        try:
            scores.add(scoring.evaluate(prepared, table).score)
        except SubmissionRejected:
            scores.add(None)
    assert len(scores) == 1
    return scores.pop()


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{CASES[n][0]!r}, {CASES[n][1]!r}")
def test_every_entry_accepts_the_same_files(files, capsys, number):
    path = files / "submissions" / f"{number}.csv"
    expected = on_kaggle(files, path)
    assert (expected is not None) == CASES[number][2]
    assert from_python(files, path) == emulated(files, path) == expected
    assert as_on_other_platforms(files, path) == expected
    code, out, err = run(
        capsys, "score", files / "solution.csv", path, "-b", "--set", "subpopulation_column_names="
    )
    assert (code, out.strip()) == ((3, "") if expected is None else (0, str(expected))), err


def test_the_ranking_accepts_the_same_files(files, capsys, tmp_path):
    """The board names exactly the files that are wrong."""
    code, _, err = run(
        capsys, "rank", files / "solution.csv", files / "submissions", "--out", tmp_path / "out", "--no-boost",
        "--set", "subpopulation_column_names=", "--resamples", 0, "--jobs", 1,
    )  # fmt: skip
    assert code == 0, err
    everything = pd.read_csv(tmp_path / "out" / "all_submissions.csv", dtype=str)
    scores = everything.set_index(everything["submission"].map(lambda name: Path(name).stem))["score"]
    assert set(scores.index) == set(map(str, range(len(CASES))))
    accepted = {number for number in range(len(CASES)) if not pd.isna(scores[str(number)])}
    assert accepted == {number for number, (*_, is_valid) in enumerate(CASES) if is_valid}


@pytest.mark.parametrize("cell", ["3.0", "03"])
def test_a_frame_of_texts_has_the_texts_that_it_has(files, cell):
    """Only a reader of files makes numbers of texts. A frame is taken as it is, also one from Parquet."""
    pytest.importorskip("pyarrow")
    number = next(number for number, (first, *_) in enumerate(CASES) if first == cell)
    table = pd.read_csv(files / "submissions" / f"{number}.csv", dtype={"predictionstring": str})
    path = files / f"texts {number}.parquet"
    table.to_parquet(path)
    for frame in (table, reading.read_submission(hosted.load("unified"), path, {})):
        with pytest.raises(SubmissionRejected, match="'"):
            podium.score(pd.read_csv(files / "solution.csv"), frame, **WHOLE)
