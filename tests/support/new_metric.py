"""The metric that `podium new --statistics` writes, its samples, and copies of it with slips."""

from pathlib import Path

import pandas as pd

import podium

TEMPLATE = Path(podium.__file__).parent / "metric" / "new_metric"
SAMPLES = [str(TEMPLATE / "samples" / f"{name}.csv") for name in ("solution", "submission")]
SOLUTION, SUBMISSION = map(pd.read_csv, SAMPLES)


def metric_with(folder: Path, *edits: tuple[str, str]) -> Path:
    """The template's metric with these edits; what takes the place of nothing stands at the end."""
    text = (TEMPLATE / "metric.py").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new) if old else f"{text}\n{new}\n"
    (folder / "metric.py").write_text(text, encoding="utf-8")
    return folder
