"""How well experts agree on labels of whole documents, such as choices, which stand at no place of the text."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from podium.words.arrays import Floats
from podium.words.errors import UsageError, missing_extra

Labels = dict[str, dict[str, str]]  # by document and expert
COLUMNS = ("label", "documents", "experts", "percent", "alpha", "kappa", "kappa_documents")


def table_of(
    items: Sequence[str],
    names: Sequence[Sequence[str]],
    markups: Sequence[Sequence[Mapping[str, Any]]],
) -> tuple[pd.DataFrame, list[str]]:
    """One row for each label of whole documents, and a notice if a package for it is missing.

    ``percent`` is the share of the pairs of experts who agree, averaged over the documents with two labels.
    ``alpha`` is Krippendorff's α for names as labels.  ``kappa`` is Fleiss' κ, which needs the same number of
    labels in each document, so it is computed from the documents with the most frequent number.
    """
    rows, notices = [], list[str]()
    for label, labels in sorted(_by_label(items, names, markups).items()):
        shares = [_share(list(of.values())) for of in labels.values()]
        experts = {name for of in labels.values() for name in of}
        try:
            measured = alpha(labels), *kappa(labels)
        except UsageError as problem:
            notices, measured = [str(problem)], (np.nan, np.nan, 0)
        percent = 100 * float(np.mean(shares))
        rows.append((label, len(labels), len(experts), percent, *measured))
    return pd.DataFrame(rows, columns=[*COLUMNS]), notices


def _share(labels: list[str]) -> float:
    """The share of the pairs of labels that are equal."""
    return float(np.mean([one == other for one, other in itertools.combinations(labels, 2)]))


def _by_label(
    items: Sequence[str],
    names: Sequence[Sequence[str]],
    markups: Sequence[Sequence[Mapping[str, Any]]],
) -> dict[str, Labels]:
    """What each expert says of each whole document, by the label's name, where two or more say something."""
    found: dict[str, Labels] = {}
    for item, of_document, own in zip(items, names, markups):
        said: dict[str, dict[str, set[str]]] = {}
        for name, markup in zip(of_document, own):
            for label, value in _whole(markup):
                said.setdefault(label, {}).setdefault(name, set()).add(value)
        for label, of_experts in said.items():
            if len(of_experts) > 1:
                choices = {name: " | ".join(sorted(values)) for name, values in of_experts.items()}
                found.setdefault(label, {})[item] = choices
    return found


def _whole(markup: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The labels of a whole document with their values: "tone: good", or "good" of a label without a name."""
    if "selections" in markup:  # of READ//ABLE, which has grades instead
        return
    for element in markup.get("elements") or []:
        if not element.get("fragments") and not element.get("overtexts"):  # with a comment it is a remark
            for tag in element.get("tags") or []:
                name, separator, value = tag.partition(": ")
                yield (name, value) if separator else ("(without a name)", tag)


def _codes(labels: Labels) -> Floats:
    """The labels as numbers, (experts, documents); NaN where an expert gave none."""
    experts = sorted({name for of in labels.values() for name in of})
    values = sorted({value for of in labels.values() for value in of.values()})
    return np.array(
        [[values.index(of[name]) if name in of else np.nan for of in labels.values()] for name in experts],
        dtype=np.float64,
    )


def alpha(labels: Labels) -> float:
    """Compute Krippendorff's α for names as labels; NaN if all labels are equal.

    K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011.
    """
    try:
        import krippendorff
    except ImportError:
        raise missing_extra("α of labels of whole documents", "krippendorff", "agreement") from None
    codes = _codes(labels)
    if len(np.unique(codes[~np.isnan(codes)])) < 2:
        return np.nan
    return float(krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal"))


def kappa(labels: Labels) -> tuple[float, int]:
    """Compute Fleiss' κ of the documents with the most frequent number of labels; NaN if all labels are equal.

    J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76(5), 1971.
    """
    try:
        from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa
    except ImportError:
        raise missing_extra("κ of labels of whole documents", "statsmodels", "agreement") from None
    sizes = Counter(map(len, labels.values()))
    number = max(sizes, key=lambda size: (sizes[size], size))
    equally_many = [[*of.values()] for of in labels.values() if len(of) == number]
    counts, values = aggregate_raters(np.array(equally_many, dtype=object))
    return (float(fleiss_kappa(counts)) if len(values) > 1 else np.nan), len(equally_many)
