"""Divide the essays of training data into folds that are alike."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from podium.metric import hosted
from podium.spans import door
from podium.spans.vocabulary import LABEL
from podium.tables.ids import texts as texts_of_ids
from podium.words.arrays import Ints

__all__ = ["folds"]

TEXTS = ("full_text", "text")
LEVELS = 3  # of effectiveness, within which essays are dealt


def folds(
    train: pd.DataFrame, number: int = 5, seed: int = 0, *, columns: Sequence[str] | None = None
) -> "pd.Series[int]":
    """Divide the essays of training data into folds with the same shares of each sub-population.

    A softmin follows the weakest sub-population, so the score of a fold depends on which writers are in it.
    Within a sub-population, essays with many, some and few effective segments are dealt alike, too. Essays with
    the same text stay together.

    Parameters
    ----------
    train : DataFrame
        The training data, with a column ``essay_id`` (or ``id``) and a row for each segment or each essay.
    number : int
        The number of folds.
    seed : int
        A number that decides what is drawn.
    columns : sequence of str, optional
        The columns of the sub-populations. By default these are the columns that the Unified Metric uses, as
        far as they are in the table.

    Returns
    -------
    Series of int, named "fold"
        The fold of each essay, from 0 to ``number - 1``; the essays' ids are its index, in the order in which
        they first occur. ``podium score --folds`` reads it as a CSV.

    Raises
    ------
    KeyError
        A column is missing.
    ValueError
        There are fewer essays than folds, or fewer than two folds.

    Examples
    --------
    >>> train = pd.DataFrame({"essay_id": [*"ABCDEF"], "ell_status": ["Yes", "No"] * 3})
    >>> fold = folds(train, 3)
    >>> fold.index.tolist(), pd.crosstab(fold, train.set_index("essay_id")["ell_status"]).to_numpy().tolist()
    (['A', 'B', 'C', 'D', 'E', 'F'], [[1, 1], [1, 1], [1, 1]])
    """
    name = "essay_id" if "essay_id" in train else "id"
    if columns is None:
        usual = str(hosted.defaults(hosted.load("unified"))["subpopulation_column_names"])
        columns = [column for column in usual.split(",") if column in train]
    essays = train.assign(**{name: texts_of_ids(train[name])}).groupby(name, sort=False, dropna=False)
    first = essays[[*columns, *(text for text in TEXTS if text in train)]].first()
    text = next((text for text in TEXTS if text in first), None)
    of_text = np.arange(len(first)) if text is None else pd.factorize(first[text], use_na_sentinel=False)[0]
    units, unit_of = np.unique(of_text, return_inverse=True)
    if not 2 <= number <= len(units):
        raise ValueError(f"folds: expected 2 to {len(units):,} folds of {len(units):,} essays, found {number}")
    groups = [pd.factorize(first[column].astype(str))[0] for column in columns]
    levels = _levels(essays[LABEL].apply(_effectiveness)) if LABEL in train else np.zeros(len(first), int)
    strata = np.unique(np.stack([*groups, levels]), axis=1, return_inverse=True)[1].ravel()
    of_unit = strata[np.unique(of_text, return_index=True)[1]]
    return pd.Series(deal(of_unit, number, seed)[unit_of], index=first.index, name="fold")


def _effectiveness(labels: "pd.Series[str]") -> float:
    """The share of effective segments of an essay."""
    return float(pd.to_numeric(pd.Series(door.effectiveness(labels)), errors="coerce").mean())


def _levels(shares: "pd.Series[float]") -> Ints:
    """Number the thirds of essays with few, some and many effective segments; equal shares are in one third."""
    ranks = shares.fillna(0).rank(pct=True)
    return np.ceil(ranks.to_numpy() * LEVELS).astype(np.int64)


def deal(strata: Ints, number: int, seed: int) -> Ints:
    """Deal essays to folds, so that every fold has the same share of each stratum, (essays,)."""
    shuffled = np.random.default_rng(seed).permutation(len(strata))
    dealt = shuffled[np.argsort(strata[shuffled], kind="stable")]
    fold = np.empty(len(strata), dtype=np.int64)
    fold[dealt] = np.arange(len(strata)) % number
    return fold
