"""`podium score` works as its users run it: its output, options, files and exit codes."""

import io
import itertools
import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metric
import podium
from examples.essays import SOLUTION_SAMPLE, SUBMISSION_SAMPLE
from podium.cli import console
from podium.metric import hosted
from podium.report.comparison import rounded
from tests.support import command_line
from tests.support.frames import solution, submission
from tests.support.host_line import ACCURACY, EQUAL

ROOT = Path(metric.__file__).parent
SOLUTION, SUBMISSION = str(ROOT / SOLUTION_SAMPLE), str(ROOT / SUBMISSION_SAMPLE)
WHOLE = ("--set", "subpopulation_column_names=")


@pytest.fixture
def call(capsys, tmp_path):
    """Runs `podium score` and returns exit code, stdout and stderr; tables are given as files."""

    def given(number, argument):
        if not isinstance(argument, pd.DataFrame):
            return argument
        argument.to_csv(tmp_path / f"table{number}.csv", index=False)
        return tmp_path / f"table{number}.csv"

    return lambda *arguments: command_line.run(capsys, "score", *map(given, itertools.count(1), arguments))


def read(path):
    """A table with ids as text."""
    return pd.read_csv(path, dtype={"essay_id": str}, keep_default_na=False, na_values=[""])


@pytest.fixture
def truth():
    """The sample solution."""
    return read(SOLUTION)


@pytest.fixture
def predicted():
    """The sample submission."""
    return read(SUBMISSION)


def test_undefined_numbers_are_null_in_json_and_dashes_in_tables(call):
    arguments = (solution(("A", "Lead", "0 1", 1)), submission(("A", "Lead", "0 1", 1)), *WHOLE)
    assert json.loads(call(*arguments, "--json")[1])["tables"]["Discourse types"][1]["f1"] is None
    assert (
        "Position              0.000000  0.000000  0.000000          -         -         -"
        in call(*arguments)[1]
    )


def test_set_changes_parameters(call, truth, predicted):
    sets = ["--set", "temperature=inf", "--set", "intersectional=true", "--set", "row_id_column_name=essay_id"]
    report = json.loads(call(SOLUTION, SUBMISSION, "--json", *sets)[1])
    given = {"temperature": float("inf"), "intersectional": True}
    assert report["score"] == metric.score(truth, predicted, "row_id", **given)
    assert "temperature:inf|intersectional:True" in report["signature"]


def test_standard_input(call, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(SUBMISSION).read_bytes())))
    assert call("-b", SOLUTION, "-") == (0, "0.5879685542299694\n", "")


def test_usage_that_splits_an_essay_is_an_error(call, truth):
    """Otherwise the segments of one essay would be scored without each other."""
    truth.loc[0, "Usage"] = "Private" if truth["Usage"][0] == "Public" else "Public"
    code, _, err = call(truth, SUBMISSION)
    assert code == 4
    assert err.startswith("error: Usage: expected one value for all rows of an item, found ")
    assert truth["essay_id"][0] in err


# --- a participant's day ----------------------------------------------------------------------------


def test_several_submissions_in_one_paired_table(call, truth, predicted, tmp_path):
    """All files but the first have one name, so their paths tell them apart."""
    others = [tmp_path / folder / "guess.csv" for folder in ("half", "same")]
    for path, share in zip(others, (0.5, 1)):
        path.parent.mkdir()
        predicted.sample(frac=share, random_state=0).to_csv(path, index=False)
    report = json.loads(call(SOLUTION, SUBMISSION, *others, "--json")[1])
    assert [row["submission"] for row in report["comparison"]] == list(map(str, others))
    for row, path in zip(report["comparison"], others):
        assert row["score"] == metric.score(truth, pd.read_csv(path), "row_id")
        assert row["difference"] == pytest.approx(report["score"] - row["score"])
    whole = json.loads(call(SOLUTION, SUBMISSION, *others, *WHOLE, "--json")[1])["comparison"]
    assert [row["detectable"] is None for row in whole] == [False, True]  # one is the same
    _, out, _ = call(SOLUTION, SUBMISSION, *others)
    assert f"{SUBMISSION} compared with 2 others" in out
    assert f"\n{others[0]}: " in out  # a sentence, because no interval was possible
    _, out, _ = call(SOLUTION, SUBMISSION, *others, *WHOLE)
    assert f"{others[0]}  0.4" in out
    assert "cannot tell" not in out
    assert len(call("-b", SOLUTION, SUBMISSION, *others)[1].split()) == 3


@pytest.fixture
def fold(truth, predicted):
    """The ids of ten essays, and a submission for these alone."""
    ids = sorted(truth["essay_id"].unique())[:10]
    return ids, predicted[predicted["essay_id"].isin(ids)]


def test_some_essays_alone(call, truth, predicted, fold, tmp_path):
    (tmp_path / "ids.txt").write_text("\n".join([*fold[0], "nobody", ""]))
    _, out, err = call("-b", SOLUTION, SUBMISSION, "--essays", tmp_path / "ids.txt")
    assert float(out) == metric.score(truth[truth["essay_id"].isin(fold[0])], predicted, "row_id")
    assert err == "warning: the solution lacks 1 of 11 ids in ids.txt: nobody\n"
    assert "count as missed; to score a fold, name its essays by --essays FILE\n" in call(SOLUTION, fold[1])[2]


def test_the_scores_of_folds(call, tmp_path):
    table = pd.read_csv(SOLUTION, dtype=str)
    essays = table["essay_id"].unique()
    folds = pd.Series(np.arange(len(essays)) % 4, pd.Index(essays, name="essay_id"), name="fold")
    folds.to_csv(tmp_path / "folds.csv")
    code, out, _ = call(SOLUTION, SUBMISSION, "--folds", tmp_path / "folds.csv", "--json")
    assert code == 0
    rows = json.loads(out)["folds"]
    assert [(row["fold"], row["items"]) for row in rows] == [("0", 10), ("1", 10), ("2", 10), ("3", 10)]
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(folds.index[folds == 2]))
    assert rows[2]["score"] == float(call(SOLUTION, SUBMISSION, "--essays", ids, "-b")[1])
    _, out, _ = call(SOLUTION, SUBMISSION, "--folds", tmp_path / "folds.csv")
    scores = [row["score"] for row in rows]
    assert f"4 folds: mean {np.mean(scores):.6f}, standard deviation {np.std(scores, ddof=1):.6f}\n" in out
    for change, told in (
        (lambda given: given[:-1], "expected the fold of every item, found none for "),
        (lambda given: given.rename(" fold"), "a column fold, found essay_id, ' fold'"),
        (
            lambda given: pd.concat([given, given[:2], given[:1] + 1]),
            f"expected one fold of every id, found others of {essays[0]}",
        ),
        (
            lambda given: given.rename("part"),
            "ids in the first column, and a column fold, found essay_id, part",
        ),
    ):
        change(folds).to_csv(tmp_path / "wrong.csv")
        wrong, rows_file = tmp_path / "wrong.csv", tmp_path / "rows.csv"
        code, out, err = call(SOLUTION, SUBMISSION, "--folds", wrong, "--rows", rows_file)
        assert (code, out, told in err, rows_file.exists()) == (2, "", True, False), err


def test_a_copy_that_was_interrupted(call, tmp_path):
    content = Path(SUBMISSION).read_bytes()
    (tmp_path / "cut.csv").write_bytes(content[: content.rindex(b",")])
    code, _, err = call(SOLUTION, tmp_path / "cut.csv")
    assert (code, err) == (
        3,
        f"error: {tmp_path / 'cut.csv'}: the last line was cut: expected 6 cells, found 5\n",
    )


def test_ids_of_no_essay(call, truth, tmp_path):
    ids, first = tmp_path / "ids.txt", min(truth["essay_id"])
    for content, found in (("nobody\nsomebody\n", "'nobody'"), (" \n", "an empty file")):
        ids.write_text(content)
        expected = f"expected ids of the solution, such as {first!r}, one per line; found {found}"
        assert call(SOLUTION, SUBMISSION, "--essays", ids) == (2, "", f"error: {ids}: {expected}\n")
    assert call(SOLUTION, SUBMISSION, "--essays", tmp_path / "none.txt")[0] == 2


def test_a_score_worse_than_a_constant_answer_is_told(call, tmp_path):
    file = tmp_path / "auc.py"
    pairs = "solution['answer'].to_numpy()[:, None] - solution['answer'].to_numpy()"
    body = f"order = submission['answer'].rank().to_numpy()\n    higher = {pairs} > 0\n    return float("
    body += "(((order[:, None] > order) + 0.5 * (order[:, None] == order)) * higher).sum() / higher.sum())"
    file.write_text(ACCURACY.replace("BODY", body))
    truth = pd.DataFrame({"id": range(8), "answer": [0, 1] * 4})
    answers = pd.DataFrame({"id": range(8), "answer": [0.9, 0.2, 0.8, 0.3, 0.7, 0.1, 0.9, 0.95]})
    code, out, err = call(truth, answers, "--metric", file)
    assert (code, out.splitlines()[0]) == (0, "Score    0.250000")
    told = "warning: the score, 0.250000, is worse than that of a constant answer, 0.500000: check that higher "
    assert told in err
    in_python = podium.score(truth, answers, metric=file)
    assert [f"warning: {notice}" for notice in in_python.notices if notice.startswith(told[9:])] == [
        err.strip()
    ]
    assert told in repr(in_python)
    assert "constant" not in call(truth, answers.assign(answer=1 - answers["answer"]), "--metric", file)[2]
    file.write_text(
        ACCURACY.replace("BODY", f"if submission['answer'].nunique() == 1: raise ValueError\n    {body}")
    )
    assert call(truth, answers, "--metric", file)[2] == ""  # a constant answer has no score


@pytest.mark.parametrize("is_complete", [False, True])
def test_some_rows_of_a_metric_with_score_alone(call, is_complete, tmp_path):
    file, ids = tmp_path / "acc.py", tmp_path / "ids.txt"
    matched = "submission = submission.set_index('id').loc[solution['id']].reset_index()\n    "
    code = ACCURACY.replace("BODY", (matched if is_complete else "") + EQUAL)
    file.write_text(f"COMPLETE_SUBMISSION = {is_complete}\n{code}")
    ids.write_text("1\n3\n")
    truth = pd.DataFrame({"id": [1, 2, 3, 4], "answer": [*"abab"], "Usage": ["Ignored", *["Public"] * 3]})
    answers = pd.DataFrame({"id": ["4.0", "3.0", "2.0", "1.0"], "answer": [*"aaab"]})
    for sent in (answers, answers[answers["id"] == "3.0"]):
        code, out, err = call(truth, sent, "--metric", file, "--essays", ids, "-b")
        assert (code, out) == (0, "1.0\n")
        assert "warning: the solution lacks 1 of 2 ids in ids.txt: 1\n" in err
    stranger = pd.concat([answers, pd.DataFrame({"id": ["9"], "answer": ["a"]})])
    if not is_complete:  # whose metric decides by itself
        whole = truth.drop(columns="Usage")
        assert call(whole, stranger, "--metric", file, "--essays", ids, "-b")[0] == 3


def test_the_signature_has_whatever_changes_the_score(call, fold, tmp_path):
    ids, predicted = fold
    (tmp_path / "ids.txt").write_text("\n".join(ids[:5]))
    plain = call(SOLUTION, predicted)[1].splitlines()[-1]
    for options, further in (
        (("--effectiveness", "0.5"), "|effectiveness:0.5"),
        (("--essays", tmp_path / "ids.txt"), "|essays:5/40"),
        (("--effectiveness", "1", "--essays", tmp_path / "ids.txt"), "|effectiveness:1|essays:5/40"),
    ):
        assert call(SOLUTION, predicted, *options)[1].splitlines()[-1] == plain + further


def test_the_file_of_another_metric(call):
    path = str(ROOT / "metrics" / "scifact" / "samples" / "claims.jsonl")
    cure = "write a CSV, or name the metric of such a file with --metric"
    message = f"error: {path}: expected a table, found JSON; {cure}\n"
    assert call(path, SUBMISSION) == call(path, path) == (2, "", message)


def test_files_in_the_wrong_order(call, tmp_path):
    message = f"error: give the solution first, then the submission: {SOLUTION} is a solution\n"
    assert call(SUBMISSION, SOLUTION) == (4, "", message)
    # If neither table is a solution, the message is about the solution's own fault.
    assert call(SUBMISSION, SUBMISSION)[2].startswith("error: the solution: expected 3 more columns: ")


def test_the_parameter_that_names_missing_columns_is_told(call, truth):
    lacking = truth.drop(columns="ell_status")
    code, _, err = call(lacking, SUBMISSION)
    advice = ". Set subpopulation_column_names to columns it has; --set subpopulation_column_names= leaves "
    assert (code, advice in err) == (4, True)
    assert call("-b", lacking, SUBMISSION, *WHOLE)[0] == 0
    assert "leaves them out" not in call(truth.drop(columns="discourse_type"), SUBMISSION)[2]


def test_a_solution_that_lacks_other_columns_too_may_be_for_another_metric(call):
    """Whoever forgets --metric reads that there is one."""
    code, _, err = call(pd.DataFrame({"id": ["a"], "rating": [1]}), SUBMISSION)
    assert (code, err.endswith(". If it is for another metric, name that by --metric\n")) == (4, True)


def test_the_bare_score_writes_what_is_asked_for(call, tmp_path):
    rows, page = tmp_path / "rows.csv", tmp_path / "page.html"
    printed = call("-b", SOLUTION, SUBMISSION, "--rows", rows, "--report", page)
    assert printed == (0, "0.5879685542299694\n", "")
    assert len(pd.read_csv(rows)) == 322 + 353
    assert page.stat().st_size > 100_000


def test_a_column_that_is_scored_is_never_made_up(call, truth, predicted):
    """This holds even for the solution's first column, which names the rows."""
    code, _, err = call(truth.drop(columns="row_id"), predicted.drop(columns="essay_id"))
    assert code == 3
    assert err.startswith("error: the submission: expected 1 more column: essay_id. It has row_id, ")


def test_what_is_not_installed_is_told(call, monkeypatch):
    """This happens if podium runs from its folder."""
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    message = "error: this needs scipy, which is not installed here: pip install scipy\n"
    assert call(SOLUTION, SUBMISSION, "--bootstrap", "10") == (2, "", message)


def test_other_peoples_columns(call, truth, predicted, tmp_path):
    """The Feedback Prize's files have no row id and no effectiveness."""
    names = {"essay_id": "id", "discourse_type": "class"}
    theirs = predicted.rename(columns=names)[["id", "class", "predictionstring"]]
    assert call(SOLUTION, theirs) == (
        3,
        "",
        "error: add the columns score_discourse_effectiveness_0 and score_discourse_effectiveness_1; "
        "0.5 in both, or --effectiveness 0.5, scores the segmentation alone. "
        "The submission has id, class, predictionstring\n",
    )  # the message does not mention a column that the file lacks
    _, out, err = call("-b", SOLUTION, theirs, "--effectiveness", "0.5")
    told = [
        "the column id is taken for essay_id",
        "the column class is taken for discourse_type",
        "platforms and podium rank refuse such names of columns: rename class, id",
    ]
    assert err.splitlines() == [f"warning: {notice}" for notice in told]
    of_the_second = call("-b", SOLUTION, SUBMISSION, theirs, "--effectiveness", 0)[2].splitlines()
    assert of_the_second[-3:] == [f"warning: {tmp_path / 'table4.csv'}: {notice}" for notice in told]
    even = predicted.assign(score_discourse_effectiveness_0=0.5, score_discourse_effectiveness_1=0.5)
    assert float(out) == metric.score(truth, even, "row_id")


def test_the_cure_comes_first(call, predicted, tmp_path):
    """The message first says what to write instead, and then what Kaggle would say."""
    lower = predicted.assign(essay_id=predicted["essay_id"].str.lower())
    code, out, err = call(SOLUTION, lower)
    assert (code, out) == (3, "")
    assert err.startswith("error: spell essay_id as the solution does: '")
    assert ". The metric says: " in err
    second = call(SOLUTION, SUBMISSION, lower)[2]
    assert second.startswith(f"error: {tmp_path / 'table3.csv'}: spell essay_id as ")


def test_rows_that_are_named_by_the_tool_are_lines(call, predicted):
    """If a file has no row_id, messages do not speak of row ids that it does not have."""
    err = call(SOLUTION, predicted.drop(columns="row_id").assign(predictionstring="+5 6"))[2]
    assert "row_id of line 2 (" in err
    assert " and 321 more" in err


def test_two_submissions_are_compared_in_words(call, truth, predicted, tmp_path):
    predicted.sample(frac=0.5, random_state=0).to_csv(tmp_path / "half.csv", index=False)
    arguments = (SOLUTION, SUBMISSION, tmp_path / "half.csv", *WHOLE)
    report = json.loads(call(*arguments, "--json")[1])
    assert report["verdict"].startswith("sample_submission.csv is better than half.csv by 0.")
    assert report["verdict"] in call(*arguments)[1]
    assert len(report["comparison"]) == len(report["measures"])
    difference = report["difference"]
    assert difference["low"] > 0
    assert (
        json.loads(call(*arguments, "--json", "--bootstrap", 10)[1])["difference"]["low"] != difference["low"]
    )
    assert difference["ahead"] == 1
    assert list(report["detectable"]) == ["All", "Public", "Private"]
    assert report["detectable"]["All"] == difference["detectable"] < report["detectable"]["Public"]
    told, sizes = call(*arguments)[1], truth.groupby("Usage")["essay_id"].nunique()
    for part, size in sizes.items():
        assert f"{rounded(report['detectable'][part])} with {size} essays ({part})" in told
    assert "verdict" not in json.loads(call(SOLUTION, SUBMISSION, "--json")[1])
    message = f"error: {arguments[2]} is given twice: name each submission to compare with once\n"
    assert call(*arguments[:3], arguments[2]) == (2, "", message)


def test_the_answer_comes_before_the_tables_that_explain_it(call, truth, predicted, tmp_path):
    predicted.iloc[::2].to_csv(tmp_path / "half.csv", index=False)
    predicted.iloc[::3].to_csv(tmp_path / "third.csv", index=False)
    essays = truth["essay_id"].unique()
    folds = pd.DataFrame({"essay_id": essays, "fold": range(len(essays))})
    folds.assign(fold=folds["fold"] % 2).to_csv(tmp_path / "folds.csv", index=False)
    for more, answer in (
        ([tmp_path / "half.csv"], "\nsample_submission.csv scores"),
        ([tmp_path / "half.csv", tmp_path / "third.csv"], "\nsample_submission.csv compared with 2 others"),
        (["--folds", tmp_path / "folds.csv"], "\n2 folds: mean"),
        (["--table", tmp_path / "table.md"], f"\nwritten to {tmp_path / 'table.md'}\n"),
    ):
        _, out, _ = call(SOLUTION, SUBMISSION, *more, "--bootstrap", 10)
        assert out.startswith("Score "), more
        assert 0 < out.index(answer) < out.index("\nSub-populations\n"), more
        assert out.count(answer) == 1


def test_where_a_few_essays_decide_the_large_groups_are_shown(call, predicted, tmp_path):
    predicted.iloc[::2].to_csv(tmp_path / "half.csv", index=False)
    _, out, _ = call(SOLUTION, SUBMISSION, tmp_path / "half.csv")
    told, table = out.split("\n\n")[1:3]
    page = (ROOT / "docs/how-to/score-a-fold.md").read_text(encoding="utf-8")
    assert " ".join(told.split()) in " ".join(page.split())
    turned = call(SOLUTION, tmp_path / "half.csv", SUBMISSION)[1].split("\n\n")[1]
    assert turned == told
    measures = [line.split("  ")[0] for line in table.splitlines()[2:]]
    assert measures == [
        "score",
        "ell_status = No",
        "economically_disadvantaged = Economically disadvantaged",
        "economically_disadvantaged = Not economically disadvantaged",
    ]


D = ["score_discourse_effectiveness_0", "score_discourse_effectiveness_1"]


def test_json_has_the_warnings_that_are_printed(call, predicted):
    twice = pd.concat([predicted] * 2)
    err = call(SOLUTION, twice)[2]
    assert "were discarded, because predictions that begin earlier have taken their words" in err
    report = json.loads(call(SOLUTION, twice, "--json")[1])
    assert [f"warning: {text}" for text in report["warnings"]] == err.splitlines()


def test_the_bare_score_warns_of_a_file_that_is_probably_wrong(call, truth):
    right = truth.assign(**{D[0]: 0.9 - 0.8 * truth["discourse_effectiveness"]})
    swapped = right.assign(**{D[1]: 1 - right[D[0]]}).rename(columns=dict(zip(D, D[::-1])))
    code, out, err = call("-b", SOLUTION, swapped)
    assert (code, len(out.splitlines())) == (0, 1)
    assert err.startswith("warning: check whether score_discourse")
    assert len(err.splitlines()) == 1


def test_effectiveness_is_not_asked_for_where_it_was_replaced(call):
    assert "say how effective" not in call(SOLUTION, SUBMISSION, "--effectiveness", "0.5")[2]


def test_what_only_the_host_may_say(call):
    """READ//ABLE's M7 is the experts' judgment of a submission's explanations, which only the host can give."""
    folder = ROOT / "metrics" / "readable" / "samples"
    arguments = ("--metric", "readable", "-b", folder / "solution.csv", folder / "submission.csv")
    weights = ("--set", "weights=M1=1,M2=2,M3=1,M4=1,M5=1,M6=0,M7=1")
    without = call(*arguments)
    assert call(*arguments, "--side", folder / "explanations.csv") == without  # if M7 has no weight
    code, out, _ = call(*arguments, *weights, "--side", folder / "explanations.csv")
    assert code == 0
    assert float(out) != float(without[1])
    assert call(*arguments, *weights)[0] == 4  # only the host has this file
    assert call("-b", SOLUTION, SUBMISSION, "--side", SUBMISSION)[0] == 2


# --- other metric files -----------------------------------------------------------------------------

REFUSAL = "if 'answer' not in submission: raise ParticipantVisibleError('no column answer')\n    "


@pytest.fixture
def accuracy(tmp_path):
    """The arguments for a small metric with its solution and its submission."""
    (tmp_path / "accuracy.py").write_text(ACCURACY.replace("BODY", REFUSAL + EQUAL))
    truth = pd.DataFrame(
        {"id": [1, 2, 3, 4], "answer": [1, 0, 1, 1], "Usage": ["Public"] * 2 + ["Private"] * 2}
    )
    truth.to_csv(tmp_path / "truth.csv", index=False)
    truth.assign(answer=[1, 0, 1, 0]).drop(columns="Usage").to_csv(tmp_path / "guess.csv", index=False)
    return "--metric", tmp_path / "accuracy.py", tmp_path / "truth.csv", tmp_path / "guess.csv"


def test_any_file_with_a_score(call, accuracy, tmp_path):
    """Without prepare() the metric can only score, and rows are split by their ids, as Kaggle does."""
    signature = "metric:accuracy|version:?|points:1.0"
    scores = "Score    0.750000\nPublic   1.000000\nPrivate  0.500000\n"
    assert call(*accuracy) == (0, f"{scores}\n{signature}\n", "")
    report = json.loads(call(*accuracy, "--json", "--set", "points=2")[1])
    assert (report["score"], report["public"], report["private"]) == (1.5, 2.0, 1.0)
    (tmp_path / "wrong.csv").write_text("id,reply\n1,1\n2,1\n3,1\n4,1\n")
    assert call(*accuracy[:-1], tmp_path / "wrong.csv") == (3, "", "error: no column answer\n")
    truth = pd.DataFrame({"id": range(60), "answer": [0, 1, 1] * 20, "Usage": ["Public", "Private"] * 30})
    two = (truth.drop(columns="Usage").assign(answer=(truth["id"] % step > 0) * 1) for step in (4, 7))
    told = call(truth, *two, *accuracy[:2], "--bootstrap", 200)[1]
    assert "with 60 items, " in told
    assert " with 30 items (Public) and " in told
    code, out, err = call(*accuracy, "--rows", "x.csv")
    assert (code, out) == (2, "")
    assert "accuracy.py" in err


# --- bad input: a message, an exit code, nothing else -----------------------------------------------

KINDS = f"expected a Python file, a folder with a metric.py, or one of {', '.join(hosted.names())}"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([SOLUTION], "usage: podium score"),
        ([SOLUTION, SUBMISSION, "--bootstrap", "0"], "usage: podium score"),
        (["none.csv", SUBMISSION], "error: cannot read none.csv: No such file or directory\n"),
        ([SOLUTION, SUBMISSION, "--metric", "no"], f"error: there is no metric no: {KINDS}\n"),
        ([SOLUTION, SUBMISSION, "--metric", SOLUTION], f"error: {SOLUTION} is not a Python file\n"),
    ],
)
def test_wrong_usage(call, arguments, told):
    code, out, err = call(*arguments)
    assert (code, out, err.startswith(told)) == (2, "", True)


@pytest.mark.parametrize("found", ["public", None])
def test_a_wrong_usage_of_a_row(call, truth, found):
    truth.loc[0, "Usage"] = found
    message = f"found {found or 'missing'!r} in row number 1 of the solution"
    expected = f"error: Usage: expected Public, Private or Ignored, {message}\n"
    assert call(truth, SUBMISSION) == (4, "", expected)


@pytest.mark.slow
def test_a_closed_pipe_is_no_error():
    words = [sys.executable, "-m", "podium", "score", str(SOLUTION_SAMPLE), str(SUBMISSION_SAMPLE)]
    program = f"{shlex.join(words)} | head -n 1"
    done = subprocess.run(program, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "Score    0.587969\n"
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def test_json_has_neither_nan_nor_infinity(capsys):
    values = {"a": float("nan"), "b": [float("inf"), -float("inf"), np.float64(1.5)], "c": None, 3: "\u202e"}
    console.print_json(values)
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"a": None, "b": ["inf", "-inf", 1.5], "c": None, "3": "\u202e"}
    assert "\u202e" not in printed
