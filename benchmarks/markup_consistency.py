"""How long does the metric markup_consistency take, on one essay and on corpora, beside pygamma-agreement?

python -m benchmarks.markup_consistency
"""

import json
from collections.abc import Iterable

import pandas as pd

from benchmarks.markups import Frames, run
from tests.support.markup_consistency_data import corpus

LARGEST = 1999  # fragments in one element


def frames(ours: Iterable[tuple[int, int]], theirs: Iterable[tuple[int, int]]) -> Frames:
    """Make one document of one expert.  Both markups have one element with the given fragments.

    Parameters
    ----------
    ours, theirs : iterable of (int, int)
        The start and the end of each fragment of the expert and of the algorithm, in characters.

    Returns
    -------
    solution, submission : DataFrame
        One row each.
    """
    one, other = (
        {"elements": [{"fragments": [{"start": start, "end": end, "tags": ["a"]} for start, end in spans]}]}
        for spans in (ours, theirs)
    )
    solution = pd.DataFrame({"document_id": ["d"], "markups": [json.dumps([one])]})
    return solution, pd.DataFrame({"document_id": ["d"], "markup": [json.dumps(other)]})


def main() -> None:
    """Print the tables of the metric."""
    apart = [(10 * number, 10 * number + 5) for number in range(LARGEST)]
    nested = [[(number + shift, 10_000 - number) for number in range(LARGEST)] for shift in (0, 1)]
    odd = {f"{LARGEST:,} fragments apart": frames(apart, apart), f"{LARGEST:,} nested": frames(*nested)}
    variants = {"score": {}, 'score, accordance "exact"': {"accordance": "exact"}}
    run("markup_consistency", corpus, variants, odd)


if __name__ == "__main__":
    main()
