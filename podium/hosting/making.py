"""Make the files of a competition from official labels, and write them."""

import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.common.arrays import Ints
from podium.common.errors import HostError, ToolError
from podium.common.wording import counted
from podium.contest import pipeline, reading, recorded
from podium.contest.recorded import PRIVATE, RECORD, Record
from podium.hosting import columns, leaks, order, round_trip, samples, splitting, starter
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
    scores,
    section,
    text_table,
    tried,
    written_rows,
)
from podium.hosting.kaggle import acceptance
from podium.hosting.splitting import TRAIN, Allotted, Draw, Texts
from podium.metric import executed, hosted, shapes
from podium.metric.hosted import Metric
from podium.metric.parameters import columns_named
from podium.scoring import evaluating
from podium.scoring.evaluating import IGNORED, PARTS, USAGE
from podium.tables import ids
from podium.tables.files import ReadFile, read_once
from podium.tables.formats import csv_bytes

TEXT = "text"
NEW_IDS = "new_ids.csv"
IDS_ALONE = (
    f"Participants get the ids of the test set and nothing else about it: {PUBLIC}/ has no {TEST}. Name the "
    "columns of the labels that they may know, such as features, by --public-columns."
)
ALLOWED = "what all may know is named by --public-columns"


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

    def spellings(self, row_id: str) -> dict[str, str]:
        """How the labels write each id, which a metric may get as a number: 00183 for 183."""
        return dict(zip(ids.texts(self.labels[row_id]), self.cells[row_id]))

    def made(self, frame: pd.DataFrame, metric: Metric, row_id: str) -> pd.DataFrame:
        """The cells of a submission that was made of these labels, with ids as these write them."""
        cells = as_texts(frame, metric)
        if row_id not in cells:
            return cells
        spelled = self.spellings(row_id)
        return cells.assign(**{row_id: [spelled.get(text, text) for text in ids.texts(frame[row_id])]})


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
    everything, row_id, parts = _drawn(metric, path, arguments, draw)
    everything, names, renamed = _renamed(everything, row_id, draw)
    known = _known(everything.labels, metric.companion.public_columns, public_columns)
    learned, tested = everything.of(TRAIN), everything.of(*PARTS, IGNORED)
    solution = _prepared(metric, tested, arguments)
    together = ids.named(draw.items, everything.labels)
    shown = _sample(solution, tested, learned, sample, row_id, {TEXT, *together, *known}, names)
    solution, tested, shown, kept = _in_order(solution, tested, shown, row_id, draw.seed)
    learned = learned if kept else _shuffled(learned, row_id, draw.seed)
    parts.report.extend([f"The rows keep their order, because {kept}."] if kept else [])
    perfect, errors = _right_and_wrong(metric, tested, shown, row_id)
    trials = tried(solution, draw.seed, shown.frame, perfect, acceptance.refusals)
    is_made = sample is None and metric.companion.sample_submission is None
    parts.report.extend(_about_sample(shown, everything, {row_id, *known, *together}) if is_made else [])
    public = {SAMPLE: shown.cells} | _public(tested, learned, row_id, known)
    report = _report(parts.report, everything, draw, (solution, trials), public)
    is_shuffled = not (kept or metric.is_built_in)
    doubts = _doubts_of_order(everything, tested, shown, [row_id, *known], draw, is_shuffled)
    return Files(
        public,
        _private(tested, None if perfect is None else tested.made(perfect, metric, row_id)) | renamed,
        "\n\n".join(report) + "\n",
        [*solution.notices, *parts.doubts, *doubts],
        solution,
        [*trials, Trial("a submission with errors", errors)],
        sorted(set(tested.items)),
        arguments,
        [*dict.fromkeys([*known, *together])],
        draw.items,
    )


def _report(
    of_parts: list[str],
    everything: Labeled,
    draw: Draw,
    tries: tuple[evaluating.Solution, list[Trial]],
    public: Collection[str],
) -> list[str]:
    solution, trials = tries
    return [
        "# The competition's files",
        *of_parts,
        _counts(everything, ids.named(draw.items, everything.labels)),
        scores(solution, trials),
        f"`{solution.signature}`",
        *([] if TEST in public or solution.metric.is_built_in else [IDS_ALONE]),
    ]


def _drawn(
    metric: Metric, path: str | Path, arguments: dict[str, Any], draw: Draw
) -> tuple[Labeled, str, Allotted]:
    """Read official labels and draw the part of each row; return the column of the row ids, too."""
    source = read_once(path)
    labels = reading.read_solution(metric, source, arguments)
    row_id = str(arguments.get("row_id_column_name") or evaluating.row_ids(metric, labels))
    doubts = columns.doubts_of_names(labels)
    labels = _with_ids_first(metric, labels, row_id)
    parts = splitting.parts_of(metric, labels, arguments, row_id, draw)
    parts.report.extend([labels.attrs[reading.READ]] if reading.READ in labels.attrs else [])
    parts.report.append(f"The ids of the rows are those of the column {row_id}.")
    parts.doubts.extend(doubts)
    if "row_id_column_name" not in arguments and (other := columns.ids_behind_index(labels)):
        parts.doubts.append(
            f"the ids of the rows are taken from {row_id}, the first column, which seems to count them: if "
            f"they stand in {other}, give --set row_id_column_name={other}"
        )
    everything = labels.drop(columns=[USAGE, draw.split], errors="ignore")
    cells = as_texts(everything, metric, source)
    return Labeled(everything, cells, parts.items, parts.parts), row_id, parts


def _with_ids_first(metric: Metric, labels: pd.DataFrame, row_id: str) -> pd.DataFrame:
    """Put the column of ids first, where every reader looks for it, and refuse an id twice, and none."""
    columns.check_present(labels, [row_id], "the labels")
    texts = ids.texts(labels[row_id])
    columns.check_values(texts.where(texts != "").rename(row_id), "the labels")
    twice = np.flatnonzero(texts.duplicated(keep=False))
    if len(twice) and not (metric.is_built_in or metric.prepare or metric.complete_submission):
        found = f"{texts.iloc[twice[0]]!r} in {counted(int((texts == texts.iloc[twice[0]]).sum()), 'row')}"
        cure = "should the metric file say COMPLETE_SUBMISSION = True?"
        raise HostError(f"{row_id}: expected one row per id in the labels, found {found}; {cure}")
    return labels[[row_id, *(name for name in labels if name != row_id)]]


def _renamed(
    drawn: Labeled, row_id: str, draw: Draw
) -> tuple[Labeled, dict[str, str], dict[str, pd.DataFrame]]:
    """Give the rows new ids, if they shall have some; also return these by the old ones, and their table."""
    if not draw.new_ids:
        return drawn, {}, {}
    names, spelled = order.renamed(drawn.labels[row_id], draw.seed), drawn.spellings(row_id)
    table = text_table({"old": [spelled[old] for old in names], "new": list(names.values())})
    new = _new_names(drawn.labels[row_id], names)
    labels, cells = (table.assign(**{row_id: new}) for table in (drawn.labels, drawn.cells))
    items = np.array([names.get(item, item) for item in drawn.items], dtype=object)
    renamed = drawn._replace(labels=labels, cells=cells.astype({row_id: object}), items=items)
    return renamed, names, {NEW_IDS: table}


def _new_names(row_ids: pd.Series, names: Mapping[str, str]) -> pd.Series:
    """The new names of ids; an unknown id keeps its own."""
    return ids.texts(row_ids).map(lambda text: names.get(text, text)).astype(ids.TEXT)


def _prepared(metric: Metric, tested: Labeled, arguments: dict[str, Any]) -> evaluating.Solution:
    return pipeline.prepared(metric, tested.labels.assign(**{USAGE: tested.parts}), arguments)


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


def _doubts_of_order(
    everything: Labeled, tested: Labeled, shown: Sample, public: Sequence[str], draw: Draw, is_shuffled: bool
) -> list[str]:
    """Warn if an order that all may see reveals an answer; the first public column has the ids."""
    row_id, labels = public[0], everything.labels
    answers = [str(name) for name in shown.cells if name in tested.cells and name != row_id]
    if draw.is_at_random:
        by = ids.named(draw.items, labels)
        together = ids.together(labels, by) if by else everything.items
        if doubt := splitting.doubt_of_neighbors(labels.set_axis(together), public, answers):
            return [doubt]
    if is_shuffled and (answer := order.told_by_ids(tested.labels[row_id], tested.cells[answers])):
        cure = f"--new-ids gives others, and keeps the old ones in {PRIVATE}/{NEW_IDS}"
        return [f"the order of the ids in {row_id} tells {answer}: {cure}"]
    return []


def _right_and_wrong(
    metric: Metric, tested: Labeled, shown: Sample, row_id: str
) -> tuple[pd.DataFrame | None, pd.DataFrame]:
    """The perfect submission, if the companion makes one, and a submission with errors."""
    best = metric.companion.perfect_submission
    perfect = None
    if best is not None:
        perfect = shapes.made_submission("perfect_submission", best(tested.labels.copy()))
    return perfect, samples.with_errors(tested.labels, shown.frame, perfect, row_id)


def _counts(drawn: Labeled, together: Sequence[str]) -> str:
    """Count the rows, the items and the values of columns that make the items, also in each part."""
    units: dict[str, npt.NDArray[Any]] = {"rows": np.arange(len(drawn.items)), "items": drawn.items}
    if together:  # which later commands count as items
        units["items"] = ids.together(drawn.labels, together)
    units |= {f"values of {column}": drawn.cells[column].to_numpy() for column in together}
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


def _private(tested: Labeled, perfect: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """The tables for the host."""
    private = {SOLUTION: tested.cells.assign(**{USAGE: tested.parts})}
    return private if perfect is None else private | {PERFECT: perfect}


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
        named = set[str]().union(*columns_named(metric, solution.arguments).values())
        known = learned.labels if len(learned.labels) else truth
        frame = samples.made(solution, truth, row_id, no_answers, named, known)
    return Sample(frame, tested.made(frame, metric, row_id))


def _about_sample(shown: Sample, drawn: Labeled, no_answers: Collection[str]) -> list[str]:
    """Say which columns of the labels the automatic sample lacks."""
    labels = drawn.labels.drop(columns=[TEXT, *no_answers, *shown.frame], errors="ignore")
    untried = [str(name) for name in labels if samples.typical(labels[name]) is None]
    warning = (
        f"In the sample submission {samples.why_untried(untried)}: if it lacks an answer, give one by --sample."
    )
    return [warning] if untried else []


def _sample_of_test(given: Sample, learned: Labeled, row_id: str, names: Mapping[str, str]) -> Sample:
    """Leave out the rows to learn from, and give the others new ids."""
    if names:
        old = ids.as_in(pd.DataFrame({row_id: list(names)}), given.frame, [row_id])[row_id]
        new = _new_names(old, names)
        given = Sample(*(table.assign(**{row_id: new.astype(table[row_id].dtype)}) for table in given))
    known = ids.as_in(learned.labels, given.frame, [row_id])[row_id]
    to_learn = ids.texts(known).isin(ids.texts(learned.labels[row_id]))
    return given.taken(np.flatnonzero(~to_learn)) if to_learn.any() else given


def _known(truth: pd.DataFrame, of_companion: Sequence[str], of_host: Sequence[str]) -> list[str]:
    """List the columns of the truth that participants may know."""
    columns.check_present(truth, of_host, "--public-columns")
    known = [name for name in of_companion if name in truth and truth[name].notna().any()]
    return list(dict.fromkeys([*known, *of_host]))


def write(files: Files, folder: Path, publish_metric: bool = False) -> Files:
    """Save the files of a competition in a new folder, with a starter notebook.

    Returns what was saved, with the whole report.

    `round_trip.check` reads again what is scored, and compares the scores. Then `leaks.refuse` checks the files
    for participants. If a check fails, nothing is left on the disk.
    """
    kept = {f"{PRIVATE}/{SOLUTION}", *(trial.name for trial in files.trials)}
    read: dict[str, ReadFile] = {}
    with new_folder(folder) as whole:
        for name, tables in ((PUBLIC, files.public), (PRIVATE, files.private)):
            (whole / name).mkdir(mode=0o700 if name == PRIVATE else 0o777)
            for file, table in tables.items():
                path = whole / name / file
                path.write_bytes(csv_bytes(written_rows(table)))
                if f"{name}/{file}" in kept:
                    read[f"{name}/{file}"] = ReadFile.of(path)
        files = starter.add(whole, files, publish_metric)
        (whole / REPORT).write_text(files.report, encoding="utf-8", newline="\n")
        files = _recorded(files, whole)
        round_trip.check(files, read)
        leaks.refuse(whole, files.items, read[f"{PRIVATE}/{SOLUTION}"], advice=ALLOWED)
    return files


def _recorded(files: Files, folder: Path) -> Files:
    """Write the record of a competition, with a copy of its metric beside the private files."""
    metric = files.solution.metric
    record = Record(folder / RECORD, metric.name, dict(files.parameters))
    record = record._replace(items=files.together, public_columns=files.public_columns)
    if not metric.is_built_in:
        of_metric, *of_others = executed.digests(metric.files).items()
        record = record._replace(metric_sha256=of_metric[1], beside=dict(of_others))
        copies = folder / PRIVATE / "metric"
        if metric.path.name == METRIC:  # its folder names it
            copies /= metric.path.parent.name
        try:
            copies.mkdir(parents=True)
            for name, content in metric.files.items():
                (copies / name).write_bytes(content)
            if len(metric.files) > 1:  # A companion may read files that are not known here.
                hosted.load(copies / metric.path.name)
            record = record._replace(metric_file=(copies / metric.path.name).relative_to(folder).as_posix())
        except ToolError as problem:
            shutil.rmtree(copies, ignore_errors=True)
            warning = (
                f"the metric has no copy beside the private files, so name it by --metric later: {problem}"
            )
            files = files._replace(warnings=[*files.warnings, warning])
    recorded.write(record)
    return files
