"""Exports of brat, INCEpTION and Label Studio are read as these tools write them."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from podium import hosted, scoring
from podium.errors import HostError, SubmissionRejected

markup_consistency = hosted.module("markup_consistency", "companion")


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file below a folder, and return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def elements(path: Path, row: int = 0) -> dict[str, list[Any]]:
    """For each annotator, the tags, the fragments (start, end, tags) and the notes of each element."""
    documents = markup_consistency.read_documents(path)
    markups = json.loads(documents["markups"][row])
    if documents["markup"][row] is not None:
        markups.append(json.loads(documents["markup"][row]) | {"expert": "algorithm"})
    return {
        markup["expert"]: [
            (
                element["tags"],
                [(each["start"], each["end"], *each.get("tags", [])) for each in element["fragments"]],
                [note["comment"] for note in element["overtexts"]],
            )
            for element in markup["elements"]
        ]
        for markup in markups
    }


# ---- brat ------------------------------------------------------------------------------------------------

# Standoff annotations as brat's server writes them; the second span of T4 is discontinuous.
BRAT_TEXT = (
    "Sony bought Ericsson's share; the company (Sony) paid 1.05 billion euro. The deal closed in 2012.\n"
)
BRAT = """\
T1	Organization 0 4	Sony
T2	Organization 12 20	Ericsson
T3	Purchase 5 11	bought
E1	Purchase:T3 Buyer:T1 Seller:T2 Thing2:T4
A1	Negation E1
T4	Share 21 22;23 28	' share
T5	Organization 30 41	the company
T6	Organization 43 47	Sony
*	Equiv T1 T5 T6
M1	Certainty T5 L2
T7	Payment 49 53	paid
E2	Payment:T7 Buyer:T5 Cause:E1
R1	Origin Arg1:T4 Arg2:T2
N1	Reference T1 Wikipedia:26989	Sony
#1	AnnotatorNotes T5	which one?
#2	AnnotatorNotes E1	a merger?
T8	Date 92 96	2012
#3	AnnotatorNotes T8	a year\x85really
"""


def test_events_and_equiv_sets_of_brat_are_elements_with_several_fragments(tmp_path: Path) -> None:
    write(tmp_path, "anna/deal.txt", BRAT_TEXT)
    write(tmp_path, "anna/deal.ann", BRAT)
    with pytest.warns(UserWarning, match=r"^relations were left out, because markups have none: 2 relations$"):
        read = elements(tmp_path)
    sony = [(0, 4), (30, 41), (43, 47)]
    assert read == {
        "anna": [
            (["Organization"], [(12, 20)], []),
            (
                ["Purchase", "Negation"],
                [(5, 11), (0, 4, "Buyer"), (12, 20, "Seller"), (21, 22, "Thing"), (23, 28, "Thing")],
                ["a merger?"],
            ),
            (["Share"], [(21, 22), (23, 28)], []),
            (
                ["Equiv"],
                [
                    (*sony[0], "Organization"),
                    (*sony[1], "Organization", "Certainty: L2"),
                    (*sony[2], "Organization"),
                ],
                [],
            ),
            (["Payment"], [(49, 53), (30, 41, "Buyer"), (5, 11, "Cause")], []),
            (["Date"], [(92, 96)], ["a year\x85really"]),
        ]
    }
    with pytest.warns(UserWarning, match="relations"):
        markup = json.loads(markup_consistency.read_documents(tmp_path)["markups"][0])[0]
    equivalent = next(element for element in markup["elements"] if element["tags"] == ["Equiv"])
    assert equivalent["fragments"][1]["overtexts"] == [{"comment": "which one?"}]


def test_an_event_agrees_with_itself(tmp_path: Path) -> None:
    for who in ("anna", "boris", "algorithm"):
        write(tmp_path, f"{who}/deal.txt", BRAT_TEXT)
        write(tmp_path, f"{who}/deal.ann", BRAT)
    metric = hosted.load("markup_consistency")
    with pytest.warns(UserWarning, match=r"^relations were left out, because markups have none: 6 relations"):
        solution = scoring.prepare(metric, scoring.read_solution(metric, tmp_path, {}), {})
    with pytest.warns(UserWarning, match=r"^relations were left out, because markups have none: 6 relations"):
        submission = scoring.read_submission(metric, tmp_path, {})
    assert scoring.evaluate(solution, submission).score == 1


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("E1\tPurchase:T9", "KeyError"),
        ("E1\tT1", "ValueError"),
        ("E1\tPurchase:T1 Buyer", "ValueError"),
        ("*\tEquiv T1 T9", "KeyError"),
        ("A1\tNegation", "ValueError"),
        ("T2\tOrganization 0-4\tSony", "ValueError"),
    ],
)
def test_damaged_files_of_brat(line: str, fault: str, tmp_path: Path) -> None:
    write(tmp_path, "anna/a.txt", "Sony")
    write(tmp_path, "anna/a.ann", f"T1\tOrganization 0 4\tSony\n{line}\n")
    with pytest.raises(HostError, match=rf"anna/a\.ann: expected an export, found a fault: {fault}"):
        markup_consistency.read_solution(tmp_path)


# ---- INCEpTION -------------------------------------------------------------------------------------------

# A UIMA CAS JSON as INCEpTION exports one.  An emoji counts twice in its offsets.  It has a layer of tokens, a
# layer of relations, whose annotations have Governor and Dependent, and the tool's own record of the document.
TYPE = "webanno.custom"
CAS_TYPES: dict[str, Any] = {
    f"{TYPE}.Error": {
        "%NAME": f"{TYPE}.Error",
        "%SUPER_TYPE": "uima.tcas.Annotation",
        "kind": {"%NAME": "kind", "%RANGE": "uima.cas.String"},
        "remark": {"%NAME": "remark", "%RANGE": "uima.cas.String"},
        "weight": {"%NAME": "weight", "%RANGE": "uima.cas.Integer"},
    },
    f"{TYPE}.Link": {
        "%NAME": f"{TYPE}.Link",
        "%SUPER_TYPE": "uima.tcas.Annotation",
        "Dependent": {"%NAME": "Dependent", "%RANGE": f"{TYPE}.Error"},
        "Governor": {"%NAME": "Governor", "%RANGE": f"{TYPE}.Error"},
    },
    "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token": {
        "%NAME": "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token",
        "%SUPER_TYPE": "uima.tcas.Annotation",
    },
    "de.tudarmstadt.ukp.clarin.webanno.api.type.CASMetadata": {
        "%NAME": "de.tudarmstadt.ukp.clarin.webanno.api.type.CASMetadata",
        "%SUPER_TYPE": "uima.tcas.Annotation",
        "username": {"%NAME": "username", "%RANGE": "uima.cas.String"},
    },
}


def cas_json(kind: str | None = "logic") -> str:
    """A document as INCEpTION exports it, with an element of this kind."""
    structures = [
        {
            "%ID": 1,
            "%TYPE": "uima.cas.Sofa",
            "sofaNum": 1,
            "sofaID": "_InitialView",
            "mimeType": "text",
            "sofaString": "😀 The cat sat.",
        },
        {"%ID": 2, "%TYPE": "uima.tcas.DocumentAnnotation", "@sofa": 1, "begin": 0, "end": 15, "language": "x"},
        {
            "%ID": 3,
            "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token",
            "@sofa": 1,
            "begin": 3,
            "end": 6,
        },
        {
            "%ID": 4,
            "%TYPE": "de.tudarmstadt.ukp.clarin.webanno.api.type.CASMetadata",
            "@sofa": 1,
            "begin": 0,
            "end": 0,
            "username": "anna",
        },
        {
            "%ID": 5,
            "%TYPE": f"{TYPE}.Error",
            "@sofa": 1,
            "begin": 3,
            "end": 10,
            "weight": 3,
            "remark": "unclear",
        }
        | ({} if kind is None else {"kind": kind}),
        {"%ID": 6, "%TYPE": f"{TYPE}.Error", "@sofa": 1, "begin": 11, "end": 14},
        {
            "%ID": 7,
            "%TYPE": f"{TYPE}.Link",
            "@sofa": 1,
            "begin": 11,
            "end": 14,
            "@Dependent": 6,
            "@Governor": 5,
        },
    ]
    views = {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3, 4, 5, 6, 7]}}
    return json.dumps({"%TYPES": CAS_TYPES, "%FEATURE_STRUCTURES": structures, "%VIEWS": views})


def as_xmi(content: str) -> tuple[bytes, bytes]:
    """The same content as XMI with its type system."""
    cassis = pytest.importorskip("cassis")
    cas = cassis.load_cas_from_json(io.BytesIO(content.encode()))
    return cas.to_xmi().encode(), cas.typesystem.to_xml().encode()


def zipped(**files: bytes) -> bytes:
    """The bytes of a zip with these files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


@pytest.mark.parametrize("form", ["json", "xmi", "zip"])
def test_a_project_of_inception(form: str, tmp_path: Path) -> None:
    pytest.importorskip("cassis")
    for who, kind in (("anna", "logic"), ("boris", None), ("INITIAL_CAS", "nobody's"), ("algorithm", "logic")):
        content = cas_json(kind)
        folder = "annotation/d1.txt"
        if form == "json":
            write(tmp_path, f"{folder}/{who}.json", content)
            continue
        xmi, types = as_xmi(content)
        if form == "xmi":
            write(tmp_path, f"{folder}/{who}.xmi", xmi)
            write(tmp_path, f"{folder}/TypeSystem.xml", types)
        else:
            packed = zipped(**{f"{who}.xmi": xmi, "TypeSystem.xml": types})
            write(tmp_path, f"{folder}/webanno{len(who)}export.zip", packed)
    with pytest.warns(UserWarning, match=r"^relations were left out, because markups have none: 3 relations$"):
        read = elements(tmp_path)
    # These offsets count characters, while INCEpTION's own count the emoji twice.
    assert read == {
        who: [([*kind, "unclear"], [(2, 9)], []), (["Error"], [(10, 13)], [])]
        for who, kind in (("anna", ["logic"]), ("boris", []), ("algorithm", ["logic"]))
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b'{"%FEATURE_STRUCTURES": [{}]}'),
        ("a.xmi", b"<xmi"),
        ("a.zip", b"PK\x03\x04"),
        ("a.zip", zipped(**{"readme.txt": b""})),
    ],
)
def test_damaged_exports_of_inception(name: str, content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("cassis")
    write(tmp_path, f"d/{name}", content)
    write(tmp_path, "d/TypeSystem.xml", as_xmi(cas_json())[1])
    with pytest.raises(HostError, match=rf"d/{name}: expected an export, found a fault: "):
        markup_consistency.read_solution(tmp_path)


def test_webanno_tsv_is_no_export_any_more(tmp_path: Path) -> None:
    write(tmp_path, "d/anna.tsv", "#FORMAT=WebAnno TSV 3.3\n")
    with pytest.raises(HostError, match=r"expected files named \*\.json, found none"):
        markup_consistency.read_solution(tmp_path)


# ---- Label Studio ----------------------------------------------------------------------------------------


def region(key: str, start: int, end: int, text: str, **values: Any) -> dict[str, Any]:
    """A region among the results, with what Label Studio writes beside it."""
    (kind,) = values
    value = {"start": start, "end": end, "text": text} | values
    if kind == "textarea":
        value = {"start": start, "end": end, "text": values[kind]}
    return {
        "value": value,
        "id": key,
        "from_name": kind,
        "to_name": "text",
        "type": kind,
        "origin": "manual",
    }


def relation(first: str, second: str) -> dict[str, Any]:
    """A relation between two regions, as Label Studio writes it."""
    return {"from_id": first, "to_id": second, "type": "relation", "direction": "right", "labels": ["of"]}


def annotation(number: int, who: Any, *results: dict[str, Any], cancelled: bool = False) -> dict[str, Any]:
    """An annotation of one annotator, as Label Studio writes it."""
    return {
        "id": number,
        "completed_by": who,
        "result": [*results],
        "was_cancelled": cancelled,
        "ground_truth": False,
        "created_at": "2024-05-02T09:13:25.104Z",
        "updated_at": "2024-05-02T09:13:25.104Z",
        "draft_created_at": None,
        "lead_time": 11.3,
        "prediction": {},
        "result_count": len(results),
        "unique_id": "8f1c",
        "last_action": None,
        "task": 12,
        "project": 3,
        "updated_by": 1,
        "parent_prediction": None,
        "parent_annotation": None,
    }


def task(number: int, data: dict[str, Any], *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A task with its annotations, as Label Studio writes it."""
    return {
        "id": number,
        "annotations": [*annotations],
        "file_upload": "1a2b-tasks.json",
        "drafts": [],
        "predictions": [],
        "data": data,
        "meta": {},
        "created_at": "2024-05-02T09:12:00.000Z",
        "inner_id": 1,
        "total_annotations": len(annotations),
        "project": 3,
    } | more


THE_CAT = {"id": "corpus-7", "title": "A title that is longer than the text", "Full_Text": "The cat sat."}


def test_an_export_of_label_studio(tmp_path: Path) -> None:
    results = [
        region("r1", 4, 7, "cat", labels=["Animal"]),
        region("r1", 4, 7, "cat", textarea=["Is it?"]),
        region("r1", 4, 7, "cat", choices=["sure"]),
        region("r1", 4, 7, "cat", rating=3),
        {"value": {"choices": ["good"]}, "id": "r2", "from_name": "c", "to_name": "text", "type": "choices"},
        relation("r1", "r9"),
        relation("r9", "r1"),
    ]
    annotations = [
        annotation(1, 5, *results),
        annotation(2, {"id": 6, "email": "b@x.org"}, region("r9", 0, 7, "The cat", labels=["Animal", "Pet"])),
        annotation(3, 7, cancelled=True),
    ]
    prediction = {"id": 4, "model_version": "v1", "score": 0.9}
    predictions = [prediction | {"result": [region("p", 4, 7, "cat", labels=["Animal"])]}]
    content = json.dumps([task(12, THE_CAT, *annotations, predictions=predictions)])
    path = write(tmp_path, "project-3-at-2024-05-02.json", content)
    with pytest.warns(UserWarning, match=r"^relations were left out, because markups have none: 2 relations$"):
        read = elements(path)
    assert read == {
        "annotator 5": [(["Animal", "sure", "3"], [(4, 7)], ["Is it?"])],
        "annotator b@x.org": [(["Animal", "Pet"], [(0, 7)], [])],
        "algorithm": [(["Animal"], [(4, 7)], [])],
    }
    with pytest.warns(UserWarning, match="relations"):
        documents = markup_consistency.read_documents(path)
    assert documents[["document_id", "text"]].to_numpy().tolist() == [["12", "The cat sat."]]


@pytest.mark.parametrize(
    ("data", "spans", "text"),
    [
        # The right text is the one whose slices are those of the spans, wherever it stands and however long it
        # is.
        ({"text": "Another text here", "body": "The cat sat."}, [(4, 7, "cat")], "The cat sat."),
        ({"a": "The cow sat.", "b": "The cat sat.", "n": 3}, [(0, 3, "The"), (4, 7, "cat")], "The cat sat."),
        # If no span says what it covers, the field "text" counts.
        ({"title": "Much longer than the text", "text": "The cat."}, [(4, 7, None)], "The cat."),
        # If there is no such field either, the longest text counts.
        ({"id": "x", "story": "The cat sat."}, [(4, 7, "dog")], "The cat sat."),
        ({"id": "x", "story": "The cat sat."}, [], "The cat sat."),
    ],
)
def test_the_text_of_a_task(data: dict[str, Any], spans: list[Any], text: str, tmp_path: Path) -> None:
    results = [region(str(start), start, end, said, labels=["x"]) for start, end, said in spans]
    path = write(tmp_path, "export.json", json.dumps([task(1, data, annotation(1, 5, *results))]))
    assert markup_consistency.read_documents(path)["text"].tolist() == [text]


def test_offsets_of_browsers_become_characters(tmp_path: Path) -> None:
    """Label Studio counts as JavaScript does, in which an emoji has two units."""
    results = [region("a", 4, 7, "The", labels=["x"]), region("b", 8, 10, "🐈", labels=["y"])]
    path = write(
        tmp_path, "e.json", json.dumps([task(1, {"text": "💩! The 🐈 sat"}, annotation(1, 5, *results))])
    )
    assert elements(path) == {"annotator 5": [(["x"], [(3, 6)], []), (["y"], [(7, 8)], [])]}
    counted = [region("a", 3, 6, "The", labels=["x"])]  # a script may have written offsets in characters
    path = write(
        tmp_path, "e.json", json.dumps([task(1, {"text": "💩! The 🐈 sat"}, annotation(1, 5, *counted))])
    )
    assert elements(path) == {"annotator 5": [(["x"], [(3, 6)], [])]}


@pytest.mark.parametrize(
    "broken",
    [
        task(1, {}, annotation(1, 5)),
        task(1, {"n": 3}, annotation(1, 5)),
        task(1, THE_CAT, annotation(1, 5, {"type": "labels", "id": "r"})),
        task(1, THE_CAT, annotation(1, 5, {"value": {"start": "/div[1]/text()", "end": 5}, "type": "labels"})),
        {"id": 1, "annotations": [{}], "data": THE_CAT},
    ],
)
def test_damaged_exports_of_label_studio(broken: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path, "broken.json", json.dumps([broken]))
    for read, error in (
        (markup_consistency.read_solution, HostError),
        (markup_consistency.read_submission, SubmissionRejected),
    ):
        with pytest.raises(error, match=r"broken\.json: expected an export, found a fault: "):
            read(path)
