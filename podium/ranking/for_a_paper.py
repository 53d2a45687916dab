"""A board as a table for a paper: the teams, what the metric gave, the runtimes and what decides."""

import numpy as np
import pandas as pd

from podium.ranking.final import FinalBoard
from podium.ranking.sentences import items_of
from podium.report.paper import DECIMALS, NORMAL, PaperTable, decimals


def of_board(final: FinalBoard, with_intervals: bool = False) -> PaperTable:
    """Tabulate a board: where it decides, a team that may be the best cannot be told from the best."""
    board, facts = final.leaderboard, final.facts
    higher = {"score": bool(facts["higher_is_better"])}
    higher |= {"runtime": False, "boosted_score": True} if facts["boosted"] else {}
    values = board[[*higher]].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    signed = np.nan_to_num(np.where([*higher.values()], values, -values), nan=-np.inf)
    is_best = signed == signed.max(axis=0)
    is_alike, digits, ends = np.zeros(values.shape, dtype=bool), DECIMALS, None
    if (certainty := final.certainty) is not None:
        of_team = certainty.set_index("team").reindex(board["team"])
        is_alike[:, -1] = of_team["may_be_best"].eq(True).to_numpy() & ~is_best[:, -1]
        widths = pd.to_numeric(of_team["boosted_score_high"]) - pd.to_numeric(of_team["boosted_score_low"])
        if with_intervals:
            named = [f"{name}_{end}" for name in higher for end in ("low", "high")]
            drawn = of_team.reindex(columns=named).apply(pd.to_numeric)  # a runtime has no interval
            ends = drawn.to_numpy(dtype=np.float64).reshape(*values.shape, 2)
        (digits,) = decimals([float(widths.min()) / (2 * NORMAL)])
    size = f"; {items_of(facts, facts['items'])}" if facts["items"] else ""
    return PaperTable(
        names=board["team"].tolist(),
        measures=[name.replace("_", " ") for name in higher],
        values=values,
        is_best=is_best,
        is_alike=is_alike,
        decimals=[1 if name == "runtime" else digits for name in higher],
        ends=ends,
        caption=f"{facts['signature']}{size}.",
    )
