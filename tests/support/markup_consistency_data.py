"""Made-up essays with markups of several experts and an algorithm, of any size, from a seed.

    python -m tests.support.markup_consistency_data

writes the samples in ``metrics/markup_consistency/samples/``: as CSV files and as a folder of documents.
"""

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

SAMPLES = Path(__file__).parents[2] / "metrics" / "markup_consistency" / "samples"

PHRASES = (
    "the author writes about memory and duty because people forget what war did to them while an old "
    "teacher keeps letters photographs notebooks of every pupil who left for the front so that nobody "
    "is lost I agree with this view since a nation without memory has no future"
)
WORDS = PHRASES.split()
TAGS = ("grammar", "wording", "logic", "fact", "style")
COMMENTS = (
    "this word repeats the one before",
    "this word is not needed here",
    "no reason is given for this claim",
    "the date is wrong",
    "The author does not say this",
)
KINDS = ("error", "argument", "remark")


class Remark(NamedTuple):
    """Something to be marked in an essay: the words, a tag, a comment, and the element it belongs to."""

    first: int
    last: int
    tag: str
    comment: str
    element: int


def essay(rng: random.Random, words: int) -> tuple[str, list[tuple[int, int]]]:
    """A text, with the start and the end of each of its words."""
    chosen = [rng.choice(WORDS) for _ in range(words)]
    spans, end = [], -1
    for word in chosen:
        spans.append((end + 1, end + 1 + len(word)))
        end = spans[-1][1]
    return " ".join(chosen), spans


def remarks(rng: random.Random, words: int, number: int, elements: int) -> list[Remark]:
    """The remarks that a perfect reader would make."""
    made = []
    for _ in range(number):
        first = rng.randrange(words)
        last = min(words - 1, first + rng.choice((0, 1, 2, 4, 9)))
        made.append(Remark(first, last, rng.choice(TAGS), rng.choice(COMMENTS), rng.randrange(elements)))
    return made


def seen(rng: random.Random, truth: list[Remark], words: int) -> list[Remark]:
    """The remarks of one reader, who misses some, moves their ends, takes other tags and adds other remarks."""
    kept = []
    for remark in truth:
        chance = rng.random()
        if chance < 0.15:
            continue
        if chance < 0.25:
            remark = remarks(rng, words, 1, remark.element + 1)[0]
        first = max(0, remark.first - rng.choice((0, 0, 0, 1)))
        last = min(words - 1, max(first, remark.last + rng.choice((0, 0, 0, 1, -1))))
        tag = remark.tag if rng.random() < 0.8 else rng.choice(TAGS)
        kept.append(remark._replace(first=first, last=last, tag=tag))
    return kept


def markup(
    rng: random.Random, noted: list[Remark], spans: list[tuple[int, int]], comments: bool
) -> dict[str, Any]:
    """Turn a reader's remarks into a markup; with `comments`, elements and fragments get overtexts and tags."""
    elements: dict[int, dict[str, Any]] = {}
    for remark in noted:
        element = elements.setdefault(remark.element, {"fragments": []})
        fragment: dict[str, Any] = {"start": spans[remark.first][0], "end": spans[remark.last][1]}
        fragment["tags"] = [remark.tag] if rng.random() < 0.9 else [remark.tag, "certain"]
        if comments and rng.random() < 0.5:
            words = remark.comment.split()
            fragment["overtexts"] = [{"comment": " ".join(words[rng.randrange(2) :])}]
        element["fragments"].append(fragment)
    if comments:
        for number, element in elements.items():
            element["tags"] = [KINDS[number % len(KINDS)]]
            if rng.random() < 0.5:
                element["overtexts"] = [{"comment": rng.choice(COMMENTS), "tags": [rng.choice(("why", "how"))]}]
    return {"elements": list(elements.values())}


def document(
    rng: random.Random, fragments: int, experts: int, elements: int, comments: bool, words: int
) -> tuple[str, list[dict[str, Any]], dict[str, Any]]:
    """A text with the experts' markups and the algorithm's."""
    text, spans = essay(rng, words)
    truth = remarks(rng, words, fragments, elements)
    readers = [markup(rng, seen(rng, truth, words), spans, comments) for _ in range(experts + 1)]
    return text, readers[1:], readers[0]


def frames(documents: dict[str, tuple[str, list[Any], Any]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The solution and the submission of documents, given by their ids."""
    solution = {
        "document_id": list(documents),
        "markups": [json.dumps(experts, ensure_ascii=False) for _, experts, _ in documents.values()],
        "text": [text for text, _, _ in documents.values()],
    }
    submission = {
        "document_id": list(documents),
        "markup": [json.dumps(algorithm, ensure_ascii=False) for _, _, algorithm in documents.values()],
    }
    return pd.DataFrame(solution), pd.DataFrame(submission)


def corpus(documents: int, fragments: int = 10, experts: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A solution and a submission as in the paper: each markup has one element and no comments."""
    rng = random.Random(0)
    ids = [f"essay-{number}" for number in range(documents)]
    return frames({name: document(rng, fragments, experts, 1, False, words=300) for name in ids})


def samples() -> dict[str, tuple[str, list[Any], Any]]:
    """A dozen documents with every outcome, by their ids."""
    rng = random.Random(23)
    numbers_of_experts = (2, 3, 2, 1, 2, 0, 2, 3, 2, 2, 2, 2)
    documents = {
        f"essay-{number + 1:02}": document(rng, 4 + number % 3, experts, 3, True, words=40)
        for number, experts in enumerate(numbers_of_experts)
    }
    nothing: dict[str, Any] = {"elements": []}
    remark = {"elements": [{"tags": ["remark"], "overtexts": [{"comment": "Well written", "tags": ["why"]}]}]}
    missing_word = {"elements": [{"fragments": [{"start": 7, "end": 7, "tags": ["grammar"]}]}]}
    text, experts, _ = documents["essay-09"]
    documents["essay-09"] = text, experts, nothing
    documents["essay-10"] = documents["essay-10"][0], [nothing, nothing], nothing
    documents["essay-11"] = documents["essay-11"][0], [remark, remark], remark
    documents["essay-12"] = documents["essay-12"][0], [missing_word, missing_word], missing_word
    return documents


def write(folder: Path) -> None:
    """Write the samples into a folder."""
    documents = samples()
    solution, submission = frames(documents)
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    solution.to_csv(folder / "solution.csv", index=False, lineterminator="\n")
    submission.to_csv(folder / "submission.csv", index=False, lineterminator="\n")
    for name, (text, experts, algorithm) in documents.items():
        content = {"id": name, "text": text, "markups": experts, "markup": algorithm}
        path = folder / "documents" / f"{name}.json"
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(SAMPLES)
