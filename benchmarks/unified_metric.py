"""How fast is the Unified Metric?

    python -m benchmarks.unified_metric [FOLDER] [OLDER]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair. Without it, made-up
essays of the same number and size are scored. OLDER is a checkout of an earlier version, such as
`git worktree add OLDER 4a32bb73` makes of 5.0.0; its `podium score` runs in turns with this one.

Other scorers are timed in the same run:

- nervaluate counts strict, exact, partial and type matches of labeled spans, if it is installed;
- the classic scorers compute the plain F1 of Feedback Prize 1, from ranges of words or from sets.

None of them removes overlaps, weighs effectiveness or knows sub-populations. The extra `dev` installs
nervaluate.
"""

import statistics
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

import metric
from benchmarks import classic
from benchmarks.measure import machine, memory_of, print_table, seconds_of, seconds_of_processes
from examples.essays import make_competition
from podium.contest import reading
from podium.metric import hosted
from tests.support import unified_transcription as transcription

ROOT = Path(metric.__file__).parent
REAL_ESSAYS = 15_594
REPEATS, RIVAL_REPEATS, REPEATS_OF_PROCESSES = 9, 3, 9
GROWN = 3  # processes of each size


def main(folder: Path | None = None, older: Path | None = None) -> None:
    """Print all tables."""
    warnings.simplefilter("ignore", metric.TruthOverlapWarning)
    with tempfile.TemporaryDirectory() as temporary:
        if folder is None:
            folder = Path(temporary)
            for name, frame in zip(("solution", "submission"), make_competition(REAL_ESSAYS)):
                frame.to_csv(folder / f"{name}.csv.gz", index=False)
        paths = [folder / "solution.csv.gz", folder / "submission.csv.gz"]
        frames = [reading.read_submission(hosted.load("unified"), path, {}) for path in paths]
        print(machine())
        print(f"{len(frames[0]):,} true and {len(frames[1]):,} predicted segments", flush=True)
        compare_scorers(*frames)
        compare_processes(paths, older)
    show_growth()


def compare_scorers(solution: pd.DataFrame, submission: pd.DataFrame) -> None:
    """Time score() and other scorers on frames."""
    prepared = metric.prepare(solution, "row_id")
    score = seconds_of(lambda: metric.score(solution, submission, "row_id"), REPEATS)
    further = seconds_of(lambda: prepared.statistics(submission), REPEATS)
    ranges = seconds_of(lambda: classic.macro_f1_of_ranges(solution, submission), RIVAL_REPEATS)
    rows = [
        ("score()", score),
        ("a further submission, solution prepared", further),
        ("classic F1 of ranges, as the fastest notebooks", ranges),
        ("literal transcription", seconds_of(lambda: transcription.evaluate(solution, submission))),
        ("classic set-based F1", seconds_of(lambda: classic.macro_f1(solution, submission))),
    ]
    rows += time_nervaluate(solution, submission)
    print_table(
        "Scoring frames, median processor seconds",
        ["scorer", "seconds", "times score()"],
        [[name, f"{seconds:.3f}", f"{seconds / score:.2f}"] for name, seconds in rows],
    )


def time_nervaluate(solution: pd.DataFrame, submission: pd.DataFrame) -> list[tuple[str, float]]:
    """Time nervaluate."""
    try:
        from nervaluate import Evaluator
    except ImportError:
        return []
    essays = sorted(set(solution["essay_id"]))
    truth, predicted = (spans(frame, essays) for frame in (solution, submission))
    types = list(metric.DISCOURSE_TYPES)
    return [("nervaluate", seconds_of(lambda: Evaluator(truth, predicted, types, loader="dict").evaluate()))]


def spans(frame: pd.DataFrame, essays: list[str]) -> list[list[dict[str, Any]]]:
    """List the labeled spans of each essay."""
    first, last = metric.parse_predictionstrings(frame["predictionstring"].tolist())
    by_essay: dict[str, list[dict[str, Any]]] = {essay: [] for essay in essays}
    for essay, label, start, end in zip(
        frame["essay_id"], frame["discourse_type"], first.tolist(), last.tolist()
    ):
        by_essay[essay].append({"label": label, "start": start, "end": end})
    return list(by_essay.values())


def compare_processes(paths: list[Path], older: Path | None) -> None:
    """Time `podium score` beside a process that only reads the two files, and beside an earlier version."""
    names = [str(path) for path in paths]
    read = f"import pandas as pd\nfor path in {names}: pd.read_csv(path, engine='pyarrow')"
    samples = [str(ROOT / name) for name in ("solution_sample.csv", "sample_submission.csv")]
    commands = {
        "import pandas and read the two files": [sys.executable, "-c", read],
        "podium score: score, Public and Private, tables, notices": podium_of(ROOT, "score", *map(str, paths)),
        "import pandas": [sys.executable, "-c", "import pandas"],
        "podium score of the samples": podium_of(ROOT, "score", *samples),
        "podium --help": podium_of(ROOT, "--help"),
    }
    if older is not None:
        commands["the earlier podium score"] = podium_of(older, "score", *map(str, paths))
        commands["the earlier podium score of the samples"] = podium_of(older, "score", *samples)
    seconds = seconds_of_processes([*commands.values()], REPEATS_OF_PROCESSES)
    print_table(
        "Whole processes, least processor seconds",
        ["process", "seconds", "times reading"],
        [[name, f"{taken:.2f}", f"{taken / seconds[0]:.2f}"] for name, taken in zip(commands, seconds)],
    )
    if older is not None:
        _, whole, _, sample, _, earlier, earlier_sample = seconds
        of_samples = f"{sample / earlier_sample:.2f} of the samples"
        print(f"Times the earlier version: {whole / earlier:.2f}, and {of_samples}")


def podium_of(checkout: Path, *arguments: str) -> list[str]:
    """The command line of podium as it stands in a checkout."""
    given = f"sys.path.insert(0, {str(checkout.resolve())!r}); sys.argv[1:] = {list(arguments)}"
    return [sys.executable, "-c", f"import sys; {given}; from podium.cli import process; process()"]


def show_growth() -> None:
    """Measure the time and the peak memory of a process for 1, 4 and 16 times the essays."""
    rows: list[list[str]] = []
    first = None
    for times in (1, 4, 16):
        essays = times * REAL_ESSAYS
        frames = (
            f"import sys, time, warnings; sys.path.insert(0, {str(ROOT)!r}); warnings.simplefilter('ignore')\n"
            "import metric\nfrom examples.essays import make_competition\n"
            f"frames = make_competition({essays})\n"
        )
        scored = (
            f"{frames}\nstart = time.process_time(); metric.score(*frames, 'row_id')\n"
            "print(time.process_time() - start)"
        )
        processes = [(memory_of(f"{frames}\nprint(0)"), memory_of(scored)) for _ in range(GROWN)]
        seconds = statistics.median(taken for _, (taken, _) in processes)
        before, after = (statistics.median(each[part][1] for each in processes) for part in (0, 1))
        first = first or seconds
        rows.append(
            [
                f"{essays:,}",
                f"{seconds:.2f}",
                f"{seconds / first:.1f}",
                f"{before:.0f}",
                f"{max(after - before, 0):.0f}",
            ]
        )
    print_table(
        f"Growth: first score() of a fresh process, medians of {GROWN} processes",
        ["essays", "processor seconds", "times the first", "MB with the frames", "MB more for score()"],
        rows,
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
