"""The SciFact evaluation, transcribed literally from its description, with sets and loops and without regard to
speed.

Gold and predictions are dicts from claim ids to evidence, as `json.loads` returns it.
"""

from typing import Any

Evidence = dict[str, dict[str, Any]]


def measures(gold: Evidence, predictions: Evidence) -> dict[str, float]:
    """Compute the twelve measures."""
    correct, relevant, retrieved = counts(gold, predictions)
    result = {}
    for credit in ("abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label"):
        unit = credit.split("_")[0]
        p = divide(correct[credit], retrieved[unit])
        r = divide(correct[credit], relevant[unit])
        result[f"{credit}_precision"] = p
        result[f"{credit}_recall"] = r
        result[f"{credit}_f1"] = divide(2 * p * r, p + r)
    return result


def divide(a: float, b: float) -> float:
    """A quotient that is 0 where the divisor is 0."""
    return 0.0 if b == 0 else a / b


def counts(gold: Evidence, predictions: Evidence) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """The correct ones for each kind of credit, and the relevant and retrieved ones for each unit."""
    relevant = {"abstract": 0, "sentence": 0}
    retrieved = {"abstract": 0, "sentence": 0}
    correct = {
        "abstract_label_only": 0,
        "abstract_rationalized": 0,
        "sentence_selection": 0,
        "sentence_label": 0,
    }
    for claim in gold:
        for sets in gold[claim].values():
            relevant["abstract"] += 1
            for one in sets:
                relevant["sentence"] += len(one["sentences"])
        for document, answer in predictions[claim].items():
            retrieved["abstract"] += 1
            retrieved["sentence"] += len(answer["sentences"])
            if document not in gold[claim]:
                continue
            sets = [set(one["sentences"]) for one in gold[claim][document]]
            ok = answer["label"] == gold[claim][document][0]["label"]
            if ok:
                correct["abstract_label_only"] += 1
            if ok and any(one <= first_sentences(sets, answer) for one in sets):
                correct["abstract_rationalized"] += 1
            c = len(covered(sets, answer))
            correct["sentence_selection"] += c
            if ok:
                correct["sentence_label"] += c
    return correct, relevant, retrieved


def first_sentences(sets: list[set[int]], answer: dict[str, Any]) -> set[int]:
    """The sentences of an answer that count: the first three, or as many as the smallest gold set has."""
    k = max(3, min(len(one) for one in sets))
    return set(answer["sentences"][:k])


def covered(sets: list[set[int]], answer: dict[str, Any]) -> set[int]:
    """The union of the gold sets of which every sentence is listed."""
    union: set[int] = set()
    for one in sets:
        if one <= set(answer["sentences"]):
            union |= one
    return union


def official_sentences(sets: list[dict[str, Any]], answer: dict[str, Any]) -> int | None:
    """The correct sentences as the leaderboard's program counts them; None where that program stops."""
    gold, listed, correct = [set(one["sentences"]) for one in sets], set(answer["sentences"]), 0
    for sentence in listed:
        holding = [one for one in gold if sentence in one]
        if len(holding) > 1:
            return None
        correct += len(holding) == 1 and holding[0] <= listed
    return correct
