"""Every kind of contest that podium's pages name, each in a few lines, for the tests of all options.

Each has a solution, two submissions, the ids of its items, and the options that name its metric.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from podium.cli import main
from podium.contest import pipeline, recorded
from podium.metric import hosted
from podium.scoring.alignment import names_of_rows
from tests.support.samples import ROOT

METRIC = """
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    \"\"\"Compare the answers of rows with the same id.\"\"\"
    if "answer" not in submission:
        raise ParticipantVisibleError("the submission has no column answer")
    given = submission[[row_id_column_name, "answer"]]
    both = solution.merge(given, on=row_id_column_name, suffixes=("", "_given"))
    return float({compared}.mean())

def higher_is_better() -> bool:
    return {higher}
"""
ACCURACY = METRIC.format(compared='(both["answer"] == both["answer_given"])', higher=True)
ERROR = METRIC.format(compared='(both["answer"] - both["answer_given"]).abs()', higher=False)
ROWS = 48


class Contest(NamedTuple):
    """A solution with two submissions, in files."""

    solution: Path
    submissions: tuple[Path, Path]
    metric: str = ""  # an option --metric, if it has to be named
    group: str = ""  # a column of the solution whose values are shared by items
    parameters: tuple[str, ...] = ()  # of the metric

    @property
    def asked(self) -> list[object]:
        """The options that name its metric and its parameters."""
        named = ["--metric", self.metric] if self.metric else []
        return [*named, *(word for each in self.parameters for word in ("--set", each))]

    @property
    def files(self) -> tuple[Path, Path]:
        """The solution and the first submission."""
        return self.solution, self.submissions[0]

    @property
    def recorded(self) -> str:
        """The metric in the record of files that `podium make` wrote."""
        record = recorded.read(recorded.folder_of(self.solution))
        return str(record.path.parent / record.metric_file) if record and record.metric_file else ""

    @property
    def row_id(self) -> str:
        """The column of ids of a solution in a table."""
        return "row_id" if not self.metric and not self.recorded else "id"

    @property
    def items(self) -> list[str]:
        """The ids of its items."""
        metric, parameters, _ = recorded.completed(self.solution, self.metric or None, self.parameters)
        solution = pipeline.opened(metric, str(self.solution), parameters)
        return sorted(names_of_rows(solution).unique())


def _written(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path, index=False)
    return path


def _sample(folder: Path) -> Contest:
    solution, submission = ROOT / "solution_sample.csv", ROOT / "sample_submission.csv"
    other = pd.read_csv(submission, dtype=str).iloc[::2]
    return Contest(
        solution, (submission, _written(other, folder / "other.csv")), group="economically_disadvantaged"
    )


def _train(folder: Path) -> Contest:
    """The essays that `podium make` gives to participants, which have no ids of rows."""
    solution = ROOT / "examples" / "data" / "train.csv"
    table = pd.read_csv(solution, dtype=str)
    effective = table.pop("discourse_effectiveness").astype(float) / 2 + 0.25
    table["score_discourse_effectiveness_0"] = (1 - effective).round(4)
    table["score_discourse_effectiveness_1"] = effective.round(4)
    of_both = table[
        [*table.columns.intersection(["essay_id", "discourse_type", "predictionstring"]), *table.columns[-2:]]
    ]
    paths = [
        _written(each, folder / f"{name}.csv") for name, each in {"all": of_both, "some": of_both[1::3]}.items()
    ]
    return Contest(solution, (paths[0], paths[1]), parameters=("subpopulation_column_names=",))


def _official(metric: str, *names: str) -> Callable[[Path], Contest]:
    """The official files of a metric, and its samples as tables."""

    def contest(folder: Path) -> Contest:
        samples = hosted.folder(metric) / "samples"
        solution, *submissions = (samples / name for name in names)
        return Contest(solution, (submissions[0], submissions[-1]), metric)

    return contest


def _own(code: str, ids: Callable[[int], object], has_usage: bool = False) -> Callable[[Path], Contest]:
    """A custom metric with ``score()`` alone, on rows whose ids are written in one of the usual ways."""

    def contest(folder: Path) -> Contest:
        (folder / "own.py").write_text(code)
        rng = np.random.default_rng(5)
        answer = rng.choice(["cat", "dog", "fox"], ROWS) if code is ACCURACY else rng.normal(size=ROWS).round(3)
        table = pd.DataFrame({"id": [*map(ids, range(ROWS))], "answer": answer})
        submissions = []
        for number in (3, 5):
            guess = table["answer"].where(np.arange(ROWS) % number > 0, table["answer"].iloc[0])
            submissions.append(_written(table.assign(answer=guess), folder / f"submission{number}.csv"))
        table["site"] = [f"site {number // 4}" for number in range(ROWS)]
        if has_usage:
            table["Usage"] = np.where(np.arange(ROWS) % 3 == 0, "Public", "Private")
        return Contest(
            _written(table, folder / "solution.csv"),
            (submissions[0], submissions[1]),
            str(folder / "own.py"),
            "site",
        )

    return contest


def _with_statistics(folder: Path) -> Contest:
    """The metric with ``prepare()`` that `podium new` writes."""
    with contextlib.chdir(folder):
        assert main(["new", "own", "--statistics"]) == 0
    samples = folder / "own" / "samples"
    table = pd.read_csv(samples / "submission.csv", dtype={0: str})
    other = _written(table.iloc[::-1], folder / "other.csv")
    return Contest(samples / "solution.csv", (samples / "submission.csv", other), str(folder / "own"))


def table_of_labels(folder: Path, with_parts: bool = True) -> tuple[Path, Path, Path]:
    """A table of labels, perhaps with a column that says what is the test set, a sample and a metric."""
    (folder / "own.py").write_text(ACCURACY)
    labels = pd.DataFrame({"id": [f"row {number}" for number in range(2 * ROWS)]})
    labels["day"] = [f"day {number // 4}" for number in range(2 * ROWS)]
    labels["answer"] = np.random.default_rng(6).choice(["cat", "dog", "fox"], 2 * ROWS)
    if with_parts:
        labels["for"] = np.where(labels.index < ROWS, "train", "test")
    path = _written(labels, folder / "labels.csv")
    return path, _written(labels[["id"]].assign(answer="cat"), folder / "sample.csv"), folder / "own.py"


def _made(*options: str) -> Callable[[Path], Contest]:
    """The files that `podium make` writes of a table of labels, whose record names the metric."""

    def contest(folder: Path) -> Contest:
        path, sample, metric = table_of_labels(folder, with_parts="for" in options)
        files = folder / "files"
        asked = ["make", path, "--metric", metric, "--sample", sample, "--out", files, "--seed", "3"]
        assert main([*map(str, asked), *options]) == 0
        other = pd.read_csv(files / "private" / "solution.csv", dtype=str)[["id", "answer"]]
        other.loc[::3, "answer"] = "dog"
        submissions = files / "public" / "sample_submission.csv", _written(other, folder / "other.csv")
        return Contest(
            files / "private" / "solution.csv", submissions, group="day" if "--items" in options else ""
        )

    return contest


CONTESTS: dict[str, Callable[[Path], Contest]] = {
    "sample": _sample,
    "train": _train,
    "scifact": _official("scifact", "claims.jsonl", "predictions.jsonl", "submission.csv"),
    "trec_is": _official("trec_is", "labels.json", "run.txt", "submission.csv"),
    "readable": _official("readable", "essays", "essays", "submission.csv"),
    "markups": _official("markup_consistency", "documents", "documents", "submission.csv"),
    "texts as ids": _own(ACCURACY, lambda number: f"img_{number:03}"),
    "paths as ids": _own(ACCURACY, lambda number: f"test/img_{number:03}.jpg", has_usage=True),
    "numbers as ids": _own(ERROR, lambda number: 1000 + number, has_usage=True),
    "lower is better": _own(ERROR, lambda number: f"{number:04}"),
    "statistics": _with_statistics,
    "made": _made(),
    "made with items": _made("--items", "day", "--public-columns", "day"),
    "made by a split": _made("--split", "for"),
}
