"""How long do the two markup metrics take, on one essay and on corpora?

python -m benchmarks.markups readable
python -m benchmarks.markups markup_consistency
"""

import json
import random
import sys
from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchmarks.measure import machine, print_table, processor_seconds, seconds_of
from podium.metric import hosted

REPEATS = 5
CORPORA = (1_000, 4_000, 16_000)
CORPUS_REPEATS = 3
FRAGMENTS = (10, 50)

Frames = tuple[pd.DataFrame, pd.DataFrame]
Mark = tuple[int, int, str]  # the first character, the one behind the last, and the tag

LARGEST = {"markup_consistency": 1_999, "readable": 500}  # fragments of one element, or selections


def main(name: str) -> None:
    """Print the tables of one metric."""
    metric = hosted.module(name)
    print(machine(), flush=True)
    rows = [one_essay(metric, name, fragments) for fragments in FRAGMENTS]
    print_table("One essay, three annotators and an algorithm", ["what", "time"], rows)
    header = ["essays", "prepare", "a submission", "together", "per essay"]
    title = "Corpora of two experts and an algorithm, 10 fragments each, least processor time of"
    corpora = [of_corpus(metric, corpus(name, documents)) for documents in CORPORA]
    print_table(f"{title} {CORPUS_REPEATS}", header, corpora)
    rows = [
        [f"{LARGEST[name]:,} {what}", f"{seconds_of_largest(metric, *spans):.2f} s"]
        for what, spans in largest(LARGEST[name]).items()
    ]
    print_table("The largest markups, an expert's and the algorithm's", ["what", "time"], rows)


def one_essay(metric: Any, name: str, fragments: int) -> list[str]:
    """Time the metric on one essay."""
    solution, submission = corpus(name, 1, fragments, 3)
    seconds = seconds_of(lambda: metric.score(solution, submission, "document_id"), REPEATS)
    return [f"{fragments} fragments", f"{1000 * seconds:,.1f} ms"]


def corpus(name: str, documents: int, fragments: int = 10, experts: int = 2) -> Frames:
    """Make up essays whose readers agree on most marks: a solution and a submission."""
    rng = random.Random(0)
    rows = []
    for number in range(documents):
        truth = [
            (start, start + rng.choice((5, 10, 20, 50)), rng.choice("abcde"))
            for start in rng.choices(range(1500), k=fragments)
        ]
        *markups, algorithm = (json.dumps(markup(name, seen(truth, rng))) for _ in range(experts + 1))
        rows.append((f"essay-{number}", "rus", f"[{', '.join(markups)}]", algorithm))
    table = pd.DataFrame(rows, columns=["document_id", "subject", "markups", "markup"])
    return table.drop(columns="markup"), table[["document_id", "markup"]]


def seen(truth: list[Mark], rng: random.Random) -> list[Mark]:
    """The marks of one reader, who misses some, moves some ends and takes some other tags."""
    kept = [mark for mark in truth if rng.random() > 0.15]
    return [
        (start, end + rng.choice((0, 0, 0, 5)), tag if rng.random() < 0.8 else rng.choice("abcde"))
        for start, end, tag in kept
    ]


def markup(name: str, marks: Sequence[Mark]) -> dict[str, Any]:
    """A markup in the form of a metric."""
    if name == "readable":
        selections = [{"startSelection": start, "endSelection": end, "type": tag} for start, end, tag in marks]
        return {"criteria": {"K1": 1}, "selections": selections}
    return {
        "elements": [{"fragments": [{"start": start, "end": end, "tags": [tag]} for start, end, tag in marks]}]
    }


def of_corpus(metric: Any, frames: Frames) -> list[str]:
    """Time the metric on a corpus."""
    solution, submission = frames
    prepared = metric.prepare(solution, "document_id")
    work = [lambda: metric.prepare(solution, "document_id"), lambda: prepared.statistics(submission)]
    prepare, evaluate = processor_seconds(work, CORPUS_REPEATS)
    both, documents = prepare + evaluate, len(solution)
    seconds = [f"{taken:.2f} s" for taken in (prepare, evaluate, both)]
    return [f"{documents:,}", *seconds, f"{1e6 * both / documents:,.0f} µs"]


def largest(number: int) -> dict[str, list[Sequence[tuple[int, int]]]]:
    """Make spans of an expert and of the algorithm, side by side and each within the next."""
    apart = [(10 * each, 10 * each + 5) for each in range(number)]
    nested = [[(each + shift, 10_000 - each) for each in range(number)] for shift in (0, 1)]
    return {"apart": [apart, apart], "nested": [*nested]}


def seconds_of_largest(
    metric: Any, ours: Sequence[tuple[int, int]], theirs: Sequence[tuple[int, int]]
) -> float:
    """Time one submission of the largest size."""
    cells = [markup(metric.NAME, [(*ends, "a") for ends in spans]) for spans in (ours, theirs)]
    one, other = map(json.dumps, cells)
    solution = pd.DataFrame({"document_id": ["d"], "subject": ["rus"], "markups": [f"[{one}]"]})
    submission = pd.DataFrame({"document_id": ["d"], "markup": [other]})
    prepared = metric.prepare(solution, "document_id", "m" if metric.NAME == "readable" else "ama")
    return seconds_of(lambda: prepared.statistics(submission))


if __name__ == "__main__":
    main(sys.argv[1])
