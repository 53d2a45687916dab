"""The board's page works in a browser: wide and narrow, light and dark, searched and sorted."""

import pytest

from podium.ranking import page
from tests.ranking.test_board_page import board_of, run_of
from tests.support.browser import CONTRAST, look, visit
from tests.support.finished_run import TEAMS

MANY = 60


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The page of a board with sixty teams."""
    path = tmp_path_factory.mktemp("many") / "board.html"
    path.write_text(page.of_board(run_of(board_of(MANY), boosted=False)), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["board.html", "team.html"])
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1400, "dark")])
def test_the_page_fits_and_can_be_read(finished_run, driver, name, width, scheme):
    look(driver, width, scheme=scheme)
    visit(driver, (finished_run / "final" / name).as_uri())
    # Only tables and plots can be scrolled sideways, each in its own frame.
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    colors = "const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]"
    ink, page = (
        sum(map(int, color.strip("rgba()").split(", ")[:3])) for color in driver.execute_script(colors)
    )
    assert abs(ink - page) > 500
    assert (ink < page) == (scheme == "light")
    driver.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true })")
    contrasts = driver.execute_script(CONTRAST)
    assert len(contrasts) > 50
    assert [(ratio, text) for ratio, text in contrasts if ratio < 4.5] == []
    requests = driver.execute_script("return performance.getEntriesByType('resource').length")
    assert requests == 0
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
    if name == "board.html":
        dots = driver.execute_script("return document.querySelectorAll('figure:last-of-type circle').length")
        assert dots == len(TEAMS)  # of Public and Private ranks
        assert shown(driver)[0] in ("Ada <b>", "Bo & Co", "Cy", "Di")
        # No cell of a table is cut off, and no word is broken.
        cut = "return [...document.querySelectorAll('.wide')].map(each => each.scrollWidth - each.clientWidth)"
        assert max(driver.execute_script(cut)) <= 1


def shown(driver) -> list[str]:
    """The teams that can be seen, from the first row on."""
    return driver.execute_script(
        "return [...document.querySelectorAll('#board tbody tr')].filter(row => !row.hidden)"
        ".map(row => row.querySelector('bdi').textContent)"
    )


def test_the_first_rows_then_all(many, driver):
    visit(driver, many.as_uri())
    assert len(shown(driver)) == 50
    driver.find_element("id", "all").click()
    assert len(shown(driver)) == MANY


def test_a_search_finds_teams_in_rows_that_are_not_shown(many, driver):
    visit(driver, many.as_uri())
    driver.find_element("id", "search").send_keys("t6")
    assert shown(driver) == ["T6", "T60"]
    assert driver.find_element("id", "shown").text == f"2 of {MANY} teams"


def test_an_anchor_shows_its_team(many, driver):
    look(driver, 1000)
    driver.get("about:blank")
    visit(driver, f"{many.as_uri()}#team-T55")
    assert "T55" in shown(driver)
    top = driver.execute_script("return document.getElementById('team-T55').getBoundingClientRect().top")
    assert 0 < top < 900


def test_columns_are_sorted_and_the_line_below_the_prizes_is_drawn_by_rank_alone(many, driver):
    visit(driver, many.as_uri())
    headers = driver.find_elements("css selector", "#board thead [role=button]")
    score = next(header for header in headers if header.text == "score")
    score.send_keys("\ue007")
    assert shown(driver)[:3] == ["T60", "T59", "T58"]
    assert "by-rank" not in driver.find_element("id", "board").get_attribute("class")
    assert score.find_element("xpath", "..").get_attribute("aria-sort") == "ascending"
    score.click()
    assert shown(driver)[:3] == ["T1", "T2", "T3"]
    next(header for header in headers if header.text == "team").click()
    assert shown(driver)[:3] == ["T1", "T10", "T11"]
    headers[0].click()
    assert shown(driver)[:3] == ["T1", "T2", "T3"]
    assert "by-rank" in driver.find_element("id", "board").get_attribute("class")


def test_a_row_of_the_board_and_its_mark_show_each_other(driver, tmp_path):
    board = board_of(12, runtime=range(50, 62))
    (tmp_path / "board.html").write_text(page.of_board(run_of(board)), encoding="utf-8")
    look(driver, 390)
    visit(driver, (tmp_path / "board.html").as_uri())
    happens = "arguments[0].dispatchEvent(new MouseEvent(arguments[1]))"
    told = (
        "return [...document.querySelectorAll('.told')].map(e => e.id || e.querySelector('title').textContent)"
    )
    driver.execute_script(happens, driver.find_element("id", "team-T5"), "mouseenter")
    row, mark = driver.execute_script(told)
    assert (row, mark.split(",")[0]) == ("team-T5", "T5: rank 5")
    driver.execute_script(happens, driver.find_element("css selector", "a.mark[href='#team-T3']"), "click")
    assert driver.execute_script(told)[0] == "team-T3"
    assert driver.find_element("id", "told").text.startswith("T3: rank 3, ")
