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
    "REFUTES": (first_answer(label="REFUTES"), "write CONTRADICT"),
    "another claim": (first_line(id=999), "such as 999"),
    "claim left out": (PREDICTIONS.split("\n", 1)[1], "Missing: 1"),
    "gold as predictions": (
        (METRICS / "scifact/samples/claims.jsonl").read_text(encoding="utf-8"),
        "a list instead of an object",
    ),
    "half a gzip": (gzip.compress(PREDICTIONS.encode())[:-20], "packed by gzip"),
}


# ---- TREC-IS ---------------------------------------------------------------------------------------------

RUN = (METRICS / "trec_is/samples/run.txt").read_text(encoding="utf-8")
FIELDS = RUN.splitlines()[0].split("\t")


def first_field(index: int, value: str) -> str:
    """The sample run, in which a field of the first line has another value."""
    fields = [*FIELDS[:index], value, *FIELDS[index + 1 :]]
    return "\t".join(fields) + "\n" + RUN.split("\n", 1)[1]


TREC_IS = {
    "empty": ("", "It has no lines"),
    "no run": ("hello world\n", "line 1 (2 fields: 'hello world')"),
    "unknown type": (first_field(5, '["Report-Foo"]'), "'Report-Foo' is unknown"),
    "no tweet of the test set": (first_field(2, "7").split("\n", 1)[0], "at least one tweet of the test set"),
    "labels as a run": ((METRICS / "trec_is/samples/labels.json").read_text(encoding="utf-8"), "not JSON"),
    "binary": (bytes(range(256)), "expected lines such as"),
}


# ---- The tests -------------------------------------------------------------------------------------------

FILES: dict[str, dict[str, tuple[str | bytes, str]]] = {
    "scifact": SCIFACT,
    "trec_is": TREC_IS,
}
SUFFIXES = {"scifact": ".jsonl", "trec_is": ".txt"}


@pytest.fixture(scope="module")
def solutions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """For each metric the sample solution, and one for the same ids in which other answers are right."""
    folder = tmp_path_factory.mktemp("solutions")
    both = {}
    for metric in FILES:
        first = METRICS / metric / "samples/solution.csv"
        table = pd.read_csv(first, dtype=str, keep_default_na=False)
        answers = {"scifact": ["evidence"], "trec_is": ["priority", "categories"]}[metric]
        table[answers] = table[answers].iloc[::-1].to_numpy()
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
