"""The results of scoring have what notebooks and loggers need."""

import math
import posixpath
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from examples.essays import make_competition
from podium.common.errors import HostError, SubmissionRejected
from podium.metric import hosted
from podium.scoring import evaluating
from podium.scoring.explain import mistakes_of
from tests.support.samples import case_of
from tests.support.unified import evaluate


@pytest.fixture(scope="module")
def evaluation() -> evaluating.Evaluation:
    """A made-up submission, scored."""
    return evaluate(*make_competition(60, seed=3, shared_words=False))


def test_what_looks_for_no_mistakes_is_not_explained(evaluation: evaluating.Evaluation) -> None:
    """To explain everything may take longer than to score, and a board asks every file for mistakes."""
    asked = []
    metric = evaluation.solution.metric
    companion = replace(metric.companion, explain=lambda each: asked.append(each) or evaluation.explanation)
    solution = replace(evaluation.solution, metric=replace(metric, companion=companion))
    assert mistakes_of(replace(evaluation, solution=solution)) == []
    assert not asked
    assert mistakes_of(evaluation) == [*evaluation.explanation.mistakes]


def test_loggers_get_no_undefined_measures(evaluation: evaluating.Evaluation) -> None:
    assert evaluation.loggable["score"] == evaluation.score
    assert len(evaluation.loggable) == len(evaluation.measures)
    solution = evaluation.solution.frame
    alone = evaluate(solution[solution["discourse_type"] != "Lead"], evaluation.submission.head(0))
    undefined = sum(map(math.isnan, alone.measures.values()))
    assert undefined > 0
    assert len(alone.loggable) == len(alone.measures) - undefined
    assert not any(map(math.isnan, alone.loggable.values()))


@pytest.mark.parametrize("value", ["a//b", "../x", "x/", ".", "..", "", "/", "é: (ü) & 5%", "long " * 99])
def test_names_for_loggers_fit_the_rule_of_mlflow(value: str) -> None:
    """MLflow's `validate_metric_name`: some characters only, a path that is normal, and at most 250 of them."""
    solution, submission = make_competition(12, shared_words=False)
    solution["ell_status"] = np.where(solution["essay_id"] == solution["essay_id"][0], value, "plain")
    names = podium.score(solution, submission).loggable
    for name in names:
        assert re.fullmatch(r"[/\w.\- :]+", name)
        assert posixpath.normpath(name) == name != "."
        assert not name.startswith(("..", "/"))
        assert len(name) <= 245  # a Trainer puts "eval_" in front of it
    assert len([name for name in names if name.startswith("ell_status/")]) == 2


@pytest.mark.parametrize("name", hosted.names())
def test_ignored_items_are_not_explained(name: str) -> None:
    case = case_of(name)
    item = podium.prepare(case.solution, metric=name).prepared["All"].item_of_row
    usage = pd.Series(item).map({0: "Ignored", 1: "Public"}).fillna("Private").tolist()
    explanation = podium.score(case.solution.assign(Usage=usage), case.submission, metric=name).explanation
    kept, answers = case.solution[item > 0], case.submission
    if not case.loaded.complete_submission:
        answers = answers[answers[case.row_id].isin(kept[case.row_id])]
    expected = podium.score(kept, answers, metric=name).explanation
    assert explanation.notices == expected.notices
    for title, table in expected.tables.items():
        pd.testing.assert_frame_equal(explanation.tables[title], table)
    pd.testing.assert_frame_equal(explanation.rows, expected.rows)


def test_ignored_rows_of_the_solution_are_ignored_in_the_submission() -> None:
    _, metric, solution, submission, _ = case_of("scifact")
    usage = ["Ignored"] * 10 + ["Public"] * 10 + ["Private"] * 20
    fold = podium.prepare(solution.assign(Usage=usage), metric="scifact")
    score = podium.score(fold, submission).score
    assert score == metric.score(solution[10:], submission[10:], "claim_id")
    assert podium.score(fold, submission.astype({"claim_id": float})).score == score
    strange = pd.concat([submission, submission.head(1).assign(claim_id=-1)])
    with pytest.raises(SubmissionRejected, match="Not in the test set: 1, such as -1"):
        podium.score(fold, strange)
    twice = pd.concat([submission, submission[["claim_id"]]], axis=1)
    with pytest.raises(SubmissionRejected, match="expected one column claim_id, found 2"):
        podium.score(fold, twice)


def test_groups_that_differ_only_in_case_or_spaces_are_noticed() -> None:
    solution, _ = make_competition(60, seed=3)
    essays = solution["essay_id"].unique()
    values = dict(zip(essays, ["Yes", "Yes ", "yes", "No"] * len(essays)))
    solution["group"] = solution["essay_id"].map(values)
    prepared = podium.prepare(solution, subpopulation_column_names="group")
    told = "group: 'Yes' and 'Yes ' and 'yes' differ only in case or spaces, and count as 3 groups"
    assert told in prepared.notices


BY_PLACE = """
import numpy as np

def score(solution, submission, row_id_column_name):
    return float(share(right(solution, submission).sum(axis=0)))

def right(solution, submission):
    return np.stack([solution["label"] == submission["label"], np.ones(len(solution))], axis=1).astype(float)

def share(sums):
    return sums[..., 0] / sums[..., 1]

def higher_is_better():
    return True

def prepare(solution, row_id_column_name):
    from podium.statistics import item_wise
    return item_wise(solution, row_id_column_name, right, share)
"""


def test_rows_in_another_order_are_those_of_a_score_that_compares_places(tmp_path: Path) -> None:
    """As platforms do, podium puts the rows into the order of the solution before it calls ``score()``."""
    (tmp_path / "share.py").write_text(BY_PLACE)
    solution = pd.DataFrame({"id": [f"r{n}" for n in range(9)], "label": list("abcabcabc")})
    solution["Usage"] = ["Public", "Private", "Private"] * 3
    submission = solution[["id"]].assign(label=list("abcabcaaa"))
    scores = podium.score(solution, submission, metric=tmp_path / "share.py").scores
    assert scores == {"All": 7 / 9, "Public": 1.0, "Private": 4 / 6}
    shuffled = submission.sample(frac=1, random_state=1)
    assert podium.score(solution, shuffled, metric=tmp_path / "share.py").scores == scores


@pytest.mark.parametrize(("cell", "found"), [(["All"], r"\['All'\]"), (float("nan"), "'missing'"), (1, "1")])
def test_the_part_of_a_row_may_be_anything_and_is_refused(cell: object, found: str) -> None:
    case = case_of("scifact")
    usage = pd.Series(["Public"] * len(case.solution), dtype=object)
    usage[2:3] = [cell]
    with pytest.raises(HostError, match=f"^Usage: expected .*, found {found} in row number 3 of the solution$"):
        podium.prepare(case.solution.assign(Usage=usage), metric="scifact")
