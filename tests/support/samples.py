"""A metric with its sample solution and submission, for what has to hold for every metric."""

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import podium
from podium.contest import reading
from podium.metric import hosted
from podium.metric.contract import Metric

ROOT = Path(podium.__file__).parent.parent
ESSAYS = ROOT / "metrics" / "readable" / "samples" / "essays"
DOCUMENTS = ROOT / "metrics" / "markup_consistency" / "samples" / "documents"


class Case(NamedTuple):
    """A metric with a solution and a submission."""

    loaded: Metric
    metric: Any
    solution: pd.DataFrame
    submission: pd.DataFrame
    row_id: str

    @property
    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The solution and the submission."""
        return self.solution, self.submission

    def score(self, solution: pd.DataFrame | None = None, submission: pd.DataFrame | None = None) -> float:
        frames = (
            self.solution if solution is None else solution,
            self.submission if submission is None else submission,
        )
        score: float = self.metric.score(*frames, self.row_id)
        return score


def case_of(metric: str) -> Case:
    """Load a metric and its samples."""
    loaded = hosted.load(metric)
    samples = hosted.find(metric).parent / "samples"
    paths = [samples / "solution.csv", samples / "submission.csv"]
    if not samples.is_dir():  # the files of the Unified Metric are at the top of the project
        paths = [ROOT / "solution_sample.csv", ROOT / "sample_submission.csv"]
    solution = reading.read_solution(loaded, paths[0], {}).drop(columns="Usage", errors="ignore")
    submission = reading.read_submission(loaded, paths[1], {})
    return Case(loaded, loaded.module, solution, submission, str(solution.columns[0]))
