"""Metrics of other fields come from labels to every platform, with the same scores everywhere."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium.hosting.bundles import program
from tests.support.host_line import run_podium

SCORES = program.scores  # of a packed program, before any test looks at it

HEAD = """
import numpy as np
import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def higher_is_better() -> bool:
    return HIGHER

def column(submission: pd.DataFrame, name: str) -> pd.Series:
    if name not in submission:
        raise ParticipantVisibleError(f"expected a column {name}")
    if not pd.api.types.is_numeric_dtype(submission[name]):
        raise ParticipantVisibleError(f"{name}: expected numbers")
    return submission[name]

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
"""
SERIES = (
    HEAD.replace("HIGHER", "False")
    + """
    error = (solution["sales"] - column(submission, "sales")).abs()
    return float(error[solution["sales"].notna()].mean())
"""
)
RANKING = (
    HEAD.replace("HIGHER", "True")
    + """
    values = []
    table = solution.assign(score=column(submission, "relevance").to_numpy())
    for _, rows in table.groupby("query"):
        gains = 2.0 ** rows.sort_values(["score", row_id_column_name], ascending=False)["relevance"] - 1
        best = 2.0 ** rows["relevance"].sort_values(ascending=False) - 1
        weights = 1 / np.log2(np.arange(len(rows)) + 2)
        ideal = float((best * weights).sum())
        values.append(float((gains * weights).sum()) / ideal if ideal else 1.0)
    return float(np.mean(values))
"""
)
BOXES = (
    HEAD.replace("HIGHER", "True")
    + """
    names = ["left", "top", "right", "bottom"]
    for name in names:
        column(submission, name)
    values = []
    boxes = {image: rows[names].to_numpy() for image, rows in submission.groupby(row_id_column_name)}
    for image, rows in solution.groupby(row_id_column_name):
        found = boxes.get(image, np.zeros((0, 4)))
        for box in rows[names].to_numpy():
            size = np.minimum(box[2:], found[:, 2:]) - np.maximum(box[:2], found[:, :2])
            both = np.clip(size, 0, None).prod(axis=1)
            either = (box[2:] - box[:2]).prod() + (found[:, 2:] - found[:, :2]).prod(axis=1) - both
            values.append(float(np.max(both / np.maximum(either, 1e-9), initial=0.0)))
    return float(np.mean(values))

COMPLETE_SUBMISSION = True
"""
)

RANDOM = np.random.default_rng(8)
DAYS = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")


def labels_of_series() -> pd.DataFrame:
    """Sales of two shops, with days without a number."""
    sales = np.round(np.sin(np.arange(120) / 9) * 20 + 50 + RANDOM.normal(0, 3, 120), 2)
    sales[RANDOM.random(120) < 0.1] = np.nan
    return pd.DataFrame({"id": [f"{shop}_{day}" for shop in "ab" for day in DAYS], "sales": sales})


def labels_of_ranking() -> pd.DataFrame:
    """Six documents for each query."""
    names = [(f"q{query}", f"q{query}-d{number}") for query in range(30) for number in range(6)]
    table = pd.DataFrame(names, columns=["query", "pair"])
    return table.assign(relevance=RANDOM.integers(0, 4, len(table)))


def labels_of_boxes() -> pd.DataFrame:
    """One to three boxes in each image."""
    images = [f"img{n}.png" for n in range(70) for _ in range(1 + n % 3)]
    corner = RANDOM.integers(0, 50, (len(images), 2)) + 0.5
    size = RANDOM.integers(5, 40, (len(images), 2))
    table = pd.DataFrame(np.hstack([corner, corner + size]), columns=["left", "top", "right", "bottom"])
    return pd.concat([pd.DataFrame({"image": images}), table], axis=1)


FIELDS: dict[str, tuple[str, Any, list[str]]] = {
    "a time series with gaps": (SERIES, labels_of_series, ["--new-ids", "--test", "0.8"]),
    "a ranking": (RANKING, labels_of_ranking, ["--items", "query", "--set", "row_id_column_name=pair"]),
    "boxes": (BOXES, labels_of_boxes, []),
}
DATES = ["--start", "2027-01-15", "--switch", "2027-04-01", "--end", "2027-04-15"]


def parts_in(text: str) -> list[float]:
    """The scores of the Public and of the Private part in what a command printed."""
    return [float(re.search(rf"^{part} +(\S+)", text, re.MULTILINE)[1]) for part in ("Public", "Private")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::podium.common.errors.ContractWarning")
@pytest.mark.parametrize("field", FIELDS)
def test_a_metric_of_another_field_has_the_same_scores_everywhere(
    capsys, in_process, tmp_path, monkeypatch, field
):
    source, labels, options = FIELDS[field]
    metric, files, truth = tmp_path / "mine.py", tmp_path / "files", tmp_path / "labels.csv"
    metric.write_text(source)
    labels().to_csv(truth, index=False)
    code, report, err = run_podium(capsys, "make", truth, "--metric", metric, "--out", files, *options)
    assert code == 0, err
    row = re.search(r"sample_submission.csv \| (\S+) \| (\S+) \|", report)
    expected = [float(row[1]), float(row[2])]
    given = files / "private" / "solution.csv", files / "public" / "sample_submission.csv"
    told = {
        "score": run_podium(capsys, "score", *given, "--metric", metric),
        "check": run_podium(capsys, "check", metric, *given),
        "emulate": run_podium(capsys, "emulate", metric, *given),
    }
    found = {name: (code, parts_in(out)) for name, (code, out, _) in told.items()}
    assert found == dict.fromkeys(told, (0, expected))
    packed = []
    monkeypatch.setattr(program, "scores", lambda *arguments: packed.append(SCORES(*arguments)) or packed[-1])
    for platform in ("codabench", "evalai"):
        line = ["bundle", platform, files, "--metric", metric, "--title", "T", *DATES]
        assert run_podium(capsys, *line, "--out", tmp_path / platform)[0] == 0
    assert [[round(each[part], 6) for part in ("Public", "Private")] for each in packed] == [expected] * 2
    line = ["publish", "kaggle", files, "--metric", metric, "--title", "T", "--dry-run"]
    code, out, err = run_podium(capsys, *line)
    assert (code, "kaggle competitions solution create" in out) == (0, True), err
