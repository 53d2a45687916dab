"""How long does it take from the output of a model to a score?

    python -m benchmarks.spans [FOLDER]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair.  Without it, made-up
essays of the same number and size are scored.  The texts are made up, and a word is one or two tokens.
"""

import functools
import statistics
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import podium
from benchmarks.measure import machine, print_table, seconds_of
from podium import hosted, spans
from podium.errors import HostError
from podium.essays.spans import to_segments
from podium.files import read_table
from tests.support.essays import make_competition

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
    prepared = fold.prepared["All"]
    essay_ids = prepared.items
    predicted = spans.from_table(submission, essay_ids)
    segments = to_segments(fold, predicted, essay_ids)

    def sums_to_score(counts: npt.NDArray[np.float64]) -> float:
        return float(prepared.measures(metric.sums_of_groups(counts, prepared.groups))[0])

    frame = spans.to_submission(predicted, essay_ids)
    columns = (predicted.first.tolist(), predicted.last.tolist())
    work = {
        "scoring: count and measures": lambda: sums_to_score(prepared.count(prepared.compare(segments))),
        "from arrays of spans to the score": lambda: spans.score(fold, predicted, essay_ids),
        "a submission's frame to the score": lambda: sums_to_score(prepared.statistics(frame)),
        "a submission's frame to segments": lambda: prepared.read(submission),
        "a submission's frame to spans (from_table)": lambda: spans.from_table(submission, essay_ids),
        "arrays of spans to a frame": lambda: spans.to_submission(predicted, essay_ids),
        "… by joining numbers, for comparison": lambda: [
            " ".join(map(str, range(a, b + 1))) for a, b in zip(*columns)
        ],
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
        loop = seconds_of(functools.partial(notebook_loop, texts, offsets, probabilities), 3)
        first = first or seconds / tokens
        growth = seconds / tokens / first
        rows.append(
            [
                f"{essays:,}",
                f"{tokens:,}",
                f"{seconds:.2f}",
                f"{growth:.2f}",
                f"{loop / seconds:.1f}",
                f"{back:.2f}",
            ]
        )
    print_table(
        "From tokens to segments and back to tags, seconds",
        ["essays", "tokens", "from_tokens", "a token, times the first", "a notebook's loop, times", "bio_tags"],
        rows,
    )


def notebook_loop(texts: list[str], offsets: list[Any], probabilities: list[Any]) -> list[tuple[str, str]]:
    """Find segments as notebooks do by hand.

    The label of a word is that of its first token.  A segment is a word with B and the words with I after it.
    """
    segments = []
    for text, of_text, of_tokens in zip(texts, offsets, probabilities):
        word_of_character, word, before = [], -1, True
        for character in text:
            space = character.isspace()
            word += before and not space
            word_of_character.append(word)
            before = space
        labels: dict[int, str] = {}
        for (start, end), label in zip(of_text.tolist(), of_tokens.argmax(axis=1).tolist()):
            if end > start:
                labels.setdefault(word_of_character[start], spans.LABELS[label])
        at = 0
        while at <= word:
            label, begin = labels.get(at, "O"), at
            at += 1
            if label != "O":
                while labels.get(at) == f"I-{label[2:]}":
                    at += 1
                segments.append((label[2:], " ".join(map(str, range(begin, at)))))
    return segments


def made_up(predicted: spans.Spans, essays: int) -> tuple[list[str], list[npt.NDArray[np.int64]]]:
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
