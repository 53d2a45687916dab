"""How the score follows the score of each group: a metric may fall where a group gets better."""

from typing import Any

import numpy as np
import numpy.typing as npt

from podium.statistics.population import columns_of_groups
from podium.statistics.sampling import slopes

Floats = npt.NDArray[np.float64]


def group_slopes(prepared: Any, total: Floats) -> Floats | None:
    """Estimate how fast the score rises with the score of each group, (g,), from sums over groups, (g, k).

    It is None if groups have no scores of their own, and NaN for a group whose score is undefined or does not
    depend on its sums.  Both the score and the group's score change with the group's sums.  Where the score
    depends on them through the group's score, the two gradients are proportional, and their ratio is the slope.
    For the softmin ν of scores s with weights β and temperature α it is β·(1 − α·(s − ν)), which is below 0 for
    a group that is more than 1/α above the score.
    """
    columns = columns_of_groups(prepared)
    if columns is None:
        return None
    steepness = slopes(prepared, total)
    groups = np.arange(len(columns))
    own, of_score = steepness[columns, groups], steepness[0, groups]
    square = (own * own).sum(axis=1)
    ratio: Floats = np.divide(
        (own * of_score).sum(axis=1), square, out=np.full(len(square), np.nan), where=square > 0
    )
    return ratio
