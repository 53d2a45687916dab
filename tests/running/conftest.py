"""What all tests of running models share."""

from pathlib import Path

import pytest

from podium.running import caches


@pytest.fixture(autouse=True)
def caches_of_the_machine_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that root runs do not drop what the whole machine has cached."""
    monkeypatch.setattr(caches, "DROP_CACHES", tmp_path / "no_drop_caches")
