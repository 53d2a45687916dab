"""How long metrics/markup_consistency.py takes, on one essay and on corpora, beside pygamma-agreement.

python -m benchmarks.markup_consistency
"""

from pathlib import Path
from typing import Any

from benchmarks.markups import run
from tests.markup_consistency_data import corpus


def spans(markup: dict[str, Any]) -> list[tuple[int, int, str]]:
    fragments = [fragment for element in markup["elements"] for fragment in element["fragments"]]
    return [(fragment["start"], fragment["end"], fragment["tags"][0]) for fragment in fragments]


def main() -> None:
    file = Path(__file__).parents[1] / "metrics" / "markup_consistency.py"
    run(file, corpus, spans, {"score": {}, 'score, accordance "exact"': {"accordance": "exact"}})


if __name__ == "__main__":
    main()
