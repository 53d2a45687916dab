"""How fast is the SciFact metric?

    python -m benchmarks.scifact [GOLD PREDICTIONS [EVAL.PY]]

GOLD and PREDICTIONS are official files, such as claims_dev.jsonl and a system's answers to it; their claims are
taken as often as gives 30,000, under ids of their own.  Without them, made-up claims of that number are scored.
EVAL.PY is the leaderboard's own program, timed in the same run if given: in a process of its own, where reading
is cheaper than here, because beside pandas' many objects the garbage collector has more to look through.
"""

import functools
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.measure import machine, print_table, seconds_of, seconds_of_processes
from competition import metric_file
from tests import scifact_transcription as transcription
from tests.scifact_data import Line, claims, frame, json_lines

ROOT = Path(__file__).parents[1]
CLAIMS = 30_000
REPEATS = 7

scifact = metric_file.load(ROOT / "metrics" / "scifact.py")


def main(arguments: list[str]) -> None:
    sides = [read_lines(Path(name)) for name in arguments[:2]] or list(claims(CLAIMS))
    with tempfile.TemporaryDirectory() as folder:
        gold, predictions = (Path(folder) / name for name in ("gold.jsonl", "predictions.jsonl"))
        for path, lines in zip((gold, predictions), sides):
            path.write_text(json_lines(repeated(lines)), encoding="utf-8")
        print(machine())
        measure(gold, predictions, Path(arguments[2]) if len(arguments) > 2 else None)
    show_growth()


def read_lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def repeated(lines: list[Line]) -> list[Line]:
    """The claims again and again, each time with other ids, until there are enough."""
    return [{**lines[n % len(lines)], "id": n} for n in range(CLAIMS)]


def measure(gold: Path, predictions: Path, program: Path | None) -> None:
    def read_frames() -> tuple[pd.DataFrame, pd.DataFrame]:
        return scifact.read_solution(gold), scifact.read_submission(predictions)

    def transcribe() -> dict[str, float]:
        sides = ({line["id"]: line["evidence"] for line in read_lines(path)} for path in (gold, predictions))
        return transcription.measures(*sides)

    seconds: dict[str, float] = {}

    def time(name: str, work: Callable[[], Any]) -> None:
        seconds[name] = seconds_of(work, REPEATS)

    time("read and score", lambda: scifact.score(*read_frames(), "claim_id"))
    time("  read both files", read_frames)
    solution, submission = read_frames()
    time("  score() of the frames", lambda: scifact.score(solution, submission, "claim_id"))
    time("    digest the solution", lambda: scifact.prepare(solution, "claim_id"))
    prepared = scifact.prepare(solution, "claim_id")
    time("    a submission, solution prepared", lambda: prepared.evaluate(submission))
    evaluation = prepared.evaluate(submission)
    sides = prepared.gold, evaluation.predicted
    time("      judge and count", lambda: scifact.count_claims(*sides, scifact.judge(*sides), CLAIMS))
    time("json.loads of every line", lambda: [read_lines(gold), read_lines(predictions)])
    time("literal transcription, read and score", transcribe)
    if program:
        files = f"--labels_file={gold}", f"--preds_file={predictions}"
        output = f"--metrics_output_file={gold.with_suffix('.json')}"
        (seconds["official program, as a process"],) = seconds_of_processes(
            [[sys.executable, str(program), *files, output]], REPEATS
        )
    assert evaluation.score == transcribe()["sentence_label_f1"]
    print_table(
        f"{CLAIMS:,} claims, {len(sides[1].claim):,} predicted abstracts, median seconds of {REPEATS}",
        ["work", "seconds", "times read and score"],
        [[name, f"{taken:.3f}", f"{taken / seconds['read and score']:.2f}"] for name, taken in seconds.items()],
    )


def show_growth() -> None:
    """How the time of score() grows with the number of claims."""
    rows = []
    for number in (300, 3_000, 30_000, 300_000):
        sides = [frame(lines) for lines in claims(number)]
        seconds = seconds_of(functools.partial(scifact.score, *sides, "claim_id"), 3)
        rows.append([f"{number:,}", f"{seconds:.4f}", f"{seconds / number * 1e6:.1f}"])
    print_table("score() of made-up claims", ["claims", "seconds", "µs per claim"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
