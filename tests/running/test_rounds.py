"""Every model runs once without being measured and then in rounds, and a run that was stopped goes on."""

import contextlib
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from podium.common.errors import UsageError
from podium.common.wording import spreadsheet_safe
from podium.running import rounds
from podium.running.journal import WARM_UP, Row, read_journal, write_journal
from podium.running.machine import ReadyMachine
from podium.running.measuring import Outcome, Run, Used
from podium.running.models import Failure, Kind, Model
from podium.running.results import results_of
from podium.running.rounds import Plan, Turn, next_turns, run_all
from tests.running.support import settings_for, table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # each test asks for those that it is about

TWICE = Plan(2)
TEXTS = ["=cmd|' /C calc'!A0", "+1", "@x", "-2+3", "-", "'quoted'", "Red", ""]


def model(team: str, digest: str = "1") -> Model:
    return Model(team, "", Path(team), "run.py", Kind.SCRIPT, digest)


def row(team: str, number: int, seconds: float = 1.0, **changed: Any) -> Row:
    """A run that went well, but for the changes."""
    run = Run(Outcome.DONE, "", seconds, Used(seconds, seconds, 1), 0.0, 0, "submission.csv", b"a")
    return rounds._row(model(team), number, run, "", "bubblewrap")._replace(content=b"", **changed)


class Player:
    """Plays the machine: each model takes the seconds that stand for it and prints its predictions."""

    def __init__(self, seconds: dict[str, float], **answers: str) -> None:
        self.seconds, self.answers, self.ran = seconds, answers, []
        self.stop_after = 10**9

    def __call__(self, turns: list[Turn]) -> Iterator[Row]:
        for one, number in turns:
            if len(self.ran) >= self.stop_after:
                raise KeyboardInterrupt
            self.ran.append((one.team, number))
            answer = self.answers.get(f"{one.team}{number}", self.answers.get(one.team, "a"))
            seconds = self.seconds[one.team] + number / 1000
            run = Run(
                Outcome.DONE, "", seconds, Used(seconds, seconds, 1), 0.0, 0, "submission.csv", answer.encode()
            )
            if answer == "fail":
                run = Run(Outcome.EXIT, "exit code 1", seconds)
            yield rounds._row(one, number, run, "", "bubblewrap")


def play(
    folder: Path,
    player: Player,
    models: list[Model] | None = None,
    plan: Plan = TWICE,
    hardware: str = "A fast one, 2 cores",
    **versions: str,
):
    """Run models on a machine that is played."""
    models = models or [model(team) for team in player.seconds]
    machine = ReadyMachine(hardware, {"numpy": "2"} | versions, settings_for(folder), models, [])
    return run_all(machine, [], folder / "out", plan, player)


def test_each_model_runs_once_unmeasured_and_then_in_rounds_of_drawn_order(tmp_path: Path) -> None:
    player = Player(dict.fromkeys("ABCDEF", 1.0))
    results = play(tmp_path, player)
    assert not any(row.content for row in results.rows)  # the submissions are saved, and in memory no more
    numbers = [number for _, number in player.ran]
    assert numbers == [0] * 6 + [1] * 6 + [2] * 6
    orders = ["".join(team for team, number in player.ran if number == each) for each in range(3)]
    assert [sorted(order) for order in orders] == [list("ABCDEF")] * 3
    assert len(set(orders)) > 1
    again = Player(dict.fromkeys("ABCDEF", 1.0))
    (tmp_path / "again").mkdir()
    play(tmp_path / "again", again)
    assert again.ran == player.ran


def test_the_run_that_is_not_measured_counts_for_nothing_but_predictions(tmp_path: Path) -> None:
    play(tmp_path, Player({"A": 1.0}), plan=Plan(3))
    [runtime] = table(tmp_path / "out" / "runtimes.csv")
    assert (runtime["runtime"], runtime["runtime_low"], runtime["runs"]) == ("1.002", "1.001", "3")
    assert [one["round"] for one in table(tmp_path / "out" / "runs.csv")] == ["0", "1", "2", "3"]
    assert (tmp_path / "out" / "submissions" / "A" / "submission.csv").read_text() == "a"


@pytest.mark.parametrize(
    ("answers", "reason", "mark"),
    [
        ({"A0": "fail"}, "exit code 1", ""),
        ({"A1": "fail"}, "exit code 1", ""),
        ({"A2": "fail"}, "", "1 run without predictions; measured once"),
        ({"A0": "x", "A1": "y", "A2": "a"}, "", "predictions differ: the slowest run counts; measured once"),
    ],
)
def test_what_becomes_of_a_model_that_is_not_steady(tmp_path, answers, reason, mark):
    play(tmp_path, Player({"A": 1.0, "B": 9.0}, **answers))
    failed = table(tmp_path / "out" / "failed.csv")
    assert [(one["team"], one["reason"]) for one in failed] == ([("A", reason)] if reason else [])
    marks = {one["team"]: one["marks"] for one in table(tmp_path / "out" / "runtimes.csv")}
    assert marks == ({"B": ""} if reason else {"A": mark, "B": ""})
    kept = tmp_path / "out" / "submissions" / "A"
    assert [path.read_text() for path in kept.glob("*")] == ([] if reason else ["a"])


IDS, SHARES = [f"t{n}" for n in range(500)], np.random.default_rng(0).random(500)
SHARES[0] = 0.1234567895 - 1e-13  # which a change of the last digits moves beyond a border of rounding
TABLE = pd.DataFrame({"id": IDS, "p": SHARES, "kind": 1})


def csv_of(table: pd.DataFrame) -> str:
    text: str = table.to_csv(index=False)
    return text


@pytest.mark.parametrize(
    ("changed", "is_other"),
    [
        (TABLE.sample(frac=1, random_state=1), False),
        (TABLE[["kind", "p", "id"]], False),
        (TABLE.assign(p=TABLE["p"] + 1e-12 * np.random.default_rng(1).random(500)), False),
        (TABLE.assign(kind=1.0), False),
        (TABLE.assign(p=TABLE["p"] + 1e-6), True),
        (TABLE.assign(id=TABLE["id"].to_numpy()[::-1]), True),
    ],
    ids=["rows", "columns", "last digits", "as floats", "other numbers", "other rows"],
)
def test_the_same_predictions_in_another_order_are_the_same(tmp_path: Path, changed, is_other: bool) -> None:
    play(tmp_path, Player({"A": 1.0}, A=csv_of(TABLE), A1=csv_of(changed)))
    [runtime] = table(tmp_path / "out" / "runtimes.csv")
    assert ("predictions differ" in runtime["marks"], runtime["runs"]) == (is_other, "1" if is_other else "2")


def test_a_cheat_that_reverses_its_rows_is_marked(tmp_path: Path) -> None:
    slow, fast = (model("A")._replace(name=name) for name in ("slow", "fast"))

    def execute(turns: list[Turn]) -> Iterator[Row]:
        for one, number in turns:
            seconds, predicted = (3.0, TABLE[::-1]) if one is slow else (1.0, TABLE)
            content = csv_of(predicted).encode()
            run = Run(Outcome.DONE, "", seconds, Used(seconds, seconds, 1), 0.0, 0, "submission.csv", content)
            yield rounds._row(one, number, run, "", "bubblewrap")

    machine = ReadyMachine("", {}, settings_for(tmp_path), [slow, fast], [])
    run_all(machine, [], tmp_path / "out", TWICE, execute)
    marks = [one["marks"] for one in table(tmp_path / "out" / "runtimes.csv")]
    assert [one.startswith("same predictions in another time: A/") for one in marks] == [True, True]


def test_stopped_anywhere_it_goes_on_and_warms_up_again(tmp_path):
    for stop in (1, 2, 3):
        player = Player({"A": 1.0, "B": 2.0})
        player.stop_after = stop
        with pytest.raises(KeyboardInterrupt):
            play(tmp_path, player)
    player = Player({"A": 1.0, "B": 2.0})
    play(tmp_path, player)
    assert [number for _, number in player.ran[:2]] == [WARM_UP, WARM_UP]  # as it was started anew
    seen = [(one["team"], one["round"]) for one in table(tmp_path / "out" / "runs.csv") if one["round"] != "0"]
    assert sorted(seen) == [("A", "1"), ("A", "2"), ("B", "1"), ("B", "2")]
    idle = Player({"A": 1.0, "B": 2.0})
    play(tmp_path, idle)
    assert idle.ran == []


def test_runtimes_are_there_only_if_all_runs_have_ended(tmp_path, capsys):
    player = Player({"A": 1.0})
    play(tmp_path, player)
    assert (tmp_path / "out" / "runtimes.csv").exists()
    late = Player({"A": 1.0, "B": 1.0})
    late.stop_after = 1
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, late)
    assert sorted(path.name for path in (tmp_path / "out").glob("*.csv")) == ["runs.csv"]
    assert capsys.readouterr().err.endswith("finished runs are kept: start the same command again to go on\n")


def test_a_model_that_has_changed_runs_again_and_a_line_says_so(tmp_path, capsys):
    play(tmp_path, Player({"A": 1.0, "B": 2.0}))
    player = Player({"A": 1.0, "B": 2.0})
    play(tmp_path, player, [model("A"), model("B", digest="2")])
    assert sorted(player.ran) == [("B", 0), ("B", 1), ("B", 2)]
    assert (
        "B: earlier runs do not count, because its files or its image have changed" in capsys.readouterr().err
    )
    rows = read_journal(tmp_path / "out")
    write_journal(tmp_path / "out", [rows[0]._replace(digest="0"), *rows[1:]])  # it changed between its runs
    player = Player({"A": 1.0, "B": 2.0})
    play(tmp_path, player, [model("A"), model("B", digest="2")])
    assert {team for team, _ in player.ran} == {rows[0].team}
    (tmp_path / "out" / "submissions" / "A" / "submission.csv").write_text("other")
    player = Player({"A": 1.0, "B": 2.0})
    play(tmp_path, player, [model("A"), model("B", digest="2")])
    assert {team for team, number in player.ran if number in (1, 2)} == {"A"}
    assert "A: earlier runs do not count, because its submission is gone" in capsys.readouterr().err


def test_a_model_that_is_measured_in_another_session_is_marked_and_provisional(tmp_path: Path) -> None:
    play(tmp_path, Player({"A": 1.0, "B": 3.0}), plan=Plan(3))
    before = table(tmp_path / "out" / "runtimes.csv")
    models, player = [model(team) for team in "ABC"], Player({"A": 1.0, "B": 3.0, "C": 2.0})
    with pytest.warns(UserWarning, match=r"measured in another session than .*: C$"):
        play(tmp_path, player, models, Plan(3))
    assert sorted(player.ran) == [("C", number) for number in range(4)]
    *others, late = table(tmp_path / "out" / "runtimes.csv")
    assert others == before
    assert (late["marks"], late["provisional"], late["state"]) == ("another session", "true", "another session")
    play(tmp_path, Player(player.seconds), models, Plan(4))  # one more run of all makes nothing comparable
    marks = {row["team"]: row["marks"] for row in table(tmp_path / "out" / "runtimes.csv")}
    assert marks == {"A": "", "B": "", "C": "another session"}


def test_a_session_that_was_not_quiet_stays_in_the_state(tmp_path: Path) -> None:
    rows = [*rows_of("A", 1.0, 1.0, 1.0, others=0.3), *rows_of("B", 1.0, 1.0, 1.0, others=0.3)]
    rows += [row(team, number, session=2) for team in "CDEFGH" for number in (1, 2, 3)]
    assert results_of([model(team) for team in "ABCDEFGH"], rows).state.is_provisional


def test_the_files_of_a_model_are_read_when_its_turn_comes(tmp_path: Path, monkeypatch) -> None:
    ran: list[str] = []

    def run(model: Model, settings: Any, log: Any) -> Run:
        ran.append(model.team)
        return Run(Outcome.DONE, "", 1.0, Used(1.0, 1.0, 1), 0.0, 0, "submission.csv", b"a")

    def read(folder: Path) -> str:
        ran.append(f"{folder} is read")
        if folder == Path("Closed"):
            raise PermissionError(13, "Permission denied")
        return "1"

    monkeypatch.setattr("podium.running.machine.run_once", run)
    monkeypatch.setattr("podium.running.models.digest_of", read)
    models, given, out = (
        [model(team, "") for team in ("A", "Closed", "B")],
        settings_for(tmp_path),
        tmp_path / "out",
    )
    for number in (1, 2):  # then only those that have run are read before the first turn
        prepared = ReadyMachine("", {}, given, models, [])
        results = run_all(prepared, [], out, Plan(number), rounds.here(given, out))
    assert ran.index("B is read") + 1 == ran.index("B")
    assert [ran.count(f"{team} is read") for team in ("A", "Closed", "B")] == [2, 2, 2]
    assert results.failures == [Failure("Closed", "", "Permission denied")]
    assert [len(timing.counting) for timing in results.timings] == [2, 2]


def test_another_machine_is_refused_and_another_version_is_a_warning(tmp_path):
    play(tmp_path, Player({"A": 1.0}))
    with pytest.warns(UserWarning, match=r"other versions are installed .*: numpy: 3 instead of 2$"):
        play(tmp_path, Player({"A": 1.0}), numpy="3")
    with pytest.raises(UsageError, match="another way: hardware: A slow one instead of A fast one, 2 cores"):
        play(tmp_path, Player({"A": 1.0}), hardware="A slow one")
    (tmp_path / "out" / "hardware.json").unlink()
    with pytest.raises(UsageError, match=r"has runs.csv without hardware.json"):
        play(tmp_path, Player({"A": 1.0}))
    (tmp_path / "out" / "hardware.json").write_text(json.dumps({"hardware": 1}))
    with pytest.raises(UsageError, match=r"hardware.json is damaged"):
        play(tmp_path, Player({"A": 1.0}))
    record = {"hardware": {"cores": 2}, "settings": {}, "data": ""}
    (tmp_path / "out" / "hardware.json").write_text(json.dumps(record))
    with pytest.raises(
        UsageError, match=r"were made by podium 11\.0: go on with that version, or give another out"
    ):
        play(tmp_path, Player({"A": 1.0}))


def test_a_run_that_no_machine_has_ended_is_made_again(tmp_path):
    lost = rounds.not_run(model("A"), 1, "2 workers were lost")
    results = results_of([model("A")], [row("A", 0), lost], [Failure("B", "", "there is no model")])
    assert [(one.team, one.reason[:9]) for one in results.failures] == [("A", "2 workers"), ("B", "there is ")]
    assert [one.round for one in rounds._still_valid([row("A", 0), lost], [model("A")], tmp_path)] == []


def rows_of(team: str, *cpu_seconds: float, others: float = 0.0) -> list[Row]:
    return [row(team, number, one, cpu_seconds=one, others=others) for number, one in enumerate(cpu_seconds)]


@pytest.mark.parametrize(
    ("rows", "marked"),
    [
        ([*rows_of("A", 2.0, 1.2, 1.2), *rows_of("B", 2.02, 2.0, 2.0)], ["A"]),
        ([*rows_of("A", 2.0, 1.2, 1.2)], ["A"]),
        (
            [*rows_of("A", 2.0, 2.0, 1.2, 1.2), *rows_of("B", 5.0, 5.0, 5.0)],
            ["A"],
        ),  # the note is left in round 1
        ([*rows_of("A", 2.4, 2.0, 2.0), *rows_of("B", 2.2, 2.0, 2.0)], []),
        ([*rows_of("A", 0.3, 0.1, 0.1)], []),  # nothing was in memory yet
        ([row("A", number, 1.0, cpu_seconds=0.0) for number in range(3)], []),  # the system's clock is coarse
        ([row for team in "ABCD" for row in rows_of(team, 3.0, 1.9, 2.0)], []),  # all of them are slow at first
        ([*rows_of("A", 2.0, 1.2, 1.2, others=0.5)], []),  # on such a machine that proves nothing
        ([*rows_of("A", 5.4, 0.9, 0.9, others=0.5), *rows_of("B", 2.0, 2.0, 2.0, others=0.5)], ["A"]),
    ],
)
def test_a_first_run_that_was_slower_than_those_of_others_is_marked(rows: list[Row], marked: list[str]) -> None:
    results = results_of([model(team) for team in sorted({row.team for row in rows})], rows)
    assert [one.model.team for one in results.timings if "slow first run" in one.marks] == marked
    assert ("as if they had remembered their results" in " ".join(results.notices)) == bool(marked)


@pytest.mark.parametrize(("others", "quick"), [(0.0, 0.1), (0.5, 0.1), (0.5, 1.0)])
def test_two_models_of_a_team_with_the_same_predictions_in_another_time_are_marked(others, quick) -> None:
    models = [
        model(team)._replace(name=name)
        for team, name in map(str.split, ("Red slow", "Red quick", "Red third", "Blue one"))
    ]
    rows = [
        row(
            one.team,
            number,
            seconds * (1 + number / 1000),
            others=others,
            model=one.name,
            fingerprint=predicted,
        )
        for one, seconds, predicted in zip(models, (2.0, quick, quick, quick), "aaba")
        for number in range(4)
    ]
    results = results_of(models, rows)
    mark = "same predictions in another time: "
    marks = [
        [one.removeprefix(mark) for one in timing.marks if one.startswith(mark)] for timing in results.timings
    ]
    is_marked = quick < 1  # half of the time proves nothing where others took half of the cores
    assert marks == ([["Red/quick"], ["Red/slow"], [], []] if is_marked else [[]] * 4)
    told = "same predictions but very different runtimes: Red/slow and Red/quick"
    assert (told in " ".join(results.notices)) == is_marked


def test_neighbors_whose_order_is_undecided_are_named():
    rows = [
        row(team, number, seconds * (1 + 0.001 * number))
        for team, seconds in (("A", 1.0), ("B", 1.001), ("C", 2.0), ("D", 2.002))
        for number in (1, 2, 3)
    ]
    results = results_of([model(team) for team in "ABCD"], rows)
    assert [one.marks for one in results.timings] == [
        ["order undecided: B"],
        ["order undecided: A"],
        ["order undecided: D"],
        ["order undecided: C"],
    ]
    assert "do not decide the order of A and B (0.1% apart), C and D (0.1%" in " ".join(results.notices)


def path_of(team: str) -> str:
    """The path of a submission of a team that has the name of a folder."""
    return f"{team}/{team}.csv" if team and "/" not in team else ""


def test_no_cell_of_the_journal_is_executed_and_each_is_read_as_it_was(tmp_path):
    rows = [
        row("", 1)._replace(
            team=text, model=text, submission=path_of(text), reason=text, printed=text, exit_code=-9
        )
        for text in TEXTS
    ]
    rows = [one._replace(round=number) for number, one in enumerate(rows)]
    write_journal(tmp_path, rows)
    assert read_journal(tmp_path) == rows
    with (tmp_path / "runs.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert "'@x" in cells
    assert "-9" in cells  # numbers stay numbers
    assert all(spreadsheet_safe(cell) == cell for cell in cells)
    written = (tmp_path / "runs.csv").read_text()
    (tmp_path / "runs.csv").write_text(written + written.splitlines()[-1] + "\n")
    with pytest.raises(UsageError, match=r"runs.csv is damaged"):
        read_journal(tmp_path)
    (tmp_path / "runs.csv").write_text("round,team\n1,A\n")
    with pytest.raises(UsageError, match=r"runs.csv is damaged"):
        read_journal(tmp_path)


def test_the_order_of_a_round_depends_on_the_seed():
    models = [model(str(number)) for number in range(20)]
    orders = {tuple(next_turns(models, [], Plan(1, seed), set())) for seed in range(5)}
    assert len(orders) == 5


LEADING_OUT = ["../../victim.csv", "A/../../victim.csv", "..", "A/", "../submission.csv", "./submission.csv"]


@pytest.mark.parametrize("path", [*LEADING_OUT, "/etc/passwd", "B/submission.csv", "A/other.csv"])
def test_a_journal_leads_to_no_file_outside_of_the_submissions(path: str, tmp_path: Path) -> None:
    """A stranger may have written the journal, and files are removed by it."""
    play(tmp_path, Player({"A": 1.0}))
    others = [tmp_path / "victim.csv", tmp_path / "out" / "submission.csv"]
    for other in others:
        other.write_text("a")
    rows = [one._replace(submission=path) for one in read_journal(tmp_path / "out")]
    write_journal(tmp_path / "out", rows)
    refused = pytest.raises(UsageError, match=r"cannot write .*: it leads out of ")
    with refused if path in LEADING_OUT else contextlib.nullcontext():
        play(tmp_path, Player({"A": 1.0}), [model("A", digest="2")])
    assert all(other.exists() for other in others)


@pytest.mark.parametrize("linked", ["submissions", "submissions/A"])
def test_no_link_among_the_results_leads_out_of_them(linked: str, tmp_path: Path) -> None:
    play(tmp_path, Player({"A": 1.0}))
    place, victim = tmp_path / "out" / linked, tmp_path / "victim"
    place.rename(victim)
    place.symlink_to(victim)
    there = sorted(path.read_bytes() for path in victim.rglob("*.csv"))
    with pytest.raises(UsageError, match=r"cannot write .*: it leads out of "):
        play(tmp_path, Player({"A": 1.0}, A="other"), [model("A", digest="2")])
    assert sorted(path.read_bytes() for path in victim.rglob("*.csv")) == there != []


def test_no_log_is_written_through_a_link(tmp_path: Path) -> None:
    log = tmp_path / "out" / "logs" / "A" / "run.0.txt"
    log.parent.mkdir(parents=True)
    (tmp_path / "victim").write_text("mine")
    log.symlink_to(tmp_path / "victim")
    with pytest.raises(UsageError, match=r"cannot write .*: it leads out of "):
        list(rounds.here(settings_for(tmp_path), tmp_path / "out")([(model("A"), 0)]))
    assert (tmp_path / "victim").read_text() == "mine"
