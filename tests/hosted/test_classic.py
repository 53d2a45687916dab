"""The programs with which benchmarks compare podium compute what they claim to compute."""

import pytest

from benchmarks import classic
from examples.essays import make_competition


def test_classic_scorers_agree():
    solution, submission = make_competition(60)
    of_sets = classic.macro_f1(solution, submission)
    assert classic.macro_f1_of_ranges(solution, submission) == pytest.approx(of_sets, abs=1e-12)
    assert 0 < of_sets < 1
    assert classic.macro_f1_of_ranges(solution, solution) == classic.macro_f1(solution, solution) == 1
