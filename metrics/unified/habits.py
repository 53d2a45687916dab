"""Recognize frequent mistakes in the files of participants, and say how to correct them.

`diagnose` explains a rejected submission and says what to write instead. The functions whose names begin with
`of_` notice what the metric accepts although it is probably not intended. A mistake is a kind and a sentence.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.errors import SubmissionRejected
from podium.common.options import is_command
from podium.common.wording import counted, listed
from podium.metric.contract import PreparedSolution
from podium.scoring.evaluating import ALL
from podium.tables import ids

OTHER_NAMES = {"id": "essay_id", "class": "discourse_type"}
# With fewer matches, a habit cannot be told from chance.
FEW_MATCHES = 30
# Overlap removal may take this share of the predictions without a notice.
NOTABLE_LOSS = 0.02
# If more than this share of the rows are single words that continue the row before, rows are words, not
# segments.
SINGLE_WORDS = 0.5
# If more than this share of the predictions begin behind all true segments, their positions do not count words.
BEYOND = 0.5
FEW_SEGMENTS = 30
# So many segments must begin at word 1, and none at word 0, before positions seem to be counted from 1.
FEW_FIRST = 10

# The number behind a name, with what separates it. Neither begins within a run of its own characters, so that
# each is read once.
NUMBER_BEHIND = re.compile(r"(?<![\s_-])[\s_-]++\d++$|(?<![\s_\d-])\d++$")

# How participants write a predictionstring instead of "45 46 47", and what to do about it.
SPELLINGS = (
    (re.compile(r"^\s*+(nan|none|null|n/?a|<na>)?\s*$", re.IGNORECASE), "leave out rows with nothing"),
    (
        re.compile(r"(?m)^[^\[\n]*\[.*\d\s*\.\.\.\s*\d"),
        "join all positions, which numpy has shortened and lost,",
    ),
    (re.compile(r"range\("), "list every position instead of a range"),
    (re.compile(r"[\[\](){}]|^['\"]\d"), "leave out brackets and quotes"),
    (re.compile(r"[^\W\d]{2}"), "write positions of words, not the words themselves,"),
    (re.compile(r"(^|\s)-1(\s|$)"), "leave out -1, which marks a token that is not a word,"),
    (re.compile(r"\d\s*[-–:…]\s*\d|\.\."), "list every position instead of a range"),
    (re.compile(r"[,;|]"), "separate positions by single spaces, not by commas"),
    (re.compile(r"\d\.\d"), "write whole numbers, without a decimal point"),
    (re.compile(r"(^|\s)0\d"), "leave out zeros in front of numbers"),
    (re.compile(r"\d[^\S ]\d"), "separate positions by single spaces, not by tabs or line ends"),
    (re.compile(r"\s{2}|^\s|\s$"), "separate positions by single spaces, with none at the ends"),
)
# How participants write probabilities, and what to do about it.
NUMBERS = (
    (re.compile(r"^\s*\d*,\d+\s*$"), "write decimals with a point instead of a comma"),
    (re.compile(r"\d\s*%"), "write shares of 1 instead of percentages"),
)
SCORED = {"discourse_type", "predictionstring"} | {f"score_discourse_effectiveness_{d}" for d in (0, 1)}
LONGEST_SHOWN = 40  # characters of a cell
# If more than this share of the essays have no prediction, and of the predicted ones are unknown, ids changed.
OTHER_VERSION = 0.1

FROM_ONE, SHIFTED = "positions counted from 1", "positions one word away"  # kinds of mistakes

Mistakes = list[tuple[str, str]]


def recognize(
    frame: pd.DataFrame, row_id: str, effectiveness: float | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Rename the columns of the Feedback Prize to those of this metric."""
    names = {old: new for old, new in OTHER_NAMES.items() if old in frame and new not in frame}
    notices = [f"the column {old} is taken for {new}" for old, new in names.items()]
    own = ", ".join(map(str, frame))
    frame = frame.rename(columns=names)
    if effectiveness is not None:
        d = (1 - effectiveness, effectiveness)
        frame = frame.assign(score_discourse_effectiveness_0=d[0], score_discourse_effectiveness_1=d[1])
    elif "predictionstring" in frame and not any(
        _bare_column(name).startswith("scorediscourse") for name in frame
    ):
        raise SubmissionRejected(
            "add the columns score_discourse_effectiveness_0 and score_discourse_effectiveness_1; 0.5 in both"
            f"{', or --effectiveness 0.5,' if is_command() else ''} scores the segmentation alone. The "
            f"submission has {_shown(own, 100)}"
        )
    is_scored = SCORED.issubset(frame) and len(frame.columns) > len(SCORED)  # else the metric lists what it has
    if is_scored and row_id not in frame and row_id not in OTHER_NAMES.values():
        # Lines count from 1, and the first one is the header. A column that is scored is never made up, even if
        # it names the rows.
        frame = frame.assign(**{row_id: [f"of line {line}" for line in range(2, len(frame) + 2)]})
    return frame, notices


def diagnose(solution: PreparedSolution, submission: pd.DataFrame) -> str | None:
    """Say what to write instead in a rejected submission with a known mistake."""
    metric = solution.metric.module
    prepared: Any = solution.prepared[ALL]  # of the class in the metric file
    essay_id = prepared.essay_id_column_name
    names = [essay_id, "discourse_type", "predictionstring"]
    # The metric checks in this order. The first fault ends the search, so that both speak of the same one.
    cures: tuple[Callable[[], str | None], ...] = (
        lambda: _cure_of_columns(submission, names, metric),
        lambda: _cure_of_types(_texts(submission, "discourse_type"), metric.DISCOURSE_TYPES),
        lambda: _cure_of_words(_texts(submission, "predictionstring"), metric),
        lambda: _cure_of_probabilities([_texts(submission, name) for name in metric.PROBABILITY_COLUMNS]),
        lambda: _cure_of_essays(_texts(submission, essay_id), essay_id, prepared.items),
    )
    for cure in cures:
        said = cure()
        if said is not None:
            return said or None  # "" is a fault without a cure
    return None


def _cure_of_columns(table: pd.DataFrame, names: Sequence[str], metric: Any) -> str | None:
    """Say which columns to rename or to add; "" if only the metric can tell, None if no column lacks."""
    probabilities = metric.PROBABILITY_COLUMNS
    lacking = [name for name in (*names, *probabilities) if name not in table]
    renamed = [f"{old!r} to {new!r}" for old, new in _other_columns(table, lacking)]
    if len(renamed) == 1:
        return f"rename the column {renamed[0]}"
    if renamed:
        return f"rename {len(renamed)} columns: {listed(renamed, 3)}"
    if not set(map(str, table)).isdisjoint(metric.DISCOURSE_TYPES):
        return f"begin the file with a line of column names: {', '.join(lacking)}"
    if len(lacking) == 1 and lacking[0] in probabilities:
        other = next(name for name in probabilities if name != lacking[0])
        return f"add the column {lacking[0]}, which is 1 minus {other}"
    return "" if lacking else None


def _cure_of_types(given: list[str], types: Sequence[str]) -> str | None:
    """Say how the metric spells an unknown type; "" if only the metric can tell, None if all are known."""
    unknown = [name for name in dict.fromkeys(given) if name not in types]
    if "discourse_type" in unknown:
        row = given.index("discourse_type") + 1
        return f"leave out the line of column names that is repeated in row number {row}"
    if unknown and unknown[0] in ("O", "0"):
        return f"leave out the rows of type {unknown[0]!r}, which stands for words outside of all segments"
    for name in unknown:
        right = _other_spelling([NUMBER_BEHIND.sub("", re.sub("^[BIES][-_]", "", name))], types)
        if right is not None:
            return f"write {right[1]!r} in discourse_type, found {_shown(name)!r}"
    return "" if unknown else None


def _cure_of_words(cells: list[str], metric: Any) -> str | None:
    """Say how to write the first wrong predictionstring; "" if only the metric can tell, else None."""
    _, last = metric.parse_predictionstrings(cells)
    wrong = np.flatnonzero(last < 0).tolist()
    if not wrong:
        return None
    cell = cells[wrong[0]]
    cure = next((cure for pattern, cure in SPELLINGS if pattern.search(cell)), _cure_of_order(cell))
    if cure is None:
        return ""
    more = f" and in {counted(len(wrong) - 1, 'other row')}" if len(wrong) > 1 else ""
    return (
        f"{cure} in predictionstring: '45 46 47' is right, found {_shown(cell)!r} in row number "
        f"{wrong[0] + 1}{more}"
    )


def _cure_of_order(cell: str) -> str | None:
    """Say what to do if a cell has whole numbers in another order than one by one."""
    if not re.fullmatch(r"(0|[1-9]\d{0,4})( (0|[1-9]\d{0,4}))+", cell):
        return None
    numbers = list(map(int, cell.split()))
    if len(numbers) == 2 and numbers[0] < numbers[1]:
        return "list all positions, not only the first and the last,"
    if len(set(numbers)) < len(numbers):
        return "list every position once"
    if max(numbers) - min(numbers) == len(numbers) - 1:
        return "put the positions into ascending order"
    return "fill the gaps, or write one row for each stretch without a gap,"


def _cure_of_probabilities(columns: Sequence[list[str]]) -> str | None:
    """Say how to turn what stands in the columns of probabilities into probabilities."""
    for cell in dict.fromkeys(cell for cells in columns for cell in cells):
        for pattern, cure in NUMBERS:
            if pattern.search(cell):
                return f"{cure}, found {_shown(cell)!r}"
    if len({len(cells) for cells in columns}) > 1:  # one of the columns lacks
        return None
    numbers = np.array([[_number(cell) for cell in cells] for cells in columns])
    outside = ~((numbers >= 0) & (numbers <= 1)) & np.isfinite(numbers)
    if not outside.any():
        return None
    if np.allclose(numbers.sum(axis=0), 100, atol=1):
        return "divide the two probabilities by 100, because they have to sum to 1"
    return f"give probabilities, such as the softmax of logits, found {numbers[outside][0]:g}"


def _cure_of_essays(given: list[str], essay_id: str, items: Sequence[str]) -> str | None:
    """Say which ids the solution has, if the submission has none of them."""
    if not given or not set(given).isdisjoint(items):
        return None
    found = next(filter(ids.REWRITTEN.fullmatch, given), None)
    if found is not None:
        return f"format {essay_id} as text in the spreadsheet, which has rewritten it, such as {found!r}"
    other = _other_spelling(given, items)
    if other is not None:
        return f"spell {essay_id} as the solution does: {_shown(other[1])!r}, found {_shown(other[0])!r}"
    return f"take the essays of this solution, such as {_shown(items[0])!r}; found {_shown(given[0])!r}"


def of_file(prepared: Any, submission: pd.DataFrame, given: Any) -> Mistakes:
    """Notice mistakes in the rows of a submission."""
    mistakes = []
    essay_id = submission[prepared.essay_id_column_name]
    unknown = pd.unique(essay_id[given.essay < 0].astype(str)).tolist()
    other = _other_spelling(unknown, prepared.items)
    if other is not None:
        cure = f"spell {prepared.essay_id_column_name} as the solution does: {other[1]!r}, found {other[0]!r}"
        mistakes.append(("ids in another spelling", cure))
    known = given.take(given.essay >= 0)
    silent = len(prepared.items) - len(np.unique(known.essay))
    predicted = len(prepared.items) - silent + len(unknown)
    if silent > OTHER_VERSION * len(prepared.items) and len(unknown) > OTHER_VERSION * predicted:
        cure = (
            f"check that {prepared.essay_id_column_name} is of the same version as the solution: {silent:,} "
            f"essays of the solution have no prediction, and {len(unknown):,} others have one"
        )
        mistakes.append(("ids of another version", cure))
    columns = {"essay": known.essay, "type": known.discourse_type, "first": known.first, "last": known.last}
    repeated = int(pd.DataFrame(columns).duplicated().sum())
    if repeated > NOTABLE_LOSS * len(known.row):
        cure = (
            f"leave out rows that repeat another one: {repeated:,} of {counted(len(known.row), 'row')} have "
            "the essay, type and words of an earlier row"
        )
        mistakes.append(("repeated rows", cure))
    # A row continues the one before if both are one word, and these follow each other in the same essay and
    # type.
    goes_on = (
        (given.essay[1:] == given.essay[:-1])
        & (given.discourse_type[1:] == given.discourse_type[:-1])
        & (given.first[1:] == given.last[:-1] + 1)
        & (given.words[1:] == 1)
        & (given.words[:-1] == 1)
    )
    words = int(goes_on.sum())
    if words > SINGLE_WORDS * len(given.row):
        cure = (
            f"write one row per segment, with all of its positions in predictionstring: {words:,} of "
            f"{counted(len(given.row), 'row')} are a single word that continues the row before"
        )
        mistakes.append(("a row for each word", cure))
    return mistakes


def of_positions(prepared: Any, given: Any, matched: Any, truths: Any) -> Mistakes:
    """Notice positions that are not those of words, or that are shifted."""
    known = given.take(given.essay >= 0)
    end = np.full(len(prepared.items), -1)
    np.maximum.at(end, prepared.truths.essay, prepared.truths.last)
    beyond = int((known.first > end[known.essay]).sum())
    if len(known.row) >= FEW_SEGMENTS and beyond > BEYOND * len(known.row):
        cure = (
            f"count words instead of characters: {beyond:,} of {counted(len(known.row), 'prediction')} begin "
            "behind the last true segment of their essay"
        )
        return [("positions of characters", cure)]
    shifted = of_shifts(matched, truths)
    ends = matched.last - truths.last
    if shifted or int((ends == 0).sum()) > max(int((ends == 1).sum()), FEW_MATCHES):
        return shifted
    if not _counts_from_one(prepared.truths, known):
        return []
    cure = (
        f"count positions from 0: {int((known.first == 1).sum()):,} segments of the submission begin at "
        "word 1, and none at word 0"
    )
    return [(FROM_ONE, cure)]


def of_shifts(matched: Any, truths: Any) -> Mistakes:
    """Notice matches of which most begin or end one word late or early."""
    if len(matched.row) < FEW_MATCHES:
        return []
    starts, ends = matched.first - truths.first, matched.last - truths.last
    both = np.concatenate([starts, ends])
    for kind, shifts, where, shift, cure in (
        (FROM_ONE, both, "starts and ends", 1, "count positions from 0"),
        (SHIFTED, both, "starts and ends", -1, "add 1 to all positions"),
        (SHIFTED, starts, "starts", 1, "add the first word of each segment, which the predictions lack"),
        (SHIFTED, starts, "starts", -1, "leave out the word before each segment"),
        (SHIFTED, ends, "ends", 1, "leave out the last word of each segment"),
        (SHIFTED, ends, "ends", -1, "add the word behind each segment, which range(first, last) leaves out"),
    ):
        off, right = int((shifts == shift).sum()), int((shifts == 0).sum())
        if off - right > 3 * np.sqrt(off + right):  # more than three standard deviations of chance
            way = "late" if shift > 0 else "early"
            told = f"{cure}: among the {where} of matches, {off:,} are one word {way} and {right:,} are right"
            return [(kind, told)]
    return []


def of_probabilities(matched: Any, true_probability: npt.NDArray[np.float64]) -> Mistakes:
    """Notice probabilities of the label that a model has chosen, and columns that seem to be exchanged."""
    if len(matched.row) < FEW_MATCHES or np.ptp(matched.d1) == 0:
        return []
    if matched.d1.min() >= 0.5:
        return _of_top_labels(matched.d1, true_probability)
    if true_probability.mean() + 2 * true_probability.std() / np.sqrt(len(true_probability)) >= 0.5:
        return []
    cure = (
        "check whether score_discourse_effectiveness_0 and _1 are swapped: the true effectiveness has a "
        f"probability of {true_probability.mean():.2f} on average, less than a coin would give"
    )
    return [("swapped probabilities", cure)]


def _of_top_labels(d1: npt.NDArray[np.float64], true_probability: npt.NDArray[np.float64]) -> Mistakes:
    """Notice that no segment is taken for ineffective, while more of them are than the probabilities say."""
    ineffective = float((true_probability < 0.5).mean())
    if d1.mean() - (1 - ineffective) <= 3 * 0.5 / np.sqrt(len(d1)):  # three standard deviations of chance
        return []
    cure = (
        "give the probability of effective, and not that of the label that the model has chosen: no segment "
        f"has a probability below 0.5, although {ineffective:.0%} of {len(d1):,} matches are ineffective"
    )
    return [("probabilities of the chosen label", cure)]


def of_one_probability(prepared: Any, d1: float) -> list[str]:
    """Notice that all matches have the same probability of effective, unless that is always right."""
    if d1 in (0, 1) and (prepared.truths.d1 == d1).all():
        return []
    share = prepared.segment_weight + (1 - prepared.segment_weight) * 0.5
    most = f"; even a perfect segmentation scores {2 * share / (1 + share):.3f} at most" if d1 == 0.5 else ""
    return [f"say how effective each segment is: all of them have the probability {d1:g}{most}"]


def _counts_from_one(truths: Any, known: Any) -> bool:
    """Tell whether the first words of essays are nowhere in a submission, although the truth begins there."""
    true, given = (np.bincount(segments.first, minlength=2)[:2] for segments in (truths, known))
    return bool(given[0] == 0 and given[1] >= FEW_FIRST and true[0] >= true[1] and true[0] >= FEW_FIRST)


def _texts(table: pd.DataFrame, name: str) -> list[str]:
    """Write the cells of a column as texts, empty where one is missing; no texts if there is no such column.

    Any object may stand in a cell of a rejected submission.
    """
    if list(table.columns).count(name) != 1:
        return []
    return [_as_text(cell) for cell in table[name].astype(object).tolist()]


def _as_text(cell: object) -> str:
    """Write a cell as text, whole numbers without a decimal point."""
    if isinstance(cell, str):
        return cell
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return ""
    if isinstance(cell, float | np.floating):
        return "" if cell != cell else str(int(cell)) if float(cell).is_integer() else str(cell)
    try:
        return str(cell)
    except ValueError:  # Python refuses to write an integer of thousands of digits.
        return type(cell).__name__


def _number(cell: str) -> float:
    """Read a number; NaN if the text is none."""
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _shown(text: str, most: int = LONGEST_SHOWN) -> str:
    """Write the beginning of a text in one line."""
    text = " ".join(text.split("\n"))
    return text if len(text) <= most else text[:most] + "…"


def _bare_column(name: object) -> str:
    """Reduce the name of a column to its letters and digits."""
    return re.sub(r"[\W_]", "", str(name).casefold())


def _other_columns(table: pd.DataFrame, lacking: Sequence[str]) -> list[tuple[str, str]]:
    """List the columns of the table that are a lacking one but for case and separators, with its name."""
    known = {_bare_column(name): name for name in lacking}
    others = [(str(column), known.get(_bare_column(column))) for column in table]
    return [(column, name) for column, name in others if name is not None]


def _other_spelling(given: Sequence[str], right: Sequence[str]) -> tuple[str, str] | None:
    """Find the first text that equals a right one except for case, blanks and the like; return both of them."""
    if not given:  # There may be very many right ones.
        return None
    known = {_bare(text): text for text in right}
    return next(((text, known[_bare(text)]) for text in given if _bare(text) in known), None)


def _bare(text: str) -> str:
    """Remove what programs change in a text: case, blanks, folders, suffixes, leading zeros, quotes."""
    bare = re.sub(r"^.*[/\\]|\.(txt|csv|json|0)$", "", text.strip().strip("'\"").casefold())
    return re.sub(r"[\s_-]+", " ", bare).lstrip("0")
