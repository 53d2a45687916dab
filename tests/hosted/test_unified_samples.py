"""The sample of the Unified Metric is what its generator makes, and frozen scores stay as they are."""

import json
from pathlib import Path

import pandas as pd
import pytest

import metric
from examples.essays import SOLUTION_SAMPLE, SUBMISSION_SAMPLE, make_competition, write_samples
from podium.contest import reading
from podium.metric import hosted

ROOT = Path(metric.__file__).parent
REAL = ROOT.parent / "shared" / "data" / "fp1"
needs_real = pytest.mark.skipif(not REAL.exists(), reason="the Feedback-Prize data is not beside the project")
GOLDEN = json.loads((ROOT / "tests" / "support" / "golden.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.filterwarnings("ignore::metric.TruthOverlapWarning")


def read(path: Path) -> pd.DataFrame:
    """Read a table as `podium score` reads it."""
    return reading.read_submission(hosted.load(metric.NAME), path, {})


@pytest.fixture(scope="module")
def sample():
    """The sample solution and submission."""
    return read(ROOT / SOLUTION_SAMPLE), read(ROOT / SUBMISSION_SAMPLE)


def test_samples_are_what_their_generator_writes(tmp_path):
    write_samples(tmp_path)
    for name in (SOLUTION_SAMPLE, SUBMISSION_SAMPLE):
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()


# --- frozen scores: a change of any digit needs a new version of the metric -------------------------


def test_version():
    assert metric.__version__ == GOLDEN["version"]


def test_golden_scores_of_the_sample(sample):
    scores = {
        "default": metric.score(*sample, "row_id"),
        "one population": metric.score(*sample, "row_id", subpopulation_column_names=""),
        "intersectional": metric.score(*sample, "row_id", intersectional=True),
        "mean": metric.score(*sample, "row_id", temperature=0.0),
        "minimum": metric.score(*sample, "row_id", temperature=float("inf")),
        "all types": metric.score(*sample, "row_id", average_all_types=True),
        "words only": metric.score(*sample, "row_id", segment_weight=1.0, overlap_threshold=0.75),
    }
    assert scores == GOLDEN["sample"]


def test_golden_score_of_two_thousand_essays():
    assert metric.score(*make_competition(2000, seed=2), "row_id") == GOLDEN["two thousand essays"]


@needs_real
def test_golden_score_of_the_feedback_prize_truth():
    pair = [read(REAL / name) for name in ("solution.csv.gz", "submission.csv.gz")]
    assert metric.score(*pair, "row_id") == GOLDEN["feedback prize"]


@needs_real
def test_real_submissions_to_the_five_public_essays():
    """Their truth is not public, so each submission is scored as if another one were the truth."""
    files = sorted((REAL / "real_submissions").glob("*.csv"))
    frames = {
        path.stem: read(path)
        .rename(columns={"id": "essay_id", "class": "discourse_type"})
        .assign(score_discourse_effectiveness_0=1, score_discourse_effectiveness_1=0, discourse_effectiveness=0)
        for path in files
    }
    assert len(frames) == 3
    for name, frame in frames.items():
        scores = {
            other: metric.score(truth, frame, "essay_id", subpopulation_column_names="")
            for other, truth in frames.items()
        }
        assert scores[name] == 1.0
        assert scores == GOLDEN["real submissions"][name]
