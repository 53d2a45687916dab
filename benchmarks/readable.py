"""How long metrics/readable.py takes, on one essay and on corpora, beside pygamma-agreement.

python -m benchmarks.readable
"""

from pathlib import Path
from typing import Any

from benchmarks.markups import run
from tests.readable_data import corpus


def spans(markup: dict[str, Any]) -> list[tuple[int, int, str]]:
    return [(value["startSelection"], value["endSelection"], value["type"]) for value in markup["selections"]]


def main() -> None:
    run(Path(__file__).parents[1] / "metrics" / "readable.py", corpus, spans, {"score": {}})


if __name__ == "__main__":
    main()
