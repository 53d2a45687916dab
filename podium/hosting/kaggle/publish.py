"""Publish a competition on Kaggle, step by step.

The file ``kaggle/state.json`` in the competition's folder records each step with a hash of what was sent.  A
step is done again only if its inputs have changed since.  The host's own settings are in ``kaggle/host.json``,
which podium reads but never changes.
"""

import hashlib
import json
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podium.contest import reading, way
from podium.hosting import leaks, round_trip
from podium.hosting.competition import PAGES, Competition, keep_parameters, pages, to_edit
from podium.hosting.folders import PERFECT, PUBLIC, STARTER
from podium.hosting.kaggle import acceptance, client, emulate
from podium.judge.trials import Use
from podium.metric import hosted
from podium.metric.shapes import demand
from podium.scoring import evaluating
from podium.scoring.evaluating import PARTS, USAGE
from podium.tables import records
from podium.tables.files import read_once, write_atomically
from podium.words.errors import HostError, ToolError, UsageError

HOST, METADATA, SETTINGS, STATE = "host.json", "competition-metadata.json", "settings.json", "state.json"
# The fields that Kaggle accepts when a competition is created, beside those that options of the command set.
METADATA_OF_THE_HOST = (
    "privacy",
    "disableKernels",
    "hackathon",
    "restrictLinkToEmailList",
    "clonePageNames",
    "licenseId",
    "organizationId",
    "numPrizes",
    "reward",
)
NOTEBOOK, KERNEL, YOU = "starter", "kernel-metadata.json", "YOUR-NAME"
SECONDS_BETWEEN_LOOKS = 10.0
DATA, TRY = "The competition's files", "a try of the host"  # the names under which the site lists what is sent
NOT_UPLOADED = "the upload failed: start the same command again"


@dataclass(frozen=True)
class Publication(Competition):
    """A competition, and how it is to be published."""

    slug: str  # the competition's name in its address on the site
    template: int | None  # the number of a competition to clone with its metric
    deadline: datetime | None  # When the competition closes, in UTC and without a time zone
    launch_at: datetime | None  # When the competition opens, in UTC and without a time zone
    wait: float  # the seconds to wait for the host's clicks on the site, and for the site's scores
    checked: evaluating.Solution | None = None  # the solution, once everything that will be sent was checked

    @property
    def own(self) -> Path:
        """The folder with pages, settings and state, which are not among the competition's files."""
        return self.folder / "kaggle"

    @property
    def page_files(self) -> dict[str, Path]:
        """The files of the pages to send, by name: those that podium writes and those that the host added."""
        names = {*PAGES, *(path.stem for path in (self.own / "pages").glob("*.md"))}
        return {name: self.own / "pages" / f"{name}.md" for name in sorted(names)}

    @property
    def tries(self) -> list[Path]:
        """The submissions that are sent to try the competition before it opens."""
        perfect = self.solution.with_name(PERFECT)
        return [self.sample, perfect] if perfect.is_file() else [self.sample]


class Step(NamedTuple):
    """One step of publishing."""

    do: Callable[[Publication], str]  # Does the step, and returns what to print about it
    # Returns everything on which the step depends: paths of files, and values that JSON can hold. If any of it
    # changes, the step is done again.
    inputs: Callable[[Publication], Iterable[object]]


def publish(plan: Publication, steps: list[str], again: bool, force: bool) -> Iterator[str]:
    """Do the steps that are not done yet, and those whose inputs have changed since; tell what is done."""
    plan, state = _checked(plan, steps)
    recorded = keep_parameters(plan)
    if recorded:
        yield f"parameters: {recorded}"
    edited = _write_own(plan, state)
    if edited:
        yield f"pages: these were edited and stay as they are: {', '.join(edited)}"
    done = state["steps"]
    for name in steps:
        inputs = _digest(STEPS[name].inputs(plan))
        if not again and done.get(name, {}).get("inputs") == inputs:
            yield f"{name}: done before"
            continue
        if name == "metric":
            yield _clicks(plan)
        try:
            if name == "launch":
                _check_launch(plan, done, force)
            if name == "create" and name in done and not again:
                said = f"{plan.slug} exists already; make later changes of {HOST} by hand on the site"
            else:
                said = STEPS[name].do(plan)
        except ToolError as problem:
            raise type(problem)(f"{name}: {problem}") from None
        done[name] = {"inputs": inputs, "said": said}
        _save(plan, state)
        yield f"{name}: {said}"
        if name == "launch":
            yield from _starter_clicks(plan)
    own = [Path(path).stem for path in edited]
    yield from to_edit(f"{plan.own / 'pages'}/", own)


def _checked(plan: Publication, steps: list[str]) -> tuple[Publication, dict[str, Any]]:
    """Check everything that will be sent, before anything is sent or written.

    Returns the plan, with the deadline of an earlier call if none is given now, and what was done before.
    """
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", plan.slug) or plan.slug.isdigit():
        raise UsageError(f"--slug {plan.slug}: expected lower-case letters, digits and single hyphens")
    state = _state(plan)
    before = state["deadline"] and datetime.fromisoformat(state["deadline"])
    opened = state["steps"].get("launch", {}).get("inputs") == _digest(STEPS["launch"].inputs(plan))
    dates = {
        "launch-at": plan.launch_at if "launch" in steps and not opened else None,
        "deadline": plan.deadline if plan.deadline != before else None,
    }
    for option, date in dates.items():
        if date is not None and date <= now():
            raise UsageError(f"--{option}: expected a date in the future, found {date.isoformat()} UTC")
    plan = replace(plan, deadline=plan.deadline or before)
    state["deadline"] = plan.deadline and plan.deadline.isoformat()
    solution, sample = read_once(plan.solution), read_once(plan.sample)
    ours = round_trip.of_podium(plan.metric, plan.arguments, solution, sample)
    row_id = plan.arguments["row_id_column_name"]
    theirs = round_trip.Seen(*emulate.read_tables(plan.metric, solution, sample, row_id)[:2])
    prepared = way.prepared(plan.metric, ours.solution, plan.arguments)
    given = plan.sample.name, acceptance.refusals, acceptance.PLATFORM
    scored = way.of_host(prepared, ours.submission, *given, use=Use.CHECK).scores
    read = round_trip.of_kaggle(plan.metric, plan.arguments, (ours, theirs), plan.sample.name, scored)
    demand(read, acceptance.PLATFORM)
    items = prepared.prepared[evaluating.ALL].items if prepared.prepared else []
    leaks.refuse(plan.folder, items, solution, (path for path in plan.page_files.values() if path.exists()))
    return replace(plan, checked=prepared), state


def now() -> datetime:
    """Tell the time."""
    return datetime.now(UTC).replace(tzinfo=None)


def _state(plan: Publication) -> dict[str, Any]:
    """Read what was done before: the slug, the deadline, the steps, and the hashes of the pages as podium wrote
    them.
    """
    path = plan.own / STATE
    state: dict[str, Any] = {"slug": plan.slug, "deadline": None, "pages": {}, "steps": {}}
    if not path.exists():
        return state
    step: Any = records.form("Done", {"inputs": str, "said": str})
    kinds = {"slug": str, "deadline": str | None, "pages": dict[str, str], "steps": dict[str, step]}
    state, fault = records.parsed(path.read_bytes(), records.form("State", kinds))
    if fault:
        raise UsageError(f"{path} is damaged: delete it to start over")
    if state["slug"] != plan.slug:
        raise UsageError(f"{plan.own} is of the competition {state['slug']}, not of {plan.slug}")
    return state


def _save(plan: Publication, state: dict[str, Any]) -> None:
    """Write what was done."""
    _write(plan.own / STATE, json.dumps(state, indent=2) + "\n")


def _digest(inputs: Iterable[object]) -> str:
    """The hash of a step's inputs: files count by their content, and everything else as JSON."""
    digest = hashlib.sha256()
    for each in inputs:
        data = each.read_bytes() if isinstance(each, Path) else json.dumps(each, sort_keys=True).encode()
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


def _check_launch(plan: Publication, done: dict[str, dict[str, str]], force: bool) -> None:
    """Check that every earlier step was done with the present files, so that what opens is what was tried."""
    stale = [
        name
        for name, step in STEPS.items()
        if name not in ("create", "benchmark", "launch")
        and done.get(name, {}).get("inputs") != _digest(step.inputs(plan))
    ]
    if stale and not force:
        raise UsageError(
            "expected everything to be sent and tried as it is now before the competition opens. Steps to do "
            f"first: {', '.join(stale)} (the same command without --step does them), or give --force"
        )


def commands(plan: Publication, steps: list[str]) -> list[str]:
    """Say what each step would do: the command of the package `kaggle`, or the clicks; nothing is sent or
    written.

    Pages, settings and metadata are written when the command runs without ``--dry-run``, so no command names
    them.
    """
    plan, _ = _checked(plan, steps)
    slug = plan.slug
    names = ", ".join(plan.page_files)
    lines: dict[str, list[list[str]]] = {
        "data": [["data", "update", slug, "-p", str(plan.folder / PUBLIC), "-m", DATA]],
        "solution": [["solution", "create", slug, "-p", str(plan.solution)]],
        "metric": [["solution", "status", slug]],
        "sandbox": [
            *(["submit", slug, "-f", str(path), "-m", TRY, "--sandbox"] for path in plan.tries),
            ["submissions", slug],
        ],
        "launch": [["launch", slug, *(["--at", plan.launch_at.isoformat()] if plan.launch_at else [])]],
    }
    words = {
        "create": f"create: a competition {slug}, {json.dumps(_metadata(plan)['privacy'])}",
        "pages": f"pages: {names}, to be written to {plan.own / 'pages'}",
        "settings": f"settings: {json.dumps(_settings(plan), ensure_ascii=False)}",
        "metric": _clicks(plan),
        "benchmark": f"benchmark: {plan.sample.name} in the sandbox once more, published as a row without a "
        "rank (--no-benchmark leaves it out)",
    }
    said: list[str] = []
    for step in steps:
        said += [words[step]] if step in words else []
        said += [shlex.join(["kaggle", "competitions", *line]) for line in lines.get(step, [])]
    return [*said, *_starter_clicks(plan)]


def _starter_clicks(plan: Publication) -> list[str]:
    """Say how the starter notebook gets to Kaggle, if there is one."""
    if STARTER not in plan.public:
        return []
    folder = plan.own / NOTEBOOK
    push = shlex.join(["kaggle", "kernels", "push", "-p", str(folder)])
    return [
        f"starter: once the competition is open, put your name on Kaggle for {YOU} in {folder / KERNEL}, which "
        f"is written before the steps, and type: {push}"
    ]


def _write_starter(plan: Publication) -> None:
    """Write the starter notebook with Kaggle's metadata, which the host's own name may be in already."""
    if STARTER not in plan.public:
        return
    folder = plan.own / NOTEBOOK
    _write(folder / STARTER, plan.public[STARTER].read_text(encoding="utf-8"))
    if not (folder / KERNEL).exists():
        metadata = {
            "id": f"{YOU}/{plan.slug}-starter",
            "title": f"{plan.slug} starter",
            "code_file": STARTER,
            "language": "python",
            "kernel_type": "notebook",
            "is_private": False,
            "enable_gpu": False,
            "enable_internet": False,
            "dataset_sources": [],
            "competition_sources": [plan.slug],
            "kernel_sources": [],
        }
        _write(folder / KERNEL, json.dumps(metadata, indent=2) + "\n")


def _write_own(plan: Publication, state: dict[str, Any]) -> list[str]:
    """Write the pages and settings that the steps send, except pages that the host has edited; list these."""
    _write(plan.own / METADATA, json.dumps(_metadata(plan), indent=2) + "\n")
    _write(plan.own / SETTINGS, json.dumps(_settings(plan), indent=2) + "\n")
    _write_starter(plan)
    edited = []
    for name, text in pages(plan, plan.deadline).items():
        path = plan.own / "pages" / f"{name}.md"
        written = state["pages"].get(name)
        if path.exists() and path.read_text(encoding="utf-8") != text and _digest([path]) != written:
            edited.append(str(path))
            continue
        _write(path, text)
        state["pages"][name] = _digest([path])
    _save(plan, state)
    return edited


def _write(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def _of_the_host(plan: Publication, section: str) -> dict[str, Any]:
    """A section of the host's own file: "competition" or "settings"."""
    path = plan.own / HOST
    if not path.exists():
        return {}
    fields: Any = records.form("Metadata", {}, dict.fromkeys(METADATA_OF_THE_HOST, Any))
    form = records.form("Host", {}, {"competition": fields, "settings": dict[str, Any]})
    content, fault = records.parsed(path.read_bytes(), form)
    if fault:
        raise UsageError(f'{path}: expected {{"competition": {{…}}, "settings": {{…}}}}, found {fault}')
    return dict(content.get(section, {}))


def _metadata(plan: Publication) -> dict[str, Any]:
    """The fields with which the competition is created."""
    ours = {
        "title": plan.title,
        "slug": plan.slug,
        "briefDescription": plan.subtitle,
        "privacy": "PUBLIC",
        "cloneCompetitionId": plan.template,
        "cloneExcludeCompetitionData": True if plan.template else None,
    }
    return ours | _of_the_host(plan, "competition")


def _settings(plan: Publication) -> dict[str, Any]:
    """The settings that can be changed after the competition was created."""
    settings = {"rules_required": True} | _of_the_host(plan, "settings")
    settings |= {"title": plan.title, "brief_description": plan.subtitle}
    return settings | ({"deadline": plan.deadline.isoformat()} if plan.deadline else {})


def create(plan: Publication) -> str:
    """Create the competition, unless it exists already."""
    try:
        with client.talking() as api:
            created = api.competition_create_new(str(plan.own))
    except HostError as problem:
        if not _is_ours(plan):
            raise
        return f"{plan.slug} exists already ({problem})"
    if created.ref != plan.slug:
        raise HostError(f"Kaggle calls it {created.ref}: start again with --slug {created.ref}")
    return str(created.url)


def _is_ours(plan: Publication) -> bool:
    """Whether the competition belongs to this host: the site lets nobody else read its settings."""
    try:
        with client.talking() as api:
            return bool(api.competition_get_settings(plan.slug).title == plan.title)
    except HostError:
        return False


def write_pages(plan: Publication) -> str:
    """Create or update every page, and publish it."""
    with client.talking() as api:
        there = {page.name.lower(): page.name for page in api.competition_list_pages(plan.slug) or []}
        for name, path in plan.page_files.items():
            if name in there:
                api.competition_update_page(
                    plan.slug, there[name], str(path), mime_type="text/markdown", is_published=True
                )
            else:
                api.competition_create_page(plan.slug, name, str(path), "text/markdown", publish=True)
    return ", ".join(plan.page_files)


def upload_data(plan: Publication) -> str:
    """Upload ``public/``, and check that every file arrived."""
    with client.talking() as api:
        api.competition_data_update(plan.slug, str(plan.folder / PUBLIC), DATA, quiet=True)
        # The package does not report failed uploads, so the site is asked for its list of files.
        found = client.pages(
            lambda token: api.competition_list_files(plan.slug, page_token=token, page_size=client.PAGE_SIZE)
        )
        listed = {file.name: file for page in found for file in page.files}
    for name, path in plan.public.items():
        if name not in listed or listed[name].total_bytes not in (0, path.stat().st_size):
            raise HostError(f"{name}: {NOT_UPLOADED}")
    return ", ".join(plan.public)


def upload_solution(plan: Publication) -> str:
    """Upload the solution."""
    with client.talking() as api:
        api.competition_create_solution(plan.slug, str(plan.solution), quiet=True)
    return plan.solution.name


def update_settings(plan: Publication) -> str:
    """Send title, subtitle, deadline and the host's own settings."""
    settings = _settings(plan)
    with client.talking() as api:
        api.competition_update_settings(plan.slug, settings)
    return ", ".join(settings)


def choose_metric(plan: Publication) -> str:
    """Wait until the host has set the metric on the site, and check how the site reads the solution."""

    def look() -> Any:
        with client.talking() as api:
            status = api.competition_get_solution_status(plan.slug)
        if status.setup_error:
            reason = client.one_line(status.setup_error)
            raise HostError(f"Kaggle cannot use the solution (--step solution uploads it again): {reason}")
        return status if status.ready and status.kernels_metric else None

    status = _awaited(plan, look, "the metric is not chosen or the solution is not read")
    assert plan.checked is not None
    solution = plan.checked.table
    pairs = {"the row id": (plan.arguments["row_id_column_name"], status.row_id_column_name)}
    for part in PARTS:
        theirs = getattr(status.solution_info, f"{part.lower()}_rows")
        pairs[f"{part} rows"] = int((solution[USAGE] == part).sum()), theirs
    for what, (ours, theirs) in pairs.items():
        if theirs != ours:
            raise HostError(f"{what} of the solution: expected {ours}, found {theirs} on the site")
    return ", ".join(f"{what}: {ours}" for what, (ours, _) in pairs.items())


def _clicks(plan: Publication) -> str:
    """The instructions for what the host has to do by hand on the site, unless it is done."""
    complete = "on" if plan.metric.complete_submission else "off"
    better = "on" if plan.better == "higher" else "off"
    parameters = hosted.settings(plan.metric, plan.arguments)
    settings = "".join(f"\n       {name} = {value}" for name, value in parameters.items())
    chosen = f", with these parameters:{settings}" if parameters else "; it has no parameters."
    return f"""\
metric: on https://www.kaggle.com/competitions/{plan.slug}, under Host and Evaluation Metric:
    1. New metric, with a Name, a Description of less than 255 characters and a Category; put the content of \
{plan.metric.path.name} into the notebook.
    2. In its sidebar: “Pass complete submission” {complete}, “higher score is better” {better}; Save, \
then Save & Validate.
    3. Choose it as the competition's metric{chosen}
    Then the site is asked how it reads the solution."""


def try_sandbox(plan: Publication) -> str:
    """Submit as the host, and compare the site's scores with podium's."""
    assert plan.checked is not None
    said = []
    for path in plan.tries:
        submission = reading.read_submission(plan.metric, path, plan.arguments)
        expected = way.unjudged(plan.checked, submission).scores
        result = _submitted(plan, path)
        for part in (part for part in PARTS if part in expected):
            shown = getattr(result, f"{part.lower()}_score")
            if not _is_rounded(shown, expected[part]):
                raise HostError(
                    f"the {part} score of {path.name}: expected {expected[part]:.6f}, found {shown or 'none'} "
                    "on the site: are the metric, its parameters and the solution the same?"
                )
            said.append(f"{path.name} {part} {shown}")
    return ", ".join(said)


def _submitted(plan: Publication, path: Path) -> Any:
    """Submit a file as the host, and wait for the site's result."""
    with client.talking() as api:
        answer = api.competition_submit(str(path), TRY, plan.slug, quiet=True, sandbox=True)
    if not answer.ref:
        raise HostError(f"{path.name}: {NOT_UPLOADED}")

    def look() -> Any:
        with client.talking() as api:
            result = client.ask(api, "get_submission", "ApiGetSubmissionRequest", ref=answer.ref)
        if result.status.name == "ERROR":
            raise HostError(f"Kaggle rejects {path.name}: {client.one_line(result.error_description)}")
        return result if result.status.name == "COMPLETE" else None

    return _awaited(plan, look, f"{path.name} is not scored")


def publish_benchmark(plan: Publication) -> str:
    """Publish the sample as a benchmark, a row of the site's board that has no rank."""
    result = _submitted(plan, plan.sample)
    with client.talking() as api:
        asked = {"submission_id": result.ref, "benchmark": True}
        client.ask(api, "update_submission_benchmark", "ApiUpdateSubmissionBenchmarkRequest", **asked)
    return f"{plan.sample.name} stands on the board without a rank"


def _is_rounded(text: str, score: float) -> bool:
    """Whether a text on the site is this score, rounded to the number of digits that the text has."""
    digits = len(str(text).partition(".")[2])
    return abs(client.number(text) - score) <= 0.5 * 10.0**-digits + 1e-12


def launch(plan: Publication) -> str:
    """Open the competition, now or at a date."""
    with client.talking() as api:
        api.competition_launch(plan.slug, plan.launch_at)
    return f"{plan.launch_at.isoformat()} UTC" if plan.launch_at else "now"


def _awaited(plan: Publication, look: Callable[[], Any], failure: str) -> Any:
    """Call a function until it returns something; a HostError if the time to wait is over before."""
    end = time.monotonic() + plan.wait
    while not (result := look()):
        if time.monotonic() >= end:
            raise HostError(
                f"{failure} after {plan.wait / 60:g} minutes: start the same command again to go on waiting"
            )
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return result


def _of_the_metric(plan: Publication) -> list[object]:
    """The inputs of steps that depend on the metric and its parameters."""
    return [plan.metric.path, plan.arguments, plan.metric.complete_submission, plan.better]


def _of_create(plan: Publication) -> list[object]:
    """The inputs of `create`, without title and subtitle: they are sent as settings, too, and may change."""
    return [
        {name: value for name, value in _metadata(plan).items() if name not in ("title", "briefDescription")}
    ]


STEPS: dict[str, Step] = {
    "create": Step(create, _of_create),
    "pages": Step(write_pages, lambda plan: [each for pair in plan.page_files.items() for each in pair]),
    "data": Step(upload_data, lambda plan: [each for pair in plan.public.items() for each in pair]),
    "solution": Step(upload_solution, lambda plan: [plan.solution]),
    "settings": Step(update_settings, lambda plan: [_settings(plan)]),
    "metric": Step(choose_metric, lambda plan: [*_of_the_metric(plan), plan.solution]),
    "sandbox": Step(try_sandbox, lambda plan: [*_of_the_metric(plan), plan.solution, *plan.tries]),
    "benchmark": Step(publish_benchmark, lambda plan: [*_of_the_metric(plan), plan.solution, plan.sample]),
    "launch": Step(launch, lambda plan: [plan.launch_at and plan.launch_at.isoformat()]),
}
