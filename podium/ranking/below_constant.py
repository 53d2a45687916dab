"""Is even the best team worse than a constant answer?  Then the solution may be wrong, or how it is read."""

from collections.abc import Sequence

from podium.contest import way
from podium.ranking import store
from podium.ranking.asking import Desk
from podium.ranking.job import contents_of, entry_name, frame_of, sha256
from podium.ranking.passes import Scored
from podium.ranking.robustness import check_unchanged
from podium.ranking.submissions import Submission
from podium.scoring import constant, evaluating
from podium.scoring.evaluating import Solution
from podium.words.arrays import Floats

Answer = tuple[dict[str, float] | None, Floats | None]  # scores and statistics, if it has any


def _answers(solution: Solution, submissions: Sequence[Submission]) -> list[Answer]:
    """Score constant answers in the form of some submissions, in a worker."""
    answers: list[Answer] = []
    for submission in submissions:
        contents = contents_of(submission)
        check_unchanged(submission, contents)
        answer = constant.evaluated(way.unjudged(solution, frame_of(solution, submission, contents)))
        answers.append((None, None) if answer is None else (answer.scores, answer.statistics))
    return answers


def score_of(desk: Desk, submissions: Sequence[Submission], scored: Sequence[Scored]) -> float | None:
    """The score of a constant answer in the form of the first file by name, or None if it has none.

    It is kept in the store, so that nothing has to be read to rank again.
    """
    _, digests, file = min((each[:2], became.digests, each) for each, became in zip(submissions, scored))
    context = sha256(repr((desk.job.context, "constant")).encode())
    name = entry_name(context, digests)
    entry = desk.load(name)
    if entry is None:
        if not file.path:
            return None
        [(scores, statistics)] = desk.read_again(
            _answers, [file._replace(digests=digests)], "a constant answer"
        )
        header = {"context": context, "sha256": digests, "scores": scores, "measured": desk.job.measured}
        entry = store.encode(header, statistics)
        store.save(desk.store, name, entry)
    kept, numbers = store.header_of(entry), store.decode(entry)
    if kept["scores"] is None:
        return None
    if numbers is not None and kept["measured"] != desk.job.measured:
        kept["scores"] = evaluating.scores_of(desk.solution, numbers)
    return float(kept["scores"][desk.solution.deciding])
