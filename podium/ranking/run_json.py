"""run.json: what is needed to rank again and to verify a board, and what the result was."""

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from podium.child.limits import Limits
from podium.common.errors import UsageError
from podium.common.options import fault_in, flag_of
from podium.common.version import __version__, commit
from podium.common.wording import printable
from podium.metric import hosted
from podium.ranking import basis
from podium.ranking.board import Inputs
from podium.ranking.final import FinalBoard
from podium.ranking.job import content_digest, opened, sha256, versions
from podium.ranking.passes import Scored
from podium.ranking.questions import Pool
from podium.ranking.rules import PATHS, RUN, Heading, Options, Rules
from podium.ranking.submissions import Submission, absolute, zips_at
from podium.running.settings import LARGEST
from podium.tables import records
from podium.tables.files import Location, ReadFile, open_regular, read_bytes

OF_MANIFEST = ("submitted_at", "public_score", "selected")  # what a manifest says of a submission
FOLDERS = ("submissions", "side")  # each submission stands in run.json with the hashes of its files
BESIDE = "beside"  # the other files that a metric executes, with their SHA-256
MARK = "\ufeff".encode()  # a byte order mark


# ---- From a run to its run.json ---------------------------------------------------------------------------


def facts_of(
    final: FinalBoard,
    pool: Pool,
    inputs: Inputs,
    scored: Sequence[Scored],
    command: Sequence[str],
) -> dict[str, Any]:
    """Collect the content of run.json, all but the hashes of the outputs."""
    options, out, job = final.options, final.folder, pool.job
    (_, of_metric), *beside_metric = job.metric_digests
    known = {"metric": of_metric, "solution": job.solution_digest, "submissions": inputs.manifest}

    def input_of(name: str, path: Location | None) -> dict[str, Any] | None:
        if path is None:
            return None
        digest = known.get(name) if name in (*known, *FOLDERS) else content_digest(path)
        more = {BESIDE: dict(beside_metric)} if name == "metric" and beside_metric else {}
        is_name = name == "metric" and path in hosted.names()
        return (
            {"path": str(path) if is_name else relative(path, out)}
            | ({"sha256": digest} if digest else {})
            | more
        )

    return {
        "command": list(command),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "page": of_fields(Heading, options) | {"team": options.teams_with_page or None},
        **final.facts,
        "parameters": {name: "inf" if value == math.inf else value for name, value in job.parameters},
        **({"part": job.part} if job.part else {}),
        "rules": of_fields(Rules, options) | {"resamples": final.resamples},
        "limits": job.limits._asdict(),
        "inputs": {
            name: input_of(name, path)
            for name, path in options.paths.items()
            if path or name in ("runtimes", "failed")
        },
        "store": relative(str(pool.store), out),
        "versions": versions() | ({"commit": here} if (here := commit()) else {}),
        "hardware": _hardware() | {"models": basis.machine_beside(options.runtimes)},
        "submissions": [_entry_of(*both) for both in zip(inputs.submissions, scored)],
    }


def of_fields(kind: type, options: object) -> dict[str, Any]:
    """The options that a class declares, by their names."""
    return {each.name: getattr(options, each.name) for each in fields(kind)}


def _hardware() -> dict[str, str | int | None]:
    """Describe this machine; `platform.platform` would start the program uname for it."""
    system = f"{platform.system()} {platform.release()}"
    return {"system": system, "machine": platform.machine(), "cores": os.cpu_count()}


def _entry_of(submission: Submission, result: Scored) -> dict[str, str]:
    """What run.json says of a submission."""
    known = {name: getattr(submission, name) for name in OF_MANIFEST} | {"side_sha256": result.side_digest}
    entry = {"team": submission.team, "submission": submission.name, "sha256": result.digest}
    return entry | {name: known[name] for name in ("side_sha256", *OF_MANIFEST) if known[name]}


def text_of(facts: Mapping[str, Any]) -> str:
    """Write the content of run.json as text; a path that is no UTF-8 gets question marks."""
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    return text.encode(errors="replace").decode()


def relative(path: Location, folder: Path) -> str:
    """Write a path relative to a folder."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # a path on another drive cannot be relative
        return absolute(path)


# ---- From a run.json to what it names ---------------------------------------------------------------------


def read(folder: Location) -> dict[str, Any]:
    """Read the run.json of a finished run."""
    path = Path(folder) / RUN if Path(folder).is_dir() else Path(folder)
    facts: dict[str, Any]
    facts, fault = records.parsed(_content_of(folder, path), dict[str, Any])
    if fault:
        raise UsageError(f"{path}: expected the run.json of podium rank; found {fault}")
    wrong = [
        name
        for name, form in _forms().items()
        if records.fault_in(facts.get(name), form) or not _is_whole(name, facts[name])
    ]
    made_by = facts["versions"]["podium"] if "versions" not in wrong else ""
    is_other = made_by.partition(".")[0] != __version__.partition(".")[0]
    if made_by and (is_other or (wrong and made_by != __version__)):
        raise UsageError(
            f"{path}: expected a run of podium {__version__}, found one of podium {made_by:.20}; "
            "read and verify it with that version"
        )
    if wrong:
        raise UsageError(f"{path}: expected the run.json of podium rank; '{wrong[0]}' is wrong or missing")
    return facts


def _content_of(given: Location, path: Path) -> bytes:
    """The content of a record, which may have been read."""
    if isinstance(given, ReadFile):
        return given.content
    try:
        with open_regular(path) as file:  # a pipe in a stranger's folder would be waited for without end
            return bytes(file.read())
    except OSError as problem:
        raise UsageError(
            f"cannot read {path}: {problem.strerror or problem}; expected a finished run"
        ) from None


def options_of(
    facts: dict[str, Any], folder: Path, given: Mapping[str, Location] = MappingProxyType({})
) -> Options:
    """Find out from a run.json what was asked for; inputs may be given in place of those that it names."""

    def path_of(name: str) -> Any:
        """The path of an input; names of metrics are not relative to the folder."""
        path = (facts["inputs"].get(name) or {}).get("path")
        if path is None or (name == "metric" and path in hosted.names()):
            return path
        return os.path.normpath(os.path.join(folder, path))

    inputs: dict[str, Any] = {name: given.get(name) or path_of(name) for name in PATHS}
    limits = facts["limits"]
    return Options(
        out=folder,
        **inputs,
        parameters={name: math.inf if value == "inf" else value for name, value in facts["parameters"].items()},
        part=facts.get("part", ""),
        **facts["rules"],
        **facts["page"],
        memory_limit=limits["memory"],
        time_limit=limits["seconds"],
        idle_limit=limits["idle"],
        given=frozenset({"resamples"}),  # their number is known now
    )


def recorded(folder: Location, given: Mapping[str, Location]) -> tuple[dict[str, Any], Options]:
    """Read the record of a finished run, and what was asked for; the inputs that are given count."""
    facts = read(folder)
    home = Path(folder) if Path(folder).is_dir() else Path(folder).parent
    options = options_of(facts, home, given)
    check_inputs(options, {name: f"{flag_of(name)} PATH" for name in PATHS if name not in given})
    return facts, opened(options)


def check_inputs(options: Options, named: Mapping[str, str]) -> None:
    """Make sure that inputs are there that only a record names; each name has the option that names another."""
    for name, option in named.items():
        path = options.paths[name]
        if path is None or (name == "metric" and path in hosted.names()):
            continue
        if not os.path.exists(path) and not (name == "submissions" and zips_at(path)):
            raise UsageError(
                f"{RUN} names {printable(path)[:200]}, which is not there; say where it is now: {option}"
            )


def changed(facts: Mapping[str, Any], options: Options) -> list[str]:
    """List the inputs that have changed since a run."""
    return [change for name in facts["inputs"] for change in changed_input(facts, options, name)]


def is_of_other_version(facts: Mapping[str, Any]) -> bool:
    """Whether another version of podium has made a board."""
    return bool(facts["versions"]["podium"] != __version__)


def has_own_of_other_version(facts: Mapping[str, Any], options: Options) -> bool:
    """Whether podium's own metric scores a board of another version, in which its file may have other words.

    It may be executed nevertheless, and the scores tell if it computes something else.
    """
    return options.metric in hosted.names() and is_of_other_version(facts)


def changed_metric(facts: Mapping[str, Any], options: Options) -> list[str]:
    """Say if any file that the metric would execute is not that of the run; then nobody vouches for it."""
    path, then = options.metric, facts["inputs"]["metric"]
    (_, now), *others = hosted.files_of(path).items()
    whole = f"the metric {path}"
    files, recorded = {whole: now} | dict(others), {whole: then["sha256"]} | then.get(BESIDE, {})
    return [
        change
        for name in files | recorded
        for what in [name if name == whole else f"{name} beside the metric"]
        for change in _changed(what, files.get(name), recorded.get(name))
    ]


def changed_input(facts: Mapping[str, Any], options: Options, name: str) -> list[str]:
    """Say if an input has changed since a run."""
    if name == "metric":
        return [] if has_own_of_other_version(facts, options) else changed_metric(facts, options)
    path, then = options.paths.get(name), facts["inputs"][name]
    if path is None or then is None or "sha256" not in then:
        return []
    what = f"the {name} {path}"
    if content_digest(path) == then["sha256"]:
        return []
    if os.path.isdir(path):
        return [f"{what} has changed since the earlier run"]
    return _changed(what, read_bytes(path), then["sha256"])


def _changed(what: str, now: bytes | None, then: str | None) -> list[str]:
    """Say if a file is not what it was in a run, or if there is one more or less."""
    if then is None:
        return [f"{what} would be executed, but the earlier run does not name it"]
    if now is None:
        return [f"{what} is not there or not executed any more"]
    digest = sha256(now)
    was = f"SHA-256 is {digest}, was {then}{of_line_ends(now, then)}"
    return [] if digest == then else [f"{what} has changed since the earlier run: {was}"]


def of_line_ends(now: bytes, then: str) -> str:
    """Say, behind two digests, if only the line ends or the byte order mark of a file have changed."""
    plain = now.removeprefix(MARK).replace(b"\r\n", b"\n")
    forms = [mark + text for mark in (b"", MARK) for text in (plain, plain.replace(b"\n", b"\r\n"))]
    is_same = then in map(sha256, forms)
    return "; only its line ends or its byte order mark differ" if is_same else ""


# ---- The form of a run.json -------------------------------------------------------------------------------


def _forms() -> dict[str, Any]:
    """The type of each part of a run.json that is read; what else it says was published for people."""
    from msgspec import Meta

    sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    path = Annotated[str, Meta(pattern="^[^\0]+$")]
    # What is read as it is, such as a folder, has no content that could be hashed.
    read = records.form("Input", {"path": path}, {"sha256": sha256})
    executed = records.form("Metric", {"path": path, "sha256": sha256}, {BESIDE: dict[str, sha256]})
    necessary = {"metric": executed, "solution": read, "submissions": read}
    texts = dict.fromkeys(("side_sha256", *OF_MANIFEST), str)
    sent: Any = records.form("Sent", {"team": str, "submission": str, "sha256": sha256 | None}, texts)
    others = {name: read | None for name in PATHS if name not in necessary}
    limits = {name: Annotated[kind, Meta(gt=0, lt=LARGEST)] for name, kind in Limits.__annotations__.items()}
    page = dict(Heading.__annotations__)
    return {
        "inputs": records.form("Inputs", necessary, others),
        "rules": records.form("Rules", Rules.__annotations__),
        "parameters": dict[str, str | int | float | bool | None],
        "submissions": Annotated[list[sent], Meta(min_length=1)],
        "store": str,
        "outputs": dict[Annotated[str, Meta(pattern=r"^[a-z0-9_]+\.(csv|html)\Z")], sha256],
        "versions": dict[str, str],
        "hardware": dict[str, str | int | None],
        "command": list[str],
        "limits": records.form("Limits", limits),
        "page": records.form("Heading", page, {"describe": page.pop("describe")}),
        "date": str,
    }  # fmt: skip


def _is_whole(name: str, part: Any) -> bool:
    """Tell whether a part of the right form also fits itself."""
    if name == "rules":
        return not fault_in(Rules(**part))
    if name == "limits":
        return all(each < LARGEST for each in part.values())  # NaN is not
    if name == "versions":
        return "podium" in part
    keys = [(each["team"], each["submission"]) for each in part] if name == "submissions" else []
    return keys == sorted(set(keys))
