"""The store returns what it keeps to the last bit, or not at all."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import metric
from examples.essays import make_competition
from podium.ranking import store

CELLS = st.one_of(
    st.integers(-5, 300).map(float), st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 1)
)


def same_bits(one, other):
    """Tell whether two arrays have the same shape and the same bits."""
    return one.shape == other.shape and one.tobytes() == other.tobytes()


@given(
    st.tuples(st.integers(0, 9), st.integers(1, 6)).flatmap(lambda shape: arrays(float, shape, elements=CELLS))
)
def test_any_numbers_come_back_to_the_last_bit(statistics):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entry = store.encode({"a": 1}, statistics)
    assert entry.header == {"a": 1}
    assert same_bits(entry.statistics, statistics)


def test_a_submission_s_statistics_are_compact():
    solution, submission = make_competition(2000, seed=1)
    with pytest.warns(metric.TruthOverlapWarning):
        prepared = metric.prepare(solution, "row_id")
    statistics = prepared.statistics(submission)
    entry = store.encode({}, statistics)
    assert same_bits(entry.statistics, statistics)
    # So the 15,594 essays of the Feedback Prize take less than 1 MB.
    assert len(entry.content) < 2**20 * 2000 / 15_594


def test_only_what_was_saved_is_loaded(tmp_path):
    header = {"context": "c", "sha256": "d", "scores": {"All": 0.5}}
    entry = store.encode(header, np.array([[0.25, 1.0]]), b"\0\xffanswers")
    assert entry.answers == b"\0\xffanswers"
    assert store.encode({}).answers == b""
    name = store.name_of("c", "d")
    store.save(tmp_path, entry)
    assert store.names(tmp_path) == [name]
    path, content = store.path_of(tmp_path, name), entry.content
    assert store.load(tmp_path, name).content == content == path.read_bytes()
    assert store.load(tmp_path, "cd" * 16) is None
    for wrong in (
        b"",
        content[:-1],
        content[:20],
        content + b"x",
        content.replace(b"0.5", b"0.9"),
        b"\n",
        b"\xff" * 99,
    ):
        path.write_bytes(wrong)
        assert store.load(tmp_path, name) is None
