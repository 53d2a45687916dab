"""What `--set NAME=VALUE` means is said by the annotations of the metric's score()."""

from pathlib import Path

import pytest

from podium.common.errors import HostError, ToolError, UsageError
from podium.metric import hosted
from podium.metric.contract import Metric
from podium.metric.parameters import parse_parameters, signature_of

ANY_KIND = """
from typing import Literal, Optional, Union

import pandas as pd

def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    limit: int | None = None,
    share: Optional[float] = 0.5,
    strict: bool = False,
    rounds: int = 2,
    weight: float = 1.0,
    name: str = "x",
    mean: Literal["macro", "micro"] = "macro",
    either: int | bool | None = 1,
    label: Union[str, int] = 1,
) -> float:
    return 0.5
"""

# What has no annotation has the type of its default.
NO_ANNOTATION = """
def score(
    solution, submission, row_id_column_name, weight=1.0, rounds=2, strict=False, name="x", limit=None,
    mean: "Missing" = "macro", share: "float" = 0.5,
) -> float:
    return 0.5
"""


VALUES = {
    ANY_KIND: {
        "limit=3": 3,
        "limit=none": None,
        "limit=None": None,
        "share=0.25": 0.25,
        "share=none": None,
        "strict=yes": True,
        "strict=true": True,
        "strict=1": True,
        "strict=False": False,
        "strict=0": False,
        "rounds=-1": -1,
        "weight=inf": float("inf"),
        "weight=3": 3.0,
        "name=none": "none",
        "name=a=b": "a=b",
        "name=": "",
        "name=7": "7",
        "either=7": 7,
        "either=yes": True,
        "label=7": 7,
        "label=yes": "yes",
    },
    NO_ANNOTATION: {
        "weight=2": 2.0,
        "rounds=3": 3,
        "strict=no": False,
        "name=7": "7",
        "limit=7": "7",
        "mean=7": "7",
        "share=1": 1.0,
        "row_id_column_name=7": "7",
    },
}


def loaded(folder: Path, source: str) -> Metric:
    """Load a metric with this source."""
    (folder / "plain.py").write_text(source)
    return hosted.load(folder / "plain.py")


@pytest.mark.parametrize("first", ["", "from __future__ import annotations"], ids=["types", "types as texts"])
@pytest.mark.parametrize("source", VALUES, ids=["annotations", "defaults"])
def test_a_value_has_the_type_of_its_parameter(tmp_path: Path, source: str, first: str) -> None:
    metric = loaded(tmp_path, first + source)
    for text, value in VALUES[source].items():
        name, _, _ = text.partition("=")
        parameters = parse_parameters(metric, [text])
        assert parameters == {name: value}
        assert type(parameters[name]) is type(value), text


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (["limit=3.5"], HostError, "limit is '3.5': expected a whole number or none"),
        (["share=half"], HostError, "share is 'half': expected a number or none"),
        (["weight=nan"], HostError, "weight is 'nan': expected a number"),
        (["rounds=none"], HostError, "rounds is 'none': expected a whole number"),
        (["strict=maybe"], HostError, "strict is 'maybe': expected true or false"),
        (["mean=micro"], UsageError, "--set mean: expected a parameter of type int, float, bool or str, found"),
        (["either=x"], HostError, "either is 'x': expected a whole number or true or false or none"),
        (["limit"], UsageError, "--set limit: expected NAME=VALUE"),
        (["limit=3", "limit=none"], UsageError, "--set limit is given twice"),
    ],
)
def test_a_value_of_another_type_is_refused(
    tmp_path: Path, texts: list[str], error: type[ToolError], message: str
) -> None:
    with pytest.raises(error) as refused:
        parse_parameters(loaded(tmp_path, ANY_KIND), texts)
    assert str(refused.value).startswith(message)


def test_equal_settings_have_equal_signatures_without_annotations_too(tmp_path: Path) -> None:
    metric = loaded(tmp_path, NO_ANNOTATION)
    assert signature_of(metric, {"weight": 1}) == signature_of(metric, {})
    assert "|weight:odd|" in signature_of(metric, {"weight": "odd"})
