"""Made-up claims and predictions for `metrics/scifact` in any number, and the worked example."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

SAMPLES = Path(__file__).parents[2] / "metrics" / "scifact" / "samples"

# A line of an official file.
Line = dict[str, Any]

GENES = ("ABC1", "KLF9", "PRX4", "TNK2", "USP7", "ZIC3")
EFFECTS = ("raises", "lowers", "does not change", "predicts", "delays")
TARGETS = ("survival of mice", "insulin release", "bone loss", "viral load", "neuron growth", "wound healing")

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


def claims(number: int, seed: int = 1) -> tuple[list[Line], list[Line]]:
    """Made-up claims with gold evidence, and predictions with mistakes of every kind."""
    rng = random.Random(seed)
    gold, predictions = [WORKED_GOLD], [WORKED_PREDICTION]
    claim_id = 52
    while len(gold) < number:
        claim_id += rng.randrange(1, 9)
        documents = [str(rng.randrange(1000, 10**8)) for _ in range(3)]
        truth = {document: _gold(rng) for document in documents[: rng.choice((0, 0, 1, 1, 1, 2))]}
        answer = {document: _answer(sets, rng) for document, sets in truth.items() if rng.random() < 0.9}
        if rng.random() < 0.15:
            answer[documents[2]] = {"sentences": rng.sample(range(12), 2), "label": "SUPPORT"}
        text = f"{rng.choice(GENES)} {rng.choice(EFFECTS)} {rng.choice(TARGETS)}."
        cited = [int(document) for document in documents[: max(1, len(truth))]]
        gold.append({"id": claim_id, "claim": text, "evidence": truth, "cited_doc_ids": cited})
        predictions.append({"id": claim_id, "evidence": answer})
    return gold, predictions


def _gold(rng: random.Random) -> list[Line]:
    """The evidence sets of one abstract, with one to four sentences each."""
    label = rng.choice(("SUPPORT", "SUPPORT", "CONTRADICT"))
    sizes = rng.choice(((1,), (1,), (2,), (1, 1), (1, 2), (3,), (2, 1, 1), (4,)))
    sentences = rng.sample(range(14), sum(sizes))
    sets = []
    for size in sizes:
        sets.append({"sentences": sorted(sentences[:size]), "label": label})
        del sentences[:size]
    return sets


def _answer(sets: list[Line], rng: random.Random) -> Line:
    """The sentences of the sets, of which some are lost, added or repeated, and perhaps a wrong label."""
    sentences = [sentence for one in sets for sentence in one["sentences"] if rng.random() < 0.85]
    mistake = rng.randrange(10)
    if mistake < 3:
        sentences += rng.sample(range(14, 20), 2)
        rng.shuffle(sentences)
    elif mistake == 3:
        sentences = rng.sample(range(14, 20), 3) + sentences
    elif mistake == 4:
        sentences += sentences[:1]
    elif mistake == 5:
        sentences = []
    label = sets[0]["label"]
    if rng.random() < 0.15:
        label = "SUPPORT" if label == "CONTRADICT" else "CONTRADICT"
    return {"sentences": sentences, "label": label}


def frame(lines: Iterable[Line]) -> pd.DataFrame:
    """The table that a hosted metric gets from an official file: one row for each claim."""
    rows = [(line["id"], json.dumps(line["evidence"])) for line in lines]
    return pd.DataFrame(rows, columns=["claim_id", "evidence"])


def json_lines(lines: Iterable[Line]) -> str:
    """Write the text of an official file."""
    return "".join(json.dumps(line) + "\n" for line in lines)
