"""How much time and memory does `podium make` need for a corpus of PERSUADE's size, and for many targets?

    python -m benchmarks.make [CORPUS | targets]

Without CORPUS, a corpus of as many essays is made up, with some 480 MB of text. `targets` makes tables whose
solutions have 200 and 800 columns, and one of the size of Kaggle's MoA.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import machine, memory_of, print_table
from tests.support.corpora import add_prompts, make_corpus

PERSUADE_ESSAYS = 25_996
ESSAYS_AT_ONCE = 2_000
MEGABYTE = 2**20

PROGRAM = """
import contextlib, io, time
from podium import cli
start = time.process_time()
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    code = cli.main(["make", {corpus!r}, "--out", {out!r}, *{options!r}])
assert code == 0
print(time.process_time() - start)
"""
READING = """
import time
import pandas as pd
start = time.process_time()
pd.read_csv({corpus!r})
print(time.process_time() - start)
"""
MEAN_OF_COLUMNS = '''"""The mean error of all columns."""

import pandas as pd


class ParticipantVisibleError(Exception):
    """A fault of a submission."""


def higher_is_better() -> bool:
    return False


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    """The mean error of all columns."""
    answers, truths = (table.drop(columns=row_id_column_name) for table in (submission, solution))
    if list(answers) != list(truths):
        raise ParticipantVisibleError("expected the columns of the sample")
    return float((answers - truths).abs().to_numpy().mean())
'''


def main(corpus: Path | None) -> None:
    """Print the table for a corpus."""
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        if corpus is None:
            corpus = Path(folder, "corpus.csv")
            write_corpus(corpus, PERSUADE_ESSAYS)
        size = f"{corpus.stat().st_size / MEGABYTE:,.0f} MB"
        rows = []
        for what, program in (("pandas reads it", READING), ("podium make", PROGRAM)):
            seconds, megabytes = memory_of(
                program.format(corpus=str(corpus), out=str(Path(folder, "files")), options=[])
            )
            rows.append([what, f"{seconds:.1f}", f"{megabytes:,.0f}"])
        print_table(f"A corpus of {size}", ["", "seconds", "MB at most"], rows)


def of_targets() -> None:
    """Print the table for solutions with many columns."""
    print(machine())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        metric = Path(folder, "metric.py")
        metric.write_text(MEAN_OF_COLUMNS)
        for targets, number in ((200, 150), (800, 150), (206, 20_000)):
            labels = Path(folder, f"{targets}.csv")
            table = pd.DataFrame(np.random.default_rng(0).random((number, targets)).round(4)).add_prefix(
                "target_"
            )
            table.to_csv(labels, index_label="id")
            named = {
                "corpus": str(labels),
                "out": str(Path(folder, f"files_{targets}_{number}")),
                "options": ["--metric", str(metric)],
            }
            of_size = f"{targets:,} targets, {number:,} rows"
            seconds, megabytes = memory_of(PROGRAM.format(**named))
            rows.append([of_size, f"{seconds:.2f}", f"{megabytes:,.0f}"])
    print_table("podium make with many targets", ["", "processor time (s)", "MB at most"], rows)


def write_corpus(path: Path, essays: int) -> None:
    """Write made-up essays into a file of PERSUADE's form, a few at a time."""
    for seed, start in enumerate(range(0, essays, ESSAYS_AT_ONCE)):
        part = add_prompts(make_corpus(min(ESSAYS_AT_ONCE, essays - start), seed))
        part = part.drop(columns="predictionstring").assign(essay_id_comp=part["essay_id_comp"] + f"-{seed}")
        # As in the original, the text of the whole essay is in each of its rows.
        part.to_csv(path, index=False, mode="a" if seed else "w", header=not seed)


if __name__ == "__main__":
    if sys.argv[1:] == ["targets"]:
        of_targets()
    else:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
