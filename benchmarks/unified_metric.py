"""How fast is the Unified Metric?

    python -m benchmarks.unified_metric [FOLDER [EARLIER_METRIC.py]]

FOLDER holds solution.csv.gz and submission.csv.gz, such as the full Feedback-Prize pair.  Without it, made-up
essays of the same number and size are scored.  An earlier metric.py is called in turns with this one.

Other scorers are timed in the same run:

- nervaluate counts strict, exact, partial and type matches of labeled spans, if it is installed;
- seqeval computes F1 over exact spans of BIO tags per word, if it is installed;
- the classic scorers compute the plain F1 of Feedback Prize 1, from ranges of words or from sets.

None of them removes overlaps, weighs effectiveness or knows sub-populations.  The extra `dev` installs the
first two.
"""

import functools
import importlib.util
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
from podium import explain, hosted, scoring
from podium.files import write_table
from tests.support import unified_transcription as transcription
from tests.support.essays import make_competition

ROOT = Path(metric.__file__).parent
REAL_ESSAYS = 15_594
REPEATS, RIVAL_REPEATS, REPEATS_OF_PROCESSES = 9, 3, 9
TURNS = 15  # calls of each of two versions
WRITTEN = 5  # how often a table is written
GROWN = 3  # processes of each size


def main(folder: Path | None, earlier: Path | None) -> None:
    """Print all tables.

    Parameters
    ----------
    folder : Path or None
        The folder with the pair of files, or None for made-up essays.
    earlier : Path or None
        An earlier metric.py, if there is one to compare with.
    """
    warnings.simplefilter("ignore", metric.TruthOverlapWarning)
    with tempfile.TemporaryDirectory() as temporary:
        if folder is None:
            folder = Path(temporary)
            for name, frame in zip(("solution", "submission"), make_competition(REAL_ESSAYS)):
                frame.to_csv(folder / f"{name}.csv.gz", index=False)
        paths = [folder / "solution.csv.gz", folder / "submission.csv.gz"]
        frames = [scoring.read_submission(hosted.load("unified"), path, {}) for path in paths]
        print(machine())
        print(f"{len(frames[0]):,} true and {len(frames[1]):,} predicted segments", flush=True)
        compare_scorers(*frames)
        if earlier is not None:
            compare_versions(earlier, *frames)
        compare_processes(paths)
        compare_formats(*frames)
    show_growth()


def compare_scorers(solution: pd.DataFrame, submission: pd.DataFrame) -> None:
    """Time score() and other scorers on frames.

    Parameters
    ----------
    solution, submission : DataFrame
        The true and the predicted segments.
    """
    prepared = metric.prepare(solution, "row_id")
    score = seconds_of(lambda: metric.score(solution, submission, "row_id"), REPEATS)
    rows = [("score()", score), ("a further submission, solution prepared", 0.0)]
    rows[1] = (rows[1][0], seconds_of(lambda: prepared.statistics(submission), REPEATS))
    ranges = seconds_of(lambda: classic.macro_f1_of_ranges(solution, submission), RIVAL_REPEATS)
    rows.append(("classic F1 of ranges, as the fastest notebooks", ranges))
    rows.append(("literal transcription", seconds_of(lambda: transcription.score(solution, submission))))
    rows.append(("classic set-based F1", seconds_of(lambda: classic.macro_f1(solution, submission))))
    rows += time_nervaluate(solution, submission) + time_seqeval(solution, submission)
    print_table(
        "Scoring frames, median processor seconds",
        ["scorer", "seconds", "times score()"],
        [[name, f"{seconds:.3f}", f"{seconds / score:.2f}"] for name, seconds in rows],
    )


def compare_versions(earlier: Path, solution: pd.DataFrame, submission: pd.DataFrame) -> None:
    """Time score() of an earlier file and of this one in turns, and make sure that the scores are equal.

    Parameters
    ----------
    earlier : Path
        The earlier metric.py.
    solution, submission : DataFrame
        The true and the predicted segments.
    """
    # podium itself loads no second file of the same name.
    specification = importlib.util.spec_from_file_location("earlier_metric", earlier)
    assert specification is not None
    assert specification.loader is not None
    before: Any = importlib.util.module_from_spec(specification)
    sys.modules["earlier_metric"] = before
    specification.loader.exec_module(before)
    warnings.simplefilter("ignore", before.TruthOverlapWarning)
    texts = [name for name in solution if str(solution[name].dtype) == "str"]
    rows = []
    for held, names in (("as pandas reads them", []), ("as Python objects", texts)):
        pair = [
            frame.astype({name: object for name in names if name in frame}) for frame in (solution, submission)
        ]
        assert before.score(pair[0], pair[1], "row_id") == metric.score(pair[0], pair[1], "row_id")
        calls = [functools.partial(module.score, pair[0], pair[1], "row_id") for module in (before, metric)]
        turns = [[seconds_of(call) for call in calls] for _ in range(TURNS)]
        ratio = statistics.median(now / then for then, now in turns)
        rows.append([held, f"{statistics.median(then for then, _ in turns):.3f}", f"{ratio:.3f}"])
    print_table(
        f"score() of version {before.__version__} and of this one, {TURNS} calls of each in turns",
        ["texts", "seconds before", "median ratio now / before"],
        rows,
    )


def time_nervaluate(solution: pd.DataFrame, submission: pd.DataFrame) -> list[tuple[str, float]]:
    """Time nervaluate.

    Parameters
    ----------
    solution, submission : DataFrame
        The true and the predicted segments.

    Returns
    -------
    list of (str, float)
        Its name and its seconds.  It is empty if nervaluate is not installed.
    """
    try:
        from nervaluate import Evaluator
    except ImportError:
        return []
    essays = sorted(set(solution["essay_id"]))
    truth, predicted = (spans(frame, essays) for frame in (solution, submission))
    types = list(metric.DISCOURSE_TYPES)
    return [("nervaluate", seconds_of(lambda: Evaluator(truth, predicted, types, loader="dict").evaluate()))]


def time_seqeval(solution: pd.DataFrame, submission: pd.DataFrame) -> list[tuple[str, float]]:
    """Time seqeval.

    Parameters
    ----------
    solution, submission : DataFrame
        The true and the predicted segments.

    Returns
    -------
    list of (str, float)
        Its name and its seconds.  It is empty if seqeval is not installed.
    """
    try:
        from seqeval.metrics import f1_score
    except ImportError:
        return []
    essays = sorted(set(solution["essay_id"]))
    both = [spans(frame, essays) for frame in (solution, submission)]
    lengths = [1 + max(span["end"] for side in both for span in side[number]) for number in range(len(essays))]
    truth, predicted = (tags(side, lengths) for side in both)
    return [("seqeval", seconds_of(lambda: f1_score(truth, predicted)))]


def spans(frame: pd.DataFrame, essays: list[str]) -> list[list[dict[str, Any]]]:
    """List the labeled spans of each essay.

    Parameters
    ----------
    frame : DataFrame
        Segments.
    essays : list of str
        The ids of the essays.

    Returns
    -------
    list of list of dict
        The ``label``, the ``start`` and the ``end`` of each span, in words.
    """
    first, last = metric.parse_predictionstrings(frame["predictionstring"].tolist())
    by_essay: dict[str, list[dict[str, Any]]] = {essay: [] for essay in essays}
    for essay, label, start, end in zip(
        frame["essay_id"], frame["discourse_type"], first.tolist(), last.tolist()
    ):
        by_essay[essay].append({"label": label, "start": start, "end": end})
    return list(by_essay.values())


def tags(essays: list[list[dict[str, Any]]], lengths: list[int]) -> list[list[str]]:
    """List the BIO tag of each word.  If segments overlap, the later one gives the tag.

    Parameters
    ----------
    essays : list of list of dict
        The spans of each essay, as `spans` lists them.
    lengths : list of int
        The number of words of each essay.

    Returns
    -------
    list of list of str
        The tag of each word of each essay.
    """
    tagged = []
    for essay, length in zip(essays, lengths):
        words = ["O"] * length
        for span in essay:
            words[span["start"] : span["end"] + 1] = [
                f"B-{span['label']}",
                *[f"I-{span['label']}"] * (span["end"] - span["start"]),
            ]
        tagged.append(words)
    return tagged


def compare_processes(paths: list[Path]) -> None:
    """Time `podium score` as a process, beside a process that only imports pandas and reads the two files.

    Parameters
    ----------
    paths : list of Path
        The solution and the submission.
    """
    read = f"import pandas as pd\nfor path in {[str(path) for path in paths]}: pd.read_csv(path, ENGINE)"
    read = read.replace("ENGINE", "engine='pyarrow'")
    end = "\nimport os; os._exit(0)"  # as podium ends, without taking the interpreter apart
    score = [sys.executable, "-m", "podium", "score"]
    samples = [str(ROOT / name) for name in ("solution_sample.csv", "sample_submission.csv")]
    commands = [
        [sys.executable, "-c", read],
        [sys.executable, "-c", read + end],
        [*score, *map(str, paths)],
        [sys.executable, "-c", "import pandas"],
        [*score, *samples],
        [sys.executable, "-m", "podium", "--help"],
    ]
    base, ended, whole, imports, sample, help_ = seconds_of_processes(commands, REPEATS_OF_PROCESSES)
    print_table(
        "Whole processes, median processor seconds",
        ["process", "seconds", "times reading"],
        [
            [name, f"{seconds:.2f}", f"{seconds / base:.2f}"]
            for name, seconds in {
                "import pandas and read the two files": base,
                "the same, ended as podium ends its process": ended,
                "podium score: score, Public and Private, tables, notices": whole,
                "import pandas": imports,
                "podium score of the samples": sample,
                "podium --help": help_,
            }.items()
        ],
    )


def compare_formats(solution: pd.DataFrame, submission: pd.DataFrame) -> None:
    """Time how `podium score --rows` writes its table.

    Parameters
    ----------
    solution, submission : DataFrame
        The true and the predicted segments.
    """
    evaluation = scoring.evaluate(scoring.prepare(hosted.load("unified"), solution, {}), submission)
    table = explain.rows(evaluation)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("rows.csv", "rows.parquet")]
        turns = [
            [seconds_of(functools.partial(write_table, table, path)) for path in paths] for _ in range(WRITTEN)
        ]
    seconds = [statistics.median(taken) for taken in zip(*turns)]
    print_table(
        f"--rows, {len(table):,} rows of {len(table.columns)} columns, median processor seconds of {WRITTEN}",
        ["format", "seconds", "times Parquet"],
        [[name, f"{each:.2f}", f"{each / seconds[1]:.2f}"] for name, each in zip(("CSV", "Parquet"), seconds)],
    )


def show_growth() -> None:
    """Measure the time and the peak memory of a process for 1, 4 and 16 times the essays."""
    rows: list[list[str]] = []
    first = None
    for times in (1, 4, 16):
        essays = times * REAL_ESSAYS
        frames = (
            f"import sys, time, warnings; sys.path.insert(0, {str(ROOT)!r}); warnings.simplefilter('ignore')\n"
            "import metric\nfrom tests.support.essays import make_competition\n"
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
    main(*(Path(sys.argv[number]) if len(sys.argv) > number else None for number in (1, 2)))
