"""What several tests of hosts need."""

from pathlib import Path

import pytest

from podium.hosting import making
from podium.hosting.essays.corpus import read_corpus
from podium.hosting.essays.making import make
from tests.support.corpora import make_corpus
from tests.support.host_line import stay_in_process


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run metric files in this process, which is quicker than a new one."""
    stay_in_process(monkeypatch, tmp_path)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a small competition, which no test may change."""
    folder = tmp_path_factory.mktemp("made")
    make_corpus(24).to_csv(folder / "corpus.csv", index=False)
    made = make(read_corpus(folder / "corpus.csv"), ["ell_status", "economically_disadvantaged"])
    with pytest.MonkeyPatch.context() as patch:
        stay_in_process(patch, folder)
        making.write(made, folder / "files")
    return folder / "files"
