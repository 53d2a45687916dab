"""The worked example of SciFact's evaluation, and what its files and tables look like."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

SAMPLES = Path(__file__).parents[2] / "metrics" / "scifact" / "samples"

# A line of an official file.
Line = dict[str, Any]

# The document's worked example, with CONTRADICT for its REFUTES, which no file may hold.
WORKED_GOLD = {
    "id": 52,
    "claim": "Breast tumours that express ALDH1 have the worse outlook.",
    "evidence": {
        "11": [{"sentences": [0, 1], "label": "SUPPORT"}, {"sentences": [11], "label": "SUPPORT"}],
        "15": [{"sentences": [4], "label": "SUPPORT"}],
    },
    "cited_doc_ids": [11, 15],
}
WORKED_PREDICTION = {
    "id": 52,
    "evidence": {
        "11": {"sentences": [1, 11, 13], "label": "SUPPORT"},
        "16": {"sentences": [18, 20], "label": "CONTRADICT"},
    },
}


def frame(lines: Iterable[Line]) -> pd.DataFrame:
    """The table that a hosted metric gets from an official file: one row for each claim."""
    rows = [(line["id"], json.dumps(line["evidence"])) for line in lines]
    return pd.DataFrame(rows, columns=["claim_id", "evidence"])


def json_lines(lines: Iterable[Line]) -> str:
    """Write the text of an official file."""
    return "".join(json.dumps(line) + "\n" for line in lines)
