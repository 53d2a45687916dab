"""Fixtures that all tests of running models share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.running import caches
from tests.running.bait import Bait
from tests.support.hostile import SECRET


@pytest.fixture(autouse=True)
def caches_of_the_machine_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tests that root runs from dropping the caches of the whole machine."""
    monkeypatch.setattr(caches, "DROP_CACHES", tmp_path / "no_drop_caches")


@pytest.fixture
def bait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bait]:
    """A machine on which there is something to reach, and a record of who reached it."""
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = Bait(tmp_path)
    yield made
    made.close()
