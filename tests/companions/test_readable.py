"""The companion of READ//ABLE explains every selection, and its tables, figures, M7 and agreement are right."""

import itertools
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium.cli import main
from podium.common.errors import HostError, UsageError
from podium.contest import reading
from podium.metric import hosted
from podium.scoring import evaluating
from tests.support.markups import Evaluated, accuracy, markup, selection
from tests.support.samples import case_of

companion = hosted.module("readable", "companion")
add_side = hosted.module("readable", "companion").add_side

metric = hosted.module("readable")
evaluate = partial(Evaluated, "readable")
SAMPLE = case_of("readable").tables


@pytest.fixture(scope="module")
def evaluated() -> Any:
    """The evaluation of the sample submission."""
    return evaluate(*SAMPLE, "otar", 0.5)


# ---- Submissions -----------------------------------------------------------------------------------------


def test_the_measures_of_every_essay_in_percent(evaluated: Any) -> None:
    """For an essay with two experts, they are what the essay would score alone."""
    solution, submission = SAMPLE
    documents = evaluated.documents.set_index("document_id")
    for item in ("essay-01", "essay-02", "essay-08"):
        frames = [frame[frame["document_id"] == item] for frame in (solution, submission)]
        for measure in metric.MEASURES:
            score = metric.score(*frames, "document_id", measure, 0.5)
            assert documents.loc[item, measure] == pytest.approx(score, rel=1e-12)
    assert documents.loc[["essay-04", "essay-06"], ["otar", "m_avg", "m_opt"]].isna().all(axis=None)
    assert documents["m"].isna().sum() == 1


def test_tables(evaluated: Any) -> None:
    tables = evaluated.tables
    assert list(tables) == ["Measures", "Criteria", "Subjects", "Barrier"]
    assert tables["Measures"]["percent"].tolist() == [
        evaluated.measures[name] for name in ("OTAR", "M_avg", "M_opt", "M")
    ]
    subjects = tables["Subjects"].set_index("subject")
    solution, submission = SAMPLE
    for subject in ("lit", "social"):
        ids = solution.loc[solution["subject"] == subject, "document_id"]
        frames = [frame[frame["document_id"].isin(ids)] for frame in (solution, submission)]
        assert subjects.loc[subject, "documents"] == len(ids)
        for measure in metric.MEASURES:
            score = metric.score(*frames, "document_id", measure, 0.5)
            assert subjects.loc[subject, measure] == pytest.approx(score)
    assert subjects["documents"].sum() == 12
    assert tables["Criteria"]["weight"].tolist()[1:] == [1, 2, 1, 1, 1, 0]


def test_the_barrier_is_above_a_hundred() -> None:
    """Where all markups are equal, the score is exactly 100, which does not pass the barrier."""
    frame = pd.DataFrame({"document_id": ["a"], "subject": "lit", "markups": json.dumps([markup()] * 2)})
    row = evaluate(frame, pd.DataFrame({"document_id": ["a"], "markup": [json.dumps(markup())]})).barrier.loc[0]
    assert row.tolist() == ["OTAR", 100.0, 100.0, "no", 0.0]
    apart = frame.assign(markups=json.dumps([markup(K1=0), markup(K1=2)]))
    answer = pd.DataFrame({"document_id": ["a"], "markup": [json.dumps(markup(K1=1))]})
    assert evaluate(apart, answer).barrier.loc[0, ["passed", "probability"]].tolist() == ["yes", 1.0]


def test_rows_tell_the_matching(evaluated: Any) -> None:
    """They agree with `accuracy` for each pair of markups, in both directions."""
    by_pair = dict(iter(evaluated.rows.groupby(["document_id", "markup", "against"], sort=False)))
    rows_seen = 0
    solution, submission = SAMPLE
    for document_id, subject, *cells in zip(
        solution["document_id"], solution["subject"], solution["markups"], submission["markup"]
    ):
        experts, algorithm = map(json.loads, cells)
        named = {"algorithm": algorithm} | {f"expert {n}": expert for n, expert in enumerate(experts, 1)}
        for ours, theirs in itertools.permutations(named, 2):
            selections = named[ours]["selections"]
            if not selections:
                assert (document_id, ours, theirs) not in by_pair
                continue
            rows = by_pair[document_id, ours, theirs]
            rows_seen += len(rows)
            assert rows["selection"].tolist() == list(range(len(selections)))
            assert rows["start"].tolist() == [value["startSelection"] for value in selections]
            assert rows["end"].tolist() == [value["endSelection"] for value in selections]
            for name in ("type", "subtype", "correction"):
                assert rows[name].tolist() == [value[name].casefold() for value in selections]
            _, pairs = accuracy(named[ours], named[theirs], subject)
            matched = rows[rows["outcome"] == "matched"]
            details = ["same_type", "same_subtype", "same_correction"]
            columns = ["selection", "partner_selection", "cost", "jaccard", *details]
            assert [tuple(row) for row in matched[columns].itertuples(index=False)] == pairs
            unmatched = rows[rows["outcome"] != "matched"]
            assert (unmatched["partner_selection"] == -1).all()
            assert (unmatched["cost"] == 1).all()
            assert unmatched["jaccard"].isna().all()
            assert not unmatched[details].any(axis=None)
            for row in unmatched.itertuples(index=False):
                assert row.outcome == why_unmatched(selections[row.selection], named[theirs]["selections"])
    assert rows_seen == len(evaluated.rows)
    assert set(evaluated.rows["outcome"]) == {"matched", "partner taken", "too costly", "no overlap"}


def why_unmatched(ours: dict[str, Any], others: list[dict[str, Any]]) -> str:
    """Find the reason by comparing this selection with each selection of the other markup alone."""
    if any(accuracy(markup(ours), markup(other), "rus")[1] for other in others):
        return "partner taken"
    overlapping = any(
        max(ours["startSelection"], other["startSelection"]) < min(ours["endSelection"], other["endSelection"])
        for other in others
    )
    return "too costly" if overlapping else "no overlap"


# ---- M7 --------------------------------------------------------------------------------------------------


def test_the_side_file_gives_m7() -> None:
    solution, submission = SAMPLE
    side = pd.DataFrame({"document_id": solution["document_id"][::-1], "m7": range(12)}).assign(note="x")
    judged = add_side(submission.assign(m7=100), side, "document_id")
    assert judged["m7"].tolist() == list(range(11, -1, -1))
    result = evaluate(solution, judged, "m", weights="M7=1")
    assert "M7" in result.measures
    assert result.criteria_table["criterion"].tolist()[-1] == "M7"
    assert result.criteria_table["experts"].tolist()[-1] == 100
    assert list(result.histograms["Accuracy"])[-1] == "Explanation accuracy"
    documents = result.documents.set_index("document_id")
    assert documents.loc["essay-01", "algorithm.M7"] == judged["m7"][0]
    for name in ("key", "what", "columns"):  # of a parameter of the table's schema
        ids = {"document_id": name}
        again = add_side(submission.assign(m7=100).rename(columns=ids), side.rename(columns=ids), name)
        assert again["m7"].tolist() == judged["m7"].tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda side: side.drop(columns="m7"), ": expected the column q"),
        (lambda side: side.head(9), ": expected every essay of the submission, found no row for 3 essays: "),
        (lambda side: pd.concat([side, side.tail(1)]), ", row number 13: expected another one than in row"),
    ],
)
def test_a_wrong_side_file_is_the_hosts_fault(change: Any, message: str) -> None:
    _, submission = SAMPLE
    side = pd.DataFrame({"document_id": submission["document_id"], "m7": 50})
    with pytest.raises(HostError) as error:
        add_side(submission, change(side), "document_id")
    assert str(error.value).startswith(f"the side file{message}")


QUESTIONS = ["q1", "q2", "q3", "q4", "q5"]


def judged(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """The points of explanations, each with its essay."""
    return pd.DataFrame(rows, columns=["document_id", *QUESTIONS])


def test_m7_from_points() -> None:
    """A fragment that is no error gets no points; the maximum is 25 for each explanation."""
    explained, silent = (selection(0, 5) | {"explanation": text} for text in ("Because.", " "))
    markups = [markup(explained, explained, silent), markup(silent), markup()]
    submission = pd.DataFrame({"document_id": [1, 2, 3], "markup": [json.dumps(each) for each in markups]})
    points = judged(("1", 5, 5, 5, 5, 0), ("1", 0, 0, 0, 0, 0), ("9", 1, 1, 1, 1, 1))
    assert add_side(submission, points, "document_id")["m7"].tolist() == [100 * 20 / 50, 0, 100]
    for broken in ("{", "[]", '{"selections": 5}', '{"selections": [5]}', "{}"):
        m7 = add_side(submission.tail(1).assign(markup=broken), points, "document_id")["m7"]
        assert m7.tolist() == [100]  # such a markup is rejected by the metric


def test_a_submission_without_its_columns_is_left_to_the_metric() -> None:
    for name in ("document_id", "markup"):
        submission = pd.DataFrame({"document_id": ["1"], "markup": ["{}"]}).drop(columns=name)
        for side in (judged(("1", 1, 1, 1, 1, 1)), pd.DataFrame({"document_id": ["1"], "m7": [50]})):
            assert add_side(submission, side, "document_id") is submission


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (judged(("1", 1, 2, 3, 4, 6)), ", row number 1: expected 0 to 5 points in the column q5, found '6'"),
        (judged(("1", 1, 2, None, 4, 6)), ", row number 1: expected 0 to 5 points in the column q3, found an"),
        (judged(("2", 1, 1, 1, 1, 1)), ": essay '1': expected 1 row, one for each explanation, found 0"),
    ],
)
def test_wrong_points_are_the_hosts_fault(points: pd.DataFrame, message: str) -> None:
    cell = json.dumps(markup(selection(0, 5) | {"explanation": "Because."}))
    with pytest.raises(HostError) as error:
        add_side(pd.DataFrame({"document_id": ["1"], "markup": [cell]}), points, "document_id")
    assert str(error.value).startswith(f"the side file{message}")


# ---- Notices ---------------------------------------------------------------------------------------------


def test_criteria_of_one_markup_and_look_alikes_are_told() -> None:
    experts = [markup(K1=1, K2=0), markup(K1=1, К2=0) | {"expert": "Anna"}]
    solution = pd.DataFrame({"document_id": [7], "subject": "lit", "markups": [json.dumps(experts)]})
    submission = pd.DataFrame({"document_id": [7.0], "markup": [json.dumps(markup(K1=1, K2=1))]})
    alike = "criteria that differ in nothing but case or look-alike letters: 'K2' and '\u041a2' (Cyrillic)"
    lonely = "criteria that only one markup of a document names: "
    notices = evaluate(solution, submission).notices
    assert [told for told in notices if told.startswith("criteria")] == [alike, f"{lonely}'\u041a2' in 7 (1)"]
    notices = companion.companion.agreement(metric.prepare(solution, "document_id"), solution).notices
    told = f"{lonely}'K2' in 7, '\u041a2' in 7 (2)"
    assert [each for each in notices if each.startswith("criteria")] == [alike, told]


def test_names_and_tags_that_look_alike_are_told() -> None:
    one, other = (markup(selection(0, 5, kind)) for kind in ("\u0430b", "AB"))
    one["elements"] = [{"tags": [None, 5]}]  # which this metric does not read
    experts = [one | {"expert": "anna"}, other | {"expert": "Anna"}]
    solution = pd.DataFrame({"document_id": [7], "subject": "lit", "markups": [json.dumps(experts)]})
    notices = companion.companion.agreement(metric.prepare(solution, "document_id"), solution).notices
    differ = "that differ in nothing but case or look-alike letters"
    assert f"experts {differ}: 'Anna' and 'anna'" in notices
    assert f"tags {differ}: 'ab' and '\u0430b' (Cyrillic, Latin)" in notices


# ---- Agreement -------------------------------------------------------------------------------------------


def test_m7_of_a_participant_is_left_out(tmp_path: Path) -> None:
    """The tools ignore it, because only a file of the host may bring it in."""
    solution, submission = SAMPLE
    submission.assign(m7=100).to_csv(tmp_path / "answers.csv", index=False)
    rows = "".join(f"essay-{n:02},{n}\n" for n in range(1, 13))
    (tmp_path / "side.csv").write_text(f"document_id,m7\n{rows}")
    read = reading.read_submission(hosted.load(metric.NAME), tmp_path / "answers.csv", {})
    assert list(read) == ["document_id", "markup"]
    prepared = evaluating.prepare(hosted.load(metric.NAME), solution, {"weights": "M7=1"})
    with pytest.raises(HostError, match=r"expected the column m7, .* podium score --side FILE"):
        evaluating.evaluate(prepared, read)
    judged = reading.add_side(prepared, read, tmp_path / "side.csv")
    assert judged["m7"].tolist() == list(range(1, 13))
    before = (tmp_path / "side.csv").read_bytes().replace(b"essay-01,1\n", b"essay-01,99\n")
    # What was read before counts, not the file as it is now.
    assert reading.add_side(prepared, read, tmp_path / "side.csv", before)["m7"][0] == 99
    expected = np.mean([*range(1, 6), *range(7, 13)])
    assert evaluating.evaluate(prepared, judged).measures["M7"] == pytest.approx(expected)
    unified = evaluating.Solution(hosted.load("scifact"), {}, solution, {}, {}, {}, [])
    with pytest.raises(UsageError, match=r"side.csv: this metric takes no further file with a submission"):
        reading.add_side(unified, read, tmp_path / "side.csv")


def test_the_experts_table_is_written_empty_and_read_filled(tmp_path: Path, capsys: Any) -> None:
    files = [str(tmp_path / name) for name in ("solution.csv", "submission.csv")]
    form, filled = tmp_path / "form.csv", tmp_path / "filled.csv"
    solution, submission = SAMPLE
    markups = [json.loads(cell) for cell in submission["markup"]]
    for each in markups:
        for number, of_markup in enumerate(each["selections"]):
            of_markup["explanation"] = "Because." if number % 2 == 0 else ""
    for path, table in zip(files, (solution, submission.assign(markup=list(map(json.dumps, markups))))):
        table.to_csv(path, index=False)
    command = ["score", "--metric", "readable", *files]
    assert main([*command, "--side-form", str(form)]) == 0
    assert f"written to {form}\n" in capsys.readouterr().out
    table = pd.read_csv(form)
    assert list(table) == ["document_id", "selection", "type", "subtype", "explanation", *QUESTIONS]
    assert set(table["explanation"]) == {"Because."}
    assert len(table) == sum((len(each["selections"]) + 1) // 2 for each in markups)
    assert table[QUESTIONS].isna().all(axis=None)
    table.assign(q1=5, q2=5, q3=5, q4=5, q5=0).to_csv(filled, index=False)
    command += ["--set", "weights=M7=1", "--json"]
    assert main([*command, "--side", str(filled)]) == 0
    judged_better = json.loads(capsys.readouterr().out)["score"]
    table.assign(**dict.fromkeys(QUESTIONS, 0)).to_csv(filled, index=False)
    assert main([*command, "--side", str(filled)]) == 0
    assert json.loads(capsys.readouterr().out)["score"] < judged_better
    assert main([*command, "--side", str(form)]) == 4  # nobody has filled it
    assert "expected 0 to 5 points in the column q1, found an empty cell" in capsys.readouterr().err
    others = ["solution_sample.csv", "sample_submission.csv"]
    assert main(["score", *(str(hosted.ROOT / name) for name in others), "--side-form", str(form)]) == 2
    assert "--side-form: nothing is added to submissions of unified" in capsys.readouterr().err
