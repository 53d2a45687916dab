"""What a newcomer finds after `import podium` works, and its errors say what to do."""

import doctest
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium import front_door, hosted, spans, tuning
from podium.errors import HostError, SubmissionRejected

ROOT = Path(podium.__file__).parent.parent
SOLUTION = pd.read_csv(ROOT / "solution_sample.csv")
SUBMISSION = pd.read_csv(ROOT / "sample_submission.csv")

pytestmark = pytest.mark.filterwarnings("ignore:.*of the solution overlapping an earlier one")


def test_dir_shows_what_there_is() -> None:
    assert dir(podium) == ["__version__", "prepare", "score", "spans", "statistics", "tuning"]
    assert podium.spans is spans
    assert podium.tuning is tuning
    misspelled = "evalute"
    with pytest.raises(AttributeError, match="has no attribute 'evalute'; it has __version__, prepare, score"):
        getattr(podium, misspelled)


def test_the_version_needs_no_pandas() -> None:
    program = "import sys, podium; podium.__version__; print('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"


def test_a_score_is_the_metric_s_own() -> None:
    result = podium.score(SOLUTION, SUBMISSION)
    expected = hosted.module("unified").score(SOLUTION.drop(columns="Usage"), SUBMISSION, "row_id")
    assert result.score == expected == result.measures["score"]
    assert set(result.scores) == {"All", "Public", "Private"}


def test_many_submissions_and_one_solution() -> None:
    fold = podium.prepare(SOLUTION, temperature=0)
    assert podium.score(fold, SUBMISSION).score == podium.score(SOLUTION, SUBMISSION, temperature=0).score


def test_another_metric_by_name_folder_and_file() -> None:
    folder = hosted.folder("scifact")
    frames = [pd.read_csv(folder / "samples" / f"{name}.csv") for name in ("solution", "submission")]
    scores = {
        podium.score(*frames, metric=metric).score for metric in ("scifact", folder, folder / "metric.py")
    }
    assert len(scores) == 1
    assert (
        podium.score(*frames, metric="scifact", row_id="claim_id", measure="abstract_label_only_f1").score > 0
    )


class Polars:
    """A stand-in for a table of another library."""

    def to_pandas(self) -> pd.DataFrame:
        return SOLUTION


@pytest.mark.parametrize(
    ("arguments", "parameters", "message"),
    [
        (
            ("solution_sample.csv", SUBMISSION),
            {},
            "prepare: solution: expected a pandas DataFrame, found str; read it with "
            "pandas.read_csv('solution_sample.csv')",
        ),
        (
            (SOLUTION, Polars()),
            {},
            "score: submission: expected a pandas DataFrame, found tests.Polars; give .to_pandas() of it",
        ),
        ((SOLUTION, [1]), {}, "score: submission: expected a pandas DataFrame, found list"),
        (
            (podium.prepare(SOLUTION), SUBMISSION),
            {"temperature": 3},
            "score: give temperature to podium.prepare instead, which has prepared this solution",
        ),
        (
            (podium.prepare(SOLUTION), SUBMISSION),
            {"metric": "unified", "row_id": "row_id"},
            "score: give metric, row_id to podium.prepare instead, which has prepared this solution",
        ),
    ],
)
def test_the_wrong_object_is_told_which_is_right(arguments: tuple, parameters: dict, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        podium.score(*arguments, **parameters)
    assert str(caught.value) == message


def test_a_prepared_solution_is_not_prepared_again() -> None:
    with pytest.raises(TypeError, match="found a solution that is prepared already"):
        podium.prepare(podium.prepare(SOLUTION))


def test_a_misspelled_parameter_is_named_with_those_there_are() -> None:
    with pytest.raises(HostError, match="no parameter temprature; it has row_id_column_name, essay_id_"):
        podium.prepare(SOLUTION, temprature=3)


def test_faults_keep_their_sides() -> None:
    with pytest.raises(SubmissionRejected, match=r"expected . more columns?: "):
        podium.score(SOLUTION, SUBMISSION.drop(columns="discourse_type"))
    with pytest.raises(HostError, match=r"expected . more columns?: "):
        podium.score(SOLUTION.drop(columns="discourse_type"), SUBMISSION)


def test_what_is_printed_is_short() -> None:
    fold = podium.prepare(SOLUTION)
    assert len(repr(fold)) < 500
    assert repr(fold).startswith(
        "<prepared solution: rows All 353, Public 95, Private 258, 40 items; metric:unified|"
    )
    assert len(repr(fold.prepared["All"])) < 500
    assert repr(hosted.load("unified")) == f"<metric unified {hosted.load('unified').version}>"
    result = podium.score(fold, SUBMISSION)
    assert len(repr(result)) < 5_000
    assert len(result._repr_html_()) < 20_000
    assert "Concluding Statement" in repr(result)


@pytest.mark.parametrize("module", [podium, front_door])
def test_examples(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testmod(module)
    assert (result.failed, result.attempted > 3) == (0, True)


@pytest.mark.slow
def test_numpy_and_pandas_are_enough(tmp_path: Path) -> None:
    """In a notebook without internet, the package's folder on sys.path is enough, with numpy and pandas
    alone.
    """
    program = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
for name in ("pyarrow", "scipy", "fsspec", "rich", "jinja2", "filelock", "matplotlib", "kaggle", "pytest"):
    sys.modules[name] = None
import pandas as pd, podium
files = ({str(ROOT / "solution_sample.csv")!r}, {str(ROOT / "sample_submission.csv")!r})
result = podium.score(*map(pd.read_csv, files))
print(result.score)
result.explanation.rows, repr(result)
podium.spans, podium.tuning
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert float(done.stdout) == podium.score(SOLUTION, SUBMISSION).score
