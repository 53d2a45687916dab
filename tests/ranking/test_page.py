"""The board's page in a browser: wide and narrow, light and dark; skipped without chromium and Selenium."""

import shutil
import tempfile

import pytest

pytest.importorskip("selenium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")), reason="no chromium or chromedriver"
    ),
]

from tests.ranking.test_final import made  # noqa: E402, F401


@pytest.fixture(scope="module")
def browser():
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(
            options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
        )
        try:
            yield driver
        finally:
            driver.quit()


@pytest.mark.parametrize("name", ["board.html", "team.html"])
@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_can_be_read(made, browser, name, width, scheme):  # noqa: F811
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    browser.get((made / "final" / name).as_uri())
    # Only tables and plots scroll sideways, each in its frame.
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    colours = "const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]"
    ink, page = (
        sum(map(int, colour.strip("rgba()").split(", ")[:3])) for colour in browser.execute_script(colours)
    )
    assert abs(ink - page) > 500
    assert (ink < page) == (scheme == "light")
    requests = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert requests == 0
    if name == "board.html":
        assert browser.execute_script("return document.querySelectorAll('svg circle').length") > 8
        assert browser.execute_script("return document.querySelector('td.name').textContent") in (
            "Ada <b>", "Bo & Co", "Cy", "Di",
        )  # fmt: skip
