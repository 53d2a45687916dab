"""Both markup metrics give right values for each document and each pair, in JSON, tables and the report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import podium
from podium.cli import main
from podium.contest import reading
from podium.metric import hosted
from podium.report import page
from podium.scoring import evaluating
from tests.support.markups import solution_of, submission_of
from tests.support.samples import DOCUMENTS, ESSAYS, case_of

CASES = {
    "readable": (ESSAYS, ["otar", "m_avg", "m_opt"], "M"),
    "markup_consistency": (DOCUMENTS, ["ama", "ema", "rma"], "total"),
}
cases = pytest.mark.parametrize("name", CASES)


def evaluated(name: str) -> evaluating.Evaluation:
    """The evaluation of a metric's sample submission."""
    return podium.score(*case_of(name).tables, metric=name)


def numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with numbers for the experts' names, which essays in files have, and the table of them has not."""
    numbers = {f"e{number}": f"expert {number}" for number in (1, 2, 3)}
    ends = ("markup", "against")
    return rows.assign(**{end: [numbers.get(name, name) for name in rows[end]] for end in ends})


@cases
def test_documents_and_criteria_are_means_of_pairs(name: str) -> None:
    explanation: Any = evaluated(name).explanation
    pairs, documents = explanation.pairs, explanation.documents.set_index("document_id")
    assert not pairs.duplicated(["document_id", "markup", "against"]).any()
    experts = documents["experts"]
    assert len(pairs) == (experts + experts * (experts - 1) // 2).sum()
    with_algorithm = pairs["markup"] == "algorithm"
    algorithm, among = (pairs[which].groupby("document_id") for which in (with_algorithm, ~with_algorithm))
    columns = explanation.criteria.table[1:]
    criteria = explanation.criteria_table.set_index("criterion")[[*columns]]
    for criterion in explanation.names:
        ours, theirs = documents[f"algorithm.{criterion}"].dropna(), documents[f"experts.{criterion}"].dropna()
        assert ours.to_dict() == pytest.approx(algorithm[criterion].mean().to_dict())
        assert theirs.to_dict() == pytest.approx(among[criterion].mean().to_dict())
        relative = explanation.criteria.unit * ours[theirs.index].mean() / theirs.mean()
        assert criteria.loc[criterion].tolist() == pytest.approx([ours.mean(), theirs.mean(), relative])
    if name == "readable":
        assert documents["max_m"].dropna().to_dict() == pytest.approx(algorithm["M"].max().to_dict())
        assert documents["min_m_experts"].dropna().to_dict() == pytest.approx(among["M"].min().to_dict())


@cases
def test_histograms(name: str) -> None:
    """They have the criteria that count, and the measures of the documents."""
    evaluation = evaluated(name)
    explanation: Any = evaluation.explanation
    of_criteria, of_documents = explanation.histograms.values()
    pairs, documents = explanation.pairs, explanation.documents
    without = {"readable": "M6", "markup_consistency": "fragments.overtexts.tags"}[name]
    counting = [criterion for criterion in explanation.names if criterion != without]
    assert list(of_criteria) == [explanation.criteria.titles[criterion] for criterion in counting]
    with_algorithm = pairs["markup"] == "algorithm"
    for criterion, panel in zip(counting, of_criteria.values()):
        among, ours = panel["series"].values()
        assert sorted(among) == sorted(pairs.loc[~with_algorithm, criterion])
        assert sorted(ours) == sorted(pairs.loc[with_algorithm, criterion])
        means = [documents[f"{side}.{criterion}"].mean() for side in ("experts", "algorithm")]
        assert list(panel["lines"].values()) == pytest.approx(means)
    barrier = explanation.criteria.unit
    relative = {"readable": ["M_avg", "M_opt", "OTAR"], "markup_consistency": ["RMA"]}[name]
    assert list(of_documents)[1:] == relative
    for title, panel in list(of_documents.items())[1:]:
        (series,) = panel["series"].values()
        assert series.tolist() == documents[title.lower()].dropna().tolist()
        assert list(panel["lines"].values()) == [evaluation.measures[title], barrier]
        assert panel["last"] == 2 * barrier


@cases
def test_documents_are_sorted_by_id_and_some_are_left_out(name: str) -> None:
    metric, explanation = hosted.load(name), evaluated(name).explanation
    solution, submission = (
        read(metric, CASES[name][0], {}).sample(frac=1, random_state=2)
        for read in (reading.read_solution, reading.read_submission)
    )
    mixed: Any = evaluating.evaluate(evaluating.prepare(metric, solution, {}), submission).explanation
    assert mixed.documents["document_id"].tolist() == sorted(solution["document_id"])
    pd.testing.assert_frame_equal(mixed.documents, explanation.documents)
    pd.testing.assert_frame_equal(numbered(mixed.rows), explanation.rows)
    assert set(explanation.roles.values()) <= set(explanation.rows)
    without, with_one = explanation.notices[:2]
    assert without == "documents without an expert are left out everywhere: essay-06 (1 document)"
    left_out = f"left out of {mixed.criteria.measure} and of the experts' agreement"
    assert with_one == f"documents with one expert are {left_out}: essay-04 (1 document)"


@cases
def test_values_in_json_and_in_the_file_of_rows(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, measures, total = CASES[name]
    path = tmp_path / "rows.csv"
    assert main(["score", "--metric", name, "--json", str(folder), str(folder), "--rows", str(path)]) == 0
    details = json.loads(capsys.readouterr().out)["details"]
    rows = pd.read_csv(path, dtype={"document_id": str})
    explanation = evaluated(name).explanation
    for level, table, columns in (
        ("document", explanation.documents, [*measures, "experts"]),
        ("pair", explanation.pairs, [total, "markup", "against"]),
    ):
        for told in (rows[rows["level"] == level], pd.DataFrame(details[level])):
            told = numbered(told) if level == "pair" else told
            pd.testing.assert_frame_equal(
                told[columns].reset_index(drop=True), table[columns], check_dtype=False
            )
    others = rows[~rows["level"].isin([*details])]
    assert len(others) == len(explanation.rows)
    assert others[measures].isna().all(axis=None)


@cases
def test_values_in_the_report(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = evaluated(name)
    explanation: Any = evaluation.explanation
    whole = page.render(evaluation, title="t", texts={}, most_items=0, intervals=None)
    assert "<h3>Values of each document</h3>" in whole
    assert "<h3>Values of each pair</h3>" in whole
    value = explanation.documents[CASES[name][1][-1]].dropna().iloc[0]
    assert f"{value:.2f}" in whole or f"{value:.6f}" in whole
    monkeypatch.setattr(page, "DETAILS_SHOWN", 5)
    short = page.render(evaluation, title="t", texts={}, most_items=0, intervals=None)
    assert "<h3>Values of each document: the first 5 of 12</h3>" in short
    assert f"<h3>Values of each pair: the first 5 of {len(explanation.pairs)}</h3>" in short


@cases
def test_the_sample_and_the_perfect_submission(name: str) -> None:
    metric = hosted.load(name)
    solution = reading.read_solution(metric, CASES[name][0], {})
    prepared = evaluating.prepare(metric, solution, {})
    sample = metric.companion.sample_submission(solution)
    submission = metric.companion.perfect_submission(solution)
    barrier = 100 if name == "readable" else 1
    assert (
        evaluating.evaluate(prepared, sample).score < barrier < evaluating.evaluate(prepared, submission).score
    )
    # No other expert's markup of the document agrees better with the experts.
    compared = evaluating.evaluate(prepared, submission).compared
    best = [values[:, 0].mean() if len(values) else 0 for values in compared]
    markups = {item: json.loads(cell) for item, cell in zip(solution["document_id"], solution["markups"])}
    for number in range(3):
        of_one = [
            json.dumps(markups[item][number]) if number < len(markups[item]) else None for item in markups
        ]
        other = submission.assign(markup=pd.Series(of_one).fillna(submission["markup"]))
        for values, most in zip(evaluating.evaluate(prepared, other).compared, best):
            assert len(values) == 0 or values[:, 0].mean() <= most + 1e-9


def test_the_sample_has_the_form_of_the_experts_markups() -> None:
    companion = hosted.module("markup_consistency", "companion")
    essays = hosted.load("readable").companion.read_solution(CASES["readable"][0])
    metric = hosted.module("markup_consistency")
    sample = companion.sample_submission(essays)
    assert json.loads(sample["markup"][0]) == {"criteria": {}, "selections": []}
    assert metric.score(essays, sample, "document_id") < 1
    assert metric.score(essays, companion.companion.perfect_submission(essays), "document_id") > 1


@cases
def test_unfinished_work_is_told(name: str) -> None:
    """It is told of experts who marked nothing in most documents that others marked, and in more than one."""
    marks: dict[str, Any] = {
        "readable": {"selections": [{"startSelection": 0, "endSelection": 3, "type": "x"}]},
        "markup_consistency": {"elements": [{"fragments": [{"start": 0, "end": 3}]}]},
    }[name]
    empty = {key: [] for key in marks}
    grades: dict[str, Any] = {"criteria": {}} if name == "readable" else {}

    def notices(*documents: dict[str, bool], named: bool = True) -> list[str]:
        """The notices of both commands about documents in which these experts marked something or not."""
        cells = [
            [
                grades | (marks if has else empty) | ({"expert": expert} if named else {})
                for expert, has in each.items()
            ]
            for each in documents
        ]
        ids, texts = [f"d{number}" for number in range(len(cells))], [json.dumps(cell) for cell in cells]
        solution = pd.DataFrame({"document_id": ids, "subject": "lit", "markups": texts})
        prepared = evaluating.prepare(hosted.load(name), solution, {})
        agreement = hosted.load(name).companion.agreement(prepared.prepared[evaluating.ALL], prepared.frame)
        submission = pd.DataFrame({"document_id": ids, "markup": json.dumps(grades | marks)})
        scored = evaluating.evaluate(prepared, submission).explanation.notices
        told = [[notice for notice in each if "finished" in notice] for each in (agreement.notices, scored)]
        assert told[0] == told[1]
        return [notice.partition(": ")[2] for notice in told[0]]

    both, only_a, nobody = {"A": True, "B": True}, {"A": True, "B": False}, {"A": False, "B": False}
    assert notices(both, only_a, only_a) == ["B in 2 of 3 documents"]
    assert notices(both, only_a, only_a, named=False) == ["expert 2 in 2 of 3 documents"]
    assert notices(both, only_a, only_a, both) == []  # half of them are not most
    assert notices(both, only_a, nobody, nobody) == []  # others marked only two of them
    assert notices(both, only_a, {"A": True, "C": True}) == []
    late = {"A": True, "B": False, "C": False}
    told = notices(both, late, late, {"A": False, "C": True})
    assert told == ["B in 2 of 3 documents, C in 2 of 2 documents"]


def marked(name: str, spans: list[tuple[int, int, str]]) -> dict[str, Any]:
    """A markup with these spans, which begin, end and have a label."""
    if name == "readable":
        keys = ("startSelection", "endSelection", "type")
        selections = [dict(zip(keys, span), group="error") for span in spans]
        return {"criteria": {}, "selections": selections}
    fragments = [{"start": start, "end": end, "tags": [label]} for start, end, label in spans]
    return {"elements": [{"tags": [], "fragments": [each]} for each in fragments]}


@cases
def test_mistakes_of_a_whole_submission(name: str) -> None:
    random = np.random.default_rng(1)
    places = [sorted(random.choice(300, 8, replace=False).tolist()) for _ in range(12)]
    experts = [
        [(6 * start, 6 * end, label) for start, end, label in zip(of[::2], of[1::2], "abab")] for of in places
    ]
    solution = solution_of(*([marked(name, spans)] * 2 for spans in experts))

    def mistakes(change: Callable[[int, int, str], tuple[int, int, str]]) -> list[str]:
        """The kinds of mistakes if all spans are changed in the same way."""
        submission = submission_of(*(marked(name, [change(*span) for span in spans]) for spans in experts))
        explanation = podium.score(solution, submission, metric=name).explanation
        assert {told for _, told in explanation.mistakes} <= {*explanation.notices}
        return [kind for kind, _ in explanation.mistakes]

    for honest in (
        lambda start, end, label: (start, end, label),
        lambda start, end, label: (start + 1, end, label),  # without a space before the span
        lambda start, end, label: (start // 2, end // 2, "a"),
    ):
        assert mistakes(honest) == []
    assert mistakes(lambda start, end, label: (start + 1, end + 1, label)) == ["positions counted from 1"]
    assert mistakes(lambda start, end, label: (start // 6, end // 6, label)) == ["positions of words"]
    assert mistakes(lambda start, end, label: (start, end, label * 2)) == ["labels of another version"]
