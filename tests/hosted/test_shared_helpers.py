"""Hosted files repeat a few sections, because each is uploaded alone.  One command keeps them equal."""

from pathlib import Path

import pytest

from podium import hosted
from tests.support import shared_helpers

TABLES = "Shared: tables and messages"


def test_shared_sections_are_equal() -> None:
    files = shared_helpers.hosted_files()
    sections = [shared_helpers.shared_sections(path) for path in files]
    assert len(files) == len(hosted.names())
    assert all(TABLES in of_file for of_file in sections)
    for of_file in sections:
        for path, other in zip(files, sections):
            differing = [title for title in of_file if other.get(title, of_file[title]) != of_file[title]]
            assert differing == [], path


def test_the_command_copies_sections_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_helpers, "ROOT", tmp_path)
    folder = tmp_path / "metrics" / "other"
    folder.mkdir(parents=True)
    source = '"""One."""\n\n\n# ---- Shared: a ----\n\n\ndef a(): new\n\n\n# ---- Rest ----\n\n\ndef b(): one\n'
    other = '"""Two."""\n\n\n# ---- Rest ----\n\n\ndef b(): two\n\n\n# ---- Shared: a ----\n\n\ndef a(): old\n'
    (tmp_path / "metric.py").write_text(source)
    (folder / "metric.py").write_text(other)
    (folder / "companion.py").write_text("# ---- Rest ----\n")
    shared_helpers.main(tmp_path / "metric.py")
    assert (tmp_path / "metric.py").read_text() == source
    assert (folder / "metric.py").read_text() == other.replace("old", "new")
    assert (folder / "companion.py").read_text() == "# ---- Rest ----\n"
