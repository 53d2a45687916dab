"""Publish a competition on Kaggle, step by step, up to the launch, which is the host's click.

Nothing is remembered between two calls: each step first looks at the site whether it has been done with the
present files. The host's own settings are in ``kaggle/host.json``, which podium reads but never changes.
"""

import json
import re
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podium.common.errors import HostError, ToolError, UsageError
from podium.contest import pipeline, reading
from podium.hosting import leaks, round_trip
from podium.hosting.competition import Competition, keep_parameters
from podium.hosting.competition_pages import PAGES, pages, to_edit
from podium.hosting.folders import PERFECT, PUBLIC, STARTER
from podium.hosting.kaggle import acceptance, client, emulate
from podium.metric.parameters import values_of
from podium.metric.shapes import demand
from podium.scoring import evaluating
from podium.scoring.evaluating import PARTS, USAGE
from podium.scoring.verdicts import Use
from podium.tables import records
from podium.tables.files import read_once, write_atomically

HOST, METADATA, SETTINGS = "host.json", "competition-metadata.json", "settings.json"
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
    wait: float  # the seconds to wait for the host's clicks on the site, and for the site's scores
    checked: evaluating.Solution | None = None  # the solution, once everything that will be sent was checked

    @property
    def own(self) -> Path:
        """The folder with pages and settings, which are not among the competition's files."""
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


def publish(plan: Publication, steps: list[str], again: bool) -> Iterator[str]:
    """Do the steps that the site does not show to be done, or all of them `again`; tell what is done."""
    plan = _checked(plan)
    recorded = keep_parameters(plan)
    if recorded:
        yield f"parameters: {recorded}"
    kept = _write_own(plan)
    if kept:
        yield (
            "pages: these are not what podium would write now, and stay as they are; delete one to have it "
            f"written again: {', '.join(kept)}"
        )
    for name in steps:
        try:
            if not again and STEPS[name].is_done(plan):
                yield f"{name}: done before"
                continue
            if name == "metric":
                yield _clicks(plan)
            said = STEPS[name].do(plan)
        except ToolError as problem:
            raise type(problem)(f"{name}: {problem}") from None
        yield f"{name}: {said}"
    yield from [_launch_clicks(plan), *_starter_clicks(plan)]
    yield from to_edit(f"{plan.own / 'pages'}/", [Path(path).stem for path in kept])


def _checked(plan: Publication) -> Publication:
    """Check everything that will be sent, before anything is sent or written."""
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", plan.slug) or plan.slug.isdigit():
        raise UsageError(f"--slug {plan.slug}: expected lower-case letters, digits and single hyphens")
    if plan.deadline is not None and plan.deadline <= now():
        raise UsageError(f"--deadline: expected a date in the future, found {plan.deadline.isoformat()} UTC")
    solution, sample = read_once(plan.solution), read_once(plan.sample)
    ours = round_trip.of_podium(plan.metric, plan.arguments, solution, sample)
    row_id = plan.arguments["row_id_column_name"]
    theirs = round_trip.Seen(*emulate.read_tables(plan.metric, solution, sample, row_id)[:2])
    prepared = pipeline.prepared(plan.metric, ours.solution, plan.arguments)
    given = plan.sample.name, acceptance.refusals, acceptance.PLATFORM
    scored = pipeline.of_host(prepared, ours.submission, *given, use=Use.CHECK).scores
    read = round_trip.of_kaggle(plan.metric, plan.arguments, (ours, theirs), plan.sample.name, scored)
    demand(read, acceptance.PLATFORM)
    items = prepared.prepared[evaluating.ALL].items if prepared.prepared else []
    leaks.refuse(plan.folder, items, solution)
    return replace(plan, checked=prepared)


def now() -> datetime:
    """Tell the time."""
    return datetime.now(UTC).replace(tzinfo=None)


def commands(plan: Publication, steps: list[str]) -> list[str]:
    """Say what each step would do: the command of the package `kaggle`, or the clicks; nothing is sent or
    written.

    Pages, settings and metadata are written when the command runs without ``--dry-run``, so no command names
    them.
    """
    plan = _checked(plan)
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
    }
    words = {
        "create": f"create: a competition {slug}, {json.dumps(_metadata(plan)['privacy'])}",
        "pages": f"pages: {names}, to be written to {plan.own / 'pages'}",
        "settings": f"settings: {json.dumps(_settings(plan), ensure_ascii=False)}",
        "metric": _clicks(plan),
        "benchmark": f"benchmark: {plan.sample.name} of the sandbox, published as a row without a rank "
        "(--no-benchmark leaves it out)",
    }
    said: list[str] = []
    for step in steps:
        said += [words[step]] if step in words else []
        said += [shlex.join(["kaggle", "competitions", *line]) for line in lines.get(step, [])]
    return [*said, _launch_clicks(plan), *_starter_clicks(plan)]


def _launch_clicks(plan: Publication) -> str:
    """Say how the competition opens."""
    return (
        f"launch: when everything is as you want it, open the competition on https://www.kaggle.com/competitions/"
        f"{plan.slug}, under Host"
    )


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


def _write_own(plan: Publication) -> list[str]:
    """Write the pages and settings that the steps send, and list the pages that are there with another text."""
    _write(plan.own / METADATA, json.dumps(_metadata(plan), indent=2) + "\n")
    _write(plan.own / SETTINGS, json.dumps(_settings(plan), indent=2) + "\n")
    _write_starter(plan)
    kept = []
    for name, text in pages(plan, plan.deadline).items():
        path = plan.own / "pages" / f"{name}.md"
        if not path.exists():
            _write(path, text)
        elif path.read_text(encoding="utf-8") != text:
            kept.append(str(path))
    return kept


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


# ---- The steps: whether the site shows that one is done, and how it is done ---------------------------------


def is_created(plan: Publication) -> bool:
    """Whether the competition belongs to this host: the site lets nobody else read its settings."""
    try:
        with client.talking() as api:
            return bool(api.competition_get_settings(plan.slug))
    except client.Refused:
        return False


def create(plan: Publication) -> str:
    """Create the competition."""
    with client.talking() as api:
        created = api.competition_create_new(str(plan.own))
    if created.ref != plan.slug:
        raise HostError(f"Kaggle calls it {created.ref}: start again with --slug {created.ref}")
    return str(created.url)


def are_pages_there(plan: Publication) -> bool:
    """Whether every page is published with its present text."""
    with client.talking() as api:
        there = {page.name.lower(): page for page in api.competition_list_pages(plan.slug) or []}
    return all(
        name in there and there[name].is_published and there[name].content == path.read_text(encoding="utf-8")
        for name, path in plan.page_files.items()
    )


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


def is_data_there(plan: Publication) -> bool:
    """Whether the site has exactly the files in ``public/``, since they were last changed."""
    with client.talking() as api:
        listed = _files_of(api, plan.slug)
    if listed.keys() != plan.public.keys():
        return False
    return all(
        _is_as_large(listed[name].total_bytes, path) and _is_since(listed[name].creation_date, path)
        for name, path in plan.public.items()
    )


def upload_data(plan: Publication) -> str:
    """Upload ``public/``, and check that every file arrived."""
    with client.talking() as api:
        api.competition_data_update(plan.slug, str(plan.folder / PUBLIC), DATA, quiet=True)
        listed = _files_of(api, plan.slug)  # The package does not report failed uploads.
    for name, path in plan.public.items():
        if name not in listed or not _is_as_large(listed[name].total_bytes, path):
            raise HostError(f"{name}: {NOT_UPLOADED}")
    return ", ".join(plan.public)


def _files_of(api: Any, slug: str) -> dict[str, Any]:
    """The competition's files on the site by their names."""
    found = client.pages(
        lambda token: api.competition_list_files(slug, page_token=token, page_size=client.PAGE_SIZE)
    )
    return {file.name: file for page in found for file in page.files}


def _is_as_large(size: int, path: Path) -> bool:
    """Whether the site says that a file has its size; it may not know."""
    return size in (0, path.stat().st_size)


def _is_since(date: datetime | None, *paths: Path) -> bool:
    """Whether a date of the site, in UTC and without a time zone, is after the last change of files."""
    changed = max(path.stat().st_mtime for path in paths)
    return date is not None and date >= datetime.fromtimestamp(changed, UTC).replace(tzinfo=None)


def is_solution_there(plan: Publication) -> bool:
    """Whether the site has read the solution since it was last changed."""
    status = _status(plan)
    info = status.solution_info
    if status.setup_error or info is None:
        return False
    return _is_as_large(info.file_size_bytes, plan.solution) and _is_since(info.upload_date, plan.solution)


def upload_solution(plan: Publication) -> str:
    """Upload the solution."""
    with client.talking() as api:
        api.competition_create_solution(plan.slug, str(plan.solution), quiet=True)
    return plan.solution.name


def _status(plan: Publication) -> Any:
    """How the site has read the solution, and whether the metric is chosen."""
    with client.talking() as api:
        return api.competition_get_solution_status(plan.slug)


def are_settings_there(plan: Publication) -> bool:
    """Whether the site has the settings that would be sent."""
    with client.talking() as api:
        there = api.competition_get_settings(plan.slug)
    ours = _settings(plan)
    if plan.deadline:
        ours["deadline"] = plan.deadline
    return all(getattr(there, name, None) == value for name, value in ours.items())


def update_settings(plan: Publication) -> str:
    """Send title, subtitle, deadline and the host's own settings."""
    settings = _settings(plan)
    with client.talking() as api:
        api.competition_update_settings(plan.slug, settings)
    return ", ".join(settings)


def is_metric_chosen(plan: Publication) -> bool:
    """Whether the host has chosen a metric, with which the site has read the solution as podium does."""
    status = _status(plan)
    return bool(status.ready and status.kernels_metric) and not _read_otherwise(plan, status)


def choose_metric(plan: Publication) -> str:
    """Wait until the host has set the metric on the site, and check how the site reads the solution."""

    def look() -> Any:
        status = _status(plan)
        if status.setup_error:
            reason = client.one_line(status.setup_error)
            raise HostError(f"Kaggle cannot use the solution (--step solution uploads it again): {reason}")
        return status if status.ready and status.kernels_metric else None

    status = _awaited(plan, look, "the metric is not chosen or the solution is not read")
    if otherwise := _read_otherwise(plan, status):
        raise HostError(otherwise)
    return ", ".join(f"{what}: {ours}" for what, (ours, _) in _as_read(plan, status).items())


def _as_read(plan: Publication, status: Any) -> dict[str, tuple[Any, Any]]:
    """What podium and the site know of the solution: the name of the row ids, and the rows of each part."""
    assert plan.checked is not None
    solution = plan.checked.table
    pairs = {"the row id": (plan.arguments["row_id_column_name"], status.row_id_column_name)}
    for part in PARTS:
        theirs = getattr(status.solution_info, f"{part.lower()}_rows")
        pairs[f"{part} rows"] = int((solution[USAGE] == part).sum()), theirs
    return pairs


def _read_otherwise(plan: Publication, status: Any) -> str:
    """Say what the site has read otherwise than podium; "" if it is the same."""
    for what, (ours, theirs) in _as_read(plan, status).items():
        if theirs != ours:
            return f"{what} of the solution: expected {ours}, found {theirs} on the site"
    return ""


def _clicks(plan: Publication) -> str:
    """The instructions for what the host has to do by hand on the site, unless it is done."""
    complete = "on" if plan.metric.complete_submission else "off"
    better = "on" if plan.better == "higher" else "off"
    parameters = values_of(plan.metric, plan.arguments)
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


def _tried(plan: Publication, path: Path) -> Any:
    """The site's result of the last try with a file; None if it is older than the file or what scores it."""
    with client.talking() as api:
        listed = api.competition_submissions(plan.slug, page_size=client.PAGE_SIZE) or []
    files = path, plan.solution, plan.metric.path
    found = [
        each
        for each in listed
        if each.file_name == path.name and each.description == TRY and each.status.name == "COMPLETE"
    ]
    last = max(found, key=lambda each: each.date, default=None)
    return last if last is not None and _is_since(last.date, *files) else None


def is_tried(plan: Publication) -> bool:
    """Whether the site's last scores of all tries are podium's."""
    results = [(path, _tried(plan, path)) for path in plan.tries]
    return all(result is not None and not _differing(plan, path, result) for path, result in results)


def try_sandbox(plan: Publication) -> str:
    """Submit as the host, and compare the site's scores with podium's."""
    said = []
    for path in plan.tries:
        result = _submitted(plan, path)
        if differing := _differing(plan, path, result):
            raise HostError(differing)
        said += [f"{path.name} {part} {_shown(result, part)}" for part in _expected(plan, path)]
    return ", ".join(said)


def _expected(plan: Publication, path: Path) -> dict[str, float]:
    """What podium scores a try, by the site's parts."""
    assert plan.checked is not None
    submission = reading.read_submission(plan.metric, path, plan.arguments)
    scores = pipeline.unjudged(plan.checked, submission).scores
    return {part: scores[part] for part in PARTS if part in scores}


def _shown(result: Any, part: str) -> str:
    """The site's score of a part, as it shows it."""
    return str(getattr(result, f"{part.lower()}_score") or "")


def _differing(plan: Publication, path: Path, result: Any) -> str:
    """Say in which part the site's score of a try is another one than podium's; "" if there is none."""
    for part, expected in _expected(plan, path).items():
        shown = _shown(result, part)
        if not _is_rounded(shown, expected):
            return (
                f"the {part} score of {path.name}: expected {expected:.6f}, found {shown or 'none'} "
                "on the site: are the metric, its parameters and the solution the same?"
            )
    return ""


def publish_benchmark(plan: Publication) -> str:
    """Publish the sample as a benchmark, a row of the board without a rank; twice is the same as once."""
    result = _tried(plan, plan.sample) or _submitted(plan, plan.sample)
    with client.talking() as api:
        asked = {"submission_id": result.ref, "benchmark": True}
        client.ask(api, "update_submission_benchmark", "ApiUpdateSubmissionBenchmarkRequest", **asked)
    return f"{plan.sample.name} stands on the board without a rank"


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


def _is_rounded(text: str, score: float) -> bool:
    """Whether a text on the site is this score, rounded to the number of digits that the text has."""
    digits = len(str(text).partition(".")[2])
    return abs(client.number(text) - score) <= 0.5 * 10.0**-digits + 1e-12


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


class Step(NamedTuple):
    """One step of publishing."""

    is_done: Callable[[Publication], bool]  # whether the site shows it
    do: Callable[[Publication], str]  # which returns what to print about it


STEPS: dict[str, Step] = {
    "create": Step(is_created, create),
    "pages": Step(are_pages_there, write_pages),
    "data": Step(is_data_there, upload_data),
    "solution": Step(is_solution_there, upload_solution),
    "settings": Step(are_settings_there, update_settings),
    "metric": Step(is_metric_chosen, choose_metric),
    "sandbox": Step(is_tried, try_sandbox),
    "benchmark": Step(lambda plan: False, publish_benchmark),  # the site does not show it
}
