"""What docs/hooks.py makes of the pages for the site."""

import importlib.util
import re
from types import ModuleType

import pytest

from tests.docs.test_outputs import ROOT


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    """The functions that MkDocs calls while it builds the site."""
    spec = importlib.util.spec_from_file_location("hooks_of_the_site", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("The softmin, again the softmin.", "The [softmin](g.md#softmin), again the softmin."),
        ("Two control\ngroups.", "Two [control\ngroups](g.md#control-group)."),
        ("# Softmin\n\nThe softmin.", "# Softmin\n\nThe [softmin](g.md#softmin)."),
        ("```\nsoftmin\n```\n\n`softmin`, softmin", "```\nsoftmin\n```\n\n`softmin`, [softmin](g.md#softmin)"),
        ("| softmin |\n| -- |", "| softmin |\n| -- |"),
        ("The *softmin* is a mean. A softmin.", "The *softmin* is a mean. A softmin."),
        ("[A softmin](s.md) is a softmin.", "[A softmin](s.md) is a softmin."),
        ("A softminimum, and the non-softmin.", "A softminimum, and the non-softmin."),
        ("The metric returns a score.", "The metric returns a score."),
    ],
)
def test_the_first_use_of_a_word_leads_to_the_glossary(hooks: ModuleType, text: str, linked: str) -> None:
    assert hooks.with_links_to_terms(text, "docs/a.md", "g.md") == linked


def test_links_leave_the_text_of_every_page_as_it_is(hooks: ModuleType) -> None:
    for page in (*ROOT.glob("docs/**/*.md"), *ROOT.glob("metrics/*/README.md")):
        text = page.read_text(encoding="utf-8")
        linked = hooks.with_links_to_terms(text, page.relative_to(ROOT).as_posix(), "GLOSSARY")
        assert re.sub(r"\[([^\]]*)\]\(GLOSSARY#[\w-]+\)", r"\1", linked) == text


def test_words_that_are_not_linked_are_in_the_glossary(hooks: ModuleType) -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (.*)$", glossary, re.MULTILINE)) >= hooks.EVERYDAY
    assert len(hooks.terms("docs/index.md")) > 20


def test_words_of_a_metric_are_special_on_its_page_alone(hooks: ModuleType) -> None:
    assert "Claim" in hooks.terms("metrics/scifact/README.md")
    assert "Claim" not in hooks.terms("metrics/readable/README.md")
    assert "Softmin" in hooks.terms("metrics/readable/README.md")


def test_description_has_the_first_sentences_of_a_page(hooks: ModuleType) -> None:
    text = (
        "# A page\n\n![A picture](a.png)\n\nThe *first* [sentence](b.md).\nThe second one. "
        + "And so on. " * 20
    )
    assert hooks.description(text).startswith("The first sentence. The second one. And so on.")
    assert 100 < len(hooks.description(text)) <= 160


def test_every_page_has_a_description_of_its_own(hooks: ModuleType) -> None:
    pages = (*ROOT.glob("docs/**/*.md"), *ROOT.glob("metrics/*/README.md"))
    descriptions = [hooks.description(page.read_text(encoding="utf-8")) for page in pages]
    assert min(map(len, descriptions)) > 30
    assert len(set(descriptions)) == len(descriptions)
