"""The board's page works in a browser: wide and narrow, light and dark, searched and sorted.

    python -m tests.ranking.test_page     writes docs/board.png anew, from examples/board.py

The browser is a headless Chromium, driven by Selenium; without chromium, chromedriver or selenium these
tests are skipped.
"""

import contextlib
import io
import shutil
import tempfile
from pathlib import Path

import pytest

from examples import board as example
from podium import cli
from podium.ranking import page
from tests.ranking.test_board_page import board_of, run_of
from tests.support.contrast import CONTRAST
from tests.support.finished_run import TEAMS

pytest.importorskip("selenium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")), reason="no chromium or chromedriver"
    ),
]

PICTURE = Path(__file__).parents[2] / "docs" / "board.png"
MANY = 60


@contextlib.contextmanager
def started_browser():
    """Start a headless Chromium with a profile of its own, and end it after the ``with`` block."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
        ):
            options.add_argument(flag)
        driver = webdriver.Chrome(
            options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
        )
        try:
            yield driver
        finally:
            driver.quit()


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    with started_browser() as driver:
        yield driver


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The page of a board with sixty teams."""
    path = tmp_path_factory.mktemp("many") / "board.html"
    path.write_text(page.of_board(run_of(board_of(MANY), boosted=False)), encoding="utf-8")
    return path


def look(browser, width: int, height: int = 900, scheme: str = "light") -> None:
    """Give the window a size and a color scheme."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})


@pytest.mark.parametrize("name", ["board.html", "team.html"])
@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_can_be_read(finished_run, browser, name, width, scheme):
    look(browser, width, scheme=scheme)
    browser.get((finished_run / "final" / name).as_uri())
    # Only tables and plots can be scrolled sideways, each in its own frame.
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    colors = "const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]"
    ink, page = (
        sum(map(int, color.strip("rgba()").split(", ")[:3])) for color in browser.execute_script(colors)
    )
    assert abs(ink - page) > 500
    assert (ink < page) == (scheme == "light")
    browser.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true })")
    contrasts = browser.execute_script(CONTRAST)
    assert len(contrasts) > 50
    assert [(ratio, text) for ratio, text in contrasts if ratio < 4.5] == []
    requests = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert requests == 0
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    if name == "board.html":
        dots = browser.execute_script("return document.querySelectorAll('svg circle').length")
        assert dots == len(TEAMS)  # of Public and Private ranks
        assert shown(browser)[0] in ("Ada <b>", "Bo & Co", "Cy", "Di")
        # The rank, the team, the deciding score and the move can be seen.
        right = "return document.querySelector('#board tbody tr').cells[3].getBoundingClientRect().right"
        frame = "return document.querySelector('.board').getBoundingClientRect().right"
        assert browser.execute_script(right) <= browser.execute_script(frame) < width


def shown(browser) -> list[str]:
    """The teams that can be seen, from the first row on."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#board tbody tr')].filter(row => !row.hidden)"
        ".map(row => row.querySelector('bdi').textContent)"
    )


def test_the_first_rows_then_all(many, browser):
    browser.get(many.as_uri())
    assert len(shown(browser)) == 50
    browser.find_element("id", "all").click()
    assert len(shown(browser)) == MANY


def test_a_search_finds_teams_in_rows_that_are_not_shown(many, browser):
    browser.get(many.as_uri())
    browser.find_element("id", "search").send_keys("t6")
    assert shown(browser) == ["T6", "T60"]
    assert browser.find_element("id", "shown").text == f"2 of {MANY} teams"


def test_an_anchor_shows_its_team(many, browser):
    look(browser, 1000)
    browser.get("about:blank")
    browser.get(f"{many.as_uri()}#team-T55")
    assert "T55" in shown(browser)
    top = browser.execute_script("return document.getElementById('team-T55').getBoundingClientRect().top")
    assert 0 < top < 900


def test_columns_are_sorted_and_the_line_below_the_prizes_is_drawn_by_rank_alone(many, browser):
    browser.get(many.as_uri())
    headers = browser.find_elements("css selector", "#board thead [role=button]")
    score = next(header for header in headers if header.text == "score")
    score.send_keys("\ue007")
    assert shown(browser)[:3] == ["T60", "T59", "T58"]
    assert "by-rank" not in browser.find_element("id", "board").get_attribute("class")
    assert score.find_element("xpath", "..").get_attribute("aria-sort") == "ascending"
    score.click()
    assert shown(browser)[:3] == ["T1", "T2", "T3"]
    next(header for header in headers if header.text == "team").click()
    assert shown(browser)[:3] == ["T1", "T10", "T11"]
    headers[0].click()
    assert shown(browser)[:3] == ["T1", "T2", "T3"]
    assert "by-rank" in browser.find_element("id", "board").get_attribute("class")


def take_picture() -> None:
    """Save the first screen of the example's board for the documentation."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder, started_browser() as browser:
        example.write(Path(folder))
        files = [f"{folder}/{name}" for name in (example.SOLUTION, example.SUBMISSIONS, example.RUNTIMES)]
        heading = ["--title", "Segmenting essays", "--organizer", "the organizers of the example"]
        cli.main(["rank", *files, "--out", f"{folder}/final", *heading])
        look(browser, 1200, 1500)
        browser.get((Path(folder) / "final" / "board.html").as_uri())
        picture = Image.open(io.BytesIO(browser.get_screenshot_as_png()))
        picture.convert("RGB").quantize(128).save(PICTURE, optimize=True)


if __name__ == "__main__":
    take_picture()
