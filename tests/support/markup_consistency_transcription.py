"""A literal transcription of the markup consistency methodology, with which its metric file is compared.

The source is section 3 of A. Levikin and others, "The methodology of multi-criteria evaluation of text markup
models based on inconsistent expert markup" (2025). It is followed in sets of characters, exact fractions and
loops, with the equations in brackets. The optimal accordance is found by trying every accordance, so markups
must be small.

Nothing here is shared with ``metrics/markup_consistency``, and nothing checks the input.

A given accordance is a list of triples or tuples that begin with the two positions:

    elements  (i, j, accordance of their overtexts, accordance of their fragments)
    fragments (i, j, accordance of their overtexts)
    overtexts (i, j)
"""

import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

ONE, ZERO = Fraction(1), Fraction(0)

LEVELS = {
    "": ("accordance", "tags", "overtexts", "fragments", "fragment_text_union", "fragment_tag_union"),
    "overtexts": ("accordance", "texts", "tags"),
    "fragments": ("accordance", "texts", "tags", "overtexts"),
    "fragments.overtexts": ("accordance", "texts", "tags"),
}


def full_name(level: str, name: str) -> str:
    """The full name of a criterion, with the level that it belongs to."""
    return f"{level}.{name}" if level else name


EQUAL_WEIGHTS = {full_name(level, name): ONE for level, names in LEVELS.items() for name in names}


def f_measure(a: Any, b: Any) -> Fraction:
    """Equation (6), for sets and for Counters."""
    size_a, size_b, common = count(a), count(b), count(a & b)
    return ONE if size_a + size_b == 0 else Fraction(2 * common, size_a + size_b)


def count(members: Any) -> int:
    """The number of members of a set or a Counter."""
    return sum(members.values()) if isinstance(members, Counter) else len(members)


def bag(overtext: dict[str, Any]) -> Counter[str]:
    """The words of an overtext's comment, each as often as it occurs."""
    words = re.findall(r"\w+", overtext.get("comment", "").lower())
    return Counter(word.replace("ё", "е") for word in words)


def tags(holder: dict[str, Any]) -> set[str]:
    """The tags of an object."""
    return set(holder.get("tags", []))


def characters(fragment: dict[str, Any]) -> set[int]:
    """The positions of a fragment's characters."""
    return set(range(fragment["start"], fragment["end"]))


# Who may be partners


def overtexts_may(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two overtexts may be partners: they share a word or a tag, or both have neither."""
    if not (bag(a) or bag(b) or tags(a) or tags(b)):
        return True
    return bool(bag(a) & bag(b)) or bool(tags(a) & tags(b))


def fragments_may(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two fragments may be partners: they share a character, or both are empty at the same place."""
    if not characters(a) and not characters(b):
        return bool(a["start"] == b["start"])
    return bool(characters(a) & characters(b))


def elements_may(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two elements may be partners: some of their fragments may be, or both have none."""
    ours, theirs = a.get("fragments", []), b.get("fragments", [])
    if not ours and not theirs:
        return True
    return any(fragments_may(x, y) for x in ours for y in theirs)


# The optimal accordance (8), (9)


def every_accordance(pairs: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """List every set of pairs in which no object occurs twice, with the empty set."""
    if not pairs:
        yield []
        return
    (i, j), rest = pairs[0], pairs[1:]
    yield from every_accordance(rest)
    for accordance in every_accordance([(k, m) for k, m in rest if k != i and m != j]):
        yield [(i, j), *accordance]


def best_accordance(
    worth: dict[tuple[int, int], Fraction], objects: int, share: Fraction, kind: str
) -> list[tuple[int, int]]:
    """The accordance with the largest sum, or with the largest average for (13), (16) or (20)."""

    def value(accordance: list[tuple[int, int]]) -> tuple[Fraction, int]:
        total, pairs = sum((worth[pair] for pair in accordance), ZERO), len(accordance)
        if kind == "sum":
            return total, pairs
        if not pairs:
            return -ONE, 0
        return share * Fraction(2 * pairs, objects) + (1 - share) * total / pairs, pairs

    return max(every_accordance(list(worth)), key=value)


# The criteria (13)-(24)


class Transcription:
    """Consistency with certain weights, given by name, and with the accordance "sum" or "exact"."""

    def __init__(self, weights: dict[str, Fraction] | None = None, kind: str = "sum") -> None:
        self.weights = EQUAL_WEIGHTS | (weights or {})
        self.kind = kind

    def average(self, level: str, criteria: dict[str, Fraction], with_accordance: bool = True) -> Fraction:
        """The weighted average of a level's criteria."""
        names = LEVELS[level] if with_accordance else LEVELS[level][1:]
        total = sum(self.weights[full_name(level, name)] for name in names)
        if not total:
            return ZERO
        return sum((self.weights[full_name(level, name)] * criteria[name] for name in names), ZERO) / total

    def level(
        self,
        level: str,
        ours: list[Any],
        theirs: list[Any],
        criteria_of: dict[tuple[int, int], dict[str, Fraction]],
        given: list[tuple[int, int]] | None,
        names: list[str],
    ) -> dict[str, Fraction]:
        """The averages over the accordance, with the composite under ""."""
        if not ours and not theirs:
            averages = dict.fromkeys(names, ONE) | {"accordance": ONE}
        else:
            worth = {pair: self.average(level, c, False) for pair, c in criteria_of.items()}
            weights = [self.weights[full_name(level, name)] for name in LEVELS[level]]
            share = weights[0] / sum(weights)
            pairs = given
            if pairs is None:
                pairs = best_accordance(worth, len(ours) + len(theirs), share, self.kind)
            averages = {"accordance": Fraction(2 * len(pairs), len(ours) + len(theirs))}
            for name in names:
                values = [criteria_of[pair][name] for pair in pairs]
                averages[name] = sum(values, ZERO) / len(values) if values else ZERO
        return averages | {"": self.average(level, averages)}

    def overtexts(
        self, level: str, ours: list[Any], theirs: list[Any], given: Any = None
    ) -> dict[str, Fraction]:
        """Equations (16) to (18)."""
        criteria_of = {
            (i, j): {"texts": f_measure(bag(a), bag(b)), "tags": f_measure(tags(a), tags(b))}
            for i, a in enumerate(ours)
            for j, b in enumerate(theirs)
            if overtexts_may(a, b)
        }
        return self.level(level, ours, theirs, criteria_of, given, ["texts", "tags"])

    def fragment(self, a: dict[str, Any], b: dict[str, Any], given: Any = None) -> dict[str, Fraction]:
        """The criteria of one pair of fragments, by (21), (22) and section 3.4.4."""
        overtexts = self.overtexts("fragments.overtexts", a.get("overtexts", []), b.get("overtexts", []), given)
        return {
            "texts": f_measure(characters(a), characters(b)),
            "tags": f_measure(tags(a), tags(b)),
            **prefixed("overtexts", overtexts),
        }

    def fragments(self, ours: list[Any], theirs: list[Any], given: Any = None) -> dict[str, Fraction]:
        """Equations (20) to (22) and section 3.4.4."""
        inner = {(i, j): overtexts for i, j, overtexts in given or []}
        criteria_of = {
            (i, j): self.fragment(a, b, inner.get((i, j)))
            for i, a in enumerate(ours)
            for j, b in enumerate(theirs)
            if fragments_may(a, b)
        }
        names = ["texts", "tags", "overtexts", *(f"overtexts.{name}" for name in LEVELS["overtexts"])]
        pairs = None if given is None else list(inner)
        return self.level("fragments", ours, theirs, criteria_of, pairs, names)

    def element(self, a: dict[str, Any], b: dict[str, Any], given: Any = (None, None)) -> dict[str, Fraction]:
        """The criteria of one pair of elements, by (14) to (24)."""
        of_overtexts, of_fragments = given
        ours, theirs = a.get("fragments", []), b.get("fragments", [])
        overtexts = self.overtexts("overtexts", a.get("overtexts", []), b.get("overtexts", []), of_overtexts)
        return {
            "tags": f_measure(tags(a), tags(b)),
            **prefixed("overtexts", overtexts),
            **prefixed("fragments", self.fragments(ours, theirs, of_fragments)),
            "fragment_text_union": f_measure(
                set().union(*map(characters, ours)), set().union(*map(characters, theirs))
            ),
            "fragment_tag_union": f_measure(set().union(*map(tags, ours)), set().union(*map(tags, theirs))),
        }

    def criteria(self, first: dict[str, Any], second: dict[str, Any], given: Any = None) -> dict[str, Fraction]:
        """All criteria of two markups, with C under "total", for the best accordances or for given ones."""
        ours, theirs = first["elements"], second["elements"]
        inner = {(i, j): (overtexts, fragments) for i, j, overtexts, fragments in given or []}
        criteria_of = {
            (i, j): self.element(a, b, inner.get((i, j), (None, None)))
            for i, a in enumerate(ours)
            for j, b in enumerate(theirs)
            if elements_may(a, b)
        }
        names = [name for name in EQUAL_WEIGHTS if name != "accordance"]
        pairs = None if given is None else list(inner)
        averages = self.level("", ours, theirs, criteria_of, pairs, names)
        return {"total": averages.pop("")} | averages

    def total(self, first: dict[str, Any], second: dict[str, Any]) -> Fraction:
        """The consistency C of two markups."""
        return self.criteria(first, second)["total"]


def prefixed(name: str, averages: dict[str, Fraction]) -> dict[str, Fraction]:
    """Averages under the full names of their criteria."""
    return {f"{name}.{part}" if part else name: value for part, value in averages.items()}


# The corpus (10)-(12)


def weights_of(documents: list[list[dict[str, Any]]]) -> dict[str, Fraction]:
    """The weights, which are zero for components that occur in none of the experts' markups."""
    elements = [element for experts in documents for markup in experts for element in markup["elements"]]
    fragments = [fragment for element in elements for fragment in element.get("fragments", [])]
    of_elements = [overtext for element in elements for overtext in element.get("overtexts", [])]
    of_fragments = [overtext for fragment in fragments for overtext in fragment.get("overtexts", [])]
    absent = {
        "tags": not any(map(tags, elements)),
        "overtexts": not of_elements,
        "overtexts.texts": not any(map(bag, of_elements)),
        "overtexts.tags": not any(map(tags, of_elements)),
        "fragments": not fragments,
        "fragments.texts": not any(map(characters, fragments)),
        "fragments.tags": not any(map(tags, fragments)),
        "fragments.overtexts": not of_fragments,
        "fragments.overtexts.texts": not any(map(bag, of_fragments)),
        "fragments.overtexts.tags": not any(map(tags, of_fragments)),
        "fragment_text_union": not any(map(characters, fragments)),
        "fragment_tag_union": not any(map(tags, fragments)),
    }
    return {name: ZERO for name, is_absent in absent.items() if is_absent}


def mean(values: list[Fraction]) -> Fraction | None:
    """The mean, or None if there is nothing to average."""
    return sum(values, ZERO) / len(values) if values else None


def corpus(documents: list[tuple[list[Any], Any]], kind: str = "sum") -> dict[str, Fraction | None]:
    """AMA, EMA and RMA, by (10) to (12), of documents: the experts' markups and the algorithm's."""
    transcription = Transcription(weights_of([experts for experts, _ in documents]), kind)
    ama, ema, ama_of_two = [], [], []
    for experts, algorithm in documents:
        with_algorithm = [transcription.total(algorithm, expert) for expert in experts]
        among_experts = [transcription.total(a, b) for k, a in enumerate(experts) for b in experts[k + 1 :]]
        if experts:
            ama.append(mean(with_algorithm))
        if among_experts:
            ema.append(mean(among_experts))
            ama_of_two.append(mean(with_algorithm))
    numerator, denominator = mean(ama_of_two), mean(ema)
    return {
        "ama": mean(ama),
        "ema": denominator,
        "rma": numerator / denominator if numerator is not None and denominator else None,
    }
