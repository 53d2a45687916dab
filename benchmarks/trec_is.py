"""How long `metrics/trec_is.py` takes, and whether that grows with the number of tweets.

    python -m benchmarks.trec_is

`files` reads an official label file and a run file of that size, `score` scores the frames, `transcription` does
the same with the literal transcription of the tests.  The best of a few repetitions each.
"""

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from competition import metric_file
from tests import trec_is_data, trec_is_transcription

ROOT = Path(__file__).parents[1]
PUBLISHED = {6_868: 2.0, 17_741: 4.5}  # seconds of the track's own script, on two cores of another machine
SIZES = ((6_868, 7), (17_741, 20), (100_000, 75), (1_000_000, 75))  # tweets, events
TRANSCRIBED = 100_000  # tweets that the transcription is asked to score at most
REPETITIONS = 5


def main() -> None:
    metric = metric_file.load(ROOT / "metrics" / "trec_is.py")
    warnings.simplefilter("ignore", metric.UnlistedTypeWarning)
    print("   tweets    files    score  µs/tweet  published  transcription  transcription/score")
    for tweets, events in SIZES:
        solution, submission = trec_is_data.competition(tweets, events)
        with tempfile.TemporaryDirectory() as folder:
            labels, run = Path(folder, "labels.json"), Path(folder, "run.txt")
            labels.write_text(trec_is_data.label_file(solution), encoding="utf-8")
            run.write_text(trec_is_data.run_file(submission), encoding="utf-8")
            files = seconds(lambda: (metric.read_solution(labels), metric.read_submission(run)))
        score = seconds(lambda: metric.score(solution, submission, "tweet_id"))
        published = f"{PUBLISHED[tweets]:.1f}" if tweets in PUBLISHED else "-"
        slow, ratio = "-", "-"
        if tweets <= TRANSCRIBED:
            transcription = seconds(lambda: trec_is_transcription.evaluate(solution, submission), 1)
            slow, ratio = f"{transcription:.2f}", f"{transcription / score:.0f}"
        print(
            f"{tweets:9,} {files:8.3f} {score:8.3f} {1e6 * score / tweets:9.2f} {published:>10} "
            f"{slow:>14} {ratio:>20}"
        )


def seconds(work: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """The shortest time of a few."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
