"""SciFact's companion explains a submission, and reads the official files."""

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given

import podium
from podium.cli import main
from podium.common.errors import HostError, SubmissionRejected, UsageError
from podium.metric import hosted
from tests.support.examples import examples
from tests.support.scifact_data import SAMPLES, WORKED_GOLD, WORKED_PREDICTION, frame, json_lines
from tests.support.scifact_strategies import answer_of, competitions, frames, gold_of

companion = hosted.module("scifact", "companion")

DATA = Path(__file__).parents[3] / "shared" / "data" / "scifact"
scifact = hosted.module("scifact")
evaluate = partial(podium.score, metric="scifact")

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the official files are not beside the repository")

EXPECTED_LINE = (
    "expected one JSON object per line, with an id (a whole number or text) and evidence (an object)."
)


def explain(gold: dict[str, Any], answers: dict[str, Any]) -> companion.Explanation:
    """The explanation of an answer to a single claim."""
    explanation: companion.Explanation = evaluate(*frames({"1": gold}, {"1": answers})).explanation
    return explanation


def outcomes(gold: dict[str, Any], answer: dict[str, Any], level: str, side: str = "prediction") -> list[str]:
    """The outcomes of an answer on one level and one side."""
    rows = explain(gold, answer).rows
    return list(rows.loc[(rows["level"] == level) & (rows["side"] == side), "outcome"])


# --- the document's worked example ----------------------------------------------------------------


@pytest.fixture(scope="module")
def worked():
    """The explanation of the document's worked example."""
    return evaluate(frame([WORKED_GOLD]), frame([WORKED_PREDICTION])).explanation


def test_worked_example_rows(worked):
    rows = [
        [None if value is pd.NA else value for value in row]
        for row in worked.rows.drop(columns="claim_id").to_numpy(dtype=object).tolist()
    ]
    assert rows == [
        ["claim", "prediction", None, None, None, None, None, "not in gold"],
        ["abstract", "prediction", "11", None, "SUPPORT", None, None, "correct"],
        ["abstract", "truth", "11", None, "SUPPORT", None, None, "correct"],
        ["sentence", "prediction", "11", 1, "SUPPORT", 1, 1, "evidence incomplete"],
        ["sentence", "prediction", "11", 11, "SUPPORT", 2, 2, "correct"],
        ["sentence", "prediction", "11", 13, "SUPPORT", 3, None, "not in gold"],
        ["sentence", "truth", "11", 0, "SUPPORT", None, 1, "missed"],
        ["sentence", "truth", "11", 1, "SUPPORT", None, 1, "evidence incomplete"],
        ["sentence", "truth", "11", 11, "SUPPORT", None, 2, "correct"],
        ["abstract", "truth", "15", None, "SUPPORT", None, None, "missed"],
        ["sentence", "truth", "15", 4, "SUPPORT", None, 1, "missed"],
        ["abstract", "prediction", "16", None, "CONTRADICT", None, None, "not in gold"],
        ["sentence", "prediction", "16", 18, "CONTRADICT", 1, None, "not in gold"],
        ["sentence", "prediction", "16", 20, "CONTRADICT", 2, None, "not in gold"],
    ]
    assert list(worked.rows.columns) == [
        *("level", "side", "claim_id", "abstract", "sentence", "label", "place", "evidence_set", "outcome")
    ]
    assert set(worked.rows["claim_id"]) == {"52"}


def test_worked_example_claims(worked):
    assert worked.claims.to_numpy(dtype=object).tolist() == [
        ["52", "11", "SUPPORT", "SUPPORT", "correct", 3, 3, 1, 1, 1, 1],
        ["52", "15", "SUPPORT", None, "missed", 1, 0, 0, 0, 0, 0],
        ["52", "16", None, "CONTRADICT", "not in gold", 0, 2, 0, 0, 0, 0],
    ]


# --- what became of everything --------------------------------------------------------------------


WRONG = {"label": "CONTRADICT"}


@pytest.mark.parametrize(
    ("sets", "sentences", "label", "abstract", "predicted", "true"),
    [
        ([[4]], [4, 4, 7], {}, "correct", ["correct", "repeated", "not in gold"], ["correct"]),
        ([[4]], [1, 2, 3, 4], {}, "beyond the first three", ["not in gold"] * 3 + ["correct"], ["correct"]),
        ([[4]], [4, 4, 7], WRONG, "wrong label", ["wrong label", "repeated", "not in gold"], ["wrong label"]),
        ([[0, 1]], [0], {}, "evidence incomplete", ["evidence incomplete"], ["evidence incomplete", "missed"]),
        ([[0, 1]], [0], WRONG, "wrong label", ["evidence incomplete"], ["evidence incomplete", "missed"]),
        ([[0, 1], [4]], [4, 0], {}, "correct", ["correct", "evidence incomplete"],
         ["evidence incomplete", "missed", "correct"]),
        ([[4]], [], {}, "evidence incomplete", [], ["missed"]),
    ],
)  # fmt: skip
def test_outcomes_of_an_abstract_and_its_sentences(sets, sentences, label, abstract, predicted, true):
    gold, answer = gold_of(*sets), answer_of(*sentences, **label)
    for side, of_sentences in (("prediction", predicted), ("truth", true)):
        assert outcomes(gold, answer, "abstract", side) == [abstract]
        assert outcomes(gold, answer, "sentence", side) == of_sentences


def test_a_claim_has_the_worst_outcome_of_its_abstracts():
    gold, answers = {}, {}
    for worst, is_gold, sentences, label in (
        ("correct", True, [4], {}),
        ("missed", True, None, {}),
        ("not in gold", False, [4], {}),
        ("beyond the first three", True, [1, 2, 3, 4], {}),
        ("evidence incomplete", True, [], {}),
        ("wrong label", True, [4], WRONG),
    ):
        gold |= gold_of([4], document=worst) if is_gold else {}
        answers |= {} if sentences is None else answer_of(*sentences, document=worst, **label)
        assert outcomes(gold, answers, "claim") == [worst]


def test_claims_without_evidence():
    assert list(explain({}, answer_of(1, 2)).rows["outcome"]) == ["not in gold"] * 4
    assert list(explain(gold_of([1]), {}).claims["outcome"]) == ["missed"]
    bare = explain({}, {})
    assert bare.rows["outcome"].tolist() == ["correct"]
    assert bare.claims.iloc[0].tolist() == ["1", None, None, None, "correct", 0, 0, 0, 0, 0, 0]
    assert bare.notices == ["the submission predicts no evidence, so its precision is 0 / 0, which counts as 0"]


def test_notices_of_wasted_sentences():
    gold = gold_of([4]) | gold_of([5], document="12")
    assert explain(gold, answer_of(1, 2, 3, 4) | answer_of(5, 5, 7, 7, document="12")).notices == [
        "for 1 abstract the label is right and a whole evidence set is listed, but not among the first 3 "
        "sentences; list the surest sentences first",
        "a sentence that stands earlier in the same list counts as wrong: 2 sentences",
    ]


def test_labels_without_sentences_are_told_the_measure_that_counts_them():
    gold = gold_of([4]) | gold_of([5], document="12")
    explanation = explain(gold, answer_of() | answer_of(document="12", **WRONG))
    assert explanation.notices == [
        "no abstract lists a sentence, so sentence_label_f1 counts nothing as right: list the "
        "sentences that are the evidence, or ask for the labels alone, whose measure=abstract_label_only_f1 is "
        "0.5000"
    ]
    assert [kind for kind, _ in explanation.mistakes] == ["labels without sentences"]
    assert explain(gold, answer_of() | answer_of(5, document="12")).mistakes == []


def test_sentences_that_count_from_1_are_told():
    """The fault is told where a shift gives a much better score, and nowhere else."""
    gold = gold_of([4], [0]) | gold_of([2, 3], document="12")
    right = answer_of(0, 4) | answer_of(2, 3, document="12")
    shifted = answer_of(1, 5) | answer_of(3, 4, document="12")
    (notice,) = explain(gold, shifted).notices
    assert notice == (
        "sentences seem to be counted from 1: they count from 0, and with every number one smaller the score "
        "would be 1.0000 higher"
    )
    for answer in (right, answer_of(4), answer_of(7, 8)):
        assert not any("counted from 1" in each for each in explain(gold, answer).notices)


@given(competitions())
@examples(30)
def test_explanations_add_up_to_the_counts(competition):
    whole = evaluate(*frames(*competition))
    evaluation = whole.explanation
    claims, counts = evaluation.claims, evaluation.counts
    of_credits = ["label_only", "rationalized", "selection", "sentence_label"]
    assert claims[of_credits].sum().tolist() == counts["correct"].tolist()
    of_units = ["relevant", "retrieved"]
    assert claims[of_units].sum().tolist() == counts.loc["sentence_label", of_units].tolist()
    assert len(claims.drop_duplicates(["claim_id", "abstract"])) == len(claims)
    assert set(claims["claim_id"]) == set(whole.prepared.items)
    tabled = evaluation.tables["Outcomes"].set_index("outcome")
    for side, level, column in (
        ("prediction", "claim", "claims"),
        ("prediction", "abstract", "predicted_abstracts"),
        ("truth", "abstract", "gold_abstracts"),
        ("prediction", "sentence", "predicted_sentences"),
        ("truth", "sentence", "gold_sentences"),
    ):
        rows = evaluation.rows[(evaluation.rows["side"] == side) & (evaluation.rows["level"] == level)]
        assert tabled[column].tolist() == [(rows["outcome"] == name).sum() for name in companion.OUTCOMES]
    measures = evaluation.tables["Measures"].set_index("credit")
    assert measures[counts.columns].equals(counts)
    values = measures[["precision", "recall", "f1"]].to_numpy().ravel().tolist()
    assert values == list(whole.measures.values())[1:]


# --- official files -------------------------------------------------------------------------------


def read(tmp_path: Path, content: str | bytes) -> pd.DataFrame:
    """What the companion reads from a file with this content."""
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return companion.read_submission(path)


def unreadable(tmp_path: Path, content: str | bytes) -> str:
    """The message for the participant, after checking that the host gets the same one."""
    with pytest.raises(SubmissionRejected) as caught:
        read(tmp_path, content)
    with pytest.raises(HostError) as caught_by_host:
        companion.read_solution(tmp_path / "predictions.jsonl")
    assert str(caught.value) == str(caught_by_host.value)
    assert len(str(caught.value)) <= 280
    return str(caught.value)


LINE = '{"id": 7, "evidence": {"11": {"sentences": [1, 11], "label": "SUPPORT"}}}'
CELL = '{"11": {"sentences": [1, 11], "label": "SUPPORT"}}'


@pytest.mark.parametrize(
    "content",
    [
        LINE,
        "\n\n" + LINE + "\n \t\r\n",
        "\ufeff" + LINE,
        LINE.replace('"id": 7', '"id": "7"'),
        LINE.replace('"id": 7', '"id": 7.0'),
        LINE.replace('"id": 7', '"\\u0069d": "\\u0037"'),
        LINE.replace('{"id": 7, ', '{"id": 7, "claim": "A \\" \\\\ \\u00e9 \\n : {}é\u2028", '),
        LINE.replace('{"id": 7, ', '{"id": 7, "claim": null, "evidence_2": {"id": 1}, "more": [[{}]], '),
        LINE[:-1] + ', "cited_doc_ids": [1, 2]}',
        '{"claim": "a", "evidence": ' + CELL + ', "id": 7}',
    ],
)
def test_lines(tmp_path, content):
    result = read(tmp_path, content)
    assert result.to_dict("list") == {"claim_id": ["7"], "evidence": [CELL]}


def test_the_evidence_means_what_is_written(tmp_path):
    """This includes values that would change if they were rounded, cut or completed."""
    cells = ['{"a": {}}', '{"\\ud800": 1.0}', '{"\\u00e9": "\\u00e9"}', "{}", '{"}": ["{"]}', '{"a": Infinity}']
    result = read(tmp_path, "\n".join(f'{{"id": {n}, "evidence": {cell}}}' for n, cell in enumerate(cells)))
    assert result["evidence"].tolist() == cells
    assert result["claim_id"].tolist() == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[]", "a list instead of an object"),
        ('{"id": 1}', "no evidence"),
        ('{"evidence": {}}', "no id"),
        ('{"id": 1, "evidence": []}', "evidence is a list"),
        ('{"id": 1.5, "evidence": {}}', "id is 1.5"),
        ('{"id": "\\ud83d", "evidence": {}}', "an id with an incomplete character"),
        ('{"id": 1, "evidence": {}, "id": 2}', "the key 'id' is written twice"),
        ('{"id": 1, "evidence": {}', "not JSON: Expecting ',' delimiter at character 25"),
        ('{"id": 1, "evidence": ' + "[" * 100_000, "nested too deeply"),
        ('{"id": ' + "9" * 5000 + ', "claim": 1, "evidence": {}}', "a number with too many digits"),
    ],
)  # fmt: skip
def test_what_is_no_line(tmp_path, line, reason):
    message = unreadable(tmp_path, f"{LINE}\n\n{line}\n{LINE}")
    assert message == f"predictions.jsonl: {EXPECTED_LINE} Wrong in 1 line: line 3 ({reason})"


def test_a_list_in_json_is_its_lines(tmp_path):
    """Its faults are named by their number, too."""
    entries = [{"id": 1, "evidence": {"7": {"sentences": [0], "label": "SUPPORT"}}}, {"id": 2, "evidence": {}}]
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, entries)))
    (tmp_path / "list.json").write_text(json.dumps(entries, indent=1))
    lines, array = (companion.read_submission(tmp_path / name) for name in ("lines.jsonl", "list.json"))
    assert array.equals(lines)
    (tmp_path / "list.json").write_text(json.dumps([*entries, {"id": 3}]))
    with pytest.raises(SubmissionRejected, match=r"Wrong in 1 entry: entry 3 \(no evidence\)$"):
        companion.read_submission(tmp_path / "list.json")


def test_ids_that_pandas_wrote_as_decimals_are_whole_numbers(tmp_path):
    said = {"sentences": [0], "label": "SUPPORT"}
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": 1.0, "evidence": {"7.0": said}}))
    with pytest.warns(UserWarning, match="as whole numbers: 1 abstract, such as 7.0$"):
        read = companion.read_submission(tmp_path / "p.jsonl")
    assert [json.loads(cell) for cell in read["evidence"]] == [{"7": said}]


def test_rows_of_the_hugging_face_data_set_are_evidence_sets(tmp_path):
    sets = [("7", "SUPPORT", [0, 2]), ("7", "SUPPORT", [4]), ("9", "SUPPORT", [1]), ("", "", [])]
    rows = [
        {
            "id": min(number, 3),
            "claim": f"c{min(number, 3)}",
            "evidence_doc_id": document,
            "evidence_label": label,
        }
        | {"evidence_sentences": sentences, "cited_doc_ids": [7]}
        for number, (document, label, sentences) in zip((3, 3, 3, 2), sets)
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    gold = companion.read_solution(tmp_path / "gold.jsonl")
    assert gold["claim_id"].tolist() == ["3", "2"]
    first, second = map(json.loads, gold["evidence"])
    assert first["7"] == [{"sentences": [0, 2], "label": "SUPPORT"}, {"sentences": [4], "label": "SUPPORT"}]
    assert (list(first), second) == (["7", "9"], {})


def test_abstracts_of_another_corpus_are_told():
    gold = {str(n): {str(100 + n): [{"sentences": [0], "label": "SUPPORT"}]} for n in range(6)}
    answers = {n: {f"S{n}": {"sentences": [0], "label": "SUPPORT"}} for n in gold}
    assert [kind for kind, _ in evaluate(*frames(gold, answers)).explanation.mistakes] == [
        "abstracts of another corpus"
    ]
    answers["0"] = {"100": {"sentences": [0], "label": "SUPPORT"}}
    assert not evaluate(*frames(gold, answers)).explanation.mistakes


def test_half_a_packed_file(tmp_path):
    message = unreadable(tmp_path, gzip.compress(LINE.encode())[:-20])
    assert message.startswith("predictions.jsonl: expected a file packed by gzip, found ")


def test_an_empty_file_has_no_claims(tmp_path):
    submission = read(tmp_path, "\n")
    assert list(submission.columns) == ["claim_id", "evidence"]
    with pytest.raises(SubmissionRejected, match=r"Missing: 1\."):
        evaluate(frame([WORKED_GOLD]), submission)
    with pytest.raises(HostError, match="expected at least one row"):
        evaluate(submission, submission)


@needs_data
def test_official_json_is_the_evaluators_file():
    folder = DATA / "evaluator_fixture"
    evaluation = evaluate(
        companion.read_solution(folder / "gold_small.jsonl"),
        companion.read_submission(folder / "predictions_small.jsonl"),
    )
    expected = json.loads((folder / "expected_metrics_small.json").read_text())
    assert companion.official_json(evaluation.measures) == expected


# --- texts for the report -------------------------------------------------------------------------


@pytest.fixture
def evaluation():
    """The worked example, scored, with a claim that has no evidence."""
    gold = {**WORKED_GOLD, "id": 7}, {**WORKED_GOLD, "id": 8, "evidence": {}, "claim": None}
    predicted = {**WORKED_PREDICTION, "id": 7}, {"id": 8, "evidence": {}}
    solution = frame(gold).assign(claim=[line["claim"] for line in gold])
    return evaluate(solution, frame(predicted))


def test_texts_are_claims_and_the_abstracts_that_either_side_names(evaluation, tmp_path):
    path = tmp_path / "corpus.jsonl.gz"
    abstracts = [
        {"doc_id": 11, "title": "Eleven", "abstract": [f"S{n}.\n" for n in range(14)], "structured": False},
        {"doc_id": 15, "title": "Fifteen", "abstract": ["S0.", "S1."]},
        {"doc_id": 99, "title": "Another", "abstract": []},
    ]
    path.write_bytes(gzip.compress(json_lines(abstracts).encode()))
    marks = {
        0: " [gold: missed]",
        1: " [predicted: evidence incomplete, gold: evidence incomplete]",
        11: " [predicted: correct, gold: correct]",
        13: " [predicted: not in gold]",
    }
    claim = f"Claim: {WORKED_GOLD['claim']}"
    assert companion.texts(evaluation) == {"7": claim}
    assert companion.texts(evaluation, path) == {
        "7": "\n\n".join(
            [
                claim,
                "\n".join(
                    [
                        "Abstract 11: Eleven [predicted: correct, gold: correct]",
                        *(f"{n}. S{n}.{marks.get(n, '')}" for n in range(14)),
                    ]
                ),
                "Abstract 15: Fifteen [gold: missed]\n0. S0.\n1. S1.",
            ]
        )
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"doc_id": 1.5, "title": "a", "abstract": []}', "doc_id is 1.5"),
        ('{"doc_id": 1, "title": "a", "abstract": "b"}', "abstract is the text 'b'"),
        ('{"doc_id": 1, "title": "a", "abstract": ["b", 1]}', "1 among the sentences"),
    ],
)
def test_what_is_no_corpus(evaluation, tmp_path, line, reason):
    path = tmp_path / "corpus.jsonl"
    path.write_text(line)
    with pytest.raises(UsageError) as caught:
        companion.texts(evaluation, path)
    assert str(caught.value) == (
        "corpus.jsonl: expected one JSON object per line, with doc_id, title (text) and abstract (a list of "
        f"texts). Wrong in 1 line: line 1 ({reason})"
    )


def test_a_corpus_of_other_abstracts(evaluation, tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"doc_id": 12, "title": "a", "abstract": []}')
    with pytest.raises(UsageError, match="has none of the 3 abstracts"):
        companion.texts(evaluation, path)


# --- the command line -----------------------------------------------------------------------------


def test_the_command_line(capsys):
    tables = [str(SAMPLES / f"{name}.csv") for name in ("solution", "submission")]
    assert main(["score", "--metric", "scifact", *tables, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"score", "public", "private"} <= set(report)
    assert list(report["official"]) == list(scifact.MEASURES)
    assert report["official"]["sentence_label_f1"] == report["score"]


def test_ids_that_are_numbers_are_listed_as_numbers():
    gold = {claim_id: {"30": gold_of([1])["11"]} for claim_id in ("10", "9", "b", "a", "100")}
    answers = {claim_id: {"4": answer_of(1)["11"], "200": answer_of(1)["11"]} for claim_id in gold}
    explanation = evaluate(*frames(gold, answers)).explanation
    for table in (explanation.claims, explanation.rows):
        assert list(table["claim_id"].drop_duplicates()) == ["9", "10", "100", "a", "b"]
        assert list(table["abstract"].dropna().drop_duplicates()) == ["4", "30", "200"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_sentence_of_two_sets_is_shown_with_the_complete_one():
    gold = gold_of([0, 1, 2], [2, 3])
    rows = explain(gold, answer_of(2, 3, 0)).rows
    sentences = rows[rows["level"] == "sentence"].set_index("side")
    predicted = sentences.loc["prediction", ["sentence", "evidence_set", "outcome"]].to_numpy().tolist()
    assert predicted == [[2, 2, "correct"], [3, 2, "correct"], [0, 1, "evidence incomplete"]]
    truth = sentences.loc["truth", ["sentence", "evidence_set", "outcome"]]
    assert truth.to_numpy().tolist() == [
        [0, 1, "evidence incomplete"],
        [1, 1, "missed"],
        [2, 1, "evidence incomplete"],
        [2, 2, "correct"],
        [3, 2, "correct"],
    ]
    assert explain(gold, answer_of(2, 3, 0)).counts.loc["sentence_selection"].tolist() == [5, 3, 2]


def test_a_perfect_submission_lists_the_shortest_set_first():
    solution = frames({"1": gold_of([0, 1, 2, 3], [7, 8])}, {"1": {}})[0]
    perfect = companion.perfect_submission(solution)
    assert json.loads(perfect["evidence"][0])["11"]["sentences"] == [7, 8, 0, 1, 2, 3]
    assert evaluate(solution, perfect).measures["abstract_rationalized_f1"] == 1.0
    solution = companion.read_solution(SAMPLES / "claims.jsonl")
    assert set(companion.sample_submission(solution)["evidence"]) == {"{}"}
    measures = evaluate(solution, companion.perfect_submission(solution)).measures
    assert {value for name, value in measures.items() if name.endswith("_f1")} == {1.0}
