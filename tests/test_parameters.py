"""What `--set NAME=VALUE` means is said by the annotations of the metric's score()."""

from pathlib import Path
from typing import Any

import pytest

from podium import hosted
from podium.contract import Metric
from podium.errors import HostError, ToolError, UsageError

ANY_KIND = """
from typing import Optional

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
) -> float:
    return 0.5
"""


@pytest.fixture
def any_kind(tmp_path: Path) -> Metric:
    """A metric with a parameter of every kind that can be set."""
    (tmp_path / "metric_of_any_kind.py").write_text(ANY_KIND)
    return hosted.load(tmp_path / "metric_of_any_kind.py")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("limit=3", 3),
        ("limit=none", None),
        ("limit=None", None),
        ("share=0.25", 0.25),
        ("share=none", None),
        ("strict=yes", True),
        ("strict=False", False),
        ("strict=0", False),
        ("rounds=-1", -1),
        ("weight=inf", float("inf")),
        ("weight=3", 3.0),
        ("name=none", "none"),
        ("name=a=b", "a=b"),
        ("name=", ""),
    ],
)
def test_a_value_has_the_type_of_its_parameter(any_kind: Metric, text: str, value: Any) -> None:
    name, _, _ = text.partition("=")
    parameters = hosted.parse_parameters(any_kind, [text])
    assert parameters == {name: value}
    assert type(parameters[name]) is type(value)


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (["limit=3.5"], HostError, "limit is '3.5': expected a whole number"),
        (["share=half"], HostError, "share is 'half': expected a number"),
        (["weight=nan"], HostError, "weight is 'nan': expected a number"),
        (["rounds=none"], HostError, "rounds is 'none': expected a whole number"),
        (["strict=maybe"], HostError, "strict is 'maybe': expected true or false"),
        (["limit"], UsageError, "--set limit: expected NAME=VALUE"),
        (["limit=3", "limit=none"], UsageError, "--set limit is given twice"),
    ],
)
def test_a_value_of_another_type_is_refused(
    any_kind: Metric, texts: list[str], error: type[ToolError], message: str
) -> None:
    with pytest.raises(error) as refused:
        hosted.parse_parameters(any_kind, texts)
    assert str(refused.value) == message
