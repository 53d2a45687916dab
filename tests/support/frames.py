"""Write small solutions and submissions segment by segment."""

import pandas as pd

import metric

WHOLE = {"subpopulation_column_names": ""}


def solution(*segments: tuple[str, str, str, int], **demographics: list[object]) -> pd.DataFrame:
    """A solution from true segments (essay, type, predictionstring, E) and the writers' attributes."""
    names = ["essay_id", "discourse_type", "predictionstring", "discourse_effectiveness"]
    return _numbered("t", segments, names).assign(**demographics)


def submission(*segments: tuple[str, str, str, float]) -> pd.DataFrame:
    """A submission from predicted segments (essay, type, predictionstring, d[1])."""
    names = ["essay_id", "discourse_type", "predictionstring", "score_discourse_effectiveness_1"]
    frame = _numbered("p", segments, names)
    return frame.assign(score_discourse_effectiveness_0=1.0 - frame["score_discourse_effectiveness_1"])


def perfect(truth: pd.DataFrame) -> pd.DataFrame:
    """The submission that repeats the truth."""
    effective = truth["discourse_effectiveness"]
    return truth.assign(
        score_discourse_effectiveness_0=1 - effective, score_discourse_effectiveness_1=effective
    )


def words(first: int, last: int) -> str:
    """The predictionstring with all positions from first to last."""
    return " ".join(map(str, range(first, last + 1)))


def whole_score(truth: pd.DataFrame, predicted: pd.DataFrame, **parameters: float) -> float:
    """The score without sub-populations."""
    return metric.score(truth, predicted, "row_id", subpopulation_column_names="", **parameters)


def _numbered(prefix: str, segments: tuple[tuple[object, ...], ...], names: list[str]) -> pd.DataFrame:
    """A table of these segments with numbered ids in the column row_id."""
    frame = pd.DataFrame(list(segments), columns=names)
    frame.insert(0, "row_id", [f"{prefix}{number}" for number in range(len(frame))])
    return frame
