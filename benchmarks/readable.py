"""How long does the metric readable take, on one essay and on corpora, beside pygamma-agreement?

python -m benchmarks.readable
"""

import json
from collections.abc import Iterable

import pandas as pd

from benchmarks.markups import Frames, run
from tests.support.readable_data import corpus

LARGEST = 500  # selections


def frames(ours: Iterable[tuple[int, int]], theirs: Iterable[tuple[int, int]]) -> Frames:
    """Make one essay of one expert.  Its markups have the given selections.

    Parameters
    ----------
    ours, theirs : iterable of (int, int)
        The start and the end of each selection of the expert and of the algorithm, in characters.

    Returns
    -------
    solution, submission : DataFrame
        One row each.
    """
    one, other = (
        {
            "criteria": {},
            "selections": [{"startSelection": s, "endSelection": e, "type": "a"} for s, e in spans],
        }
        for spans in (ours, theirs)
    )
    solution = pd.DataFrame({"document_id": ["d"], "subject": ["rus"], "markups": [json.dumps([one])]})
    return solution, pd.DataFrame({"document_id": ["d"], "markup": [json.dumps(other)]})


def main() -> None:
    """Print the tables of the metric."""
    apart = [(10 * number, 10 * number + 5) for number in range(LARGEST)]
    nested = [[(number + shift, 10_000 - number) for number in range(LARGEST)] for shift in (0, 1)]
    odd = {f"{LARGEST:,} selections apart": frames(apart, apart), f"{LARGEST:,} nested": frames(*nested)}
    run("readable", corpus, {"score": {}}, odd)


if __name__ == "__main__":
    main()
