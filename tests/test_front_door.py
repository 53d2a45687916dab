"""What a newcomer finds after `import podium` works, and its errors say what to do."""

import contextlib
import functools
import importlib
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow
import pytest

import podium
from podium import cli, spans, tuning
from podium.common.errors import HostError, UsageError
from podium.metric import hosted

polars: Any = None
with contextlib.suppress(ImportError):  # here, because it sets variables of the environment
    polars = importlib.import_module("polars")

ROOT = Path(podium.__file__).parent.parent
SOLUTION = pd.read_csv(ROOT / "solution_sample.csv")
SUBMISSION = pd.read_csv(ROOT / "sample_submission.csv")

# The metric of a stranger.
ACCURACY = """
def score(solution, submission, row_id_column_name):
    return float((solution["label"].to_numpy() == submission["label"].to_numpy()).mean())
"""

pytestmark = pytest.mark.filterwarnings("ignore:.*of the solution overlapping an earlier one")


def test_dir_shows_what_there_is() -> None:
    assert dir(podium) == podium.__all__
    assert {"prepare", "rank", "score", "spans", "statistics", "tuning", "verify"} <= set(dir(podium))
    assert podium.spans is spans
    assert podium.tuning is tuning
    misspelled = "evalute"
    with pytest.raises(AttributeError, match="has no attribute 'evalute'; it has __version__, collect, errors"):
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
    assert podium.score(*frames, "scifact", row_id="claim_id", measure="abstract_label_only_f1").score > 0


class Lazy:
    """A stand-in for a table that another library has not computed yet."""

    def collect(self) -> pd.DataFrame:
        return SOLUTION


FOLD = podium.prepare(SOLUTION)
SPANS = podium.spans.from_words([0], [1], "Claim")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: podium.score("a.csv", SUBMISSION), r"found str; read it with pandas.read_csv\('a.csv'\)$"),
        (lambda: podium.score(SOLUTION, Lazy()), r"found tests.Lazy; give .collect\(\) of it"),
        (
            lambda: spans.from_table("a.csv", ["a"]),
            r"^frame: .*found str; read it with pandas.read_csv\('a.csv'\)$",
        ),
        (lambda: podium.score(SOLUTION, SUBMISSION, id_column="row_id"), "^id_column: .* by row_id='row_id'$"),
        (
            lambda: podium.score(SOLUTION, SUBMISSION, len),
            "found the function len: write it, as score and with",
        ),
        (
            lambda: podium.score(SOLUTION, SUBMISSION, 3),
            "^metric: expected a name, a file or a folder, found int$",
        ),
        (
            lambda: podium.score(SOLUTION, SUBMISSION, subpopulation_column_names=["a", "b"]),
            "expected one text, found a list; give subpopulation_column_names='a,b'$",
        ),
        (
            lambda: podium.prepare(SOLUTION, parameters=["temperature=80"]),
            r'^parameters: expected a dict, such as {"temperature": 80}, found list$',
        ),
        (lambda: podium.score(SOLUTION, [1]), "^score: submission: expected a pandas DataFrame, found list$"),
        (lambda: podium.score(FOLD, SUBMISSION, temperature=3), "give temperature to podium.prepare instead"),
        (
            lambda: podium.score(SUBMISSION, FOLD),
            "submission: expected a pandas DataFrame, found podium.Solution$",
        ),
        (lambda: podium.score(SOLUTION, SPANS), r"podium.Spans; give podium.spans.to_submission\(\) of them"),
        (
            lambda: podium.prepare(FOLD),
            "^prepare: solution: expected a pandas DataFrame, found podium.Solution$",
        ),
    ],
)
def test_the_wrong_object_is_told_which_is_right(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_a_message_names_an_option_as_its_reader_has_to_write_it(capsys: pytest.CaptureFixture[str]) -> None:
    """In Python it is an argument, and after a command as well, which has ended."""
    lacking, train = SOLUTION.drop(columns="ell_status"), SUBMISSION.iloc[:5]
    assert cli.main(["rank", "--because", "x", "--out", "final"]) == 2
    assert capsys.readouterr().err == "error: --because: expected --again, the board that is made again\n"
    with pytest.raises(UsageError, match=r"^because: expected again, the board that is made again$"):
        podium.rank(out="final", because="x")
    with pytest.raises(HostError, match=r'; subpopulation_column_names="" leaves them out$'):
        podium.score(lacking, SUBMISSION)
    (said,) = [each for each in podium.score(SOLUTION, train).notices if "have no prediction" in each]
    assert said.endswith("; to score a fold, give a solution of its essays alone")


def test_an_unknown_parameter_is_told_for_a_prepared_solution_too() -> None:
    """`prepare` would not take it either."""
    for solution in (SOLUTION, podium.prepare(SOLUTION)):
        with pytest.raises(HostError, match=r"^the metric has no parameter effectiveness; it has row_id_"):
            podium.score(solution, SUBMISSION, effectiveness=0.5)


def test_other_names_of_columns_are_understood_and_told() -> None:
    """They are those that `podium score` understands. A missing row id is no fault either."""
    other = SUBMISSION.drop(columns="row_id").rename(columns={"essay_id": "id", "discourse_type": "class"})
    with pytest.warns(UserWarning, match="is taken for") as told:
        result = podium.score(SOLUTION, other)
    assert result.score == podium.score(SOLUTION, SUBMISSION).score
    assert [str(each.message) for each in told] == [
        "the column id is taken for essay_id",
        "the column class is taken for discourse_type",
    ]
    assert [Path(each.filename).name for each in told] == [Path(__file__).name] * 2  # the caller's line


FORMS = {
    "an index with a name": lambda frame: frame.set_index("essay_id"),
    "index of columns": lambda frame: frame.set_index(["essay_id", "row_id"], drop=False),
    "another order": lambda frame: frame.sample(frac=1, random_state=2),
    "categories": lambda frame: frame.astype(dict.fromkeys(["essay_id", "predictionstring"], "category")),
    "pyarrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_form_of_a_table_does_not_matter_and_is_not_changed(form: Callable[[Any], pd.DataFrame]) -> None:
    tables = form(SOLUTION), form(SUBMISSION)
    copies = [table.copy(deep=True) for table in tables]
    result = podium.score(*tables)
    assert result.score == podium.score(SOLUTION, SUBMISSION).score
    assert len(result.explanation.rows) == len(SOLUTION) + len(SUBMISSION)
    for table, copy in zip(tables, copies):
        pd.testing.assert_frame_equal(table, copy)


def test_prepared_solutions_travel_to_processes_that_know_nothing_of_them(tmp_path: Path) -> None:
    """A new process, such as a worker of a DataLoader on Windows, loads the metric as it unpickles."""
    own = tmp_path / "accuracy.py"
    own.write_text(ACCURACY)
    prepared = podium.prepare(SOLUTION, temperature=3)
    result = podium.score(prepared, SUBMISSION)
    table = pd.DataFrame({"id": [1, 2], "label": [0, 1]})
    travelers = (prepared, result, result.explanation, podium.prepare(table, metric=own))
    (tmp_path / "pickle").write_bytes(pickle.dumps((travelers, SUBMISSION, table)))
    code = """
import pickle, podium
with open("pickle", "rb") as file:
    (one, result, explanation, stranger), submission, table = pickle.load(file)
scores = podium.score(one, submission).score, result.score, podium.score(stranger, table).score
print(*scores, len(explanation.rows))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    assert done.stdout.split() == [str(result.score)] * 2 + ["1.0", "675"]


def test_threads_share_a_prepared_solution() -> None:
    prepared = podium.prepare(SOLUTION)
    with ThreadPoolExecutor(4) as threads:
        scores = set(threads.map(lambda _: podium.score(prepared, SUBMISSION).score, range(8)))
    assert scores == {podium.score(SOLUTION, SUBMISSION).score}


def test_what_is_printed_is_short() -> None:
    fold = podium.prepare(SOLUTION)
    assert len(repr(fold)) < 500
    assert repr(fold).startswith(
        "<prepared solution: rows All 353, Public 95, Private 258, 40 items; metric:un"
    )
    assert len(repr(fold.prepared["All"])) < 500
    assert repr(hosted.load("unified")) == f"<metric unified {hosted.load('unified').version}>"
    result = podium.score(fold, SUBMISSION)
    assert len(repr(result)) < 5_000
    assert len(result._repr_html_()) < 20_000
    assert "Concluding Statement" in repr(result)
    assert f"Private  {result.scores['Private']:.6f}" in repr(result)
    assert "<table" in result._repr_html_()
    assert "<script" not in result._repr_html_()
    lines = repr(result).splitlines()
    assert lines[:3] == result.score_lines.splitlines()
    assert lines[4:7] == [f"warning: {notice}" for notice in result.notices]
    assert f"<li>{result.notices[0]}</li>" in result._repr_html_()
    hostile = SUBMISSION.assign(essay_id=SUBMISSION["essay_id"].mask(SUBMISSION.index == 0, "<b>\x1b[2J"))
    shown = podium.score(fold, hostile)
    assert "<b>\\x1b[2J" in repr(shown)
    assert "&lt;b&gt;\\x1b[2J" in shown._repr_html_()
    assert repr(result.explanation) == "<explanation: tables Sub-populations, Discourse types; 675 rows>"


def test_a_command_in_this_process_leaves_warnings_as_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    before = warnings.showwarning
    assert cli.main(["score", "solution_sample.csv", "sample_submission.csv", "--bare"]) == 0
    assert warnings.showwarning is before
    assert issubclass(podium.common.errors.SubmissionRejected, podium.common.errors.ToolError)
    assert round(float(capsys.readouterr().out), 6) == 0.587969


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_tables_and_columns_of_other_libraries_are_taken(library: str) -> None:
    made = {"pyarrow": "Table.from_pandas", "polars": "from_pandas"}[library]
    module: Any = pyarrow if library == "pyarrow" else polars
    if module is None:
        pytest.skip("polars is not installed")
    make = functools.reduce(getattr, made.split("."), module)
    solution, submission = make(SOLUTION), make(SUBMISSION.assign(probability=0.5))
    score = podium.score(SOLUTION, SUBMISSION).score
    fold = podium.prepare(solution)
    assert (
        score == podium.score(solution, submission).score == podium.score(FOLD, SUBMISSION).of(submission).score
    )
    assert fold.frame.equals(FOLD.frame)
    assert tuning.tune(fold, submission, 2).before == score
    ids = SOLUTION["essay_id"].unique().tolist()
    segments = spans.from_table(submission, ids)
    assert repr(segments) == repr(spans.from_table(SUBMISSION.assign(probability=0.5), ids))
    some = make(pd.DataFrame({"quote": ["I agree", "Ban it"], "type": ["Claim", "Lead"], "essay": [0, 1]}))
    quoted = spans.from_quotes(["I agree.", "Ban it."], some["quote"], some["type"], essay=some["essay"]).spans
    assert quoted.essay.tolist() == [0, 1]
    thresholds = make(pd.DataFrame({"discourse_type": ["Lead"], "min_probability": [0.5], "min_words": [8]}))
    assert len(spans.select(segments, thresholds)) > 0


def test_a_module_stands_for_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_accuracy.py").write_text(ACCURACY)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("my_accuracy")
    tables = pd.DataFrame({"id": [1, 2], "label": [*"ab"]}), pd.DataFrame({"id": [1, 2], "label": [*"aa"]})
    for metric in (module, module.score):
        assert podium.score(*tables, metric=metric).score == 0.5


def test_a_score_that_is_better_if_it_is_lower_says_so(tmp_path: Path) -> None:
    (tmp_path / "error.py").write_text(
        f"{ACCURACY.replace('==', '!=')}\n\ndef higher_is_better():\n    return False\n"
    )
    tables = pd.DataFrame({"id": [1, 2], "label": [*"ab"]}), pd.DataFrame({"id": [1, 2], "label": [*"aa"]})
    for result, is_lower in (
        (podium.score(*tables, tmp_path / "error.py"), True),
        (podium.score(SOLUTION, SUBMISSION), False),
    ):
        result.report(tmp_path / "report.html")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert result.score_lines.partition("\n")[0].endswith("  lower is better") == is_lower
        assert ("lower is better" in page) == is_lower


def test_tuning_and_its_tables_are_shown_in_a_notebook() -> None:
    candidates = SUBMISSION.assign(probability=0.5)
    shown = tuning.tune(FOLD, candidates, 2)._repr_html_()
    assert "Nested " in shown
    assert shown.count("<table") == 2
    compared = podium.statistics.compare(podium.score(FOLD, SUBMISSION), podium.score(FOLD, SUBMISSION[::2]))
    said = "The first submission scores 0.587969 and the second one "
    assert f"</table><p>{said}" in compared._repr_html_()
    assert f"\n{said}" in repr(compared)
