"""The metric's own test. What all metrics have to keep to, podium checks whenever it scores with this one."""

from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.common.errors import SubmissionRejected

HERE = Path(__file__).parent
SOLUTION = pd.read_csv(HERE / "samples" / "solution.csv")
SUBMISSION = pd.read_csv(HERE / "samples" / "submission.csv")


def test_the_sample_has_its_score() -> None:
    """The sample has the scores that one computes by hand, and the points lost add up to what is missing."""
    result = podium.score(SOLUTION, SUBMISSION, metric=HERE)
    assert result.scores == {"All": 3 / 5, "Public": 1 / 2, "Private": 2 / 3}
    assert result.measures == {"score": 3 / 5, "group = north": 1.0, "group = south": 1 / 3}
    assert result.explanation.rows["points_lost"].sum() == pytest.approx(1 - result.score)


def test_a_missing_column_is_named() -> None:
    """Participants read which column was expected, and which there are."""
    with pytest.raises(SubmissionRejected, match="expected a column label, found id, class"):
        podium.score(SOLUTION, SUBMISSION.rename(columns={"label": "class"}), metric=HERE)
