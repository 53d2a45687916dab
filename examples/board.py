"""Write a made-up competition that is large enough for its board to be interesting.

    python examples/board.py FOLDER
    podium rank FOLDER/solution.csv FOLDER/submissions FOLDER/runtimes.csv --out FOLDER/final --variants

It has 800 essays, most of which are Private, and three dozen teams. Each team predicts what one simulated
model predicts, with some segments left out and the probabilities moved. So all teams find the same essays
hard, as real competitors do. The board has an example of everything that can happen:

* a few teams close to the best score, and a winner by speed;
* two teams with the same file, one of which was earlier;
* teams with two files, a file that is rejected, a model that failed, a runtime that was measured once, and
  a team without any.

As all teams share one simulated model, the best of them are also listed as similar. The command writes the
same files each time.
"""

import argparse
import gzip
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from examples.essays import make_competition

ESSAYS, SEED = 800, 7
SOLUTION, SUBMISSIONS, RUNTIMES, FAILED = "solution.csv", "submissions", "runtimes.csv", "failed.csv"
RUNS = 5
NOISE = 0.015  # of a run, relative to its runtime


class Team(NamedTuple):
    """A made-up team."""

    name: str
    found: float  # the share of the simulated model's segments that the team's model finds
    certainty: float  # how certain it is of the effectiveness: 1 is the simulated model's, 0 none
    seconds: float  # the runtime


# The first ones decide the prizes; the others fill the board, worse and worse.
LEADING = [
    Team("Comma Splice", 1.0, 1.6, 1460),
    Team("Footnote", 0.995, 1.5, 1230),
    Team("Dangling Modifier", 0.985, 1.5, 1180),
    Team("Red Pen", 0.97, 1.4, 1150),
    Team("Second Draft", 0.96, 1.4, 1420),
    Team("Thesis & Co", 0.95, 1.3, 1290),
]
OTHERS = (
    "Ablative", "Brackets", "Caret", "Ditto", "Ellipsis", "Em Dash", "Erratum", "Folio", "Gerund", "Hedge",
    "Ibid", "Interrobang", "Kerning", "Ligature", "Marginalia", "Nominal", "Oxford", "Palimpsest", "Quire",
    "Run-on", "Serif", "Sic", "Stet", "Subjunctive", "Topic Sentence", "Umlaut", "Vellum", "Word Salad",
)  # fmt: skip
COPIED, COPY = "Ibid", "Ditto"
WITHOUT_RUNTIME, MEASURED_ONCE = "Marginalia", "Thesis & Co"
WITH_TWO_FILES = ("Second Draft", "Stet")
REJECTED, FAILING = "Off by One", "Syntax Error"


def teams() -> list[Team]:
    """All teams whose files can be scored."""
    others = [
        Team(name, 0.9 - 0.017 * number, 1.05 - 0.03 * number, 1900.0 - 60 * number + 300 * (number % 3))
        for number, name in enumerate(OTHERS)
    ]
    return LEADING + others


def submission_of(model: pd.DataFrame, found: float, certainty: float, seed: int) -> pd.DataFrame:
    """What a team predicts, made of what the simulated model predicts."""
    kept = model[np.random.default_rng(seed).random(len(model)) < found]
    effective = (0.5 + certainty * (kept["score_discourse_effectiveness_1"] - 0.5)).clip(0, 1).round(4)
    return kept.assign(
        score_discourse_effectiveness_0=(1 - effective).round(4), score_discourse_effectiveness_1=effective
    )


def write(folder: Path) -> None:
    """Write the competition into a folder: solution.csv, submissions/, runtimes.csv and failed.csv."""
    solution, model = make_competition(ESSAYS, SEED)
    folder.mkdir(parents=True, exist_ok=True)
    solution.to_csv(folder / SOLUTION, index=False, lineterminator="\n")
    all_teams = teams()
    files = {team.name: submission_of(model, *team[1:3], seed) for seed, team in enumerate(all_teams)}
    files[COPY] = files[COPIED]
    for team in all_teams:
        name = f"{team.name}.csv.gz"
        if team.name in WITH_TWO_FILES:
            _write_packed(files[team.name].iloc[::2], folder / SUBMISSIONS / team.name / "first.csv.gz")
            name = f"{team.name}/second.csv.gz"
        _write_packed(files[team.name], folder / SUBMISSIONS / name)
    wrong = model.copy()
    wrong.loc[3, "predictionstring"] = "12 13 15"
    _write_packed(wrong, folder / SUBMISSIONS / f"{REJECTED}.csv.gz")
    _runtimes(all_teams).to_csv(folder / RUNTIMES, index=False, lineterminator="\n")
    reason = "exit code 1: FileNotFoundError: [Errno 2] No such file or directory: 'weights.bin'"
    failed = pd.DataFrame({"team": [FAILING], "model": ["run.py"], "reason": [reason]})
    failed.to_csv(folder / FAILED, index=False, lineterminator="\n")


def _runtimes(all_teams: list[Team]) -> pd.DataFrame:
    """Runtimes of a few runs each, as `podium run` writes them, and when the teams submitted."""
    random = np.random.default_rng(SEED)
    rows = []
    for number, team in enumerate(all_teams):
        runs = np.sort(team.seconds * np.exp(NOISE * random.standard_normal(RUNS))).round(2)
        error = np.sqrt(np.pi / 2) * runs.std(ddof=1) / np.sqrt(RUNS)  # of a median
        submitted_at = f"2026-03-{28 - number * 5 % 27:02} {number % 24:02}:{number * 37 % 60:02}:00"
        rows.append((team.name, np.median(runs), runs[0], runs[-1], error.round(3), RUNS, submitted_at))
    columns = ["team", "runtime", "runtime_low", "runtime_high", "runtime_error", "runs", "submitted_at"]
    table = pd.DataFrame(rows, columns=columns)
    table.loc[table["team"] == MEASURED_ONCE, ["runtime_error", "runs"]] = np.nan, 1
    return table[table["team"] != WITHOUT_RUNTIME]


def _write_packed(frame: pd.DataFrame, path: Path) -> None:
    """Write a .csv.gz whose bytes do not depend on the time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = frame.to_csv(index=False, lineterminator="\n")
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write the competition")
    write(parser.parse_args().folder)
