"""What the Unified Metric's companion tells beside the score, and how its measures are resampled."""

import math

import numpy as np
import pandas as pd
import pytest

import podium
from podium import statistics
from tests.support.frames import perfect, solution, words
from tests.support.samples import ROOT
from tests.support.unified import evaluate

# --- tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("essays", [49, 50])
def test_few_essays_are_noticed(essays):
    truth = solution(*((f"{n}", "Lead", "0 1", 1) for n in range(essays)), ell_status=["No"] * essays)
    group = "1 group of fewer than 50 essays, such as ell_status = No (49)"
    for column, told in (("", "49 essays are few"), ("ell_status", f"chance plays a large part in {group}")):
        notices = evaluate(truth, perfect(truth), subpopulation_column_names=column).explanation.notices
        assert [notice.partition(":")[0] for notice in notices] == [told] * (essays < 50)


# --- prepared solutions -----------------------------------------------------------------------------


# --- measures and resampling ------------------------------------------------------------------------


def test_a_sub_population_absent_from_a_resample_is_left_out_of_its_softmin():
    truth = solution(
        ("A", "Lead", words(0, 9), 1),
        ("B", "Lead", words(0, 9), 1),
        ("C", "Claim", words(0, 9), 1),
        ell_status=["No", "No", "Yes"],
    )
    evaluation = evaluate(truth, perfect(truth).head(1), subpopulation_column_names="ell_status")
    drawn = statistics.resample(evaluation.prepared, evaluation.statistics, np.array([[2, 1, 0]]))
    score, no, yes, *types = drawn[0]
    assert score == no == pytest.approx(0.8)
    assert math.isnan(yes)
    assert types[0] == pytest.approx(0.8)
    assert math.isnan(types[2])


def test_segments_of_a_train_csv_without_row_ids_are_named_by_their_numbers():
    solution = pd.read_csv(ROOT / "examples" / "data" / "train.csv", dtype={"essay_id": str})
    effective = solution["discourse_effectiveness"]
    submission = solution.drop(columns="discourse_effectiveness").assign(
        score_discourse_effectiveness_0=1.0 - effective, score_discourse_effectiveness_1=effective * 1.0
    )
    rows = podium.score(solution, submission, subpopulation_column_names="").explanation.rows
    assert rows["row_id"].tolist() == [*map(str, range(len(solution)))] * 2
    assert (rows["row_id"] == rows["partner"]).all()
