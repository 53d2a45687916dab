"""The one door for segments: every source gives it columns, and it checks them with the same words for all."""

from collections.abc import Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Bools, Floats, Ints
from podium.common.wording import counted
from podium.spans.vocabulary import TYPES

OUTSIDE = "O"  # the label of what is in no segment
EFFECTIVE = {"Effective": 1.0, "Adequate": 0.0, "Ineffective": 0.0}
ROUNDED = 1e-3  # by which a probability of half precision may be above 1
WHOLES = {"segment": "essay", "row": "essay", "token": "window", "window": "essay"}  # of what each is a part


def key_of_type(name: str) -> str:
    """Reduce the name of a type to its letters, without case and without the s of a plural.

    >>> key_of_type("Claim"), key_of_type("counter-claims"), key_of_type("Concluding_Statement 1")
    ('claim', 'counterclaim', 'concludingstatement')
    """
    return "".join(filter(str.isalpha, name.casefold())).removesuffix("s")


KINDS = {key_of_type(name): number for number, name in enumerate([*TYPES, OUTSIDE])} | {
    key_of_type(OUTSIDE): -1
}


class Said(NamedTuple):
    """What every source says of its candidates besides their places: single values, or one for each of them."""

    essay: npt.ArrayLike | None  # None if there is one text
    types: Any
    probability: npt.ArrayLike
    d1: npt.ArrayLike


class Candidates(NamedTuple):
    """The candidates of a source, checked, with one row for each."""

    places: tuple[Ints, ...]  # the columns that say where they are
    essay: Ints
    kind: Ints  # the type, as an index into `TYPES`; -1 for what is no segment
    probability: Floats
    d1: Floats


def candidates(
    places: Mapping[str, npt.ArrayLike], said: Said, texts: int | None = None, outside: bool = False
) -> Candidates:
    """Check what a source says of its candidates; a single value is repeated for each of them.

    `places` are whole numbers that say where they are, and `texts` is the number of texts, if it is known. With
    `outside`, the type may be O, which is no segment.
    """
    if texts is not None:
        require_said(said.essay is None, texts)
    given = {
        **{name: integers(name, values) for name, values in places.items()},
        "essay": integers("essay", 0 if said.essay is None else said.essay),
        "types": np.array(said.types, dtype=object),
        "probability": probabilities("probability", said.probability),
        "d1": probabilities("d1", said.d1),
    }
    size = next(map(len, require_columns(given).values()), 1)
    *where, essay, types, probability, d1 = (np.broadcast_to(column, size) for column in given.values())
    if texts is not None:
        require_essays(essay, texts)
    kinds = np.array([kind_of(cell) for cell in types.tolist()], dtype=np.float64)
    unknown = ~(kinds >= (-1 if outside else 0))
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(f"types: expected {', '.join(TYPES)}, found {types[row]!r:.40} for segment {row}")
    return Candidates(tuple(where), essay, kinds.astype(np.int64), probability, d1)


def kind_of(given: Any) -> int | None:
    """Read a type: its name as `key_of_type` knows it, or its index; O is -1, and what is no type is None."""
    if isinstance(given, str):
        return KINDS.get(key_of_type(given))
    is_index = isinstance(given, int | np.integer) and not isinstance(given, bool)
    return int(given) if is_index and 0 <= given < len(TYPES) else None


def effectiveness(labels: "pd.Series[Any]") -> list[Any]:
    """Read the words for effectiveness as probabilities of effective."""
    return [EFFECTIVE.get(label, label) for label in labels]


def array_of(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Read values as an array, which all have the same shape."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name}: expected values of one shape, found lists of different lengths") from None


def integers(name: str, values: npt.ArrayLike, unit: str = "segment") -> Ints:
    """Check that values are whole numbers; there is one, or one row of them, for every `unit`."""
    array = array_of(name, values)
    if array.dtype.kind in "iu":
        return array.astype(np.int64)
    for at, cell in enumerate(array.ravel().tolist()):
        if isinstance(cell, bool) or not (
            isinstance(cell, int | float) and abs(cell) < 2**53 and cell == int(cell)
        ):
            cure = "; number the texts from 0, as essay_id.map(essay_ids.index) does" if name == "essay" else ""
            row = at * len(np.atleast_1d(array)) // array.size
            raise ValueError(
                f"{name}: expected a whole number for every {unit}, found {cell!r:.40} for {unit} {row}{cure}"
            )
    return array.astype(np.int64)


def probabilities(name: str, values: npt.ArrayLike) -> Floats:
    """Read values as numbers; one that was rounded up to a little more than 1 is 1."""
    array = array_of(name, values)
    if array.dtype.kind not in "fiu":
        cells = pd.Series(array.ravel().tolist(), dtype=object)
        array = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64).reshape(array.shape)
    if np.isnan(array).any():
        row = int(np.isnan(array).argmax())
        found = np.asarray(values, dtype=object).ravel()[row]
        raise ValueError(f"{name}: expected a number for every segment, found {found!r:.40} for segment {row}")
    return np.where((array > 1) & (array <= 1 + ROUNDED), 1.0, array).astype(np.float64)


def texts_of(texts: str | Sequence[str]) -> Sequence[str]:
    """Check that the texts are texts; a single one is put into a list."""
    texts = [texts] if isinstance(texts, str) else texts
    wrong = next((number for number, text in enumerate(texts) if not isinstance(text, str)), None)
    if wrong is not None:
        raise ValueError(f"texts: expected text, found {texts[wrong]!r:.60} for text {wrong}")
    return texts


def numbers_of_words(texts: Sequence[str]) -> Ints:
    """Count the words of each text."""
    return np.array([len(text.split()) for text in texts], dtype=np.int64)


def require(
    whole: Ints,
    wrong: Bools,
    expected: str,
    form: str,
    *columns: npt.NDArray[Any],
    part: str = "segment",
) -> None:
    """Check rows, and name the first wrong one; `whole` says which essay or window each one is a part of."""
    if wrong.any():
        row = int(np.argmax(wrong))
        number = row - int(np.argmax(whole == whole[row])) if part == "token" else row  # within its window
        raise ValueError(
            f"expected {expected}. Wrong in {int(wrong.sum()):,} of {counted(len(wrong), part)}, "
            f"first in {part} {number} of {WHOLES[part]} {whole[row]}: "
            + form.format(*(column[row] for column in columns))
        )


def require_columns(given: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Check that values are single ones or columns of the same size, and return the columns."""
    columns = {name: column for name, column in given.items() if column.ndim}
    for name, column in columns.items():
        if column.ndim > 1:
            raise ValueError(
                f"{name}: expected one value for each segment, found {column[0]!r:.60} for the first"
            )
    require_equal_sizes(columns)
    return columns


def require_equal_sizes(columns: Mapping[str, Sized]) -> None:
    """Check that all columns have the same size."""
    if len({len(column) for column in columns.values()}) > 1:
        sizes = ", ".join(f"{len(column)} {name}" for name, column in columns.items())
        raise ValueError(f"expected the same number of each, found {sizes}")


def require_said(is_omitted: bool, texts: int) -> None:
    """Check that the source has said of which text each segment is, if there are several."""
    if is_omitted and texts != 1:
        raise ValueError(
            f"essay: expected the text of each segment, as an index into the {texts:,} texts, found none; if "
            "each segment has its text in the same row, give the distinct texts and pandas.factorize(text)[0]"
        )


def require_essays(essay: Ints, essays: int, part: str = "segment") -> None:
    """Check that every segment or window belongs to one of the essays."""
    expected = f"indices of the {counted(essays, 'essay')}, counted from 0"
    require(essay, (essay < 0) | (essay >= essays), expected, "{}", essay, part=part)


def require_within(
    whole: Ints, start: Ints, end: Ints, lengths: Ints, least: int = 1, part: str = "segment"
) -> None:
    """Check passages by the positions of their characters: within the text, and of a least length."""
    wrong = (start < 0) | (end < start + least) | (end > lengths)
    expected = "a start and a later end of characters within the text"
    require(whole, wrong, expected, "{} to {} of {} characters", start, end, lengths, part=part)
