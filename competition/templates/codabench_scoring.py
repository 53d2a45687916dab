"""Score a submission on Codabench: python scoring.py INPUT OUTPUT

INPUT/ref holds the solution and INPUT/res the submission, one file each; OUTPUT/scores.json gets the score.
Beside this file are the metric and settings.json, which says how to call it.  What is printed here, the
participant can read in the log: the text of a ParticipantVisibleError, and of anything else only that it
happened.
"""

import importlib.util
import json
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

HERE = Path(__file__).parent
UNEXPECTED = "Evaluation metric raised an unexpected error"


def main(input_folder: str, output_folder: str) -> int:
    """The exit code: 0, or 1 with the reason in the log."""
    try:
        score = evaluate(Path(input_folder))
    except Exception as problem:
        visible = type(problem).__name__ == "ParticipantVisibleError"
        print(f"error: {problem}" if visible else UNEXPECTED)
        return 1
    Path(output_folder, "scores.json").write_text(json.dumps({"score": score}), encoding="utf-8")
    print(f"score: {score}")
    return 0


def evaluate(folder: Path) -> float:
    settings = json.loads(Path(HERE, "settings.json").read_text(encoding="utf-8"))
    warnings.simplefilter("ignore")
    metric = load(HERE / settings["metric"])
    solution = read(only_file(folder / "ref"), settings)
    try:
        file = only_file(folder / "res")
        own_reader = getattr(metric, "read_submission", None)
        is_csv = file.name.endswith((".csv", ".csv.gz"))
        submission = read(file, settings) if is_csv or own_reader is None else own_reader(file)
    except (ValueError, EOFError, OSError) as problem:
        raise ParticipantVisibleError(f"the submission cannot be read: {problem}") from None
    row_id = settings["arguments"]["row_id_column_name"]
    if not settings["free_rows"] and row_id in submission:
        submission = submission[submission[row_id].astype(str).isin(solution[row_id].astype(str))]
    score = float(metric.score(solution, submission, **settings["arguments"]))
    if not math.isfinite(score):
        raise ValueError(score)
    return score


class ParticipantVisibleError(Exception):
    """The submission cannot be read."""


def load(path: Path) -> Any:
    """The metric file as a module."""
    spec: Any = importlib.util.spec_from_file_location("metric_file", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["metric_file"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def only_file(folder: Path) -> Path:
    """The one file in a folder, hidden ones and what zip programs leave aside."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and is_content(path)]
    if len(files) != 1:
        found = ", ".join(path.name for path in files) or "none"
        raise FileNotFoundError(f"expected one file, found {found}")
    return files[0]


def is_content(path: Path) -> bool:
    return not path.name.startswith(".") and path.name != "metadata" and "__MACOSX" not in path.parts


def read(path: Path, settings: dict[str, Any]) -> pd.DataFrame:
    """Only empty cells are missing, and text stays text, whatever it looks like."""
    return pd.read_csv(
        path,
        dtype=dict.fromkeys(settings["text_columns"], str),
        keep_default_na=False,
        na_values=[""],
        low_memory=False,
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
