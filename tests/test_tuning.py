"""Tuning finds thresholds that are known, computes exact scores on its way, and says what may be luck."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest

import metric
import podium
from examples.essays import make_competition
from podium import spans, statistics
from podium.common.errors import SubmissionRejected, UsageError
from podium.spans import tuning
from podium.spans.segments import predictionstrings
from podium.spans.tuning import deal
from podium.statistics import Difference, Doubt, Reason
from podium.tables.formats import read_table
from tests.support import command_line
from tests.support.frames import solution, submission, words

ESSAYS = 48
FEW = Doubt(Reason.FEW_ITEMS, 1)


@pytest.fixture(scope="module")
def known():
    """A solution and candidates whose best thresholds are known.

    All true segments are among the candidates. Spurious leads are less sure, and spurious claims are shorter. A
    spurious rebuttal takes half of the words of a true one unless it is removed.
    """
    random = np.random.default_rng(0)
    truth, segments, probabilities = [], [], []
    for essay in range(ESSAYS):
        sure = random.integers(6, 10, 5) / 10
        unsure = random.integers(1, 4, 2) / 10
        true = [("Lead", 0, 19), ("Claim", 20, 29), ("Evidence", 30, 59), ("Rebuttal", 70, 89)]
        spurious = [("Lead", 100, 119), ("Claim", 120, 122), ("Rebuttal", 65, 79)]
        truth += [(f"e{essay}", kind, words(first, last), essay % 2) for kind, first, last in true]
        there = random.random(3) < 0.8
        kept = [*true, *(each for each, is_there in zip(spurious, there) if is_there)]
        segments += [(f"e{essay}", kind, words(first, last), essay % 2) for kind, first, last in kept]
        probabilities += [*sure[:4], *np.array([unsure[0], sure[4], unsure[1]])[there]]
    made = solution(*truth)
    number = made["essay_id"].str[1:].astype(int)
    groups = {"ell_status": number % 4 == 0, "economically_disadvantaged": number % 3 == 0}
    made = made.assign(**{name: np.where(column, "Yes", "No") for name, column in groups.items()})
    return made, submission(*segments).assign(probability=probabilities)


@pytest.fixture(scope="module")
def made_up():
    """A solution and the predictions of a model that is rather sure where it is right."""
    solution, submission = make_competition(40, seed=2, shared_words=False)
    fold = podium.prepare(solution)
    prepared = fold.prepared["All"]
    given = prepared.read(submission)
    left = metric.remove_overlaps(given)
    good = np.zeros(len(submission), dtype=bool)
    good[left.row[metric.match(left, prepared.truths, 0.51)[0]]] = True
    random = np.random.default_rng(0)
    sure = np.where(good, random.beta(4, 2, len(good)), random.beta(2, 4, len(good)))
    return fold, submission.assign(probability=sure.round(1))


@pytest.fixture(scope="module")
def tuned(made_up):
    """The thresholds that tuning finds for them."""
    return tuning.tune(*made_up, folds=2, seed=5)


# --- what is found --------------------------------------------------------------------------------------


def test_the_thresholds_are_those_that_are_known(known):
    solution, candidates = known
    tuned = tuning.tune(podium.prepare(solution), candidates.sample(frac=1, random_state=0), folds=3)
    least, fewest = tuned.options["min_probability"], tuned.options["min_words"]
    unsure = candidates[candidates["probability"] < 0.5]["probability"].max()
    assert unsure < least["Lead"] <= 0.6
    assert unsure < least["Rebuttal"] <= 0.6
    assert 3 < fewest["Claim"] <= 10
    assert (least["Evidence"], fewest["Evidence"]) == (0, 1)
    assert (least["Position"], fewest["Position"]) == (0, 1)  # a type without candidates
    assert tuned.before < 0.8
    assert tuned.searches["tuned"].tolist() == tuned.searches["nested"].tolist() == [1.0, 1.0]
    assert tuned.thresholds["kept"].tolist() == [ESSAYS, 0, ESSAYS, 0, ESSAYS, ESSAYS, 0]
    assert tuned.comparison["measure"][0] == "score"
    assert tuned.comparison["value"][0] == 1.0
    assert tuned.comparison["low"][0] > 0.2
    assert "it may be chance" not in str(tuned)


@pytest.mark.parametrize(
    ("gain", "told"),
    [
        ((0.02, 0.01, 0.03, 1.0), "Gain      0.020000  95% interval from 0.010000 to 0.030000"),
        ((0.02, -0.01, 0.04, 0.8), "0.020000  95% interval from -0.010000 to 0.040000: it may be chance"),
        ((-0.02, -0.05, -0.01, 0.0), "Loss      -0.020000  95% interval from -0.050000 to -0.010000"),
        ((0.02, *[math.nan] * 2, 0.8, FEW), "Change    0.020000  no interval, because about 1 item decides"),
    ],
)
def test_a_gain_is_called_one_if_its_interval_excludes_0(tuned, gain, told):
    assert str(dataclasses.replace(tuned, gain=Difference(*gain))).endswith(told)


def test_the_scores_are_those_of_the_files(made_up, tuned):
    fold, candidates = made_up
    prepared = fold.prepared["All"]
    segments = spans.from_table(candidates, prepared.items)
    kept = spans.to_submission(spans.select(segments, **tuned.options), prepared.items)
    assert len(kept) == tuned.thresholds["kept"].sum()
    assert tuned.before == score(prepared, candidates)
    assert tuned.searches["tuned"][0] == score(prepared, kept)
    searches = tuned.searches
    assert searches["nested"].is_monotonic_decreasing
    assert sorted(searches["temperature"]) == [0, 65]
    # The search for the score itself finds the best score on these essays, and adapts most to them.
    itself = searches["temperature"].idxmax()
    assert searches["tuned"].idxmax() == searches["optimism"].idxmax() == itself
    assert tuned.before < searches["tuned"][itself]


def score(prepared: metric.Prepared, frame: pd.DataFrame) -> float:
    """The score by the hosted file's own steps."""
    sums = metric.sums_of_groups(prepared.statistics(frame), prepared.groups)
    return float(prepared.measures(sums)[0])


def test_no_single_threshold_does_better(known):
    """This is shown for the search for the score itself, on the essays on which it tuned."""
    solution, candidates = known
    noisy = candidates.assign(probability=np.random.default_rng(2).integers(0, 10, len(candidates)) / 10)
    fold = podium.prepare(solution, temperature=0.0)  # so that there is only one search
    tuned = tuning.tune(fold, noisy, folds=2)
    best, items = tuned.searches["tuned"][0], fold.prepared["All"].items
    segments = spans.from_table(noisy, items)
    assert best == spans.score(fold, spans.select(segments, **tuned.options), items) > tuned.before
    tried = 0
    for name, levels in (("min_probability", np.arange(11) / 10), ("min_words", np.arange(1, 31))):
        for kind in spans.TYPES:
            for level in levels.tolist():
                options = {**tuned.options, name: {**tuned.options[name], kind: level}}
                other = spans.score(fold, spans.select(segments, **options), items)
                assert other <= best + 1e-12
                tried += 1
    assert tried == 7 * 41


@pytest.mark.slow
def test_luck_is_told_from_gain(made_up):
    fold, candidates = made_up
    random = np.random.default_rng(3)
    lucky = tuning.tune(fold, candidates.assign(probability=random.random(len(candidates)).round(1)), folds=3)
    # If probabilities mean nothing, thresholds seem to help but do not.
    itself = lucky.searches["temperature"].idxmax()
    assert lucky.searches["tuned"][itself] > lucky.before > lucky.searches["nested"][itself]
    assert str(lucky).splitlines()[-1].startswith("Change ")  # it would be called a gain if it were one


def test_only_essays_with_a_candidate_are_scored(known):
    solution, candidates = known
    fold = [f"e{number}" for number in range(0, ESSAYS, 3)]
    of_fold = candidates[candidates["essay_id"].isin(fold)]
    # Candidates of other essays do not count either.
    others = pd.concat([of_fold, of_fold.assign(essay_id="elsewhere")])
    tuned = tuning.tune(podium.prepare(solution), others, folds=2)
    assert tuned.notices == [f"left out because they have no candidate: 32 of {ESSAYS} essays"]
    part = metric.prepare(solution[solution["essay_id"].isin(fold)], "row_id")
    assert tuned.before == score(part, of_fold)
    assert tuned.searches["nested"][0] == 1.0


# --- its parts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [-1, 2])
@pytest.mark.parametrize("crowded", [False, True])
def test_all_levels_together_count_as_one_after_the_other(made_up, crowded, gap):
    """The counts are exactly the metric's, also if candidates share words, and with other temperatures and
    folds.
    """
    fold, candidates = made_up
    if crowded:  # a copy of every candidate, two words later and less sure
        first, last = (
            candidates["predictionstring"].str.split().str[at].astype(int).to_numpy() + 2 for at in (0, -1)
        )
        moved = candidates.assign(predictionstring=predictionstrings(first, last))
        candidates = pd.concat([candidates, moved.assign(probability=(moved["probability"] / 2).round(2))])
    problem, _ = tuning._problem(fold, candidates, None)
    problem = problem.joined(np.full(len(spans.TYPES), gap))
    random = np.random.default_rng(7)
    essays = random.random(len(problem.prepared.items)) < 0.7
    mask = essays[:, np.newaxis]
    groups = problem.prepared.groups
    search = tuning._Search(problem, essays, 65.0)
    assert search.is_alone.mean() < 0.3 if crowded else search.is_alone.mean() > 0.3
    compared = 0
    for which, kind in ((0, 2), (1, 2), (0, 5), (1, 0), (0, 2)):
        own = np.flatnonzero(search.segments.discourse_type == kind)
        levels = tuning._levels(search.values[which, own], search.thresholds[which, kind], which)
        totals = search._totals_of_levels(kind, which, own, levels)
        for level, ours in zip(levels, totals):
            thresholds = search.thresholds.copy()
            thresholds[which, kind] = level
            counts = problem.counts(thresholds) * mask
            np.testing.assert_allclose(ours, statistics.sums(counts, groups), rtol=0, atol=1e-9)
            compared += 1
        chosen = int(random.integers(len(levels)))
        search.thresholds[which, kind], search.totals = levels[chosen], totals[chosen]
    assert compared > 50


def test_each_type_has_its_gap():
    """The model leaves out the middle of all evidence and cuts leads. Neighbors are claims of their own."""
    essays = [f"e{number}" for number in range(40)]
    places = {"Evidence": [(0, 30)], "Claim": [(40, 49), (50, 59)], "Lead": [(70, 89), (91, 110)]}
    truth = [(e, kind, words(*part), 1) for e in essays for kind, parts in places.items() for part in parts]
    of_model = places | {"Evidence": [(0, 13), (18, 30)], "Lead": [(70, 79), (80, 89), (91, 110)]}
    found = [(e, kind, words(*part), 1) for e in essays for kind, parts in of_model.items() for part in parts]
    attributes = {"ell_status": "No", "economically_disadvantaged": "No"}
    fold = podium.prepare(solution(*truth).assign(**attributes))
    tuned = tuning.tune(fold, submission(*found).assign(probability=0.9), folds=2)
    assert tuned.searches["nested"][0] == 1.0
    assert tuned.options["join_gap"] == {"Lead": 0, "Evidence": 4}
    table = tuned.thresholds.set_index("discourse_type")[["join_gap", "join_gap_in_folds"]]
    assert table.loc[["Lead", "Evidence"]].to_numpy().tolist() == [[0, "0 to 0"], [4, "4 to 4"]]


def strata_of(groups):
    """The combination of groups of each essay, as a number."""
    return np.unique(groups, axis=1, return_inverse=True)[1].ravel()


def test_every_fold_has_a_row(made_up, tuned):
    table = tuned.folds
    assert list(table) == ["fold", "essays", "before", "nested", "gain"]
    assert table["fold"].tolist() == [0, 1]
    assert table["essays"].sum() == 40
    np.testing.assert_allclose(table["gain"], table["nested"] - table["before"])
    # The scores of a fold are those of a solution with its essays alone.
    fold, candidates = made_up
    prepared = fold.prepared["All"]
    own = np.array(prepared.items)[deal(strata_of(prepared.groups), 2, seed=5) == 0]
    alone = podium.prepare(fold.frame[fold.frame["essay_id"].isin(own)])
    assert podium.score(alone, candidates).score == pytest.approx(table["before"][0])


def test_thresholds_are_numbers_as_one_writes_them(tuned):
    for value in tuned.options["min_probability"].values():
        assert type(value) is float
        assert len(f"{value!r}") <= len("0.1234")
    assert all(type(value) is int for value in tuned.options["min_words"].values())
    assert repr(tuned) == str(tuned)
    assert len(repr(tuned)) < 500


def test_the_columns_of_feedback_prize_1_and_one_effectiveness_for_all(known):
    solution, candidates = known
    theirs = candidates.rename(columns={"essay_id": "id", "discourse_type": "class"}).drop(
        columns=["row_id", "score_discourse_effectiveness_0", "score_discourse_effectiveness_1"]
    )
    fold = podium.prepare(solution)
    tuned = tuning.tune(fold, theirs, folds=2, effectiveness=0.5)
    assert tuned.notices[:2] == [
        "the column id is taken for essay_id",
        "the column class is taken for discourse_type",
    ]
    # Every segment is there, but nothing is known about its effectiveness.
    assert tuned.searches["nested"][0] == pytest.approx(6 / 7)
    with pytest.raises(SubmissionRejected, match="score_discourse_effectiveness_0"):
        tuning.tune(fold, theirs, folds=2)
    for wrong in (2, "0.5"):
        with pytest.raises(UsageError, match=r"^effectiveness: expected a probability from 0 to 1, found "):
            tuning.tune(fold, theirs, folds=2, effectiveness=wrong)
    with pytest.raises(UsageError, match=r"^folds: expected at least 2, .*, found '2'$"):
        tuning.tune(fold, theirs, folds="2", effectiveness=0.5)
    with pytest.raises(UsageError, match=r"^seed: expected a whole number that is at least 0, found -1$"):
        tuning.tune(fold, theirs, seed=-1, effectiveness=0.5)


def test_ids_are_those_of_the_solution_as_when_they_are_scored(known):
    """Only a notice said that 7.0 is the essay 7, and then the candidates were refused."""
    solution, candidates = (
        table.assign(essay_id=table["essay_id"].str[1:].astype(int).add(1).astype(str)) for table in known
    )
    fold = podium.prepare(solution)
    theirs = candidates.assign(essay_id=candidates["essay_id"] + ".0")
    tuned = tuning.tune(fold, theirs, folds=2)
    told = [f"essay_id: '{candidates['essay_id'][0]}.0' is taken for {candidates['essay_id'][0]}, because all "]
    assert tuned.before == podium.score(fold, theirs).score == podium.score(fold, candidates).score
    assert tuned.notices == podium.score(fold, theirs).other_ids == [f"{told[0]}ids are whole numbers"]


@pytest.mark.parametrize("folds", [2, 3, 5])
def test_every_fold_has_its_share_of_every_sub_population(folds):
    random = np.random.default_rng(5)
    groups = np.stack([random.choice(3, 200, p=[0.9, 0.07, 0.03]), 3 + random.integers(0, 2, 200)])
    fold = deal(strata_of(groups), folds, seed=1)
    assert np.ptp(np.bincount(fold, minlength=folds)) <= 1
    for combination in np.unique(groups, axis=1).T:
        members = (combination == groups.T).all(axis=1)
        assert np.ptp(np.bincount(fold[members], minlength=folds)) <= 1
    assert (fold != deal(strata_of(groups), folds, seed=2)).any()


# --- the command line -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(known, tmp_path_factory):
    """The solution and the candidates as files."""
    folder = tmp_path_factory.mktemp("tune")
    for name, frame in zip(("solution.csv", "candidates.csv"), known):
        frame.to_csv(folder / name, index=False)
    return folder


def test_what_is_printed_goes_into_the_notebook(known, files, capsys):
    out = files / "thresholds.csv"
    solution, candidates = files / "solution.csv", files / "candidates.csv"
    code, printed, errors = command_line.run(capsys, "tune", solution, candidates, "--folds", 2, "--out", out)
    assert code == 0, errors
    lines = printed.splitlines()
    assert lines[0].startswith("Before    0.")
    assert "Searches" in lines
    assert lines[2] == "Nested    1.000000  on other essays: what to expect for new ones"
    assert lines[-2].startswith("metric:unified|version:")
    assert lines[-1] == f"written to {out}"
    names: dict = {}
    exec("\n".join(line for line in lines if line.startswith(("MIN_", "JOIN_"))), names)
    written = read_table(out, set(), UsageError).set_index("discourse_type")
    assert names["MIN_PROBABILITY"] == written["min_probability"].to_dict()
    assert names["MIN_WORDS"] == written["min_words"].to_dict()
    fold = podium.prepare(known[0])
    items = fold.prepared["All"].items
    segments = spans.from_table(known[1], items)
    kept = spans.select(segments, names["MIN_WORDS"], names["MIN_PROBABILITY"], names["JOIN_GAP"])
    assert spans.score(fold, kept, items) == 1.0
    # The table and the file work as they are.
    for table in (out, str(out), pd.read_csv(out)):
        assert spans.select(segments, table).to_frame().equals(kept.to_frame())


def test_without_groups_there_is_one_search_and_no_table_of_equal_rows(files, capsys):
    given = [files / "solution.csv", files / "candidates.csv", "--folds", 2]
    code, printed, errors = command_line.run(capsys, "tune", *given, "--set", "subpopulation_column_names=")
    assert code == 0, errors
    assert "Searches" not in printed.splitlines()


def test_thresholds_are_applied_to_other_essays(known, files, capsys):
    solution, candidates = files / "solution.csv", files / "candidates.csv"
    others = files / "others.csv"
    theirs = known[1].rename(columns={"essay_id": "id"})
    theirs.assign(id="x" + theirs["id"]).to_csv(others, index=False)
    out, thresholds, again = (files / name for name in ("applied.csv", "kept.csv", "again.csv"))
    code, printed, errors = command_line.run(
        capsys, "tune", solution, candidates, "--folds", 2, "--apply", others, "--out", out
    )
    assert code == 0
    assert printed.endswith(f"written to {out}: {4 * ESSAYS} segments\n")
    assert "the column id is taken for essay_id" in errors
    submission = pd.read_csv(out)
    back = submission.assign(essay_id=submission["essay_id"].str[1:])
    assert podium.score(known[0], back).score == 1.0
    command_line.run(capsys, "tune", solution, candidates, "--folds", 2, "--out", thresholds)
    given = ["tune", "--thresholds", thresholds, "--apply", others, "--out", again]
    assert command_line.run(capsys, *given)[0] == 0
    assert again.read_bytes() == out.read_bytes()


FIELD = """discourse_type,min_probability,min_words,candidates,kept,min_probability_in_folds,min_words_in_folds
Lead,0.655,15,352,24,0.5981 to 0.6841,14 to 15
Claim,0.4815,6,735,92,0.5216 to 0.7086,6 to 6
"""


GAPS = "discourse_type,min_probability,min_words,join_gap\nLead,0.5,1,two\n"


def test_a_table_without_gaps_joins_nothing(tmp_path):
    (tmp_path / "thresholds.csv").write_text(FIELD)
    segments = spans.from_words(
        [0, 20, 50, 56, 70], [14, 33, 55, 61, 70], ["Lead", "Lead", "Claim", "Claim", "Rebuttal"],
        probability=[0.655, 0.9, 0.4815, 0.48, 0.1],
    )  # fmt: skip
    assert spans.select(segments, tmp_path / "thresholds.csv").first.tolist() == [0, 50, 70]


def test_the_gaps_of_a_table_may_be_as_the_console_prints_them(tmp_path):
    table, segments = tmp_path / "thresholds.csv", spans.from_words([0, 4], [2, 9], "Claim")
    for gap, kept in (("none", 2), ("", 2), (0, 2), (1, 1), (1.0, 1)):
        table.write_text(f"discourse_type,min_probability,min_words,join_gap\nclaim,0.5,1,{gap}\n")
        assert len(spans.select(segments, table)) == kept


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (FIELD.replace("Lead", "Leed"), [], "row number 1: expected a type in the column discourse_type, "),
        (FIELD.replace("Claim", "Lead"), [], "row number 2: expected another one than in row"),
        (FIELD.replace("0.655", "655"), [], "row number 1: expected a number from 0 to 1 in the column min_"),
        (GAPS, [], "row number 1: expected a number of words, or none in the column join_gap, found 'two'"),
        (FIELD.replace("min_words,", "words,"), [], "expected the column min_words, found disc"),
        (FIELD, ["solution.csv"], "--thresholds needs --apply, and neither"),
    ],
)
def test_wrong_thresholds_are_told(files, capsys, table, options, message):
    wrong, out = files / "wrong.csv", files / "no.csv"
    wrong.write_text(table)
    given = ["--thresholds", wrong, "--apply", files / "candidates.csv", "--out", out]
    code, _, errors = command_line.run(capsys, "tune", *options, *given)
    assert code == 2
    assert message in errors
    assert not out.exists()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("essay_id", "essay_id: expected an id in every row. Wrong in 1 row, first in row number 3: "),
        ("score_discourse_effectiveness_0", "expected two probabilities that sum to 1. Wrong in 1 of "),
        (
            "probability",
            "probability: expected a number from 0 to 1. Wrong in 1 row, first in row number 3: ",
        ),
    ],
)
def test_candidates_to_which_thresholds_are_applied_have_all_cells(known, files, capsys, column, message):
    """Nobody else sees them before they are a submission."""
    gap = known[1].assign(**{column: known[1][column].where(np.arange(len(known[1])) != 2)})
    gap.to_csv(files / "gap.csv", index=False)
    pd.DataFrame({"discourse_type": ["Lead"], "min_probability": 0, "min_words": 1}).to_csv(files / "t.csv")
    given = ["--thresholds", files / "t.csv", "--apply", files / "gap.csv", "--out", files / "out.csv"]
    searched = [files / "solution.csv", files / "candidates.csv", *given[2:]]
    for asked in (given, searched):  # without a search that is for nothing
        code, printed, errors = command_line.run(capsys, "tune", *asked)
        assert (code, printed, f"error: {files / 'gap.csv'}: {message}" in errors) == (3, "", True), errors


def test_essays_that_thresholds_leave_empty_are_counted(files, capsys):
    table, out = files / "strict.csv", files / "few.csv"
    table.write_text(
        "discourse_type,min_probability,min_words\n" + "".join(f"{kind},1,999\n" for kind in spans.TYPES)
    )
    given = ["--thresholds", table, "--apply", files / "candidates.csv", "--out", out]
    code, _, errors = command_line.run(capsys, "tune", *given)
    assert (code, len(pd.read_csv(out))) == (0, 0)
    assert f"{ESSAYS} of {ESSAYS} essays have no segment left" in errors


def test_json_has_all_of_it_and_warnings(known, files, capsys):
    some = files / "some.csv"
    known[1][known[1]["essay_id"] != "e0"].to_csv(some, index=False)
    arguments = [files / "solution.csv", some, "--folds", 2, "--json", "--set", "temperature=10", "--seed", 7]
    code, printed, _ = command_line.run(capsys, "tune", *arguments)
    assert code == 0
    values = json.loads(printed)
    names = "before searches folds comparison thresholds signature warnings"
    assert list(values) == names.split()
    assert {search["temperature"] for search in values["searches"]} == {0, 10}
    assert "temperature:10.0" in values["signature"]
    assert values["warnings"] == [f"left out because they have no candidate: 1 of {ESSAYS} essays"]
    assert len(values["thresholds"]) == 7


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (lambda frame: frame.drop(columns="probability"), 3, "add the column probability, which says how sure"),
        (lambda frame: frame.assign(probability=frame["probability"].where(frame.index != 4)), 3,
         "probability: expected a number from 0 to 1. Wrong in 1 row, first in row number 5: nan"),
        (lambda frame: frame.assign(probability="sure"), 3, "first in row number 1: 'sure'"),
        (lambda frame: frame.assign(probability=1.5), 3, "first in row number 1: 1.5"),
        (lambda frame: frame[frame["essay_id"] == "e1"], 2, "expected at least 2, and at most 1, the"),
    ],
)  # fmt: skip
def test_bad_candidates_are_told_what_is_wrong(known, files, capsys, change, code, message):
    change(known[1]).to_csv(files / "bad.csv", index=False)
    exit_code, printed, errors = command_line.run(capsys, "tune", files / "solution.csv", files / "bad.csv")
    assert (exit_code, printed) == (code, "")
    assert message in errors
