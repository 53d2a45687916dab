"""What the benchmarks of the two markup metrics share: one essay, corpora, and the largest markups.

One essay is timed beside pygamma-agreement.  Its γ (Mathet, Widlöcher and Métivier 2015) is often used for the
agreement of several annotators on spans.  It is 1 minus a ratio: the disorder of their best alignment, divided
by the disorder that is expected by chance.  The latter is estimated from 30 random annotations.

So γ measures in one number how well the annotators agree with each other, corrected for chance.  It knows no
separate criteria, no texts, and no algorithm.  Most of its time goes into the estimate.  Therefore the time of
the alignment alone is given, too.
"""

import functools
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd

from benchmarks.measure import machine, print_table, processor_seconds, seconds_of
from podium import hosted

__all__ = ["run"]

REPEATS = 5
CORPORA = (1_000, 4_000, 16_000)
CORPUS_REPEATS = 3
FRAGMENTS = (10, 50)
MISSING = "pygamma-agreement is not installed, so it is not compared: pip install pygamma-agreement"

Frames = tuple[pd.DataFrame, pd.DataFrame]


def run(
    name: str,
    corpus: Callable[..., Frames],
    variants: Mapping[str, Mapping[str, str]],
    odd: Mapping[str, Frames],
) -> None:
    """Print the tables of one metric.

    Parameters
    ----------
    name : str
        The name of the metric.
    corpus : function
        Makes a solution and a submission from the number of documents, of fragments in each, and of experts.
    variants : mapping of str to (mapping of str to str)
        Parameters of the metric's ``score`` by the name of the variant.  Ratios are to the first variant.
    odd : mapping of str to (DataFrame, DataFrame)
        Solutions and submissions of one document of the largest size with one expert.
    """
    metric = hosted.module(name)
    print(machine(), flush=True)
    rows = [row for fragments in FRAGMENTS for row in one_essay(metric, corpus, variants, fragments)]
    print_table("One essay, three annotators and an algorithm", ["what", "time", "ratio"], rows)
    print("\nscore compares six pairs of markups from their JSON on; γ has the three annotators in memory.")
    if len(rows) == len(FRAGMENTS) * len(variants):
        print(MISSING)
    rows = [of_corpus(metric, corpus, documents) for documents in CORPORA]
    header = ["essays", "prepare", "a submission", "together", "per essay"]
    title = "Corpora of two experts and an algorithm, 10 fragments each, least processor time of"
    print_table(f"{title} {CORPUS_REPEATS}", header, rows)
    rows = [[what, f"{seconds_of_odd(metric, frames):.2f} s"] for what, frames in odd.items()]
    print_table("The largest markups, an expert's and the algorithm's", ["what", "time"], rows)


def one_essay(
    metric: Any, corpus: Callable[..., Frames], variants: Mapping[str, Mapping[str, str]], fragments: int
) -> list[list[str]]:
    """Time the metric and γ on one essay.

    Parameters
    ----------
    metric : module
        The metric file.
    corpus, variants : function, mapping
        As for `run`.
    fragments : int
        The number of fragments in each markup.

    Returns
    -------
    list of list of str
        The rows of the table.
    """
    solution, submission = corpus(1, fragments, 3)
    times = {
        name: seconds_of(
            functools.partial(metric.score, solution, submission, "document_id", **parameters), REPEATS
        )
        for name, parameters in variants.items()
    }
    companion = sys.modules[f"{metric.__package__}.companion"]
    (marks,) = companion.marks(metric.prepare(solution, "document_id")).values()
    times |= gamma_seconds(marks)
    ours = next(iter(times.values()))
    return [
        [f"{fragments} fragments: {name}", f"{1000 * taken:,.1f} ms", f"{taken / ours:,.1f}"]
        for name, taken in times.items()
    ]


def gamma_seconds(marks: Mapping[str, Sequence[tuple[int, int, str]]]) -> dict[str, float]:
    """Time γ and the alignment alone.

    Parameters
    ----------
    marks : mapping of str to (sequence of (int, int, str))
        The start, the end and the label of each span, by annotator.

    Returns
    -------
    dict of str to float
        Median seconds of processor time.  It is empty if pygamma-agreement is not installed.
    """
    try:
        from pyannote.core import Segment
        from pygamma_agreement import CombinedCategoricalDissimilarity, Continuum
    except ImportError:
        return {}
    continuum = Continuum()
    for name, spans in marks.items():
        for start, end, label in spans:
            continuum.add(name, Segment(start, end), label)
    dissimilarity = CombinedCategoricalDissimilarity()
    with silence():
        continuum.compute_gamma(dissimilarity)  # the first call compiles its functions
        return {
            "pygamma-agreement, γ": seconds_of(lambda: continuum.compute_gamma(dissimilarity), REPEATS),
            "pygamma-agreement, alignment": seconds_of(
                lambda: continuum.get_best_alignment(dissimilarity), REPEATS
            ),
        }


@contextmanager
def silence() -> Iterator[None]:
    """Silence the warning that another solver is used, and the lines that this solver, a C library, prints.

    Yields
    ------
    None
        While it lasts, nothing reaches the standard output.
    """
    logging.disable(logging.WARNING)
    stdout = os.dup(sys.stdout.fileno())
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())
        try:
            yield
        finally:
            os.dup2(stdout, sys.stdout.fileno())
            os.close(stdout)


def of_corpus(metric: Any, corpus: Callable[..., Frames], documents: int) -> list[str]:
    """Time the metric on a corpus.

    Parameters
    ----------
    metric : module
        The metric file.
    corpus : function
        As for `run`.
    documents : int
        The number of documents.

    Returns
    -------
    list of str
        The row of the table.
    """
    solution, submission = corpus(documents)
    prepared = metric.prepare(solution, "document_id")
    work = [lambda: metric.prepare(solution, "document_id"), lambda: prepared.statistics(submission)]
    prepare, evaluate = processor_seconds(work, CORPUS_REPEATS)
    both = prepare + evaluate
    return [
        f"{documents:,}",
        f"{prepare:.2f} s",
        f"{evaluate:.2f} s",
        f"{both:.2f} s",
        f"{1e6 * both / documents:,.0f} µs",
    ]


def seconds_of_odd(metric: Any, frames: Frames) -> float:
    """Time one submission of the largest size.

    Parameters
    ----------
    metric : module
        The metric file.
    frames : tuple of (DataFrame, DataFrame)
        The solution and the submission.

    Returns
    -------
    float
        Seconds of processor time.
    """
    solution, submission = frames
    measure = "m" if "m" in metric.MEASURES else "ama"
    prepared = metric.prepare(solution, "document_id", measure)
    return seconds_of(lambda: prepared.statistics(submission))
