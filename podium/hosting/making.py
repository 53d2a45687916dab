"""Make the files of a competition: draw its parts, make the files from official labels, and write them.

The drawing depends on the seed and the ids alone. It is the same on every machine and for every order of the
rows.
"""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import demands, hosted, ids, reading, recorded, scoring
from podium.errors import HostError, UsageError
from podium.files import csv_bytes
from podium.hosted import Metric
from podium.hosting import leaks, round_trip, samples, starter
from podium.hosting.folders import (
    LEARNED,
    PERFECT,
    PUBLIC,
    REPORT,
    SAMPLE,
    SOLUTION,
    Files,
    Trial,
    as_texts,
    new_folder,
    read_csv,
    scores,
    section,
    tried,
    written_rows,
)
from podium.hosting.kaggle import acceptance
from podium.recorded import PRIVATE
from podium.scoring import PARTS, USAGE

TRAIN = "train"
TEST, TEXT = "test.csv", "text"
ONE_BOARD = "For one board alone, give the labels a column Usage that says Public in every row."
NO_ITEMS = (
    "The metric has no prepare(), so each row was drawn by itself. If rows belong together, such as those of "
    "one patient, define prepare(), or choose the parts in a column Usage of the labels."
)
IDS_ALONE = (
    f"Participants get the ids of the test set and nothing else about it: {PUBLIC}/ has no {TEST}. Name the "
    "columns of the labels that they may know, such as features, by --public-columns."
)
ALLOWED = "of labels, all may know the columns that --public-columns names"

Strata = Sequence[tuple[str, ...]]
Texts = npt.NDArray[np.object_]


def split(
    ids: Sequence[str],
    strata: Strata,
    twins: Sequence[str],
    test_share: float,
    public_share: float,
    seed: int,
) -> npt.NDArray[np.object_]:
    """Draw the part of each item, with the same shares in each stratum."""
    leaders: dict[str, int] = {}
    for item in sorted(range(len(ids)), key=ids.__getitem__):
        leaders.setdefault(twins[item], item)
    names = [ids[item] for item in leaders.values()]
    groups = [strata[item] for item in leaders.values()]
    part = np.full(len(names), TRAIN, dtype=object)
    test = np.flatnonzero(drawn(names, groups, test_share, f"{seed} test"))
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


def drawn(ids: Sequence[str], strata: Strata, share: float, seed: str) -> npt.NDArray[np.bool_]:
    """Draw a share of each stratum.

    The items are ordered by hashes of their ids, because the random numbers of a library may change between
    versions.

    >>> drawn(["a", "b", "c", "d"], [("x",), ("x",), ("y",), ("y",)], 0.5, "0").tolist()
    [True, False, False, True]
    """

    def chance(text: str) -> bytes:
        return hashlib.sha256(f"{seed} {text}".encode("utf-8", "surrogatepass")).digest()

    order = sorted(range(len(ids)), key=lambda item: (strata[item], chance(ids[item])))
    start = int.from_bytes(chance("")[:6]) / 2**48
    chosen = np.zeros(len(ids), dtype=bool)
    # Along this order the shares are added up, and each item at which the sum passes a whole number is drawn.
    # So every stratum gets its share, up to one item.
    chosen[order] = np.diff(np.floor(np.arange(len(ids) + 1) * share + start)) > 0
    return chosen


def make_files(
    metric: Metric,
    path: str | Path,
    sample: str | Path | None,
    public_share: float,
    seed: int,
    parameters: Mapping[str, Any] = {},
    public_columns: Sequence[str] = (),
    test_share: float = 1.0,
) -> Files:
    """Make the files of a competition from official labels; participants get the public columns, too.

    What is not in the test set is published with its labels, to learn from.
    """
    arguments = dict(parameters)
    labels = reading.read_solution(metric, path, arguments)
    row_id = str(arguments.get("row_id_column_name", labels.columns[0]))
    items, parts, drawn = _parts(metric, labels, arguments, row_id, (test_share, public_share), seed)
    everything = labels.drop(columns=USAGE, errors="ignore")
    tested = parts != TRAIN
    truth, learned = (everything[rows].reset_index(drop=True) for rows in (tested, ~tested))
    solution = truth.assign(**{USAGE: parts[tested]})
    prepared = scoring.prepare(metric, solution, arguments)
    known = _known(truth, metric.companion.public_columns, public_columns)
    shown, best = _sample(prepared, truth, learned, sample, row_id, known), metric.companion.perfect_submission
    perfect = None if best is None else demands.made_submission("perfect_submission", best(truth.copy()))
    counts = {"rows": len(labels), "items": len(set(items))}
    counts |= {f"items that are {name}": len(set(items[parts == name])) for name in PARTS}
    if len(learned):
        counts["items to learn from"] = len(set(items[~tested]))
    trials = tried(prepared, seed, shown, perfect, acceptance.refusals)
    report = [
        "# The competition's files",
        drawn,
        *([labels.attrs[reading.READ]] if reading.READ in labels.attrs else []),
        section("The labels", ("what", "number"), counts.items()),
        scores(prepared, trials),
        f"`{prepared.signature}`",
    ]
    made = sample is None or metric.companion.kaggle_submission is not None
    missing = " " if metric.is_own else None  # to whose rules an empty text and a missing one are the same
    public = {SAMPLE: as_texts(shown, None if made else sample, missing)}
    cells = as_texts(everything, path, missing)
    whole = cells[tested].assign(**{USAGE: parts[tested]}).reset_index(drop=True)
    if len(learned):
        public[LEARNED] = cells[~tested].reset_index(drop=True)
    if known or TEXT in truth:
        public[TEST] = whole[[row_id, *known, *([TEXT] if TEXT in truth else [])]]
    elif not metric.is_own:
        report.append(IDS_ALONE)
    private = {SOLUTION: whole} | ({} if perfect is None else {PERFECT: as_texts(perfect, None, missing)})
    return Files(
        public,
        private,
        "\n\n".join(report) + "\n",
        list(prepared.notices),
        sorted(set(items)),
        metric.name,
        arguments,
        known,
        "" if metric.is_own else recorded.digest_of(metric),
        prepared,
        [*trials, Trial("a submission with errors", samples.with_errors(truth, shown, perfect, row_id))],
        missing,
    )


def _parts(
    metric: Metric,
    labels: pd.DataFrame,
    arguments: dict[str, Any],
    row_id: str,
    shares: tuple[float, float],
    seed: int,
) -> tuple[Texts, Texts, str]:
    """Draw the part of each row of official labels, or take the host's own.

    The shares are that of the test set, and that of the Public part in it.  Returns the item and the part of
    each row, and how the parts were chosen.
    """
    whole = scoring.prepare(metric, labels.drop(columns=USAGE, errors="ignore"), arguments)
    test_share, public_share = shares
    of_test = "" if test_share == 1 else f"{test_share:g} of the items are for the test, and of these "
    drawn = (
        f"The parts were drawn with seed {seed}: {of_test}{public_share:g} of the items are Public. {ONE_BOARD}"
    )
    item_of_row, items, strata = _items(whole, labels, row_id)
    of_rows = np.array(items, dtype=object)[item_of_row]
    if USAGE in labels:
        if test_share != 1:
            raise UsageError(
                f"--test: the labels have a column {USAGE}, which chooses the test set; leave out one"
            )
        if PARTS[0] not in scoring.rows_of_parts(labels):
            raise HostError(f"{USAGE}: expected Public rows in the labels, found none")
        return of_rows, labels[USAGE].to_numpy(), f"The parts are those of the column {USAGE} of the labels."
    of_items = split(items, strata, items, test_share, public_share, seed)
    return of_rows, of_items[item_of_row], drawn if whole.prepared else f"{drawn}\n\n{NO_ITEMS}"


def _items(
    whole: scoring.Solution, labels: pd.DataFrame, row_id: str
) -> tuple[npt.NDArray[np.int64], list[str], Strata]:
    """Tell the item of each row, the items and their strata."""
    if whole.prepared:
        prepared = whole.prepared[scoring.ALL]
        strata = [tuple(map(str, groups)) for groups in np.asarray(prepared.groups).T.tolist()]
        return np.asarray(prepared.item_of_row), prepared.items, strata
    item_of_row, items = pd.factorize(ids.texts(labels[row_id]), sort=True)
    return item_of_row, list(items), [()] * len(items)


def _sample(
    solution: scoring.Solution,
    truth: pd.DataFrame,
    learned: pd.DataFrame,
    path: str | Path | None,
    row_id: str,
    known: list[str],
) -> pd.DataFrame:
    """The sample submission in the form that Kaggle takes: a file, or what the companion or podium makes."""
    companion = solution.metric.companion
    if path is not None:
        frame = reading.read_submission(solution.metric, path, {"row_id_column_name": row_id})
        if len(learned) and row_id in frame:
            known_ids = ids.as_in(learned, frame, [row_id])[row_id]
            to_learn = ids.texts(known_ids).isin(ids.texts(learned[row_id]))
            frame = frame[~to_learn].reset_index(drop=True)
        return frame if companion.kaggle_submission is None else companion.kaggle_submission(frame, truth)
    if companion.sample_submission is not None:
        return demands.made_submission("sample_submission", companion.sample_submission(truth))
    named = set[str]().union(*hosted.columns_named(solution.metric, solution.arguments).values())
    return samples.made(solution, truth, row_id, {TEXT, *known}, named, learned if len(learned) else truth)


def _known(truth: pd.DataFrame, of_companion: Sequence[str], of_host: Sequence[str]) -> list[str]:
    """List the columns of the truth that participants may know."""
    lacking = [name for name in of_host if name not in truth]
    if lacking:
        there = ", ".join(map(str, truth.columns))
        raise HostError(f"--public-columns: the labels have no column {lacking[0]}; they have {there}")
    known = [name for name in of_companion if name in truth and truth[name].notna().any()]
    return [*known, *(name for name in of_host if name not in known)]


def write(files: Files, folder: Path, publish_metric: bool = False) -> Files:
    """Save the files of a competition in a new folder, with a starter notebook.

    Returns what was saved, with the whole report.

    Every table is read again and compared with what was meant to be written, and `round_trip.check` compares
    the scores.  Then `leaks.refuse` checks the files for participants.  If a check fails, nothing is left on
    the disk.
    """
    with new_folder(folder) as whole:
        for name, tables in ((PUBLIC, files.public), (PRIVATE, files.private)):
            (whole / name).mkdir(mode=0o700 if name == PRIVATE else 0o777)
            for file, table in tables.items():
                path = whole / name / file
                path.write_bytes(csv_bytes(written_rows(table)))
                if any(meant != written for meant, written in zip_longest(written_rows(table), read_csv(path))):
                    raise HostError(
                        f"{name}/{file}: expected the table that was written, found another one on the disk"
                    )
        files = starter.add(whole, files, publish_metric)
        (whole / REPORT).write_text(files.report, encoding="utf-8", newline="\n")
        recorded.write(whole, files.metric, files.parameters, files.public_columns, files.digest)
        round_trip.check(whole, files)
        leaks.refuse(whole, files.items, advice=ALLOWED)
    return files
