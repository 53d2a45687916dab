"""The files of both markup metrics are read correctly."""

import gzip
import itertools
import json
import re
import unicodedata
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

import podium
from podium.cli import main
from podium.common.errors import AccountWarning, HostError, SubmissionRejected, UsageError
from podium.markups import files
from podium.metric import hosted
from tests.support.samples import DOCUMENTS, ESSAYS, case_of
from tests.support.writing import write

markup_consistency = hosted.module("markup_consistency", "companion")
readable = hosted.module("readable", "companion")


def selections(*spans: tuple[int, int], **more: Any) -> dict[str, Any]:
    """A markup of READ//ABLE with these selections."""
    marked = [{"startSelection": start, "endSelection": end, "type": "г.упр"} for start, end in spans]
    return {"criteria": {"K1": 1}, "selections": marked} | more


def elements(*spans: tuple[int, int]) -> dict[str, Any]:
    """A markup with one element, whose fragments have these starts and ends."""
    return {"elements": [{"fragments": [{"start": start, "end": end} for start, end in spans]}]}


def score(companion: ModuleType, solution: Path, submission: Path | None = None) -> float:
    """The score of official files; without a submission, that of the solution against itself."""
    metric = hosted.module(companion.__name__.split(".")[1])
    frames = (
        companion.companion.read_solution(solution),
        companion.companion.read_submission(submission or solution),
    )
    value: float = metric.score(*frames, "document_id")
    return value


# ---- Documents, essays and markups -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("companion", "path", "columns"),
    [
        (markup_consistency, DOCUMENTS, ["document_id", "text", "markups"]),
        (readable, ESSAYS, ["document_id", "subject", "text", "markups"]),
    ],
)
def test_a_folder_scores_as_the_frames_do(companion: ModuleType, path: Path, columns: list[str]) -> None:
    assert list(companion.companion.read_solution(path)) == columns
    assert list(companion.companion.read_submission(path)) == ["document_id", "markup"]
    assert score(companion, path) == case_of(companion.__name__.split(".")[1]).score()


def test_one_markup_per_file(tmp_path: Path) -> None:
    """The competition sent its files in this form: meta.expert says whose markup a file has."""
    for name, expert in (("one", "Ivanova"), ("two", "Petrova"), ("alg", "")):
        meta = {"id": 17, "subject": "rus", "expert": expert}
        path = write(tmp_path, f"{name}.json", {"meta": meta, "text": "x" * 9} | selections((0, 5)))
    (tmp_path / "alg.json.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    documents = files.read_folder(tmp_path, HostError)
    assert documents[["document_id", "subject", "text"]].to_numpy().tolist() == [["17", "rus", "x" * 9]]
    markups = json.loads(documents["markups"][0])
    assert [markup["expert"] for markup in markups] == ["Ivanova", "Petrova"]
    assert "text" not in markups[0]
    assert score(readable, tmp_path) == 100
    assert score(markup_consistency, tmp_path) == 1


def test_files_that_do_not_say_whose_markup_they_hold(tmp_path: Path) -> None:
    for number in range(2):
        write(tmp_path, f"experts/{number}.json", elements((0, 5)) | {"document_id": 7})
    write(tmp_path, "algorithm/7.json", elements((0, 5)))
    told = "files without meta.expert were taken for experts' markups"
    with pytest.warns(UserWarning, match=f"^{told}: experts/0.json, experts/1.json .2 files.$"):
        solution = markup_consistency.companion.read_solution(tmp_path / "experts")
    assert list(solution) == ["document_id", "markups"]
    assert len(json.loads(solution["markups"][0])) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        submission = markup_consistency.companion.read_submission(tmp_path / "algorithm" / "7.json")
    assert submission["document_id"].tolist() == ["7"]


def test_an_essay_as_the_competitions_program_takes_it(tmp_path: Path) -> None:
    markups = [selections((0, 5), id=name, isExpert=name != "alg") for name in ("e1", "e2", "alg")]
    essay = {"id": "h", "meta": {"subject": "rus"}, "text": "x" * 9, "markups": markups}
    write(tmp_path, "x.json", {"essay": essay})
    assert readable.companion.read_solution(tmp_path)["document_id"].tolist() == ["h"]
    assert (score(readable, tmp_path), score(markup_consistency, tmp_path)) == (100, 1)


def test_files_in_cp1251_with_criterias_as_the_organizers_have_them(tmp_path: Path) -> None:
    for name, expert in (("one", "Иванова"), ("two", "Петрова"), ("alg", "")):
        content = selections((0, 5)) | {
            "meta": {"id": "к", "subject": "rus", "expert": expert},
            "text": "ёлка" * 9,
        }
        content["criterias"] = content.pop("criteria")
        write(tmp_path, f"{name}.json", content, "cp1251")
    documents = files.read_folder(tmp_path, HostError)
    assert documents["text"][0] == "ёлка" * 9
    assert json.loads(documents["markups"][0])[0]["criteria"] == {"K1": 1}
    assert score(readable, tmp_path) == 100


NUMBER = "found a number, true or false"
FILE_FAULTS = {
    "not JSON": ("{", "expected JSON, found a fault: Expecting property name"),
    "no object": ([1], "expected an object as the file, found a list"),
    "no markup": ({"text": "x"}, "expected a document with markups, an essay, or a markup with elements or"),
    "essay": ({"essay": 5}, f"expected an object as essay, {NUMBER}"),
    "text": ({"text": 5, "elements": []}, f"expected text as text, {NUMBER}"),
    "a markup": ({"markups": [5]}, f"expected an object as a markup, {NUMBER}"),
}


@pytest.mark.parametrize(("content", "message"), FILE_FAULTS.values(), ids=FILE_FAULTS)
def test_bad_files(tmp_path: Path, content: Any, message: str) -> None:
    path = write(tmp_path, "a.json", content)
    for read, error in (
        (markup_consistency.companion.read_solution, HostError),
        (readable.companion.read_submission, SubmissionRejected),
    ):
        with pytest.raises(error) as raised:
            read(tmp_path)
        told = str(raised.value).removeprefix(f"{tmp_path.name}/{path.name}: ")
        if error is SubmissionRejected or (
            not isinstance(content, list) and message != FILE_FAULTS["no markup"][1]
        ):
            assert told.startswith(message)
        else:  # which may be the export of any tool
            assert told.startswith("expected markups, found JSON with ")


def test_bad_folders(tmp_path: Path) -> None:
    def message(error: Any = SubmissionRejected) -> str:
        with pytest.raises(error) as raised:
            readable.companion.read_submission(tmp_path)
        return str(raised.value)

    assert message() == f"{tmp_path}: expected files named *.json, found none"
    (tmp_path / "b.json").write_bytes(b'{"text": "\x98"}')
    assert message() == f"{tmp_path.name}/b.json: expected text in UTF-8 or CP1251"
    (tmp_path / "b.json").unlink()
    (tmp_path / "b.json").mkdir()
    assert message(UsageError).startswith(f"cannot read {tmp_path / 'b.json'}: ")
    (tmp_path / "b.json").rmdir()
    write(tmp_path, "b.json", {"id": "d", "subject": "lit", "text": "x", "markup": selections()})
    write(tmp_path, "c.json", {"id": "d", "subject": "lit", "text": "x", "markup": selections()})
    assert message() == "document 'd': expected one markup of the algorithm, found 2 in its files"
    write(tmp_path, "c.json", {"id": "d", "subject": "lit", "text": "y", "markups": []})
    assert message() == "document 'd': expected one text, found 2 in its files"
    write(tmp_path, "c.json", {"id": "d", "subject": "rus", "text": "x", "markups": []})
    assert message() == "document 'd': expected one subject, found 2 in its files"
    write(tmp_path, "c.json", {"id": "e", "subject": "rus", "markups": [], "markup": None})
    told = "expected the algorithm's markup of every document, found none for 1 document: e. Read: no expert, "
    assert message().startswith(told)


# ---- What is read is accounted for -----------------------------------------------------------------------


def document(*markups: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A document with the markups of experts."""
    return {"id": "d", "text": "Alpha beta.", "markups": [*markups]} | more


def test_keys_that_are_not_known_are_told_with_the_nearest_one(tmp_path: Path) -> None:
    markup = elements((0, 5)) | {"expert": "a", "Elements": [], "language": "en"}
    path = write(tmp_path, "d.json", document(markup, elements((0, 5)), algorithm={}, lang="en"))
    kinds = "the key 'Elements', which is not 'elements' (1), the key 'algorithm' (1), the key 'lang' (1), "
    with pytest.warns(AccountWarning, match=f"; left out: {re.escape(kinds)}the key 'language'"):
        solution = markup_consistency.companion.read_solution(path)
    table = solution.drop(columns="text")
    table.attrs.clear()
    assert "the key 'language' (1)" in files.account_of(table)


def test_markups_beside_elements_are_counted_as_left_out(tmp_path: Path) -> None:
    content = document(elements((0, 5)), elements((0, 5)), elements=[], isExpert=True)
    with pytest.warns(AccountWarning, match="0 annotations in 1 file; left out: annotations without a place"):
        markup_consistency.read_documents(write(tmp_path, "d.json", content))


def test_the_id_of_a_document_is_nobodys_name(tmp_path: Path) -> None:
    """A file with one markup has the document's id, which named its expert where meta.expert was missing."""
    for folder, number in itertools.product("ab", (1, 2)):
        write(tmp_path, f"{folder}/{number}.json", elements((0, 5)) | {"id": number, "isExpert": True})
    solution = markup_consistency.companion.read_solution(tmp_path)
    assert solution["document_id"].tolist() == ["1", "2"]
    assert solution.attrs["read"].startswith("Read: 2 experts (expert 1, expert 2), 2 documents, 4 annotations")


@pytest.mark.parametrize("start", [0, 0.0])
def test_a_quote_is_compared_at_a_place_alone(start: float, tmp_path: Path) -> None:
    def quoting(start: Any) -> dict[str, Any]:
        return {"elements": [{"fragments": [{"start": start, "end": 5.0, "text": "beta"}]}]}

    with pytest.raises(HostError, match="expected the text 'beta' from 0 to 5, found 'Alpha'"):
        markup_consistency.companion.read_solution(write(tmp_path, "d.json", document(quoting(start))))
    metric = hosted.module("markup_consistency")
    for wrong in (-1, 0.5, None, "0"):  # which the metric refuses
        path = write(tmp_path, "d.json", document(quoting(wrong), quoting(wrong)))
        solution = markup_consistency.companion.read_solution(path)
        with pytest.raises(metric.HostVisibleError, match="start is "):
            metric.prepare(solution, "document_id")


def test_a_misspelt_key_is_told_where_the_right_one_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "d.json", document(elements((0, 5)), {"Elements": []}))
    assert main(["agreement", "--metric", "markup_consistency", str(tmp_path)]) == 4
    error = capsys.readouterr().err
    assert "the markup has no elements" in error
    assert "left out: the key 'Elements', which is not 'elements' (1)" in error


def test_a_quote_that_contradicts_the_text_is_refused(tmp_path: Path) -> None:
    quoting = {"elements": [{"fragments": [{"start": 0, "end": 5, "text": "beta"}]}]}
    fault = "document 'd': expected the text 'beta' from 0 to 5, found 'Alpha'"
    path = write(tmp_path, "d.json", document(quoting))
    with pytest.raises(HostError, match=fault):
        markup_consistency.companion.read_solution(path)
    table = pd.DataFrame({"document_id": ["d"], "text": "Alpha beta.", "markups": [json.dumps([quoting])]})
    with pytest.raises(HostError, match=fault):
        markup_consistency.companion.from_table(table)
    path = write(tmp_path, "d.json", document(markup=quoting))
    with pytest.raises(SubmissionRejected, match=fault):
        markup_consistency.companion.read_submission(path)
    true = json.dumps([quoting]).replace("beta", "Alpha")
    assert markup_consistency.companion.from_table(table.assign(markups=true))["markups"].tolist() == [true]


def test_ids_of_documents_in_two_forms_of_unicode_are_the_same(tmp_path: Path) -> None:
    for name, form in (("a", "NFC"), ("b", "NFD")):
        written = unicodedata.normalize(form, "\u00e9t\u00e9")
        meta = {"id": written, "expert": written + name}
        write(tmp_path / "own", f"{name}.json", {"meta": meta} | elements((0, 5)))
        write(tmp_path / "brat", f"{name}/{written}.ann", "T1\tX 0 5\tAlpha\n")
        write(tmp_path / "brat", f"{name}/{written}.txt", "Alpha")
    for source in ("own", "brat"):
        solution = markup_consistency.companion.read_solution(tmp_path / source)
        assert solution["document_id"].tolist() == ["\u00e9t\u00e9"]
    spans = pd.DataFrame({"document_id": ["e\u0301", "\u00e9"], "expert": ["a", "b"], "start": 0, "end": 5})
    assert len(markup_consistency.companion.from_table(spans.assign(tag="X"))) == 1


@pytest.mark.parametrize("form", ["documents", "table", "spans"])
def test_experts_who_do_not_meet_are_told_with_what_was_read(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spans = pd.DataFrame({"document_id": ["d", "e"], "expert": ["a", "b"], "start": 0, "end": 5, "tag": "X"})
    markups = [elements((0, 5)) | {"expert": name} for name in "ab"]
    path = tmp_path / "experts"
    if form == "documents":
        for number, markup in enumerate(markups):
            write(path, f"{number}.json", document(markup, id=number))
    else:
        table = pd.DataFrame({"document_id": ["d", "e"], "markups": [json.dumps([each]) for each in markups]})
        path = path.with_suffix(".csv")
        (spans if form == "spans" else table).to_csv(path, index=False)
    for command in (["agreement"], ["score", str(path)]):
        assert main([command[0], "--metric", "markup_consistency", str(path), *command[1:]]) != 0
        error = capsys.readouterr().err
        assert "Read: 2 experts (a, b), 2 documents, 2 annotations in " in error
        assert {"documents": "a file for each", "table": "a row for", "spans": "rows of two"}[form] in error


def test_score_and_agreement_say_what_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    documents = [json.loads(path.read_text()) for path in DOCUMENTS.glob("*.json")]
    experts = [len(markup["elements"]) for each in documents for markup in each["markups"]]
    algorithm = sum(len(each["markup"]["elements"]) for each in documents)
    names = ", ".join(f"expert {n}" for n in range(1, max(len(each["markups"]) for each in documents) + 1))
    read = f"Read: 3 experts ({names}), {len(documents)} documents, {sum(experts)} annotations, "
    read += f"{algorithm} annotations of the algorithm in {len(documents)} files"
    metric = ["--metric", "markup_consistency", str(DOCUMENTS)]
    assert main(["score", *metric, str(DOCUMENTS)]) == 0
    assert capsys.readouterr().out.startswith(f"{read}\nScore ")
    assert main(["score", *metric, str(DOCUMENTS), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["read"] == [read]
    assert main(["agreement", *metric, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["read"] == read


@pytest.mark.parametrize(("name", "mark"), [("readable", "w.redundant"), ("markup_consistency", "logic")])
def test_half_of_an_emoji_in_a_tag_ends_no_explanation(tmp_path: Path, name: str, mark: str) -> None:
    """A model whose output was cut off writes such; the metric compares it as it is."""
    samples = hosted.folder(name) / "samples"
    submission = pd.read_csv(samples / "submission.csv", dtype=str)
    cut = submission.assign(markup=submission["markup"].str.replace(mark, f"{mark}\\ud83d", regex=False))
    result = podium.score(pd.read_csv(samples / "solution.csv", dtype=str), cut, metric=name)
    shown = result.explanation.rows.to_csv()  # pandas 2 holds such a half
    assert any(f"{mark}{half}" in shown for half in ("\\ud83d", "\ud83d"))
    result.report(tmp_path / "report.html")
    assert mark in (tmp_path / "report.html").read_text(encoding="utf-8")
