"""A literal transcription of the READ//ABLE measures, with which their metric file is compared.

The source is section 4.2 of A. Levikin and others, "The methodology of multi-criteria evaluation of text markup
models based on inconsistent expert markup" (2025). It is followed in sets of characters, exact fractions and
loops. The matching D is found by trying every matching, so markups must be small.

Nothing here is shared with ``metrics/readable``, and nothing checks the input.
"""

import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Pairs = list[tuple[int, int]]

LARGEST = {"rus": 24, "rus-free": 24, "lit": 14, "social": 6, "hist": 12, "eng": 14, "eng-free": 24}
WEIGHTS = {"M1": 1, "M2": 2, "M3": 1, "M4": 1, "M5": 1, "M6": 0, "M7": 0}


def characters(selection: dict[str, Any]) -> set[int]:
    """The positions of a selection's characters."""
    return set(range(selection["startSelection"], selection["endSelection"]))


def jaccard(x: dict[str, Any], y: dict[str, Any]) -> Fraction:
    """The share of common characters; two empty selections have all in common."""
    if not characters(x) and not characters(y):
        return Fraction(1)
    return Fraction(len(characters(x) & characters(y)), len(characters(x) | characters(y)))


def plain(x: dict[str, Any], name: str) -> str:
    """A name without regard to case, outer spaces and Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", x.get(name) or "").strip().casefold())


def equal(x: dict[str, Any], y: dict[str, Any], name: str) -> bool:
    """Whether two selections have the same detail, compared by `plain`."""
    return plain(x, name) == plain(y, name)


def may_match(x: dict[str, Any], y: dict[str, Any]) -> bool:
    """Whether two selections may be partners."""
    if not characters(x) and not characters(y):
        return bool(x["startSelection"] == y["startSelection"]) and equal(x, y, "type")
    return bool(characters(x) & characters(y))


def cost(x: dict[str, Any], y: dict[str, Any]) -> Fraction | None:
    """The cost of a pair; None if the two may not be partners."""
    if not may_match(x, y):
        return None
    total = 1 - jaccard(x, y)
    if x["startSelection"] != y["startSelection"]:
        total += 1
    if not equal(x, y, "type"):
        total += 1
    if (plain(x, "group") == "meaning") != (plain(y, "group") == "meaning"):
        total += 4
    return total if total < 2 else None


def every_matching(pairs: Pairs) -> Iterator[Pairs]:
    """List every set of pairs in which no selection occurs twice, with the empty set."""
    if not pairs:
        yield []
        return
    (i, k), rest = pairs[0], pairs[1:]
    yield from every_matching(rest)
    for matching in every_matching([(j, m) for j, m in rest if j != i and m != k]):
        yield [(i, k), *matching]


def costs(ours: list[Any], theirs: list[Any]) -> dict[tuple[int, int], Fraction]:
    """The cost of every pair whose selections may be partners."""
    of_pairs = {(i, k): cost(x, y) for i, x in enumerate(ours) for k, y in enumerate(theirs)}
    return {pair: value for pair, value in of_pairs.items() if value is not None}


def value_of(matching: Pairs, ours: list[Any], theirs: list[Any]) -> tuple[Fraction, int, int]:
    """What the best matching minimizes: its cost, the pairs left out, and the unequal details."""
    of_pair = costs(ours, theirs)
    alone = len(ours) + len(theirs) - 2 * len(matching)
    details = sum(equal(ours[i], theirs[k], name) for i, k in matching for name in ("subtype", "correction"))
    return sum((of_pair[pair] for pair in matching), Fraction(alone)), -len(matching), -details


def best_matching(ours: list[Any], theirs: list[Any]) -> Pairs:
    """The matching with the least `value_of`, found by trying all."""
    return min(every_matching(list(costs(ours, theirs))), key=lambda matching: value_of(matching, ours, theirs))


def accuracies(
    first: dict[str, Any],
    second: dict[str, Any],
    subject: str,
    matching: Pairs | None = None,
    weights: dict[str, int] = WEIGHTS,
    m7: Fraction = Fraction(1),
) -> dict[str, Fraction]:
    """M1 to M7 and M in percent, with the best matching or a given one."""
    ours, theirs = first["selections"], second["selections"]
    d = best_matching(ours, theirs) if matching is None else matching
    names = first["criteria"].keys() | second["criteria"].keys()
    difference = sum(
        (abs(Fraction(first["criteria"].get(n, 0)) - Fraction(second["criteria"].get(n, 0))) for n in names),
        Fraction(0),
    )
    shares = {"M1": max(Fraction(0), 1 - difference / LARGEST[subject])}
    if not ours and not theirs:
        shares |= dict.fromkeys(("M2", "M3", "M4", "M5", "M6"), Fraction(1))
    elif not d:
        shares |= dict.fromkeys(("M2", "M3", "M4", "M5", "M6"), Fraction(0))
    else:
        precision, recall = Fraction(len(d), len(ours)), Fraction(len(d), len(theirs))
        pairs = [(ours[i], theirs[k]) for i, k in d]
        shares["M2"] = 2 * precision * recall / (precision + recall)
        shares["M3"] = Fraction(sum(equal(x, y, "type") for x, y in pairs), len(d))
        shares["M4"] = Fraction(sum(equal(x, y, "subtype") for x, y in pairs), len(d))
        shares["M5"] = sum((jaccard(x, y) for x, y in pairs), Fraction(0)) / len(d)
        shares["M6"] = Fraction(sum(equal(x, y, "correction") for x, y in pairs), len(d))
    shares["M7"] = m7
    m = sum((weights[name] * share for name, share in shares.items()), Fraction(0)) / sum(weights.values())
    return {name: 100 * share for name, share in ({"M": m} | shares).items()}


def relative(
    algorithm: list[list[Fraction]], experts: list[list[Fraction]], h: Fraction
) -> dict[str, Fraction | None]:
    """OTAR, M_avg and M_opt in percent, as means over means of each essay's M(A, E) and M(E, E')."""
    essays = [(a, e) for a, e in zip(algorithm, experts) if e]

    def ratio(share: Fraction) -> Fraction | None:
        numerators = [share * sum(a) / len(a) + (1 - share) * max(a) for a, _ in essays]
        denominators = [share * sum(e) / len(e) + (1 - share) * min(e) for _, e in essays]
        return 100 * sum(numerators) / sum(denominators) if sum(denominators) else None

    return {"otar": ratio(h), "m_avg": ratio(Fraction(1)), "m_opt": ratio(Fraction(0))}
