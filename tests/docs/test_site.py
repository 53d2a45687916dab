"""The documentation as a site."""

import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.docs.test_outputs import ROOT
from tests.support.browser import look


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, built as for CI: a dead link or anchor stops it."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Silent, directory=str(folder))
    ) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each of them."""

    def log_message(self, *_: object) -> None:
        pass


PASTED = {
    "error: spell essay_id as the solution does: '9E37', found '9E37.txt'. The metric says: essay_id: expected "
    "essays of the test set, found none of them": "None of your essays is in the test set",
    "Submission has 12 rows but 40 were expected.": "Kaggle refuses the submission before it calls the metric",
    "warning: 25 of the solution's 40 essays have no prediction and count as missed; to score a fold, name its "
    "essays by --essays FILE": "Essays have no prediction",
    "nothing that podium says": "",
}


def test_a_pasted_message_finds_its_entry(site: str, driver: Any) -> None:
    driver.get(f"{site}/reference/messages/")
    field = driver.find_element("css selector", ".message-field")
    first = {}
    for message in PASTED:
        field.clear()
        field.send_keys(message)
        links = driver.find_elements("css selector", ".message-field + ul a")
        first[message] = links[0].text if links else ""
    assert first == PASTED


def test_the_search_of_every_page_finds_it_too(site: str, driver: Any) -> None:
    """The search drops the dashes of options."""
    from selenium.webdriver import Keys
    from selenium.webdriver.support.wait import WebDriverWait

    look(driver)
    driver.get(f"{site}/tutorials/first-submission/")
    field = driver.find_element("css selector", ".md-search__input")
    field.click()
    field.send_keys(
        "3 of the solution's 4 essays have no prediction and count as missed; name them by --essays FILE"
    )
    wait = WebDriverWait(driver, 60)
    wait.until(lambda driver: driver.find_elements("css selector", ".message-found a"))
    field.send_keys(Keys.ENTER)
    wait.until(lambda driver: driver.current_url == f"{site}/reference/messages/#essays-have-no-prediction")


@pytest.mark.slow
def test_the_picture_of_the_packages_is_drawn_from_their_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    monkeypatch.setattr(sys, "path", [*sys.path])  # the examples add their folder
    from tests.docs import pictures

    (dots,) = pictures.packages().axes[0].collections
    columns, rows = dots.get_offsets().T
    assert len(columns) > 50
    assert (columns < rows).all()
