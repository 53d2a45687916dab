"""WebAnno TSV 3 as markups; the other exports are in test_markup_files.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from podium import hosted, scoring
from podium.errors import HostError
from podium.hosted import module

markup_consistency = hosted.module("markup_consistency", "companion")

HEADER = (
    "#FORMAT=WebAnno TSV 3.3\n"
    "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue\n"
    "#T_SP=webanno.custom.Error|kind|remark\n"
    "#T_CH=webanno.custom.Chain|referenceRelation|referenceType\n"
    "#T_SP=webanno.custom.Mark|\n"
    "#T_SP=webanno.custom.Frame|ROLE_who_webanno.custom.Who|webanno.custom.Mark|name\n"
    "#T_RL=webanno.custom.Link|how|BT_webanno.custom.Error\n"
    "\n\n"
)


def line(unit: str, place: str, form: str, **cells: str) -> str:
    """A token, with what is in some of the columns."""
    names = ["pos", "kind", "remark", "relation", "type", "mark", "role", "target", "name", "how", "link"]
    return "\t".join([unit, place, form, *(cells.get(name, "_") for name in names), "\n"])


def written(folder: Path, content: str, who: str = "anna", document: str = "d1.txt") -> Path:
    path = folder / document / f"{who}.tsv"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode())
    return folder


def elements(folder: Path) -> tuple[str, dict[str, list[Any]]]:
    """The text, and by expert the tags and spans of each element."""
    documents = markup_consistency.read_documents(folder)
    return documents["text"][0], {
        markup["expert"]: [
            (element["tags"], [(f["start"], f["end"]) for f in element["fragments"]])
            for element in markup["elements"]
        ]
        for markup in json.loads(documents["markups"][0])
    }


THE_CAT = (
    "#Text=The cat sat.\n"
    + line("1-1", "0-3", "The", pos="DT", kind="logic[1]", remark="*[1]")
    + line("1-2", "4-7", "cat", pos="NN", kind="logic[1]|fact[2]", remark="*[1]|a \\| b\\_c\\\\[2]")
    + line(
        "1-3", "8-11", "sat", kind="fact[2]", remark="a \\| b\\_c\\\\[2]", mark="*", relation="*->1-1", type="x"
    )
    + line("1-4", "11-12", ".", role="*", target="1-3", name="end", how="so", link="1-1[1_0]")
)


def test_spans_of_all_layers_with_their_features(tmp_path: Path) -> None:
    text, by_expert = elements(written(tmp_path, HEADER + THE_CAT))
    assert text == "The cat sat."
    assert by_expert["anna"] == [
        (["logic"], [(0, 7)]),
        (["fact", "a | b_c\\"], [(4, 11)]),
        (["Mark"], [(8, 11)]),
        (["end"], [(11, 12)]),
    ]


def test_the_experts_of_a_document_are_scored(tmp_path: Path) -> None:
    for who in ("anna", "boris", "algorithm"):
        written(tmp_path, HEADER + THE_CAT, who)
    assert set(elements(tmp_path)[1]) == {"anna", "boris"}
    metric = module("markup_consistency")
    solution = scoring.prepare(
        hosted.load(metric.NAME), scoring.read_solution(hosted.load(metric.NAME), tmp_path, {}), {}
    )
    submission = scoring.read_submission(hosted.load(metric.NAME), tmp_path, {})
    assert scoring.evaluate(solution, submission).measures["score"] > 0


def test_parts_of_tokens_and_offsets_in_utf_16(tmp_path: Path) -> None:
    content = (
        HEADER
        + "#Text= 😀 a\\tb\n#Text=c. \n"  # a sentence of two lines, with blanks around
        + line("1-1", "1-3", "😀", mark="*[1]")
        + line("1-2", "4-5", "a")
        + line("1-3", "6-7", "b", mark="*[1]")
        + line("1-4", "8-10", "c.")
        + line("1-4.1", "9-10", ".", kind="dot", remark="")
        + "\n#Sentence.id=s2\r\n#Text=New\r\n"
        + line("2-1", "13-16", "New", kind="two|one", remark="*|*").replace("\n", "\r\n")
    )
    text, by_expert = elements(written(tmp_path, content))
    assert text == " 😀 a\tb\nc. \n\nNew"
    assert by_expert == {
        "anna": [
            (["Mark"], [(1, 6)]),
            (["dot"], [(8, 9)]),
            (["two"], [(12, 15)]),
            (["one"], [(12, 15)]),
        ]
    }


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("TSV 3.3", "TSV 2.0", "the first line is '#FORMAT=WebAnno TSV 2.0', not '#FORMAT=WebAnno TSV 3.3'"),
        ("TSV 3.3", "TSV 3.31", "the first line is "),
        ("0-3", "0-4", "token 1-1 'The' is not in the text at 0-4"),
        ("0-3", "0", "not enough values to unpack"),
        ("0-3", "a-b", "invalid literal for int()"),
        ("8-11", "9-12", "token 1-3 'sat' is not in the text at 9-12"),
        ("The\t", "Teh\t", "token 1-1 'Teh' is not in the text"),
        ("#Text=The cat sat.\n", "", "token 1-1 'The' is not in the text"),
        ("1-1\t0-3\tThe", "1-1\t0-3", "token 1-1 'DT' is not in the text"),
        ("\t1-1[1_0]\t\n", "\n", "or lacks columns"),
        ("logic[1]", "logic[1", "the cell 'logic[1'"),
        ("logic[1]", "lo[g]ic[1]", "the cell "),
    ],
)
def test_what_is_no_webanno_tsv(tmp_path: Path, right: str, wrong: str, fault: str) -> None:
    content = HEADER + THE_CAT
    assert right in content
    written(tmp_path, content.replace(right, wrong, 1))
    with pytest.raises(HostError, match=r"d1\.txt/anna\.tsv: expected an export, found a fault: ") as caught:
        markup_consistency.read_solution(tmp_path)
    assert fault in str(caught.value).replace('"', "'").replace("\\'", "'")


def test_experts_must_have_marked_one_text(tmp_path: Path) -> None:
    written(tmp_path, HEADER + THE_CAT)
    written(tmp_path, (HEADER + THE_CAT).replace("cat", "dog"), "boris")
    with pytest.raises(HostError, match=r"document 'd1\.txt': expected one text, found another one of boris"):
        markup_consistency.read_solution(tmp_path)
