"""Made-up essays with READ//ABLE markups of several experts and an algorithm, of any size, from a seed.

    python -m tests.support.readable_data

writes the samples in ``metrics/readable/samples/``: as CSV files, with the experts' judgment of explanations
as a file of its own, and as a folder of essay files.
"""

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from tests.support.markup_consistency_data import Remark, essay, remarks, seen

SAMPLES = Path(__file__).parents[2] / "metrics" / "readable" / "samples"

SUBJECTS = ("rus", "lit", "social", "hist", "eng", "rus-free", "eng-free")
CRITERIA = ("K1", "K2", "K3", "K4")
# How a remark's tag is written in the competition: type, subtypes, and whether it is a meaning block.
CODES: dict[str, tuple[str, tuple[str, ...], bool]] = {
    "grammar": ("G.agreement", ("", "verb", "noun"), False),
    "wording": ("W.redundant", ("", "word"), False),
    "logic": ("L.order", ("",), False),
    "fact": ("F.date", ("", "date", "name"), False),
    "style": ("PROBLEM", ("",), True),
}


class Essay(NamedTuple):
    """An essay with its subject, its text, the experts' markups and the algorithm's."""

    subject: str
    text: str
    experts: list[dict[str, Any]]
    algorithm: dict[str, Any]


def markup(
    rng: random.Random, noted: list[Remark], spans: list[tuple[int, int]], grades: list[int]
) -> dict[str, Any]:
    """Turn a reader's remarks and grades into a markup."""
    selections = []
    for number, remark in enumerate(noted, 1):
        kind, subtypes, is_meaning = CODES[remark.tag]
        selections.append(
            {
                "id": number,
                "startSelection": spans[remark.first][0],
                "endSelection": spans[remark.last][1],
                "type": kind.lower() if rng.random() < 0.3 else kind,
                "subtype": rng.choice(subtypes),
                "group": "meaning" if is_meaning else "error",
                "tag": "",
                "comment": "",
                "correction": "" if is_meaning else rng.choice(("", "better", "Better", "left out")),
                "explanation": "",
            }
        )
    given = [max(0, min(1, grade + rng.choice((0, 0, 0, 1, -1)))) for grade in grades]
    return {"criteria": dict(zip(CRITERIA, given)), "selections": selections}


def make(rng: random.Random, subject: str, selections: int, experts: int, words: int) -> Essay:
    """Make one essay: its subject, its text, the experts' markups and the algorithm's."""
    text, spans = essay(rng, words)
    truth = remarks(rng, words, selections, 1)
    grades = [rng.randrange(2) for _ in CRITERIA]
    readers = [markup(rng, seen(rng, truth, words), spans, grades) for _ in range(experts + 1)]
    return Essay(subject, text, readers[1:], readers[0])


def frames(essays: dict[str, Essay]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The solution and the submission of essays, given by their ids."""
    solution = {
        "document_id": list(essays),
        "subject": [item.subject for item in essays.values()],
        "markups": [json.dumps(item.experts, ensure_ascii=False) for item in essays.values()],
        "text": [item.text for item in essays.values()],
    }
    submission = {
        "document_id": list(essays),
        "markup": [json.dumps(item.algorithm, ensure_ascii=False) for item in essays.values()],
    }
    return pd.DataFrame(solution), pd.DataFrame(submission)


def corpus(documents: int, selections: int = 10, experts: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A solution and a submission as in the competition."""
    rng = random.Random(0)
    subjects = [SUBJECTS[number % len(SUBJECTS)] for number in range(documents)]
    essays = [make(rng, subject, selections, experts, words=300) for subject in subjects]
    return frames({f"essay-{number}": each for number, each in enumerate(essays)})


def samples() -> dict[str, Essay]:
    """A dozen essays with every outcome, by their ids."""
    rng = random.Random(29)
    numbers_of_experts = (2, 3, 2, 1, 2, 0, 2, 3, 2, 2, 2, 2)
    essays = {
        f"essay-{number + 1:02}": make(rng, SUBJECTS[number % len(SUBJECTS)], 5 + number % 3, experts, words=40)
        for number, experts in enumerate(numbers_of_experts)
    }
    nothing: dict[str, Any] = {"criteria": {"K1": "1", "K2": "0"}, "selections": []}
    essays["essay-09"] = essays["essay-09"]._replace(algorithm=nothing)
    essays["essay-10"] = essays["essay-10"]._replace(experts=[nothing, nothing], algorithm=nothing)
    return essays


def write(folder: Path) -> None:
    """Write the samples into a folder, with essay files in the form that the competition's program reads."""
    essays = samples()
    solution, submission = frames(essays)
    (folder / "essays").mkdir(parents=True, exist_ok=True)
    solution.to_csv(folder / "solution.csv", index=False, lineterminator="\n")
    submission.to_csv(folder / "submission.csv", index=False, lineterminator="\n")
    judged = pd.DataFrame(
        {"document_id": list(essays), "m7": [60 + 3 * number for number in range(len(essays))]}
    )
    judged.to_csv(folder / "explanations.csv", index=False, lineterminator="\n")
    for name, item in essays.items():
        markups = [
            {"id": f"e{number}", "isExpert": True, "third": False} | expert
            for number, expert in enumerate(item.experts, 1)
        ]
        markups.append({"id": "algorithm", "isExpert": False, "third": False} | item.algorithm)
        content = {
            "essay": {"id": name, "meta": {"subject": item.subject}, "text": item.text, "markups": markups}
        }
        path = folder / "essays" / f"{name}.json"
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(SAMPLES)
