"""Publish a competition on Kaggle, step by step.

What was done is kept in ``kaggle/state.json`` beside the files; a step done again updates what is there.
"""

import json
import re
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from podium import hosted, scoring
from podium.errors import HostError, ToolError, UsageError
from podium.files import write_atomically
from podium.hosting import kaggle
from podium.hosting.competition import Competition, pages
from podium.hosting.folders import PERFECT, PUBLIC
from podium.scoring import PARTS, USAGE

SETTINGS = "settings.json"
SECONDS_BETWEEN_LOOKS = 10.0
DATA, TRY = "The competition's files", "a try of the host"  # as the site lists them
NOT_UPLOADED = "the upload failed: start the same command again"


@dataclass(frozen=True)
class Plan(Competition):
    slug: str  # its address on the site
    template: int | None  # a competition to clone, with its metric
    deadline: datetime | None  # both in UTC without a time zone
    launch_at: datetime | None
    wait: float  # seconds

    @property
    def own(self) -> Path:
        return self.folder / "kaggle"

    @property
    def page_files(self) -> dict[str, Path]:
        return {path.stem: path for path in sorted((self.own / "pages").glob("*.md"))}

    @property
    def tries(self) -> list[Path]:
        perfect = self.solution.with_name(PERFECT)
        return [self.sample, perfect] if perfect.is_file() else [self.sample]


Say = Callable[[str], None]


def publish(plan: Plan, steps: list[str], again: bool, say: Say) -> None:
    """Do the steps; those done before only if `again`."""
    _write_own(plan)
    state = plan.own / "state.json"
    try:
        done = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
    except ValueError:
        raise UsageError(f"{state} is damaged: delete it to begin anew") from None
    if done.get("slug", plan.slug) != plan.slug:
        raise UsageError(f"{plan.own} is of the competition {done['slug']}, not of {plan.slug}")
    for step in steps:
        if not again and step in done:
            say(f"{step}: done before")
            continue
        try:
            said = STEPS[step](plan, say)
        except ToolError as problem:
            raise type(problem)(f"{step}: {problem}") from None
        done |= {"slug": plan.slug, step: said}
        _write(state, json.dumps(done, indent=2) + "\n")
        say(f"{step}: {said}")


def commands(plan: Plan, steps: list[str]) -> list[str]:
    """The command lines of the `kaggle` package that do the same."""
    _write_own(plan)
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


def _write_own(plan: Plan) -> None:
    """What the steps send; pages that are there may have been edited."""
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", plan.slug) or plan.slug.isdigit():
        raise UsageError(f"--slug {plan.slug}: expected lower-case letters, digits and single hyphens")
    metadata = {
        "title": plan.title,
        "slug": plan.slug,
        "briefDescription": plan.subtitle,
        "privacy": "PUBLIC",
        "cloneCompetitionId": plan.template,
        "cloneExcludeCompetitionData": True if plan.template else None,
    }
    _write(plan.own / "competition-metadata.json", json.dumps(metadata, indent=2) + "\n")
    _write(plan.own / SETTINGS, json.dumps(_settings(plan), indent=2) + "\n")
    for name, text in pages(plan).items():
        path = plan.own / "pages" / f"{name}.md"
        if not path.exists():
            _write(path, text)


def _write(path: Path, text: str) -> None:
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def _settings(plan: Plan) -> dict[str, Any]:
    settings: dict[str, Any] = {"title": plan.title, "brief_description": plan.subtitle, "rules_required": True}
    if plan.deadline is not None:
        settings["deadline"] = plan.deadline.isoformat()
    return settings


def create(plan: Plan, say: Say) -> str:
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
    with kaggle.talking() as api:
        api.competition_data_update(plan.slug, str(plan.folder / PUBLIC), DATA, quiet=True)
        # The package ignores failed uploads.
        listed = {file.name: file for file in api.competition_list_files(plan.slug, page_size=200).files}
    for path in plan.public:
        if path.name not in listed or listed[path.name].total_bytes not in (0, path.stat().st_size):
            raise HostError(f"{path.name}: {NOT_UPLOADED}")
    return ", ".join(path.name for path in plan.public)


def upload_solution(plan: Plan, say: Say) -> str:
    with kaggle.talking() as api:
        api.competition_create_solution(plan.slug, str(plan.solution), quiet=True)
    return plan.solution.name


def update_settings(plan: Plan, say: Say) -> str:
    settings = _settings(plan)
    with kaggle.talking() as api:
        api.competition_update_settings(plan.slug, settings)
    return ", ".join(settings)


def choose_metric(plan: Plan, say: Say) -> str:
    def look() -> Any:
        with kaggle.talking() as api:
            status = api.competition_get_solution_status(plan.slug)
        if status.setup_error:
            reason = kaggle.one_line(status.setup_error)
            raise HostError(f"Kaggle cannot use the solution (--step solution uploads it again): {reason}")
        return status if status.ready and status.kernels_metric else None

    if not look():
        say(_clicks(plan))
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


def _clicks(plan: Plan) -> str:
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
    Waiting for it …"""


def try_sandbox(plan: Plan, say: Say) -> str:
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


STEPS: dict[str, Callable[[Plan, Say], str]] = {
    "create": create,
    "pages": write_pages,
    "data": upload_data,
    "solution": upload_solution,
    "settings": update_settings,
    "metric": choose_metric,
    "sandbox": try_sandbox,
    "launch": launch,
}
