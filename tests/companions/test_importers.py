"""Exports of brat, INCEpTION and Label Studio are read as these tools write them."""

import io
import json
import re
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from podium.cli import main
from podium.common.errors import AccountWarning, HostError, SubmissionRejected, UsageError
from podium.markups import files
from podium.metric import hosted
from tests.support.samples import DOCUMENTS, ESSAYS
from tests.support.writing import write

markup_consistency = hosted.module("markup_consistency", "companion")
importers = markup_consistency.importers


def left_out(counts: str) -> Any:
    """Expect the warning about what is left out."""
    return pytest.warns(AccountWarning, match=f"^Read: .*; left out: {re.escape(counts)}$")


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Let a command print its warnings, which otherwise are errors in tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield


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


def covered(path: Path) -> dict[tuple[str, str], list[str]]:
    """For each document and annotator, the texts at the places of the fragments."""
    found = {}
    for _, document in markup_consistency.read_documents(path).iterrows():
        for markup in json.loads(document["markups"]):
            fragments = [each for element in markup["elements"] for each in element["fragments"]]
            texts = [document["text"][each["start"] : each["end"]] for each in fragments]
            found[document["document_id"], markup["expert"]] = texts
    return found


def agreement(path: Path) -> float:
    """The mean agreement of the experts of an export."""
    solution = markup_consistency.companion.read_solution(path)
    metric = hosted.module("markup_consistency")
    prepared = metric.prepare(solution, "document_id", **markup_consistency.companion.agreement_parameters)
    return float(markup_consistency.companion.agreement(prepared, solution).criteria["mean"][0])


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
A2	Late T3
A3	Sure R1
T4	Share 21 22;23 28	s share
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
    with left_out("attributes of relations and the like (1), normalizations (1), relations (1)"):
        read = elements(tmp_path)
    sony = [(0, 4), (30, 41), (43, 47)]
    assert read == {
        "anna": [
            (["Organization"], [(12, 20)], []),
            (
                ["Purchase", "Negation"],
                [(5, 11, "Late"), (0, 4, "Buyer"), (12, 20, "Seller"), (21, 22, "Thing"), (23, 28, "Thing")],
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


def test_an_event_agrees_with_itself_and_the_warning_is_printed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text may stand once in the folder above the annotators'."""
    write(tmp_path, "deal.txt", BRAT_TEXT)
    for who in ("anna", "boris", "algorithm"):
        write(tmp_path, f"{who}/deal.ann", BRAT)
    arguments = ["--metric", "markup_consistency", str(tmp_path)]
    with shown_warnings():
        assert main(["score", "-b", *arguments, str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert float(printed.out) == 1
    assert printed.err.count("relations (3)") == 1
    with pytest.warns(UserWarning, match="relations"):
        documents = markup_consistency.read_documents(tmp_path)
    assert documents[["document_id", "text"]].to_numpy().tolist() == [["deal", BRAT_TEXT]]


def test_brat_with_two_texts_of_a_document(tmp_path: Path) -> None:
    for folder in ("anna", "boris"):
        write(tmp_path, f"{folder}/d.ann", "T1\tOrganization 0 4\tSony\n")
        write(tmp_path, f"{folder}/d.txt", "Sony" if folder != "boris" else "Sonya")
    with pytest.raises(
        HostError, match=r"document 'd': expected one text, boris has another: from character 4 on"
    ):
        markup_consistency.companion.read_solution(tmp_path)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("E1\tPurchase:T9", "'T9' is missing"),
        ("*\tEquiv T1 T9", "'T9' is missing"),
        ("A1\tNegation T9", "attributes of T9, which is not there"),
        ("T2\tOrganization 0 x\tSony", "line 2: expected an id, a tab, a label"),
        ("X1\tOrganization", "line 2: expected an id, a tab, a label"),
        ("T2 Organization 0 4 Sony", "line 2: expected an id, a tab, a label"),
        ("T2\tMy Label 0 4\tSony", "line 2: expected an id, a tab, a label"),
    ],
)
def test_damaged_files_of_brat(line: str, fault: str, tmp_path: Path) -> None:
    write(tmp_path, "anna/a.txt", "Sony")
    write(tmp_path, "anna/a.ann", f"T1\tOrganization 0 4\tSony\n{line}\n")
    with pytest.raises(HostError, match=rf"anna/a\.ann: expected an export, found a fault: {fault}"):
        markup_consistency.companion.read_solution(tmp_path)


LINES = "John loves Mary.\r\nHe married her.\r\nThey live in Rome."


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LINES, "46 50\tRome"),  # brat counts the end of a line as one
        (LINES, "48 52\tRome"),  # it counts it as it is written
        (LINES.replace("\r", ""), "48 52\tRome"),  # the text was written anew after the annotation
        (f"\ufeff{LINES}", "49 53\tRome"),  # it counts a byte order mark
        (f"\ufeff{LINES}", "48 52\tRome"),  # it does not
        (LINES, "47 51\tRome"),  # an editor left a mark out, and brat counts line ends as one
        ("💩 John lives in Rome.", "17 21\tRome"),  # a script has counted UTF-16
        (LINES, "11 15;46 50\tMary Rome"),
        (LINES, "11 19\tMary. He"),  # brat replaces the end of a line by a space
    ],
)
def test_the_third_column_says_how_brat_counted(text: str, line: str, tmp_path: Path) -> None:
    write(tmp_path, "anna/d.txt", text)
    write(tmp_path, "anna/d.ann", f"T1\tX {line}\n")
    [found] = covered(tmp_path).values()
    assert " ".join(found).replace("\r\n", " ") == line.partition("\t")[2]


def test_what_contradicts_the_third_column_is_told(tmp_path: Path) -> None:
    """What is true of most annotations decides for the others."""
    write(tmp_path, "anna/d.txt", LINES)
    write(tmp_path, "anna/d.ann", "T1\tX 17 19\tHe\nT2\tX 28 31\tshe\nT3\tX 46 50\tParis\nA1\tSure T1\n")
    told = (
        "annotations that quote another text than their offsets cover stand where the offsets say: "
        "T2 by anna in d, T3 by anna in d (2 annotations)"
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(told)}$"):
        assert covered(tmp_path) == {("d", "anna"): ["He", "her", "Rome"]}
    for ends in ("46 99", "-3 2", "9 4"):
        write(tmp_path, "anna/d.ann", f"T1\tX {ends}\tRome\n")
        where = ends.replace(" ", " to ")
        with pytest.raises(
            HostError, match=f"^document 'd': T1 stands at {where}, in a text of 53 characters$"
        ):
            markup_consistency.companion.read_solution(tmp_path)


def test_the_first_folder_of_brat_is_the_annotator(tmp_path: Path) -> None:
    """The folders in it are parts of the documents' names. A folder without folders is one annotator's."""
    for name in ("A/d", "B/d", "algorithm/run1/d", "A/part/d", "B/part/d", "A/other/e"):
        write(tmp_path, f"{name}.ann", "T1\tX 0 4\tJohn\n")
    write(tmp_path, "d.txt", LINES)
    write(tmp_path, "part/d.txt", f"John, {LINES}")
    write(tmp_path, "A/e.txt", LINES)
    documents = markup_consistency.read_documents(tmp_path).set_index("document_id")
    experts = {name: [one["expert"] for one in json.loads(cell)] for name, cell in documents["markups"].items()}
    assert experts == {"d": ["A", "B"], "other/e": ["A"], "part/d": ["A", "B"], "run1/d": []}
    assert documents["text"].map(len).tolist() == [53, 53, 59, 53]
    assert documents.loc["run1/d", "markup"] is not None
    write(tmp_path, "A/d.txt", LINES)
    assert covered(tmp_path / "A" / "part" / "..")[("d", "A")] == ["John"]


# ---- INCEpTION -------------------------------------------------------------------------------------------

DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
LAYERS = {
    "webanno.custom.Error": {"kind": "String", "weight": "Integer", "sure": "Boolean", "more": "StringArray"},
    "webanno.custom.Link": {"Dependent": "TOP", "Governor": "TOP"},
    "webanno.custom.Slot": {"filler": "TOP"},
    f"{DKPRO}.lexmorph.type.pos.POS": {"PosValue": "String"},
    f"{DKPRO}.segmentation.type.Lemma": {"value": "String"},
    f"{DKPRO}.segmentation.type.Token": {},
    f"{DKPRO}.metadata.type.TagDescription": {},
}


def cas(pos: str = "NN", *errors: tuple[int, int, dict[str, Any]]) -> Any:
    """A document of INCEpTION with layers that it has by itself, and annotations of errors."""
    cassis = pytest.importorskip("cassis")
    types = cassis.TypeSystem()
    for layer, features in LAYERS.items():
        kind = types.create_type(layer, supertypeName="uima.tcas.Annotation")
        for name, values in features.items():
            types.create_feature(kind, name, f"uima.cas.{values}")
    topic = types.create_type("webanno.custom.Topic", supertypeName="uima.cas.AnnotationBase")
    types.create_feature(topic, "value", "uima.cas.String")
    document = cassis.Cas(types)
    document.sofa_string, document.sofa_mime = "😀 The cat sat.", "text/plain"

    def add(layer: str, **features: Any) -> Any:
        name = next(name for name in [*LAYERS, topic.name] if name.endswith(layer))
        made = types.get_type(name)(**features)
        document.add(made)
        return made

    add("Topic", value="pets")
    add("Token", begin=2, end=5)
    add("TagDescription", begin=0, end=0)
    noun = add("POS", begin=6, end=9, PosValue=pos)
    for start, end, features in errors:
        more = features.pop("more", None)
        if more:
            features["more"] = types.get_type("uima.cas.StringArray")(elements=more)
        error = add("Error", begin=start, end=end, **features)
        add("Link", begin=start, end=end, Governor=error, Dependent=noun)
    add("Slot", begin=2, end=5, filler=noun)
    return document


def export(folder: Path, who: str, document: Any, form: str = "json") -> Path:
    """Write a document as INCEpTION exports it."""
    path = folder / "annotation" / "d1.txt" / f"{who}.{form}"
    if form == "json":
        return write(folder, str(path.relative_to(folder)), document.to_json().encode())
    files = {f"{who}.xmi": document.to_xmi().encode(), "TypeSystem.xml": document.typesystem.to_xml().encode()}
    if form == "xmi":
        for name, content in files.items():
            write(path.parent, name, content)
        return path
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return write(path.parent, f"webanno{len(who)}export.zip", packed.getvalue())


ERRORS = (2, 9, {"kind": "logic", "weight": 3, "sure": True, "more": ["a", "b"]}), (10, 13, {})


@pytest.mark.parametrize("form", ["json", "xmi", "zip"])
def test_a_project_of_inception(form: str, tmp_path: Path) -> None:
    """Each layer of annotations is read, and the rest is counted."""
    for who in ("anna", "boris", "algorithm", "INITIAL_CAS"):
        errors = [(start, end, dict(features)) for start, end, features in ERRORS if who != "boris"]
        export(tmp_path, who, cas("NE" if who == "boris" else "NN", *errors), form)
    counts = "TagDescription (3), Token (3), files of INITIAL_CAS (1), links of Slot (3), relations of Link (4)"
    with left_out(counts):
        read = elements(tmp_path)
    of_both = [(["Topic.value: pets"], [], [])], [(["Slot"], [(2, 5)], [])]
    named = ["kind: logic", "more: a", "more: b", "sure", "weight: 3"]
    error = ([f"Error.{name}" for name in named], [(2, 9)], [])
    expected = {
        "anna": [
            *of_both[0],
            (["POS.PosValue: NN"], [(6, 9)], []),
            error,
            (["Error"], [(10, 13)], []),
            *of_both[1],
        ],
        "boris": [*of_both[0], (["POS.PosValue: NE"], [(6, 9)], []), *of_both[1]],
    }
    expected["algorithm"] = expected["anna"]
    assert {who: sorted(made) for who, made in read.items()} == {
        who: sorted(made) for who, made in expected.items()
    }


def test_of_a_single_layer_the_features_keep_their_names(tmp_path: Path) -> None:
    """A number keeps all its digits."""
    cassis = pytest.importorskip("cassis")
    for who, cause, size in (("anna", "yes", 1234567), ("boris", "no", 1234568)):
        types = cassis.TypeSystem()
        layer = types.create_type("webanno.custom.Argument", supertypeName="uima.tcas.Annotation")
        for name, values in (("causal", "String"), ("size", "Integer")):
            types.create_feature(layer, name, f"uima.cas.{values}")
        document = cassis.Cas(types)
        document.sofa_string, document.sofa_mime = "The cat sat.", "text/plain"
        document.add(layer(begin=4, end=7, causal=cause, size=size))
        export(tmp_path, who, document)
    tags = {who: [element[0] for element in made] for who, made in elements(tmp_path).items()}
    assert tags == {"anna": [["causal: yes", "size: 1234567"]], "boris": [["causal: no", "size: 1234568"]]}
    assert agreement(tmp_path) < 1


def test_damaged_exports_of_inception(tmp_path: Path) -> None:
    def message(name: str, content: bytes) -> str:
        path = write(tmp_path, f"d/{name}", content)
        with pytest.raises(HostError) as raised:
            markup_consistency.companion.read_solution(tmp_path)
        path.unlink()
        name, _, expected = str(raised.value).partition(": expected ")
        assert name.endswith(f"{tmp_path.name}/d/{path.name}")
        return expected

    whole = cas("NN", ERRORS[1])
    xmi, types = whole.to_xmi().encode(), whole.typesystem.to_xml().encode()
    fault = "an export, found a fault: "
    assert message("a.json", b'{"%FEATURE_STRUCTURES": [{}]}').startswith(fault)
    assert message("a.zip", b"PK\x03\x04") == f"{fault}File is not a zip file"
    assert message("a.xmi", xmi) == "TypeSystem.xml beside it"
    write(tmp_path, "d/TypeSystem.xml", types)
    other = f"{fault}another structure than such exports have ("
    assert message("a.xmi", b"<xmi").startswith(f"{other}Couldn't find end of Start Tag")
    write(tmp_path, "d/TypeSystem.xml", types.replace(b"webanno.custom.Error", b"webanno.custom.Other"))
    assert message("a.xmi", xmi).startswith(f"{other}Type with name")


def test_inception_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cassis", None)
    write(tmp_path, "d/a.json", '{"%FEATURE_STRUCTURES": []}')
    with pytest.raises(UsageError, match=r"^UIMA CAS needs dkpro-cassis: pip install 'podium\[inception\]'$"):
        markup_consistency.companion.read_solution(tmp_path)


@pytest.mark.parametrize("name", ["exportedproject12.json", "annotation_ser/d1.txt/anna.ser", "p.zip"])
def test_a_whole_project_of_inception_is_refused(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, "{}")
    advice = (
        "In INCEpTION, export the project with the format UIMA CAS JSON or UIMA CAS XMI, unpack it, and give"
    )
    with pytest.raises(HostError, match=advice):
        markup_consistency.companion.read_solution(path if name == "p.zip" else tmp_path)


# ---- Label Studio ----------------------------------------------------------------------------------------


def region(key: str, start: int, end: int, text: str, **values: Any) -> dict[str, Any]:
    """A region among the results, with what Label Studio writes beside it."""
    (kind,) = values
    value = {"start": start, "end": end, "text": text} | values
    if kind == "textarea":
        value = {"start": start, "end": end, "text": values[kind]}
    return {"value": value, "id": key, "from_name": kind, "to_name": "text", "type": kind, "origin": "manual"}


def relation(first: str, second: str) -> dict[str, Any]:
    """A relation between two regions, as Label Studio writes it."""
    return {"from_id": first, "to_id": second, "type": "relation", "direction": "right", "labels": ["of"]}


def annotation(number: int, who: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An annotation of one annotator, as Label Studio writes it."""
    return {
        "id": number,
        "completed_by": who,
        "result": [*results],
        "was_cancelled": False,
        "ground_truth": False,
        "updated_at": f"2024-05-0{number}T09:13:25.104Z",
        "lead_time": 11.3,
        "task": 12,
    } | more


def task(number: int, data: dict[str, Any], *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A task with its annotations, as Label Studio writes it."""
    lists = {"annotations": [*annotations], "drafts": [], "predictions": []}
    return {"id": number, "data": data, "meta": {}, "inner_id": 1, "project": 3} | lists | more


def label_studio(folder: Path, *tasks: dict[str, Any]) -> Path:
    """Write the JSON export of a project."""
    return write(folder, "project-3-at-2024-05-02.json", tasks)


THE_CAT = {"id": "corpus-7", "title": "A title that is longer than the text", "Full_Text": "The cat sat."}


def whole(kind: str, said: Any) -> dict[str, Any]:
    """Something that is said about the whole task."""
    value = {"text" if kind == "textarea" else kind: said}
    return {"value": value, "id": f"w-{kind}", "from_name": "c", "to_name": "text", "type": kind}


def test_an_export_of_label_studio(tmp_path: Path) -> None:
    results = [
        region("r1", 4, 7, "cat", labels=["Animal"]),
        region("r1", 4, 7, "cat", textarea=["Is it?"]),
        region("r1", 4, 7, "cat", choices=["sure"]),
        region("r1", 4, 7, "cat", rating=3),
        whole("choices", ["good"]),
        whole("taxonomy", [["Story", "Pets"]]),
        whole("textarea", ["Short."]),
        relation("r1", "r9"),
    ]
    annotations = [
        annotation(1, 5, *results),
        annotation(2, {"id": 6, "email": "b@x.org"}, region("r9", 0, 7, "The cat", labels=["Animal", "Pet"])),
        annotation(3, 7, was_cancelled=True),
    ]
    cat = region("p", 4, 7, "cat", labels=["Animal"])
    predictions = [{"id": number, "model_version": "v1", "result": [cat]} for number in range(2)]
    path = label_studio(tmp_path, task(12, THE_CAT, *annotations, predictions=predictions, drafts=[{"id": 1}]))
    counts = "drafts (1), further predictions (1), relations (1), skipped tasks (1)"
    with left_out(f"annotations in further predictions (1), {counts}"):
        read = elements(path)
    assert read == {
        "annotator 5": [
            (["Animal", "choices: sure", "rating: 3"], [(4, 7)], ["Is it?"]),
            (["c: good"], [], []),
            (["c: Story / Pets"], [], []),
            ([], [], ["Short."]),
        ],
        "annotator b@x.org": [(["Animal", "Pet"], [(0, 7)], [])],
        "algorithm": [(["Animal"], [(4, 7)], [])],
    }
    with pytest.warns(UserWarning, match="relations"):
        documents = markup_consistency.read_documents(path)
    assert documents[["document_id", "text"]].to_numpy().tolist() == [["12", "The cat sat."]]


def test_one_person_is_one_expert(tmp_path: Path) -> None:
    """The annotation changed last counts. Annotators without a name are different people."""
    old, new = (region("r", 4, 7, "cat", labels=[name]) for name in ("old", "new"))
    unnamed = [annotation(number, None, old) for number in (4, 6)]
    path = label_studio(tmp_path, task(1, THE_CAT, annotation(3, 5, new), annotation(2, 5, old), *unnamed))
    kind = "earlier versions by annotator 5"
    with left_out(f"annotations in {kind} (1), {kind} (1)"):
        read = elements(path)
    assert {who: tags for who, [(tags, *_)] in read.items()} == {
        "annotator 5": ["new"],
        "annotator 4": ["old"],
        "annotator 6": ["old"],
    }


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
        ({"id": "x", "story": "The cat sat."}, [(4, 7, None)], "The cat sat."),
    ],
)
def test_the_text_of_a_task(data: dict[str, Any], spans: list[Any], text: str, tmp_path: Path) -> None:
    results = [region(str(start), start, end, said, labels=["x"]) for start, end, said in spans]
    path = write(tmp_path, "export.json", [task(1, data, annotation(1, 5, *results))])
    assert markup_consistency.read_documents(path)["text"].tolist() == [text]


@pytest.mark.parametrize("kind", ["choices", "rating", "textarea", "labels", "number", "whole"])
def test_controls_of_label_studio_keep_their_names(kind: str, tmp_path: Path) -> None:
    """Two people who exchange the answers to two questions do not agree."""
    values: dict[str, tuple[Any, Any]] = {
        "rating": (5, 1),
        "number": (5.0, 1.5),
        "textarea": (["a b"], ["c d"]),
    }
    first, second = values.get(kind, (["yes"], ["no"]))

    def answers(one: Any, other: Any) -> list[Any]:
        if kind == "whole":
            told = [whole("choices", each) | {"id": str(number)} for number, each in enumerate((one, other))]
        else:
            told = [region("r", 4, 7, "cat", **{kind: each}) for each in (one, other)]
        return [each | {"from_name": name} for each, name in zip(told, ("causal", "explicit"))]

    annotations = [annotation(1, 5, *answers(first, second)), annotation(2, 6, *answers(second, first))]
    path = label_studio(tmp_path, task(1, THE_CAT, *annotations))
    assert agreement(path) < 1
    if kind == "textarea":
        [markup, _] = json.loads(markup_consistency.read_documents(path)["markups"][0])
        notes = [{"comment": "a b", "tags": ["causal"]}, {"comment": "c d", "tags": ["explicit"]}]
        assert [element["overtexts"] for element in markup["elements"]] == [notes]
    else:
        tags = [tag for element in elements(path)["annotator 5"] for tag in element[0]]
        one, other = {"rating": "51", "number": ["5", "1.5"]}.get(kind, ["yes", "no"])
        assert tags == [f"causal: {one}", f"explicit: {other}"]


TWO_TEXTS = {"title": "Iris is here", "text": "Iris left long ago."}


@pytest.mark.parametrize("shown", [("title", "text"), ("headline", "body")])
def test_two_texts_in_a_task_are_two_documents(shown: tuple[str, str], tmp_path: Path) -> None:
    first, second = shown
    about = region("a", 0, 4, "Iris", labels=["Person"])
    title = region("b", 5, 7, "is", labels=["Verb"]) | {"to_name": first}
    text = region("c", 5, 9, "left", labels=["Verb"]) | {"to_name": second}
    one = annotation(1, 5, about | {"to_name": first}, title, whole("choices", ["x"]) | {"to_name": first})
    two = annotation(2, 6, about | {"to_name": second}, text)
    path = label_studio(tmp_path, task(1, TWO_TEXTS, one, two), task(2, TWO_TEXTS, one))
    assert covered(path) == {
        (f"1/{first}", "annotator 5"): ["Iris", "is"],
        (f"1/{first}", "annotator 6"): [],
        (f"1/{second}", "annotator 5"): [],
        (f"1/{second}", "annotator 6"): ["Iris", "left"],
        (f"2/{first}", "annotator 5"): ["Iris", "is"],
        (f"2/{second}", "annotator 5"): [],
    }
    documents = markup_consistency.read_documents(path).set_index("document_id")
    assert documents.loc[f"1/{first}", "text"] == TWO_TEXTS["title"]
    assert agreement(path) == 0
    if first == "title":  # what is true of both texts does not decide, so the name does
        both = [annotation(number, number, about | {"to_name": shown[number]}) for number in (0, 1)]
        texts = markup_consistency.read_documents(label_studio(tmp_path, task(1, TWO_TEXTS, *both)))["text"]
        assert texts.tolist() == [TWO_TEXTS["text"], TWO_TEXTS["title"]]


def test_notes_on_regions_of_label_studio(tmp_path: Path) -> None:
    """All results of a region have its notes, which are read once."""
    for written in (["look again"], "look again"):
        marked = region("r", 4, 7, "cat", labels=["x"]), region("r", 4, 7, "cat", choices=["x"])
        noted = [each | {"meta": {"text": written}} for each in marked]
        path = label_studio(tmp_path, task(1, THE_CAT, annotation(1, 5, *noted), annotation(2, 6, noted[0])))
        assert elements(path)["annotator 5"] == [(["x", "choices: x"], [(4, 7)], ["look again"])]
    plain = region("r", 4, 7, "cat", labels=["x"])
    path = label_studio(tmp_path, task(1, THE_CAT, annotation(1, 5, noted[0]), annotation(2, 6, plain)))
    assert agreement(path) < 1


@pytest.mark.parametrize(
    "address",
    ["https://example.org/1.txt", "s3://bucket/1.txt", "/data/upload/7/1.txt", "/data/local-files/?d=1"],
)
def test_an_address_in_place_of_a_text_is_refused(address: str, tmp_path: Path) -> None:
    bridge = region("r", 4, 10, "bridge", labels=["x"])
    for results in ([bridge], [place(4, 10)], [whole("choices", ["x"])], []):
        path = label_studio(
            tmp_path, task(1, {"text": address, "more": "The bridge"}, annotation(1, 5, *results))
        )
        if results == [bridge]:
            assert covered(path) == {("1", "annotator 5"): ["bridge"]}
            path = label_studio(tmp_path, task(1, {"text": address}, annotation(1, 5, *results)))
        with pytest.raises(
            HostError, match=f"found a fault: addresses such as '{re.escape(address)}' in place of"
        ):
            markup_consistency.companion.read_solution(path)
    quoted = region("r", 0, 5, address[:5], labels=["x"])  # a text may consist of an address
    path = label_studio(tmp_path, task(1, {"text": address}, annotation(1, 5, quoted)))
    assert covered(path) == {("1", "annotator 5"): [address[:5]]}


def test_a_task_without_annotations_is_counted(tmp_path: Path) -> None:
    cat = annotation(1, 5, region("r", 4, 7, "cat", labels=["x"]))
    predicted = task(4, THE_CAT, predictions=[{"id": 1, "result": cat["result"]}])
    skipped = task(5, THE_CAT, annotation(3, 7, was_cancelled=True))
    path = label_studio(tmp_path, task(1, THE_CAT, cat), task(2, THE_CAT), task(3, {}), predicted, skipped)
    with left_out("skipped tasks (1), tasks without annotations (2)"):
        assert markup_consistency.read_documents(path)["document_id"].tolist() == ["1", "4"]


# ---- Where regions stand ---------------------------------------------------------------------------------

HARBOUR = "🐟 The harbour opens early. 🐟 Nets are mended at noon."
IN_CHARACTERS, IN_UTF_16 = [(6, 13, "harbour"), (29, 33, "Nets")], [(7, 14, "harbour"), (31, 35, "Nets")]
MILLER = "First.\r\nThe miller grinds.\r\nThe baker bakes."
ONCE, AS_WRITTEN = [(11, 17, "miller"), (30, 35, "baker")], [(12, 18, "miller"), (32, 37, "baker")]

Regions = list[tuple[int, int, str | None]]


def regions(path: Path, text: str, *of_annotators: Regions) -> Path:
    """Write a task in which each annotator has marked these regions."""
    annotations = []
    for number, own in enumerate(of_annotators):
        results = [region(f"r{place}", *marked, labels=["x"]) for place, marked in enumerate(own)]
        annotations.append(annotation(number, number, *results))
    return label_studio(path, task(1, {"text": text}, *annotations))


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        (HARBOUR, IN_UTF_16, IN_CHARACTERS),
        (HARBOUR, [IN_UTF_16[0], IN_CHARACTERS[1]], IN_UTF_16),  # one annotation, begun before an update
        (MILLER, ONCE, AS_WRITTEN),
        (MILLER.replace("\r", ""), ONCE, AS_WRITTEN),
        (f"\ufeff{MILLER}", ONCE, [(start + 1, end + 1, said) for start, end, said in AS_WRITTEN]),
        (f"🐟{MILLER}", [(start + 2, end + 2, said) for start, end, said in ONCE], [(13, 19, "miller")]),
    ],
)
def test_each_annotation_says_how_it_counts(text: str, first: Regions, second: Regions, tmp_path: Path) -> None:
    path = regions(tmp_path, text, first, second)
    read = covered(path)
    assert list(read.values()) == [[said for _, _, said in own] for own in (first, second)]
    assert len(second) < 2 or agreement(path) == 1


@pytest.mark.parametrize("said", ["Nets are\nmended", "Nets are mended", "Nets aremended", "Nets are\\nmended"])
def test_quotes_over_the_end_of_a_line(said: str, tmp_path: Path) -> None:
    """Versions of Label Studio quote it as it is, as a space, not at all, or as two characters."""
    path = regions(tmp_path, HARBOUR.replace("are ", "are\r\n"), [(31, 47, said), IN_UTF_16[0]])
    assert list(covered(path).values()) == [["Nets are\r\nmended", "harbour"]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([(7, 14, "arbour"), IN_UTF_16[1]], IN_UTF_16),
        ([(7, 14, "harbour o"), IN_UTF_16[1]], IN_UTF_16),
        ([(7, 14, "arbour")], IN_UTF_16[:1]),  # it is the only one, so the other annotator's way counts
    ],
)
def test_a_quote_that_is_cut_moves_nothing(first: Regions, second: Regions, tmp_path: Path) -> None:
    path = regions(tmp_path, HARBOUR, first, second)
    told = (
        "annotations that quote another text than their offsets cover stand where the offsets say: "
        "region r0 by annotator 0 in 1 (1 annotation)"
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(told)}$"):
        assert list(covered(path).values()) == [[said for *_, said in second]] * 2


@pytest.mark.parametrize(("text", "unsure"), [(HARBOUR, (7, 14, None)), (MILLER, (12, 18, None))])
def test_regions_that_quote_nothing(text: str, unsure: Any, tmp_path: Path) -> None:
    """They are told where there are several ways to count."""
    told = (
        "annotations that quote no text have offsets that can be counted in several ways: "
        "region r0 by annotator 0 in 1 (1 annotation)"
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(told)}$"):
        assert covered(regions(tmp_path, text, [unsure, (0, 0, None)]))
    assert covered(regions(tmp_path, "The cat\nsat", [(4, 7, None), (8, 11, None)])) == {
        ("1", "annotator 0"): ["cat", "sat"]
    }


def place(start: Any, end: Any, kind: str = "labels", **more: Any) -> dict[str, Any]:
    """A result with a place."""
    return {"value": {"start": start, "end": end, kind: ["x"]} | more, "id": "r", "type": kind}


BOX = {"value": {"x": 1, "y": 2, "width": 3, "height": 4, "rectanglelabels": ["x"]}, "type": "rectanglelabels"}
FAULTS = {
    "no text": (task(1, {"n": 3}, annotation(1, 5)), "task 1: no text in its data"),
    "no value": (task(1, THE_CAT, annotation(1, 5, {"type": "labels"})), "task 1: 'value' is missing"),
    "a box": (task(1, THE_CAT, annotation(1, 5, BOX)), "a result of type rectanglelabels, which is not"),
    "audio": (task(1, THE_CAT, annotation(1, 5, place(0.4, 1.7))), "an offset 0.4 that is not a whole number"),
    "whole seconds": (task(1, THE_CAT, annotation(1, 5, place(0, 2, channel=0))), "which is not about text"),
    "HTML": (
        task(1, THE_CAT, annotation(1, 5, place("/p[1]", "/p[1]", startOffset=0, endOffset=3))),
        "regions of HyperText or Paragraphs. Show plain text with the tag Text",
    ),
    "beyond": (
        task(1, {"text": "🐈 sat"}, annotation(1, 5, place(0, 2, text="🐈"), place(3, 99))),
        "document '1': region r stands at 3 to 99, in a text of 5 characters",
    ),
}


@pytest.mark.parametrize(("broken", "fault"), FAULTS.values(), ids=FAULTS)
def test_what_is_not_about_text_is_refused(broken: dict[str, Any], fault: str, tmp_path: Path) -> None:
    path = label_studio(tmp_path, broken)
    with pytest.raises(SubmissionRejected) as raised:
        markup_consistency.companion.read_submission(path)
    assert fault in str(raised.value)


FOREIGN = {
    "Label Studio's JSON-MIN": '[{"id": 1, "label": [{"start": 0, "end": 3}], "annotator": 5}]',
    "doccano": '{"id": 1, "text": "Ann met Ben.", "label": [[0, 3, "PER"]]}',
    "Argilla": '[{"id": "r1", "fields": {"text": "Ann"}, "responses": {}}]',
    "Prodigy": '{"text": "Ann", "tokens": [], "spans": [{"start": 0, "end": 3, "label": "PER"}]}',
    "TEI": "<TEI xmlns='http://www.tei-c.org/ns/1.0'><text/></TEI>",
    "CoNLL": "Ann B-PER\nmet O\n\nBen B-PER\n",
    "spaCy": '[["Ann met Ben", {"entities": [[0, 3, "PER"]]}]]',
    "an old version of Label Studio": '[{"id": 1, "data": {"text": "Ann"}, "completions": []}]',
}


@pytest.mark.parametrize("tool", FOREIGN)
def test_exports_that_are_not_read_are_named_with_the_way(tool: str, tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", FOREIGN[tool])
    with pytest.raises(HostError) as raised:
        markup_consistency.companion.read_solution(path)
    if tool.endswith("JSON-MIN"):
        assert "found its JSON-MIN, which lacks predictions and does not" in str(raised.value)
        assert str(raised.value).endswith("; export as JSON")
        return
    found, _, cure = str(raised.value).partition(". ")
    kind = "JSON with (the|no) keys" if FOREIGN[tool][0] in "[{" else "another text"
    assert re.match(f"a.json: expected markups, found {kind}", found)
    assert "document_id, expert, start, end, tag" in cure


# ---- What is read is accounted for -----------------------------------------------------------------------


def export_of_brat(folder: Path, **annotators: str) -> Path:
    """An export of brat with one document and an annotator's annotations by name."""
    for name, annotations in annotators.items():
        write(folder, f"{name}/d.ann", annotations)
    write(folder, "d.txt", "Alpha beta gamma delta epsilon.\n")
    return folder


X, Y, Z = "T1\tX 0 5\tAlpha\n", "T2\tY 6 10\tbeta\n", "T3\tZ 17 22\tdelta\n"


# Exports of each form, with a function that counts the annotations of a file without podium.


def lines(file: Path) -> int:
    """The annotations of brat."""
    return len(file.read_text().split("\n")) - file.read_text().split("\n").count("")


def structures(file: Path) -> int:
    """The feature structures of a UIMA CAS, without those that hold texts and lists."""
    if file.suffix == ".json":
        found = json.loads(file.read_text())["%FEATURE_STRUCTURES"]
        return sum(not each["%TYPE"].startswith("uima.cas.") for each in found)
    content = file.read_bytes()
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            content = next(archive.read(name) for name in archive.namelist() if name.endswith(".xmi"))
    return len(re.findall(rb"<(?!xmi:|cas:|/|\?)\w+:\w+ xmi:id", content))


def results(file: Path) -> int:
    """The results of Label Studio."""
    return file.read_text().count('"value"') + file.read_text().count('"relation"')


def elements_and_selections(file: Path) -> int:
    """The annotations of podium's own form."""
    content = json.loads(file.read_text())
    document = content.get("essay", content)
    markups = [*document["markups"], *filter(None, [document.get("markup")])]
    return sum(len(markup.get("elements", markup.get("selections"))) for markup in markups)


def brat_export(folder: Path) -> Path:
    write(folder, "deal.txt", BRAT_TEXT)
    write(folder, "anna/deal.ann", BRAT)
    write(folder, "boris/deal.ann", BRAT.replace("E2", "E1") + "\n\n#4\tAnnotatorNotes R1\tshares T3?\n")
    write(folder, "boris/.deal.ann", BRAT)
    write(folder, "carl.docx", "x")
    write(folder, "annotation.conf", "[entities]")
    write(folder, "nobody.txt", "A text that nobody has annotated.")
    return folder


def inception_export(folder: Path, form: str) -> Path:
    for who in ("anna", "boris", "INITIAL_CAS", "CURATION_USER"):
        export(folder, who, cas("NN", *((start, end, dict(more)) for start, end, more in ERRORS)), form)
    return folder


def two_views(folder: Path) -> Path:
    """A document that has a translation with annotations of its own."""
    for who in ("anna", "boris"):
        document = cas("NN", *((start, end, dict(more)) for start, end, more in ERRORS))
        view = document.create_view("translation")
        view.sofa_string = "Les chats."
        pos = document.typesystem.get_type("de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS")
        view.add(pos(begin=0, end=3, PosValue="DET"))
        export(folder, who, document, "xmi")
    return folder


def label_studio_export(folder: Path, files: int) -> Path:
    for number in range(files):
        cat, dog = (region(name, 4, 7, "cat", labels=[name]) for name in ("Cat", "Dog"))
        said = [cat, dog, region("Cat", 4, 7, "cat", choices=["sure"]), whole("choices", ["good"])]
        versions = [annotation(1, 5, cat), annotation(2, 5, *said, relation("Cat", "Dog"))]
        skipped = annotation(3, 7, dog, was_cancelled=True)
        predictions = [286, {"result": [cat, dog]}, {"result": [dog]}][: 1 if number else 3]
        more = {"predictions": predictions, "drafts": [{"result": [cat]}]}
        tasks = [task(1, THE_CAT, *versions, skipped, **more), task(2, {"text": "A dog."})]
        write(folder, f"{number}.json", tasks)
    return folder


EXPORTS = {
    "brat": (brat_export, lines),
    "cas json": (lambda folder: inception_export(folder, "json"), structures),
    "cas xmi": (lambda folder: inception_export(folder, "xmi"), structures),
    "cas zip": (lambda folder: inception_export(folder, "zip"), structures),
    "cas views": (two_views, structures),
    "label studio": (lambda folder: label_studio_export(folder, 1), results),
    "of one annotator": (lambda folder: label_studio_export(folder, 2), results),
    "documents": (lambda folder: DOCUMENTS, elements_and_selections),
    "essays": (lambda folder: ESSAYS, elements_and_selections),
}


@pytest.mark.filterwarnings("ignore::podium.common.errors.AccountWarning")
@pytest.mark.parametrize("form", EXPORTS)
def test_what_is_found_is_read_or_counted(form: str, tmp_path: Path) -> None:
    """For each file: its annotations are in the markups or left out by kind; and so are the folder's files."""
    write_export, count = EXPORTS[form]
    path = write_export(tmp_path)
    made = importers.collected(path, HostError)
    account = files.Account() if made is None else made.account
    if made is None:
        documents = files.read_folder(path, HostError, account)
    else:
        documents = markup_consistency.read_documents(path)
        assert sum(len(marks) for of in made.marks.values() for marks in of.values()) == annotations_of(
            documents
        )
    for file in account.read:
        assert file.found == count(path.parent / file.name)
        assert file.found == file.kept + file.left_out.total()
        assert "annotations without a place in a markup" not in file.left_out
    assert sum(file.found for file in account.read) > 10
    there = [file for file in path.rglob("*") if file.is_file()]
    assert len(there) == len(account.read) + len(account.beside) + account.left_out.total()
    told = documents.attrs["read"]
    assert f" in {len(account.read)} file" in told
    for kind, number in sum(
        (file.left_out for file in account.read), account.left_out + account.details
    ).items():
        assert f"{kind} ({number})" in told


def annotations_of(documents: pd.DataFrame) -> int:
    """The elements in a table of documents."""
    cells = [*documents["markups"], *(f"[{cell}]" for cell in documents["markup"].dropna())]
    return sum(len(markup["elements"]) for cell in cells for markup in json.loads(cell))


def test_what_a_reader_passes_over_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = importers._Brat.marks
    monkeypatch.setattr(importers._Brat, "marks", lambda self: [*marks(self)][1:])
    with left_out("annotations without a place in a markup (2)"):
        markup_consistency.read_documents(export_of_brat(tmp_path, a=X + Y, b=X))


def test_an_id_that_stands_twice_overwrites_nothing(tmp_path: Path) -> None:
    twice = X + Y + Z.replace("T3", "T1")
    assert agreement(export_of_brat(tmp_path / "spans", a=twice, b=X + Y + Z)) == 1
    event, other = "E1\tX:T1 Theme:T2\n", "E2\tZ:T3 Theme:T2\n"
    whole = X + Y + Z + event
    assert (
        agreement(export_of_brat(tmp_path / "events", a=whole + other.replace("E2", "E1"), b=whole + other))
        == 1
    )


def test_files_with_carriage_returns_alone_are_read_line_by_line(tmp_path: Path) -> None:
    assert agreement(export_of_brat(tmp_path, a=(X + Y).replace("\n", "\r"), b=X + Y)) == 1


def test_hidden_files_are_nobodys(tmp_path: Path) -> None:
    path = export_of_brat(tmp_path, a=X, b=X, **{".trash": Z, "__MACOSX": Z, "a/.ipynb_checkpoints": Z})
    solution = markup_consistency.companion.read_solution(path)
    assert len(json.loads(solution["markups"][0])) == 2
    read = "Read: 2 experts (a, b), 1 document, 2 annotations in 2 files"
    assert solution.attrs["read"] == f"{read}, with 1 file beside them; left out: hidden files (3)"


def test_the_algorithm_may_be_written_with_a_capital_letter(tmp_path: Path) -> None:
    solution = markup_consistency.companion.read_solution(export_of_brat(tmp_path, a=X, b=X, Algorithm=Z))
    assert [markup["expert"] for markup in json.loads(solution["markups"][0])] == ["a", "b"]


AB = {"text": "Alpha beta."}
ALPHA, BETA = region("a", 0, 5, "Alpha", labels=["X"]), region("a", 6, 10, "beta", labels=["X"])


def test_predictions_of_which_only_numbers_are_exported_are_counted(tmp_path: Path) -> None:
    kind = "predictions of which only numbers are exported, unless its API is given predictions.only_id=false"
    with left_out(f"{kind} (1)"):
        found = elements(label_studio(tmp_path, task(1, AB, annotation(1, 1, ALPHA), predictions=[286])))
    assert list(found) == ["annotator 1"]


def test_tasks_with_predictions_alone_are_a_submission(tmp_path: Path) -> None:
    path = label_studio(tmp_path, {"id": 1, "data": AB, "predictions": [annotation(1, 0, ALPHA)]})
    submission = markup_consistency.companion.read_submission(path)
    assert json.loads(submission["markup"][0])["elements"][0]["tags"] == ["X"]


def test_the_later_annotation_counts_whatever_its_time_zone(tmp_path: Path) -> None:
    early = annotation(1, 1, ALPHA, updated_at="2026-01-01T10:00:00+05:00")
    late = annotation(2, 1, BETA, updated_at="2026-01-01T06:00:00Z")
    kind = "earlier versions by annotator 1"
    with left_out(f"annotations in {kind} (1), {kind} (1)"):
        read = elements(label_studio(tmp_path, task(1, AB, early, late)))
    assert read["annotator 1"] == [(["X"], [(6, 10)], [])]


@pytest.mark.parametrize("without", [(), ("id",)])
def test_regions_at_two_places_are_two_with_one_id_or_without(without: tuple[str, ...], tmp_path: Path) -> None:
    results = [{key: each[key] for key in each if key not in without} for each in (ALPHA, BETA)]
    found = elements(label_studio(tmp_path, task(1, AB, annotation(1, 1, *results))))
    assert found["annotator 1"] == [(["X"], [(0, 5)], []), (["X"], [(6, 10)], [])]


def test_one_project_for_each_annotator_is_joined_by_texts(tmp_path: Path) -> None:
    for name, ids in (("anna", (1, 2)), ("ben", (7, 9))):
        tasks = [task(key, AB, annotation(1, 1, each)) for key, each in zip(ids, (ALPHA, BETA))]
        write(tmp_path, f"{name}.json", tasks)
    solution = markup_consistency.companion.read_solution(tmp_path)
    assert solution["document_id"].tolist() == ["1", "2"]
    assert [markup["expert"] for markup in json.loads(solution["markups"][1])] == ["anna", "ben"]
    assert agreement(tmp_path) == 1


def test_tasks_that_contradict_each_other_are_told(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="two tasks with the id 1"):
        markup_consistency.companion.read_solution(label_studio(tmp_path, task(1, AB), task(1, AB)))
    models = [[annotation(1, 0) | {"model_version": name}] for name in ("good", "bad")]
    tasks = [task(number, AB, annotation(1, 1), predictions=of) for number, of in enumerate(models)]
    with pytest.warns(UserWarning, match="are of several models: bad, good"):
        markup_consistency.read_documents(label_studio(tmp_path, *tasks))


# ---- Agreement of nothing --------------------------------------------------------------------------------


def test_the_agreement_of_experts_who_mark_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody marked anything there is no agreement, and where one expert did it is 0."""
    nothing = [annotation(1, 5), annotation(2, 6)]
    path = label_studio(tmp_path, task(1, THE_CAT, *nothing), task(2, THE_CAT, *nothing))
    arguments = ["agreement", "--metric", "markup_consistency", str(path)]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert "documents in which no expert marked anything are left out: 1, 2 (2 documents)" in printed.err
    assert re.search(r"^total +Consistency of markups +- +- +- ", printed.out, re.MULTILINE)
    one = annotation(2, 6, region("r", 4, 7, "cat", labels=["x"]))
    label_studio(tmp_path, task(1, THE_CAT, *nothing), task(2, THE_CAT, nothing[0], one))
    assert main([*arguments, "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)["Documents"]
    assert [document["total"] for document in documents] == [None, 0]


# ---- Label Studio's habits -------------------------------------------------------------------------------


def test_white_space_that_was_folded_makes_no_other_quote(tmp_path: Path) -> None:
    """Each annotator may count an emoji in another way."""
    text = {"text": "😀 Text: Berlin,  Germany and  New  York."}
    said = [
        [place(8 + more, 24 + more, text="Berlin, Germany"), place(30 + more, 39 + more, text="New York")]
        for more in (0, 1)
    ]
    for each in said:
        each[1]["id"] = "r2"
    path = label_studio(tmp_path, task(1, text, *(annotation(n, n, *each) for n, each in enumerate(said, 5))))
    one, other = json.loads(markup_consistency.companion.read_solution(path)["markups"][0])
    assert one["elements"] == other["elements"]
    starts = [fragment["start"] for element in one["elements"] for fragment in element["fragments"]]
    assert starts == [8, 30]


def test_data_may_be_nested(tmp_path: Path) -> None:
    nested = {"doc": {"text": "The cat sat."}, "meta": {"source": "x"}}
    said = annotation(1, 5, place(4, 7, text="cat"))
    solution = markup_consistency.companion.read_solution(label_studio(tmp_path, task(1, nested, said)))
    assert solution["text"].tolist() == ["The cat sat."]


def test_a_ground_truth_is_told(tmp_path: Path) -> None:
    said = [annotation(1, 5, place(4, 7)), annotation(2, 9, place(0, 3), ground_truth=True)]
    with pytest.warns(UserWarning, match=r"counts as an expert's, .*: task 1 by annotator 9 \(1 annotation\)$"):
        markup_consistency.companion.read_solution(
            label_studio(tmp_path, task(1, {"text": "The cat sat."}, *said))
        )


@pytest.mark.parametrize("name", ["brat.tar.gz", "project.tar"])
def test_an_archive_is_to_be_unpacked(name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / name, "w:gz" if name.endswith("gz") else "w") as archive:
        archive.add(write(tmp_path, "A/d.ann", X), "A/d.ann")
    with pytest.raises(HostError, match="expected markups, found an archive; unpack it"):
        markup_consistency.companion.read_solution(tmp_path / name)


def test_a_table_of_label_studio_is_told_what_is_read(tmp_path: Path) -> None:
    table = pd.DataFrame({"annotator": [1], "id": [1], "label": ["[]"], "text": ["Ann met Ben"]})
    with pytest.raises(
        HostError, match=r"found a table with the columns annotator, id, label, text\. What is read"
    ):
        markup_consistency.companion.from_table(table)


def test_a_region_that_an_annotator_marked_twice_counts_once_and_is_told(tmp_path: Path) -> None:
    once, again, other = place(4, 7) | {"id": "a"}, place(4, 7) | {"id": "b"}, place(8, 11) | {"id": "c"}
    said = [annotation(1, 5, once, again, other), annotation(2, 9, once)]
    path = label_studio(tmp_path, task(1, {"text": "The cat sat."}, *said))
    with pytest.warns(UserWarning, match=r"left out: what an annotator marked twice alike \(1\)$"):
        table = markup_consistency.companion.read_solution(path)
    assert [len(markup["elements"]) for markup in json.loads(table["markups"][0])] == [2, 1]


@pytest.mark.parametrize("files", [1, 2])
def test_tasks_in_files_of_their_own_are_read(files: int, tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    folder.mkdir()
    for number in range(files):
        said = [annotation(1, 5, place(4, 7)), annotation(2, 9, place(4, 7))]
        content = json.dumps(task(number, {"text": "The cat sat."}, *said))
        (folder / f"{number}.json").write_text(content)
    for path in [folder] if files > 1 else [folder, folder / "0.json"]:
        table = markup_consistency.companion.read_solution(path)
        assert table["document_id"].tolist() == [*map(str, range(files))]


def test_an_export_without_a_single_label_is_told(tmp_path: Path) -> None:
    unlabeled = place(4, 7)
    unlabeled["value"].pop("labels")
    said = [annotation(1, 5, unlabeled), annotation(2, 9, unlabeled)]
    with pytest.warns(UserWarning, match="^no tag in 2 annotations, so only places are compared"):
        markup_consistency.companion.read_solution(
            label_studio(tmp_path, task(1, {"text": "The cat sat."}, *said))
        )
