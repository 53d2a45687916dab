"""Small gold sets and answers for `metrics/scifact`, made by hand and by Hypothesis."""

import itertools
import json
from typing import Any

import pandas as pd
from hypothesis import strategies as st

LABELS = ("SUPPORT", "CONTRADICT")
DOCUMENTS = ("7", "11", "007", "{a: b}", "é\u2028", "\U0001f9ec", "")


def gold_of(*sets: list[int], label: str = "SUPPORT", document: str = "11") -> dict[str, Any]:
    """The gold evidence of one abstract, with these sets of sentences."""
    return {document: [{"sentences": one, "label": label} for one in sets]}


def answer_of(*sentences: Any, label: str = "SUPPORT", document: str = "11") -> dict[str, Any]:
    """An answer that names these sentences of one abstract."""
    return {document: {"sentences": list(sentences), "label": label}}


@st.composite
def gold_claims(draw: st.DrawFn) -> dict[str, Any]:
    """Evidence from up to three abstracts, in disjoint sets of one to five out of twelve sentences."""
    evidence = {}
    for document in draw(st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=3)):
        sentences = draw(st.permutations(range(12)))
        sizes = draw(st.lists(st.sampled_from((1, 1, 2, 3, 4, 5)), min_size=1, max_size=3))
        ends = [end for end in itertools.accumulate(sizes) if end <= 12]
        sets = [sentences[begin:end] for begin, end in zip([0, *ends], ends)]
        evidence |= gold_of(*sets, label=draw(st.sampled_from(LABELS)), document=document)
    return evidence


@st.composite
def answers_to(draw: st.DrawFn, gold: dict[str, Any]) -> dict[str, Any]:
    """Answers that are close to the gold: sentences of some sets, others between them, and repeated ones."""
    answers = {}
    for document in draw(st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=4)):
        sets = [one["sentences"] for one in gold.get(document, [])]
        taken = [sentence for one in sets if draw(st.integers(0, 3)) for sentence in one]
        others = draw(st.lists(st.integers(0, 13), max_size=4))
        sentences = taken + others if draw(st.booleans()) else draw(st.permutations(taken + others))
        answers |= answer_of(*sentences, label=draw(st.sampled_from(LABELS)), document=document)
    return answers


@st.composite
def competitions(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Gold and answers by the ids of the claims."""
    ids = draw(st.lists(st.sampled_from(("1", "10", "9", "b", "é", "007")), unique=True, min_size=1))
    gold = {claim_id: draw(gold_claims()) for claim_id in ids}
    return gold, {claim_id: draw(answers_to(gold[claim_id])) for claim_id in draw(st.permutations(ids))}


def frames(*sides: dict[str, Any]) -> list[pd.DataFrame]:
    """The tables that a hosted metric gets, one for each side."""
    return [
        pd.DataFrame({"claim_id": list(side), "evidence": [json.dumps(one) for one in side.values()]})
        for side in sides
    ]
