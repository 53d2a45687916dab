"""The folder that `podium new --statistics` writes, and copies of a metric for its samples with slips."""

from pathlib import Path

import pandas as pd

import podium

TEMPLATE = Path(podium.__file__).parent / "metric" / "new_metric"
GROUPED = Path(__file__).with_name("grouped_metric.py")
SAMPLES = [str(TEMPLATE / "samples" / f"{name}.csv") for name in ("solution", "submission")]
SOLUTION, SUBMISSION = map(pd.read_csv, SAMPLES)


def metric_with(folder: Path, *edits: tuple[str, str]) -> Path:
    """A metric with these edits; what takes the place of nothing stands at the end."""
    text = GROUPED.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new) if old else f"{text}\n{new}\n"
    (folder / "metric.py").write_text(text, encoding="utf-8")
    return folder
