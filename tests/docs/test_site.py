"""The documentation as a site."""

import shutil
from pathlib import Path

import pytest

from tests.docs.test_outputs import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as for CI: a dead link or anchor stops it."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")), reason="no chromium")
@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("error: cannot read a.csv: [Errno 2] No such file or directory", "A file cannot be read"),
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
