"""Made-up essays, as the examples have them."""

from examples.essays import (
    SAMPLE_ESSAYS,
    SAMPLE_SEED,
    SOLUTION_SAMPLE,
    SUBMISSION_SAMPLE,
    TYPES,
    make_competition,
    write_samples,
)

__all__ = [
    "SAMPLE_ESSAYS",
    "SAMPLE_SEED",
    "SOLUTION_SAMPLE",
    "SUBMISSION_SAMPLE",
    "TYPES",
    "make_competition",
    "write_samples",
]
