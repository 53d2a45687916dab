"""Tables of spans are markups, and markups are tables of spans."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.cli import main
from podium.errors import HostError, SubmissionRejected
from podium.markups import from_spans, to_spans
from tests.support.examples import examples

COLUMNS = ["document_id", "expert", "start", "end", "tag"]


def table(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """A table of the experts' spans."""
    return pd.DataFrame(rows, columns=COLUMNS)


SPANS = st.tuples(
    st.sampled_from(["d1", "d2"]),
    st.sampled_from(["ann", "ben"]),
    st.integers(0, 9),
    st.integers(9, 20),
    st.sampled_from([None, "A", "A|B", "B"]),
    st.sampled_from([None, "1", "2"]),
    st.sampled_from([None, "why", "because"]),
)


@given(st.lists(SPANS, min_size=1, max_size=8))
@examples(300)
def test_what_is_read_goes_back_the_same(rows: list[tuple[Any, ...]]) -> None:
    spans = pd.DataFrame(rows, columns=[*COLUMNS, "element", "comment"], dtype=object)
    markups = from_spans(spans)
    again = from_spans(to_spans(markups))
    assert again.to_numpy().tolist() == markups.to_numpy().tolist()


def test_spans_with_the_same_element_are_its_fragments() -> None:
    spans = table(("d", "ann", 0, 3, "A"), ("d", "ann", 5, 8, "A"), ("d", "ann", 9, 12, "A")).assign(
        element=[1, 1, 2]
    )
    [markup] = json.loads(from_spans(spans)["markups"][0])
    assert [len(element["fragments"]) for element in markup["elements"]] == [2, 1]
    assert [element["tags"] for element in markup["elements"]] == [["A"], ["A"]]


def test_nothing_marked_is_not_the_same_as_not_annotated() -> None:
    solution = from_spans(
        table(("d", "ann", 0, 3, "A"), ("d", "ben", None, None, None), ("e", "ann", 0, 3, "A"))
    )
    names = [[markup["expert"] for markup in json.loads(cell)] for cell in solution["markups"]]
    assert names == [["ann", "ben"], ["ann"]]
    assert json.loads(solution["markups"][0])[1]["elements"] == []


def test_a_count_by_hand() -> None:
    """Ann marks two names, and Ben one of them."""
    solution = from_spans(table(("d", "ann", 0, 3, "P"), ("d", "ann", 8, 11, "P"), ("d", "ben", 0, 3, "P")))
    submission = from_spans(table(("d", "x", 0, 3, "P"), ("d", "x", 8, 11, "P")).drop(columns="expert"))
    result = podium.score(
        solution, submission, "markup_consistency", measure="consistency", criterion="accordance"
    )
    assert result.score == pytest.approx((1 + 2 / 3) / 2)  # 2 * 1 / (2 + 1) with Ben


FAULTS = {
    "start": (table(("d", "ann", "x", 3, "A")), "expected a whole number of at least 0 as start, found 'x'"),
    "fraction": (
        table(("d", "ann", 0.5, 3, "A")),
        "expected a whole number of at least 0 as start, found '0.5'",
    ),
    "no end": (table(("d", "ann", 0, None, "A")), "expected a whole number of at least 0 as end, found ''"),
    "order": (table(("d", "ann", 5, 3, "A")), "expected a start before the end, found 5 to 3"),
    "expert": (table(("d", " ", 0, 3, "A")), "expected the name of an expert, found none"),
    "beyond": (table(("d", "ann", 0, 30, "A")), "expected a place within 12 characters, found 0 to 30"),
    "quote": (
        table(("d", "ann", 0, 3, "A")).assign(text="Ben"),
        "expected the text 'Ben' from 0 to 3, found 'Ann'",
    ),
    "document": (table(("e", "ann", 0, 3, "A")), "expected a document of the table of texts"),
}


@pytest.mark.parametrize(("spans", "fault"), FAULTS.values(), ids=FAULTS)
def test_bad_spans(spans: pd.DataFrame, fault: str) -> None:
    texts = pd.DataFrame({"document_id": ["d"], "text": ["Ann met Ben."]})
    with pytest.raises(HostError) as raised:
        from_spans(spans, texts)
    assert str(raised.value) == f"the spans: row 1 (document {spans['document_id'][0]!r}): {fault}"
    assert from_spans(table(("d", "ann", 0, 3, "A")).assign(text="Ann"), texts)["text"].tolist() == [
        "Ann met Ben."
    ]


def test_columns_that_are_missing_or_not_read() -> None:
    with pytest.raises(SubmissionRejected, match="it has no tag"):
        from_spans(pd.DataFrame({"document_id": ["d"], "start": [0], "end": [3]}))
    with pytest.warns(UserWarning, match="columns of the spans that are not read: label"):
        from_spans(table(("d", "ann", 0, 3, "A")).assign(label="B"))


def test_commands_read_a_table_of_spans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solution, submission = tmp_path / "spans.csv", tmp_path / "algorithm.csv"
    spans = table(
        ("007", "ann", 0, 3, "P"), ("007", "ben", 0, 3, "P"), ("8", "ann", 0, 3, "P"), ("8", "ben", 1, 3, "P")
    )
    spans.to_csv(solution, index=False)
    spans[spans["expert"] == "ann"].drop(columns="expert").to_csv(submission, index=False)
    metric = ["--metric", "markup_consistency"]
    assert main(["agreement", *metric, str(solution)]) in (0, None)
    assert "007" in capsys.readouterr().out
    assert main(["score", *metric, str(solution), str(submission), "--bare"]) in (0, None)
    assert float(capsys.readouterr().out) > 1
