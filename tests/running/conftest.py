"""Fixtures that all tests of running models share."""

from pathlib import Path

import pytest

from podium.running import caches


@pytest.fixture(autouse=True)
def caches_of_the_machine_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tests that root runs from dropping the caches of the whole machine."""
    monkeypatch.setattr(caches, "DROP_CACHES", tmp_path / "no_drop_caches")
