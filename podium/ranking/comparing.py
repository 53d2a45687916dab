"""Compare a published board with the one to which its inputs lead: what `podium.verify` does."""

import itertools
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.common.errors import HostError, UsageError
from podium.common.wording import listed, printable
from podium.metric import executed, hosted
from podium.metric.contract import Metric
from podium.metric.parameters import check_parameters
from podium.ranking import made_again, output, rank, run_json
from podium.ranking.job import versions
from podium.ranking.rules import ALL_TEAMS, CELLS_OF_WORDS, CIRCUMSTANCES, FACTS_OF_WORDS, RUN, Options
from podium.ranking.submissions import Submission, find_for, unzipped
from podium.tables.files import Location, read_bytes
from podium.tables.formats import parse_texts, table_bytes

CHARACTERS_SHOWN = 160  # of a line that differs, because a page may consist of one line
# Readers, or a server that shows them a folder, may take files with these endings for a part of a board.
LIKE_A_BOARD = frozenset(
    {
        "css", "csv", "htaccess", "htm", "html", "js", "json", "ods", "pdf", "php", "png", "svg", "xhtml",
        "xls", "xlsx", "xml",
    }
)  # fmt: skip

# What run.json says of a submission, and what it is called behind the file's name.
OF_SUBMISSIONS = {"sha256": ": SHA-256", "side_sha256": ", the side file: SHA-256"}
OF_SUBMISSIONS |= {name: f": {name}" for name in run_json.OF_MANIFEST}
NONE = "not given"

A_LINK = "is a link, and where it leads can change"
ENTRY = re.compile(rf"{output.STORE}/[0-9a-f]{{2}}/[0-9a-f]+(\.limit)?")  # a file of the store


def compared(
    folder: Location, home: Path, given: Mapping[str, Location], deadline: str | None, jobs: int
) -> tuple[list[str], list[str]]:
    """Compare the files of a board with what its inputs lead to; list the differences, and what to know."""
    if "again" in given:
        given = {**given, "again": made_again.record_in(given["again"])}
    facts, options = run_json.recorded(folder, given)
    if deadline is not None:
        options = replace(options, deadline=deadline)
    changed = run_json.changed_metric(facts, options)
    if changed and not run_json.has_own_of_other_version(facts, options):
        return [f"{changed[0]}; so it was not executed, and nothing compared"], []
    announce(hosted.find(options.metric))
    check_parameters(hosted.load(options.metric), options.metric_parameters)
    both = (options, run_json.options_of(facts, home))
    inputs = [path for each in both for path in each.paths.values() if path is not None]
    parts, others = told_beside(facts, home, inputs)
    with unzipped(options.submissions) as place:
        documents = hosted.load(options.metric).companion.documents
        there = find_for(options, documents, place)
        differences = [*run_json.changed(facts, options), *parts]
        return differences + _compared(facts, options, there, home, jobs), [
            *_notices(facts, home),
            *changed,
            *others,
        ]


def _compared(
    facts: dict[str, Any], options: Options, there: Sequence[Submission], home: Path, jobs: int
) -> list[str]:
    """List what is different with these submissions."""
    published = {(each["team"], each["submission"]): each for each in facts["submissions"]}
    files = [each for each in there if each[:2] in published]
    differences = _changed_list(there, published)
    try:
        outputs, now = _ranked_again(facts, options, files, home, jobs)
        changed = _changed_submissions(files, now["submissions"], facts["submissions"])
        differences += [*changed, *changed_files(facts, outputs, now, home, not changed)]
    except HostError as problem:  # with these inputs there is no board at all
        differences.append(str(problem))
    return differences


def announce(metric: Path) -> None:
    """Say which files of a custom metric are going to be executed."""
    if not hosted.is_built_in(metric):
        digests = executed.digests(hosted.files_of(metric))
        files = ", ".join(f"{metric.with_name(name)} (SHA-256 {digest})" for name, digest in digests.items())
        print(printable(f"executing the metric: {files}"), file=sys.stderr)


def _notices(facts: Mapping[str, Any], home: Path) -> list[str]:
    """Say which versions differ from those of the run, and what was not compared."""
    here = versions()
    notices = [
        f"{name} is {now} here, was {facts['versions'].get(name)}"
        for name, now in here.items()
        if facts["versions"].get(name) != now
    ]
    if run_json.is_of_other_version(facts):
        notices.append("pages were not compared, because another version may draw them otherwise")
    if unseen := [file for file in facts["outputs"] if not (home / file).exists()]:
        notices.append(f"not in the folder, so only computed and not compared: {listed(unseen)}")
    return notices


def _changed_list(
    there: Sequence[Submission], published: Mapping[tuple[str, str], Mapping[str, str]]
) -> list[str]:
    """List submissions that are missing or that run.json does not name."""
    found = {each[:2] for each in there}
    absent = sorted(published.keys() - found)
    return [
        *(f"{team}/{name}: the file is missing" for team, name in absent),
        *(
            f"{team}/{name}: it is among the submissions, but run.json does not name it"
            for team, name in sorted(found - published.keys())
        ),
    ]


def _ranked_again(
    facts: dict[str, Any], options: Options, files: list[Submission], home: Path, jobs: int
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Rank again, with a store in a temporary folder, and make the tables, the pages and the record."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = rank.inputs_of(options, files)
        there = [*(each.team for each in files), *inputs.failed["team"], ALL_TEAMS]
        # A team whose files are missing can have no page.
        options = replace(options, jobs=jobs, team=[team for team in options.teams_with_page if team in there])
        with rank.pool_of(options, Path(folder), inputs) as pool:
            final, scored = rank.scored_board(options, inputs, pool, home)
            again = run_json.facts_of(final, pool, inputs, scored, ())
    again |= {name: facts.get(name) for name in CIRCUMSTANCES}
    again["signature"] = _with_recorded_name(again["signature"], facts, hosted.load(options.metric))
    for name, now in again["inputs"].items():
        if now is not None and (then := facts["inputs"].get(name)) is not None:
            is_own = name == "metric" and run_json.has_own_of_other_version(facts, options)
            now |= {each: then[each] for each in ("path", *(["sha256"] if is_own else []))}
    return rank.files_of(replace(final, facts=again)), again


def _with_recorded_name(signature: str, facts: Mapping[str, Any], metric: Metric) -> str:
    """A signature as it was recorded, if only the metric's name differs and is that of its file or folder."""
    (name, *rest), (here, *others) = (each.split("|") for each in (str(facts.get("signature")), signature))
    is_of_path = not metric.is_built_in and not hasattr(metric.module, "NAME")
    is_free = name.partition(":")[2] not in hosted.names()
    return "|".join([name if is_of_path and is_free and rest == others else here, *others])


def changed_files(
    facts: dict[str, Any], outputs: dict[str, bytes], again: dict[str, Any], home: Path, is_same: bool
) -> list[str]:
    """List tables, pages and, if all else is the same, the line of the record that comes out differently."""
    if run_json.is_of_other_version(facts):
        return _changed_since(facts, outputs, again, home, is_same)
    differences: list[str] = []
    again["outputs"] = output.digests(outputs)
    for file in sorted(outputs.keys() | facts["outputs"].keys()):
        differences += changed_file(file, outputs.get(file), facts["outputs"].get(file), home)
    record_again = run_json.text_of(again).encode()
    if is_same and not differences and (home / RUN).read_bytes() != record_again:
        difference = _first_difference((home / RUN).read_bytes(), record_again)
        differences.append(f"{RUN} comes out differently{difference}")
    return differences


def _changed_since(
    facts: dict[str, Any], outputs: dict[str, bytes], again: dict[str, Any], home: Path, is_same: bool
) -> list[str]:
    """List what differs on a board of an earlier version, whose tables and record still say the same.

    A later version may draw pages otherwise, say something in other words, and add tables, columns and facts.
    So published pages are compared with the record alone, and of tables and of the record what was there then,
    without words.
    """
    differences: list[str] = []
    for file, recorded in facts["outputs"].items():
        if (path := home / file).is_file():
            published = path.read_bytes()
            if output.digests({file: published})[file] != recorded:
                differences.append(f"{file} is not the one that {RUN} names")
            elif file.endswith(".csv") and file not in outputs:
                differences.append(f"{file} does not come out again")
            elif file.endswith(".csv"):
                then, now = _without_words(published, outputs[file])
                differences += (
                    [f"{file} comes out differently{_first_difference(then, now)}"] if then != now else []
                )
    whole = {
        name: value for name, value in facts.items() if name not in ("outputs", *CIRCUMSTANCES, *FACTS_OF_WORDS)
    }
    if is_same and not differences and not _is_part_of(whole, again):
        differences.append(f"{RUN} comes out differently")
    return differences


def _without_words(published: bytes, again: bytes) -> list[bytes]:
    """Both tables with the columns of the published one alone, in their order, but for those of words."""
    both = [parse_texts(table, "the table", UsageError) for table in (published, again)]
    kept = [name for name in both[0] if name not in CELLS_OF_WORDS]
    return [table_bytes(table.reindex(columns=kept)) for table in both]


def _is_part_of(then: Any, now: Any) -> bool:
    """Tell whether all that was recorded is recorded now, too."""
    if isinstance(then, dict) and isinstance(now, dict):
        return all(name in now and _is_part_of(value, now[name]) for name, value in then.items())
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(_is_part_of, then, now))
    return bool(then == now)


def _changed_submissions(
    files: Sequence[Submission], now: list[dict[str, str]], then: list[dict[str, str]]
) -> list[str]:
    """List submissions that are not those that were scored, or of which the manifest says something else."""
    of_now = {(each["team"], each["submission"]): each for each in now}
    paths = {each[:2]: {"sha256": each.path, "side_sha256": each.side} for each in files}
    differences = []
    for each in [each for each in then if (each["team"], each["submission"]) in of_now]:
        key = each["team"], each["submission"]
        for name, what in OF_SUBMISSIONS.items():
            was, comes = each.get(name), of_now[key].get(name)
            path = paths[key].get(name)
            ends = ""
            if path and was and comes and was != comes:
                with suppress(UsageError):  # it may be a folder
                    ends = run_json.of_line_ends(read_bytes(path), was)
            told = f"{'/'.join(key)}{what} is {comes or NONE}, was {was or NONE}{ends}"
            differences += [told] if was != comes else []
    return differences


def changed_file(file: str, again: bytes | None, recorded: str | None, home: Path) -> list[str]:
    """Tell how a published table or page differs from the one that comes out again."""
    if again is None:
        return [f"{file} does not come out again"]
    path = home / file
    if path.is_symlink():
        return [f"{file} {A_LINK}"]
    if path.exists() and not path.is_file():
        return [f"{file} is no file"]
    if path.is_file() and (published := path.read_bytes()) != again:
        return [f"{file} comes out differently{_first_difference(published, again)}"]
    if output.digests({file: again})[file] != recorded:
        return [f"{RUN} does not name {file} with the SHA-256 that it comes out with"]
    return []


def _first_difference(published: bytes, again: bytes) -> str:
    """Show the first line that differs, or say that only line ends or a byte order mark differ."""
    was, comes = published.decode(errors="replace"), again.decode()
    if was.removeprefix("\ufeff").split() == comes.split():
        return ": only its white space, its line ends or its byte order mark differ"
    lines = itertools.zip_longest(was.splitlines(), comes.splitlines(), fillvalue="(nothing)")
    number, (line, other) = next((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1])
    shown = f"\n  published  {_around(line, other)}\n  again      {_around(other, line)}"
    return f", first in line {number}:{shown}"


def _around(line: str, other: str) -> str:
    """Shorten a long line to the part around its first difference from another line."""
    if max(len(line), len(other)) <= CHARACTERS_SHOWN:
        return line
    first = next((at for at, (a, b) in enumerate(zip(line, other)) if a != b), min(len(line), len(other)))
    start = max(0, first - CHARACTERS_SHOWN // 3)
    return f"{'…' if start else ''}{line[start : start + CHARACTERS_SHOWN]}"


def told_beside(facts: Mapping[str, Any], home: Path, paths: Sequence[Location]) -> tuple[list[str], list[str]]:
    """Tell which files beside a board could be taken for a part of it, and which others are not verified."""
    strangers = _strangers(facts, home, paths)
    # A name has several endings, such as .html and .gz, and one like .htaccess is an ending, too.
    parts = [name for name in strangers if LIKE_A_BOARD & {*Path(name.lower()).name.split(".")[1:]}]
    others = [name for name in strangers if name not in parts]
    told = [f"{name} does not belong to this run: run.json does not name it" for name in parts]
    told += [f"{RUN} {A_LINK}"] if (home / RUN).is_symlink() else []
    notices = [f"beside the board, but no part of it and not verified: {listed(others)}"] if others else []
    return told, notices


def _strangers(facts: Mapping[str, Any], home: Path, paths: Sequence[Location]) -> list[str]:
    """List the files below the folder that are neither parts of the board, nor inputs, nor of the store."""
    parts = {RUN, ".lock", output.ITEMS, *facts["outputs"]}
    inputs = [os.path.realpath(path) for path in paths]
    submissions = [path for path in inputs if os.path.isdir(path)]
    strangers = []
    for path in sorted(home.rglob("*")):
        name, real = path.relative_to(home).as_posix(), os.path.realpath(path)
        if path.is_dir() and not path.is_symlink():
            continue
        is_of_submission = any(real.startswith(folder + os.sep) for folder in submissions)
        if not (name in parts or ENTRY.fullmatch(name) or real in inputs or is_of_submission):
            strangers.append(name)
    return strangers
