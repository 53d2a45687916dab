"""What a custom metric defines and returns, brought into the form that podium works with.

A metric's author writes what is natural: any class, tuples or arrays, items in any order, labels that are
numbers. `in_form` asks for what podium uses and converts it, once, so nobody else has to know. What was
returned in that form already is used as it is.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Floats, Ints
from podium.metric.contract import ALL_ITEMS, REQUIRED, Metric, Prepared
from podium.metric.shapes import (
    SIGNATURE,
    STATISTICS,
    Demand,
    Finding,
    demand,
    first_unmet,
    in_words,
    note,
    where,
)

GROUP = "group"  # the attribute of labels that name none


# ---- The signature of score() ------------------------------------------------------------------------------


def in_signature(score: Callable[..., Any]) -> Callable[..., Any]:
    """Let a ``score`` take ``row_id_column_name`` third, whose third parameter has another name or meaning."""
    names_ids = _names_ids(score)
    if names_ids is None:
        return score

    @functools.wraps(score, updated=())
    def adapted_score(solution: Any, submission: Any, row_id_column_name: str, **named: Any) -> Any:
        given = [row_id_column_name] if names_ids else []
        return score(solution, submission, *given, **named)

    signature = inspect.signature(score)
    first, rest = [*signature.parameters.values()][:2], [*signature.parameters.values()][2 + names_ids :]
    third = inspect.Parameter(REQUIRED[2], inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str)
    vars(adapted_score)["__signature__"] = signature.replace(parameters=[*first, third, *rest])
    return adapted_score


def own_arguments(metric: Metric, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by the names that the file itself gives them, for whoever calls the file's ``score``."""
    score = inspect.unwrap(metric.score)
    names_ids = _names_ids(score)
    if names_ids is None:
        return dict(arguments)
    others = {name: value for name, value in arguments.items() if name != REQUIRED[2]}
    third = [*inspect.signature(score).parameters][2:3] if names_ids else []
    return dict.fromkeys(third, arguments[REQUIRED[2]]) | others


def check_row_ids(metric: Metric) -> Iterator[Finding]:
    """Tell that ``score`` does not take the name of the row ids as platforms give it."""
    names_ids = _names_ids(inspect.unwrap(metric.score))
    if names_ids is not None:
        how = "gives it to the third parameter" if names_ids else "does not give it"
        text = f"{where(metric)}: it has no parameter {REQUIRED[2]}, so podium {how}; sites may name it"
        yield note(SIGNATURE, text)


def _names_ids(score: Callable[..., Any]) -> bool | None:
    """Whether the third parameter is the name of the ids by its position; None if it is by its own name."""
    parameters = [*inspect.signature(score).parameters.values()] if inspect.isfunction(score) else []
    names = [parameter.name for parameter in parameters]
    if names[:2] != [*REQUIRED[:2]] or REQUIRED[2] in names:
        return None
    for third in parameters[2:3]:
        is_text = third.annotation in (str, "str", third.empty)
        return is_text and third.default is third.empty and third.kind is third.POSITIONAL_OR_KEYWORD
    return False


# ---- What prepare() returns --------------------------------------------------------------------------------


class Returned(Protocol):
    """What a custom metric's ``prepare`` returns: at least these names, in whatever form."""

    items: Any
    item_of_row: Any
    statistics: Callable[[pd.DataFrame], Any]
    measures: Callable[[Floats], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Form:
    """What every prepared solution has; `podium.metric.contract.Prepared` says what its names mean."""

    items: list[str]
    item_of_row: Ints
    labels: list[tuple[str, str]]
    groups: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Adapted(Form):
    """A prepared solution around the one that a custom metric's ``prepare`` returned."""

    names: list[str]  # of the measures of the whole solution; this may be a part of it
    whole: Form
    original: Returned

    def __getattr__(self, name: str) -> Any:
        """What else the original has, for its companion."""
        if name.startswith("__") or name == "original":  # pickle asks before anything is there
            raise AttributeError(name)
        return getattr(self.original, name)

    @property
    def measure_names(self) -> list[str]:
        """The names of the measures, without those of groups that this part has not."""
        absent = {f"{attribute} = {value}" for attribute, value in {*self.whole.labels} - {*self.labels}}
        return [name for name in self.names if name not in absent]

    def statistics(self, submission: pd.DataFrame) -> Any:
        """The numbers of each item, as the original gives them."""
        return self.original.statistics(submission)

    def measures(self, sums: npt.ArrayLike) -> Any:
        """The measures that the original computes, with sums of 0 for groups that this part has not."""
        given, labels = np.asarray(sums), self.whole.labels
        whole = np.zeros((*given.shape[:-2], len(labels), given.shape[-1]))
        whole[..., [labels.index(label) for label in self.labels], :] = given
        values = as_measures(self.original.measures(whole), whole)
        if np.shape(values)[-1:] != (len(self.names),):
            return values  # whoever called tells what is wrong
        return values[..., [self.names.index(name) for name in self.measure_names]]


def in_form(metric: Metric, returned: Returned, rows: int) -> Prepared:
    """Bring what ``prepare`` returned for a solution of so many rows into form, or say what it lacks."""
    place = f"{metric.path.name}: prepare()"
    demand(first_unmet(STATISTICS, place, _demands_on_class(returned)))
    items = _texts(returned.items)
    labels, groups = _groups(getattr(returned, "labels", None), getattr(returned, "groups", None), len(items))
    names = _texts(getattr(returned, "measure_names", ["score"]))
    form = Form(items, _whole(returned.item_of_row), labels, groups)
    demand(first_unmet(STATISTICS, place, _demands(form, names, rows)))
    if _is_in_form(returned, form, names):
        return cast(Prepared, returned)
    return Adapted(**vars(form), names=names, whole=form, original=returned)


def _is_in_form(returned: Returned, form: Form, names: list[str]) -> bool:
    """Whether podium can use a prepared solution as it is, and replace its fields to make a part of it."""
    fields: Iterable[dataclasses.Field[Any]] = ()
    if dataclasses.is_dataclass(returned):
        fields = dataclasses.fields(returned)
    values: dict[str, Any] = {field.name: getattr(returned, field.name) for field in fields if field.init}
    if not {"items", "labels", "groups"} <= values.keys():
        return False
    arrays = returned.item_of_row, values["groups"]
    are_arrays = all(isinstance(each, np.ndarray) and each.dtype.kind in "iu" for each in arrays)
    lists = values["items"], values["labels"], getattr(returned, "measure_names", None)
    are_lists = all(isinstance(each, list) and {*map(type, each)} <= {str, tuple} for each in lists)
    is_same = np.array_equal(values["groups"], form.groups) and lists == (form.items, form.labels, names)
    return are_arrays and are_lists and is_same


# ---- Conversions -------------------------------------------------------------------------------------------


def as_numbers(numbers: Any) -> Any:
    """Statistics as an array of floats, (n, k), if that is what they are; one number per item may be (n,)."""
    array = np.asarray(numbers)
    if array.dtype.kind not in "fiub":
        return numbers
    return (array[:, np.newaxis] if array.ndim == 1 else array).astype(np.float64, copy=False)


def as_measures(values: Any, sums: Any) -> Floats:
    """Measures of sums as an array, (…, m); one measure alone may be (…)."""
    array = np.asarray(values, dtype=np.float64)
    return array[..., np.newaxis] if array.shape == np.shape(sums)[:-2] else array


def _texts(values: Any) -> list[str]:
    """A list of texts; empty if there is nothing to list.

    >>> _texts(np.array([2, 10], dtype=np.int16)), _texts(("a", 1.5)), _texts(None)
    (['2', '10'], ['a', '1.5'], [])
    """
    if isinstance(values, str):
        return [values]
    return [str(value) for value in values] if isinstance(values, Iterable) else []


def _whole(values: Any) -> npt.NDArray[Any]:
    """An array of whole numbers, if that is what they are; several arrays may stand in a list."""
    try:
        array = np.asarray(
            [np.asarray(each) for each in values] if isinstance(values, list | tuple) else values
        )
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
    is_whole = array.size and bool((numbers == np.rint(numbers)).all())
    return array.astype(np.int64) if is_whole else array


def _groups(labels: Any, groups: Any, items: int) -> tuple[list[tuple[str, str]], npt.NDArray[Any]]:
    """The labels of all groups and the group of each item, (attributes, n), from any of the forms of both."""
    if labels is None and groups is None:
        return [ALL_ITEMS], np.zeros((1, items), dtype=np.int64)
    if isinstance(groups, Mapping | pd.DataFrame):
        return _named_groups({str(attribute): groups[attribute] for attribute in groups})
    pairs = [_label(label) for label in labels] if isinstance(labels, Iterable) else []
    members = _whole(groups)
    members = members[np.newaxis] if members.ndim == 1 else members
    first = {attribute: number for number, (attribute, _) in reversed([*enumerate(pairs)])}
    offsets = sorted(first.values())
    if members.ndim == 2 and members.size and len(members) == len(offsets):
        # Behind the first attribute, a number 0 says that each attribute has numbers of its own.
        own = members.min(axis=1) == 0
        members = members + np.where(own, offsets, 0).astype(members.dtype)[:, np.newaxis]
    return pairs, members


def _named_groups(values: Mapping[str, Any]) -> tuple[list[tuple[str, str]], npt.NDArray[Any]]:
    """Number the groups of each attribute in the order of their sorted names."""
    labels: list[tuple[str, str]] = []
    members = []
    for attribute, of_items in values.items():
        codes, names = pd.factorize(np.array(_texts(of_items), dtype=object), sort=True)
        members.append(codes + len(labels))
        labels += [(attribute, name) for name in names]
    return labels, _whole(members)


def _label(label: Any) -> tuple[str, str]:
    """A pair of an attribute and a value; a value alone is of the only attribute."""
    is_pair = isinstance(label, tuple | list | np.ndarray) and len(label) == 2
    return (str(label[0]), str(label[1])) if is_pair else (GROUP, str(label))


# ---- Demands -----------------------------------------------------------------------------------------------


def _demands_on_class(returned: object) -> Iterator[Demand]:
    for name in ("items", "item_of_row", "statistics", "measures"):
        found = f"{type(returned).__name__} without it"
        yield hasattr(returned, name), f"an object with {name}", found


def _demands(form: Form, names: list[str], rows: int) -> Iterator[Demand]:
    yield from _demands_on_items(form.items, form.item_of_row, rows)
    yield from _demands_on_groups(form.labels, form.groups, len(form.items))
    fits = names[:1] == ["score"] and len(set(names)) == len(names)
    yield fits, 'measure_names to be different texts that begin with "score"', in_words(names)


def _demands_on_items(items: list[str], item_of_row: npt.NDArray[Any], rows: int) -> Iterator[Demand]:
    yield bool(items), "items to name at least one", "none"
    repeated = pd.Series(items).duplicated()
    yield not repeated.any(), "items to differ from each other", f"{items[int(repeated.argmax())]!r} twice"
    fits = item_of_row.shape == (rows,) and item_of_row.dtype.kind in "iu"
    expected = f"item_of_row to be whole numbers of shape ({rows},), one for each row of the solution"
    yield fits, expected, f"{item_of_row.dtype} of shape {item_of_row.shape}"
    values = np.unique(item_of_row)
    expected = f"item_of_row to hold each index from 0 to {len(items) - 1} of the items"
    found = f"{len(values)} different values from {values[0]} to {values[-1]}" if rows else "no row"
    yield np.array_equal(values, np.arange(len(items))), expected, found


def _demands_on_groups(labels: list[tuple[str, str]], groups: npt.NDArray[Any], items: int) -> Iterator[Demand]:
    yield bool(labels), "labels to name the groups of the items", "none"
    yield len(set(labels)) == len(labels), "labels to differ from each other", in_words(labels)
    fits = groups.ndim == 2 and groups.shape[1] == items and groups.dtype.kind in "iu"
    found = f"{groups.dtype} of shape {groups.shape}"
    yield fits, f"groups to be whole numbers of shape (attributes, {items})", found
    attributes = list(dict.fromkeys(attribute for attribute, _ in labels))
    expected = f"groups to have one row for each of the {len(attributes)} attributes of the labels"
    yield len(attributes) == len(groups), expected, len(groups)
    are_indices = int(groups.min()) >= 0 and int(groups.max()) < len(labels)
    expected = f"groups to be indices from 0 to {len(labels) - 1} of the labels"
    yield are_indices, expected, f"{groups.min()} to {groups.max()}"
    for number, attribute in enumerate(attributes):
        others = {labels[group][0] for group in np.unique(groups[number]).tolist()} - {attribute}
        yield not others, f"row {number} of groups to name groups of {attribute}", f"some of {others}"
    empty = len(labels) - len(np.unique(groups))
    yield empty == 0, "every group of the labels to have an item", f"{empty} without"
