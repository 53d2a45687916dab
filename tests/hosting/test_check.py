"""For each of Kaggle's demands, `podium check` names a file that does not meet it."""

import io
from pathlib import Path

import pandas as pd
import pytest

from podium.hosting.kaggle import acceptance as check
from podium.hosting.kaggle import kernel
from podium.hosting.kaggle.kernel import FAIL, NOTE, PASS, UNTRIED
from podium.metric import shapes
from tests.support.host_line import ACCURACY, EQUAL, SOLUTION, every_metric, run_podium
from tests.support.kaggle_metrics import FATES
from tests.support.kaggle_metrics import SOLUTION as KAGGLE_SOLUTION
from tests.support.kaggle_metrics import SUBMISSION as KAGGLE_SUBMISSION

GOOD = '''
"""Shares of equal answers."""
from typing import Optional

import numpy as np
import pandas as pd


class ParticipantVisibleError(Exception):
    pass


def score(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    row_id_column_name: str,
    weight: float = 1,
    name: Optional[str] = None,
    limit: int | None = 3,
    strict: bool = False,
) -> float:
    """The share of equal answers.

    >>> solution = pd.DataFrame({"id": [1, 2], "answer": [0, 1]})
    >>> score(solution, solution, "id")
    1.0
    """
    if "answer" not in submission:
        raise ParticipantVisibleError("no column answer")
    return float(np.mean(solution["answer"].to_numpy() == submission["answer"].to_numpy()))
'''
SCORES = """
    >>> solution = pd.DataFrame({"id": [1, 2], "answer": [0, 1]})
    >>> score(solution, solution, "id")
    1.0
"""


def verdicts(source: str, tmp_path: Path, verdict: str, **further: object) -> dict[str, str]:
    """The checks with this verdict, and their remarks."""
    path = tmp_path / "a_metric.py"
    path.write_text(source, encoding="utf-8")
    results = check.check(path, **further)
    return {result.name: result.text for result in results if result.level.value == verdict}


def failures(source: str, tmp_path: Path, **further: object) -> dict[str, str]:
    """The names of the checks that fail, each with its reason."""
    return verdicts(source, tmp_path, FAIL, **further)


def changed(old: str, new: str) -> str:
    """The source of a good metric with one passage replaced."""
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


# --- the files of the project, in real processes ----------------------------------------------------


@every_metric
def test_the_metrics_of_the_project_pass(capsys, path, solution, submission):
    code, out, err = run_podium(capsys, "check", path, solution, submission)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    parts = f"{shapes.BOTH_PARTS}: "
    passed = [line for line in lines if line.startswith(("pass  ", f"note  {parts}there is no column"))]
    assert len(passed) == 23
    assert [line for line in lines if line.startswith(("FAIL", "----"))] == []


KERNEL = "\nimport sys; assert __name__ != '__main__' or sys.argv[1] == '-f'\n"


@pytest.mark.parametrize("source", [GOOD, GOOD + KERNEL, changed("    1.0\n", "    1...\n")])
def test_a_good_file_passes(in_process, tmp_path, source):
    """A doctest may use an ellipsis."""
    assert failures(source, tmp_path) == {}


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("\x00", check.COMPILES, "source code string cannot contain null bytes"),
        ("def score(:\n", check.COMPILES, "invalid syntax (a_metric.py, line 1)"),
        (changed("    if ", "    from podium import files\n    if "), check.IMPORTS, "it imports podium, "),
        (changed("import numpy", "from . import files\nimport numpy"), check.IMPORTS,
         "it imports a file beside it, but is uploaded alone"),
        (GOOD + "\n1 / 0\n", "runs", "ZeroDivisionError: division by zero"),
        (GOOD + "\nimport argparse; p = argparse.ArgumentParser(); p.parse_args()\n", "runs", "SystemExit: 2"),
        (GOOD + "\nprint(__file__)\n", "runs", "NameError: "),
        (GOOD + "\nif __name__ == '__main__':\n    raise OSError('x')\n", "runs", "OSError: x"),
        (GOOD + "\nif __name__ != '__main__':\n    raise OSError('x')\n", check.MODULE, "OSError: x"),
        (GOOD + "\nscore = 3\n", "score", "there is no function score"),
        (changed("row_id_column_name: str", "row_id_column_name: str = 'id'"), "row id",
         "row_id_column_name must not have a default value"),
        (changed("weight: float = 1", "weight=1"), "annotations", "weight has no annotation"),
        (changed("limit: int | None = 3", "*limit: int"), "annotations", "*limit: int cannot be set by name"),
        (changed("    solution: pd.DataFrame", "    solution: dict"), "annotations",
         "solution is dict, not pandas.DataFrame"),
        (changed(") -> float", ") -> int"), "return", "the annotation is int"),
        (changed(") -> float", ")"), "return", "the annotation is missing"),
        (changed("The share of", "x" * 8000), "docstring", "it has 8,1"),
        (changed("    1.0\n", "    0.9\n"), "doctests",
         "'score(solution, solution, \"id\")' gave 1.0 instead of 0.9"),
        (changed("return float(np.mean(", "return str(np.mean("), "result", "it returned str"),
        (changed("return float(", "return None and ("), "result", "it returned NoneType"),
        (changed("return float(", "return float('nan') * float("), "result", "it returned nan"),
    ],
)  # fmt: skip
def test_what_a_file_can_fail(in_process, tmp_path, source, name, reason):
    failed = failures(source, tmp_path)
    name = check.ANSWERED.get(name, name)
    assert failed[name].startswith(reason)
    # The first check that fails, or the second one if the file's own doctest fails as well.
    assert next(iter(failed)) in (name, check.ANSWERED["doctests"])


@pytest.mark.parametrize(
    ("source", "name", "remark"),
    [
        (changed("import numpy", "import polars_of_tomorrow\nimport numpy").replace(
            "import polars", "if False:\n    import polars"), check.IMPORTS,
         "it imports polars_of_tomorrow: make sure that Kaggle's image has it"),
        (changed("limit: int | None = 3", "limit: list[int] = []"), "annotations",
         "Kaggle's site may be unable to set limit: list[int] = []"),
        (changed("limit: int | None = 3", "limit: int | str = 3"), "annotations",
         "Kaggle's site may be unable to set limit: int | str = 3"),
        (changed("name: Optional[str] = None", "name: str = None"), "annotations",
         "Kaggle's site may be unable to set name: str = None"),
        (GOOD.replace("from typing", "from __future__ import annotations\nfrom typing"), "annotations",
         "annotations are texts, and it is not known whether Kaggle reads those"),
        (changed("class ParticipantVisibleError", "class Visible") + "\nParticipantVisibleError = Visible\n",
         "participant", "there is none, so participants are never told what is wrong"),
        (changed('raise ParticipantVisibleError("no column answer")', 'pass'), "participant",
         "a submission without the column answer raises KeyError: 'answer' (line "),
        (changed('submission["answer"].to_numpy()', 'submission["answer"].astype(float)'), "participant",
         "a submission with words in the column answer raises ValueError: could not convert string to float: "
         "'word word word word word word wo… (line "),
        (changed('"no column answer"', 'f"no {solution}"'), "participant",
         "a message depends on the solution and may tell it to participants: no id answer 0 1 "),
        (changed("return float(", "submission['x'] = 1\n    return float("), "frames",
         "it changes a table that it is given"),
        (changed('"no column answer"', '"x" * 281'), "messages",
         "Kaggle cuts a message of 281 characters: 'xxxxxxxxxxxxxx"),
        (GOOD.replace('    """The share', '    _ = """The share'), "docstring",
         "there is none, and Kaggle shows it to hosts who choose a metric"),
        (GOOD + "\nimport pickle\ndef load(x):\n    return eval(x), pd.read_pickle(x)\n", check.RUNS_TEXT,
         "line 32: pickle, line 34: eval, line 34: read_pickle: WHAT A SUBMISSION BRINGS THERE RUNS AS A "),
    ],
)  # fmt: skip
def test_what_kaggle_takes_and_a_host_had_better_know(in_process, tmp_path, source, name, remark):
    assert failures(source, tmp_path) == {}
    notes = verdicts(source, tmp_path, NOTE)
    assert notes[check.ANSWERED.get(name, name)].startswith(remark)
    assert len(notes) == 1


def test_without_a_call_the_result_cannot_be_tried(in_process, tmp_path):
    untried = verdicts(changed(SCORES, ""), tmp_path, UNTRIED)
    told = "no doctest calls score(): give a solution and a submission to try it with"
    assert untried[check.ANSWERED["result"]] == told


def test_a_file_beside_the_metric_is_not_uploaded_with_it(in_process, tmp_path):
    (tmp_path / "helper.py").write_text("def half(x):\n    return x / 2\n")
    path = tmp_path / "a_metric.py"
    path.write_text(GOOD + "\nfrom helper import half\n")
    results = check.check(path)
    reason = "it imports a file beside it (helper), but is uploaded alone: copy what it needs"
    assert [(each.level.value, each.text) for each in results if each.name == check.IMPORTS] == [(FAIL, reason)]
    assert [each.level.value for each in results] == [PASS, FAIL]
    assert check.check_contract(path) == []
    (tmp_path / "helper.py").rename(tmp_path / "json.py")  # the standard library's comes first
    path.write_text(GOOD + "\nimport json\n")
    assert not any(result.level.value == FAIL for result in check.check(path))


def test_the_report_and_the_exit_code(capsys, tmp_path, in_process):
    path = tmp_path / "a_metric.py"
    path.write_text(changed(") -> float", ") -> int"))
    code, out, err = run_podium(capsys, "check", path)
    assert code == 4
    assert out.splitlines()[6] == "FAIL  is annotated to return float: the annotation is int"
    assert err == f"error: {path} fails 1 of 18 checks\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["unified", SOLUTION], "give both a solution and a submission, or none"),
        (["unified", "--set", "x=1"], "--set: expected a solution and a submission, to be scored with it"),
    ],
)
def test_wrong_usage(capsys, arguments, message):
    code, out, err = run_podium(capsys, "check", *arguments)
    assert (code, out, err.startswith(f"error: {message}")) == (2, "", True)


# --- metric files as others write them --------------------------------------------------------------

KEYS = {name: key for key, name in check.ANSWERED.items()}


@pytest.mark.parametrize("name", FATES)
def test_what_becomes_of_public_metrics(in_process, tmp_path, name):
    source, notes = FATES[name]
    if "sklearn" in source:
        pytest.importorskip("sklearn")
    (tmp_path / "metric.py").write_text(source)
    tables = tuple(pd.read_csv(io.StringIO(text)) for text in (KAGGLE_SOLUTION, KAGGLE_SUBMISSION))
    results = check.check(tmp_path / "metric.py", tables, {"row_id_column_name": "id"})
    assert [result for result in results if result.level.value == FAIL] == []
    assert {KEYS[result.name] for result in results if result.level.value == NOTE} == notes


# --- libraries that are not here ----------------------------------------------------------------------


def test_a_library_that_is_not_installed_is_no_failure(capsys, in_process, tmp_path):
    path = tmp_path / "a_metric.py"
    path.write_text("import polars_of_tomorrow\n" + GOOD)
    code, out, err = run_podium(capsys, "check", path)
    reason = "it needs polars_of_tomorrow, which is not installed here: install it"
    assert (
        f"----  runs as a notebook cell, alone: {reason}\n----  can be imported as a module: {reason}\n" in out
    )
    assert (code, "most checks could not be tried, as the file does not run here" in err) == (2, True)
    assert run_podium(capsys, "check", path, SOLUTION, SOLUTION, "--set", "weight=2")[:2] == (4, "")


def test_a_library_that_only_the_call_needs(in_process, tmp_path):
    source = changed("return float(", "import polars_of_tomorrow\n    return float(")
    assert failures(source, tmp_path) == {}
    untried = verdicts(source, tmp_path, UNTRIED)
    assert untried[check.ANSWERED["doctests"]].startswith("it needs polars_of_tomorrow, ")
    assert untried[check.ANSWERED["result"]].startswith("it needs polars_of_tomorrow, ")


def test_each_fault_is_told_once(capsys, in_process, tmp_path):
    """As by the check of the contract, which names the line, and a file that is opened by its path."""
    beside = tmp_path / "weights.txt"
    beside.write_text("2\n")
    source = changed("return float(np.mean(", f"pd.read_csv({str(beside)!r})\n    return str(np.mean(")
    (tmp_path / "a_metric.py").write_text(source)
    (tmp_path / "truth.csv").write_text("id,answer\n1,0\n2,1\n")
    _, out, _ = run_podium(capsys, "check", *(tmp_path / name for name in ("a_metric.py", *["truth.csv"] * 2)))
    _, finite, opens = [line for line in out.splitlines() if line.startswith("FAIL")]  # the doctest fails, too
    assert finite.startswith(
        "FAIL  returns a finite float: a_metric.py, line 13: score(): expected one finite "
    )
    assert opens == f"FAIL  opens no files: score() opens {beside}"


def test_files_of_libraries_are_no_fault(in_process, tmp_path, monkeypatch):
    """Also those that a library opens while it is imported."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "lazy.py").write_text(f"open({str(tmp_path / 'cache')!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(tmp_path / "library")
    source = changed(
        "return float(np.mean(", "import lazy\n    open(np.__file__).close()\n    return float(np.mean("
    )
    truth = pd.DataFrame({"id": [1, 2], "answer": [0, 1]})
    tables = {"tables": (truth, truth), "arguments": {"row_id_column_name": "id"}}
    assert failures(source.replace(SCORES, ""), tmp_path, **tables) == {}


OWN_FILES = """import tempfile
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/truth", "w") as file:
            file.write("1")
        with open(folder + "/truth") as file:
            file.read()
    open("answers.csv", "w").close()
    """


@pytest.mark.parametrize(
    ("line", "opened"),
    [
        (OWN_FILES, ""),
        ("open('weights.json').close()\n    ", "weights.json"),
        ("import os; os.chdir('..')\n    ", ""),
    ],
)
def test_only_files_that_were_there_count_as_opened(in_process, tmp_path, line, opened):
    """A metric may write files of its own and read them, as those of COCO and of TM-score do."""
    (tmp_path / "weights.json").write_text("{}")
    (tmp_path / "submission.csv").write_text("id\n")
    truth = pd.DataFrame({"id": [1, 2], "answer": [0, 1]})
    tables = {"tables": (truth, truth), "arguments": {"row_id_column_name": "id"}}
    source = changed("return float(np.mean(", f"{line}return float(np.mean(").replace(SCORES, "")
    told = failures(source, tmp_path, **tables)
    assert [text.rpartition("/")[2] for name, text in told.items() if name == check.ANSWERED["opens"]] == [
        opened
    ] * bool(opened)


@pytest.mark.parametrize(
    ("line", "is_loud"),
    [("import joblib", False), ("from joblib import load", True), ("import joblib; joblib.load", True)],
)
def test_only_what_joblib_loads_runs_as_a_program(in_process, tmp_path, line, is_loud):
    told = verdicts(f"{GOOD}\n{line}\n", tmp_path, NOTE)
    assert (check.RUNS_TEXT in told) is is_loud


def test_what_an_earlier_call_left_is_seen_in_a_new_process(capsys, in_process, tmp_path):
    """The doctest's solution has two rows, and the given one has four."""
    source = changed(
        "    return float(np.mean(", "    SEEN.append(len(solution))\n    return 2 / SEEN[0] * float(np.mean("
    )
    (tmp_path / "a_metric.py").write_text(source + "\nSEEN = []\n")
    (tmp_path / "truth.csv").write_text("id,answer\n1,0\n2,1\n3,0\n4,0\n")
    _, out, _ = run_podium(capsys, "check", *(tmp_path / name for name in ("a_metric.py", *["truth.csv"] * 2)))
    assert f"FAIL  {shapes.AGAIN}: a_metric.py, line 13: score(): expected the same number" in out


# --- the solution -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "complete", "name", "verdict", "remark"),
    [
        ("1,1,Public\n2,0,Test\n", False, shapes.BOTH_PARTS, FAIL, "Usage: expected Public, "),
        ("1,1,Public\n2,0,Public\n", False, shapes.BOTH_PARTS, PASS, "2 rows are Public"),
        ("1,1,Private\n2,0,Private\n", False, shapes.BOTH_PARTS, FAIL, "no row is Public"),
        ("1,1,Public\n1,0,Private\n", False, check.IDS, FAIL, "id: '1' occurs twice"),
        ("1,1,Public\n1,0,Private\n", True, check.IDS, NOTE, "id: '1' occurs twice"),
        ("1,1,Public\n1,1,Public\n", True, check.ROWS, NOTE, "1 of 2 rows repeat an earlier one"),
    ],
)
def test_what_is_wrong_with_a_solution(rows, complete, name, verdict, remark):
    solution = pd.read_csv(io.StringIO(f"id,answer,Usage\n{rows}"))
    results = {result.name: result for result in check.check_solution(solution, "id", complete)}
    assert results[name].level.value == verdict
    assert results[name].text.startswith(remark)


# --- Kaggle's helper ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solution", "text", "shown"),
    [
        ({"x": [1.0, 2.0]}, "wrong shape", True),
        ({"x": [1.0, 2.0]}, "wrong shape: 3", False),
        ({"x": ["a", "b"]}, "wrong shape", False),
        ({"x": [True, False]}, "wrong shape", True),
        ({"x": [True, False]}, "it is False", False),
        ({"x": [1, 0]}, "it is False", True),
    ],
)
def test_which_errors_kaggle_s_helper_shows(solution, text, shown):
    utilities = kernel.metric_utilities()

    def fail(*_):
        raise KeyError(text)

    frame = pd.DataFrame(solution)
    assert utilities.treat_as_participant_error(text, frame) is shown
    kind = utilities.ParticipantVisibleError if shown else KeyError
    with pytest.raises(kind):
        utilities.safe_call_score(fail, frame, frame)


def test_kaggle_s_helper_leaves_named_errors_alone():
    utilities = kernel.metric_utilities()

    class HostVisibleError(Exception):
        pass

    def fail(*_):
        raise HostVisibleError("labels")

    with pytest.raises(utilities.HostVisibleError, match=r"^labels$"):
        utilities.safe_call_score(fail, pd.DataFrame({"x": [1]}), None)
    assert utilities.safe_call_score(lambda *_: 1, None, None) == 1.0


def test_a_submission_that_another_solution_accepts_tells_nothing_of_it():
    """Only two messages that differ can tell something."""
    rejected, other, fault = kernel.metric_utilities().ParticipantVisibleError, "a", ValueError("b")
    for first, second, verdict in ((other, fault, PASS), (other, None, PASS), (other, rejected("b"), NOTE)):
        assert kernel.check_rejections([("", rejected(first))], [("", second)])[0] == verdict


def test_a_slow_call_is_noted():
    """The host learns of it before the first submission comes."""
    quick = kernel.Call({}, 1.0, raised=None, wrong="", changes=False, seconds=0.1)
    assert kernel.check_calls([quick, quick], quick)["result"] == (PASS, "")
    assert kernel.check_calls([quick._replace(seconds=20.4), quick], quick)["result"] == (
        NOTE,
        "a call took 20 s; Kaggle allows 30 minutes for Public and Private together",
    )


@pytest.mark.slow
def test_a_metric_that_deletes_files_fails_and_finds_none_of_the_host(tmp_path, capsys, monkeypatch):
    """The check tries it in a folder of its own, so that the host's files are still there afterwards."""
    monkeypatch.chdir(tmp_path)
    body = '[os.remove(name) for name in os.listdir(".") if name.endswith(".csv")]'
    Path("metric.py").write_text("import os\n" + ACCURACY.replace("BODY", f"{body}\n    {EQUAL}"))
    rows = [f"{number},{number % 2},{'Public' if number < 5 else 'Private'}" for number in range(10)]
    Path("solution.csv").write_text("\n".join(["id,answer,Usage", *rows, ""]))
    Path("guess.csv").write_text("\n".join(["id,answer", *(f"{number},1" for number in range(10)), ""]))
    code, out, _ = run_podium(capsys, "check", "metric.py", "solution.csv", "guess.csv")
    assert code == 4
    assert "FAIL  opens no files: score() deletes files of the current folder: submission.csv" in out
    assert Path("solution.csv").exists()
    assert Path("guess.csv").exists()
