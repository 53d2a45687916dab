"""Helpers that the tests of both markup metrics share, such as a scored submission with its explanation."""

import random
from typing import Any

import pandas as pd

from podium import hosted, scoring


class Evaluated:
    """A scored submission: its measures by their names in lower case, and all that its explanation offers."""

    def __init__(
        self, name: str, solution: pd.DataFrame, submission: pd.DataFrame, *more: Any, **parameters: Any
    ) -> None:
        loaded = hosted.load(name)
        self.metric = loaded.module
        arguments = dict(zip(hosted.defaults(loaded), more)) | parameters
        arguments["row_id_column_name"] = "document_id"
        evaluation = scoring.evaluate(scoring.prepare(loaded, solution, arguments), submission)
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


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same JSON value with all lists and objects in another order."""
    if isinstance(value, dict):
        return {key: shuffled(inner, rng) for key, inner in rng.sample(list(value.items()), len(value))}
    if isinstance(value, list):
        return rng.sample([shuffled(inner, rng) for inner in value], len(value))
    return value


def bad_submissions(good: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, str]]:
    """The message of either metric for submissions of the documents a and b that are spoiled in one way
    each.
    """
    wrong = "Wrong in 1 row of the submission:"
    return {
        "no column": (
            good.drop(columns="markup"),
            "the submission: expected 1 more column: markup. It has document_id",
        ),
        "missing id": (
            good.assign(document_id=["a", None]),
            f"document_id: expected an id in every row. {wrong} row number 2 (missing)",
        ),
        "repeated id": (
            good.assign(document_id="a"),
            f"document_id: expected every document once. {wrong} document_id a (repeated)",
        ),
        "unknown id": (
            good.assign(document_id=["a", "zz"]),
            f"document_id: expected ids of the test set's documents. {wrong} document_id zz (unknown)",
        ),
        "too few": (
            good.head(1),
            "the submission: expected a row for every document, in one table. It lacks 1 document",
        ),
        "empty": (
            good.head(0),
            "the submission: expected a row for every document, in one table. It lacks 2 documents",
        ),
    }
