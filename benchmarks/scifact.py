"""How fast is the SciFact metric?

    python -m benchmarks.scifact [GOLD PREDICTIONS [EVAL.PY]]

GOLD and PREDICTIONS are official files, such as claims_dev.jsonl and a system's answers to it. Their claims
are repeated under new ids until there are 300 and 30,000. Without these files, those of the sample are taken.

EVAL.PY is the leaderboard's own program. If it is given, it is timed in the same run: as a process, and inside
this process. There the garbage collector has more to look through, because of pandas' many objects.
"""

import contextlib
import functools
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd

from benchmarks.measure import machine, print_table, processor_seconds
from podium.metric import hosted
from tests.support import scifact_transcription as transcription
from tests.support.scifact_data import SAMPLES, Line, json_lines

CLAIMS = (300, 30_000)
REPEATS = 7

scifact: Any = hosted.module("scifact")
companion: Any = hosted.module("scifact", "companion")


def main(arguments: list[str]) -> None:
    """Print all tables."""
    samples = [SAMPLES / "claims.jsonl", SAMPLES / "predictions.jsonl"]
    sides = [read_lines(Path(name)) for name in arguments[:2] or samples]
    program = Path(arguments[2]) if len(arguments) > 2 else None
    print(machine())
    for number in CLAIMS:
        with tempfile.TemporaryDirectory() as folder:
            gold, predictions = (Path(folder) / name for name in ("gold.jsonl", "predictions.jsonl"))
            for path, lines in zip((gold, predictions), sides):
                path.write_text(json_lines(repeated(lines, number)), encoding="utf-8")
            show_processes(number, gold, predictions, program)
            show_work(number, gold, predictions, program)


def read_lines(path: Path) -> list[Line]:
    """Read a file with a claim in each line."""
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def repeated(lines: list[Line], number: int) -> list[Line]:
    """Repeat claims, each time with other ids, until there are enough."""
    return [{**lines[n % len(lines)], "id": n} for n in range(number)]


def official(program: Path, gold: Path, predictions: Path) -> list[str]:
    """Write the command line of the leaderboard's program."""
    output = gold.with_name("metrics.json")
    return [
        *(str(program), f"--labels_file={gold}", f"--preds_file={predictions}"),
        *(f"--metrics_output_file={output}", "--verbose"),
    ]


def show_processes(number: int, gold: Path, predictions: Path, program: Path | None) -> None:
    """Time whole processes, from the start of Python to the score."""
    score = ["-m", "podium", "score", "--metric", "scifact", str(gold), str(predictions), "--bare"]
    commands = {"podium score": score, "import pandas": ["-c", "import pandas"]}
    if program:
        commands["official program"] = official(program, gold, predictions)
    work = {
        name: functools.partial(
            subprocess.run, [sys.executable, *command], check=True, stdout=subprocess.DEVNULL
        )
        for name, command in commands.items()
    }
    show(f"{number:,} claims, whole processes", work)
    if program:
        measures = scifact.prepare(companion.read_solution(gold), "claim_id")
        numbers = measures.statistics(companion.read_submission(predictions)).sum(axis=0, keepdims=True)
        values = dict(zip(measures.measure_names, measures.measures(numbers).tolist()))
        assert companion.official_json(values) == json.loads(gold.with_name("metrics.json").read_text())


def show_work(number: int, gold: Path, predictions: Path, program: Path | None) -> None:
    """Time the parts of the work inside this process."""

    def read_frames() -> tuple[pd.DataFrame, pd.DataFrame]:
        return companion.read_solution(gold), companion.read_submission(predictions)

    def transcribe() -> dict[str, float]:
        sides = ({line["id"]: line["evidence"] for line in read_lines(path)} for path in (gold, predictions))
        return transcription.measures(*sides)

    solution, submission = read_frames()
    prepared = scifact.prepare(solution, "claim_id")
    work: dict[str, Callable[[], Any]] = {
        "read and score": lambda: scifact.score(*read_frames(), "claim_id"),
        "  read both files": read_frames,
        "  score() of the frames": lambda: scifact.score(solution, submission, "claim_id"),
        "    a submission, solution prepared": lambda: prepared.statistics(submission),
        "literal transcription, read and score": transcribe,
    }
    if program:
        evaluate = load(program).main
        arguments = mock.patch.object(sys, "argv", official(program, gold, predictions))

        def run() -> None:
            with arguments, contextlib.redirect_stdout(None):
                evaluate()

        work["official program, read and score"] = run
    assert work["read and score"]() == transcribe()["sentence_label_f1"]
    show(f"{number:,} claims, inside one process", work)


def load(program: Path) -> Any:
    """Load a program as a module."""
    spec = importlib.util.spec_from_file_location(program.stem, program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def show(title: str, work: Mapping[str, Callable[[], Any]]) -> None:
    """Time several calls, and print a table with their ratios to the first one."""
    seconds = processor_seconds([*work.values()], REPEATS)
    rows = [[name, f"{taken:.3f}", f"{taken / seconds[0]:.2f}"] for name, taken in zip(work, seconds)]
    header = ["work", "seconds", f"times {next(iter(work))}"]
    print_table(f"{title}, least processor time of {REPEATS}", header, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
