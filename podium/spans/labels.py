"""What the labels of a token classifier mean: types in BIO, BIOES or without prefixes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from podium.common.arrays import Bools, Ints
from podium.spans import door
from podium.spans.vocabulary import TYPES

LABELS = ("O", *(f"{prefix}-{name}" for name in TYPES for prefix in "BI"))
PREFIXES = "BIES"
NO_LABEL = -100  # Losses of torch ignore this label.
UNLABELED = {str(NO_LABEL), "None", "nan", "<NA>"}  # what stands for no label, also among names of labels

Labels = Sequence[str] | Mapping[Any, str] | None


class Scheme(NamedTuple):
    """The meaning of a model's labels."""

    labels: list[str]  # the labels in the order of the model
    prefixes: list[str]  # (labels,) the prefix of each label
    kinds: Ints  # (labels,) the type of each label, as an index into `TYPES`; for "O" it is the number of types
    # (4, types + 1) The index of the label with a prefix of `PREFIXES` and a type. If there is none, it is the
    # number of labels.
    column: Ints
    tagged: tuple[bool, bool]  # (bool, bool) whether labels tell where segments begin, and where they end

    @classmethod
    def of(cls, given: Labels, are_names: bool) -> "Scheme":
        """Read the scheme from the labels, which may be left out if the predictions are names."""
        if given is None and not are_names:
            raise ValueError(
                "labels: expected the model's labels in their order, such as model.config.id2label; "
                "probabilities and indices do not tell which label is which"
            )
        labels = list(LABELS) if given is None else _in_order(given)
        known = [meaning for label in labels if (meaning := _meaning(label)) is not None]
        if len(known) < len(labels):
            unknown = next(label for label in labels if _meaning(label) is None)
            raise ValueError(
                f"labels: expected 'O' and types, with or without B-, I-, E- or S-, found {unknown!r:.40}. "
                f"The types are {', '.join(TYPES)}"
            )
        prefixes = [prefix for prefix, _ in known]
        kinds = np.array([kind for _, kind in known], dtype=np.int64)
        used = {prefix for prefix, kind in known if kind < len(TYPES)}
        if len(set(known)) < len(known) or ("" in used and len(used) > 1):
            expected = "each label once, and all types with a prefix or none"
            raise ValueError(f"labels: expected {expected}, found {', '.join(labels)}")
        column = np.full((len(PREFIXES), len(TYPES) + 1), len(labels))
        column[[PREFIXES.index(prefix or "I") for prefix in prefixes], kinds] = np.arange(len(labels))
        tagged = bool(used & {"B", "S"}), bool(used & {"E", "S"})
        return cls(labels, prefixes, kinds, column, tagged)

    def numbers_of(self, tags: list[Any]) -> Ints:
        """Turn the labels of tokens, which are names or indices, into indices; -1 for no label."""
        known: dict[Any, int] = {number: number for number in range(len(self.labels))}
        of_meaning = {_meaning(label): number for number, label in enumerate(self.labels)}
        others = {tag: _meaning(tag) for tag in set(tags) - set(known)}
        known |= {tag: of_meaning[meaning] for tag, meaning in others.items() if meaning in of_meaning}
        known |= {tag: -1 for tag in others if str(tag) in UNLABELED}
        token = next((row for row, tag in enumerate(tags) if tag not in known), None)
        if token is not None:
            kind = door.kind_of(tags[token])
            cure = (
                "; for types without prefixes give labels=['O', *podium.spans.TYPES]"
                if kind is not None
                else ""
            )
            raise ValueError(
                f"expected names or indices of the labels {', '.join(self.labels)}, found {tags[token]!r} for "
                f"token {token}{cure}"
            )
        return np.array([known[tag] for tag in tags], dtype=np.int64)

    def tag(self, kind: Ints, begins: Bools, ends: Bools) -> Ints:
        """Choose the label of each token by its type and by whether it begins or ends its segment."""
        begins, ends = begins & self.tagged[0], ends & self.tagged[1]
        prefix = np.select([begins & ends, begins, ends], [3, 0, 2], default=1)
        tags: Ints = self.column[prefix, kind]
        lacking = np.flatnonzero(tags == len(self.labels))
        if len(lacking):
            name = f"{PREFIXES[prefix[lacking[0]]]}-{TYPES[kind[lacking[0]]]}"
            raise ValueError(f"labels: expected also {name!r}, found {', '.join(self.labels)}")
        return tags


def _meaning(label: Any) -> tuple[str, int] | None:
    """Read a label as its prefix and its type, which is the number of types for "O"; None if it is no label."""
    if not isinstance(label, str):
        return None
    prefix, _, name = label.strip().partition("-")
    is_prefix = len(prefix) == 1 and prefix.upper() in PREFIXES
    kind = door.kind_of(name if is_prefix else label)
    if kind is None or (is_prefix and kind < 0):
        return None
    return (prefix.upper() if is_prefix else ""), (kind if kind >= 0 else len(TYPES))


def _in_order(labels: Sequence[str] | Mapping[Any, str]) -> list[str]:
    """List labels in the order of their indices. Keys of ``id2label`` may be text, as in JSON."""
    if not isinstance(labels, Mapping):
        return list(labels)
    by_number = {str(key): name for key, name in labels.items()}
    if set(by_number) != set(map(str, range(len(labels)))):
        numbers = f"the numbers 0 to {len(labels) - 1} as keys, as in id2label"
        raise ValueError(f"labels: expected {numbers}, found {', '.join(by_number)}")
    return [by_number[str(number)] for number in range(len(labels))]
