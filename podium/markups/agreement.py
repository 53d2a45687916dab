"""Say how well the experts of a solution agree with each other, without a submission."""

import functools
import itertools
import shlex
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.common.arrays import Floats
from podium.common.errors import HostError
from podium.common.wording import listed
from podium.contest.reading import with_account
from podium.markups.explanation import (
    AMONG,
    Criteria,
    PreparedMarkups,
    about_experts,
    markups_of,
    mean,
    names_of_experts,
    notice,
)
from podium.metric import contract
from podium.scoring.explain import ratio

LEAST_DOCUMENTS = 10  # an interval from fewer documents would say more than they know


class Agreement(contract.Agreement):
    """How well the experts of a solution agree with each other; see `podium.metric.contract.Agreement`.

    For `podium.statistics` it plays the role of a prepared solution, whose items are the documents that count.
    Its measures are the means of the criteria over them. A document counts if it has two experts and one of
    them marked something: where nobody did, the formulas give full agreement, which says nothing.
    """

    def __init__(self, prepared: PreparedMarkups, solution: pd.DataFrame, criteria: Criteria) -> None:
        self.prepared, self._criteria, self.measure_names = prepared, criteria, criteria.names
        self.labels = prepared.labels
        self.markups = markups_of(prepared, solution)
        self.names = names_of_experts(prepared, self.markups)
        self._two = np.array([len(experts) >= 2 for experts in prepared.experts])
        if not self._two.any():
            found = sorted({name for of in self.names for name in of})
            told = f"every document has at most one, of {listed(found)}" if found else "no document has any"
            raise HostError(with_account(f"expected a document with markups of two experts; {told}", solution))
        is_marked = [any(any(expert.content) for expert in experts) for experts in prepared.experts]
        self._counts = self._two & is_marked
        # the criteria of the pairs of experts, of which there are none where a document does not count
        self._among = [pairs[: len(pairs) * counts] for pairs, counts in zip(prepared.among, self._counts)]
        self.means = np.array([mean(pairs) for pairs in self._among])
        self.items = [item for item, counts in zip(prepared.items, self._counts) if counts]
        self.groups = np.zeros((1, len(self.items)), dtype=np.int64)
        self.numbers = np.column_stack([self.means[self._counts], np.ones(len(self.items))])

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the means of the criteria from sums of statistics."""
        sums = np.asarray(sums, dtype=np.float64)[..., 0, :]
        return ratio(sums[..., :-1], sums[..., -1:])

    @functools.cached_property
    def criteria(self) -> pd.DataFrame:
        """The mean of every criterion that counts, with its 95% interval and the note on it."""
        names, places = self.measure_names, [place for place, _ in self._criteria.shown.values()]
        if len(self.items) >= LEAST_DOCUMENTS:
            table = statistics.intervals_of(self, self.numbers)[["measure", "value", "low", "high", "note"]]
            # Widened for a small sample, an interval could end beyond what a criterion can be.
            table[["low", "high"]] = table[["low", "high"]].clip(0, self._criteria.unit)
        else:
            note = f"no interval: fewer than {LEAST_DOCUMENTS} documents"
            ends = {"low": np.nan, "high": np.nan, "note": note}
            table = pd.DataFrame({"measure": names, "value": mean(self.means[self._counts])} | ends)
        table = table.rename(columns={"measure": "criterion", "value": "mean"})
        table = table.iloc[places].reset_index(drop=True)
        table.insert(1, "name", [title for _, title in self._criteria.shown.values()])
        return table

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document: its number of experts and the means of the criteria."""
        frame = pd.DataFrame(self.means, columns=self.measure_names)
        frame.insert(0, "document_id", self.prepared.items)
        frame.insert(1, "experts", [len(experts) for experts in self.prepared.experts])
        return frame

    @functools.cached_property
    def experts(self) -> pd.DataFrame:
        """One row per expert. The expert who agrees least with the others comes first.

        The column ``agreement`` is the expert's mean agreement with the other experts of a document, averaged
        over documents. The column ``among_others`` is the mean agreement of these others with each other, over
        documents with two or more others. The column ``relative`` is the ratio of the two over these
        documents, as if the expert were an algorithm.
        """
        total = np.concatenate(self._among)[:, 0]
        document = np.repeat(np.arange(len(self._among)), [len(pairs) for pairs in self._among])
        of_documents = [names if counts else [] for names, counts in zip(self.names, self._counts)]
        pairs = [pair for names in of_documents for pair in itertools.combinations(names, 2)]
        one, other = np.array(pairs, dtype=object).reshape(-1, 2).T
        rows = []
        for name in sorted({name for names in of_documents for name in names}):
            own = (one == name) | (other == name)
            present = np.isin(document, document[own])
            mine = pd.Series(total[own]).groupby(document[own]).mean()
            others = pd.Series(total[present & ~own]).groupby(document[present & ~own]).mean()
            among = others.mean()
            relative = mine[others.index].mean() / among if len(others) and among > 0 else np.nan
            rows.append((name, len(mine), mine.mean(), among, relative))
        columns = ["expert", "documents", "agreement", "among_others", "relative"]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.sort_values(["relative", "agreement", "expert"], ignore_index=True)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The criteria, the experts, and the documents with the least agreement."""
        shown = ["document_id", "experts", *(name for name in self._criteria.shown if "." not in name)]
        total = self.measure_names[0]
        least = self.documents.dropna(subset=total).sort_values([total, "document_id"])[shown].head(10)
        return {
            "Agreement of the experts": self.criteria,
            "Experts, least agreement first": self.experts,
            "Documents on which they agree least": least.reset_index(drop=True),
        }

    @property
    def notices(self) -> list[str]:
        """Which documents were left out, and who may not have finished."""
        items, nothing = self.prepared.items, "documents in which no expert marked anything are left out"
        return [
            *notice("documents with fewer than two experts are left out", items, ~self._two),
            *notice(nothing, items, self._two & ~self._counts),
            *about_experts(self.prepared, self.names, self.markups, self._without),
        ]

    def _without(self, name: str) -> str:
        """Say what the agreement of the others is without an expert, if there is one."""
        of_others = []
        for names, pairs in zip(self.names, self._among):
            kept = [name not in pair for pair in itertools.combinations(names, 2)][: len(pairs)]
            if any(kept):
                of_others.append(pairs[np.array(kept)].mean(axis=0)[0])
        total = self.measure_names[0]
        if not of_others:
            return ""
        return f"; with --leave-out {shlex.quote(name)}, {total} is {np.mean(of_others):.6f}"

    @property
    def histograms(self) -> dict[str, Any]:
        """The histograms of the criteria among experts."""
        panels = self._criteria.histograms({AMONG: (self._among, self.means)})
        return {"Agreement of the experts": panels}
