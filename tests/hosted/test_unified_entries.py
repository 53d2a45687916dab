"""A file is accepted or rejected alike on Kaggle, in Python and by every command."""

import contextlib
import csv
import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import metric
import podium
from podium.cli import main
from podium.common.errors import SubmissionRejected
from podium.contest import reading
from podium.hosting.kaggle import emulate
from podium.metric import hosted
from tests.support.command_line import run
from tests.support.frames import WHOLE, solution, words

D0, D1 = metric.PROBABILITY_COLUMNS
(ATTRIBUTES,) = WHOLE
UNIFIED = hosted.load("unified")

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


def tables(files: Path, path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables as Kaggle's own reader gives them."""
    return pd.read_csv(files / "solution.csv"), pd.read_csv(path)


def as_emulated(files: Path, path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables as `podium emulate` and `podium check` read them."""
    return emulate.read_solution(UNIFIED, files / "solution.csv"), emulate.read_submission(UNIFIED, path)


def by_command(files: Path, path: Path) -> float | None:
    """The score that `podium score` prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = main(["score", str(files / "solution.csv"), str(path), "-b", "--set", f"{ATTRIBUTES}="])
    assert code in (0, 3)
    return float(printed.getvalue()) if code == 0 else None


ENTRIES: dict[str, Callable[[Path, Path], float | None]] = {
    "Kaggle": lambda files, path: metric.score(*tables(files, path), "row_id", **WHOLE),
    "Python": lambda files, path: podium.score(*tables(files, path), **WHOLE).score,
    "emulate": lambda files, path: metric.score(*as_emulated(files, path), "row_id", **WHOLE),
    "score": by_command,
}


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{CASES[n][0]!r}, {CASES[n][1]!r}")
def test_every_entry_accepts_the_same_files(files, number):
    scores = dict.fromkeys(ENTRIES)
    for name, entry in ENTRIES.items():
        with contextlib.suppress(SubmissionRejected, metric.ParticipantVisibleError):
            scores[name] = entry(files, files / "submissions" / f"{number}.csv")
    assert len({*scores.values()}) == 1, scores
    assert (scores["Kaggle"] is not None) == CASES[number][2]


def test_the_ranking_accepts_the_same_files(files, capsys, tmp_path):
    """The board names exactly the files that are wrong."""
    code, _, err = run(
        capsys, "rank", files / "solution.csv", files / "submissions", "--out", tmp_path / "out", "--no-boost",
        "--set", f"{ATTRIBUTES}=", "--resamples", 0, "--jobs", 1,
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
    for frame in (table, reading.read_submission(UNIFIED, path, {})):
        with pytest.raises(SubmissionRejected, match="'"):
            podium.score(pd.read_csv(files / "solution.csv"), frame, **WHOLE)
