"""Make the files of a competition: draw its parts, make the files from official labels, and write them.

The drawing depends on the seed and the ids alone. It is the same on every machine and for every order of the
rows.
"""

import shutil
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.contest import reading, recorded, way
from podium.contest.recorded import PRIVATE, RECORD, Record
from podium.hosting import balance, columns, leaks, order, round_trip, samples, starter
from podium.hosting.balance import Balance
from podium.hosting.folders import (
    LEARNED,
    METRIC,
    PERFECT,
    PUBLIC,
    REPORT,
    SAMPLE,
    SOLUTION,
    TEST,
    Files,
    Trial,
    as_texts,
    new_folder,
    read_csv,
    scores,
    section,
    text_table,
    tried,
    written_rows,
)
from podium.hosting.kaggle import acceptance
from podium.metric import hosted, shapes
from podium.metric.hosted import Metric
from podium.scoring import evaluating
from podium.scoring.evaluating import PARTS, USAGE
from podium.tables import ids
from podium.tables.files import ReadFile, read_once
from podium.tables.formats import csv_bytes
from podium.words.arrays import Bools, Floats, Ints
from podium.words.errors import HostError, ToolError, UsageError
from podium.words.wording import counted

TRAIN = "train"
TEXT = "text"
NEW_IDS = "new_ids.csv"
ONE_BOARD = "For one board alone, give the labels a column Usage that says Public in every row."
NO_ITEMS = (
    "The metric has no prepare(), so each row was drawn by itself. If rows belong together, such as those of "
    "one patient, name the column that says so by --items, or choose the parts in a column Usage of the labels."
)
IDS_ALONE = (
    f"Participants get the ids of the test set and nothing else about it: {PUBLIC}/ has no {TEST}. Name the "
    "columns of the labels that they may know, such as features, by --public-columns."
)
ALLOWED = "of labels, all may know the columns that --public-columns names"

Strata = Sequence[tuple[str, ...]]
Texts = npt.NDArray[np.object_]


def split(
    items: Sequence[str],
    strata: Strata,
    twins: Sequence[str],
    test_share: float,
    public_share: float,
    seed: int,
    balanced: Balance | None = None,
) -> npt.NDArray[np.object_]:
    """Draw the part of each item, with the same shares in each stratum, or balanced ones."""
    leaders: dict[str, int] = {}
    for item in sorted(range(len(items)), key=items.__getitem__):
        leaders.setdefault(twins[item], item)
    names = [items[item] for item in leaders.values()]
    groups = [strata[item] for item in leaders.values()]
    share: float | Floats = test_share
    if balanced is not None:
        cells = [balanced.cells[name] for name in names]
        share = balance.shares(cells, test_share)
        groups = [(*cell, *group) for cell, group in zip(cells, groups)]
    part = np.full(len(names), TRAIN, dtype=object)
    test = np.flatnonzero(drawn(names, groups, share, f"{seed} test"))
    of_test = [names[item] for item in test], [groups[item] for item in test]
    part[test] = np.where(drawn(*of_test, public_share, f"{seed} public"), *PARTS)
    needed = [TRAIN, *PARTS] if test_share < 1 else PARTS
    absent = [name for name in needed if name not in part]
    if absent:
        raise HostError(
            f"expected enough items to split, found {len(names):,}: none is left for {' and '.join(absent)}; "
            "give more items, or another share by --public or --test"
        )
    of_twins = dict(zip(leaders, part))
    return np.array([of_twins[twin] for twin in twins], dtype=object)


def drawn(items: Sequence[str], strata: Strata, share: float | Floats, seed: str) -> Bools:
    """Draw a share of each stratum, which may be another one for each.

    The items are ordered by hashes of their ids, because the random numbers of a library may change between
    versions.

    >>> drawn(["a", "b", "c", "d"], [("x",), ("x",), ("y",), ("y",)], 0.5, "0").tolist()
    [True, False, False, True]
    """

    in_order = sorted(range(len(items)), key=lambda item: (strata[item], order.chance(seed, items[item])))
    start = int.from_bytes(order.chance(seed, "")[:6]) / 2**48
    chosen = np.zeros(len(items), dtype=bool)
    # Along this order the shares are added up, and each item at which the sum passes a whole number is drawn.
    # So every stratum gets its share, up to one item.
    if isinstance(share, np.ndarray):
        added = np.concatenate([[0.0], np.cumsum(share[in_order])])
    else:
        added = np.arange(len(items) + 1) * share
    chosen[in_order] = np.diff(np.floor(added + start)) > 0
    return chosen


class Draw(NamedTuple):
    """How the rows of labels are drawn."""

    seed: int
    public_share: float = 0.3  # of the items of the test set
    test_share: float = 1.0  # of all items; the others are published with their labels, to learn from
    items: str = ""  # a column, which may be known; rows with the same value in it stay together
    new_ids: bool = False  # whether the rows get other ids
    balanced: Sequence[str] = ()  # columns whose groups get shares that are as equal as they can be


class Labeled(NamedTuple):
    """Labels whose rows were drawn."""

    labels: pd.DataFrame  # without the column `Usage`
    cells: pd.DataFrame  # the same, as they are to be written
    items: Texts  # (rows,) the item of each row
    parts: Texts  # (rows,) the part of each row

    def taken(self, rows: Ints) -> "Labeled":
        """Take the rows with these numbers."""
        labels, cells = (table.iloc[rows].reset_index(drop=True) for table in (self.labels, self.cells))
        return Labeled(labels, cells, self.items[rows], self.parts[rows])

    def of(self, *parts: str) -> "Labeled":
        """Take the rows of some parts."""
        return self.taken(np.flatnonzero(np.isin(self.parts, parts)))


class Sample(NamedTuple):
    """A sample submission."""

    frame: pd.DataFrame
    cells: pd.DataFrame  # the same, as they are to be written

    def taken(self, rows: npt.NDArray[Any]) -> "Sample":
        """Take the rows with these numbers."""
        return Sample(*(table.iloc[rows].reset_index(drop=True) for table in self))


def make_files(
    metric: Metric,
    path: str | Path,
    sample: str | Path | None,
    draw: Draw,
    parameters: Mapping[str, Any] = {},
    public_columns: Sequence[str] = (),
) -> Files:
    """Make the files of a competition from official labels; participants get the public columns, too."""
    arguments = dict(parameters)
    everything, row_id, told = _drawn(metric, path, arguments, draw)
    names = order.renamed(everything.labels[row_id], draw.seed) if draw.new_ids else {}
    everything = _renamed(everything, row_id, names)
    known = _known(everything.labels, metric.companion.public_columns, public_columns)
    learned, tested = everything.of(TRAIN), everything.taken(np.flatnonzero(everything.parts != TRAIN))
    solution = _prepared(metric, tested, arguments)
    shown = _sample(solution, tested, learned, sample, row_id, {TEXT, draw.items, *known}, names)
    solution, tested, shown, kept = _in_order(solution, tested, shown, row_id, draw.seed)
    learned = learned if kept else _shuffled(learned, row_id, draw.seed)
    perfect, errors = _right_and_wrong(metric, tested, shown, row_id)
    trials = tried(solution, draw.seed, shown.frame, perfect, acceptance.refusals)
    told += [f"The rows keep their order, because {kept}."] if kept else []
    report = _report(told, everything, draw, solution, trials)
    public = {SAMPLE: shown.cells} | _public(tested, learned, row_id, known)
    if TEST not in public and not metric.is_own:
        report.append(IDS_ALONE)
    return Files(
        public,
        _private(tested, None if perfect is None else as_texts(perfect, metric), names),
        "\n\n".join(report) + "\n",
        [*solution.notices, *([] if kept else _doubts(tested, row_id, shown, metric))],
        solution,
        [*trials, Trial("a submission with errors", errors)],
        sorted(set(everything.items)),
        arguments,
        [*known, *([draw.items] if draw.items and draw.items not in known else [])],
        draw.items,
    )


def _report(
    told: list[str], everything: Labeled, draw: Draw, solution: evaluating.Solution, trials: list[Trial]
) -> list[str]:
    """The paragraphs of the report."""
    return [
        "# The competition's files",
        *told,
        _counts(everything, draw.items),
        scores(solution, trials),
        *_balanced(everything, draw, solution, trials[0]),
        f"`{solution.signature}`",
    ]


def _balanced(everything: Labeled, draw: Draw, solution: evaluating.Solution, trial: Trial) -> list[str]:
    """Say what balanced groups do, if there are any."""
    if not draw.balanced:
        return []
    groups = balance.of_table(everything.labels, everything.items.tolist(), draw.balanced)
    return balance.report(groups, solution, set(everything.of(*PARTS).items), trial)


def _drawn(
    metric: Metric, path: str | Path, arguments: dict[str, Any], draw: Draw
) -> tuple[Labeled, str, list[str]]:
    """Read official labels and draw the part of each row.

    Returns the column of the row ids, too, and what the report says of the parts.
    """
    source = read_once(path)
    labels = reading.read_solution(metric, source, arguments)
    row_id = str(arguments.get("row_id_column_name") or evaluating.row_ids(metric, labels))
    labels = _with_ids_first(metric, labels, row_id)
    items, parts, told = _parts(metric, labels, arguments, row_id, draw)
    told += [labels.attrs[reading.READ]] if reading.READ in labels.attrs else []
    everything = labels.drop(columns=USAGE, errors="ignore")
    cells = as_texts(everything, metric, source)
    return Labeled(everything, cells, items, parts), row_id, told


def _with_ids_first(metric: Metric, labels: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """Put the column of ids first, where every reader looks for it, and refuse an id twice."""
    columns.require(labels, [row_id], "the labels")
    texts = ids.texts(labels[row_id])
    twice = np.flatnonzero(texts.duplicated(keep=False))
    if len(twice) and not (metric.is_own or metric.prepare or metric.complete_submission):
        found = f"{texts.iloc[twice[0]]!r} in {counted(int((texts == texts.iloc[twice[0]]).sum()), 'row')}"
        cure = "should the metric file say COMPLETE_SUBMISSION = True?"
        raise HostError(f"{row_id}: expected one row per id in the labels, found {found}; {cure}")
    return labels[[row_id, *(name for name in labels if name != row_id)]]


def _renamed(drawn: Labeled, row_id: str, names: Mapping[str, str]) -> Labeled:
    """Give the rows new ids."""
    if not names:
        return drawn
    new = _new_names(drawn.labels[row_id], names)
    labels, cells = (table.assign(**{row_id: new}) for table in (drawn.labels, drawn.cells))
    items = np.array([names.get(item, item) for item in drawn.items], dtype=object)
    return drawn._replace(labels=labels, cells=cells.astype({row_id: object}), items=items)


def _new_names(row_ids: pd.Series, names: Mapping[str, str]) -> pd.Series:
    """The new names of ids; an unknown id keeps its own."""
    return ids.texts(row_ids).map(lambda text: names.get(text, text)).astype(ids.TEXT)


def _prepared(metric: Metric, tested: Labeled, arguments: dict[str, Any]) -> evaluating.Solution:
    """Prepare the solution."""
    return way.prepared(metric, tested.labels.assign(**{USAGE: tested.parts}), arguments)


def _in_order(
    solution: evaluating.Solution, tested: Labeled, shown: Sample, row_id: str, seed: int
) -> tuple[evaluating.Solution, Labeled, Sample, str]:
    """Put the rows of the test set and of the sample into a random order, or say why they keep theirs."""
    if row_id not in shown.frame:
        return solution, tested, shown, ""
    texts = ids.texts(tested.labels[row_id])
    _, errors = _right_and_wrong(solution.metric, tested, shown, row_id)
    if kept := order.why_kept(solution, errors, texts.tolist()):
        return solution, tested, shown, kept
    item_of_id = dict(zip(texts, tested.items))
    tested = _shuffled(tested, row_id, seed)
    shown = shown.taken(order.shuffled(shown.frame[row_id], item_of_id, seed))
    return _prepared(solution.metric, tested, solution.arguments), tested, shown, ""


def _shuffled(drawn: Labeled, row_id: str, seed: int) -> Labeled:
    """Put rows into a random order, in which those of an item stay together."""
    texts = ids.texts(drawn.labels[row_id])
    return drawn.taken(order.shuffled(texts, dict(zip(texts, drawn.items)), seed))


def _doubts(tested: Labeled, row_id: str, shown: Sample, metric: Metric) -> list[str]:
    """Warn of ids whose order tells an answer."""
    answers = tested.cells[[name for name in shown.cells if name in tested.cells and name != row_id]]
    told = "" if metric.is_own else order.told_by_ids(tested.labels[row_id], answers)
    cure = f"--new-ids gives others, and keeps the old ones in {PRIVATE}/{NEW_IDS}"
    return [f"the order of the ids in {row_id} tells {told}: {cure}"] if told else []


def _right_and_wrong(
    metric: Metric, tested: Labeled, shown: Sample, row_id: str
) -> tuple[pd.DataFrame | None, pd.DataFrame]:
    """The perfect submission, if the companion makes one, and a submission with errors."""
    best = metric.companion.perfect_submission
    perfect = None
    if best is not None:
        perfect = shapes.made_submission("perfect_submission", best(tested.labels.copy()))
    return perfect, samples.with_errors(tested.labels, shown.frame, perfect, row_id)


def _counts(drawn: Labeled, column: str) -> str:
    """Count the rows, the items and the values of a column that keeps rows together, also in each part."""
    units = {"rows": np.arange(len(drawn.items)), "items": drawn.items}
    if column:
        units[f"values of {column}"] = drawn.cells[column].to_numpy()
    in_parts = {part: drawn.parts == part for part in (*PARTS, TRAIN) if part in drawn.parts}
    rows = [
        [name, *(len(set(of_rows[chosen])) for chosen in (slice(None), *in_parts.values()))]
        for name, of_rows in units.items()
    ]
    names = ["to learn from" if part == TRAIN else part for part in in_parts]
    return section("The labels", ("what", "all", *names), rows)


def _public(tested: Labeled, learned: Labeled, row_id: str, known: list[str]) -> dict[str, pd.DataFrame]:
    """The tables for participants, beside the sample submission."""
    public = {LEARNED: learned.cells} if len(learned.cells) else {}
    if known or TEXT in tested.cells:
        texts = [TEXT] if TEXT in tested.cells else []
        public[TEST] = tested.cells[list(dict.fromkeys([row_id, *known, *texts]))]
    return public


def _private(
    tested: Labeled, perfect: pd.DataFrame | None, names: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """The tables for the host."""
    private = {SOLUTION: tested.cells.assign(**{USAGE: tested.parts})}
    if perfect is not None:
        private[PERFECT] = perfect
    if names:
        private[NEW_IDS] = text_table({"old": list(names), "new": list(names.values())})
    return private


def _parts(
    metric: Metric, labels: pd.DataFrame, arguments: dict[str, Any], row_id: str, draw: Draw
) -> tuple[Texts, Texts, list[str]]:
    """Draw the part of each row of official labels, or take the host's own.

    Returns the item and the part of each row, and what the report says of it.
    """
    if draw.balanced and draw.test_share == 1:
        raise UsageError(balance.NO_TRAINING)
    whole = way.prepared(metric, labels.drop(columns=USAGE, errors="ignore"), arguments)
    item_of_row, items, strata = _items(whole, labels, row_id)
    of_rows = np.array(items, dtype=object)[item_of_row]
    groups = _groups(labels, draw.items, of_rows) if draw.items else of_rows
    if USAGE in labels:
        if draw.test_share != 1:
            raise UsageError(
                f"--test: the labels have a column {USAGE}, which chooses the test set; leave out one"
            )
        if PARTS[0] not in evaluating.rows_of_parts(labels):
            raise HostError(f"{USAGE}: expected Public rows in the labels, found none")
        if draw.items:
            columns.require_one_value(labels[USAGE], groups, f"{USAGE}: expected one part", draw.items)
        return of_rows, labels[USAGE].to_numpy(), [f"The parts are those of the column {USAGE} of the labels."]
    twins = pd.Series(groups).groupby(item_of_row).first().tolist()
    balanced = balance.of_table(labels, of_rows.tolist(), draw.balanced) if draw.balanced else None
    of_items = split(items, strata, twins, draw.test_share, draw.public_share, draw.seed, balanced)
    return of_rows, of_items[item_of_row], _how_drawn(draw, bool(whole.prepared))


def _how_drawn(draw: Draw, has_items: bool) -> list[str]:
    """Say in the report how the parts were drawn."""
    said = f"The parts were drawn with seed {draw.seed}: "
    if draw.test_share != 1:
        said += f"{draw.test_share:g} of the items are for the test, and of these "
    said += f"{draw.public_share:g} of the items are Public."
    if draw.items:
        said += f" Rows with the same {draw.items} stay together."
    return [f"{said} {ONE_BOARD}", *([] if has_items or draw.items else [NO_ITEMS])]


def _groups(labels: pd.DataFrame, column: str, items: Texts) -> Texts:
    """The value of each row in a column that keeps rows together."""
    columns.require(labels, [column], "--items")
    missing = np.flatnonzero(labels[column].isna())
    if len(missing):
        expected = f"a value of {column} in every row of the labels"
        raise HostError(f"--items: expected {expected}, found none in row number {missing[0] + 1:,}")
    groups = ids.texts(labels[column])
    columns.require_one_value(groups, items, f"--items: expected one {column}")
    return groups.to_numpy()


def _items(whole: evaluating.Solution, labels: pd.DataFrame, row_id: str) -> tuple[Ints, list[str], Strata]:
    """Tell the item of each row, the items and their strata."""
    if whole.prepared:
        prepared = whole.prepared[evaluating.ALL]
        strata = [tuple(map(str, groups)) for groups in np.asarray(prepared.groups).T.tolist()]
        return np.asarray(prepared.item_of_row), prepared.items, strata
    item_of_row, items = pd.factorize(ids.texts(labels[row_id]), sort=True)
    return item_of_row, list(items), [()] * len(items)


def _sample(
    solution: evaluating.Solution,
    tested: Labeled,
    learned: Labeled,
    path: str | Path | None,
    row_id: str,
    no_answers: Collection[str],
    names: Mapping[str, str],
) -> Sample:
    """The sample submission in the form that Kaggle takes: a file, or what the companion or podium makes."""
    metric, truth = solution.metric, tested.labels
    companion = metric.companion
    if path is not None:
        source = read_once(path)
        frame = reading.read_submission(metric, source, solution.arguments)
        given = Sample(frame, as_texts(frame, metric, source))
        if row_id in frame:
            given = _sample_of_test(given, learned, row_id, names)
        if companion.kaggle_submission is None:
            return given
        frame = companion.kaggle_submission(given.frame, truth)
    elif companion.sample_submission is not None:
        frame = shapes.made_submission("sample_submission", companion.sample_submission(truth))
    else:
        named = set[str]().union(*hosted.columns_named(metric, solution.arguments).values())
        known = learned.labels if len(learned.labels) else truth
        frame = samples.made(solution, truth, row_id, no_answers, named, known)
    return Sample(frame, as_texts(frame, metric))


def _sample_of_test(given: Sample, learned: Labeled, row_id: str, names: Mapping[str, str]) -> Sample:
    """Leave out what is to learn from, and give the rows new ids."""
    if names:
        old = ids.as_in(pd.DataFrame({row_id: list(names)}), given.frame, [row_id])[row_id]
        new = _new_names(old, names)
        given = Sample(*(table.assign(**{row_id: new.astype(table[row_id].dtype)}) for table in given))
    known = ids.as_in(learned.labels, given.frame, [row_id])[row_id]
    to_learn = ids.texts(known).isin(ids.texts(learned.labels[row_id]))
    return given.taken(np.flatnonzero(~to_learn)) if to_learn.any() else given


def _known(truth: pd.DataFrame, of_companion: Sequence[str], of_host: Sequence[str]) -> list[str]:
    """List the columns of the truth that participants may know."""
    columns.require(truth, of_host, "--public-columns")
    known = [name for name in of_companion if name in truth and truth[name].notna().any()]
    return list(dict.fromkeys([*known, *of_host]))


def write(files: Files, folder: Path, publish_metric: bool = False) -> Files:
    """Save the files of a competition in a new folder, with a starter notebook.

    Returns what was saved, with the whole report.

    Every table is read again and compared with what was meant to be written, and `round_trip.check` compares
    the scores.  Then `leaks.refuse` checks the files for participants.  If a check fails, nothing is left on
    the disk.
    """
    kept = {f"{PRIVATE}/{SOLUTION}", *(trial.name for trial in files.trials)}
    read: dict[str, ReadFile] = {}
    with new_folder(folder) as whole:
        for name, tables in ((PUBLIC, files.public), (PRIVATE, files.private)):
            (whole / name).mkdir(mode=0o700 if name == PRIVATE else 0o777)
            for file, table in tables.items():
                path = whole / name / file
                path.write_bytes(csv_bytes(written_rows(table)))
                written = ReadFile.of(path)
                if any(meant != found for meant, found in zip_longest(written_rows(table), read_csv(written))):
                    raise HostError(
                        f"{name}/{file}: expected the table that was written, found another one on the disk"
                    )
                if f"{name}/{file}" in kept:
                    read[f"{name}/{file}"] = written
        files = starter.add(whole, files, publish_metric)
        (whole / REPORT).write_text(files.report, encoding="utf-8", newline="\n")
        files = _recorded(files, whole)
        round_trip.check(files, read)
        leaks.refuse(whole, files.items, read[f"{PRIVATE}/{SOLUTION}"], advice=ALLOWED)
    return files


def _recorded(files: Files, folder: Path) -> Files:
    """Write the record of a competition, with a copy of its metric beside the private files."""
    metric = files.solution.metric
    record = Record(folder / RECORD, metric.name, dict(files.parameters), files.public_columns)
    record = record._replace(items=files.together)
    if not metric.is_own:
        record = record._replace(digest=recorded.digest_of(metric))
        copies = folder / PRIVATE / "metric"
        if metric.path.name == METRIC:  # its folder names it
            copies /= metric.path.parent.name
        try:
            copies.mkdir(parents=True)
            for name, content in metric.files.items():
                (copies / name).write_bytes(content)
            if len(metric.files) > 1:  # A companion may read files that are not known here.
                hosted.load(copies / metric.path.name)
            record = record._replace(file=(copies / metric.path.name).relative_to(folder).as_posix())
        except ToolError as problem:
            shutil.rmtree(copies, ignore_errors=True)
            told = f"the metric has no copy beside the private files, so name it by --metric later: {problem}"
            files = files._replace(warnings=[*files.warnings, told])
    recorded.write(record)
    return files
