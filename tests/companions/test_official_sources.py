"""Official files of every metric can come from files and from standard input."""

import gzip
import io
import sys
from pathlib import Path

import pandas as pd
import pytest

from podium.common.errors import HostError, SubmissionRejected
from podium.contest import reading
from podium.metric import hosted

METRICS = Path(__file__).parents[2] / "metrics"

# An official solution, an official submission, and the same as tables.
SAMPLES = {
    "scifact": ("claims.jsonl", "predictions.jsonl", "solution.csv", "submission.csv"),
    "trec_is": ("labels.json", "run.txt", "solution.csv", "submission.csv"),
    "readable": ("essays/essay-02.json", "essays/essay-02.json", "solution.csv", "submission.csv"),
    "markup_consistency": ("documents/essay-02.json",) * 2 + ("solution.csv", "submission.csv"),
}


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch):
    """Serve a content on standard input, and return its name."""

    def put(content: bytes) -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return "-"

    return put


@pytest.mark.filterwarnings("ignore:annotations outside the 25 types")
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("name", SAMPLES)
def test_sources_alike(name: str, packed: bool, put) -> None:
    metric = hosted.load(name)
    for number, file in enumerate(SAMPLES[name]):
        read = reading.read_submission if number % 2 else reading.read_solution
        path = METRICS / name / "samples" / file
        content = path.read_bytes()
        where = put(gzip.compress(content) if packed else content)
        pd.testing.assert_frame_equal(read(metric, where, {}), read(metric, path, {}))


@pytest.mark.parametrize(
    ("read", "error"), [(reading.read_solution, HostError), (reading.read_submission, SubmissionRejected)]
)
def test_faults_name_the_source_and_no_temporary_file(read, error, put) -> None:
    metric = hosted.load("scifact")
    with pytest.raises(error, match=r"^standard input: expected one JSON object per line") as caught:
        read(metric, put(b"{}\n"), {})
    assert "/tmp" not in str(caught.value)
