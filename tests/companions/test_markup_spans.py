"""Tables of spans are markups."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import podium
from podium.cli import main
from podium.common.errors import HostError, SubmissionRejected, UsageError
from podium.contest import pipeline
from podium.markups import files, from_spans
from podium.metric import hosted
from tests.support.host_line import stay_in_process

COLUMNS = ["document_id", "expert", "start", "end", "tag"]


def table(*rows: tuple[Any, ...]) -> pd.DataFrame:
    """A table of the experts' spans."""
    return pd.DataFrame(rows, columns=COLUMNS)


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


PAGE = Path(podium.__file__).parents[1] / "docs" / "how-to" / "markups-of-any-tool.md"


def by_the_page(tool: str, variable: str, export: str) -> pd.DataFrame:
    """Turn an export into a table of spans as the page does, with this export in place of the page's."""
    section = PAGE.read_text(encoding="utf-8").split(f"## From {tool}")[1].split("## From")[0]
    lines = [line[4:] for line in section.splitlines() if line.startswith(">>> ")]
    code = [line for line in lines if not line.startswith((f"{variable} = ", "print("))]
    names: dict[str, Any] = {variable: export}
    exec("\n".join(code), names)
    return pd.DataFrame(names["spans"])


EXPORTS = {
    "doccano": ("export", '{"id": 1, "text": "Ann met Ben.", "label": [[0, 3, "PER"], [8, 11, "PER"]]}'),
    "CoNLL": ("conll", "Ann B-PER\nmet O\nBen B-PER\n"),
}


@pytest.mark.parametrize("tool", EXPORTS)
def test_exports_of_other_tools_agree_as_counted_by_hand(
    tool: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ben marks one of two names, and so shares 2·1 of 3 elements with Ann, whom the page reads."""
    ann = by_the_page(tool, *EXPORTS[tool]).assign(document_id="1", expert="ann")
    ben = table(("1", "ben", 8, 11, "PER"))
    pd.concat([ann[COLUMNS], ben]).to_csv(tmp_path / "spans.csv", index=False)
    path = tmp_path / "spans.csv"
    assert main(["agreement", "--metric", "markup_consistency", str(path), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["Documents"]
    assert row["accordance"] == pytest.approx(2 / 3)
    assert row["tags"] == row["fragments.texts"] == 1


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
    assert re.fullmatch(rf"the spans: row 1 \(document '[de]'\): {re.escape(fault)}", str(raised.value))
    assert from_spans(table(("d", "ann", 0, 3, "A")).assign(text="Ann"), texts)["text"].tolist() == [
        "Ann met Ben."
    ]


def test_columns_that_are_missing_or_not_read() -> None:
    read, spans = hosted.load("markup_consistency").companion.from_table, table(("d", "ann", 0, 3, "A"))
    for name in ("document_id", "end"):
        with pytest.raises(HostError, match=f"it has no {name}"):
            read(spans.drop(columns=name))
    with pytest.raises(HostError, match="expected the column tag, found 'Tag'"):
        read(spans.rename(columns={"tag": "Tag"}))
    with pytest.raises(SubmissionRejected, match="expected the column expert, found ' Expert'"):
        from_spans(table(("d", "ann", 0, 3, "A")).rename(columns={"expert": " Expert"}))
    with pytest.raises(SubmissionRejected, match="it has no tag"):
        from_spans(pd.DataFrame({"document_id": ["d"], "start": [0], "end": [3]}))
    with pytest.warns(UserWarning, match="columns of the spans that are not read: label"):
        from_spans(table(("d", "ann", 0, 3, "A")).assign(label="B"))
    twice = pd.concat([table(("7", "ann", 0, 3, "P")), pd.DataFrame({"tag": ["Q"]})], axis=1)
    with pytest.raises(HostError, match=r"^a table of spans: expected one column tag, found 2$"):
        from_spans(twice)


@pytest.mark.parametrize("command", ["agreement", "score", "column"])
def test_a_table_of_texts_is_compared_with_spans(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is given with --texts, or is a column of the solution."""
    experts = table(("7", "ann", 0, 3, "P"), ("7", "ben", 0, 3, "P")).assign(text="Ann")
    texts = pd.DataFrame({"document_id": ["7"], "text": ["Ann met Ben."]})
    wrong = experts.assign(start=8, end=11)
    beyond = experts.assign(end=99)
    paths = {}
    frames = {"experts": experts, "texts": texts, "wrong": wrong, "beyond": beyond}
    for name, frame in frames.items():
        paths[name] = str(tmp_path / f"{name}.csv")
        frame.to_csv(paths[name], index=False)
    from_spans(experts, texts).to_csv(tmp_path / "column.csv", index=False)
    metric = ["--metric", "markup_consistency"]
    if command == "agreement":
        commands = {name: ["agreement", *metric, paths[name], "--texts", paths["texts"]] for name in paths}
    else:
        for name in ("experts", "wrong"):
            frames[name].tail(1).drop(columns="expert").to_csv(tmp_path / f"{name}.csv", index=False)
        experts.to_csv(tmp_path / "solution.csv", index=False)
        given = [str(tmp_path / "column.csv")]
        more = []
        if command == "score":
            given, more = [str(tmp_path / "solution.csv")], ["--texts", paths["texts"]]
        commands = {name: ["score", *metric, *given, paths[name], *more] for name in ("experts", "wrong")}
    assert main(commands["experts"]) == 0
    capsys.readouterr()
    assert main(commands["wrong"]) != 0
    assert "row 1 (document '7'): expected the text 'Ann' from 8 to 11, found 'Ben'" in capsys.readouterr().err
    if command != "agreement":
        assert main(["score", *metric, *given, paths["experts"], paths["wrong"], *more]) == 3
        assert "wrong.csv: the spans: row 1 (document '7')" in capsys.readouterr().err
    else:
        assert main(commands["beyond"]) != 0
        told = "row 1 (document '7'): expected a place of 3 characters, as 'Ann' has, found 0 to 99"
        assert told in capsys.readouterr().err
        assert main([*commands["experts"][:-1], paths["beyond"]]) == 0  # its texts are those of the spans


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["document_id", "markup"], "the submission: expected 1 more column: ID. It has document_id, markup"),
        (["markup", "ID"], "document '7': expected the text 'Ann' from 8 to 11, found 'Ben'"),
    ],
)
def test_a_submission_meets_the_texts_of_a_solution_by_its_ids(
    tmp_path: Path, columns, message, capsys
) -> None:
    """Under another name or in another place they were sought in the markups, or in texts of nobody."""
    texts = pd.DataFrame({"document_id": ["7"], "text": ["Ann met Ben."]})
    spans = table(("7", "ann", 0, 3, "P"), ("7", "ben", 0, 3, "P"))
    from_spans(spans, texts).rename(columns={"document_id": "ID"}).to_csv(tmp_path / "s.csv", index=False)
    wrong = spans.tail(1).drop(columns="expert").assign(start=8, end=11, text="Ann")
    answer = from_spans(wrong).assign(ID="7")
    answer[columns].to_csv(tmp_path / "a.csv", index=False)
    assert (
        main(["score", "--metric", "markup_consistency", str(tmp_path / "s.csv"), str(tmp_path / "a.csv")]) == 3
    )
    assert message in capsys.readouterr().err


def test_the_spans_of_experts_are_no_submission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solution, answer = tmp_path / "s.csv", tmp_path / "a.csv"
    spans = table(("7", "ann", 0, 3, "P"), ("7", "ben", 0, 3, "P"))
    spans.to_csv(solution, index=False)
    spans.tail(1).to_csv(answer, index=False)
    assert main(["score", "--metric", "markup_consistency", str(solution), str(answer)]) == 3
    assert "a submission has one markup a document, and its spans no expert" in capsys.readouterr().err


def test_a_text_that_is_no_table_is_told_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("document_id\texpert\tstart\tend\ttag\n")
    with pytest.raises(HostError, match=r"s\.tsv: expected markups, found another text. What is read: brat"):
        hosted.load("markup_consistency").companion.read_solution(tmp_path / "s.tsv")


def test_texts_that_lack_a_document_or_a_column(tmp_path: Path) -> None:
    markups = from_spans(table(("7", "ann", 0, 3, "P"), ("8", "ben", 0, 3, "P")))
    texts = pd.DataFrame({"id": ["7"], "text": ["Ann met Ben."]})
    with pytest.raises(UsageError, match="expected every document, found none of 1 document: 8"):
        files.add_texts(markups, texts)
    with pytest.raises(UsageError, match="expected the columns document_id and text, found id, ' text'"):
        files.add_texts(markups, texts.rename(columns={"text": " text"}))
    other = pd.concat([texts, texts, texts.assign(text="Ben met Ann.")])
    with pytest.raises(UsageError, match="expected one text of each document, found others of 7"):
        files.add_texts(markups, other)


def test_a_competition_from_tables_of_spans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """make turns spans into one row for each document, and rank takes submissions of spans."""
    stay_in_process(monkeypatch, tmp_path)
    rows = [(f"d{n}", who, n, n + 3 + (who == "ben"), "P") for n in range(12) for who in ("ann", "ben")]
    spans, out = tmp_path / "spans.csv", tmp_path / "made"
    table(*rows).to_csv(spans, index=False)
    metric = ["--metric", "markup_consistency"]
    assert main(["make", str(spans), *metric, "--seed", "1", "--out", str(out)]) == 0
    assert "Read: 2 experts (ann, ben), 12 documents, 24 annotations in 24 rows" in capsys.readouterr().out
    solution = pd.read_csv(out / "private" / "solution.csv")
    assert sorted(solution["document_id"]) == sorted(f"d{n}" for n in range(12))
    (tmp_path / "teams").mkdir()
    for team, who in (("Ada", "ann"), ("Bo", "ben")):
        own = table(*[row for row in rows if row[1] == who]).drop(columns="expert")
        own.to_csv(tmp_path / "teams" / f"{team}.csv", index=False)
        from_spans(own).to_csv(tmp_path / f"{team}.csv", index=False)
    given = [str(out / "private" / "solution.csv"), str(tmp_path / "teams"), *metric, "--no-boost"]
    capsys.readouterr()
    assert main(["rank", *given, "--jobs", "1", "--resamples", "20", "--out", str(tmp_path / "board")]) == 0
    assert capsys.readouterr().out.startswith(
        "Read: 2 experts (ann, ben), 12 documents, 24 annotations in a table"
    )
    board = pd.read_csv(tmp_path / "board" / "final_leaderboard.csv").set_index("team")["score"]
    assert board.index.tolist() == ["Ada", "Bo"]
    private = solution[solution["Usage"] == "Private"].drop(columns="Usage")
    for team in ("Ada", "Bo"):
        answer = pd.read_csv(tmp_path / f"{team}.csv")
        answer = answer[answer["document_id"].isin(private["document_id"])]
        assert board[team] == pytest.approx(podium.score(private, answer, "markup_consistency").score)


# ---- What spans quote ------------------------------------------------------------------------------------

DOCUMENTS = pd.DataFrame(
    {"document_id": ["d1", "d2"], "text": ["Ann met Ben in Rome 😀 and Zoe.", "Bob saw Kim."]}
)
QUOTES = {"Ann": ("d1", 0, 3), "Ben": ("d1", 8, 11), "Zoe": ("d1", 26, 29), "Bob": ("d2", 0, 3)}


def quoted(shift: int = 0, longer: int = 0, units: int = 0, who: str = "ann") -> list[tuple[Any, ...]]:
    """Spans of an expert, whose positions are counted in some way."""
    moved = {quote: shift + units * (quote == "Zoe") for quote in QUOTES}
    return [
        (name, who, start + moved[quote], end + moved[quote] + longer, "PER", quote)
        for quote, (name, start, end) in QUOTES.items()
    ]


def quotes(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["document_id", "expert", "start", "end", "tag", "text"])


@pytest.mark.parametrize(
    ("counted", "told"),
    [
        ({"longer": -1}, "their ends of ben belong to them"),
        ({"shift": 1}, "positions are counted from 1 in 2 documents"),
        ({"units": 1}, "positions are counted in units of UTF-16 in 1 document"),
        ({"shift": 1, "longer": -1}, "(their ends of ben belong to them|positions are counted from 1)"),
    ],
)
def test_an_expert_who_counts_otherwise_is_found_out(counted: dict[str, int], told: str) -> None:
    right = from_spans(quotes(*quoted(), *quoted(who="ben")), DOCUMENTS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = from_spans(quotes(*quoted(), *quoted(who="ben", **counted)), DOCUMENTS)
    assert caught
    assert all(re.search(told, str(each.message)) for each in caught)
    assert found.equals(right)


def test_ends_that_belong_to_spans_are_found_out_without_texts() -> None:
    rows = [("d1", "a", 4, 5, "punct", ","), ("d1", "b", 4, 4, "punct", ",")]
    with pytest.warns(UserWarning, match="^by what the spans quote, their ends of b belong to them$"):
        found = from_spans(quotes(*rows))
    assert found.equals(from_spans(quotes(rows[0], ("d1", "b", 4, 5, "punct", ","))))


def test_a_quote_of_another_length_is_refused() -> None:
    rows = [*quoted(), ("d2", "ann", 4, 9, "PER", "Kim")]
    with pytest.raises(HostError, match=r"row 5 \(document 'd2'\): expected a place of 3 characters, as 'Kim'"):
        from_spans(quotes(*rows))


def test_a_row_that_stands_twice_counts_once() -> None:
    with pytest.warns(UserWarning, match="^rows that stand twice count once: 1 of 5$"):
        found = from_spans(quotes(*quoted(), quoted()[0]))
    assert found.equals(from_spans(quotes(*quoted())))


def test_other_peoples_columns_and_lists_of_tags() -> None:
    one, other = (table(("d", name, 0, 3, tag)) for name, tag in (("a", "['PER', 'X']"), ("a", "PER|X")))
    assert from_spans(one).equals(from_spans(other))
    assert from_spans(other.rename(columns={"expert": "annotator", "tag": "label"})).equals(from_spans(other))


def test_spans_that_say_little_are_told() -> None:
    spans = pd.DataFrame(
        {"document_id": 1, "expert": [*"ab"], "start": [0, 3], "end": [3, 3], "tag": ["", None]}
    )
    with pytest.warns(UserWarning, match="^no tag in 2 annotations"):
        from_spans(spans.assign(end=[3, 5]))
    with pytest.warns(UserWarning, match="^spans without a character: 1 of 2"):
        from_spans(spans.assign(tag="PER"))


def test_a_table_of_spans_that_lacks_a_column_names_it_and_the_page(tmp_path: Path) -> None:
    spans = pd.DataFrame({"document_id": 1, "expert": [*"ab"], "start": [0, 0], "end": [3, 3], "tag": "PER"})
    others = {
        "it has no start, end, but .*start_offset": spans.rename(
            columns={"start": "start_offset", "end": "end_offset"}
        ),
        "spans of experts have the column expert": spans[:1].drop(columns="expert"),
    }
    metric = hosted.load("markup_consistency")
    for number, (told, table) in enumerate(others.items()):
        path = tmp_path / f"{number}.csv"
        table.to_csv(path, index=False)
        with pytest.raises(HostError, match=f"{told}.*docs/how-to/markups-of-any-tool.md"):
            pipeline.prepared(metric, path, {})
