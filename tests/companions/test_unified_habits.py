"""Each habit of a model is reported from the number of cases on from which it should be."""

import contextlib
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import podium
from examples.essays import SOLUTION_SAMPLE as SOLUTION
from examples.essays import SUBMISSION_SAMPLE as SUBMISSION
from podium.common.errors import SubmissionRejected
from podium.contest import pipeline
from podium.metric import hosted

D = ["score_discourse_effectiveness_0", "score_discourse_effectiveness_1"]

habits = hosted.module("unified", "habits")


def segments(first, last, d1):
    """Segments in the form in which the habits look at them."""
    first = np.asarray(first)
    return SimpleNamespace(row=np.arange(len(first)), first=first, last=np.asarray(last), d1=np.asarray(d1))


@pytest.mark.parametrize(
    ("errors", "noticed"), [(1.0, False), (1.5, False), (1.9, False), (2.1, True), (8, True)]
)
def test_worse_than_a_coin_is_two_standard_errors_below_one_half(errors, noticed):
    spread = np.resize([-0.1, 0.1], 400)
    mean = 0.5 - errors * 0.1 / math.sqrt(400)
    matches = segments(np.zeros(400), np.ones(400), mean + spread)
    assert bool(habits.of_probabilities(matches, mean + spread)) == noticed


@pytest.mark.parametrize(
    ("share", "kinds"),
    [(0.6, ["probabilities of the chosen label"]), (0.75, []), (0.3, ["probabilities of the chosen label"])],
)
def test_scores_of_the_chosen_label_are_no_swapped_columns(share, kinds):
    """All are at least 0.5, and 0.75 on average, which can be right if so many segments are effective."""
    d1 = np.tile([0.6, 0.9], 200)
    is_effective = np.arange(400) // 2 % 100 < 100 * share
    matches = segments(np.zeros(400), np.ones(400), d1)
    mistakes = habits.of_probabilities(matches, np.where(is_effective, d1, 1 - d1))
    assert [kind for kind, _ in mistakes] == kinds
    assert all("no segment has a probability below 0.5" in sentence for _, sentence in mistakes)


@pytest.mark.parametrize(("off", "right", "noticed"), [(40, 40, False), (60, 20, True), (24, 12, False)])
@pytest.mark.parametrize(
    ("shift", "ends", "cure"),
    [
        (1, "starts and ends", "count positions from 0"),
        (-1, "starts and ends", "add 1 to all positions"),
        (1, "starts", "add the first word of each segment, which the predictions lack"),
        (-1, "starts", "leave out the word before each segment"),
        (1, "ends", "leave out the last word of each segment"),
        (-1, "ends", "add the word behind each segment, which range(first, last) leaves out"),
    ],
)
def test_one_word_off_is_noticed(shift, ends, cure, off, right, noticed):
    shifts = np.concatenate([np.full(off, shift), np.zeros(right, dtype=int)])
    number = len(shifts)
    truths = segments(np.full(number, 5), np.full(number, 9), np.linspace(0, 1, number))
    first, last = (
        truth + shifts * (end in ends) for truth, end in ((truths.first, "starts"), (truths.last, "ends"))
    )
    notices = [sentence for _, sentence in habits.of_shifts(segments(first, last, truths.d1), truths)]
    times = 2 if ends == "starts and ends" else 1
    way = "late" if shift > 0 else "early"
    told = (
        f"{cure}: among the {ends} of matches, {times * off} are one word {way} and {times * right} are right"
    )
    assert notices == ([told] if noticed else [])


@pytest.mark.parametrize(("weight", "most"), [(0.5, "0.857"), (1.0, "1.000"), (0.0, "0.667")])
def test_the_limit_of_one_probability_follows_the_weight(weight, most):
    prepared = SimpleNamespace(segment_weight=weight)
    (notice,) = habits.of_one_probability(prepared, 0.5)
    assert notice.endswith(f"even a perfect segmentation scores {most} at most")


@pytest.mark.parametrize(
    ("given", "right", "spellings"),
    [
        (["a1"], ["A1"], ("a1", "A1")),
        (["x", " B2 "], ["A1", "B2"], (" B2 ", "B2")),
        (["98235.0"], ["98235"], ("98235.0", "98235")),
        (["7"], ["007"], ("7", "007")),
        (["essay_1.txt"], ["essay-1"], ("essay_1.txt", "essay-1")),
        (["C3"], ["A1"], None),
        ([], ["A1"], None),
    ],
)
def test_other_spellings(given, right, spellings):
    assert habits._other_spelling(given, right) == spellings


# --- what newcomers write ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fold():
    """The sample's solution, prepared once."""
    return podium.prepare(pd.read_csv(SOLUTION))


def of_words(write):
    """A change of every predictionstring, by a function of its first and its last position."""

    def change(frame):
        words = frame["predictionstring"].str.split()
        return frame.assign(predictionstring=[write(int(each[0]), int(each[-1])) for each in words])

    return change


def a_range(first, last):
    """The positions from the first to the last one, as a predictionstring."""
    return " ".join(map(str, range(first, last + 1)))


def of_cells(write, *columns):
    """A change of the cells of some columns."""
    return lambda frame: frame.assign(**{name: frame[name].map(write) for name in columns})


@pytest.mark.parametrize("column", ["essay_id", "discourse_type", "predictionstring"])
def test_a_rejection_lists_no_column_that_the_file_does_not_have(column):
    """Podium numbers the rows of a file without ids, but only to score it."""
    given = pd.read_csv(SUBMISSION).drop(columns=["row_id", column])
    with pytest.raises(SubmissionRejected) as caught:
        podium.score(pd.read_csv(SOLUTION), given)
    assert "row_id" not in str(caught.value).partition("It has")[2]


MISTAKES = {
    "spaces in headers": (lambda frame: frame.rename(columns=" {} ".format), "rename 5 columns: ' essay_id '"),
    "upper case": (lambda frame: frame.rename(columns=str.upper), "rename 5 columns: 'ESSAY_ID' to 'essay_id'"),
    "first and last": (of_words("{} {}".format), "list all positions, not only the first and the last, in "),
    "lists": (of_words(lambda a, b: list(range(a, b + 1))), "leave out brackets and quotes in predictions"),
    "lower case": (of_cells(str.lower, "discourse_type"), "write 'Lead' in discourse_type, found 'lead'. The "),
    "numbers": (of_cells("{} 1".format, "discourse_type"), "write 'Lead' in discourse_type, found 'Lead 1'"),
    "paths": (of_cells("../test/{}.txt".format, "essay_id"), "spell essay_id as the solution does"),
    "a spreadsheet": (
        lambda frame: frame.assign(essay_id="1.5E+11"),
        "format essay_id as text in the spreadsheet, which has rewritten it, such as '1.5E+11'. The metric ",
    ),
    "percent": (of_cells(lambda d: d * 100, *D), "divide the two probabilities by 100, because "),
    "percent signs": (of_cells(lambda d: f"{100 * d:.1f}%", *D), "write shares of 1 instead of percentages"),
    "decimal commas": (
        of_cells(lambda d: str(d).replace(".", ","), *D),
        "write decimals with a point instead of a comma, found '0,5898'. The metric says: ",
    ),
    "logits": (of_cells(lambda d: 6 * d - 3, *D), "give probabilities, such as the softmax of logits"),
    "one column": (lambda frame: frame.drop(columns=D[0]), f"add the column {D[0]}, which is 1 minus {D[1]}"),
    "no column": (
        lambda frame: frame.drop(columns=D),
        f"add the columns {D[0]} and {D[1]}; 0.5 in both scores the segmentation",
    ),
    "no names": (
        lambda frame: frame.set_axis(frame.iloc[0].astype(str), axis=1).iloc[1:],
        "begin the file with a line of column names: essay_id, discourse_type, predictionstring, score_",
    ),
    "a type for no type": (
        lambda frame: frame.assign(discourse_type=frame["discourse_type"].mask(frame.index == 3, "O")),
        "leave out the rows of type 'O', which stands for words outside of all segments. The metric says: ",
    ),
    "names twice": (
        lambda frame: pd.concat([frame, pd.DataFrame([dict(zip(frame, frame))]), frame]),
        "leave out the line of column names that is repeated in row number 323. The metric says: disc",
    ),
}
CELLS = {
    "leave out -1, which marks a token that is not a word,": ["3 4 5 -1 6", "-1 3 4", "-1"],
    "join all positions, which numpy has shortened and lost,": ["[ 0  1  2 ... 39 40 41]"],
    "list every position instead of a range": ["3-7", "3 - 7", "3–7", "3:7", "3..7", "3…7", "range(0, 42)"],
    "leave out brackets and quotes": ["[3 4 5]", "[3, 4]", "(3, 4)", "{3}", "'3 4 5'", '"3 4 5"', "['3', '4']"],
    "separate positions by single spaces, not by commas": ["3;4;5", "3,4,5", "3, 4, 5", "3|4"],
    "write whole numbers, without a decimal point": ["3.0", "3.0 4.0"],
    "separate positions by single spaces, with none at the ends": ["3  4", " 3 4", "3 4 ", "3\t\t4"],
    "write positions of words, not the words themselves,": ["the dog", "don't do it", "Lead 3"],
    "leave out rows with nothing": ["", "  ", "NaN", "None"],
    "leave out zeros in front of numbers": ["000 001", "3 04"],
    "separate positions by single spaces, not by tabs or line ends": ["3\t4\t5", "3\n4"],
    "list all positions, not only the first and the last,": ["3 7"],
    "put the positions into ascending order": ["7 6 5"],
    "list every position once": ["5 5 6"],
    "fill the gaps, or write one row for each stretch without a gap,": ["4 6 7", "5 6 8"],
}


@pytest.mark.parametrize(("cure", "cell"), [(cure, cell) for cure, cells in CELLS.items() for cell in cells])
def test_a_wrong_predictionstring_gets_its_own_cure(fold, cure, cell):
    frame = pd.read_csv(SUBMISSION)
    frame["predictionstring"] = frame["predictionstring"].mask(frame.index == 3, cell)
    with pytest.raises(SubmissionRejected) as rejected:
        podium.score(fold, frame)
    shown = " ".join(cell.split("\n"))
    told = (
        f"{cure} in predictionstring: '45 46 47' is right, found {shown!r} in row number 4. The metric says: "
    )
    assert str(rejected.value).startswith(told)
    assert len(str(rejected.value)) <= 280


@pytest.mark.parametrize(("change", "cure"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_of_newcomers_get_a_cure_of_280_characters(fold, change, cure):
    with pytest.raises(SubmissionRejected) as rejected:
        podium.score(fold, change(pd.read_csv(SUBMISSION)))
    assert str(rejected.value).startswith(cure)
    assert len(str(rejected.value)) <= 280


def word_by_word(frame):
    """One row for each word."""
    rows = frame.assign(predictionstring=frame["predictionstring"].str.split()).explode("predictionstring")
    return rows.assign(row_id=range(len(rows))).reset_index(drop=True)


NOTICED = {
    "words": (
        word_by_word,
        "write one row per segment, with all of its positions in predictionstring: 12,828 of 13,145 rows are "
        "a single word that continues the row before",
    ),
    "from one": (
        of_words(lambda a, b: a_range(a + 1, b + 1)),
        "count positions from 0: 17 segments of the submission begin at word 1, and none at word 0",
    ),
    "characters": (
        of_words(lambda a, b: a_range(6 * a, 6 * b + 5)),
        "count words instead of characters: 239 of 322 predictions begin behind the last true segment of their "
        "essay",
    ),
    "the first words missing": (
        lambda frame: pd.read_csv(SOLUTION).assign(
            **dict.fromkeys(D, 0.5),
            predictionstring=lambda table: [
                text.partition(" ")[2] or text for text in table["predictionstring"]
            ],
        ),
        "add the first word of each segment, which the predictions lack: among the starts of matches, 352 are "
        "one word late and 1 are right",
    ),
    "another version": (
        lambda frame: frame.assign(
            essay_id=frame["essay_id"].where(frame["essay_id"] > "5", "new " + frame["essay_id"])
        ),
        "check that essay_id is of the same version as the solution: 13 essays of the solution have no "
        "prediction, and 13 others have one",
    ),
    "twice": (
        lambda frame: pd.concat([frame, frame]),
        "leave out rows that repeat another one: 322 of 644 rows have the essay, type and words of an "
        "earlier row",
    ),
}


@pytest.mark.parametrize(("change", "notice"), NOTICED.values(), ids=NOTICED)
def test_mistakes_that_the_metric_accepts_are_noticed(fold, change, notice):
    frame = pd.read_csv(SUBMISSION)
    explanation = podium.score(fold, change(frame)).explanation
    assert notice in explanation.notices
    assert notice in [sentence for _, sentence in explanation.mistakes]
    assert not {text for _, text in NOTICED.values()} & {*podium.score(fold, frame).explanation.notices}


@pytest.mark.parametrize(
    ("given", "true", "noticed"),
    [
        ((0, 10), (20, 20), True),
        ((0, 9), (20, 20), False),  # too few
        ((1, 40), (20, 5), False),  # some begin at word 0
        ((0, 40), (9, 5), False),  # hardly any essay begins with a true segment
        ((0, 40), (20, 21), False),  # most texts begin with something else
    ],
)
def test_counting_from_one_shows_in_the_first_words(given, true, noticed):
    def beginning(at_0, at_1):
        return SimpleNamespace(first=np.repeat([0, 1, 5], [at_0, at_1, 7]))

    assert habits._counts_from_one(beginning(*true), beginning(*given)) == noticed


def test_a_gain_that_would_be_shown_as_nothing_or_has_another_reason_is_not_noticed(fold):
    frame = pd.read_csv(SUBMISSION)
    ten_missing = frame[frame["essay_id"].isin(frame["essay_id"].unique()[:30])]
    even = frame.assign(**dict.fromkeys(D, 0.5))  # Rounding all of them down is no advice.
    for each in (ten_missing, even):
        assert not [text for text in podium.score(fold, each).explanation.notices if "rounded" in text]


HOSTILE = [
    None, [1, 2], np.arange(2), {"a": 1}, 1 + 2j, 10**4000, b"x", "\ud800", True, "9" * 1000, "\0", object,
]  # fmt: skip


@pytest.mark.parametrize("column", ["essay_id", "discourse_type", "predictionstring", *D])
def test_whatever_stands_in_a_cell_is_the_participants_error(fold, column):
    frame = pd.read_csv(SUBMISSION).head(3).astype({column: object})
    for value in HOSTILE:
        for cells in ([frame[column][0], value, frame[column][2]], [value] * 3):
            with contextlib.suppress(SubmissionRejected):
                changed = frame.assign(**{column: pd.Series(cells, dtype=object)})
                assert 0 <= podium.score(fold, changed).score <= 1


@pytest.mark.parametrize(("length", "end"), [(280, "x"), (281, "…")])
def test_a_rejection_is_cut_only_if_it_is_too_long(length, end):
    said = "write it. The metric says: "
    solution = SimpleNamespace(
        metric=SimpleNamespace(is_built_in=True, companion=SimpleNamespace(diagnose=lambda *_: "write it"))
    )
    with pytest.raises(SubmissionRejected) as rejected, pipeline.cured(solution, pd.DataFrame()):
        raise SubmissionRejected("x" * (length - len(said)))
    assert str(rejected.value) == said + "x" * (279 - len(said)) + end
