"""The check of the contract names a mistake of a metric's author before it becomes a score."""

import gc
import importlib.util
import os
import pickle
import re
import shutil
import subprocess
import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import podium
from podium import cli
from podium.child import limits
from podium.common.errors import CompanionError, ContractWarning, HostError, SubmissionRejected, UsageError
from podium.metric import hosted, shapes
from podium.metric.parameters import higher_is_better
from podium.scoring import explain, verdicts
from tests.support import host_line
from tests.support.new_metric import GROUPED, SAMPLES, SOLUTION, SUBMISSION, TEMPLATE, metric_with

# Places in the template's metric.
SUM = "prepared.groups))[0])"
CALL = "    prepared = prepare(solution, row_id_column_name)\n"
GROUPS = "pd.Index(groups).get_indexer(pd.Index(group_of_item))[np.newaxis]"
NUMBERS = "axis=1).astype(np.float64)"
SHARE = "share = right.sum(axis=-1) / rows.sum(axis=-1)"
HIGHER = "    return True\n"
CHECKED = "ids, labels = (texts(submission, column, ParticipantVisibleError) for column in columns)"


def line_of(text: str) -> int:
    """The line of the template in which a text begins."""
    before, _, _ = GROUPED.partition(text)
    return 1 + before.count("\n")


KEEPING = """
    kept = vars(prepare).get("kept")
    prepare.kept = submission.copy()
    if kept is not None and not kept.equals(submission):
        return 0.5
"""

# Each slip: what is replaced, by what, and what the message says of it.
SLIPS = {
    "score() squares the measure": (
        SUM,
        SUM + " ** 2",
        "the first of the measures of the sums; on all items score() gives 0.36 and the sums give 0.6",
    ),
    "score() differs on a part": (
        CALL,
        CALL + "    if len(solution) < 5: return 0.25\n",
        "on the Public items",
    ),
    "no item_of_row": ("item_of_row", "row_of_item", "an object with item_of_row, found Prepared without it"),
    "measures without score": ('["score", *', '["accuracy", *', 'begin with "score"'),
    "statistics with one row too few": (NUMBERS, NUMBERS + "[1:]", "one row per item, found shape (4, 2)"),
    "measures that are NaN where the sums are fine": (
        SHARE,
        SHARE + " * np.nan",
        "a finite float for every part",
    ),
    "measures of another number": (
        "[share[..., np.newaxis], right / rows]",
        "[right / rows]",
        "as there are 3 measure_names",
    ),
    "measures of one sum only": (
        "np.moveaxis(np.asarray(sums), -1, 0)",
        "np.asarray(sums).reshape(-1, 2).T",
        "let it work on the last two axes, found shape (",
    ),
    "statistics by chance": (
        NUMBERS,
        "axis=1) + np.random.default_rng().random((len(self.items), 2))",
        "no random",
    ),
    "score() draws random numbers": (SUM, SUM + " + np.random.random()", "the same number"),
    "item_of_row in the order of the solution": (
        "item_of_row=pd.Index(items).get_indexer(pd.Index(ids)),",
        "item_of_row=np.roll(np.arange(len(items)), 2),",
        "; does item_of_row name the item of each row?",
    ),
    "measures in a stack": (SHARE, SHARE + " * (0.5 if np.ndim(sums) > 2 else 1)", "the sums give 0.3"),
    "prepare() without a parameter of score()": (
        "row_id_column_name: str) -> float",
        "row_id_column_name: str, beta: float = 2.0) -> float",
        "the parameter beta: float = 2.0, as score() has it, found prepare() without it",
    ),
    "score() reads a file": (CALL, CALL + "    open('no/weights.json')\n", "so it cannot read other files"),
    "score() returns nothing": ("return float(prepared", "float(prepared", "found NoneType None"),
    "score() returns NaN": ("return float(prepared", "return np.nan * float(prepared", "score() gives nan"),
    "score() keeps the last submission": (CALL, CALL + KEEPING, "found 0.5 and then 0.6"),
    "statistics() ends the process": (NUMBERS, "axis=exit(3))", "SystemExit: 3"),
    "a name of podium's own": ('"my_metric"', '"scifact"', "'scifact', the name of a built-in metric"),
    "a flag of another kind": ("", "COMPLETE_SUBMISSION = 'no'", "expected bool, found str 'no'"),
    "prepare of another kind": ("", "prepare = 3", "prepare: expected a function, found int"),
    "an error as it is loaded": ("", "1 / 0", "ZeroDivisionError: division by zero (metric.py, line"),
    "no Python": (
        "import dataclass\n",
        "import dataclass as\n",
        f"; this is Python 3.{sys.version_info.minor}",
    ),
    "a direction in words": (HIGHER, "    return 'no'\n", "expected True or False, found str 'no'"),
    "a direction that fails": (HIGHER, "    return 1 / 0 > 0\n", f"line {line_of(HIGHER)}: return 1 / 0 > 0)"),
}


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize(("old", "new", "message"), SLIPS.values(), ids=SLIPS.keys())
def test_a_slip_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    metric = metric_with(tmp_path, (old, new))
    with pytest.raises(HostError) as caught:
        podium.score(SOLUTION, SUBMISSION, metric=metric)
    assert message in str(caught.value)
    assert "metric.py" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "rejects"),
    [(len(SOLUTION), pytest.raises(SubmissionRejected, match="so I say")), (3, nullcontext())],
)
def test_score_may_reject_only_what_it_gets_for_a_part(tmp_path: Path, rows: int, rejects: Any) -> None:
    """Half of the solution may lack what the metric needs, and the whole solution may not."""
    line = "    prepared = prepare(solution, row_id_column_name)\n"
    fault = f"    if len(solution) == {rows}:\n        raise ParticipantVisibleError('so I say')\n"
    metric = metric_with(tmp_path, (line, line + fault))
    with rejects:
        assert podium.score(SOLUTION.drop(columns="Usage"), SUBMISSION, metric=metric).score == 0.6


def test_a_copy_of_one_of_our_files_is_that_metric(tmp_path: Path) -> None:
    (tmp_path / "copy.py").write_bytes(hosted.find("scifact").read_bytes())
    assert hosted.load(tmp_path / "copy.py") is hosted.load("scifact")
    assert hosted.load(hosted.folder("unified")) is hosted.load("unified")


def test_an_exception_is_told_with_its_line_and_how_to_tell_participants(tmp_path: Path) -> None:
    metric = metric_with(tmp_path, (CHECKED, 'ids = labels = submission["label"]'))
    with pytest.raises(HostError) as caught:
        podium.score(SOLUTION, SUBMISSION.drop(columns="label"), metric=metric)
    assert str(caught.value) == (
        f"the metric raised an unexpected error: KeyError: 'label' (metric.py, line {line_of(CHECKED)}: "
        'ids = labels = submission["label"]). '
        "If the submission is at fault, raise ParticipantVisibleError for such input"
    )


def test_another_function_with_the_name_prepare_is_not_podiums(tmp_path: Path) -> None:
    metric = alone(tmp_path, "return 0.5")
    metric.write_text(metric.read_text() + "def prepare(raw, public, private):\n    pass\n")
    assert hosted.load(metric).prepare is None
    assert podium.score(SOLUTION, SUBMISSION, metric=metric).score == 0.5


# The template with a parameter.
WITH_BETA = (
    ("row_id_column_name: str) -> float", "row_id_column_name: str, beta: float = 2.0) -> float"),
    ('row_id_column_name: str) -> "Prepared"', 'row_id_column_name: str, beta: float = 2.0) -> "Prepared"'),
)


@pytest.mark.parametrize(
    ("result", "named"), [("[0.5]", r"list \[0\.5\]"), ("True", "bool True"), ("'1'", "str '1'")]
)
def test_a_score_alone_is_a_number(tmp_path: Path, result: str, named: str) -> None:
    file = tmp_path / "alone.py"
    file.write_text(f"def score(solution, submission, row_id_column_name):\n    return {result}\n")
    with pytest.raises(
        HostError,
        match=rf"^alone\.py, line 1: score\(\): expected one finite float, found {named}; return float\(…\)$",
    ):
        podium.score(SOLUTION, SUBMISSION, metric=file)


@pytest.mark.parametrize("function", ["score", "higher_is_better"])
def test_an_async_function_is_refused_without_a_warning(tmp_path: Path, function: str) -> None:
    file = tmp_path / "alone.py"
    text = "def score(solution, submission, row_id_column_name):\n    return 0.5\n"
    text += "def higher_is_better():\n    return True\n"
    file.write_text(text.replace(f"def {function}", f"async def {function}"))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(HostError, match=r"found coroutine .*; write def in place of async def$"):
            podium.score(SOLUTION, SUBMISSION, metric=file)
        gc.collect()
    assert not [each for each in warned if "never awaited" in str(each.message)]


FEW = "np.where(rows.sum(axis=-1) < 5, np.nan, right.sum(axis=-1) / rows.sum(axis=-1))"
NO_SLIPS = {
    "score() adds in another order": (
        ("return float(prepared.measures(", "return (1 + 2**-52) * float(prepared.measures("),
    ),
    # If score() and the sums agree that it is NaN, half of the items may be too few for a score.
    "no score of a part": ((SHARE, f"share = {FEW}"),),
    "any parameters of prepare()": (
        *WITH_BETA,
        ('beta: float = 2.0) -> "Prepared"', '**others) -> "Prepared"'),
    ),
}


@pytest.mark.parametrize("edits", NO_SLIPS.values(), ids=NO_SLIPS)
def test_what_is_no_slip(tmp_path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    metric = metric_with(tmp_path, *edits)
    assert podium.score(SOLUTION.drop(columns="Usage"), SUBMISSION, metric=metric).score == pytest.approx(0.6)


# A real-valued metric as its author would write it: the mean over the stores of the mean error of their days.
NATURAL = """
import numpy as np
import pandas as pd

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    error = (solution["sales"] - submission["sales"]).abs()
    return float(error.groupby(solution["store"]).mean().mean())

def higher_is_better() -> bool:
    return False

class Prepared:
    def __init__(self, solution, row_id):
        self.solution, self.row_id = solution, row_id
        self.items = ITEMS
        self.item_of_row = ROWS
        self.stores = np.unique(solution["store"])
        GROUPS

    def statistics(self, submission):
        both = self.solution.merge(submission, on=self.row_id, suffixes=("", "_guess"))
        error = (both["sales"] - both["sales_guess"]).abs().to_numpy()
        return NUMBERS

    def measures(self, sums):
        error, days = np.moveaxis(sums, -1, 0)
        of_stores = error / np.maximum(days, 1)
        score = of_stores.sum(axis=-1) / (days > 0).sum(axis=-1)
        return MEASURES

def prepare(solution: pd.DataFrame, row_id_column_name: str):
    return Prepared(solution.reset_index(drop=True), row_id_column_name)
"""
AS_WRITTEN = {
    "ITEMS": "solution[row_id].tolist()",
    "ROWS": "np.arange(len(solution))",
    "GROUPS": "self.groups = {'store': solution['store']}",
    "NUMBERS": "np.stack([error, np.ones(len(error))], axis=1)",
    "MEASURES": "score",
}
NAMED = "self.measure_names = ('score', *(f'store = {each}' for each in self.stores))"
INDICES = "self.groups = np.searchsorted(self.stores, solution['store'])"
FORMS = {
    "as it is": {},
    "items as an array": {"ITEMS": "solution[row_id].to_numpy()"},
    "a table of groups": {"GROUPS": "self.groups = solution[['store']]"},
    "narrow numbers": {
        "ROWS": "np.arange(len(solution), dtype=np.int16)",
        "NUMBERS": "np.stack([error, np.ones(len(error))], axis=1).astype(np.float32)",
    },
    "labels and one row of indices": {
        "GROUPS": f"{INDICES}.astype(np.uint8); self.labels = tuple(self.stores)"
    },
    "pairs of labels, and all measures": {
        "GROUPS": f"{INDICES}[None].astype(float); self.labels = [('store', s) for s in self.stores]; {NAMED}",
        "MEASURES": "np.concatenate([score[..., None], of_stores], axis=-1)",
    },
    "rows as they come": {
        'both = self.solution.merge(submission, on=self.row_id, suffixes=("", "_guess"))': "",
        'both["sales"] - both["sales_guess"]': "self.solution['sales'] - submission['sales']",
    },
    "numbers as a table": {"NUMBERS": "pd.DataFrame({'error': error, 'days': 1})"},
    "items in another order": {
        "ITEMS": "solution[row_id].tolist()[::-1]",
        "ROWS": "np.arange(len(solution))[::-1]",
        "GROUPS": "self.groups = {'store': solution['store'][::-1]}",
        "NUMBERS": "np.stack([error, np.ones(len(error))], axis=1)[::-1]",
    },
}


def natural(folder: Path, changes: dict[str, str], source: str = NATURAL) -> Path:
    """Write the real-valued metric with some places changed."""
    for name, text in (AS_WRITTEN | changes).items():
        source = source.replace(name, text)
    path = folder / "natural.py"
    path.write_text(source)
    return path


def sales(kind: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A solution with stores of this kind, of which only the last one is in no Public row, and guesses."""
    random = np.random.default_rng(5)
    table = pd.DataFrame({"id": [f"d{n}" for n in random.permutation(60)], "sales": random.gamma(3, 20, 60)})
    guesses = table.assign(sales=table["sales"] + random.normal(3, 9, 60))
    stores = np.array([1.5, 2.25, 10.0])[np.repeat([0, 1, 2], [25, 25, 10])].astype(kind)
    usage = ["Public" if n < 40 and n % 3 else "Private" for n in range(60)]
    return table.assign(store=stores, Usage=usage), guesses


ADAPTED = [(changes, str) for changes in FORMS.values()]
ADAPTED += [(list(FORMS.values())[number], kind) for number, kind in ((4, float), (5, np.float32), (5, int))]


@pytest.mark.parametrize(("changes", "kind"), ADAPTED)
def test_podium_adapts_to_a_metric(tmp_path: Path, changes: dict[str, str], kind: Any) -> None:
    solution, guesses = sales(kind)
    mixed = guesses.sample(frac=1, random_state=1)
    evaluation = podium.score(solution, mixed, metric=natural(tmp_path, changes))
    loaded = hosted.load(tmp_path / "natural.py")
    for part in ("All", "Public", "Private"):
        rows = (solution["Usage"] == part).to_numpy() | (part == "All")
        tables = (table[rows].reset_index(drop=True) for table in (solution, guesses))
        assert evaluation.scores[part] == loaded.score(*tables, "id")  # to the last bit
    table = podium.statistics.intervals(evaluation, resamples=50)
    assert table["value"][0] == pytest.approx(evaluation.score)
    assert (table["low"] < table["value"]).all()
    again = pickle.loads(pickle.dumps(evaluation.solution)).prepared["Public"]
    assert again.measures(np.ones((4, len(again.labels), 2))).shape == (4, len(again.measure_names))
    assert {type(each) for pair in again.labels for each in pair} == {str}


NOT_ADAPTED = {
    "an item twice": ({"ITEMS": "solution[row_id].replace('d3', 'd4')"}, "differ from each other, found 'd4'"),
    "too few items": ({"ITEMS": "solution[row_id].tolist()[:-1]"}, "each index from 0 to 58 of the items"),
    "too few rows": ({"ROWS": "np.arange(59)"}, "whole numbers of shape (60,), one for each row of the"),
    "no numbers of items": ({"NUMBERS": "['a'] * 60"}, "array of shape (60, k), one row per item, found list"),
    "numbers that are not finite": ({"NUMBERS": "np.full((60, 2), np.inf)"}, "numbers that are not finite"),
    "another score": ({"MEASURES": "score * 1.00001"}, "up to rounding, the first of the measures of the sums"),
    "groups of a part of the items": ({"GROUPS": "self.groups = {'store': [1, 2]}"}, "(attributes, 60), found"),
    "a group nobody is in": (
        {"GROUPS": f"{INDICES}; self.labels = [*self.stores, 'x']"},
        "every group of the labels to have an item",
    ),
    "indices beyond the labels": (
        {"GROUPS": f"{INDICES} + 1; self.labels = list(self.stores)"},
        "from 0 to 2 of the labels, found 1 to 3",
    ),
    "no measures": ({"def measures": "def measure"}, "an object with measures, found Prepared without it"),
}


@pytest.mark.parametrize(("changes", "message"), NOT_ADAPTED.values(), ids=NOT_ADAPTED)
def test_what_cannot_be_adapted_is_refused(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(HostError, match=re.escape(message)):
        podium.score(*sales(str), metric=natural(tmp_path, changes))


def test_groups_of_several_attributes_have_numbers_of_their_own_or_of_all(tmp_path: Path) -> None:
    """And a companion finds in the prepared solution what the metric has put there."""
    solution, guesses = sales(str)
    solution["weekend"] = [n % 2 for n in range(60)]
    own = "np.array([np.searchsorted(self.stores, solution['store']), solution['weekend']])"
    labels = "self.labels = [*(('store', s) for s in self.stores), ('weekend', 0), ('weekend', 1)]"
    both = "error, days = np.moveaxis(sums[..., :-2, :], -1, 0)"
    source = NATURAL.replace("error, days = np.moveaxis(sums, -1, 0)", both)
    members = []
    for further in ("", " + [[0], [3]]"):
        changes = {"GROUPS": f"self.groups = {own}{further}; {labels}"}
        evaluation = podium.score(solution, guesses, metric=natural(tmp_path, changes, source))
        members.append(evaluation.prepared.groups)
        assert evaluation.prepared.stores.tolist() == ["1.5", "10.0", "2.25"]
    np.testing.assert_array_equal(*members)
    assert members[0].max() == 4


def test_rounding_is_relative_to_the_sum_of_absolute_values(tmp_path: Path) -> None:
    """A mean of errors of both signs may be tiny where the errors are not."""
    source = NATURAL.replace(".abs()", "").replace("error.groupby", "error.astype(np.float32).groupby")
    solution, guesses = sales(str)
    guesses["sales"] += (solution["sales"] - guesses["sales"]).groupby(solution["store"]).transform("mean")
    assert (
        abs(podium.score(solution.drop(columns="Usage"), guesses, metric=natural(tmp_path, {}, source)).score)
        < 1e-5
    )


def test_prepare_has_the_defaults_of_score(tmp_path: Path) -> None:
    """Otherwise the score and its statistics would be those of different parameters."""
    other = ('beta: float = 2.0) -> "Prepared"', 'beta: float = 1.0) -> "Prepared"')
    with pytest.raises(HostError, match=r"beta: float = 2\.0, as score.*with beta: float = 1\.0$"):
        podium.score(SOLUTION, SUBMISSION, metric=metric_with(tmp_path, *WITH_BETA, other))


def test_a_direction_may_depend_on_a_parameter_of_score(tmp_path: Path) -> None:
    metric = metric_with(tmp_path, *WITH_BETA)
    with (metric / "metric.py").open("a") as file:
        file.write("\n\ndef higher_is_better(beta):\n    return beta < 2.0\n")
    loaded = hosted.load(metric)
    assert [higher_is_better(loaded, given) for given in ({}, {"beta": 1.0})] == [False, True]


@pytest.mark.parametrize("further", [["--bootstrap", "50"], ["{submission}"]])
def test_measures_that_fail_on_a_draw_are_named(tmp_path: Path, capsys: Any, further: list[str]) -> None:
    """On the whole solution three of five answers are right, and on some draws none is."""
    error = "raise ValueError('nothing is right')"
    fault = f"if (right.sum(axis=-1) == 0).any():\n            {error}\n        share = "
    folder = metric_with(tmp_path, ("share = ", fault))
    more = [each.format(submission=SAMPLES[1]) for each in further]
    assert cli.main(["score", *SAMPLES, *more, "--metric", str(folder)]) == 4
    assert "ValueError: nothing is right (metric.py, line " in capsys.readouterr().err


def test_a_lack_of_memory_is_no_fault_of_the_metric(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(limits, "_available_memory", lambda: 0)
    right = "right = answers[self.items]"
    folder = metric_with(tmp_path, (right, f"raise MemoryError\n        {right}"))
    assert cli.main(["score", *SAMPLES, "--metric", str(folder)]) == 2
    assert "error: the metric raised an unexpected error: MemoryError (metric.py, " in capsys.readouterr().err


# Places in the template's companion.
TABLE = 'return {"Labels": table.reset_index()}'
TABLES = "    @property\n    def tables"
LOSSES = "    losses = pd.DataFrame({'wrong': [1.0]})\n\n"
FORECASTS = "    forecasts = pd.DataFrame({'p': [1.0]})\n\n"

# Each slip: what is replaced there, by what, and what the message says of it.
COMPANION_SLIPS = {
    "not Python": ("class Explanation", "klass Explanation", "cannot be loaded: SyntaxError"),
    "no companion": ("companion = ", "compagnon = ", "companion: expected Companion, found nothing"),
    "another kind": ("contract.Companion(", "dict(", "companion: expected Companion, found dict"),
    "a name that is not there": (
        "self.prepared.truth",
        "self.prepared.truths",
        "AttributeError: 'Prepared' object has no attribute 'truths' (companion.py, line ",
    ),
    "no Explanation": (
        "explain=Explanation",
        "explain=lambda evaluation: 3",
        "explain to return a podium.metric.contract.Explanation, found int without roles",
    ),
    "tables that are one": (TABLE, "return table", "expected tables to be Mapping[str, DataFrame], found"),
    "tables that are none": (TABLE, 'return {"Labels": 3}', "Mapping[str, DataFrame], found {'Labels': 3}"),
    "a role without its column": (
        '"label": "label", "outcome"',
        '"label": "class", "outcome"',
        "the label of roles to be a column of rows, found 'class'; rows has id, label, outcome, ",
    ),
    "points that are no numbers": ("(1 - self.statistics[:, 0]) / len(right)", "'many'", "finite numbers"),
    "a notice alone": (
        TABLES,
        "    notices = 'all is well'\n" + TABLES,
        "notices to be Sequence[str], found 'all is well': Expected `array`, got `str`",
    ),
    "a mistake without a kind": (
        TABLES,
        "    mistakes = ['all is lost']\n" + TABLES,
        "Sequence[tuple[str, str]], found ['all is lost']",
    ),
    "fewer losses than rows": (TABLES, LOSSES + TABLES, "5 losses, as rows has, found 1"),
    "forecasts without their columns": (TABLES, FORECASTS + TABLES, "probability, happened, found p"),
}


@pytest.mark.parametrize(("old", "new", "message"), COMPANION_SLIPS.values(), ids=COMPANION_SLIPS.keys())
def test_a_slip_of_a_companion_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in fault_of_companion(tmp_path, old, new)


def fault_of_companion(folder: Path, old: str, new: str) -> str:
    """Write a metric whose companion has a slip, and return what is said of it."""
    metric_with(folder)
    text = (TEMPLATE / "companion.py").read_text(encoding="utf-8")
    assert old in text
    (folder / "companion.py").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(CompanionError) as caught:
        repr(podium.score(SOLUTION, SUBMISSION, metric=folder))
    assert "companion.py" in str(caught.value)
    return str(caught.value)


def test_a_submission_that_a_companion_makes_is_a_table() -> None:
    assert shapes.made_submission("sample_submission", SUBMISSION) is SUBMISSION
    with pytest.raises(CompanionError, match=r"sample_submission\(\): expected a table, found NoneType$"):
        shapes.made_submission("sample_submission", None)


@pytest.mark.parametrize("slip", ["no companion", "a notice alone"])
def test_commands_name_the_slip_of_a_companion(
    tmp_path: Path, monkeypatch: Any, capsys: Any, slip: str
) -> None:
    """Also one that is only found when the score is explained; ``podium check`` finds it beforehand."""
    fault = fault_of_companion(tmp_path, *COMPANION_SLIPS[slip][:2])
    host_line.stay_in_process(monkeypatch, tmp_path)
    assert cli.main(["check", str(tmp_path), *SAMPLES]) == 4
    told = capsys.readouterr()
    assert f"FAIL  has a companion that explains the score: {fault}\n" in told.out
    assert " fails 1 of " in told.err
    assert cli.main(["score", "--metric", str(tmp_path), *SAMPLES]) == 4
    assert capsys.readouterr() == ("", f"error: {fault}\n")


def test_what_can_be_gained_are_the_losses_by_label(tmp_path: Path) -> None:
    """Unless a companion computes it itself."""
    metric_with(tmp_path)
    text = (TEMPLATE / "companion.py").read_text(encoding="utf-8")
    losses = "    @property\n    def losses(self):\n        return self.rows[['points_lost']]\n\n"
    (tmp_path / "companion.py").write_text(text.replace(TABLES, losses + TABLES), encoding="utf-8")
    gains = podium.score(SOLUTION, SUBMISSION, metric=tmp_path).explanation.gains["points_lost"]
    by_label = SOLUTION["label"][SOLUTION["label"] != SUBMISSION["label"]].value_counts() / len(SOLUTION)
    assert list(gains.index) == ["(all)", *SOLUTION["label"].unique()]
    assert gains["(all)"] == pytest.approx(0.4)
    assert gains[by_label.index].to_dict() == pytest.approx(by_label.to_dict())


def test_a_relative_folder_has_its_lines_told_too(tmp_path: Path, monkeypatch: Any) -> None:
    metric_with(tmp_path, ("    items = sorted(ids)", "    1 / 0\n    items = sorted(ids)"))
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(HostError, match=r"ZeroDivisionError: division by zero \(metric\.py, line \d+: 1 / 0\)"):
        podium.score(SOLUTION, SUBMISSION, metric=Path(tmp_path.name))


def test_a_folder_without_a_metric_and_a_name_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a folder with a metric\.py, found none in it"):
        hosted.load(tmp_path)
    with pytest.raises(UsageError, match="there is no metric nobody: expected a Python file, a folder"):
        hosted.load("nobody")


@pytest.mark.parametrize("answer", ["weight (g)", 'a "b"', "label"])
def test_a_new_metric_with_the_columns_of_a_host(
    answer: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    """Its samples have rows from all over the table, and it passes as it is."""
    host_line.stay_in_process(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"photo": [f"p{n}" for n in range(200)], "site": "a", answer: np.arange(200) / 8})
    table.to_csv("labels.csv", index=False)
    assert cli.main(["new", "own", "--labels", "labels.csv"]) == 0
    solution, submission = (
        pd.read_csv(tmp_path / "own" / "samples" / f"{each}.csv") for each in ("solution", "submission")
    )
    assert list(solution) == ["photo", "site", answer, "Usage"]
    assert list(submission) == ["photo", answer]
    assert (solution["photo"].iloc[-1], len(solution)) == ("p199", 30)
    capsys.readouterr()
    assert cli.main(["check", "own"]) == 0
    assert "fail" not in capsys.readouterr().out


def test_labels_without_answers_make_no_new_metric(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.csv").write_text("id\na\nb\n")
    assert cli.main(["new", "own", "--labels", "labels.csv"]) == 4
    assert "expected ids in the first column, answers in the last one" in capsys.readouterr().err
    assert not (tmp_path / "own").exists()


@pytest.fixture
def new(tmp_path: Path, monkeypatch: Any) -> Path:
    """The folder that `podium new sixth --statistics` writes."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "sixth", "--statistics"]) == 0
    return tmp_path / "sixth"


@pytest.mark.slow
def test_a_new_metric_passes_its_own_test(new: Path) -> None:
    """In a process of its own: pytest within pytest leaves its paths and modules behind."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(new)]
    done = subprocess.run(command, cwd=new, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_a_new_metric_passes_podium_check(new: Path, capsys: Any, monkeypatch: Any) -> None:
    host_line.stay_in_process(monkeypatch, new.parent)
    assert cli.main(["check", "sixth"]) == 0
    out = capsys.readouterr().out
    scores, verdicts = out.splitlines()[:3], out.splitlines()[3:]
    checks = shapes.STATISTICS, shapes.AGAIN, shapes.COLUMNS, shapes.DIRECTION, shapes.COMPANION
    assert {f"pass  {name}" for name in checks} <= {*verdicts}
    assert [line.split()[0] for line in scores] == ["Score", "Public", "Private"]
    assert {line[:4] for line in verdicts} == {"pass"}


LINKS = {  # what CONTRIBUTING tells to link, and where
    "README.md": ("\nEach has a folder in", "| `ninth` | rows | [ninth](metrics/ninth/README.md) |\n"),
    "docs/index.md": ("\n**Reference**", "- [Ninth](../metrics/ninth/README.md)\n"),
    "mkdocs.yml": ("  - Reference:\n", "      - metrics/ninth.md\n"),
}


@pytest.mark.slow
def test_the_steps_of_contributing_add_a_metric(tmp_path: Path) -> None:
    """Whoever adds a metric to the repository begins with checks and tests that pass."""
    pytest.importorskip("pytest_cov")
    root = tmp_path / "clone"
    shutil.copytree(
        TEMPLATE.parents[2], root, ignore=shutil.ignore_patterns(".*", "__pycache__", "site", "dist")
    )

    def run(*command: str, folder: Path = root) -> str:
        environment = os.environ | {"PYTHONPATH": str(root), "NO_MKDOCS_2_WARNING": "1"}
        called = [sys.executable, "-m", *command]
        done = subprocess.run(called, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("podium", "new", "ninth", "--statistics", folder=root / "metrics")
    for name in ("metric.py", "companion.py"):
        text = (TEMPLATE / name).read_text(encoding="utf-8").replace("my_metric", "ninth")
        (root / "metrics" / "ninth" / name).write_text(text, encoding="utf-8")
    test = (root / "metrics" / "ninth" / "test_metric.py").rename(root / "tests" / "hosted" / "test_ninth.py")
    text = test.read_text(encoding="utf-8").replace("Path(__file__).parent", 'hosted.folder("ninth")')
    test.write_text(
        text.replace("import podium\n", "import podium\nfrom podium.metric import hosted\n"), encoding="utf-8"
    )
    for name, (before, line) in LINKS.items():
        page = (root / name).read_text(encoding="utf-8")
        (root / name).write_text(page.replace(before, line + before, 1), encoding="utf-8")
    assert "FAIL" not in run("podium", "check", "metrics/ninth")
    tests = ["pytest", "-q", "-p", "no:xdist", "-o", "addopts=", "-m", "not slow", "--hypothesis-profile=all"]
    told = run(*tests, "tests/hosted", "-k", "ninth or shared", "--cov", "--cov-report=term-missing")
    assert re.search(r"metrics/ninth/metric.py .* 100%", told)
    of_rooms = ["tests/test_any_metric.py", "tests/docs/test_outputs.py", "tests/report/test_page.py"]
    assert " passed" in run(*tests, *of_rooms)
    (root / "docs" / "index.md").write_text(
        (TEMPLATE.parents[2] / "docs" / "index.md").read_text("utf-8"), "utf-8"
    )
    with pytest.raises(AssertionError, match="lacks the link"):
        run(*tests, "tests/docs/test_outputs.py", "-k", "linked")
    if importlib.util.find_spec("mkdocs"):
        run("mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site"))


def test_the_shortest_new_metric(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    host_line.stay_in_process(monkeypatch, tmp_path)
    assert cli.main(["new", "seventh"]) == 0
    written = sorted(path.name for path in Path("seventh").rglob("*.*"))
    assert written == ["metric.py", "solution.csv", "submission.csv"]
    assert len(Path("seventh/metric.py").read_text().splitlines()) < 25
    assert cli.main(["check", "seventh"]) == 0
    samples = [f"seventh/samples/{name}.csv" for name in ("solution", "submission")]
    assert cli.main(["score", *samples, "--metric", "seventh"]) == 0
    assert "Score    0.600000\n" in capsys.readouterr().out


def test_a_sixth_metric_is_scored_explained_ranked_and_verified(
    new: Path, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    host_line.stay_in_process(monkeypatch, tmp_path)
    solution, submission = (str(new / "samples" / f"{name}.csv") for name in ("solution", "submission"))
    metric = ["--metric", "sixth"]
    assert cli.main(["score", solution, submission, *metric, "--bootstrap", "50", "--rows", "rows.csv"]) == 0
    out = capsys.readouterr().out
    assert "Score    0.600000\n" in out
    assert "\n95% intervals (50 resamples, seed 0)\n" in out
    assert pd.read_csv("rows.csv")["outcome"].tolist() == ["correct", "wrong", "correct", "correct", "wrong"]
    teams = tmp_path / "teams"
    teams.mkdir()
    SUBMISSION.to_csv(teams / "Ada.csv", index=False)
    SOLUTION.drop(columns="Usage").to_csv(teams / "Bo.csv", index=False)
    rank = ["rank", solution, str(teams), *metric, "--no-boost", "--resamples", "50", "--jobs", "1"]
    assert cli.main([*rank, "--out", "final"]) == 0
    board = pd.read_csv(tmp_path / "final" / "final_leaderboard.csv")
    assert board["team"].tolist() == ["Bo", "Ada"]
    new.rename(tmp_path / "elsewhere")  # a jury has the metric in another place
    verify = ["verify", "final", "--jobs", "1", "--solution", "elsewhere/samples/solution.csv"]
    assert cli.main(verify) == 2
    assert cli.main([*verify, "--metric", "elsewhere"]) == 0
    with (tmp_path / "elsewhere" / "metric.py").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert cli.main([*verify, "--metric", "elsewhere"]) == 1
    assert "the metric elsewhere has changed since the earlier run" in capsys.readouterr().err


def test_the_files_of_a_competition_are_made_for_a_new_metric(new: Path, capsys: Any, monkeypatch: Any) -> None:
    """The first column of the labels, which names the rows, may have another name than in the template."""
    host_line.stay_in_process(monkeypatch, new.parent)
    labels = pd.DataFrame({"pupil": [f"a{number}" for number in range(40)], "label": ["cat", "dog"] * 20})
    labels["group"] = "north"
    labels.to_csv("labels.csv", index=False)
    assert cli.main(["make", "labels.csv", "--metric", "sixth", "--out", "files"]) == 0
    told = capsys.readouterr()
    assert "| private/perfect_submission.csv | 1.000000 | 1.000000 |\n" in told.out
    assert told.err == ""
    assert set(pd.read_csv("files/private/solution.csv")["Usage"]) == {"Public", "Private"}
    assert set(pd.read_csv("files/public/sample_submission.csv")["label"]) == {"cat"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my metric", "expected a name of letters, digits and underscores, found 'my metric'"),
        ("unified", "unified is a built-in metric: expected another name"),
        ("sixth", "cannot write sixth: expected a new or empty folder"),
    ],
)
def test_names_that_cannot_be(new: Path, capsys: Any, name: str, message: str) -> None:
    assert cli.main(["new", name]) == 2
    assert message in capsys.readouterr().err


ALONE = """import pandas as pd

class ParticipantVisibleError(Exception):
    pass

def score(solution, submission, row_id_column_name, power: int = 1) -> float:
"""


def alone(folder: Path, *lines: str) -> Path:
    """Write a metric without statistics, from the lines of its score()."""
    path = folder / "alone.py"
    path.write_text(ALONE + "".join(f"    {line}\n" for line in lines))
    return path


def test_a_metric_may_refuse_further_columns(tmp_path: Path) -> None:
    refusal = "raise ParticipantVisibleError('expected two columns')"
    metric = alone(tmp_path, f"if len(submission.columns) > 2: {refusal}", "return 0.5")
    solution = SOLUTION.drop(columns="Usage").assign(weight=1.0)
    assert podium.score(solution, SUBMISSION, metric=metric).score == 0.5


@pytest.mark.parametrize("direction", ["", "def higher_is_better() -> bool:\n    return False\n"])
def test_a_truth_that_scores_worse_is_a_warning(tmp_path: Path, direction: str) -> None:
    metric = alone(tmp_path, "return float((solution.label != submission.label).mean())")
    metric.write_text(metric.read_text() + direction)
    warned = nullcontext() if direction else pytest.warns(ContractWarning, match="which counts as better")
    with warned:
        assert podium.score(SOLUTION, SUBMISSION, metric=metric).score == 0.4


def test_a_metric_is_held_to_the_whole_contract_once(tmp_path: Path, monkeypatch: Any) -> None:
    held = []
    monkeypatch.setattr(verdicts, "verdict", lambda _, use: held.append(use) or [])
    solution = podium.prepare(SOLUTION, metric=metric_with(tmp_path))
    scores = {podium.score(each, SUBMISSION).score for each in (solution, solution)}
    assert (scores, held) == ({0.6}, [verdicts.Use.SCORE, verdicts.Use.EACH])


def test_a_metric_that_cannot_be_loaded_is_named_as_it_was_typed(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text("def score(\n")
    with pytest.raises(HostError, match=r"^broken\.py cannot be loaded: SyntaxError: "):
        hosted.load("broken.py")


@pytest.mark.parametrize(
    ("beside", "cure"),
    [
        ("helper.py", "alone.py is uploaded alone: copy into it what it needs of helper"),
        ("helper/__init__.py", "alone.py is uploaded alone: copy into it what it needs of helper"),
        ("help.py", "Install it where podium is installed"),
    ],
)
def test_a_file_beside_the_metric_cannot_be_imported(tmp_path: Path, beside: str, cure: str) -> None:
    """Nothing but the one file reaches the platform, so installing would be the wrong advice."""
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).write_text("K = 2\n")
    (tmp_path / "alone.py").write_text("from helper import K\n\ndef score(): return K\n")
    with pytest.raises(HostError, match=rf"No module named 'helper' .*\. {re.escape(cure)}$"):
        hosted.load(tmp_path / "alone.py")


def test_a_companion_may_number_the_items(tmp_path: Path) -> None:
    """Its rows are explained, although the metric's items are texts."""
    metric_with(tmp_path)
    text = (TEMPLATE / "companion.py").read_text(encoding="utf-8")
    numbered = text.replace('"id": self.prepared.items', '"id": [int(item) for item in self.prepared.items]')
    assert numbered != text
    (tmp_path / "companion.py").write_text(numbered, encoding="utf-8")
    tables = {"solution": SOLUTION, "submission": SUBMISSION}
    numbers = {name: table.assign(id=range(10, 15)) for name, table in tables.items()}
    for name, table in numbers.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    evaluation = podium.score(*numbers.values(), metric=tmp_path)
    assert explain.rows(evaluation)["group"].tolist() == SOLUTION["group"].tolist()
    assert explain.points_by_item(evaluation).sum() == pytest.approx(0.4)
    files = [str(tmp_path / f"{name}.csv") for name in numbers]
    assert cli.main(["score", *files, "--metric", str(tmp_path), "--report", str(tmp_path / "page.html")]) == 0
