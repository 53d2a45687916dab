"""Whatever kind of callable a metric and its companion define, its errors are podium's own."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

import podium
from podium.common.errors import CompanionError, MetricError, SubmissionRejected
from podium.metric import hosted
from podium.metric.contract import Companion
from podium.scoring import evaluating
from tests.support.new_metric import SOLUTION, SUBMISSION, metric_with

# The template reads a submission in a step of its own, whose exception its statistics() catch.
READ = """    def read(self, submission):
        columns = (self.row_id_column_name, "label")
        return [texts(submission, column, ParticipantVisibleError) for column in columns]

    def statistics("""
CATCHES = """        try:
            ids, labels = self.read(submission)
        except ParticipantVisibleError as problem:
            raise ParticipantVisibleError(f"{problem}, I say")
"""
CAUGHT = (
    ("    def statistics(", READ),
    (
        "        ids, labels = (texts(submission, column, ParticipantVisibleError) for column in columns)\n",
        CATCHES,
    ),
)
SLOTS = ("@dataclass(frozen=True, eq=False, repr=False)", "@dataclass(frozen=True, eq=False, slots=True)")
STATIC = ("    def measures(self, sums", "    @staticmethod\n    def measures(sums")
COMPANION = """
import functools
from podium.metric import contract

class Told(contract.Explanation):
    pass

class Helper:
    def cure(self, solution, submission):
        raise KeyError("no cure")
    def __call__(self, solution, arguments):
        raise KeyError("no advice")

def fail(kind, *arguments):
    raise KeyError(kind)

companion = contract.Companion(
    explain=Told,
    diagnose=Helper().cure,
    advice=Helper(),
    sample_submission=functools.partial(fail, "no sample"),
    agreement=lambda prepared, solution: fail("no agreement"),
    variants=contract.Variants(functools.partial(fail, "no variant"), lambda *_: {}),
)
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 'call it label' if 'LABEL' in submission else None", "call it label. The metric says: exp"),
        ("return None", "expected a column label, found id, LABEL"),
        ("raise KeyError('no cure')", "expected a column label, found id, LABEL"),
    ],
)
def test_the_companion_of_a_custom_metric_is_asked_for_a_cure(tmp_path: Path, body: str, said: str) -> None:
    """Only those of built-in metrics were; where it has none, the tables are compared."""
    companion = f"""
from podium.metric import contract
def diagnose(solution, submission):
    {body}
companion = contract.Companion(diagnose=diagnose)
"""
    (metric_with(tmp_path) / "companion.py").write_text(companion)
    with pytest.raises(SubmissionRejected) as rejected:
        podium.score(SOLUTION, SUBMISSION.rename(columns={"label": "LABEL"}), metric=tmp_path)
    assert str(rejected.value).startswith(said)
    assert rejected.value.for_host == (
        "" if "call" in body else "expected the column label, found 'LABEL': rename it"
    )


@pytest.mark.parametrize("edits", [CAUGHT, (*CAUGHT, SLOTS)], ids=["as it is", "slots"])
def test_a_metric_may_catch_its_own_exceptions(tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    """Its own functions raise them to each other as they are, and podium's errors reach the caller alone."""
    metric = metric_with(tmp_path, *edits)
    assert podium.score(SOLUTION, SUBMISSION, metric=metric).score == 0.6
    solution = podium.prepare(SOLUTION, metric)
    with pytest.raises(SubmissionRejected, match=r"^expected a column label, found id, I say$"):
        evaluating.evaluate(solution, SUBMISSION[["id"]])
    for prepared in (solution.prepared["All"], pickle.loads(pickle.dumps(solution)).prepared["All"]):
        with pytest.raises(SubmissionRejected, match=r"^expected a column label, found id, I say$"):
            prepared.statistics(SUBMISSION[["id"]])


def test_the_steps_of_parts_are_guarded_and_may_be_static(tmp_path: Path) -> None:
    solution = podium.prepare(SOLUTION, metric_with(tmp_path, STATIC))
    of_one_item = solution.prepared["All"].statistics(SUBMISSION)[0]
    with pytest.raises(MetricError, match=r"ValueError.* \(metric\.py, line \d+: return np"):
        solution.prepared["Public"].measures(of_one_item)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda companion: companion.diagnose(None, SOLUTION), "no cure"),
        (lambda companion: companion.advice(SOLUTION, {}), "no advice"),
        (lambda companion: companion.sample_submission(SOLUTION), "no sample"),
        (lambda companion: companion.agreement(None, SOLUTION), "no agreement"),
        (lambda companion: companion.variants.of_measures(None), "no variant"),
    ],
)
def test_every_callable_of_a_companion_is_guarded(
    tmp_path: Path, call: Callable[[Companion], object], text: str
) -> None:
    """Bound methods, partials, and objects that can be called."""
    (metric_with(tmp_path) / "companion.py").write_text(COMPANION)
    with pytest.raises(CompanionError, match=text):
        call(hosted.load(tmp_path).companion)
