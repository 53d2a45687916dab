"""The documentation as a site."""

from pathlib import Path
from typing import Any

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
    "the submission: expected 1 more column: predictionstring. It has id": (
        "A column is missing or has another name"
    ),
    "error: spell essay_id as the solution does: '9E37', found '9E37.txt'. The metric says: essay_id: expected "
    "essays of the test set, found none of them": "None of your essays is in the test set",
    "Submission has 12 rows but 40 were expected.": "Kaggle refuses the submission before it calls the metric",
    "warning: 25 of the solution's 40 essays have no prediction and count as missed; to score a fold, name its "
    "essays by --essays FILE": "Essays have no prediction",
    "nothing that podium says": "",
}


def test_a_pasted_message_finds_its_entry(site: Path, driver: Any) -> None:
    driver.get((site / "reference" / "messages" / "index.html").as_uri())
    field = driver.find_element("css selector", ".message-field")
    first = {}
    for message in PASTED:
        field.clear()
        field.send_keys(message)
        links = driver.find_elements("css selector", ".message-field + ul a")
        first[message] = links[0].text if links else ""
    assert first == PASTED
