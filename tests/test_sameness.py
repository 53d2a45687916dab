"""The same predictions are the same table, in whatever order and type they are written."""

import io

import numpy as np
import pandas as pd
import pytest

from podium.tables.sameness import fingerprint, is_same

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "id": [f"x{number}" for number in range(300)],
        "number": RANDOM.normal(size=300) * 1e4,
        "label": RANDOM.integers(0, 3, 300),
        "text": RANDOM.choice(["a", "b, c", None], 300),
    }
)


def reread(table: pd.DataFrame, **options: object) -> pd.DataFrame:
    """The table as it is read from a CSV."""
    return pd.read_csv(io.StringIO(table.to_csv(index=False)), **options)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(
    "same",
    [
        TABLE.sample(frac=1, random_state=0),
        TABLE[["text", "label", "id", "number"]],
        reread(TABLE),
        reread(TABLE, dtype=str),
        reread(TABLE, dtype=object, keep_default_na=False),
        TABLE.assign(label=TABLE["label"] + 0.0, number=TABLE["number"] * (1 + 1e-16)),
        TABLE.astype({"label": "category", "text": "string"}),
    ],
)
def test_the_same_table_has_the_same_fingerprint(same: pd.DataFrame) -> None:
    assert fingerprint(same) == fingerprint(TABLE)
    assert is_same(TABLE, same)


@pytest.mark.parametrize(
    "other",
    [
        TABLE.iloc[1:],
        pd.concat([TABLE, TABLE.iloc[:1]]),
        TABLE.rename(columns={"label": "labels"}),
        TABLE.rename(columns={"label": "number", "number": "label"}),
        TABLE.assign(number=TABLE["number"].to_numpy()[::-1]),
        TABLE.assign(id=TABLE["id"].to_numpy()[::-1]),
        TABLE.assign(label=TABLE["label"].where(TABLE.index > 0)),
        TABLE.assign(number=TABLE["number"] + (TABLE.index == 7) * 1e-3),
        TABLE.assign(text=TABLE["text"].fillna("a")),
    ],
)
def test_another_table_has_another_fingerprint(other: pd.DataFrame) -> None:
    assert fingerprint(other) != fingerprint(TABLE)
    assert not is_same(TABLE, other)


def test_numbers_beside_a_border_between_rounded_ones_are_the_same() -> None:
    table = pd.DataFrame({"p": [0.5, 0.1234567885 - 1e-13]})
    other = pd.DataFrame({"p": [0.1234567885 + 1e-13, 0.5]})
    assert fingerprint(table) != fingerprint(other)
    assert is_same(table, other)


@pytest.mark.parametrize(
    "cells",
    [
        [1e-12, 2.5e-12],  # a unit in which all is small
        [123456789012, 123456789013],  # whole numbers, such as ids, are not rounded
        [2**63, 2**63 - 1],
        [10**400, 1],
        ["\udc80", "\udc81"],
        [[1], [2]],
        [True, False],
        [float("inf"), 1.0],
        [1e308, -1e308],
    ],
)
def test_whatever_is_in_a_column_it_tells_two_values_apart(cells: list[object]) -> None:
    both = [pd.DataFrame({"cell": pd.Series([cell, "x"], dtype=object)}) for cell in cells]
    alone = [pd.DataFrame({"cell": pd.Series([cell], dtype=object)}) for cell in cells]
    for one, other in (both, alone):
        assert fingerprint(one) != fingerprint(other)
        assert is_same(one, one)
        assert not is_same(one, other)
