"""A headless Chromium, driven by Selenium, and the contrast of the texts of a page in it."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

# The contrast of every visible text with what lies below it (WCAG 2.2, 1.4.3), with the lowest first.
CONTRAST = """
const numbers = (color) => (color.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const over = (top, below) => {
  const alpha = top.length > 3 ? top[3] : 1;
  return below.map((part, i) => alpha * top[i] + (1 - alpha) * part);
};
const luminance = (color) => {
  const [red, green, blue] = color.map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrasts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!element.checkVisibility() || element.closest(".hidden, script, svg")) continue;
  if (!walker.currentNode.textContent.trim()) continue;
  let below = [255, 255, 255];
  const above = [];
  for (let at = element; at; at = at.parentElement) above.unshift(getComputedStyle(at));
  for (const style of above) {
    below = over(numbers(style.backgroundColor), below);
    // The first color of stripes is their strongest.
    const stripes = style.backgroundImage.match(/rgba?\\([^)]*\\)/);
    if (stripes) below = over(numbers(stripes[0]), below);
  }
  const [text, page] = [over(numbers(above.at(-1).color), below), below].map(luminance);
  const ratio = (Math.max(text, page) + 0.05) / (Math.min(text, page) + 0.05);
  contrasts.push([ratio, element.outerHTML.slice(0, 120)]);
}
return contrasts.sort((a, b) => a[0] - b[0]);
"""


@contextlib.contextmanager
def started() -> Iterator[Any]:
    """Start a headless Chromium with a profile of its own, and end it after the ``with`` block."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-sync", "--disable-background-networking", "--disable-component-update",
            "--hide-scrollbars", f"--user-data-dir={profile}",
        ):  # fmt: skip
            options.add_argument(flag)
        driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


def look(driver: Any, width: int = 1200, height: int = 900, scheme: str = "light") -> None:
    """Give the window a size and a color scheme."""
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def visit(driver: Any, url: str) -> None:
    """Open a page, and wait until all of it is there: the driver can be told of the end of the page before."""
    from selenium.webdriver.support.wait import WebDriverWait

    driver.get(url)
    is_whole = "return document.readyState == 'complete' && location.href != 'about:blank'"
    WebDriverWait(driver, 60).until(lambda driver: driver.execute_script(is_whole))
