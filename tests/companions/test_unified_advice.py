"""The report's first line names what was spoilt, and to put the truth in for this cause gains most.

Submissions are spoilt in one known way each. What a correction gains is measured by scoring the corrected file.
"""

import numpy as np
import pandas as pd
import pytest

import metric
from podium.report import page
from tests.support.frames import perfect, solution, words
from tests.support.unified import evaluate

D = list(metric.PROBABILITY_COLUMNS)
# Neighbors of the same type and of about the same size can be merged so that none of them is matched.
ESSAY = ["Lead", "Claim", "Claim", "Claim", "Evidence", "Evidence", "Evidence", "Concluding Statement"]


def make_truth(essays: int = 150, small: int = 60) -> pd.DataFrame:
    """Essays of eight segments each, of which `small` are by English language learners."""
    random = np.random.default_rng(1)
    rows, statuses = [], []
    for essay in range(essays):
        start = 0
        for name in ESSAY:
            size = int(random.integers(20, 25))
            rows.append((f"e{essay:03}", name, words(start, start + size - 1), int(random.random() < 0.4)))
            statuses.append("Yes" if essay < small else "No")
            start += size
    return solution(*rows, ell_status=statuses)


def cut(text: str, begin: float, end: float) -> str:
    """A part of a segment's words."""
    positions = text.split()
    return " ".join(positions[round(begin * len(positions)) : round(end * len(positions))])


def beginning(text: str) -> str:
    """Too few of a segment's words for a match."""
    return cut(text, 0, 0.4)


def in_parts(rows: pd.DataFrame) -> pd.DataFrame:
    parts = [(0, 0.33), (0.33, 0.66), (0.66, 1)]
    return pd.concat(
        rows.assign(predictionstring=[cut(text, *part) for text in rows["predictionstring"]]) for part in parts
    )


def with_neighbors(rows: pd.DataFrame) -> pd.DataFrame:
    """One segment for all neighbors of the same type."""
    joined = rows.groupby(["essay_id", "discourse_type"], sort=False, as_index=False)
    return joined.agg(dict.fromkeys(rows.columns.drop(["essay_id", "discourse_type"]), "first")).assign(
        predictionstring=joined["predictionstring"].agg(" ".join)["predictionstring"]
    )


def repeated(rows: pd.DataFrame) -> pd.DataFrame:
    """Each segment, and three others where there is no truth."""
    number = rows.groupby("essay_id").cumcount()
    starts = [500 + 300 * n + 10 * number for n in range(3)]
    elsewhere = [rows.assign(predictionstring=[words(at, at + 9) for at in start]) for start in starts]
    return pd.concat([rows, *elsewhere])


SPOILT = {
    "effectiveness": lambda rows: rows.assign(**dict.fromkeys(D, 0.5)),
    "missed": lambda rows: rows.iloc[:0],
    "boundaries": lambda rows: rows.assign(predictionstring=rows["predictionstring"].map(beginning)),
    "merged": with_neighbors,
    "split": in_parts,
    "wrong type": lambda rows: rows.assign(
        discourse_type=rows["discourse_type"].map({"Claim": "Evidence"}).fillna("Claim")
    ),
    "spurious": repeated,
}


def spoil(truth: pd.DataFrame, cause: str, share: float = 0.3, is_chosen: object = None) -> pd.DataFrame:
    """A submission that is spoilt in one way in some essays, and a little in all other ways."""
    right = perfect(truth).drop(columns="discourse_effectiveness", errors="ignore")
    essays = right["essay_id"].unique()
    way = np.array(["right"] * len(essays), dtype=object)
    random = np.random.default_rng(2)
    little = random.permutation(len(essays))[: 4 * len(SPOILT)]
    way[little] = np.repeat(list(SPOILT), 4)
    way[(random.random(len(essays)) < share) if is_chosen is None else is_chosen] = cause
    ways = right["essay_id"].map(dict(zip(essays, way)))
    parts = [SPOILT.get(name, lambda rows: rows)(rows) for name, rows in right.groupby(ways, sort=False)]
    return pd.concat(parts, ignore_index=True).assign(row_id=lambda table: range(len(table)))


def corrected(evaluation: object, cause: str) -> pd.DataFrame:
    """The submission with the truth put in for one cause."""
    rows, given = evaluation.explanation.rows, evaluation.submission.copy()
    predictions = rows[rows["side"] == "prediction"].reset_index(drop=True)
    truths = rows[rows["side"] == "truth"].reset_index(drop=True)
    truth = evaluation.solution.frame.reset_index(drop=True)
    right = perfect(truth)[list(given)]
    of_truth = dict(zip(truth["row_id"], range(len(truth))))
    partner = predictions["partner"].map(of_truth)
    outcome = predictions["outcome"]
    alike = predictions["partner_type"] == predictions["discourse_type"]
    is_lost = (evaluation.explanation.losses[cause] != 0).to_numpy()
    if cause == "effectiveness":
        at = np.flatnonzero(outcome == "matched")
        given.loc[at, D] = right.loc[partner[at].astype(int), D].to_numpy()
    elif cause == "wrong type":
        is_wrong = outcome == "wrong type"
        given.loc[is_wrong, "discourse_type"] = predictions["partner_type"][is_wrong]
    elif cause == "boundaries":
        at = np.flatnonzero(outcome.isin(["matched", "too little overlap"]) & alike)
        given.loc[at, "predictionstring"] = right.loc[partner[at].astype(int), "predictionstring"].to_numpy()
    elif cause == "spurious":
        given = given[~is_lost[: len(given)]]
    elif cause == "missed":
        given = pd.concat([given, right[is_lost[len(given) :]]])
    else:
        gone, back = {"merged": ("covers several", "merged"), "split": ("part of one", "split")}[cause]
        lost = truths["outcome"] == back
        of_partner = given.set_index("row_id").loc[truths.loc[lost, "partner"], D].to_numpy()
        given = pd.concat([given[outcome != gone], right[lost].assign(**dict(zip(D, of_partner.T)))])
    return given.assign(row_id=range(len(given)))


@pytest.mark.parametrize("cause", SPOILT)
def test_the_first_line_names_what_was_spoilt(cause):
    truth = make_truth(90)
    guess = spoil(truth, cause, 0.9 if cause == "effectiveness" else 0.3)
    evaluation = evaluate(truth, guess, subpopulation_column_names="ell_status")
    gained = {
        name: evaluate(truth, corrected(evaluation, name), subpopulation_column_names="ell_status").score
        for name in SPOILT
    }
    assert max(gained, key=gained.get) == cause
    advice = page._advice(evaluation)
    assert (advice["cause"], advice["after"]) == (cause, pytest.approx(gained[cause], abs=1e-9))
    for name, after in gained.items():
        gain = evaluation.explanation.gains.loc["(all)", name]
        assert evaluation.score + gain == pytest.approx(after, abs=1e-9)


def test_a_silent_type_is_named():
    truth = make_truth()
    guess = spoil(truth, "missed", 0)
    silent = guess[guess["discourse_type"] != "Claim"]
    evaluation = evaluate(truth, silent, subpopulation_column_names="ell_status")
    advice = page._advice(evaluation)
    assert (advice["cause"], advice["label"]) == ("missed", "Claim")


@pytest.mark.parametrize(("small", "named"), [(50, True), (49, False)])
def test_only_a_group_of_fifty_is_named(small, named):
    truth = make_truth(small=small)
    guess = spoil(truth, "boundaries", is_chosen=np.arange(150) < small)
    evaluation = evaluate(truth, guess, subpopulation_column_names="ell_status")
    advice = page._advice(evaluation)
    assert advice["cause"] == "boundaries"
    assert (advice["group"] is not None) == named
    assert not named or (advice["group"]["name"], advice["group"]["size"]) == ("ell_status: Yes", 50)


def test_a_perfect_submission_gets_no_advice():
    truth = make_truth(4)
    evaluation = evaluate(truth, perfect(truth), subpopulation_column_names="ell_status")
    assert page._advice(evaluation) is None
