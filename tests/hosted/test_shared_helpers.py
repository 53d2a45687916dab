"""A few sections are the same in all hosted files, because each is uploaded alone. One command keeps them
equal.
"""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from podium import hosted
from tests.support import shared_helpers

TABLES = "Shared: tables and messages"
# Each file has its own version of what the contract names, and of stages that two papers happen to name alike.
OWN = {
    *("ParticipantVisibleError", "HostVisibleError", "Prepared", "score", "prepare", "higher_is_better"),
    *("count", "jaccard", "Markup", "accuracies"),
}


def test_every_hosted_file_has_shared_sections() -> None:
    files = shared_helpers.hosted_files()
    assert len(files) == len(hosted.names())
    assert all(TABLES in shared_helpers.shared_sections(path) for path in files)


def test_sections_of_one_title_are_equal() -> None:
    texts: dict[str, set[str]] = defaultdict(set)
    numbers: dict[str, int] = defaultdict(int)
    for path in shared_helpers.hosted_files():
        for title, text in shared_helpers.shared_sections(path).items():
            texts[title].add(text)
            numbers[title] += 1
    assert {title: len(variants) for title, variants in texts.items() if len(variants) > 1} == {}
    assert {title for title, number in numbers.items() if number < 2} == set()


def test_what_two_files_define_stands_in_a_shared_section() -> None:
    defined: dict[str, list[str]] = defaultdict(list)
    for path in shared_helpers.hosted_files():
        for title, text in shared_helpers.sections(path.read_text("utf-8")):
            for node in ast.parse(text).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and not title.startswith("Shared: "):
                    defined[node.name].append(str(path))
    assert {name: paths for name, paths in defined.items() if len(paths) > 1 and name not in OWN} == {}


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


def test_the_command_finds_nothing_to_do() -> None:
    for path in shared_helpers.hosted_files():
        text = path.read_text("utf-8")
        for source in shared_helpers.hosted_files():
            assert shared_helpers.copied(shared_helpers.shared_sections(source), text) == text
