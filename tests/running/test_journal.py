"""The journal and the tables beside it are safe in a spreadsheet, and are read as they were written."""

import csv
from pathlib import Path

from podium.running.journal import Row, read_journal, write_table
from podium.wording import spreadsheet_safe

TEXTS = ["=cmd|' /C calc'!A0", "+1", "+x", "@x", "-2+3", "-", "'quoted'", "Red", ""]


def test_no_cell_is_executed_and_each_is_read_as_it_was(tmp_path: Path) -> None:
    rows = [
        Row(1, text, text, f"{text}.csv", text, 1.5, -0.25, 0.0, 1, -9, 1.0, 1.0, "", text, "", text, "", text)
        for text in TEXTS
    ]
    write_table(tmp_path / "runs.csv", Row._fields, rows)
    assert read_journal(tmp_path / "runs.csv") == rows
    with (tmp_path / "runs.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert "'@x" in cells
    assert all(spreadsheet_safe(cell) == cell for cell in cells)
    assert "-9" in cells  # numbers stay numbers
