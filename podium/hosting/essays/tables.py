"""The tables of a competition with essays: the solution, the perfect submission, the sample, and the texts."""

from typing import Any

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Ints
from podium.hosting.essays.corpus import ESSAY_ID, FULL_TEXT, ROW_ID, TYPE, WORDS
from podium.hosting.folders import LEARNED, PERFECT, SAMPLE, SOLUTION, text_table
from podium.hosting.splitting import TRAIN, Texts
from podium.scoring.evaluating import USAGE
from podium.spans.segments import predictionstrings
from podium.spans.vocabulary import LABEL, PROBABILITIES, TYPES


def public_and_private(
    segments: Any, essays: pd.DataFrame, writers: list[str], part: Texts
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Make the public and the private tables; `part` has the part of each essay, "" if it was left out."""
    columns = _columns(segments, essays, segments.essay, slice(None))
    columns[LABEL] = segments.d1.astype(np.int64).tolist()
    columns |= essays[writers].iloc[segments.essay].to_dict("list")
    columns[USAGE] = part[segments.essay].tolist()
    table = text_table(columns)
    tested = part[segments.essay] != TRAIN
    solution = table[tested].reset_index(drop=True)
    perfect = solution[[ROW_ID, ESSAY_ID, TYPE, WORDS]].copy()
    for column, value in zip(PROBABILITIES, (1 - solution[LABEL], solution[LABEL])):
        perfect[column] = value.astype(object)
    public = {LEARNED: table[~tested].drop(columns=USAGE).reset_index(drop=True)}
    if FULL_TEXT in essays:
        for name, chosen in (("train_essays.csv", part == TRAIN), ("test_essays.csv", is_tested(part))):
            public[name] = essays.loc[chosen, [ESSAY_ID, FULL_TEXT]].reset_index(drop=True)
    public[SAMPLE] = _sample(segments, essays, part)
    return public, {SOLUTION: solution, PERFECT: perfect}


def _columns(segments: Any, essays: pd.DataFrame, essay: Ints, rows: Ints | slice) -> dict[str, list[Any]]:
    """Make the columns that a solution and a submission share, with the segments of `rows` in these essays."""
    number_in_essay = np.arange(len(essay)) - np.searchsorted(essay, essay) + 1
    ids = essays[ESSAY_ID].to_numpy()[essay].tolist()
    return {
        ROW_ID: [f"{name}:{number}" for name, number in zip(ids, number_in_essay.tolist())],
        ESSAY_ID: ids,
        TYPE: [TYPES[number] for number in segments.discourse_type[rows].tolist()],
        WORDS: predictionstrings(segments.first[rows], segments.last[rows]),
    }


def _sample(segments: Any, essays: pd.DataFrame, part: Texts) -> pd.DataFrame:
    """Make the sample submission from public files alone.

    Each essay of the test gets the segments of the training essay with the nearest length. The probability of
    effective is the share of effective training segments of the type.
    """
    training, tested = np.flatnonzero(part == TRAIN), np.flatnonzero(is_tested(part))
    if FULL_TEXT in essays:
        length = np.array([len((text or "").split()) for text in essays[FULL_TEXT]])
        lengths, first = np.unique(length[training], return_index=True)
        models = training[[first[np.abs(lengths - each).argmin()] for each in length[tested]]]
    else:  # Without texts there is no length, so training essays are taken in turn.
        models = training[np.arange(len(tested)) % len(training)]
    starts = np.searchsorted(segments.essay, np.arange(len(essays) + 1))
    of_models = [np.arange(starts[model], starts[model + 1]) for model in models.tolist()]
    rows = np.concatenate(of_models)
    trained = part[segments.essay] == TRAIN
    kinds = len(TYPES)
    number = np.bincount(segments.discourse_type[trained], minlength=kinds)
    effective = np.bincount(segments.discourse_type[trained], segments.d1[trained], minlength=kinds)
    d1 = (effective / np.maximum(number, 1)).round(2)[segments.discourse_type[rows]]
    probabilities = ([f"{value:.2f}" for value in values] for values in (1 - d1, d1))
    essay = np.repeat(tested, list(map(len, of_models)))
    columns = _columns(segments, essays, essay, rows)
    return text_table(columns | dict(zip(PROBABILITIES, probabilities)))


def is_tested(part: Texts) -> Bools:
    """Whether participants answer for each essay; an essay that was left out has no part."""
    return np.asarray((part != TRAIN) & (part != ""))
