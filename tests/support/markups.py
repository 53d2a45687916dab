"""What the tests of the two markup metrics share: a submission with all that is known of it."""

import functools
import random
from typing import Any

import numpy as np
import pandas as pd

from podium import companions, hosted


class Evaluated:
    """A scored submission: its measures by name in lower case, and what its explanation offers."""

    def __init__(
        self, name: str, solution: pd.DataFrame, submission: pd.DataFrame, *more: Any, **parameters: Any
    ) -> None:
        self.metric = hosted.module(name)
        self.prepared = self.metric.prepare(solution, "document_id", *more, **parameters)
        self.items = self.prepared.items
        self.numbers = self.prepared.statistics(submission)
        values = self.prepared.measures(self.numbers.sum(axis=0)[np.newaxis])
        self.measures = dict(zip(self.prepared.measure_names, values.tolist()))
        self.submission = submission

    @functools.cached_property
    def explanation(self) -> Any:
        companion: Any = companions.of(self.metric)
        return companion.explain(self.metric, self.prepared, self.submission, self.numbers)

    def __getattr__(self, name: str) -> Any:
        lower = {key.lower(): value for key, value in self.__dict__["measures"].items()}
        return lower[name] if name in lower else getattr(self.explanation, name)


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same JSON value with all its lists and objects in another order."""
    if isinstance(value, dict):
        return {key: shuffled(inner, rng) for key, inner in rng.sample(list(value.items()), len(value))}
    if isinstance(value, list):
        return rng.sample([shuffled(inner, rng) for inner in value], len(value))
    return value
