"""Official files of every metric can come from files, from URLs and from standard input."""

import gzip
import io
import sys
from pathlib import Path

import fsspec
import pandas as pd
import pytest

from podium.contest import reading
from podium.metric import hosted
from podium.words.errors import HostError, SubmissionRejected, UsageError

METRICS = Path(__file__).parents[2] / "metrics"

# An official solution, an official submission, and the same as tables.
SAMPLES = {
    "scifact": ("claims.jsonl", "predictions.jsonl", "solution.csv", "submission.csv"),
    "trec_is": ("labels.json", "run.txt", "solution.csv", "submission.csv"),
    "readable": ("essays/essay-02.json", "essays/essay-02.json", "solution.csv", "submission.csv"),
    "markup_consistency": ("documents/essay-02.json",) * 2 + ("solution.csv", "submission.csv"),
}


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch, memory_addresses: None):
    """Serve a content at a URL or on standard input, and return its name."""
    memory = fsspec.filesystem("memory")

    def put(content: bytes, source: str, name: str) -> str:
        if source == "-":
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
            return "-"
        memory.pipe(f"/{name}", content)
        return f"memory://{name}"

    yield put
    memory.rm("/", recursive=True)


@pytest.mark.filterwarnings("ignore:annotations outside the 25 types")
@pytest.mark.parametrize(("source", "packed"), [("-", True), ("url", False)])
@pytest.mark.parametrize("name", SAMPLES)
def test_sources_alike(name: str, source: str, packed: bool, put) -> None:
    metric = hosted.load(name)
    for number, file in enumerate(SAMPLES[name]):
        read = reading.read_submission if number % 2 else reading.read_solution
        path = METRICS / name / "samples" / file
        content = path.read_bytes()
        where = put(gzip.compress(content) if packed else content, source, path.name)
        pd.testing.assert_frame_equal(read(metric, where, {}), read(metric, path, {}))


def test_a_url_s_query_is_no_part_of_the_file_s_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("claims.jsonl", "solution.csv"):
        path = METRICS / "scifact" / "samples" / file
        monkeypatch.setattr(reading, "read_bytes", lambda _, path=path: path.read_bytes())
        behind = f"https://example.org/{file}?download=1"
        read, expected = (reading.read_solution(hosted.load("scifact"), each, {}) for each in (behind, path))
        assert read["claim_id"].tolist() == expected["claim_id"].tolist()


@pytest.mark.parametrize(
    ("read", "error"), [(reading.read_solution, HostError), (reading.read_submission, SubmissionRejected)]
)
def test_faults_name_the_source_and_no_temporary_file(read, error, put) -> None:
    metric = hosted.load("scifact")
    with pytest.raises(error, match=r"^standard input: expected one JSON object per line") as caught:
        read(metric, put(b"{}\n", "-", ""), {})
    assert "/tmp" not in str(caught.value)
    with pytest.raises(error, match=r"^claims.jsonl: expected one JSON object per line"):
        read(metric, put(b"{}\n", "url", "claims.jsonl"), {})
    with pytest.raises(UsageError, match=r"^cannot read memory://none.jsonl: "):
        read(metric, "memory://none.jsonl", {})
