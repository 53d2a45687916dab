"""A made-up competition that the tests of the Unified Metric's explanations share."""

import pytest

from examples.essays import make_competition
from tests.support.unified import evaluate


@pytest.fixture(scope="session")
def competition():
    """A made-up solution of 150 essays and a submission."""
    return make_competition(150, seed=3, shared_words=False)


@pytest.fixture(scope="session")
def evaluation(competition):
    """The made-up submission, scored."""
    return evaluate(*competition)
