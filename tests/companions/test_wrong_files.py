"""Wrong files of the sibling metrics, as participants send them: the message says what was expected and found.

It is short, it has no traceback, and it does not depend on what the solution says is right.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.support.command_line import run

METRICS = Path(__file__).parents[2] / "metrics"
REJECTED = 3
LONGEST = 280 + len("error: ")


def lines_of(objects: list[Any]) -> str:
    """One JSON object per line."""
    return "".join(json.dumps(each) + "\n" for each in objects)


# ---- SciFact ---------------------------------------------------------------------------------------------

PREDICTIONS = (METRICS / "scifact/samples/predictions.jsonl").read_text(encoding="utf-8")


def first_answer(**changed: Any) -> str:
    """The sample predictions, in which the first answer has other values; None leaves a key out."""
    objects = [json.loads(line) for line in PREDICTIONS.splitlines()]
    answer = objects[0]["evidence"]["11"] | changed
    objects[0]["evidence"]["11"] = {name: value for name, value in answer.items() if value is not None}
    return lines_of(objects)


def first_line(**changed: Any) -> str:
    """The sample predictions with another first line; `...` leaves a key out."""
    first, *rest = [json.loads(line) for line in PREDICTIONS.splitlines()]
    return lines_of([{name: value for name, value in (first | changed).items() if value is not ...}, *rest])


SCIFACT = {
    "empty": ("", "Missing: 40"),
    "no JSON": ("hello\n", "line 1 (not JSON"),
    "a list": (
        json.dumps([json.loads(line) for line in PREDICTIONS.splitlines()]),
        "a list instead of an object",
    ),
    "cut off": (PREDICTIONS[:-40], "line 40 (not JSON"),
    "several lines for an object": (json.dumps(json.loads(PREDICTIONS.splitlines()[0]), indent=1), "not JSON"),
    "Python's quotation marks": (PREDICTIONS.replace('"', "'"), "not JSON"),
    "REFUTES": (first_answer(label="REFUTES"), "write CONTRADICT"),
    "no evidence by a label": (first_answer(label="NOT_ENOUGH_INFO"), "leave it out"),
    "lower case": (first_answer(label="support"), "write SUPPORT"),
    "no label": (first_answer(label=None), "no label"),
    "no sentences": (first_answer(sentences=None), "no sentences"),
    "sentence in text": (first_answer(sentences=["5"]), "the text '5' among the sentences"),
    "negative sentence": (first_answer(sentences=[-1]), "-1 among the sentences"),
    "one sentence": (first_answer(sentences=5), "5 instead of a list of sentences"),
    "huge number": (first_answer(sentences=[10**400]), "among the sentences"),
    "evidence is a list": (first_line(evidence=[]), "evidence is a list"),
    "no evidence": (first_line(evidence=...), "no evidence"),
    "id is null": (first_line(id=None), "id is null"),
    "another claim": (first_line(id=999), "such as 999"),
    "claim twice": (PREDICTIONS + PREDICTIONS.splitlines()[0], "claim_id 52 (repeated)"),
    "claim left out": (PREDICTIONS.split("\n", 1)[1], "Missing: 1"),
    "gold as predictions": (
        (METRICS / "scifact/samples/claims.jsonl").read_text(encoding="utf-8"),
        "a list instead of an object",
    ),
    "UTF-16": (PREDICTIONS.encode("utf-16"), "expected UTF-8 text"),
    "half a gzip": (gzip.compress(PREDICTIONS.encode())[:-20], "packed by gzip"),
    "nested deeply": ("[" * 100_000, "nested too deeply"),
}


# ---- TREC-IS ---------------------------------------------------------------------------------------------

RUN = (METRICS / "trec_is/samples/run.txt").read_text(encoding="utf-8")
FIELDS = RUN.splitlines()[0].split("\t")
OF_2021 = {"topic": FIELDS[0], "tweet_id": FIELDS[2], "priority": 0.5, "info_type_labels": [0] * 25}


def first_field(index: int, value: str) -> str:
    """The sample run, in which a field of the first line has another value."""
    fields = [*FIELDS[:index], value, *FIELDS[index + 1 :]]
    return "\t".join(fields) + "\n" + RUN.split("\n", 1)[1]


TREC_IS = {
    "empty": ("", "It has no lines"),
    "no run": ("hello world\n", "line 1 (2 fields: 'hello world')"),
    "no rank": (first_field(3, ""), "no list of types after the score"),
    "rank in words": (first_field(3, "first"), "rank: expected the position"),
    "score in words": (first_field(4, "High"), "('High')"),
    "score with a comma": (first_field(4, "0,5"), "('0,5')"),
    "score is not finite": (first_field(4, "inf"), "('inf')"),
    "unknown type": (first_field(5, '["Report-Foo"]'), "'Report-Foo' is unknown"),
    "lower case": (first_field(5, '["report-news"]'), "'report-news' is unknown"),
    "types without brackets": (first_field(5, "Report-News"), "no list of types after the score: 'Report-News"),
    "no closing bracket": (first_field(5, '["Report-News"'), "no list of types after the score"),
    "types in one text": (first_field(5, '["Report-News,Report-Weather"]'), "is unknown"),
    "tweet twice": (RUN + RUN.splitlines()[0], "each tweet once in the list of an event"),
    "no tweet of the test set": (first_field(2, "7").split("\n", 1)[0], "at least one tweet of the test set"),
    "two forms": (RUN + json.dumps(OF_2021), "expected lines of one form"),
    "24 labels": (json.dumps(OF_2021 | {"info_type_labels": [0] * 24}), "is not a list of 25 numbers"),
    "half a label": (json.dumps(OF_2021 | {"info_type_labels": [0.5] * 25}), "is not a list of 25 numbers"),
    "priority in words": (json.dumps(OF_2021 | {"priority": "High"}), "'High' instead of a number"),
    "no topic": (json.dumps(OF_2021 | {"topic": None}), "topic or tweet_id is missing"),
    "a list of 2021": (json.dumps([OF_2021]), "expected lines such as"),
    "labels as a run": ((METRICS / "trec_is/samples/labels.json").read_text(encoding="utf-8"), "not JSON"),
    "binary": (bytes(range(256)), "expected lines such as"),
}


# ---- Markups ---------------------------------------------------------------------------------------------


def with_markup(metric: str, markup: Any) -> str:
    """The sample submission of a markup metric, in which the first markup is another one."""
    table = pd.read_csv(METRICS / metric / "samples/submission.csv", dtype=str)
    table.loc[0, "markup"] = markup if isinstance(markup, str) else json.dumps(markup)
    return table.to_csv(index=False)


def of_fragment(**changed: Any) -> dict[str, Any]:
    """A markup with one fragment that has other values."""
    return {"elements": [{"fragments": [{"start": 0, "end": 5} | changed]}]}


def of_selection(**changed: Any) -> dict[str, Any]:
    """A markup of READ//ABLE with one selection that has other values."""
    selection = {"startSelection": 0, "endSelection": 5, "type": "logic"}
    return {"criteria": {"K1": 1}, "selections": [selection | changed]}


NO_MARKUP: dict[str, tuple[Any, str]] = {
    "no JSON": ("hello", "not JSON"),
    "a list": ([], "a list instead of an object"),
    "null": ("null", "missing instead of an object"),
    "nothing": ("", "(missing)"),
    "NaN": ('{"a": NaN}', "NaN is not a number"),
    "Python's quotation marks": ("{'a': 1}", "not JSON"),
    "nested deeply": ("[" * 100_000, "nested too deeply"),
    "a number of 5,000 digits": ('{"a": ' + "9" * 5_000 + "}", "not JSON"),
    "an empty object": ({}, "the markup has no "),
}
CONSISTENCY: dict[str, tuple[Any, str]] = NO_MARKUP | {
    "elements is an object": ({"elements": {}}, "elements is an object instead of a list"),
    "element is text": ({"elements": ["x"]}, "element 1: 'x' instead of an object"),
    "start in text": (of_fragment(start="0"), "fragment 1: start is '0' instead of a whole number"),
    "half a character": (of_fragment(start=0.5), "start is 0.5 instead of a whole number"),
    "negative": (of_fragment(start=-1), "start is negative"),
    "end before start": (of_fragment(start=9), "start 9 is after end 5"),
    "beyond the text": (of_fragment(end=10**6), "end 1000000 is beyond the text"),
    "far beyond": (of_fragment(end=10**12), "end is above 1,000,000,000"),
    "tags in one text": (of_fragment(tags="a"), "tags is not a list of texts"),
    "comment is a number": (of_fragment(overtexts=[{"comment": 5}]), "comment is 5 instead of text"),
    "too many": ({"elements": [{"fragments": [{"start": 0, "end": 1}] * 2001}]}, "more than 2,000"),
    "too long": ({"elements": [{"tags": ["x" * 200_001]}]}, "more than 200,000"),
}
READABLE: dict[str, tuple[Any, str]] = NO_MARKUP | {
    "no selections": ({"criteria": {}}, "the markup has no selections"),
    "criteria is a list": ({"criteria": [], "selections": []}, "criteria is a list instead of an object"),
    "grade in words": ({"criteria": {"K1": "good"}, "selections": []}, "criterion K1 is 'good'"),
    "negative grade": ({"criteria": {"K1": -1}, "selections": []}, "criterion K1 is -1"),
    "grade too high": ({"criteria": {"K1": 1000}, "selections": []}, "the criteria sum to 1000"),
    "start in text": (of_selection(startSelection="0"), "startSelection is '0' instead of a whole number"),
    "end before start": (of_selection(startSelection=9), "startSelection 9 is after endSelection 5"),
    "beyond the text": (of_selection(endSelection=10**6), "endSelection 1000000 is beyond the text"),
    "no type": (of_selection(type=None), "selection 1: type is missing"),
    "type is a number": (of_selection(type=5), "type is 5 instead of text"),
    "subtype is a list": (of_selection(subtype=[]), "subtype is a list instead of text"),
    "selection is text": ({"criteria": {}, "selections": ["x"]}, "selection 1: 'x' instead of an object"),
    "too many": ({"criteria": {}, "selections": of_selection()["selections"] * 501}, "more than 500"),
}


# ---- The tests -------------------------------------------------------------------------------------------

FILES: dict[str, dict[str, tuple[str | bytes, str]]] = {
    "scifact": SCIFACT,
    "trec_is": TREC_IS,
    "markup_consistency": {
        name: (with_markup("markup_consistency", m), say) for name, (m, say) in CONSISTENCY.items()
    },
    "readable": {name: (with_markup("readable", m), say) for name, (m, say) in READABLE.items()},
}
SUFFIXES = {"scifact": ".jsonl", "trec_is": ".txt", "markup_consistency": ".csv", "readable": ".csv"}


@pytest.fixture(scope="module")
def solutions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """For each metric the sample solution, and one for the same ids in which other answers are right."""
    folder = tmp_path_factory.mktemp("solutions")
    both = {}
    for metric in FILES:
        first = METRICS / metric / "samples/solution.csv"
        table = pd.read_csv(first, dtype=str, keep_default_na=False)
        answers = {"scifact": ["evidence"], "trec_is": ["priority", "categories"]}.get(metric, ["markups"])
        if metric in ("scifact", "trec_is"):
            table[answers] = table[answers].iloc[::-1].to_numpy()
        else:
            table["markups"] = [json.dumps(json.loads(cell)[:2] * 2) for cell in table["markups"]]
        table.to_csv(folder / f"{metric}.csv", index=False)
        both[metric] = [first, folder / f"{metric}.csv"]
    return both


@pytest.mark.parametrize(("metric", "name"), [(metric, name) for metric, of in FILES.items() for name in of])
def test_a_wrong_file_is_explained(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    solutions: dict[str, list[Path]],
    metric: str,
    name: str,
) -> None:
    content, said = FILES[metric][name]
    file = tmp_path / f"sent{SUFFIXES[metric]}"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    messages = set()
    for solution in solutions[metric]:
        code, out, err = run(capsys, "score", "--metric", metric, solution, file)
        assert (code, out) == (REJECTED, "")
        messages.add(err.splitlines()[-1])
    (message,) = messages
    assert said in message
    assert message.startswith("error: ")
    assert len(message.replace(str(tmp_path), "")) <= LONGEST
