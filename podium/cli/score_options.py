"""What `podium score` is asked: its options, which the command and the choice of items read."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from podium.cli.arguments import OfLimits, OfMetric, not_negative, positive, probability
from podium.cli.declared import SEVERAL


@dataclass(frozen=True)
class Options(OfLimits, OfMetric):
    """The options of ``podium score``.

    Parameters
    ----------
    solution : SOLUTION
        The right answers: .csv, .csv.gz, .parquet, an official file, or the folder that podium make wrote.
    submission : SUBMISSION
        The predictions, or - for standard input; the first one is compared with each of the others.
    bare : bool
        Print the score alone, and only the warnings which mean that the file is probably wrong or that only a
        part was scored.
    json : bool
        Print JSON instead of tables; --bare prints neither.
    rows : FILE
        Write what became of every row into this .csv, .csv.gz or .parquet.
    table : FILE
        Write a table for a paper, with the submissions as rows: .tex (with booktabs), .md or .csv; with
        --bootstrap it has intervals.
    measures : NAME
        A measure that is a column of --table, without which it is refused; may be repeated (default: all
        measures).
    bootstrap : N
        Print 95% intervals from N resamples (default: none; 1000 in the report).
    report : HTML
        Write a report as one page that needs no other file.
    texts : FOLDER_OR_FILE
        Texts for --report, without which only a CSV for markups is read: a folder with a file ID.txt for each
        id, a CSV with columns id and text, or an official file (default: no texts); such a CSV is also compared
        with markups.

    Other Parameters
    ----------------
    essays : FILE
        Score only the essays, or other items, whose ids are in this file, one in each line.
    folds : FILE
        Also print the score of each fold, their mean and their spread; a table with the ids in its first column
        and a column fold.
    effectiveness : P
        Give every segment this probability of effective, to score the segmentation alone (default: what the
        submission says).
    side : FILE
        A table with what only the host can say of the submission, such as READ//ABLE's M7.
    side_form : FILE
        Write the empty table for --side, which the experts fill, such as the five questions of READ//ABLE's M7.
    items : COLUMN
        Draw all items with the same value in this column of the solution together, such as those of a prompt or
        a patient (default: each item alone).
    seed : SEED
        A number that decides what is drawn at random (default: 0).
    report_items : N
        Show in the report the N items that lost most.
    """

    solution: str
    submission: Annotated[Sequence[str], SEVERAL]
    _: KW_ONLY
    bare: Annotated[bool, "-b"] = False
    json: bool = False
    rows: Path | None = None
    table: Path | None = None
    measures: Sequence[str] = ()
    bootstrap: Annotated[int | None, positive] = None
    report: Path | None = None
    texts: Path | None = None
    essays: Path | None = None
    folds: Path | None = None
    effectiveness: Annotated[float | None, probability] = None
    side: str | None = None
    side_form: Path | None = None
    items: str = ""
    seed: Annotated[int, not_negative] = 0
    report_items: Annotated[int, not_negative] = 200
