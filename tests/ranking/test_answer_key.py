"""The items stand first on which the best files give the same other answer than the solution."""

import numpy as np
import pandas as pd
import pytest

from examples.board import submission_of, teams
from examples.essays import make_competition
from podium.metric import hosted
from podium.ranking import answer_key, store
from podium.scoring import answers, evaluating
from podium.scoring.answers import Answers

ITEMS, FILES, WRONG = 800, 10, 12


def classes(seed, wrong, number=4, hard_error=0.5):
    """A key with wrong labels, the items that have one, and the answers of files with independent mistakes."""
    random = np.random.default_rng([seed, wrong])
    truth, is_hard = random.integers(number, size=ITEMS), random.random(ITEMS) < 0.12
    easy = np.linspace(0.01, 0.1, FILES)[:, np.newaxis]
    is_mistake = random.random((FILES, ITEMS)) < np.where(is_hard, hard_error, easy)
    given = (truth + is_mistake * random.integers(1, number, size=(FILES, ITEMS))) % number
    flipped = random.permutation(ITEMS) < wrong
    key = (truth + flipped * random.integers(1, number, size=ITEMS)) % number
    asked = pd.DataFrame({"item": range(ITEMS), "row": "", "label": key.astype(str)})
    nothing, everywhere = np.full(ITEMS, np.nan), np.ones(ITEMS, dtype=bool)
    return flipped, asked, [Answers(("label",), each, nothing, everywhere) for each in given]


def test_wrong_labels_of_classes_stand_first():
    found = []
    for seed in range(10):
        flipped, things, files = classes(seed, WRONG)
        table = answer_key.compared(things, files, ITEMS)
        order = table.sort_values(["same", "contradict"], ascending=False, kind="stable").index
        found.append(flipped[order[:WRONG]].sum() / flipped.sum())
        assert (table["answered"] == FILES).all()
    assert np.mean(found) > 0.9


def test_what_files_say_otherwise_is_counted():
    things = pd.DataFrame({"item": [0, 0, 1], "row": ["r", "s", "t"], "label": ["a", "b", "a"]})
    labels = np.array([[1, 1, -1], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    probabilities = np.array([[0.1, 0.2, np.nan], [0.3, 0.9, np.nan], [0.4, 0.5, np.nan], [0.4, 0.4, 0.1]])
    said = np.array([[True, True, False], *[[True, True, True]] * 3])
    files = [Answers((), *each) for each in zip(labels, probabilities, said)]
    table = answer_key.compared(things, files, 3)
    assert table["answered"].tolist() == [4, 3, 0]
    assert table["same"].tolist()[:2] == [(3 + 1) / 2, 0]
    assert table["against"].tolist()[:2] == [(4 + 2) / 2, 1]
    assert table["contradict"].tolist()[:2] == [(4 + 3) / 2, 2]
    assert table["same"].isna().tolist() == [False, False, True]  # nothing is asked of the third item
    assert table[["row", "label", "answer"]].values.tolist() == [["r", "a", "b"], ["t", "a", ""], ["", "", ""]]
    without = [each._replace(probabilities=np.full(3, np.nan)) for each in files]
    assert "against" not in answer_key.compared(things, without, 3)


def test_of_equal_files_and_near_copies_the_best_one_is_compared():
    board = pd.DataFrame({"team": [*"ABCDE"], "score": [0.9, 0.8, 0.8, 0.7, 0.6]})
    similar = pd.DataFrame(
        [("A", "B", 1.0), ("C", "D", 0.5), ("C", "E", 0.49)], columns=["team", "other_team", "agreement"]
    )
    assert answer_key.best_rows(board, [0, 0, 1, 2, 3], similar, higher_is_better=True) == [0, 2, 4]
    assert answer_key.best_rows(board, [0, 0, 1, 2, 3], similar, higher_is_better=False) == [4, 3, 1]
    many = pd.DataFrame({"team": range(20), "score": 0.5})
    assert len(answer_key.best_rows(many, range(20), similar.head(0), higher_is_better=True)) == 10


def test_the_sentence_counts_items_on_which_most_answers_are_the_same_other_ones():
    items = pd.DataFrame({"item": [*"abc"], "same": [8, 5, 1], "against": [0, 6, 5]})
    told = answer_key.sentence(items, 10, "essay")
    assert told == (
        "items.csv has the essays to look at before the prize: on the first 2 of 3, most answers of the 10 "
        "best files agree with each other and not with the solution."
    )
    assert "on none of 3, most answers" in answer_key.sentence(items, 20, "essay")
    assert answer_key.sentence(items, 4, "essay") == ""  # too few files


@pytest.mark.parametrize("change", ["types", "effectiveness"])
def test_essays_whose_labels_are_exchanged_stand_first(change):
    solution, model = make_competition(300, 7)
    unified = hosted.load("unified")
    files = [submission_of(model, *team[1:3], seed) for seed, team in enumerate(teams()[:FILES])]
    wrong = sorted(solution.loc[solution["Usage"] == "Private", "essay_id"].unique())[::12]
    rows = solution["essay_id"].isin(wrong)
    names = [*unified.module.DISCOURSE_TYPES]
    if change == "types":
        others = dict(zip(names, names[1:] + names[:1]))
        solution.loc[rows, "discourse_type"] = solution.loc[rows, "discourse_type"].map(others)
    else:
        solution.loc[rows, "discourse_effectiveness"] = 1 - solution.loc[rows, "discourse_effectiveness"]
    prepared = evaluating.prepare(unified, solution, {})
    evaluations = [evaluating.evaluate(prepared, each) for each in files]
    given = [answers.given_by(each) for each in evaluations]
    entries = [
        store.encode({"answered": said.columns}, each.statistics, answers.pack(said))
        for each, said in zip(evaluations, given)
    ]
    table, number = answer_key.of_best(prepared, entries)
    assert number == FILES
    assert len(wrong) >= 10
    assert len({*table["item"].head(len(wrong))} & {*wrong}) >= len(wrong) - 2
    again = answers.unpack(answers.pack(given[0]), ())
    assert again.codes.tolist() == given[0].codes.tolist()
    np.testing.assert_allclose(again.probabilities, given[0].probabilities, atol=0.01)
    assert ((again.probabilities < 0.5) == (given[0].probabilities < 0.5)).all()


def test_scifact_s_labels_of_abstracts_are_answers():
    scifact = hosted.load("scifact")
    samples = hosted.folder("scifact") / "samples"
    companion = scifact.companion
    solution = evaluating.prepare(scifact, companion.read_solution(samples / "claims.jsonl"), {})
    given = answers.given_by(
        evaluating.evaluate(solution, companion.read_submission(samples / "predictions.jsonl"))
    )
    asked = answers.asked(solution, ())
    labels = [*sorted(asked["label"].unique()), ""]
    first = asked["item"] == solution.prepared["All"].items.index("52")
    assert asked[first][["row", "label"]].values.tolist() == [["11", "SUPPORT"], ["15", "SUPPORT"]]
    assert [labels[code] for code in given.codes[first]] == ["SUPPORT", ""]
    assert given.is_answered[first].tolist() == [True, True]
    nothing = solution.frame.assign(evidence="{}")
    without = evaluating.prepare(scifact, nothing, {})
    none = answers.given_by(evaluating.evaluate(without, companion.sample_submission(nothing)))
    table = answer_key.compared(answers.asked(without, ()), [none] * FILES, len(nothing))
    assert table["same"].isna().all()
    entry = store.encode({"answered": none.columns}, None, answers.pack(none))
    assert len(answer_key.of_best(without, [entry] * FILES)[0]) == len(nothing)


def test_a_sub_population_may_have_the_name_of_a_column(tmp_path):
    solution, model = make_competition(60, 7)
    unified = hosted.load("unified")
    named = solution.rename(columns={"ell_status": "label"})
    prepared = evaluating.prepare(unified, named, {"subpopulation_column_names": "label"})
    evaluation = evaluating.evaluate(prepared, model)
    given = answers.given_by(evaluation)
    entry = store.encode({"answered": given.columns}, evaluation.statistics, answers.pack(given))
    table, _ = answer_key.of_best(prepared, [entry])
    assert {*table["label of item"]} == {"Yes", "No", "(missing)"}
    assert {*table["label"]} <= {*unified.module.DISCOURSE_TYPES}


SQUARES = """
import numpy as np

class Prepared:
    def __init__(self, solution):
        self.solution, self.items = solution, solution["id"].astype(str).tolist()
        self.item_of_row = np.arange(len(solution))

    def statistics(self, submission):
        return ((self.solution["y"].to_numpy() - submission["y"].to_numpy()) ** 2)[:, np.newaxis]

    def measures(self, sums):
        return np.asarray(sums)[..., 0, :]

def prepare(solution, row_id_column_name):
    return Prepared(solution)

def score(solution, submission, row_id_column_name):
    return float(((solution["y"] - submission["y"]) ** 2).sum())

def higher_is_better():
    return False
"""


def test_numbers_are_sorted_by_how_near_the_best_file_is(tmp_path):
    (tmp_path / "squares.py").write_text(SQUARES)
    solution = pd.DataFrame({"id": [*"abcd"], "y": [0.0, 0.0, 0.0, 0.0]})
    prepared = evaluating.prepare(hosted.load(tmp_path / "squares.py"), solution, {})
    files = [solution.assign(y=y) for y in ([0, 9, 1, 2], [0, 0, 2, 2])]
    evaluations = [evaluating.evaluate(prepared, file) for file in files]
    assert [answers.given_by(each) for each in evaluations] == [None, None]
    entries = [store.encode({}, each.statistics) for each in evaluations]
    table, number = answer_key.of_best(prepared, entries)
    assert number == 0
    assert table["item"].tolist() == [*"dcba"]  # some file is right about the item with the largest mean
    assert table["best"].tolist() == [4, 1, 0, 0]
    assert table["mean"].tolist() == [4, 2.5, 40.5, 0]


# ---- Cells --------------------------------------------------------------------------------------------------

TRUTH = pd.DataFrame({"id": range(12), "label": [0, 1, 1] * 4, "site": [*"aabb"] * 3})


def of_cells(submission, truth=TRUTH, complete=False, tmp_path=None):
    """What is told of a submission to a metric with score() alone, by the names of the labels."""
    file = tmp_path / "m.py"
    file.write_text(
        f"COMPLETE_SUBMISSION = {complete}\n"
        "def score(solution, submission, row_id_column_name):\n    return 0.5\n"
    )
    solution = evaluating.prepare(hosted.load(str(file)), truth, {})
    given = answers.given_by(evaluating.evaluate(solution, submission))
    if given is None:
        return None
    labels = [*sorted(answers.asked(solution, given.columns)["label"].unique()), ""]
    return given.columns, [labels[code] for code in given.codes]


def test_cells_name_labels(tmp_path):
    said = ["1", "0", "1"] * 4
    backwards = pd.DataFrame({"id": range(11, -1, -1), "label": [1, 0, 1] * 4})
    assert of_cells(backwards, tmp_path=tmp_path) == (("label",), said)
    copied = backwards.assign(site=TRUTH["site"].tolist()[::-1])
    assert of_cells(copied, tmp_path=tmp_path) == (("label",), said)
    other_name = backwards.rename(columns={"label": "prediction"})
    assert of_cells(other_name, TRUTH[["id", "label"]], tmp_path=tmp_path) == (("label",), said)
    numbers = pd.DataFrame({"id": range(12), "label": [-3.5, -7, -2] * 4})  # the eight largest are 1
    assert of_cells(numbers, tmp_path=tmp_path) == (("label",), said)
    assert of_cells(numbers.assign(label=-numbers["label"]), tmp_path=tmp_path) == (
        ("label",),
        ["1", "1", "0"] * 4,
    )
    for kind in (float, bool):
        truth = TRUTH.assign(label=TRUTH["label"].astype(kind))
        labels = {"0": str(kind(0)), "1": str(kind(1))} if kind is bool else {"0": "0", "1": "1"}
        assert of_cells(numbers, truth, tmp_path=tmp_path) == (("label",), [labels[each] for each in said])
    of_class = pd.DataFrame({"id": range(12), "0": [0.4, 0.7, 0.1] * 4, "1": [0.6, 0.3, 0.9] * 4})
    assert of_cells(of_class, tmp_path=tmp_path) == (("label",), said)
    assert of_cells(copied.iloc[1:], complete=True, tmp_path=tmp_path)[0] == ("label",)
    two = backwards.assign(site="a")
    assert of_cells(two, tmp_path=tmp_path)[0] == ("label", "site")


def test_what_names_no_label_is_not_compared(tmp_path):
    numbers = TRUTH.assign(label=np.arange(12) / 3)
    for truth, submission, complete in (
        (numbers[["id", "label"]], numbers[["id", "label"]], False),
        (TRUTH, TRUTH[["id", "label"]].assign(label="free text"), False),
        (TRUTH.assign(id=0), TRUTH[["id", "label"]], True),  # several rows belong to an id
        (TRUTH, pd.DataFrame({"image": ["a"], "box": ["1 2 3 4"]}), True),
    ):
        assert of_cells(submission, truth, complete, tmp_path) is None
