"""Read arguments by position: the shapes that libraries give, in the order that their reader sees.

A Series that was sorted or filtered keeps its old labels. If some code looks it up by label and other code by
position, texts and segments are exchanged without a word. So every public function of `podium.spans` and
`podium.tuning` reads its arguments through the decorator `by_position`. Only a value for each segment goes by
its label, if the labels are the segments' own numbers.
"""

import functools
import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

import pandas as pd

from podium.tables.frames import as_frame, as_list, is_table

__all__ = ["by_position", "require_kind"]

BY_NAME = frozenset(
    ["labels", "min_words", "min_probability", "join_gap", "gap", "most", "votes"]
)  # may be mappings
LISTS = frozenset(["essay_ids", "labels", "outputs", "predictions", "quotes", "word_ids"])  # never one text
OF_SEGMENTS = frozenset(["d1", "rows"])  # of methods of segments: a value for each of them
TABLES = frozenset(["frame", "candidates", "min_words"])  # may be tables
ALWAYS_TABLES = frozenset(["frame", "candidates"])
# what a class of podium is, and what makes it
MADE_BY = {
    "Spans": "podium.spans.Spans, as from_table() and the like make them",
    "Solution": "what podium.prepare returned",
}

P = ParamSpec("P")
R = TypeVar("R")


def by_position(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function read all of its arguments by position, and refuse those that have no order."""
    signature = inspect.signature(function)
    ours = {name: each.annotation for name, each in signature.parameters.items() if _is_ours(each.annotation)}

    @functools.wraps(function)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        for name, kind in ours.items():
            require_kind(name, given[name], kind)
        _require_same_order(given)
        if "self" in given:
            given.update(
                {name: _of_segments(given[name], len(given["self"])) for name in OF_SEGMENTS & set(given)}
            )
        given.update({name: _sequence(name, value) for name, value in given.items()})
        return function(*bound.args, **bound.kwargs)

    return reading


def _is_ours(kind: object) -> bool:
    """Whether this is a class of podium, such as that of segments or of a prepared solution."""
    return inspect.isclass(kind) and kind.__module__.startswith("podium.")


def require_kind(name: str, value: object, kind: type) -> None:
    """Refuse an object that is not of a class of podium, and say what makes one."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected {MADE_BY[kind.__name__]}, found {type(value).__name__}")


def _of_segments(value: Any, size: int) -> Any:
    """Bring a Series whose labels are the numbers of the segments, in another order, into that of the segments.

    It is a column of their table that was sorted. Other labels say nothing about segments.
    """
    if isinstance(value, pd.Series) and len(value) == size and set(value.index) == set(range(size)):
        return value.sort_index()
    return value


def _sequence(name: str, value: Any) -> Any:
    """Turn an argument into a sequence without labels; a text, a number or segments stay as they are."""
    if isinstance(value, pd.Series) and name in BY_NAME - {"labels"}:
        return value.to_dict()  # a number by type, like the mapping
    if is_table(value):
        if name not in TABLES:
            raise TypeError(f"{name}: expected a list, found a DataFrame; give one of its columns")
        return as_frame(value, name)
    if name in ALWAYS_TABLES:
        return as_frame(value, name)
    value = as_list(value)
    if isinstance(value, str) and name in LISTS:
        raise TypeError(f"{name}: expected a list, found one text; put it into a list")
    if isinstance(value, Mapping) and name not in BY_NAME:
        cure = f"give list({name}.values())"
        if name in value:
            cure = f"it is a whole encoding, so give its {name!r}"
        elif "entities" in value:
            cure = "these are quotes by type, so give them to from_quotes, with types="
        raise TypeError(
            f"{name}: expected a list in the order of the texts, found {type(value).__name__}; {cure}"
        )
    if isinstance(value, Iterable) and not hasattr(value, "__getitem__"):
        raise TypeError(f"{name}: expected a list, found {type(value).__name__}; give list({name})")
    return value


def _require_same_order(given: Mapping[str, Any]) -> None:
    """Refuse Series that have the same labels in another order, because nobody can tell what was meant."""
    columns = {name: value for name, value in given.items() if isinstance(value, pd.Series)}
    if given.get("essay") is not None:
        columns.pop("texts", None)  # `essay` says which text belongs to a row, so the labels of texts do not
    for (one, first), (other, second) in itertools.combinations(columns.items(), 2):
        if not first.index.equals(second.index) and Counter(first.index) == Counter(second.index):
            raise ValueError(
                f"{one} and {other}: expected Series in the same order, found the same labels in another one; "
                f"give {other}.loc[{one}.index] to go by labels, or .tolist() of both to go by position"
            )
