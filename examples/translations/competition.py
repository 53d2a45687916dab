"""Write real ratings of translations as a competition, in which every other segment decides.

    python examples/translations/competition.py FOLDER
    podium rank FOLDER/solution.csv FOLDER/submissions --metric examples/translations/metric.py --no-boost \\
        --items segment --title "Ten translations of the news" --out FOLDER/final

A submission is what professional translators thought of one translation: a rating for each segment. The
segments that do not decide are the Public part, in which one sees whether the board was right.
"""

import sys
from pathlib import Path

import pandas as pd

RATINGS = Path(__file__).with_name("ratings.csv")


def main(folder: Path) -> None:
    """Write the solution, which knows no more than the segments, and a submission for each translation."""
    ratings = pd.read_csv(RATINGS, index_col="segment")
    (folder / "submissions").mkdir(parents=True, exist_ok=True)
    solution = pd.DataFrame({"segment": ratings.index, "Usage": "Private"})
    solution.loc[1::2, "Usage"] = "Public"
    solution.to_csv(folder / "solution.csv", index=False)
    for name in ratings:
        submission = ratings[name].rename("rating").reset_index()
        submission.to_csv(folder / "submissions" / f"{name}.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
