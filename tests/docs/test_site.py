"""What docs/hooks.py makes of the pages for the site."""

import importlib.util
import re
import shutil
from pathlib import Path
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as for CI: a dead link or anchor stops it."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


@pytest.mark.slow
def test_the_page_for_wrong_addresses_leads_on(site: Path) -> None:
    assert '<a href="/">the first page</a>' in (site / "404.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")), reason="no chromium")
@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("error: cannot read a.csv: [Errno 2] No such file or directory", "cannot read …: …"),
        ("error: --most-repeats 2 is less than --repeats 3", "--most-repeats … is less than --repeats …"),
        (
            "warning: overlap removal discarded 23 of 322 predictions, because earlier ones have their words",
            "overlap removal discarded … of …, because earlier ones have their words",
        ),
        ("nothing that podium says", None),
    ],
)
def test_a_pasted_message_finds_its_entry(site: Path, message: str, found: str | None) -> None:
    from selenium.webdriver.common.by import By

    from tests.report.test_page import started_browser

    with started_browser() as driver:
        driver.get((site / "reference" / "messages" / "index.html").as_uri())
        driver.find_element(By.CSS_SELECTOR, ".message-field").send_keys(message)
        links = driver.find_elements(By.CSS_SELECTOR, ".message-field + ul a")
        assert [link.text for link in links[:1]] == ([] if found is None else [found])
        if links:
            anchor = links[0].get_attribute("href").partition("#")[2]
            assert driver.find_element(By.ID, anchor).text.rstrip("¶") == found
