"""From an annotated corpus to the files of a competition.

The corpus is a CSV file with one row per segment, as PERSUADE and the Feedback Prize have it:

    essay_id_comp, id or essay_id     the essay
    discourse_type                    one of the metric's types; rows that are "Unannotated" are dropped
    predictionstring                  the positions of the segment's words in the essay, or instead
    discourse_start, discourse_end    positions of its characters in full_text
    discourse_effectiveness           Ineffective, Adequate or Effective: 0, 0 or 1
    ell_status, gender, …             the writer's demographics

What is decided here, beside what `metric.py` says of the truth:

* Character positions become word positions by the organisers' rule: words are what str.split() makes of
  the full text; the segment's first word is the number of words of the text before it, and it has as many
  words as its own text, up to the last word of the essay.
* An essay of which a segment lacks its effectiveness or its words is left out whole: a model that finds
  this segment must not be punished.
* Segments that overlap lose words here, by the metric's own rule, so that the files hold what is scored.
* Essays are drawn for the test, and of those for the public leaderboard, within every combination of the
  sub-populations that are scored: the share of each is the same up to one essay.
* Files are in the order of the essays' ids, so that the same corpus in another order gives the same files.
"""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

import metric
from competition import row_formats
from competition.errors import HostError
from competition.files import write_atomically
from competition.scoring import PARTS, USAGE

__all__ = ["DEMOGRAPHICS", "TEXT_COLUMNS", "CompetitionFiles", "prepare", "write"]

ESSAY_IDS = ("essay_id_comp", "id", "essay_id")
UNANNOTATED = "Unannotated"
EFFECTIVENESS = {"Ineffective": 0, "Adequate": 0, "Effective": 1}
DEMOGRAPHICS = (
    "gender",
    "grade_level",
    "ell_status",
    "race_ethnicity",
    "economically_disadvantaged",
    "student_disability_status",
)
OFFSETS = ("discourse_start", "discourse_end")
TEXT_COLUMNS = (
    *ESSAY_IDS,
    "discourse_type",
    "predictionstring",
    "discourse_effectiveness",
    "full_text",
    *DEMOGRAPHICS,
)

ESSAY_ID = "essay_id"
TRAIN = "train"
SOLUTION, SAMPLE = "solution.csv", "sample_submission.csv"
PACKED = "one_row_per_essay"
REPORT = "report.md"
SAMPLE_SEGMENT = {
    "discourse_type": "Lead",
    "predictionstring": "0 1 2 3 4",
    **dict.fromkeys(metric.PROBABILITY_COLUMNS, 0.5),
}
ITEMS_SHOWN = 5
CHARACTERS_SHOWN = 60

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class CompetitionFiles(NamedTuple):
    """What `prepare` makes of a corpus.

    Attributes
    ----------
    tables : dict of file name to DataFrame
    report : str, Markdown
    """

    tables: dict[str, pd.DataFrame]
    report: str


def prepare(
    corpus: pd.DataFrame,
    attributes: list[str],
    test_share: float = 0.4,
    public_share: float = 0.3,
    seed: int = 0,
) -> CompetitionFiles:
    """The files of a competition.

    Parameters
    ----------
    corpus : DataFrame, one row per segment
    attributes : list of str
        The columns whose values are the sub-populations to score.
    test_share : float in (0, 1)
        The share of the essays that are scored; the others are for training.
    public_share : float in (0, 1)
        The share of the scored essays that make the public leaderboard.
    seed : int, at least 0

    Raises
    ------
    HostError
        The corpus is malformed, or too small to split.
    """
    essay_id = _check_columns(corpus, attributes)
    rows = corpus.reset_index(drop=True)
    rows = rows[(rows["discourse_type"] != UNANNOTATED).to_numpy()]
    if rows.empty:
        raise HostError("the corpus has no annotated row")
    codes, ids = pd.factorize(rows[essay_id], sort=True)
    writers = _writers(rows, codes, attributes)
    discourse_type = _types(rows)
    effective = _effectiveness(rows)
    first, last, cut = _words(rows)

    lacking = {"effectiveness": effective < 0, "words": last < first}
    complete = np.ones(len(ids), dtype=bool)
    complete[codes[lacking["effectiveness"] | lacking["words"]]] = False
    label = effective.astype(np.float64)
    every = metric.Segments(codes, first, last, discourse_type, 1.0 - label, label, np.arange(len(rows)))
    given = every.take(complete[codes])
    kept = metric.remove_overlaps(given)

    part = np.full(len(ids), "", dtype=object)
    part[complete] = _split(writers.loc[complete, attributes], test_share, public_share, seed)
    segments = _one_row_per_segment(kept, ids.to_numpy(dtype=object), writers)
    tables = _tables(segments, part[kept.essay])
    if "full_text" in rows:
        texts = pd.DataFrame({ESSAY_ID: ids, "full_text": _of_essays(rows, codes, "full_text")})
        tables["train_essays.csv"] = texts[part == TRAIN]
        tables["test_essays.csv"] = texts[complete & (part != TRAIN)]

    counts = {
        "rows": len(corpus),
        f"rows that are {UNANNOTATED}: dropped": len(corpus) - len(rows),
        "essays without any other row: dropped": corpus[essay_id].nunique() - len(ids),
        "segments without effectiveness": int(lacking["effectiveness"].sum()),
        "segments without words": int(lacking["words"].sum()),
        "essays with such a segment: left out": int((~complete).sum()),
        "segments that end beyond their text: cut": cut,
        "segments that overlap an earlier one: trimmed": int((kept.first > first[kept.row]).sum()),
        "segments of which one word or none was left: discarded": len(given.row) - len(kept.row),
        "essays": int(complete.sum()),
        "segments": len(kept.row),
    }
    sizes = _subpopulations(writers[complete], part[complete], attributes)
    report = [
        "# The competition's files",
        f"Drawn with seed {seed}: {test_share:g} of the essays for the test, {public_share:g} of those Public.",
        _section("The corpus", pd.DataFrame({"what": list(counts), "number": list(counts.values())})),
        *_left_out(ids[~complete]),
        _section("Missing demographics, in essays", _missing(writers[complete])),
        _section("Sub-populations, in essays", sizes),
        *_small(sizes),
        _section(
            "The sample submission's scores, to compare with those on the site", _scores(tables, attributes)
        ),
    ]
    return CompetitionFiles(tables, "\n\n".join(report) + "\n")


def write(files: CompetitionFiles, folder: Path) -> None:
    """Save the tables and the report, each file complete or not at all."""
    for name, table in files.tables.items():
        write_atomically(folder / name, functools.partial(table.to_csv, index=False, lineterminator="\n"))
    write_atomically(folder / REPORT, lambda path: path.write_text(files.report, encoding="utf-8"))


# ---------------------------------------------------------------------------------------------
# Reading the corpus
# ---------------------------------------------------------------------------------------------


def _check_columns(corpus: pd.DataFrame, attributes: list[str]) -> str:
    """The name of the column with the essays; every other column that is needed is there."""
    essay_ids = [name for name in ESSAY_IDS if name in corpus]
    required = ["discourse_type", metric.LABEL_COLUMN, *attributes]
    if "predictionstring" not in corpus:
        required += [*OFFSETS, "full_text"]
    lacking = [name for name in required if name not in corpus]
    if not essay_ids:
        lacking.insert(0, " or ".join(ESSAY_IDS))
    if lacking:
        raise HostError(
            f"the corpus lacks columns: {', '.join(lacking)}. It has: {', '.join(map(str, corpus.columns))}"
        )
    for name in (essay_ids[0], "discourse_type"):
        _check(corpus, name, corpus[name].isna().to_numpy(), "a value in every row")
    return essay_ids[0]


def _check(rows: pd.DataFrame, column: str, wrong: Bools, expected: str) -> None:
    faulty = rows.loc[wrong, column]
    if len(faulty):
        numbers = (faulty.index[:ITEMS_SHOWN] + 1).tolist()
        shown = [f"row {number} ({repr(value)[:CHARACTERS_SHOWN]})" for number, value in zip(numbers, faulty)]
        more = f" and {len(faulty) - ITEMS_SHOWN:,} more" if len(faulty) > ITEMS_SHOWN else ""
        raise HostError(
            f"{column} is wrong in {len(faulty):,} row{'s' * (len(faulty) > 1)} of the corpus: "
            f"{', '.join(shown)}{more}. "
            f"Expected {expected}"
        )


def _types(rows: pd.DataFrame) -> Ints:
    """Index into the metric's types, (n,)."""
    number = {name: number for number, name in enumerate(metric.DISCOURSE_TYPES)}
    types = np.array([number.get(name, -1) for name in rows["discourse_type"]], dtype=np.int64)
    _check(rows, "discourse_type", types < 0, f"one of {', '.join(metric.DISCOURSE_TYPES)}, {UNANNOTATED}")
    return types


def _effectiveness(rows: pd.DataFrame) -> Ints:
    """0 or 1, (n,); -1 where missing."""
    column = rows[metric.LABEL_COLUMN]
    labels = np.array([EFFECTIVENESS.get(label, -1) for label in column], dtype=np.int64)
    wrong = (labels < 0) & column.notna().to_numpy()
    _check(rows, metric.LABEL_COLUMN, wrong, f"one of {', '.join(EFFECTIVENESS)}")
    return labels


def _words(rows: pd.DataFrame) -> tuple[Ints, Ints, int]:
    """First and last word of each segment, (n,) each, last < first where it has none; and how many were cut."""
    if "predictionstring" in rows:
        column = rows["predictionstring"]
        present = column.notna().to_numpy()
        first, last = metric.parse_predictionstrings(column.fillna("0").tolist())
        _check(
            rows, "predictionstring", last < 0, "positions such as '45 46 47', counted from 0, without a gap"
        )
        return first, np.where(present, last, -1), 0
    start, end = (_offsets(rows, name) for name in OFFSETS)
    located = (start >= 0) & (end >= 0)
    _check(rows, OFFSETS[1], located & (end <= start), f"more than {OFFSETS[0]}")
    texts = rows["full_text"].fillna("").tolist()
    words = [
        word_positions(text, a, b) if known else (0, -1)
        for text, a, b, known in zip(texts, start.tolist(), end.tolist(), located.tolist())
    ]
    first, last = np.array(words, dtype=np.int64).reshape(-1, 2).T
    return first, last, int((located & (end > rows["full_text"].str.len().fillna(0).to_numpy())).sum())


def word_positions(full_text: str, start: int, end: int) -> tuple[int, int]:
    """First and last word of the characters from start to before end, by the organisers' rule.

    Examples
    --------
    >>> word_positions("I think so. Do you?", 2, 11)
    (1, 2)

    From within a word, what is before counts as a word, and what is left of it as another:

    >>> word_positions("I think so. Do you?", 4, 11)
    (2, 3)

    The last word of the essay is the last word of any segment; one that starts behind it has no words:

    >>> word_positions("I think so. Do you?", 17, 99), word_positions("I think so. Do you?", 50, 99)
    ((5, 4), (5, 4))
    """
    first = len(full_text[:start].split())
    number = len(full_text[start:end].split())
    return first, min(first + number, len(full_text.split())) - 1


def _offsets(rows: pd.DataFrame, column: str) -> Ints:
    """Positions of characters, (n,); -1 where missing."""
    numbers = pd.to_numeric(rows[column], errors="coerce")
    wrong = rows[column].notna() & ~((numbers >= 0) & (numbers % 1 == 0))
    _check(rows, column, wrong.to_numpy(), "a whole number, at least 0")
    return numbers.fillna(-1).to_numpy().astype(np.int64)


def _writers(rows: pd.DataFrame, codes: Ints, attributes: list[str]) -> pd.DataFrame:
    """The demographics, one row per essay; blanks are missing."""
    names = dict.fromkeys([*(name for name in DEMOGRAPHICS if name in rows), *attributes])
    return pd.DataFrame({name: _of_essays(rows, codes, name).map(_none_if_blank) for name in names})


def _none_if_blank(value: Any) -> Any:
    return None if pd.isna(value) or not str(value).strip() else value


def _of_essays(rows: pd.DataFrame, codes: Ints, column: str) -> "pd.Series[Any]":
    """A column with one value per essay, in the order of the codes."""
    values = pd.factorize(rows[column])[0]
    _, first = np.unique(codes, return_index=True)
    _check(rows, column, values != values[first][codes], "one value per essay; the one above it differs")
    return rows[column].iloc[first].astype(object).reset_index(drop=True)


# ---------------------------------------------------------------------------------------------
# Splitting
# ---------------------------------------------------------------------------------------------


def _split(groups: pd.DataFrame, test_share: float, public_share: float, seed: int) -> npt.NDArray[np.object_]:
    """The part of each essay, (n,): train, Public or Private."""
    combinations = [tuple(map(str, row)) for row in groups.to_numpy(dtype=object).tolist()]
    number = {combination: number for number, combination in enumerate(sorted(set(combinations)))}
    stratum = np.array([number[combination] for combination in combinations], dtype=np.int64)
    random = np.random.default_rng(seed)
    part = np.full(len(groups), TRAIN, dtype=object)
    test = np.flatnonzero(_drawn(stratum, test_share, random))
    part[test] = np.where(_drawn(stratum[test], public_share, random), *PARTS)
    absent = [name for name in (TRAIN, *PARTS) if not (part == name).any()]
    if absent:
        raise HostError(f"{len(groups):,} essays are too few to split: none is left for {' and '.join(absent)}")
    return part


def _drawn(stratum: Ints, share: float, random: np.random.Generator) -> Bools:
    """Draw a share of the essays, in every stratum the same up to one, (n,)."""
    order = random.permutation(len(stratum))
    order = order[np.argsort(stratum[order], kind="stable")]
    # One essay wherever the sum of shares passes a whole number.
    passed = np.floor(np.arange(len(stratum) + 1) * share + random.random())
    drawn = np.zeros(len(stratum), dtype=bool)
    drawn[order] = np.diff(passed) > 0
    return drawn


# ---------------------------------------------------------------------------------------------
# The tables
# ---------------------------------------------------------------------------------------------


def _one_row_per_segment(
    segments: metric.Segments, essay_ids: npt.NDArray[np.object_], writers: pd.DataFrame
) -> pd.DataFrame:
    positions = [str(position) for position in range(int(segments.last.max()) + 1)]
    frame = pd.DataFrame(
        {
            row_formats.ROW_ID: metric.RowIds(essay_ids, segments.essay, one_row_per_essay=True).names(),
            ESSAY_ID: essay_ids[segments.essay],
            "discourse_type": np.array(metric.DISCOURSE_TYPES, dtype=object)[segments.discourse_type],
            "predictionstring": [
                " ".join(positions[first : last + 1])
                for first, last in zip(segments.first.tolist(), segments.last.tolist())
            ],
            metric.LABEL_COLUMN: segments.d1.astype(np.int64),
        }
    )
    return pd.concat([frame, writers.iloc[segments.essay].reset_index(drop=True)], axis=1)


def _tables(segments: pd.DataFrame, part: npt.NDArray[np.object_]) -> dict[str, pd.DataFrame]:
    """Solution, sample submission and training data, in both formats."""
    solution = segments.assign(**{USAGE: part})[part != TRAIN].reset_index(drop=True)
    sample = solution.drop_duplicates(ESSAY_ID)[[row_formats.ROW_ID, ESSAY_ID]].assign(**SAMPLE_SEGMENT)
    tables = {
        SOLUTION: solution,
        SAMPLE: sample.reset_index(drop=True),
        "train.csv": segments[part == TRAIN].reset_index(drop=True),
    }
    return tables | {f"{PACKED}/{name}": row_formats.pack(table)[0] for name, table in tables.items()}


# ---------------------------------------------------------------------------------------------
# The report
# ---------------------------------------------------------------------------------------------


def _section(title: str, table: pd.DataFrame) -> str:
    """A heading and a Markdown table; columns of numbers are on the right."""
    cells = [list(table.columns), *(map(_cell, row) for row in table.itertuples(index=False))]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    rule = ["--:" if pd.api.types.is_numeric_dtype(table[name]) else "---" for name in table]
    return "\n".join([f"## {title}", "", lines[0], f"| {' | '.join(rule)} |", *lines[1:]])


def _cell(value: Any) -> str:
    return (
        f"{value:,}" if isinstance(value, int) else f"{value:.6f}" if isinstance(value, float) else str(value)
    )


def _left_out(essay_ids: "pd.Index[Any]") -> list[str]:
    if not len(essay_ids):
        return []
    more = f" and {len(essay_ids) - ITEMS_SHOWN:,} more" if len(essay_ids) > ITEMS_SHOWN else ""
    return [f"Left out: {', '.join(map(str, essay_ids[:ITEMS_SHOWN]))}{more}."]


def _missing(writers: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"attribute": list(writers), "missing": writers.isna().sum().to_numpy()})


def _subpopulations(
    writers: pd.DataFrame, part: npt.NDArray[np.object_], attributes: list[str]
) -> pd.DataFrame:
    """How many essays of each sub-population are in which part."""
    tables = []
    for name in attributes:
        values = writers[name].fillna(metric.MISSING).astype(str)
        table = pd.crosstab(values, part).reindex(columns=[TRAIN, *PARTS], fill_value=0)
        tables.append(table.rename_axis("value").rename_axis(None, axis=1).reset_index().assign(attribute=name))
    columns = ["attribute", "value", TRAIN, *PARTS]
    return pd.concat(tables)[columns] if tables else pd.DataFrame(columns=columns)


def _small(sizes: pd.DataFrame) -> list[str]:
    """Those that are too small for the softmin, whose weight grows as scores fall, by luck too."""
    small = [
        f"* {row.attribute} = {row.value}: {number:,} {name} essays"
        for row in sizes.itertuples()
        for name, number in ((name, getattr(row, name)) for name in PARTS)
        if number < metric.SMALL_SUBPOPULATION
    ]
    if not small:
        return []
    return [
        f"Too small for the softmin (fewer than {metric.SMALL_SUBPOPULATION} essays): a low score by chance "
        "gets a large weight.",
        "\n".join(small),
    ]


def _scores(tables: dict[str, pd.DataFrame], attributes: list[str]) -> pd.DataFrame:
    solution, sample = tables[SOLUTION], tables[SAMPLE]
    scores = [
        metric.score(
            solution[solution[USAGE] == part],
            sample,
            row_formats.ROW_ID,
            subpopulation_column_names=",".join(attributes),
        )
        for part in PARTS
    ]
    return pd.DataFrame({"part": PARTS, "score": scores})
