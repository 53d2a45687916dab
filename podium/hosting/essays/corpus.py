"""A corpus of essays with one row per segment: its columns, as the host calls them, and their checks."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Ints
from podium.common.errors import HostError
from podium.common.wording import counted, listed
from podium.hosting.evidence import Coded
from podium.hosting.splitting import doubts_of_split
from podium.spans.vocabulary import LABEL
from podium.tables.files import read_bytes
from podium.tables.formats import parse_texts

ESSAY_IDS = ("essay_id_comp", "essay_id", "id")
UNANNOTATED = "Unannotated"
EFFECTIVENESS = {"Ineffective": 0, "Adequate": 0, "Effective": 1}
AS_NUMBERS = {"0": "Ineffective", "0.0": "Ineffective", "1": "Effective", "1.0": "Effective"}
PROMPT = "prompt_name"
DEMOGRAPHICS = (
    "gender",
    "grade_level",
    "ell_status",
    "race_ethnicity",
    "economically_disadvantaged",
    "student_disability_status",
)
OFFSETS = ("discourse_start", "discourse_end")
FULL_TEXT, QUOTE = "full_text", "discourse_text"
TYPE, WORDS = "discourse_type", "predictionstring"
USED = (*ESSAY_IDS, TYPE, WORDS, LABEL, *OFFSETS, FULL_TEXT, QUOTE, PROMPT, *DEMOGRAPHICS)
# What every segment gets where the corpus does not tell how effective it is.
UNTOLD = "Effective"
ESSAY_ID, ROW_ID = "essay_id", "row_id"
CHARACTERS_SHOWN = 60


@dataclass(frozen=True)
class Column(Coded):
    """A column of texts, of which "" stands for a missing one."""

    name: str
    rows: Ints  # (n,) the position of each row in the corpus, counted from 0

    def mapped(self, function: Callable[[str], int]) -> Ints:
        """Apply a function to each distinct text."""
        return np.asarray(self.each(function, np.int64))

    def check(self, wrong: Bools, expected: str) -> None:
        """Raise an error that shows the first wrong rows."""
        faulty = np.flatnonzero(wrong)
        if len(faulty):
            shown = [
                f"row {number + 1:,} ({repr(self.texts[code])[:CHARACTERS_SHOWN]})"
                for number, code in zip(self.rows[faulty].tolist(), self.codes[faulty].tolist())
            ]
            where = f"Wrong in {counted(len(faulty), 'row')} of the corpus: {listed(shown)}"
            raise HostError(f"{self.name}: expected {expected}. {where}")


class Corpus(NamedTuple):
    """A corpus as it was read, with one row per segment."""

    columns: dict[str, Column]  # the columns that are used, by name
    names: list[str]  # the names of all columns
    named: Collection[str] = ()  # the columns that the host has named
    doubts_of_split: Sequence[str] = ()  # what the host should look at, if the parts are drawn


def read_corpus(path: Path, further: Iterable[str] = (), columns: Mapping[str, str] = {}) -> Corpus:
    """Read a corpus. Every value is kept as text; `columns` says what the host's columns are called here."""
    texts = parse_texts(read_bytes(path), str(path), HostError)
    return of_texts(texts.fillna(""), further, columns)


def of_texts(texts: pd.DataFrame, further: Iterable[str] = (), columns: Mapping[str, str] = {}) -> Corpus:
    """Take the used columns of a corpus."""
    used, given = {*USED, *further}, list(map(str, texts))
    for theirs, ours in columns.items():
        if ours not in used:
            raise HostError(f"--columns {theirs}={ours}: expected OURS to be one of {', '.join(sorted(used))}")
        if theirs not in given:
            raise HostError(f"--columns {theirs}=…: expected a column of the corpus, found {', '.join(given)}")
    # A column that has one of these names already, but is not the one that the host means, is not used.
    names = [columns.get(name, "" if name in columns.values() else name) for name in given]
    kept = dict[str, Column]()
    for name, theirs in zip(names, given):
        if name in kept:
            raise HostError(f"--columns: expected one column {name}, found {names.count(name)}")
        if name in used:
            cells = Coded.of(texts[theirs]).changed(lambda text: text if text.strip() else "")
            kept[name] = Column(cells.codes, cells.texts, name, np.arange(len(texts)))
    others = texts[[theirs for name, theirs in zip(names, given) if name and name not in USED]]
    return Corpus(kept, names, set(columns.values()), doubts_of_split(others))


def checked_columns(corpus: Corpus, attributes: list[str]) -> dict[str, Column]:
    """Check that no column is missing, and call the one that names the essays `ESSAY_ID`.

    Without a column of the effectiveness, all segments get the same one.
    """
    candidates = [name for name in ESSAY_IDS if name in corpus.names]
    if ESSAY_ID in corpus.named:
        candidates = [ESSAY_ID]
    if len(candidates) > 1:
        raise HostError(
            f"expected one column that names the essays, found {' and '.join(candidates)}: say which, such as "
            f"--columns {next(name for name in candidates if name != ESSAY_ID)}={ESSAY_ID}"
        )
    required = [*(candidates or [ESSAY_ID]), TYPE, *attributes]
    if WORDS not in corpus.names:
        required += [*OFFSETS, FULL_TEXT]
    lacking = [name for name in required if name not in corpus.names]
    if lacking:
        raise HostError(_what_lacks(corpus, lacking, attributes))
    columns = {name: column for name, column in corpus.columns.items() if name not in ESSAY_IDS}
    if LABEL not in columns:
        none = np.zeros_like(columns[TYPE].codes)
        columns[LABEL] = Column(none, [UNTOLD], LABEL, columns[TYPE].rows)
    return columns | {ESSAY_ID: corpus.columns[candidates[0]]}


def _what_lacks(corpus: Corpus, lacking: list[str], attributes: list[str]) -> str:
    """Say which columns a corpus lacks, and what to type if it has them under other names."""
    present = [name for name in corpus.names if name]
    text = f"the corpus lacks columns: {', '.join(lacking)}. It has: {', '.join(present)}"
    if ours := [name for name in lacking if name not in attributes]:
        text += f". Name them: --columns {' '.join(f'YOURS={name}' for name in ours)}"
    if set(lacking) & set(attributes):
        text += '. --subpopulations names others, or "" for none'
    if TYPE in lacking and not {WORDS, *OFFSETS} & {*present}:
        text += ". If it is not a corpus of essays, name its metric: --metric FILE"
    return text


def spelled(column: Column, known: tuple[str, ...], spellings: Mapping[str, str] = {}) -> Ints:
    """Find the index of each value among the known ones."""
    index = {text: number for number, text in enumerate(known)}
    numbers = column.mapped(lambda text: index.get(spellings.get(text, text), -1))
    words = ", ".join(filter(None, known))
    column.check(numbers < 0, f"one of {words}")
    return numbers


def one_of_each_essay(column: Column, essay: Ints, first_row: Ints) -> list[str | None]:
    """Get the value of each essay, which all of its rows must share; None if it is missing."""
    codes = column.codes[first_row]
    column.check(column.codes != codes[essay], "one value per essay, that of its first row")
    return [column.texts[code] or None for code in codes.tolist()]
