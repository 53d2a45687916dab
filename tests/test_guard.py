"""Whatever kind of callable a metric and its companion define, its errors are podium's own."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium import hosted, scoring
from podium.contract import Companion
from podium.errors import CompanionError, HostError, MetricError, SubmissionRejected

TRUTH = pd.DataFrame({"id": ["a", "b"], "y": [1, 0]})

METRIC = """
import functools
from dataclasses import dataclass
import numpy as np
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

class HostVisibleError(Exception):
    pass

def score(solution, submission, row_id_column_name):
    prepared = prepare(solution, row_id_column_name)
    return float(prepared.measures(np.cumsum(prepared.statistics(submission), axis=0)[-1:])[0])

def higher_is_better():
    return True

def prepare(solution, row_id_column_name):
    ids = solution[row_id_column_name].tolist()
    return Prepared(sorted(ids), pd.Index(sorted(ids)).get_indexer(ids), solution.set_index("id")["y"])

@dataclass(frozen=True, eq=False, SLOTS)
class Prepared:
    items: list
    item_of_row: np.ndarray
    truth: pd.Series
    labels: tuple = None
    groups: np.ndarray = None
    measure_names: tuple = None

    def __post_init__(self):
        for name, value in (("labels", [("(all)", "(all)")]), ("measure_names", ["score"])):
            object.__setattr__(self, name, getattr(self, name) or value)
        if self.groups is None:
            object.__setattr__(self, "groups", np.zeros((1, len(self.items)), dtype=int))

    def read(self, submission):
        if "y" not in submission:
            raise ParticipantVisibleError("expected a column y")
        return submission

    def statistics(self, submission):
        try:
            given = self.read(submission)["y"]
        except ParticipantVisibleError as problem:
            raise ParticipantVisibleError(f"{problem}, found {', '.join(submission)}")
        right = given.set_axis(submission["id"])[self.items] == self.truth[self.items]
        return np.stack([right.to_numpy(), np.ones(len(right))], axis=1).astype(float)

    MEASURES
"""
MEASURES = """def measures(self, sums):
        return sums[..., 0, :1] / sums[..., 0, 1:]
"""
STATIC = """@staticmethod
    def measures(sums):
        return sums[..., 0, :1] / sums[..., 0, 1:] + 1 / (sums[0, 1] > 1)
"""
COMPANION = """
import functools
from podium import contract

class Told(contract.Explanation):
    pass

class Helper:
    def cure(self, solution, submission):
        raise KeyError("no cure")
    def __call__(self, solution, arguments):
        raise KeyError("no advice")

def fail(kind, *arguments):
    raise KeyError(kind)

companion = contract.Companion(
    explain=Told,
    diagnose=Helper().cure,
    advice=Helper(),
    sample_submission=functools.partial(fail, "no sample"),
    agreement=lambda prepared, solution: functools.partial(fail, "later"),
    variants=contract.Variants(functools.partial(fail, "no variant"), lambda *_: {"other": (len, None)}),
)
"""


def metric_in(folder: Path, measures: str = MEASURES, slots: bool = False) -> Path:
    source = METRIC.replace("MEASURES", measures).replace("SLOTS", f"slots={slots}")
    (folder / "metric.py").write_text(source)
    (folder / "companion.py").write_text(COMPANION)
    return folder


@pytest.mark.parametrize("slots", [False, True])
def test_a_metric_may_catch_its_own_exceptions(tmp_path: Path, slots: bool) -> None:
    """Its own functions raise them to each other as they are, and podium's errors reach the caller alone."""
    metric = metric_in(tmp_path, slots=slots)
    assert podium.score(TRUTH, TRUTH, metric=metric).score == 1.0
    solution = podium.prepare(TRUTH, metric)
    with pytest.raises(SubmissionRejected, match=r"^expected a column y, found id$"):
        scoring.evaluate(solution, TRUTH[["id"]])
    prepared = solution.prepared["All"]
    with pytest.raises(SubmissionRejected, match=r"^expected a column y$"):
        prepared.read(TRUTH[["id"]])
    again = pickle.loads(pickle.dumps(solution)).prepared["All"]
    with pytest.raises(SubmissionRejected, match=r"^expected a column y$"):
        again.read(TRUTH[["id"]])


def test_the_steps_of_parts_are_guarded_and_may_be_static(tmp_path: Path) -> None:
    solution = podium.prepare(TRUTH.assign(Usage=["Public", "Private"]), metric_in(tmp_path, STATIC))
    evaluated = solution.prepared["All"].statistics(TRUTH)
    with pytest.raises(MetricError, match=r"IndexError.* \(metric\.py, line \d+: return sums"):
        solution.prepared["Public"].measures(evaluated[0])
    one_number = podium.prepare(TRUTH, metric_in(tmp_path, "def measures(self, sums):\n        return 1.0"))
    with pytest.raises(HostError, match=r"measures\(\): expected shape \(1,\)"):
        one_number.prepared["All"].measures(evaluated[:1])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda companion: companion.diagnose(None, TRUTH), "no cure"),
        (lambda companion: companion.advice(TRUTH, {}), "no advice"),
        (lambda companion: companion.sample_submission(TRUTH), "no sample"),
        (lambda companion: companion.agreement(None, TRUTH)(), "later"),
        (lambda companion: companion.variants.of_measures(None), "no variant"),
        (lambda companion: companion.variants.of_statistics()["other"][0](3), "has no len"),
    ],
)
def test_every_callable_of_a_companion_is_guarded(
    tmp_path: Path, call: Callable[[Companion], object], text: str
) -> None:
    """Bound methods, partials, objects that can be called, and functions that functions hand out."""
    with pytest.raises(CompanionError, match=text):
        call(hosted.load(metric_in(tmp_path)).companion)
