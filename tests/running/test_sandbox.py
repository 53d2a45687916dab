"""Models that attack the sandbox fail without doing harm."""

import itertools
import re
from pathlib import Path

import pytest

from podium.running import control_groups, engines, supervisor, syscalls
from podium.running.models import Model, find_model
from podium.running.rounds import _outcome
from tests.running.bait import Bait, unharmed
from tests.running.support import needs_sandbox, settings_for, write_model
from tests.support.hostile import HOSTILE, PRELUDE, SECRET, Hostile

pytestmark = needs_sandbox

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "sandbox.md"


# One attack of each kind; the others run with the slow tests.
QUICK = {
    "network, IPv4 and IPv6",
    "the machine's unix sockets, with a path and abstract",
    "the solution, other models, home, the results",
    "other processes in /proc, and open files it inherited",
    "writing outside",
    "submission.csv as a link to the solution",
    "more processes than allowed",
    "memory beyond the limit, in many processes",
    "terminal escapes in its output",
    "set-uid programs",
    "tracing the sandbox's first process, and other memory than its own",
    "a note in the page cache, by its own file",
    "memory that belongs to no process: the buffers of sockets",
}


def model_of(folder: Path, source: str) -> Model:
    """Write a model with this source, and find it."""
    model = find_model(write_model(folder, source), "team")
    assert isinstance(model, Model)
    return model


def test_the_quick_ones_are_there() -> None:
    assert {one.name for one in HOSTILE} > QUICK


@pytest.mark.parametrize("name", ["the machine's unix sockets", "the solution"])
def test_without_a_sandbox_the_same_attacks_reach_what_they_are_after(
    name: str, tmp_path: Path, bait: Bait
) -> None:
    """Otherwise the tests of the sandbox would prove nothing."""
    [hostile] = [one for one in HOSTILE if one.name.startswith(name)]
    model = model_of(tmp_path / "models" / "team", PRELUDE + hostile.source.replace('"/"', "BAIT['abstract']"))
    (model.folder / "bait.json").write_text(bait.describe())
    (model.folder / "link").symlink_to(bait.files[0])
    assert "REACHED" in engines.run(model, settings_for(tmp_path)).log


@pytest.mark.parametrize(
    "hostile",
    [pytest.param(one, marks=() if one.name in QUICK else pytest.mark.slow, id=one.name) for one in HOSTILE],
)
def test_hostile_models_fail_without_harm(
    hostile: Hostile, tmp_path: Path, bait: Bait, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = control_groups.available()
    if hostile.kernel and not group:
        pytest.skip("no control group can be had here")
    monkeypatch.setattr("podium.running.settings.PROCESSES", 64)
    monkeypatch.setattr("podium.running.settings.FILES", 5000)
    monkeypatch.setattr("podium.running.settings.SUBMISSION_BYTES", 32 * 2**20)
    settings = settings_for(
        tmp_path,
        sandbox="bubblewrap",
        control_group=group,
        # Before the limit, a model that has to say something needs the time to start.
        time_limit=60.0 if hostile.outcome != "time limit" else 10.0 if hostile.said else 1.5,
    )
    model = model_of(tmp_path / "models" / "team", PRELUDE + hostile.source)
    (model.folder / "bait.json").write_text(bait.describe())
    (model.folder / "link").symlink_to(bait.files[0])
    with unharmed(tmp_path, bait, settings.data):
        run = engines.run(model, settings)

    outcome = _outcome(run.measured, run.log, settings)
    assert outcome.startswith(hostile.outcome), run
    assert hostile.said in run.log
    assert "REACHED" not in run.log
    assert SECRET not in run.log
    assert SECRET.encode() not in run.submission
    assert all(one.isprintable() or one in "\n\t" for one in run.log)
    assert len(run.log) < 2 * supervisor.LOG_BYTES
    assert run.measured["seconds"] < settings.time_limit + 30
    assert bool(run.submission) == (outcome == "done")


def test_the_documentation_lists_every_attack() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("| what a model tries |")[2].splitlines()[2:]
    listed = [line.split("|")[1].strip() for line in table if line.startswith("|")]
    assert listed == [hostile.name for hostile in HOSTILE]


def test_the_documentation_lists_every_refused_call_with_its_reason() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| system call | why |")[2].splitlines()[2:]
    documented = {}
    for line in itertools.takewhile(lambda line: line.startswith("|"), table):
        _, names, reason, _ = line.split("|")
        documented |= dict.fromkeys(re.findall(r"`(\w+)`", names), reason.strip())
    assert documented == syscalls.REFUSED


def test_the_documentation_lists_every_ignored_call_with_its_reason() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| ignored | with | why |")[2].splitlines()[2:]
    documented = {}
    for line in itertools.takewhile(lambda line: line.startswith("|"), table):
        _, names, _, reason, _ = line.split("|")
        documented |= dict.fromkeys(re.findall(r"`(\w+)`", names), reason.strip())
    assert documented == syscalls.IGNORED
