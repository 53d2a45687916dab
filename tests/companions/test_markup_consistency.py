"""The companion of markup consistency: what became of every object, tables, figures and agreement."""

import itertools
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium import statistics
from podium.cli import main
from podium.common.errors import HostError
from podium.metric import hosted
from podium.scoring import evaluating
from tests.support.markups import Evaluated
from tests.support.samples import case_of

companion = hosted.module("markup_consistency", "companion")
consistency = hosted.module("markup_consistency", "companion").consistency

metric = hosted.module("markup_consistency")
evaluate = partial(Evaluated, "markup_consistency")
SAMPLE = case_of("markup_consistency").tables


@pytest.fixture(scope="module")
def evaluated() -> Any:
    """The evaluation of the sample submission."""
    return evaluate(*SAMPLE)


def test_rows_tell_the_accordance(evaluated: Any) -> None:
    """They agree with `consistency` for each pair of markups, in both directions."""
    solution, submission = SAMPLE
    weights = evaluated.prepared.rules.weights
    rows_of = dict(iter(evaluated.rows.groupby(["document_id", "markup", "against"], sort=False)))
    outcomes = set()
    for document_id, *cells in zip(solution["document_id"], solution["markups"], submission["markup"]):
        experts, algorithm = map(json.loads, cells)
        named = {"algorithm": algorithm} | {f"expert {n}": expert for n, expert in enumerate(experts, 1)}
        for ours, theirs in itertools.permutations(named, 2):
            if "algorithm" not in (ours, theirs) and len(experts) < 2:
                continue
            objects = objects_of(named[ours])
            if not objects:
                assert (document_id, ours, theirs) not in rows_of
                continue
            rows = rows_of[document_id, ours, theirs]
            columns = ["level", "element", "fragment", "overtext", "start", "end", "tag"]
            cells = rows[columns].astype(object).where(rows[columns].notna(), None)
            assert [tuple(row) for row in cells.itertuples(index=False)] == objects
            result = consistency(named[ours], named[theirs], weights)
            pairs = partners_of(result.pairs)
            matched = rows[rows["outcome"] == "matched"]
            own = ["element", "fragment", "overtext"]
            partners = [*own, *(f"partner_{name}" for name in own)]
            assert [tuple(row) for row in matched[partners].itertuples(index=False)] == [
                key for key, _ in pairs
            ]
            assert matched["consistency"].tolist() == [worth for _, worth in pairs]
            unmatched = rows[rows["outcome"] == "unmatched"]
            assert (unmatched[partners[3:]] == -1).all(axis=None)
            assert unmatched["consistency"].isna().all()
            outcomes |= set(zip(rows["level"], rows["outcome"]))
    levels = ("element", "element overtext", "fragment", "fragment overtext")
    assert outcomes == set(itertools.product(levels, ("matched", "unmatched")))


def objects_of(value: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Every object of a markup as a row of the table."""
    rows: list[tuple[Any, ...]] = []

    def add(level: str, markup: dict[str, Any], *place: int) -> None:
        rows.append((level, *place, "|".join(sorted(set(markup.get("tags", [])))) or None))

    for e, an_element in enumerate(value["elements"]):
        add("element", an_element, e, -1, -1, -1, -1)
        for o, an_overtext in enumerate(an_element.get("overtexts", [])):
            add("element overtext", an_overtext, e, -1, o, -1, -1)
        for f, a_fragment in enumerate(an_element.get("fragments", [])):
            add("fragment", a_fragment, e, f, -1, a_fragment["start"], a_fragment["end"])
            for o, an_overtext in enumerate(a_fragment.get("overtexts", [])):
                add("fragment overtext", an_overtext, e, f, o, -1, -1)
    return rows


def partners_of(pairs: list[Any]) -> list[tuple[tuple[int, ...], float]]:
    """Every pair of partners with its level and positions."""
    rows = []
    for pair in pairs:
        rows.append(((pair.first, -1, -1, pair.second, -1, -1), pair.consistency))
        for inner in pair.overtexts:
            rows.append(((pair.first, -1, inner.first, pair.second, -1, inner.second), inner.consistency))
        for inner in pair.fragments:
            rows.append(((pair.first, inner.first, -1, pair.second, inner.second, -1), inner.consistency))
            for note in inner.overtexts:
                key = (pair.first, inner.first, note.first, pair.second, inner.second, note.second)
                rows.append((key, note.consistency))
    return sorted(rows)


def test_texts(tmp_path: Path) -> None:
    """Texts come from the solution, whatever its ids are called, or from the organizers' files."""
    truth, predicted = (table.rename(columns={"document_id": "essay"}) for table in SAMPLE)
    evaluation = evaluating.evaluate(evaluating.prepare(hosted.load(metric.NAME), truth, {}), predicted)
    assert companion.companion.texts(evaluation) == dict(zip(truth["essay"], truth["text"]))
    no_texts = evaluating.prepare(hosted.load(metric.NAME), truth.drop(columns="text"), {})
    without = evaluating.evaluate(no_texts, predicted)
    assert companion.companion.texts(without) == {}
    (tmp_path / "a.json").write_text('{"id": "A", "text": "one", "markups": []}')
    (tmp_path / "b.json").write_text('{"id": "B", "markups": []}')
    assert companion.companion.texts(without, tmp_path) == {"A": "one"}


def test_the_barrier(evaluated: Any) -> None:
    """It is an RMA of at least 1, and its probability the share of resamples that reach it."""
    row = evaluated.tables["Barrier"].to_dict("records")[0]
    draws = statistics.draw(len(evaluated.numbers), statistics.RESAMPLES, 0)
    samples = statistics.resample(evaluated.prepared, evaluated.numbers, draws)[:, 3]
    assert [*row.values()] == ["RMA", evaluated.rma, 1.0, "no", (samples >= 1).mean()]
    solution, _ = SAMPLE
    first = [json.loads(cell)[:1] for cell in solution["markups"]]
    expert = [json.dumps(markups[0] if markups else {"elements": []}) for markups in first]
    best = evaluate(solution, pd.DataFrame({"document_id": solution["document_id"], "markup": expert}))
    assert best.tables["Barrier"].loc[0, ["passed", "probability"]].tolist() == ["yes", 1.0]


def test_an_undefined_barrier() -> None:
    solution, submission = SAMPLE
    alone = solution[solution["document_id"] == "essay-04"]
    answer = submission[submission["document_id"] == "essay-04"]
    row = evaluate(alone, answer, "ama").tables["Barrier"].loc[0]
    assert np.isnan(row[["value", "probability"]].tolist()).all()
    assert row["passed"] == "no"


def test_weights_for_hosting() -> None:
    solution, submission = SAMPLE
    result = evaluate(solution, submission)
    text = companion.weights(result.prepared)
    assert text.startswith("accordance=1,tags=1,overtexts=1,")
    assert "fragments.overtexts.tags=0" in text
    assert result.notices[2:] == ["criteria that do not count: fragments.overtexts.tags"]
    assert metric.score(solution, submission, "document_id", weights=text) == result.score
    assert metric.prepare(solution, "document_id", weights=text).rules == result.prepared.rules


def test_advice_to_hosts() -> None:
    solution, _ = SAMPLE
    arguments = {"row_id_column_name": "document_id"}
    weights = companion.weights(metric.prepare(solution, "document_id"))
    (line,) = companion.advice(solution, arguments)
    assert line == f'give all weights, so that every part has the same: weights="{weights}"'
    late = solution["document_id"] >= "essay-10"  # there are neither texts nor overtexts of fragments
    parts = solution.assign(Usage=np.where(late, "Public", "Private"))
    _, differing = companion.advice(parts, arguments)
    assert differing == (
        "Public alone would have other weights than the whole solution: fragments.texts=0, "
        "fragments.overtexts=0, fragments.overtexts.texts=0, fragment_text_union=0"
    )
    assert companion.advice(parts, arguments | {"weights": weights}) == []
    with pytest.raises(HostError, match=r"^markups: expected a list of markups in JSON"):
        hosted.load("markup_consistency").companion.advice(parts.assign(markups="?"), arguments)


def test_agreement_of_experts(evaluated: Any) -> None:
    """Nobody marked anything in essay-10, so its agreement of 1 counts for EMA only."""
    solution, _ = SAMPLE
    agreement = companion.companion.agreement(evaluated.prepared, solution)
    pairs = evaluated.pairs[(evaluated.pairs["markup"] != "algorithm")]
    pairs = pairs[pairs["document_id"] != "essay-10"]
    by_document = pairs.groupby("document_id")[list(metric.CRITERIA)].mean()
    criteria = agreement.criteria.set_index("criterion")
    assert criteria["mean"].to_dict() == pytest.approx(
        {name: by_document[name].mean() for name in metric.CRITERIA if name != "fragments.overtexts.tags"}
    )
    documents = agreement.documents.set_index("document_id")
    assert documents["total"].dropna().to_dict() == pytest.approx(by_document["total"].to_dict())
    assert documents["experts"].tolist() == evaluated.documents["experts"].tolist()
    least = agreement.tables["Documents on which they agree least"]
    assert least["total"].dropna().tolist() == pytest.approx(sorted(by_document["total"]))
    assert agreement.notices == [
        "documents with fewer than two experts are left out: essay-04, essay-06 (2 documents)",
        "documents in which no expert marked anything are left out: essay-10 (1 document)",
    ]
    panels = agreement.histograms["Agreement of the experts"]
    series = panels["Consistency of markups"]["series"]["experts with each other"]
    assert sorted(series) == sorted(pairs["total"])


def spans(*ends: tuple[int, int]) -> dict[str, Any]:
    """A markup whose one element has fragments with these ends."""
    return {"elements": [{"fragments": [{"start": start, "end": end} for start, end in ends]}]}


ONLY_TEXTS = "accordance=0,fragments=0,fragment_text_union=1"


def agreement_of(*documents: list[dict[str, Any]]) -> Any:
    """The companion's agreement of the experts of these documents."""
    markups = [json.dumps(each) for each in documents]
    frame = pd.DataFrame({"document_id": range(len(markups)), "markups": markups})
    prepared = metric.prepare(frame, "document_id", weights=ONLY_TEXTS)
    return companion.companion.agreement(prepared, frame)


def test_the_intervals_of_an_agreement() -> None:
    """They stay within 0 and 1, and come from ten documents at least."""
    apart, same = [spans((0, 9)), spans((9, 18))], [spans((0, 9)), spans((0, 9))]
    few = agreement_of(*[apart] * 4, *[same] * 5).criteria
    assert set(few["note"]) == {"no interval: fewer than 10 documents"}
    assert few[["low", "high"]].isna().all(axis=None)
    for number, end, bound in ((3, "high", 1.0), (9, "low", 0.0)):
        table = agreement_of(*[apart] * number, *[same] * (12 - number)).criteria
        assert (table["low"] <= table["mean"]).all()
        assert (table["mean"] <= table["high"]).all()
        assert set(table[end]) == {bound}


def test_the_outlier_among_experts_by_hand() -> None:
    """Of [0, 10), b shares .8 with a, and c shares .5 with a and .7 with b. So c is taken for an algorithm."""
    a, b, c = spans((0, 10)), spans((2, 12)), spans((5, 15))
    named = [markup | {"expert": name} for markup, name in ((a, "Anna"), (b, "Boris"), (c, "Clara"))]
    agreement = agreement_of(named, named[:2])
    assert agreement.notices == []
    table = agreement.experts.set_index("expert")
    assert table.index.tolist() == ["Clara", "Anna", "Boris"]
    assert table.loc["Clara"].tolist() == pytest.approx([1, 0.6, 0.8, 0.75])
    assert table.loc["Anna"].tolist() == pytest.approx([2, (0.65 + 0.8) / 2, 0.7, 0.65 / 0.7])
    assert table.loc["Boris"].tolist() == pytest.approx([2, (0.75 + 0.8) / 2, 0.5, 1.5])


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("Anna", "Anna"), {"Anna", "expert 2"}),
        (("", "Anna"), {"expert 1", "Anna"}),
        ((" Anna ", None), {"Anna", "expert 2"}),
        (("", ""), {"expert 1", "expert 2"}),
    ],
)
def test_experts_without_names_of_their_own_are_numbered(names: tuple[str, str], shown: set[str]) -> None:
    """Only they are, and only in their document: the others keep their names."""
    markups = [spans((0, 10)) | {"expert": name} for name in names]
    agreement = agreement_of(markups, [spans((0, 10)) | {"user": name} for name in ("Carl", "Dora")])
    assert set(agreement.experts["expert"]) == shown | {"Carl", "Dora"}
    assert [notice.rpartition(": ")[2] for notice in agreement.notices] == ["0 (1 document)"]


def test_an_expert_who_only_looked_is_told_with_the_value_without() -> None:
    """C opened one document and marked nothing, which lowers the agreement there from 1 to a third."""
    a, b = (spans((0, 10)) | {"expert": name} for name in "AB")
    agreement = agreement_of([a, b, {"elements": [], "expert": "C"}], [a, b])
    assert agreement.criteria["mean"][0] == pytest.approx((1 / 3 + 1) / 2)
    [told] = [notice for notice in agreement.notices if "marked nothing in any" in notice]
    counts = "C marked nothing in any document and counts as an expert"
    assert told == f"{counts}; with --leave-out C, total is 1.000000"
    elsewhere = [a, b, spans((0, 10)) | {"expert": "C"}]
    marked_once = agreement_of([a, b, {"elements": [], "expert": "C"}], elsewhere)
    assert marked_once.notices == []


def test_an_expert_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The value is the one that was told before."""
    a, b, c = (spans((0, 10)) | {"expert": name} for name in ("A", "B", "C"))
    far, nobody = spans((50, 60)) | {"expert": "B"}, {"elements": [], "expert": "C"}
    frame = pd.DataFrame(
        {"document_id": ["1", "2"], "markups": [json.dumps([a, b, nobody]), json.dumps([a, far])]}
    )
    for name, table in (("e", frame), ("a", pd.DataFrame({"document_id": [1, 2], "markup": json.dumps(c)}))):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    metric = ["--metric", "markup_consistency", str(tmp_path / "e.csv")]
    for command in (["agreement", *metric], ["score", *metric, str(tmp_path / "a.csv")]):
        assert main(command) == 0
        told = re.search(r"(?:-out|; without) C, (?:total|the score) is (\S+)", capsys.readouterr().err)
        assert told is not None
        if command[0] == "score":
            cells = frame["markups"].map(lambda cell: json.dumps([m for m in json.loads(cell) if m != nobody]))
            frame.assign(markups=cells).to_csv(tmp_path / "e.csv", index=False)
        assert main([*command, *(["--leave-out", "C"] if command[0] == "agreement" else [])]) == 0
        printed = capsys.readouterr()
        assert re.search(rf"^(total .*|Score +){told[1]}\b", printed.out, re.MULTILINE)
        assert ("experts left out: C (1 document)" in printed.out) == (command[0] == "agreement")
        assert "marked nothing in any" not in printed.err
    assert main(["agreement", *metric, "--leave-out", "D"]) == 2
    assert "expected one of A, B, found 'D'" in capsys.readouterr().err


def test_the_rows_of_a_submission_have_the_names_of_experts() -> None:
    experts = [spans((0, 10)) | {"expert": name} for name in ("Anna", "Boris", "Anna")]
    solution = pd.DataFrame({"document_id": ["1"], "markups": [json.dumps(experts)]})
    submission = pd.DataFrame({"document_id": ["1"], "markup": [json.dumps(spans((0, 5)))]})
    result = evaluate(solution, submission)
    everyone = {"algorithm", "Anna", "Boris", "expert 3"}
    for table in (result.rows, result.pairs):
        assert set(table["markup"]) | set(table["against"]) == everyone
    pairs = result.pairs.set_index(["markup", "against"])["total"]
    assert pairs["Anna", "Boris"] == 1 > pairs["algorithm", "Anna"]


def test_experts_without_a_name_keep_their_number_when_others_are_left_out() -> None:
    frame = pd.DataFrame({"document_id": ["1"], "markups": [json.dumps([spans((0, 5))] * 3)]})
    kept = json.loads(companion.companion.leave_out(frame, ["expert 1"])["markups"][0])
    assert [markup["expert"] for markup in kept] == ["expert 2", "expert 3"]


def test_a_solution_with_ignored_rows_keeps_its_names() -> None:
    documents = [[spans((0, 10)) | {"expert": name} for name in names] for names in (("x", "y"), ("a", "b"))]
    frame = pd.DataFrame({"document_id": ["p", "q"], "markups": [json.dumps(each) for each in documents]})
    whole = evaluating.prepare(hosted.load(metric.NAME), frame.assign(Usage=["Ignored", "Public"]), {})
    rows = whole.rows[evaluating.ALL]
    agreement = companion.companion.agreement(whole.prepared[evaluating.ALL], whole.frame[rows])
    assert set(agreement.experts["expert"]) == {"a", "b"}
