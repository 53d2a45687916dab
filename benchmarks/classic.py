"""The classic set-based F1 of Feedback Prize 1, as its public scorers do it: pandas and sets.

Section 2.1 of the memo: a prediction matches a truth of its type if they share at least half of the words of
each; of several, the one with the largest overlap counts.
"""

import pandas as pd


def macro_f1(solution: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Mean F1 over the discourse types."""
    types = sorted(solution["discourse_type"].unique())
    return sum(f1(solution, submission, name) for name in types) / len(types)


def f1(solution: pd.DataFrame, submission: pd.DataFrame, discourse_type: str) -> float:
    """F1 of one type."""
    truth, predicted = (
        frame.loc[frame["discourse_type"] == discourse_type, ["essay_id", "predictionstring"]]
        .reset_index(drop=True)
        .reset_index(names="segment")
        for frame in (solution, submission)
    )
    pairs = truth.merge(predicted, on="essay_id", suffixes=("_truth", "_predicted"))
    overlaps = pairs.apply(overlap, axis=1, result_type="expand")
    pairs["of_truth"], pairs["of_predicted"] = overlaps[0], overlaps[1]
    matches = pairs[(pairs["of_truth"] >= 0.5) & (pairs["of_predicted"] >= 0.5)].copy()
    matches["best"] = matches[["of_truth", "of_predicted"]].max(axis=1)
    matches = matches.sort_values("best", ascending=False).drop_duplicates("segment_truth")
    tp = matches["segment_predicted"].nunique()
    return tp / (tp + 0.5 * (len(predicted) - tp + len(truth) - tp))


def overlap(pair: "pd.Series[str]") -> tuple[float, float]:
    """Common words as a share of the truth's and of the prediction's."""
    truth, predicted = (
        set(pair["predictionstring_truth"].split()),
        set(pair["predictionstring_predicted"].split()),
    )
    common = len(truth & predicted)
    return common / len(truth), common / len(predicted)
