"""Write a made-up competition whose solution is wrong in places, with the texts that show it.

    python examples/answer_key.py FOLDER
    podium rank FOLDER/solution.csv FOLDER/submissions --no-boost --out FOLDER/final

It is the competition of `board.py`. In twelve essays of the Private part, each segment has the next type in the
list of types, as if a column had slipped. `mended.csv` is the right solution. The command writes the same files
each time.
"""

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from examples import board
from examples.essays import TYPES

WRONG, SEED = 12, 7
SOLUTION, MENDED, TEXTS = board.SOLUTION, "mended.csv", "texts.csv"
NEXT = dict(zip(TYPES, np.roll(TYPES, -1)))

# How a segment of each type begins; what follows is the same everywhere.
BEGINNINGS = {
    "Lead": "Have you ever wondered about this?",
    "Position": "I believe that schools should do it,",
    "Claim": "One reason is that it helps students,",
    "Counterclaim": "Some people say that it costs too much,",
    "Rebuttal": "But they forget that it pays in the end,",
    "Evidence": "For example, a study found that most did better",
    "Concluding Statement": "In conclusion, this is why I think so,",
}
FOLLOWING = "because everybody in our town knows somebody who has tried it and liked it a lot and"


def text_of(essay: pd.DataFrame) -> str:
    """Write the text of an essay from its true segments."""
    words = list(itertools.islice(itertools.cycle(FOLLOWING.split()), 2000))
    length = 0
    for kind, positions in zip(essay["discourse_type"], essay["predictionstring"]):
        first, *_, last = [*map(int, positions.split()), int(positions.split()[-1])]
        beginning = BEGINNINGS[kind].split()[: last - first + 1]
        words[first : first + len(beginning)] = beginning
        length = max(length, last + 1)
    return " ".join(words[:length])


def write(folder: Path) -> list[str]:
    """Write the competition into a folder, and return the ids of the essays whose labels are wrong."""
    board.write(folder)
    right = pd.read_csv(
        folder / SOLUTION, dtype={"essay_id": str, "predictionstring": str}, keep_default_na=False
    )
    right.to_csv(folder / MENDED, index=False, lineterminator="\n")
    essays = sorted(right.loc[right["Usage"] == "Private", "essay_id"].unique())
    wrong = sorted(np.random.default_rng(SEED).choice(essays, WRONG, replace=False).tolist())
    has_slipped = right["essay_id"].isin(wrong)
    kinds = right["discourse_type"].where(~has_slipped, right["discourse_type"].map(NEXT))
    right.assign(discourse_type=kinds).to_csv(folder / SOLUTION, index=False, lineterminator="\n")
    texts = right.groupby("essay_id")[["discourse_type", "predictionstring"]].apply(text_of)
    texts.rename("text").rename_axis("id").to_csv(folder / TEXTS, lineterminator="\n")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write the competition")
    write(parser.parse_args().folder)
