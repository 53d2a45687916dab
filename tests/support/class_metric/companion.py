"""What podium tells about a submission beyond its score.

Everything here is optional. `podium.contract.Companion` and `podium.contract.Explanation` say
what else there can be.
"""

import functools
from collections.abc import Mapping
from typing import ClassVar

import pandas as pd

from podium import contract


class Explanation(contract.Explanation):
    """What became of every row."""

    roles: ClassVar = {"item": "id", "label": "label", "outcome": "outcome"}

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """One row for each item: its id, its true label, the outcome, and the points that it lost."""
        right = self.statistics[:, 0] == 1
        return pd.DataFrame(
            {
                "id": self.prepared.items,
                "label": self.prepared.truth,
                "outcome": pd.Series(right).map({True: "correct", False: "wrong"}),
                "points_lost": (1 - self.statistics[:, 0]) / len(right),
            }
        )

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """How often each label was right."""
        by_label = self.rows.groupby("label")["outcome"]
        table = pd.DataFrame(
            {"rows": by_label.size(), "right": by_label.agg(lambda x: (x == "correct").mean())}
        )
        return {"Labels": table.reset_index()}


def sample_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """A submission to show to participants, which tells nothing of the solution: one label for all rows."""
    row_id = solution.columns[0]
    return solution[[row_id]].assign(label=min(solution["label"]))


def perfect_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """The submission that scores best; the host compares its score with the site's."""
    row_id = solution.columns[0]
    return solution[[row_id, "label"]]


companion = contract.Companion(
    text_columns=("id", "label"),
    explain=Explanation,
    sample_submission=sample_submission,
    perfect_submission=perfect_submission,
)
