"""Publish a competition on Kaggle, step by step.

``kaggle/state.json`` beside the files remembers each step with a hash of what was sent: a step whose inputs
have changed is done again, all others are not. The host's own settings are in ``kaggle/host.json``, which is
read and never changed.
"""

import hashlib
import json
import re
import shlex
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from podium import hosted, scoring
from podium.errors import HostError, ToolError, UsageError
from podium.files import write_atomically
from podium.hosting import kaggle, leaks
from podium.hosting.competition import PAGES, Competition, pages
from podium.hosting.folders import PERFECT, PUBLIC
from podium.scoring import PARTS, USAGE

HOST, METADATA, SETTINGS, STATE = "host.json", "competition-metadata.json", "settings.json", "state.json"
# What the site takes when a competition is created, beside what the options of the command say.
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
SETTINGS_OF_OPTIONS = ("title", "brief_description", "briefDescription", "deadline")
SECONDS_BETWEEN_LOOKS = 10.0
DATA, TRY = "The competition's files", "a try of the host"  # as the site lists them
NOT_UPLOADED = "the upload failed: start the same command again"


@dataclass(frozen=True)
class Plan(Competition):
    """A competition, and how it is to be published.

    Attributes
    ----------
    slug : str
        Its address on the site.
    template : int or None
        A competition to clone, with its metric.
    deadline, launch_at : datetime or None
        When it closes and opens, in UTC without a time zone.
    wait : float
        Seconds to wait for clicks and scores.
    """

    slug: str
    template: int | None
    deadline: datetime | None
    launch_at: datetime | None
    wait: float

    @property
    def own(self) -> Path:
        """The folder of what is sent beside the competition's files."""
        return self.folder / "kaggle"

    @property
    def page_files(self) -> dict[str, Path]:
        """The pages to send, by name: ours, and those that the host has added."""
        names = {*PAGES, *(path.stem for path in (self.own / "pages").glob("*.md"))}
        return {name: self.own / "pages" / f"{name}.md" for name in sorted(names)}

    @property
    def tries(self) -> list[Path]:
        """The submissions of the sandbox."""
        perfect = self.solution.with_name(PERFECT)
        return [self.sample, perfect] if perfect.is_file() else [self.sample]


Say = Callable[[str], None]


class Step(NamedTuple):
    """One step of publishing.

    Attributes
    ----------
    do : callable
        Does it, and returns what to say of it.
    inputs : callable
        All that it depends on, as JSON or bytes: if that changes, the step is done again.
    """

    do: Callable[[Plan, Say], str]
    inputs: Callable[[Plan], Iterable[object]]


def publish(plan: Plan, steps: list[str], again: bool, force: bool, say: Say) -> None:
    """Do the steps that are not done yet, or whose inputs have changed since.

    Parameters
    ----------
    plan : Plan
        What to publish.
    steps : list of str
        Names of `STEPS`, in their order.
    again : bool
        Do all of them, whatever was done before.
    force : bool
        Launch even if an earlier step was not done with what is there now.
    say : callable
        Prints a line.

    Raises
    ------
    HostError
        A public file tells the solution, or the site refuses.
    UsageError
        Something cannot be done as it is asked for; nothing was sent by that step.
    """
    state = _state(plan)
    _check_dates(plan, steps, state)
    plan = _with_remembered_deadline(plan, state)
    check_what_goes_out(plan)
    _write_own(plan, state, say)
    done = state["steps"]
    clicks = _digest(_of_the_metric(plan))
    for name in steps:
        inputs = _digest(STEPS[name].inputs(plan))
        if not again and name in done and done[name]["inputs"] == inputs:
            say(f"{name}: done before")
            continue
        try:
            if name == "launch":
                _check_launch(plan, done, force)
            is_there = name == "create" and name in done and not again
            said = _repeated_create(plan) if is_there else STEPS[name].do(plan, say)
        except ToolError as problem:
            raise type(problem)(f"{name}: {problem}") from None
        if name == "metric" and state["clicks"] not in (None, clicks):
            say(_clicks(plan, "They have changed since they were last set."))
        if name == "metric":
            state["clicks"] = clicks
        done[name] = {"inputs": inputs, "said": said}
        _save(plan, state)
        say(f"{name}: {said}")


def check_what_goes_out(plan: Plan) -> None:
    """Refuse to send a file or a page that tells the solution, or a slug that the site refuses."""
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", plan.slug) or plan.slug.isdigit():
        raise UsageError(f"--slug {plan.slug}: expected lower-case letters, digits and single hyphens")
    solution = scoring.read_solution(plan.metric, plan.solution, plan.arguments)
    prepared = scoring.prepare(plan.metric, solution, plan.arguments).prepared
    items = prepared[scoring.ALL].items if prepared else []
    leaks.refuse(plan.folder, items, (path for path in plan.page_files.values() if path.exists()))


def _check_dates(plan: Plan, steps: list[str], state: dict[str, Any]) -> None:
    """What is still to be sent lies in the future."""
    opened = state["steps"].get("launch", {}).get("inputs") == _digest(STEPS["launch"].inputs(plan))
    dates = {"launch-at": plan.launch_at if "launch" in steps and not opened else None}
    dates["deadline"] = (
        None if plan.deadline and plan.deadline.isoformat() == state["deadline"] else plan.deadline
    )
    for option, date in dates.items():
        if date is not None and date <= now():
            raise UsageError(f"--{option}: expected a date in the future, found {date.isoformat()} UTC")


def now() -> datetime:
    """The time, in UTC without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def _state(plan: Plan) -> dict[str, Any]:
    """What was done: slug, deadline, hashes of the pages as written and of what was to click, and the steps."""
    path = plan.own / STATE
    empty: dict[str, Any] = {"slug": plan.slug, "deadline": None, "pages": {}, "clicks": None, "steps": {}}
    if not path.exists():
        return empty
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        steps = state.get("steps", {})
        if not all({"inputs", "said"} <= step.keys() for step in steps.values()):
            raise ValueError
    except (ValueError, AttributeError, TypeError):
        raise UsageError(f"{path} is damaged: delete it to begin anew") from None
    if state.get("slug", plan.slug) != plan.slug:
        raise UsageError(f"{plan.own} is of the competition {state['slug']}, not of {plan.slug}")
    return empty | {name: state[name] for name in empty if name in state}


def _with_remembered_deadline(plan: Plan, state: dict[str, Any]) -> Plan:
    """A deadline that was given once stays, if no other is given."""
    if plan.deadline is not None:
        state["deadline"] = plan.deadline.isoformat()
    elif state["deadline"] is not None:
        return replace(plan, deadline=datetime.fromisoformat(state["deadline"]))
    return plan


def _save(plan: Plan, state: dict[str, Any]) -> None:
    _write(plan.own / STATE, json.dumps(state, indent=2) + "\n")


def _digest(inputs: Iterable[object]) -> str:
    """Of a step's inputs: files by their content, everything else as JSON."""
    digest = hashlib.sha256()
    for each in inputs:
        data = each.read_bytes() if isinstance(each, Path) else json.dumps(each, sort_keys=True).encode()
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()


def _check_launch(plan: Plan, done: dict[str, dict[str, str]], force: bool) -> None:
    """What opens is what was tried: every earlier step was done with what is there now."""
    stale = [
        name
        for name, step in STEPS.items()
        if name not in ("create", "launch") and done.get(name, {}).get("inputs") != _digest(step.inputs(plan))
    ]
    if stale and not force:
        raise UsageError(
            f"expected that what opens was sent and tried as it is now; not so of {', '.join(stale)}: do these "
            "steps first (the same command without --step), or give --force"
        )


def _repeated_create(plan: Plan) -> str:
    return f"{plan.slug} is there; the site takes no later change of {HOST} but by hand"


def commands(plan: Plan, steps: list[str]) -> list[str]:
    """The command lines of the `kaggle` package that do the same; nothing is written.

    Parameters
    ----------
    plan : Plan
        What to publish.
    steps : list of str
        Names of `STEPS`.

    Returns
    -------
    list of str
        As for a shell.
    """
    check_what_goes_out(plan)
    slug = plan.slug
    page = ["--mime-type", "text/markdown", "--publish"]
    lines: dict[str, list[list[str]]] = {
        "create": [["create", "-p", str(plan.own)]],
        "pages": [
            # A name before the options would be taken for one.
            ["pages", "create", "-c", slug, "--page-name", name, "-f", str(path), *page]
            for name, path in plan.page_files.items()
        ],
        "data": [["data", "update", slug, "-p", str(plan.folder / PUBLIC), "-m", DATA]],
        "solution": [["solution", "create", slug, "-p", str(plan.solution)]],
        "settings": [["settings", "update", slug, "--from-file", str(plan.own / SETTINGS)]],
        "metric": [["solution", "status", slug]],
        "sandbox": [
            *(["submit", slug, "-f", str(path), "-m", TRY, "--sandbox"] for path in plan.tries),
            ["submissions", slug],
        ],
        "launch": [["launch", slug, *(["--at", plan.launch_at.isoformat()] if plan.launch_at else [])]],
    }
    return [shlex.join(["kaggle", "competitions", *line]) for step in steps for line in lines[step]]


def _write_own(plan: Plan, state: dict[str, Any], say: Say) -> None:
    """Write what the steps send. Pages that somebody has edited stay as they are."""
    _write(plan.own / METADATA, json.dumps(_metadata(plan), indent=2) + "\n")
    _write(plan.own / SETTINGS, json.dumps(_settings(plan), indent=2) + "\n")
    kept = []
    for name, text in pages(plan).items():
        path = plan.own / "pages" / f"{name}.md"
        written = state["pages"].get(name)
        if path.exists() and path.read_text(encoding="utf-8") != text and _digest([path]) != written:
            kept.append(str(path))
            continue
        _write(path, text)
        state["pages"][name] = _digest([path])
    if kept:
        say(f"pages: kept as they were edited: {', '.join(kept)}")
    _save(plan, state)


def _write(path: Path, text: str) -> None:
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def _of_the_host(plan: Plan, section: str) -> dict[str, Any]:
    """A section of the host's own file: "competition" or "settings"."""
    path = plan.own / HOST
    if not path.exists():
        return {}
    expected = f'{path}: expected {{"competition": {{…}}, "settings": {{…}}}}'
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise UsageError(f"{expected}, found no JSON: {problem}") from None
    if not isinstance(content, dict) or not all(isinstance(each, dict) for each in content.values()):
        raise UsageError(expected)
    unknown = sorted({*content} - {"competition", "settings"})
    unknown += sorted({*content.get("competition", {})} - {*METADATA_OF_THE_HOST})
    if unknown:
        fields = ", ".join(METADATA_OF_THE_HOST)
        raise UsageError(f"{expected}, with {fields} in the former; found {', '.join(unknown)}")
    taken = sorted({*content.get("settings", {})} & {*SETTINGS_OF_OPTIONS})
    if taken:
        raise UsageError(f"{path}: {', '.join(taken)}: expected as --title, --subtitle and --deadline")
    return dict(content.get(section, {}))


def _metadata(plan: Plan) -> dict[str, Any]:
    ours = {
        "title": plan.title,
        "slug": plan.slug,
        "briefDescription": plan.subtitle,
        "privacy": "PUBLIC",
        "cloneCompetitionId": plan.template,
        "cloneExcludeCompetitionData": True if plan.template else None,
    }
    return ours | _of_the_host(plan, "competition")


def _settings(plan: Plan) -> dict[str, Any]:
    settings: dict[str, Any] = {"title": plan.title, "brief_description": plan.subtitle, "rules_required": True}
    if plan.deadline is not None:
        settings["deadline"] = plan.deadline.isoformat()
    return settings | _of_the_host(plan, "settings")


def create(plan: Plan, say: Say) -> str:
    """Create the competition, or find that it is there already."""
    try:
        with kaggle.talking() as api:
            created = api.competition_create_new(str(plan.own))
    except HostError as problem:
        if not _is_ours(plan):
            raise
        return f"{plan.slug} was there already ({problem})"
    if created.ref != plan.slug:
        raise HostError(f"Kaggle calls it {created.ref}: start again with --slug {created.ref}")
    return str(created.url)


def _is_ours(plan: Plan) -> bool:
    """Only its host may read its settings."""
    try:
        with kaggle.talking() as api:
            return bool(api.competition_get_settings(plan.slug).title == plan.title)
    except HostError:
        return False


def write_pages(plan: Plan, say: Say) -> str:
    """Create or update every page, and publish it."""
    with kaggle.talking() as api:
        there = {page.name.lower(): page.name for page in api.competition_list_pages(plan.slug) or []}
        for name, path in plan.page_files.items():
            if name in there:
                api.competition_update_page(
                    plan.slug, there[name], str(path), mime_type="text/markdown", is_published=True
                )
            else:
                api.competition_create_page(plan.slug, name, str(path), "text/markdown", publish=True)
    return ", ".join(plan.page_files)


def upload_data(plan: Plan, say: Say) -> str:
    """Upload ``public/``, and look whether all of it arrived."""
    with kaggle.talking() as api:
        api.competition_data_update(plan.slug, str(plan.folder / PUBLIC), DATA, quiet=True)
        # The package ignores failed uploads.
        listed = {file.name: file for file in api.competition_list_files(plan.slug, page_size=200).files}
    for name, path in plan.public.items():
        if name not in listed or listed[name].total_bytes not in (0, path.stat().st_size):
            raise HostError(f"{name}: {NOT_UPLOADED}")
    return ", ".join(plan.public)


def upload_solution(plan: Plan, say: Say) -> str:
    """Upload the solution."""
    with kaggle.talking() as api:
        api.competition_create_solution(plan.slug, str(plan.solution), quiet=True)
    return plan.solution.name


def update_settings(plan: Plan, say: Say) -> str:
    """Send title, subtitle, deadline and the host's own settings."""
    settings = _settings(plan)
    with kaggle.talking() as api:
        api.competition_update_settings(plan.slug, settings)
    return ", ".join(settings)


def choose_metric(plan: Plan, say: Say) -> str:
    """Say what to click, wait for it, and compare what the site has read of the solution."""

    def look() -> Any:
        with kaggle.talking() as api:
            status = api.competition_get_solution_status(plan.slug)
        if status.setup_error:
            reason = kaggle.one_line(status.setup_error)
            raise HostError(f"Kaggle cannot use the solution (--step solution uploads it again): {reason}")
        return status if status.ready and status.kernels_metric else None

    if not look():
        say(_clicks(plan, "Waiting for it …"))
    status = _awaited(plan, look, "the metric is not chosen, or the solution not read")
    solution = scoring.read_solution(plan.metric, plan.solution, plan.arguments)
    pairs = {"the row id": (plan.arguments["row_id_column_name"], status.row_id_column_name)}
    for part in PARTS:
        theirs = getattr(status.solution_info, f"{part.lower()}_rows")
        pairs[f"{part} rows"] = int((solution[USAGE] == part).sum()), theirs
    for what, (ours, theirs) in pairs.items():
        if theirs != ours:
            raise HostError(f"{what} of the solution: expected {ours}, found {theirs} on the site")
    return ", ".join(f"{what}: {ours}" for what, (ours, _) in pairs.items())


def _clicks(plan: Plan, ending: str) -> str:
    """What to do by hand."""
    complete, better = "on" if plan.complete else "off", "on" if plan.better == "higher" else "off"
    parameters = hosted.settings(plan.metric, plan.arguments)
    settings = "\n".join(f"       {name} = {value}" for name, value in parameters.items())
    return f"""\
metric: on https://www.kaggle.com/competitions/{plan.slug}, under Host and Evaluation Metric:
    1. New metric; put the content of {plan.metric.path.name} into the notebook.
    2. In its sidebar: “Pass complete submission” {complete}, “higher score is better” {better}; Save, \
then Save & Validate.
    3. Choose it as the competition's metric, with these parameters:
{settings}
    {ending}"""


def try_sandbox(plan: Plan, say: Say) -> str:
    """Submit as the host, and compare the site's scores with podium's."""
    solution = scoring.read_solution(plan.metric, plan.solution, plan.arguments)
    prepared = scoring.prepare(plan.metric, solution, plan.arguments)
    said = []
    for path in plan.tries:
        submission = scoring.read_submission(plan.metric, path, plan.arguments)
        expected = scoring.evaluate(prepared, submission).scores
        result = _submitted(plan, path)
        for part in PARTS:
            shown = getattr(result, f"{part.lower()}_score")
            if not _is_rounded(shown, expected[part]):
                raise HostError(
                    f"the {part} score of {path.name}: expected {expected[part]:.6f}, found {shown or 'none'} "
                    "on the site: are the metric, its parameters and the solution the same?"
                )
            said.append(f"{path.name} {part} {shown}")
    return ", ".join(said)


def _submitted(plan: Plan, path: Path) -> Any:
    with kaggle.talking() as api:
        answer = api.competition_submit(str(path), TRY, plan.slug, quiet=True, sandbox=True)
    if not answer.ref:
        raise HostError(f"{path.name}: {NOT_UPLOADED}")

    def look() -> Any:
        with kaggle.talking() as api:
            result = kaggle.ask(api, "get_submission", "ApiGetSubmissionRequest", ref=answer.ref)
        if result.status.name == "ERROR":
            raise HostError(f"Kaggle rejects {path.name}: {kaggle.one_line(result.error_description)}")
        return result if result.status.name == "COMPLETE" else None

    return _awaited(plan, look, f"{path.name} is not scored")


def _is_rounded(text: str, score: float) -> bool:
    """Whether the text is the score, at its digits."""
    digits = len(str(text).partition(".")[2])
    return abs(kaggle.number(text) - score) <= 0.5 * 10.0**-digits + 1e-12


def launch(plan: Plan, say: Say) -> str:
    """Open the competition, now or at a date."""
    with kaggle.talking() as api:
        api.competition_launch(plan.slug, plan.launch_at)
    return f"{plan.launch_at.isoformat()} UTC" if plan.launch_at else "now"


def _awaited(plan: Plan, look: Callable[[], Any], failure: str) -> Any:
    end = time.monotonic() + plan.wait
    while not (found := look()):
        if time.monotonic() >= end:
            raise HostError(
                f"{failure} after {plan.wait / 60:g} minutes: start the same command again to go on waiting"
            )
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return found


def _of_the_metric(plan: Plan) -> list[object]:
    return [plan.metric.path, plan.arguments, plan.complete, plan.better]


def _of_create(plan: Plan) -> list[object]:
    """Title and subtitle are sent as settings, too, and may change."""
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
    "launch": Step(launch, lambda plan: [plan.launch_at and plan.launch_at.isoformat()]),
}
