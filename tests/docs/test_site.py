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


PASTED = {
    "error: cannot read a.csv: [Errno 2] No such file or directory": "A file cannot be read",
    "error: a.csv: expected commas between the columns, found semicolons; read it with "
    "pandas.read_csv(…, sep=';') and write it with to_csv": "The file is no CSV table in UTF-8",
    "the submission: expected 1 more column: predictionstring. It has id, discourse_type": (
        "A column is missing or has another name"
    ),
    "error: separate positions by single spaces, not by commas in predictionstring: '45 46 47' is right, "
    "found '0,1,2' in row number 1. The metric says: predictionstring: expected the positions of the segment's "
    "words, counted from 0,…": "A cell of your submission cannot be read",
    "discourse_type: expected one of Lead, Position. Wrong in 2 rows of the submission: row_id 0 ('lead') and "
    "row_id 7 ('lead')": "A cell of your submission cannot be read",
    "error: spell essay_id as the solution does: '9E37', found '9E37.txt'. The metric says: essay_id: expected "
    "essays of the test set, found none of them": "None of your essays is in the test set",
    "Submission has 12 rows but 40 were expected.": "Kaggle refuses the submission before it calls the metric",
    "warning: 25 of the solution's 40 essays have no prediction and count as missed; to score a fold, name its "
    "essays by --essays FILE": "Essays have no prediction",
    "warning: overlap removal discarded 5 of 107 predictions, because earlier ones have their words": (
        "Overlap removal discarded predictions"
    ),
    "error: there is no metric scifct: expected a Python file, a folder with a metric.py, or one of unified, "
    "scifact": "A metric or a parameter is misspelled",
    "warning: 2 submissions were not scored, see rejected.csv: Comma Splice, Red Pen": (
        "Submissions were rejected"
    ),
    "nothing that podium says": "",
}


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")), reason="no chromium")
def test_a_pasted_message_finds_its_entry(site: Path) -> None:
    from selenium.webdriver.common.by import By

    from tests.report.test_page import started_browser

    first = {}
    with started_browser() as driver:
        driver.get((site / "reference" / "messages" / "index.html").as_uri())
        field = driver.find_element(By.CSS_SELECTOR, ".message-field")
        for message in PASTED:
            field.clear()
            field.send_keys(message)
            links = driver.find_elements(By.CSS_SELECTOR, ".message-field + ul a")
            first[message] = links[0].text if links else ""
    assert first == PASTED
