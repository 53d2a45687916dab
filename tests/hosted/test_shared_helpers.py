"""Hosted files repeat a few sections, because each is uploaded alone. One command keeps them equal."""

from tests.support import shared_helpers

TABLES = "Shared: tables and messages"


def test_shared_sections_are_equal() -> None:
    files = shared_helpers.hosted_files()
    sections = [shared_helpers.shared_sections(path) for path in files]
    assert sum(TABLES in of_file for of_file in sections) > 1
    for of_file in sections:
        for path, other in zip(files, sections):
            differing = [title for title in of_file if other.get(title, of_file[title]) != of_file[title]]
            assert differing == [], path
