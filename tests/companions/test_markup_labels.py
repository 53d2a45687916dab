"""The agreement on labels of whole documents is what its formulas say, and what two programs compute."""

import itertools
import json
import sys
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.markups import labels
from podium.metric import hosted
from tests.support.examples import examples

pytest.importorskip("krippendorff")
pytest.importorskip("statsmodels")

companion = hosted.module("markup_consistency", "companion")
metric = hosted.module("markup_consistency")


def alpha_by_hand(of_documents: list[list[str]]) -> float:
    """Krippendorff's α from its definition: 1 - D_o / D_e, over pairs of labels."""
    several = [own for own in of_documents if len(own) > 1]
    total = sum(map(len, several))
    observed = sum(
        sum(one != other for one, other in itertools.permutations(own, 2)) / (len(own) - 1) for own in several
    )
    everything = [label for own in several for label in own]
    expected = sum(one != other for one, other in itertools.permutations(everything, 2)) / (total - 1)
    return 1 - observed / expected


def kappa_by_hand(of_documents: list[list[str]]) -> float:
    """Fleiss' κ from his paper: (P - P_e) / (1 - P_e)."""
    number = len(of_documents[0])
    agreement = [
        sum(count * (count - 1) for count in Counter(own).values()) / (number * (number - 1))
        for own in of_documents
    ]
    shares = Counter(label for own in of_documents for label in own)
    chance = sum((count / shares.total()) ** 2 for count in shares.values())
    return (float(np.mean(agreement)) - chance) / (1 - chance)


DOCUMENTS = st.lists(st.lists(st.sampled_from("abc"), min_size=2, max_size=4), min_size=2, max_size=8)


@given(DOCUMENTS)
@examples(60)
def test_alpha_and_kappa_against_their_formulas(documents: list[list[str]]) -> None:
    named = {str(n): {f"e{m}": label for m, label in enumerate(own)} for n, own in enumerate(documents)}
    several = len({label for own in documents for label in own}) > 1
    found = labels.alpha(named)
    assert found == pytest.approx(alpha_by_hand(documents)) if several else np.isnan(found)
    found, counted = labels.kappa(named)
    sizes = Counter(map(len, documents))
    most = [own for own in documents if sizes[len(own)] == counted]
    assert counted == max(sizes.values())
    if len({*map(len, most)}) == 1:
        several = len({label for own in most for label in own}) > 1
        assert found == pytest.approx(kappa_by_hand(most)) if several else np.isnan(found)


def said(expert: str, *tags: str, fragment: bool = False) -> dict[str, Any]:
    """A markup with these labels of the whole document, and perhaps with a place."""
    place = [{"fragments": [{"start": 0, "end": 5}], "tags": ["x: y"]}] if fragment else []
    return {"expert": expert, "elements": [*({"tags": [tag]} for tag in tags), *place]}


def solution_of(*documents: list[dict[str, Any]]) -> pd.DataFrame:
    """A solution of documents with the markups of experts."""
    cells = [json.dumps(markups) for markups in documents]
    return pd.DataFrame({"document_id": [f"d{n}" for n in range(len(cells))], "markups": cells})


SOLUTION = solution_of(
    [said("b", "tone: good", "clear"), said("a", "tone: good", fragment=True), said("c", "tone: bad")],
    [said("a", "tone: bad"), said("b", "tone: bad", "clear"), said("c", "dull")],
    [said("a", "tone: good", "tone: bad"), said("b", "tone: bad", "tone: good"), said("c")],
)


def table() -> pd.DataFrame:
    """The table of the solution's labels."""
    made: pd.DataFrame = companion.companion.agreement(
        metric.prepare(SOLUTION, "document_id", "ama"), SOLUTION
    ).tables["Labels of whole documents"]
    return made.set_index("label")


def test_labels_by_hand() -> None:
    """Several values of one label are one choice, whatever their order; a document needs two experts."""
    tone = [["good", "good", "bad"], ["bad", "bad"], ["both", "both"]]
    row = table().loc["tone"]
    assert row[["documents", "experts", "kappa_documents"]].tolist() == [3, 3, 2]
    assert row["percent"] == pytest.approx(100 * (1 / 3 + 1 + 1) / 3)
    assert row["alpha"] == pytest.approx(alpha_by_hand(tone))
    assert row["kappa"] == pytest.approx(kappa_by_hand(tone[1:]))
    assert table().loc["(without a name)", ["documents", "experts", "percent"]].tolist() == [1, 2, 0]


def test_without_the_packages_there_is_the_percentage(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = table()["percent"].tolist()
    monkeypatch.setitem(sys.modules, "statsmodels.stats.inter_rater", None)
    agreement = companion.companion.agreement(metric.prepare(SOLUTION, "document_id", "ama"), SOLUTION)
    made = agreement.tables["Labels of whole documents"]
    assert made["percent"].tolist() == expected
    assert made["kappa"].isna().all()
    told = "κ of labels of whole documents needs statsmodels: pip install 'podium[agreement]'"
    assert told in agreement.notices
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    notices = companion.companion.agreement(metric.prepare(SOLUTION, "document_id", "ama"), SOLUTION).notices
    assert "α of labels of whole documents needs krippendorff: pip install 'podium[agreement]'" in notices
