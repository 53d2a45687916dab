"""How long does it take from the output of a model to a score?

    python -m benchmarks.spans [FOLDER]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair. Without it, made-up
essays of the same number and size are scored. The texts are made up, and a word is one or two tokens.
"""

import functools
import statistics
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import podium
from benchmarks.measure import machine, print_table, seconds_of
from examples.essays import make_competition
from podium import spans
from podium.common.arrays import Floats, Ints
from podium.common.errors import HostError
from podium.metric import hosted
from podium.spans.segments import to_segments
from podium.tables.formats import read_table

REAL_ESSAYS = 15_594
REPEATS = 9
metric = hosted.module("unified")


def main(folder: Path | None) -> None:
    """Print both tables."""
    warnings.simplefilter("ignore", metric.TruthOverlapWarning)
    if folder is None:
        solution, submission = make_competition(REAL_ESSAYS)
    else:
        text = {"essay_id", "discourse_type", "predictionstring"}
        solution, submission = (
            read_table(folder / f"{name}.csv.gz", text, HostError) for name in ("solution", "submission")
        )
    print(machine())
    fold = podium.prepare(solution)
    prepared: Any = fold.prepared["All"]  # of the class in the metric file
    essay_ids = prepared.items
    predicted = spans.from_table(submission, essay_ids)
    segments = to_segments(fold, predicted, essay_ids)

    def sums_to_score(counts: Floats) -> float:
        return float(prepared.measures(metric.sums_of_groups(counts, prepared.groups))[0])

    frame = spans.to_submission(predicted, essay_ids)
    work = {
        "scoring: count and measures": lambda: sums_to_score(prepared.count(prepared.compare(segments))),
        "from arrays of spans to the score": lambda: spans.score(fold, predicted, essay_ids),
        "a submission's frame to the score": lambda: sums_to_score(prepared.statistics(frame)),
        "a submission's frame to segments": lambda: prepared.read(submission),
        "a submission's frame to spans (from_table)": lambda: spans.from_table(submission, essay_ids),
        "arrays of spans to a frame": lambda: spans.to_submission(predicted, essay_ids),
    }
    turns = [{name: seconds_of(part) for name, part in work.items()} for _ in range(REPEATS)]
    seconds = {name: statistics.median(turn[name] for turn in turns) for name in work}
    scoring, reading = seconds["scoring: count and measures"], seconds["a submission's frame to segments"]
    print_table(
        f"{len(predicted):,} segments of {len(essay_ids):,} essays, median seconds of {REPEATS} turns",
        ["work", "seconds", "times scoring", "times reading"],
        [
            [name, f"{value:.3f}", f"{value / scoring:.2f}", f"{value / reading:.2f}"]
            for name, value in seconds.items()
        ],
    )
    show_growth(predicted)


def show_growth(predicted: spans.Spans) -> None:
    """Time the way from tokens to segments and back, for 1, 4 and 16 times the essays."""
    rows: list[list[str]] = []
    first = None
    for essays in (200, 800, 3200):
        some = spans.without_overlaps(predicted[predicted.essay < essays])
        texts, offsets = made_up(some, essays)
        tags = spans.bio_tags(texts, offsets, some)
        probabilities = [np.eye(len(spans.LABELS), dtype=np.float32)[tag] for tag in tags]
        tokens = sum(map(len, offsets))
        back = seconds_of(functools.partial(spans.bio_tags, texts, offsets, some))
        ours = functools.partial(spans.from_tokens, texts, offsets, probabilities, spans.LABELS)
        seconds = seconds_of(ours, 3)
        first = first or seconds / tokens
        growth = seconds / tokens / first
        rows.append([f"{essays:,}", f"{tokens:,}", f"{seconds:.2f}", f"{growth:.2f}", f"{back:.2f}"])
    print_table(
        "From tokens to segments and back to tags, seconds",
        ["essays", "tokens", "from_tokens", "a token, times the first", "bio_tags"],
        rows,
    )


def made_up(predicted: spans.Spans, essays: int) -> tuple[list[str], list[Ints]]:
    """Make up texts of words of four letters, and the offsets of their tokens."""
    words = np.zeros(essays, dtype=np.int64)
    np.maximum.at(words, predicted.essay, predicted.last + 1)
    offsets = []
    for number in words.tolist():
        start = 5 * np.arange(number)
        halves = np.stack([start, start + 2, start + 2, start + 4], axis=1).reshape(-1, 2)
        offsets.append(halves)
    return ["word " * number for number in words.tolist()], offsets


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
