"""May the solution be wrong? What files share, what a constant answer scores, and the items to look at."""

import functools
from collections.abc import Sequence
from typing import Any

import pandas as pd

from podium.common.statements import Statement
from podium.contest import pipeline
from podium.ranking import answer_key, store
from podium.ranking.cautions import of_other_cells, shared_mistakes
from podium.ranking.job import frame_of, sha256
from podium.ranking.passes import Scored
from podium.ranking.questions import Pool
from podium.ranking.sentences import name_of
from podium.ranking.store import StoreEntry
from podium.ranking.submissions import Submission
from podium.scoring import constant, evaluating
from podium.scoring.evaluating import Solution
from podium.scoring.explain import OTHER_CELLS


def of_solution(
    submissions: Sequence[Submission], scored: Sequence[Scored], leaderboard: pd.DataFrame, pool: Pool
) -> tuple[list[Statement], float | None]:
    """Say what makes one doubt the solution or its direction, and what a constant answer scores, if it does."""
    pairs = [(file, each) for file, each in zip(submissions, scored) if each.scores is not None]
    of_constant = _score_of_constant(pool, pairs)
    itself = sorted({file.team for file, each in pairs if each.digest == pool.job.solution_digest})
    sent = [Statement("sent_the_solution", teams=itself)] if itself else []
    return [
        *sent,
        *_of_files(pairs),
        *_of_best(leaderboard, of_constant, pool.solution.higher_is_better),
    ], of_constant


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


def _of_best(leaderboard: pd.DataFrame, of_constant: float | None, higher_is_better: bool) -> list[Statement]:
    """Say that even the best file is worse than a constant answer."""
    first = leaderboard.sort_values("score", ascending=not higher_is_better, kind="stable").iloc[0]
    if of_constant is None or not constant.is_worse(first["score"], of_constant, higher_is_better):
        return []
    whose = f"even the best score, that of {name_of(first['team'])}"
    return [constant.statement(whose, first["score"], of_constant, higher_is_better)]


def of_items(
    pool: Pool,
    leaderboard: pd.DataFrame,
    chosen: Sequence[Scored],
    entries: Sequence[int],
    agreeing: pd.DataFrame,
) -> dict[str, Any]:
    """List the items, those to look at first, and count the best files that are compared there."""
    rows = answer_key.best_rows(leaderboard, entries, agreeing, pool.solution.higher_is_better)
    kept = [pool.load(chosen[row].entry) for row in rows]
    told = answer_key.of_best(pool.solution, [entry for entry in kept if entry is not None])
    return {} if told is None else dict(zip(("items", "files_compared"), told))


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
