"""Make the files of a competition with the Unified Metric from an annotated corpus with one row per segment.

If a segment has no effectiveness or no words, its whole essay is left out. Otherwise a model that predicts that
segment would be punished. Overlaps are removed by the metric's rule.
"""

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.common.arrays import Bools, Ints, by_essay
from podium.common.errors import HostError
from podium.common.wording import counted, listed
from podium.contest import pipeline
from podium.hosting import splitting
from podium.hosting.evidence import Coded
from podium.hosting.folders import (
    LEARNED,
    PERFECT,
    SAMPLE,
    SOLUTION,
    Files,
    scores,
    section,
    text_table,
    tried,
)
from podium.hosting.splitting import TRAIN, Draw, Texts
from podium.metric import hosted
from podium.scoring.evaluating import PARTS, USAGE
from podium.scoring.explain import SMALL_SUBPOPULATION
from podium.spans.segments import predictionstrings, unified, word_positions
from podium.spans.vocabulary import LABEL, PROBABILITIES, TYPES
from podium.tables.files import read_bytes
from podium.tables.formats import parse_texts
from podium.tables.offsets import AnnotatedText, Place

METRIC = "unified"
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
TEXT, QUOTE = "full_text", "discourse_text"
TYPE, WORDS = "discourse_type", "predictionstring"
USED = (*ESSAY_IDS, TYPE, WORDS, LABEL, *OFFSETS, TEXT, QUOTE, PROMPT, *DEMOGRAPHICS)
# What every segment gets where the corpus does not tell how effective it is.
UNTOLD = "Effective"

ESSAY_ID, ROW_ID = "essay_id", "row_id"
BEYOND = "segments with words beyond their text"
DIFFERENT = "segments whose words are not those of their characters"
COUNTED = f"segments whose characters are counted otherwise than from 0 in {TEXT}: read as their {QUOTE} says"
CONTRADICTED = f"segments whose words are not those of their {QUOTE}"
MOST_CONTRADICTED = 0.1  # of the segments; the positions of a corpus with more are those of other texts
CUT = "segments whose characters end beyond their text: cut"
TWICE = "segments that repeat an earlier one of their essay: does the corpus contain essays twice?"
TWINS = "essays with the text of another one: kept together"
WARNED = (BEYOND, COUNTED, DIFFERENT, CONTRADICTED, TWICE, TWINS)
# With fewer segments per essay, the column may name segments instead of essays. The Feedback Prize has 9.
FEW_SEGMENTS = 1.5
CHARACTERS_SHOWN = 60
USUAL_DRAW = Draw(0, test_share=0.4)


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


def read_corpus(path: Path, further: Iterable[str] = (), columns: Mapping[str, str] = {}) -> Corpus:
    """Read a corpus. Every value is kept as text; `columns` says what the host's columns are called here."""
    texts = parse_texts(read_bytes(path), str(path), HostError, is_complete=True)
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
    return Corpus(kept, names, set(columns.values()))


def make(
    corpus: Corpus, attributes: list[str], draw: Draw = USUAL_DRAW, parameters: Mapping[str, Any] = {}
) -> Files:
    """Split a corpus of essays into the files of a competition."""
    annotations = _annotations(corpus, attributes)
    of_writers = [name for name in (*DEMOGRAPHICS, PROMPT) if name in annotations.columns]
    writers = list(dict.fromkeys(of_writers + attributes))
    of_essays = [*writers, *([draw.split] if draw.split else [])]
    essays, essay = _essays(annotations, [*dict.fromkeys(of_essays)])
    segments, complete, of_segments = _complete_segments(annotations, essay, len(essays))

    chosen = essays[complete]
    part = np.full(len(essays), "", dtype=object)
    if draw.split:
        part[complete], how = _as_split(annotations, chosen, draw)
        twins = 0
    else:
        part[complete], how, twins = _drawn(chosen, attributes, writers, draw)
    parameters = {"subpopulation_column_names": ",".join(attributes), **parameters}
    public, private = _tables(segments, essays, writers, part)
    solution = pipeline.prepared(
        hosted.load(METRIC), private[SOLUTION].astype({LABEL: np.int64}), dict(parameters)
    )
    numbers = dict.fromkeys(PROBABILITIES, np.float64)
    trials = tried(solution, draw.seed, public[SAMPLE].astype(numbers), private[PERFECT].astype(numbers))
    tested = set(essays.loc[_is_tested(part), ESSAY_ID])
    counts = annotations.counts | of_segments
    counts |= {TWINS: twins, "essays": len(chosen), "segments": len(segments.row)}
    named = annotations.columns[ESSAY_ID].name
    warnings = _warnings(counts, len(annotations.effective), len(essays), named) + _of_columns(corpus, chosen)
    report = [
        "# The competition's files",
        f"{how} The column {named} names the essays.",
        *(f"**{warning}**" for warning in warnings),
        section("The corpus", ("what", "number"), counts.items()),
        *([] if complete.all() else [f"Left out: {listed(essays.loc[~complete, ESSAY_ID].tolist())}."]),
        *_about_writers(chosen, part[complete], writers, attributes),
        scores(solution, trials),
    ]
    text = "\n\n".join(report) + "\n"
    return Files(public, private, text, warnings, solution, trials, sorted(tested), parameters)


class _Annotations(NamedTuple):
    """The annotated rows of a corpus, of which each is a segment."""

    # the used columns of these rows; the one that names the essays is called `ESSAY_ID`
    columns: dict[str, Column]
    discourse_type: Ints  # (n,) the type of each segment, as an index into the metric's types
    effective: Ints  # (n,) whether each segment is effective: 1, 0, or -1 if the corpus does not tell
    counts: dict[str, int]  # for the report, how many rows and essays there were and were dropped


def _annotations(corpus: Corpus, attributes: list[str]) -> _Annotations:
    """Check the corpus, and take its annotated rows."""
    columns = _check_columns(corpus, attributes)
    named, types, labels = columns[ESSAY_ID], columns[TYPE], columns[LABEL]
    named.check(named.mapped(len) == 0, "a value in every row")
    type_of = _spelled(types, (*TYPES, UNANNOTATED))
    label_of = _spelled(labels, (*EFFECTIVENESS, ""), AS_NUMBERS)
    annotated = np.flatnonzero(type_of < len(TYPES))
    if not len(annotated):
        raise HostError("the corpus has no annotated row")
    counts = {
        "rows": len(type_of),
        f"rows that are {UNANNOTATED}: dropped": len(type_of) - len(annotated),
        "essays without an annotated row: dropped": len(named.texts) - len(np.unique(named.codes[annotated])),
    }
    columns = {
        name: replace(column, codes=column.codes[annotated], rows=annotated) for name, column in columns.items()
    }
    effective = np.array([*EFFECTIVENESS.values(), -1])[label_of[annotated]]
    return _Annotations(columns, type_of[annotated], effective, counts)


def _essays(annotations: _Annotations, writers: list[str]) -> tuple[pd.DataFrame, Ints]:
    """Make the table of essays, in the order of their ids, and tell the essay of each segment, (n,)."""
    columns = annotations.columns
    named = columns[ESSAY_ID]
    essay, ids = pd.factorize(np.array(named.texts, dtype=object)[named.codes], sort=True)
    first_row = np.unique(essay, return_index=True)[1]
    of_essays = {
        name: _of_essays(columns[name], essay, first_row) for name in (*writers, TEXT) if name in columns
    }
    return text_table({ESSAY_ID: ids.tolist(), **of_essays}), essay


def _complete_segments(
    annotations: _Annotations, essay: Ints, essays: int
) -> tuple[Any, Bools, dict[str, int]]:
    """Take the segments of the complete essays, without overlaps.

    Also tell which essays are complete, (essays,), and count for the report what was left out or changed.
    """
    found = _words(annotations.columns)
    first, last, beyond = found.first, found.last, found.beyond
    effective = annotations.effective
    complete = np.ones(essays, dtype=bool)
    complete[essay[(effective < 0) | (last < first) | beyond]] = False
    if not complete.any():
        raise HostError("every essay of the corpus lacks the effectiveness or the words of a segment")
    metric = unified()
    every = metric.Segments(
        essay, first, last, annotations.discourse_type, effective.astype(np.float64), np.arange(len(essay))
    )
    given = every.take(complete[essay])
    kept = metric.remove_overlaps(given)
    counts = {
        "segments without effectiveness": int((effective < 0).sum()),
        "segments without words": int((last < first).sum()),
        BEYOND: int(beyond.sum()),
        "essays with such a segment: left out": int((~complete).sum()),
        **found.counts,
        "segments that overlap an earlier one: trimmed": int((kept.first > first[kept.row]).sum()),
        "segments with at most one word left: discarded": len(given.row) - len(kept.row),
        TWICE: _repeated(given),
    }
    return kept, complete, counts


def _warnings(counts: Mapping[str, int], segments: int, essays: int, named: str) -> list[str]:
    """List what the host should look at; `named` is the column that names the essays."""
    warnings = [f"{what}: {counts[what]:,}" for what in WARNED if counts[what]]
    if segments < FEW_SEGMENTS * essays:
        few = f"{segments:,} segments in {essays:,} essays"
        warnings.insert(0, f"{few}: does {named} name the essays, or their segments?")
    return warnings


def _of_columns(corpus: Corpus, chosen: pd.DataFrame) -> list[str]:
    """Say which texts are missing, and whether the effectiveness is."""
    warnings = []
    if TEXT not in chosen:
        warnings.append(f"the corpus has no column {TEXT}: put the texts of the essays into public/ yourself")
    elif empty := sum(not text for text in chosen[TEXT].tolist()):
        warnings.append(f"{TEXT} is empty in {counted(empty, 'essay')}: participants get no text there")
    if LABEL not in corpus.columns:
        warnings.append(
            f"the corpus has no {LABEL}: every segment counts as {UNTOLD}, written as {EFFECTIVENESS[UNTOLD]}, "
            f"which tells nothing; {PROBABILITIES[1]} is best always 1"
        )
    return warnings


def _drawn(
    chosen: pd.DataFrame, attributes: list[str], writers: list[str], draw: Draw
) -> tuple[Texts, str, int]:
    """Draw the part of each essay, say how, and count the essays with the text of another one.

    Essays with the same text, but for white space, go to the same part. If the corpus has no texts, an essay's
    id is used instead of it.
    """
    names = twins = chosen[ESSAY_ID].tolist()
    if TEXT in chosen:
        twins = [" ".join((text or "").split()) or name for text, name in zip(chosen[TEXT], names)]
    by = [*attributes, *([PROMPT] if PROMPT in writers and PROMPT not in attributes else [])]
    strata = [tuple(value or "" for value in values) for values in chosen[by].to_numpy().tolist()]
    parts = splitting.split(names, strata, twins, draw.test_share, draw.public_share, draw.seed)
    how = (
        f"Drawn with seed {draw.seed}: {draw.test_share:g} of the essays are for the test, and "
        f"{draw.public_share:g} of those are Public."
    )
    return parts, how, len(names) - len(set(twins))


def _as_split(annotations: _Annotations, chosen: pd.DataFrame, draw: Draw) -> tuple[Texts, str]:
    """Take the part of each essay from a column of the corpus, and say so."""
    splitting.check_ways(draw.split, draw)
    if given := annotations.columns.get(draw.split):
        given.check(given.mapped(len) == 0, "the part of the essay in every row")
    parts, text = splitting.as_split(chosen, draw.split, chosen[ESSAY_ID].to_numpy(), draw)
    if TRAIN not in parts:
        raise HostError(f"{draw.split}: expected essays to learn from, found none")
    return parts, " ".join(text)


def _is_tested(part: Texts) -> Bools:
    """Whether participants answer for each essay; an essay that was left out has no part."""
    return np.asarray((part != TRAIN) & (part != ""))


def _about_writers(chosen: pd.DataFrame, part: Texts, writers: list[str], attributes: list[str]) -> list[str]:
    """Write the report's sections about the writers: missing values, sub-populations, and small ones."""
    missing = chosen[writers].isna().sum().to_dict()
    sizes = _subpopulations(chosen, part, attributes)
    return [
        section("Missing, in essays", ("attribute", "missing"), missing.items()),
        section("Sub-populations, in essays", ("attribute", "value", TRAIN, *PARTS), sizes),
        *_small(sizes),
    ]


def _check_columns(corpus: Corpus, attributes: list[str]) -> dict[str, Column]:
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
        required += [*OFFSETS, TEXT]
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


def _spelled(column: Column, known: tuple[str, ...], spellings: Mapping[str, str] = {}) -> Ints:
    """Find the index of each value among the known ones."""
    index = {text: number for number, text in enumerate(known)}
    numbers = column.mapped(lambda text: index.get(spellings.get(text, text), -1))
    words = ", ".join(filter(None, known))
    column.check(numbers < 0, f"one of {words}")
    return numbers


def _of_essays(column: Column, essay: Ints, first_row: Ints) -> list[str | None]:
    """Get the value of each essay, which all of its rows must share; None if it is missing."""
    codes = column.codes[first_row]
    column.check(column.codes != codes[essay], "one value per essay, that of its first row")
    return [column.texts[code] or None for code in codes.tolist()]


class _Found(NamedTuple):
    """The words of each segment, (n,)."""

    first: Ints
    last: Ints  # before the first one if the segment has none
    beyond: Bools  # whether there are words beyond the text
    counts: dict[str, int]  # for the report: of segments that were cut, or that say different things


def _words(columns: dict[str, Column]) -> _Found:
    """Find the words of each segment, and hold against each other what the corpus says of them."""
    rows = len(columns[TYPE].codes)
    first, last, beyond = np.zeros(rows, dtype=int), np.full(rows, -1), np.zeros(rows, dtype=bool)
    counts: dict[str, int] = {}
    if {*OFFSETS, TEXT} <= columns.keys():
        first, last, counts = _words_of_characters(columns)
    if WORDS in columns:
        column = columns[WORDS]
        firsts, lasts = unified().parse_predictionstrings([text or "0" for text in column.texts])
        given_first, given_last = firsts[column.codes], lasts[column.codes]
        column.check(given_last < 0, "positions such as '45 46 47', counted from 0, without a gap")
        given_last = np.where(column.mapped(len) == 0, -1, given_last)
        if TEXT in columns:
            words = columns[TEXT].mapped(lambda text: len(text.split()))
            beyond = (words > 0) & (given_last >= words)
        both = (given_last >= given_first) & (last >= first)
        counts[DIFFERENT] = int((both & ((first != given_first) | (last != given_last))).sum())
        first, last = given_first, given_last
    if QUOTE in columns:
        counts[CONTRADICTED] = _contradicted(columns, first, np.where(beyond, -1, last))
    return _Found(first, last, beyond, {CUT: 0, COUNTED: 0, DIFFERENT: 0, CONTRADICTED: 0} | counts)


def _words_of_characters(columns: dict[str, Column]) -> tuple[Ints, Ints, dict[str, int]]:
    """Find the words of each segment by its characters, and count what is said of these in the report."""
    start, end = (_offsets(columns[name]) for name in OFFSETS)
    located = (start >= 0) & (end >= 0)
    columns[OFFSETS[1]].check(located & (end <= start), f"more than {OFFSETS[0]}")
    text = columns[TEXT]
    counted_otherwise = 0
    if QUOTE in columns:
        start, end, counted_otherwise = _as_quoted(columns, start, end, located)
    first, last = np.zeros_like(start), np.full_like(start, -1)
    rows = np.flatnonzero(located)
    first[rows], last[rows] = word_positions(text.texts, text.codes[rows], start[rows], end[rows])
    cut = int((located & (end > text.mapped(len))).sum())
    return first, last, {CUT: cut, COUNTED: counted_otherwise}


def _as_quoted(columns: dict[str, Column], start: Ints, end: Ints, located: Bools) -> tuple[Ints, Ints, int]:
    """Take the characters as the quotes of an essay say that they are counted, and count what was changed."""
    text, quote = columns[TEXT], columns[QUOTE]

    def is_right(row: int) -> bool:
        said = quote.texts[quote.codes[row]]
        return not said or said == text.texts[text.codes[row]][start[row] : end[row]]

    doubtful = {text.codes[row] for row in np.flatnonzero(located).tolist() if not is_right(row)}
    start, end, changed = start.copy(), end.copy(), 0
    for code in doubtful:
        rows = np.flatnonzero(located & (text.codes == code))
        places = [
            Place([(start[row], end[row])], quote.texts[quote.codes[row]] or None, "") for row in rows.tolist()
        ]
        with contextlib.suppress(ValueError):  # A place lies beyond the text.
            found = AnnotatedText(text.texts[code], wrote=True).find([places])[0]
            if sum(each.is_true for each in found) <= len(found) / 2:
                continue
            for row, each in zip(rows.tolist(), found):
                if each.is_true and each.ends != [(start[row], end[row])]:
                    (start[row], end[row]), changed = each.ends[0], changed + 1
    return start, end, changed


def _contradicted(columns: dict[str, Column], first: Ints, last: Ints) -> int:
    """Count the segments that quote other words than theirs; refuse the corpus if they are many."""
    quote = columns[QUOTE]
    text = columns.get(TEXT, replace(quote, texts=[""], codes=np.zeros_like(quote.codes)))
    rows = np.flatnonzero((last >= first) & (quote.mapped(len) > 0))
    wrong = list[tuple[str, str, int]]()
    for code, some in by_essay(text.codes[rows]):  # The words of all texts at once would take much memory.
        words = text.texts[code].split()
        for row in rows[some].tolist():
            said, number = quote.texts[quote.codes[row]], int(last[row] - first[row]) + 1
            here = words[first[row] : last[row] + 1]
            if words and not _are_quoted(said, here):
                wrong.append((said, repr(" ".join(here)[:CHARACTERS_SHOWN]), row))
            elif not words and abs(len(said.split()) - number) > 1:  # A word may be cut at each end.
                wrong.append((said, counted(number, "word"), row))
    if len(wrong) > MOST_CONTRADICTED * len(rows):
        # Where places drift apart within a text, the first ones begin alike.
        said, found, row = next((each for each in wrong if not each[0].startswith(each[1][1:2])), wrong[0])
        raise HostError(
            f"{QUOTE}: expected the words of each segment, found others in {len(wrong):,} of "
            f"{counted(len(rows), 'segment')}, such as {said[:CHARACTERS_SHOWN]!r} where the positions of row "
            f"{quote.rows[row] + 1:,} lead to {found}: are they positions of other texts? If they are right, "
            f"leave {QUOTE} out"
        )
    return len(wrong)


def _are_quoted(quote: str, words: list[str]) -> bool:
    """Whether a quote has these words; of the first and the last one it may have a part."""
    said = "".join(quote.split())
    return "".join(words[1:-1]) in said and said in "".join(words)


def _offsets(column: Column) -> Ints:
    """Read positions of characters; a missing one is -1."""

    def number(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,9}(\.0*)?", text):
            return int(text.partition(".")[0])
        return -2 if text else -1

    numbers = column.mapped(number)
    column.check(numbers == -2, "a whole number, at least 0")
    return numbers


def _tables(
    segments: Any, essays: pd.DataFrame, writers: list[str], part: Texts
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Make the public and the private tables; `part` has the part of each essay, "" if it was left out."""
    columns = _columns(segments, essays, segments.essay, slice(None))
    columns[LABEL] = segments.d1.astype(np.int64).tolist()
    columns |= essays[writers].iloc[segments.essay].to_dict("list")
    columns[USAGE] = part[segments.essay].tolist()
    table = text_table(columns)
    tested = part[segments.essay] != TRAIN
    solution = table[tested].reset_index(drop=True)
    perfect = solution[[ROW_ID, ESSAY_ID, TYPE, WORDS]].copy()
    for column, value in zip(PROBABILITIES, (1 - solution[LABEL], solution[LABEL])):
        perfect[column] = value.astype(object)
    public = {LEARNED: table[~tested].drop(columns=USAGE).reset_index(drop=True)}
    if TEXT in essays:
        for name, chosen in (("train_essays.csv", part == TRAIN), ("test_essays.csv", _is_tested(part))):
            public[name] = essays.loc[chosen, [ESSAY_ID, TEXT]].reset_index(drop=True)
    public[SAMPLE] = _sample(segments, essays, part)
    return public, {SOLUTION: solution, PERFECT: perfect}


def _columns(segments: Any, essays: pd.DataFrame, essay: Ints, rows: Ints | slice) -> dict[str, list[Any]]:
    """Make the columns that a solution and a submission share, with the segments of `rows` in these essays."""
    number_in_essay = np.arange(len(essay)) - np.searchsorted(essay, essay) + 1
    ids = essays[ESSAY_ID].to_numpy()[essay].tolist()
    return {
        ROW_ID: [f"{name}:{number}" for name, number in zip(ids, number_in_essay.tolist())],
        ESSAY_ID: ids,
        TYPE: [TYPES[number] for number in segments.discourse_type[rows].tolist()],
        WORDS: predictionstrings(segments.first[rows], segments.last[rows]),
    }


def _sample(segments: Any, essays: pd.DataFrame, part: Texts) -> pd.DataFrame:
    """Make the sample submission from public files alone.

    Each essay of the test gets the segments of the training essay with the nearest length. The probability of
    effective is the share of effective training segments of the type.
    """
    training, tested = np.flatnonzero(part == TRAIN), np.flatnonzero(_is_tested(part))
    if TEXT in essays:
        length = np.array([len((text or "").split()) for text in essays[TEXT]])
        lengths, first = np.unique(length[training], return_index=True)
        models = training[[first[np.abs(lengths - each).argmin()] for each in length[tested]]]
    else:  # Without texts there is no length, so training essays are taken in turn.
        models = training[np.arange(len(tested)) % len(training)]
    starts = np.searchsorted(segments.essay, np.arange(len(essays) + 1))
    of_models = [np.arange(starts[model], starts[model + 1]) for model in models.tolist()]
    rows = np.concatenate(of_models)
    trained = part[segments.essay] == TRAIN
    kinds = len(TYPES)
    number = np.bincount(segments.discourse_type[trained], minlength=kinds)
    effective = np.bincount(segments.discourse_type[trained], segments.d1[trained], minlength=kinds)
    d1 = (effective / np.maximum(number, 1)).round(2)[segments.discourse_type[rows]]
    probabilities = ([f"{value:.2f}" for value in values] for values in (1 - d1, d1))
    essay = np.repeat(tested, list(map(len, of_models)))
    columns = _columns(segments, essays, essay, rows)
    return text_table(columns | dict(zip(PROBABILITIES, probabilities)))


def _repeated(segments: Any) -> int:
    """Count the segments with the words and the type of an earlier one in the same essay."""
    same = np.stack([segments.essay, segments.first, segments.last, segments.discourse_type])
    return int(same.shape[1] - np.unique(same, axis=1).shape[1])


def _subpopulations(essays: pd.DataFrame, part: Texts, attributes: list[str]) -> list[list[Any]]:
    """List the sub-populations: attribute, value, and the numbers of essays in each part."""
    rows, missing = [], unified().MISSING
    for attribute in attributes:
        sizes = pd.crosstab(essays[attribute].fillna(missing), part).reindex(
            columns=[TRAIN, *PARTS], fill_value=0
        )
        for value in sorted(sizes.index, key=lambda value: (value == missing, value)):
            rows.append([attribute, value, *map(int, sizes.loc[value])])
    return rows


def _small(sizes: list[list[Any]]) -> list[str]:
    """Write the report's paragraph about sub-populations that are too small."""
    small = [
        f"* {attribute} = {value}: {number:,} {name} essays"
        for attribute, value, _, *numbers in sizes
        for name, number in zip(PARTS, numbers)
        if number < SMALL_SUBPOPULATION
    ]
    why = f"Too small for the softmin (fewer than {SMALL_SUBPOPULATION} essays): a low score by chance "
    return [f"{why}gets a large weight.", "\n".join(small)] if small else []
