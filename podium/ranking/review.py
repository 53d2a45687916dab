"""The step after a board is made: may the solution be wrong?"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from podium.common.statements import Statement
from podium.contest import pipeline
from podium.ranking import answer_key, store
from podium.ranking.board import Inputs
from podium.ranking.cautions import of_other_cells, shared_mistakes
from podium.ranking.final import FinalBoard
from podium.ranking.job import frame_of, sha256
from podium.ranking.passes import Scored
from podium.ranking.questions import Pool
from podium.ranking.sentences import name_of
from podium.ranking.store import StoreEntry
from podium.ranking.submissions import Submission
from podium.scoring import constant, evaluating
from podium.scoring.evaluating import Solution
from podium.scoring.explain import OTHER_CELLS


def reviewed(final: FinalBoard, inputs: Inputs, pool: Pool, scored: Sequence[Scored]) -> FinalBoard:
    """Add to a board what makes one doubt the solution."""
    items, compared = _of_items(final, pool, scored)
    pairs = [(file, each) for file, each in zip(inputs.submissions, scored) if each.scores is not None]
    of_constant = _score_of_constant(pool, pairs)
    facts = final.facts | {"constant": of_constant}
    # If the solution or the direction may be wrong, the whole board is.
    found = _of_files(pairs) + _of_best(final, of_constant)
    facts["warnings"] = [*map(str, found), *facts["warnings"]]
    if len(inputs.left_out):
        facts["left_out"] = inputs.left_out.to_dict("records")
    mistakes = {
        (file.team, file.name): [sentence for _, sentence in each.mistakes]
        for file, each in zip(inputs.submissions, scored)
        if each.mistakes
    }
    return replace(final, facts=facts, items=items, files_compared=compared, mistakes=mistakes)


def _of_files(pairs: Sequence[tuple[Submission, Scored]]) -> list[Statement]:
    """Say which mistakes files share or have alone."""
    distinct = {each.fingerprint + each.side_digest: each.mistakes for _, each in pairs}
    found = shared_mistakes([*distinct.values()])
    return found + of_other_cells(
        [
            (f"{file.team}/{file.name}", sentence)
            for file, each in pairs
            for kind, sentence in each.mistakes
            if kind == OTHER_CELLS
        ]
    )


def _of_best(final: FinalBoard, of_constant: float | None) -> list[Statement]:
    """Say that even the best file is worse than a constant answer."""
    better = final.facts["higher_is_better"]
    first = final.leaderboard.sort_values("score", ascending=not better, kind="stable").iloc[0]
    if of_constant is None or not constant.is_worse(first["score"], of_constant, better):
        return []
    whose = f"even the best score, that of {name_of(first['team'])}"
    return [constant.statement(whose, first["score"], of_constant, better)]


def _constant_answers(
    header: dict[str, Any], solution: Solution, submissions: Sequence[Submission]
) -> list[StoreEntry]:
    """Score constant answers in the form of some submissions, in a worker, and make their entries."""
    entries = []
    for submission in submissions:
        answer = constant.evaluated(pipeline.unjudged(solution, frame_of(solution, submission)))
        scores, statistics = (None, None) if answer is None else (answer.scores, answer.statistics)
        entries.append(store.encode(header | {"scores": scores}, statistics))
    return entries


def _score_of_constant(pool: Pool, pairs: Sequence[tuple[Submission, Scored]]) -> float | None:
    """The score of a constant answer in the form of the first file by name, or None if it has none.

    It is kept in the store.
    """
    file, became = min(pairs, key=lambda pair: pair[0][:2])
    context = sha256(repr((pool.job.context, "constant")).encode())
    entry = pool.load(store.name_of(context, became.digests))
    if entry is None:
        header = {"context": context, "sha256": became.digests, "measured": pool.job.measured}
        files = [file._replace(digests=became.digests)]
        [entry] = pool.read_again(functools.partial(_constant_answers, header), files, "a constant answer")
        store.save(pool.store, entry)
    scores = entry.header["scores"]
    if scores is None:
        return None
    if entry.statistics is not None and entry.header["measured"] != pool.job.measured:
        scores = evaluating.scores_of(pool.solution, entry.statistics)
    return float(scores[pool.solution.deciding])


def _of_items(final: FinalBoard, pool: Pool, scored: Sequence[Scored]) -> tuple[pd.DataFrame | None, int]:
    """List the items, those to look at first, and count the best files that are compared there."""
    board, files = final.leaderboard, final.submissions
    counts = files[files["chosen"]]
    number_of = dict(zip(counts["team"], counts.index))
    rows = answer_key.best_rows(board, final.entries, final.similar, pool.solution.higher_is_better)
    entries = [pool.load(scored[number_of[team]].entry) for team in board["team"].iloc[rows]]
    told = answer_key.of_best(pool.solution, [entry for entry in entries if entry is not None])
    return told or (None, 0)
