"""Helpers that the tests of both markup metrics share, such as a scored submission with its explanation."""

import json
import random
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from podium.metric import hosted
from podium.metric.parameters import defaults
from podium.scoring import evaluating


class Evaluated:
    """A scored submission: its measures by their names in lower case, and all that its explanation offers."""

    def __init__(
        self, name: str, solution: pd.DataFrame, submission: pd.DataFrame, *more: Any, **parameters: Any
    ) -> None:
        loaded = hosted.load(name)
        self.metric = loaded.module
        arguments = dict(zip(defaults(loaded), more)) | parameters
        arguments["row_id_column_name"] = "document_id"
        evaluation = evaluating.evaluate(evaluating.prepare(loaded, solution, arguments), submission)
        self.evaluation, self.prepared, self.numbers = evaluation, evaluation.prepared, evaluation.statistics
        self.items, self.measures = evaluation.prepared.items, evaluation.measures

    @property
    def explanation(self) -> Any:
        """What the companion explains of the submission."""
        return self.evaluation.explanation

    def __getattr__(self, name: str) -> Any:
        """A measure by its name in lower case, or else an attribute of the explanation."""
        lower = {key.lower(): value for key, value in self.__dict__["measures"].items()}
        return lower[name] if name in lower else getattr(self.explanation, name)


def solution_of(*documents: list[Any], subject: str = "rus") -> pd.DataFrame:
    """A solution of documents, each with the markups of its experts."""
    ids = [f"d{number}" for number in range(len(documents))]
    cells = [json.dumps(experts) for experts in documents]
    return pd.DataFrame({"document_id": ids, "subject": subject, "markups": cells})


def submission_of(*markups: Any) -> pd.DataFrame:
    """A submission with a markup of each document."""
    ids = [f"d{number}" for number in range(len(markups))]
    return pd.DataFrame({"document_id": ids, "markup": [json.dumps(value) for value in markups]})


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same JSON value with all lists and objects in another order."""
    if isinstance(value, dict):
        return {key: shuffled(inner, rng) for key, inner in rng.sample(list(value.items()), len(value))}
    if isinstance(value, list):
        return rng.sample([shuffled(inner, rng) for inner in value], len(value))
    return value


# ---- Markups of READ//ABLE by hand


def selection(start: int, end: int, kind: str = "logic", **more: str) -> dict[str, Any]:
    """An error from one character to another."""
    return {"startSelection": start, "endSelection": end, "type": kind, "group": "error", **more}


def markup(*selections: dict[str, Any], **grades: object) -> dict[str, Any]:
    """A markup with these selections and grades."""
    return {"criteria": grades, "selections": list(selections)}


def accuracy(first: Any, second: Any, subject: str) -> tuple[dict[str, float], list[tuple[Any, ...]]]:
    """M and M1 to M6 of two markups in percent, and the matching D.

    A pair of D has the two positions, its cost, its Jaccard index, and which details are equal: the type, the
    subtype and the correction.
    """
    metric = hosted.module("readable")
    markups = [metric.read_essay(value, metric.LARGEST_GRADE[subject], None) for value in (first, second)]
    values = metric.accuracies([markups], metric.WEIGHTS)[0, :7].tolist()
    ours, _ = hosted.module("readable", "companion")._fates(*markups)
    return dict(zip(["M", *metric.CRITERIA], values)), sorted(
        (row[0], *row[7:]) for row in ours if row[6] == "matched"
    )


# ---- Markups of each metric, for generated cases


def crowded_element(rng: random.Random, fragments: int, last: int = 20) -> dict[str, Any]:
    """A markup with one element whose fragments nearly all overlap, so that any two may be partners."""
    middle = last // 2
    ends = [(rng.randrange(middle), rng.randrange(middle, last)) for _ in range(fragments)]
    marked = [{"start": start, "end": end, "tags": [rng.choice("ab")]} for start, end in ends]
    return {"elements": [{"fragments": marked}]}


def crowded_essay(rng: random.Random, most: int) -> dict[str, Any]:
    """A markup whose selections may nearly all be partners of those in another such markup."""
    return markup(
        *(
            selection(
                rng.choice((0, 0, 0, 1)), rng.randrange(4, 12), rng.choice("aab"), subtype=rng.choice("xy")
            )
            for _ in range(rng.randrange(1, most + 1))
        )
    )


NAMES = st.sets(st.sampled_from("abc"), max_size=2).map(sorted)
OVERTEXTS = st.lists(
    st.fixed_dictionaries(
        {"comment": st.sampled_from(["", "no", "no no", "Ещё no", "еще", "why not"]), "tags": NAMES}
    ),
    max_size=2,
)
FRAGMENTS = st.builds(
    lambda start, length, tags, overtexts: {
        "start": start,
        "end": start + length,
        "tags": tags,
        "overtexts": overtexts,
    },
    st.integers(0, 8),
    st.integers(0, 5),
    NAMES,
    OVERTEXTS,
)
ELEMENTS = st.fixed_dictionaries(
    {"tags": NAMES, "overtexts": OVERTEXTS, "fragments": st.lists(FRAGMENTS, max_size=3)}
)
ELEMENT_MARKUPS = st.builds(lambda elements: {"elements": elements}, st.lists(ELEMENTS, max_size=3))

SELECTIONS = st.builds(
    lambda start, length, kind, subtype, correction, group: {
        "startSelection": start,
        "endSelection": start + length,
        "type": kind,
        "subtype": subtype,
        "correction": correction,
        "group": group,
    },
    st.integers(0, 6),
    st.integers(0, 6),
    st.sampled_from(["a", "A ", "b"]),
    st.sampled_from(["", "", "x"]),
    st.sampled_from(["", "Y", "y"]),
    st.sampled_from(["error", "error", "meaning"]),
)
GRADES = st.dictionaries(st.sampled_from(["K1", "K2"]), st.sampled_from([0, 1, 2, 3, "1", "2"]))
ESSAY_MARKUPS = st.builds(
    lambda grades, selections: {"criteria": grades, "selections": selections},
    GRADES,
    st.lists(SELECTIONS, max_size=4),
)
