"""Rounds, repeats, disturbed machines, interrupted runs and all files are right, with runs that are made up."""

import csv
import gzip
import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from podium.errors import UsageError
from podium.ranking.submissions import find
from podium.running import rounds
from podium.running.fairness import is_shared
from podium.running.journal import Row
from podium.running.models import Failure, Model, find_model, find_models
from podium.running.rounds import Plan, Result, Turn
from tests.running.support import settings_for, write_model

# Each test says whether its machine is quiet.  Only one of them is about the warning that a model ran once.
pytestmark = pytest.mark.filterwarnings("ignore:measured once:UserWarning")

QUICK = 0.04
MACHINE = {"cpu": "one", "cores": 2}

Made = Callable[[Model, int, int], dict[str, Any]]


def models_in(folder: Path, teams: str = "ABCDE") -> list[Model]:
    """A model for each letter."""
    models = [find_model(write_model(folder / "models" / team), team) for team in teams]
    return [model for model in models if isinstance(model, Model)]


def _one_by_one(turns: list[Turn]) -> Iterator[tuple[Model, int, list[str]]]:
    """Each run, with the models that run directly before or after it."""
    for turn in turns:
        for model, number in turn:
            yield model, number, [other.key for other, _ in turn if other != model]


def made_up(make: Made, log: list[tuple[str, int]], stop_after: int | None = None) -> rounds.Execute:
    """Runs as `make` describes them, from the model, the number of its run, and the number of all runs
    before.
    """

    def execute(turns: list[Turn]) -> Iterator[Result]:
        for model, number, others in _one_by_one(turns):
            if stop_after is not None and len(log) == stop_after:
                raise UsageError("the machine was switched off")
            fields = {
                "outcome": "done",
                "seconds": seconds_of(model),
                "others": 0.01,
                "cpu_seconds": 0.5,
                "before": QUICK,
                "after": QUICK,
                "content": b"a\n1\n",
                "name": ".csv",
                "machine": "here",
            } | make(model, number, len(log))
            log.append((model.team, number))
            is_done = fields["outcome"] == "done"
            row = Row(
                round=number,
                team=model.team,
                model=model.name,
                submission=rounds._path_of(model, fields["name"]) if is_done else "",
                outcome=fields["outcome"],
                seconds=fields["seconds"],
                cpu_seconds=fields["cpu_seconds"],
                others=fields["others"],
                peak_memory=1000,
                exit_code=0,
                reference_before=fields["before"],
                reference_after=fields["after"],
                sha256=rounds._hash(fields["content"], fields["name"]) if is_done else "",
                machine=fields["machine"],
                started_at="2026-01-01T00:00:00+00:00",
                engine="bubblewrap",
                digest=model.digest,
                paired_with=others[0] if others else "",
            )
            yield Result(row, "said\n", fields["content"])

    return execute


def measure(
    folder: Path, models: list[Model], make: Made, repeats: int = 3, seed: int = 0, **more: Any
) -> tuple[list[dict[str, Any]], list[Failure], list[tuple[str, int]]]:
    """Run models that are made up; the rows of runtimes.csv, the failures, and the order of the runs."""
    log: list[tuple[str, int]] = []
    execute = made_up(make, log, more.pop("stop_after", None))
    settings = settings_for(folder, **more.pop("settings", {}))
    machine, failures = more.pop("machine", MACHINE), more.pop("failures", [])
    out: Path = folder / "out"
    try:
        plan = Plan(repeats, more.pop("most_repeats", repeats + 2 if repeats > 1 else 1), seed, **more)
        runtimes, results = rounds.run_all(models, failures, settings, out, plan, machine, execute)
    except UsageError as problem:
        problem.add_note(str(len(log)))
        raise
    return runtimes, results.failures, log


def seconds_of(model: Model) -> float:
    """Seconds of models that are far apart."""
    return 1.5 ** (ord(model.team[0]) - ord("A"))


def quiet(model: Model, number: int, before: int) -> dict[str, Any]:
    """A run on a quiet machine, with the usual values."""
    return {}


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_model_runs_in_each_round_in_an_order_drawn_anew(tmp_path: Path) -> None:
    models = models_in(tmp_path)
    _, _, log = measure(tmp_path, models, quiet, repeats=4)
    by_round = [[team for team, number in log if number == wanted] for wanted in (1, 2, 3, 4)]
    assert [number for _, number in log] == sorted(number for _, number in log)
    assert all(sorted(order) == list("ABCDE") for order in by_round)
    assert len({tuple(order) for order in by_round}) > 1
    again = tmp_path / "again"
    again.mkdir()
    assert measure(again, models, quiet, repeats=4)[2] == log
    other = tmp_path / "other"
    other.mkdir()
    assert measure(other, models, quiet, repeats=4, seed=1)[2] != log


def test_the_runtime_is_the_median_and_all_runs_are_kept(tmp_path: Path) -> None:
    seconds = {"A": [3.0, 1.0, 2.0], "B": [500.0, 550.0, 400.0]}
    failure = Failure("C", "", "no model")
    runtimes, failed, _ = measure(
        tmp_path,
        models_in(tmp_path, "AB"),
        lambda model, number, _: {"seconds": seconds[model.team][number - 1]},
        failures=[failure],
    )
    assert runtimes[0] == {
        "team": "A",
        "submission": "submission.csv",
        "runtime": 2.0,
        "runtime_low": 1.0,
        "runtime_high": 3.0,
        "runtime_error": runtimes[0]["runtime_error"],
        "runs": 3,
        "marks": "",
        "provisional": False,
        "state": "quiet",
        "cpu_seconds": 0.5,
        "reference_seconds": QUICK,
        "seconds": "3.0 1.0 2.0",
        "engine": "bubblewrap",
    }
    assert 0 < runtimes[0]["runtime_error"] < 2
    assert failed == [failure]
    out = tmp_path / "out"
    assert [(row["team"], float(row["runtime"])) for row in table(out / "runtimes.csv")] == [
        ("A", 2),
        ("B", 500),
    ]
    assert table(out / "failed.csv") == [{"team": "C", "model": "", "reason": "no model", "engine": ""}]
    assert len(table(out / "runs.csv")) == 6
    assert (out / "submissions" / "A" / "submission.csv").read_bytes() == b"a\n1\n"
    assert (
        out / "logs" / "B" / "run.3.txt"
    ).read_text() == "[2026-01-01T00:00:00+00:00, round 3, engine bubblewrap]\nsaid\n"
    described = json.loads((out / "hardware.json").read_text())
    assert described["hardware"] == MACHINE
    assert described["settings"]["seed"] == 0


def test_several_models_of_a_team(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "models" / "Red" / "first")
    model = find_model(folder, "Red", "first")
    assert isinstance(model, Model)
    runtimes, _, _ = measure(
        tmp_path, [model], lambda *_: {"name": ".csv.gz", "content": gzip.compress(b"a\n")}
    )
    assert (runtimes[0]["team"], runtimes[0]["submission"]) == ("Red", "first.csv.gz")
    assert (tmp_path / "out" / "submissions" / "Red" / "first.csv.gz").exists()
    assert (tmp_path / "out" / "logs" / "Red" / "first.1.txt").exists()


def test_runs_on_a_slow_machine_are_named_and_repeated(tmp_path: Path) -> None:
    def slow_in_the_middle(model: Model, number: int, before: int) -> dict[str, Any]:
        is_slow = 6 <= before < 9
        return {"seconds": seconds_of(model) * (2.0 if is_slow else 1.0), "after": 0.043 if is_slow else QUICK}

    with pytest.warns(
        UserWarning, match="the machine was disturbed around these runs: . in round 2, . in round 2, . in r"
    ):
        runtimes, _, log = measure(tmp_path, models_in(tmp_path), slow_in_the_middle)
    assert len(log) == 15 + 3
    disturbed = {log[number] for number in (6, 7, 8)}
    assert {team for team, _ in log[15:]} == {team for team, _ in disturbed}
    assert [row["runs"] for row in runtimes] == [3] * 5
    assert [row["runtime"] for row in runtimes] == pytest.approx([1.5**n for n in range(5)])
    assert [row["marks"] for row in runtimes] == [
        "1 disturbed run not counted" if (team, 2) in disturbed else "" for team in "ABCDE"
    ]
    assert {row["state"] for row in runtimes} == {"quiet but for 3 of 18 runs"}
    marked = {
        (row["team"], int(row["round"]))
        for row in table(tmp_path / "out" / "runs.csv")
        if row["slow"] == "True"
    }
    assert marked == disturbed


def test_runs_on_a_machine_that_was_shared_are_repeated(tmp_path: Path) -> None:
    """They are repeated even if the reference around them shows nothing."""
    shared = {("B", 2): 0.06, ("A", 1): 0.05, ("C", 1): float("nan")}
    with pytest.warns(UserWarning, match=r"was disturbed around these runs: B in round 2$"):
        _, _, log = measure(
            tmp_path,
            models_in(tmp_path, "ABC"),
            lambda model, number, _: {"others": shared.get((model.team, number), 0)},
        )
    assert log[9:] == [("B", 4)]
    assert [is_shared(seconds, 0.06) for seconds in (0.5, 1.0)] == [False, True]
    assert [is_shared(1.0, others, 0.2) for others in (0.24, 0.26)] == [False, True]


def test_four_percent_are_not_slow(tmp_path: Path) -> None:
    _, _, log = measure(tmp_path, models_in(tmp_path), lambda *_: {"after": QUICK * 1.04})
    assert len(log) == 15


def test_between_two_models_the_reference_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = itertools.count(1.0)
    monkeypatch.setattr(rounds, "reference_seconds", lambda cores: next(taken))
    execute = rounds.here(settings_for(tmp_path))
    models = models_in(tmp_path, "AB")
    rows = [result.row for number in (1, 2) for result in execute([[(model, number)] for model in models])]
    assert [(row.reference_before, row.reference_after) for row in rows] == [(1, 2), (2, 3), (3, 4), (4, 5)]


def of_b(*values: Any) -> Any:
    """The values of team B's runs."""
    return lambda model, number: values[number - 1] if model.team == "B" else values[0]


def test_predictions_that_differ_are_named_and_the_slowest_run_counts(tmp_path: Path) -> None:
    content, seconds = of_b(b"one", b"two", b"three"), of_b(1.0, 1.02, 0.98)
    with pytest.warns(
        UserWarning, match="the predictions differ from run to run, so the slowest run counts: B"
    ):
        runtimes, _, _ = measure(
            tmp_path,
            models_in(tmp_path, "AB"),
            lambda model, number, _: {
                "content": content(model, number),
                "name": ".csv.gz" if number == 3 and model.team == "B" else ".csv",
                "seconds": 10 * seconds(model, number) if model.team == "B" else 1.0,
            },
        )
    assert runtimes[1]["runtime"] == 10.2
    assert runtimes[1]["marks"] == "predictions differ: the slowest run counts"
    assert [path.name for path in (tmp_path / "out" / "submissions" / "B").iterdir()] == ["submission.csv"]
    assert (tmp_path / "out" / "submissions" / "B" / "submission.csv").read_bytes() == b"two"


def test_a_slower_run_with_other_predictions_replaces_the_file(tmp_path: Path) -> None:
    names = of_b(".csv", ".parquet", ".csv")
    with pytest.warns(UserWarning, match="predictions differ"):
        runtimes, _, _ = measure(
            tmp_path,
            models_in(tmp_path, "B"),
            lambda model, number, _: {
                "content": b"%d" % number,
                "name": names(model, number),
                "seconds": of_b(1.0, 2.0, 1.5)(model, number),
            },
        )
    assert [path.name for path in (tmp_path / "out" / "submissions" / "B").iterdir()] == ["submission.parquet"]
    assert runtimes[0]["submission"] == "submission.parquet"


def test_predictions_that_differ_are_a_failure_if_the_organizer_says_so(tmp_path: Path) -> None:
    make = of_b(b"one", b"two", b"two")
    for _ in range(2):  # a second start runs nothing again
        runtimes, failed, log = measure(
            tmp_path,
            models_in(tmp_path, "AB"),
            lambda model, number, _: {"content": make(model, number)},
            differing_fails=True,
        )
        assert [row["team"] for row in runtimes] == ["A"]
        assert failed == [Failure("B", "", "predictions differ from run to run")]
        assert [path.name for path in (tmp_path / "out" / "submissions").iterdir()] == ["A"]
    assert log == []


def rerun(log: list[tuple[str, int]], start: int) -> list[str]:
    """The teams of the runs from this one on."""
    return [team for team, _ in log[start:]]


def test_neighbors_whose_order_is_undecided_run_again_in_pairs(tmp_path: Path) -> None:
    """They run one directly after the other and take turns in going first, until their order is decided.
    Other models do not run again.
    """
    noise = random.Random(1)
    seconds = {"A": 1.0, "B": 2.0, "C": 2.03, "D": 4.0}
    runtimes, _, log = measure(
        tmp_path,
        models_in(tmp_path, "ABCD"),
        lambda model, *_: {"seconds": seconds[model.team] * noise.gauss(1, 0.01)},
        most_repeats=40,
    )
    pairs = rerun(log, 12)
    assert {*pairs} == {"B", "C"}
    assert all({*pair} == {"B", "C"} for pair in zip(pairs[::2], pairs[1::2]))
    assert {pair[0] for pair in zip(pairs[::2], pairs[1::2])} == {"B", "C"}
    assert 2 < len(pairs) < 70
    assert all(row["marks"] == "" for row in runtimes)
    assert [row["team"] for row in sorted(runtimes, key=lambda row: row["runtime"])] == list("ABCD")
    journal = table(tmp_path / "out" / "runs.csv")
    assert {(row["team"], row["paired_with"]) for row in journal[12:]} == {("B", "C"), ("C", "B")}
    assert {row["paired_with"] for row in journal[:12]} == {""}


def test_equal_models_stay_undecided_and_that_is_said(tmp_path: Path) -> None:
    noise = random.Random(2)
    with pytest.warns(
        UserWarning,
        match=r"do not decide the order of [AB] and [AB] \(\d\.\d% apart\)\. One run varies by .*, so with 5 "
        r"runs of each model differences below .* stay undecided\. A quieter machine helps most, then "
        r"a higher --most-repeats$",
    ):
        runtimes, _, log = measure(
            tmp_path, models_in(tmp_path, "ABC"),
            lambda model, *_: {"seconds": (9.0 if model.team == "C" else 1.0) * noise.gauss(1, 0.03)},
        )  # fmt: skip
    assert sorted(rerun(log, 9)) == ["A", "A", "B", "B"]
    assert [row["marks"] for row in runtimes] == ["order undecided: B", "order undecided: A", ""]


def test_whoever_asks_for_one_run_gets_one_and_no_certainty(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="measured once|undecided") as said:
        runtimes, _, log = measure(
            tmp_path,
            models_in(tmp_path, "AB"),
            lambda model, *_: {"seconds": 1.01 if model.team == "B" else 1},
            1,
        )
    assert len(log) == 2
    texts = [str(one.message) for one in said]
    assert any(
        "A and B (1.0% apart). One run is assumed to vary by 2.0%, so with 1 run of each" in text
        for text in texts
    )
    assert "measured once, so the runtime is uncertain: A, B" in texts
    assert [row["runtime_error"] for row in runtimes] == pytest.approx([0.02, 0.0202])
    assert [row["marks"] for row in runtimes] == [
        "measured once; order undecided: B", "measured once; order undecided: A",
    ]  # fmt: skip


def test_another_order_by_processor_time_is_named(tmp_path: Path) -> None:
    """It is named only where a reward can depend on it: D is too slow for one."""
    seconds = {"A": (1.0, 1.0), "B": (1.1, 0.5), "C": (1.4, 0.6), "D": (1.8, 0.4)}
    with pytest.warns(UserWarning, match="by processor time these neighbors have the opposite order: A and B$"):
        runtimes, _, _ = measure(
            tmp_path,
            models_in(tmp_path, "ABCD"),
            lambda model, *_: dict(zip(("seconds", "cpu_seconds"), seconds[model.team])),
        )
    assert [row["marks"] for row in runtimes] == [
        "other order by processor time: B", "other order by processor time: A", "", "",
    ]  # fmt: skip


def test_where_most_runs_are_disturbed_all_count_and_the_runtimes_are_provisional(tmp_path: Path) -> None:
    slower = itertools.cycle([1.0, 1.0, 1.3, 1.3])
    with pytest.warns(
        UserWarning, match=r"runtimes are provisional \(disturbed in \d+ of 6 runs\): measure them a"
    ):
        runtimes, _, log = measure(
            tmp_path,
            models_in(tmp_path, "AB"),
            lambda *_: {"others": 0.01 if next(slower) == 1 else 0.3},
        )
    assert len(log) == 6
    assert [row["runs"] for row in runtimes] == [3, 3]
    assert [row["provisional"] for row in runtimes] == [True, True]
    assert {row["provisional"] for row in table(tmp_path / "out" / "runtimes.csv")} == {"true"}


def test_others_who_are_always_there_make_the_runtimes_provisional(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"provisional \(others took 20% of the cores all along\)"):
        runtimes, _, log = measure(tmp_path, models_in(tmp_path, "AB"), lambda *_: {"others": 0.2})
    assert len(log) == 6
    assert {row["state"] for row in runtimes} == {"others took 20% of the cores all along"}


def test_a_submission_that_is_gone_is_made_again(tmp_path: Path) -> None:
    models = models_in(tmp_path, "AB")
    measure(tmp_path, models, quiet)
    path = tmp_path / "out" / "submissions" / "B" / "submission.csv"
    for damage in (path.unlink, lambda: path.write_text("other")):
        damage()
        _, _, log = measure(tmp_path, models, quiet)
        assert {team for team, _ in log} == {"B"}
        assert path.read_bytes() == b"a\n1\n"


def test_tables_have_the_line_ends_of_unix_and_a_run_that_did_not_happen_takes_no_time(tmp_path: Path) -> None:
    [model] = models_in(tmp_path, "A")
    row = rounds.not_run(model, 2, "2 workers were lost").row
    assert (row.seconds, row.cpu_seconds, row.outcome, row.round) == (0.0, 0.0, "2 workers were lost", 2)
    measure(tmp_path, [model], quiet)
    for name in ("runs.csv", "runtimes.csv", "failed.csv"):
        assert b"\r" not in (tmp_path / "out" / name).read_bytes()


def test_names_that_could_collide_have_files_of_their_own(tmp_path: Path) -> None:
    """The teams are good.csv with a model b, good, and good.1.txt. podium rank tells them apart."""
    for path in ("good.csv/b", "good", "good.1.txt", "run.1.txt", "submission.csv/submission.csv"):
        write_model(tmp_path / "models" / path)
    models, _ = find_models(tmp_path / "models")
    measure(
        tmp_path,
        models,
        lambda model, *_: {"content": model.key.encode(), "seconds": 1.5 ** models.index(model)},
    )
    ranked = find(str(tmp_path / "out" / "submissions"))
    assert {(each.team, each.name, Path(each.path).read_text()) for each in ranked} == {
        ("good.csv", "b.csv", "good.csv/b"),
        ("good", "submission.csv", "good"),
        ("good.1.txt", "submission.csv", "good.1.txt"),
        ("run.1.txt", "submission.csv", "run.1.txt"),
        ("submission.csv", "submission.csv.csv", "submission.csv/submission.csv"),
    }
    assert len([*tmp_path.glob("out/logs/*/*")]) == 15


def test_a_run_that_only_remembered_is_no_runtime(tmp_path: Path) -> None:
    """The later runs use a third of the processor time, so the model did not do its work again."""
    seconds, cpu = of_b(10.0, 3.0, 3.0), of_b(9.0, 3.0, 3.0)
    with pytest.warns(UserWarning, match=r"less than 80% of the first run's processor time.* do not count: B$"):
        runtimes, _, _ = measure(
            tmp_path,
            models_in(tmp_path, "AB"),
            lambda model, number, _: (
                {"seconds": seconds(model, number), "cpu_seconds": cpu(model, number)}
                if model.team == "B"
                else {}
            ),
        )
    assert [row["runtime"] for row in runtimes] == [1.0, 10.0]
    assert runtimes[1]["marks"] == "2 cached runs not counted; measured once"
    assert runtimes[1]["runs"] == 1


@pytest.mark.parametrize("cpu", [0.81 * 0.5, float("nan")])
def test_a_little_less_processor_time_or_an_unknown_one_is_no_memory(tmp_path: Path, cpu: float) -> None:
    runtimes, _, _ = measure(
        tmp_path, models_in(tmp_path, "A"), lambda _, number, __: {"cpu_seconds": cpu if number > 1 else 0.5}
    )
    assert (runtimes[0]["runs"], runtimes[0]["marks"]) == (3, "")


def test_the_time_in_the_header_of_gzip_is_no_difference(tmp_path: Path) -> None:
    measure(
        tmp_path,
        models_in(tmp_path, "A"),
        lambda model, number, _: {"content": gzip.compress(b"a\n1\n", mtime=number), "name": ".csv.gz"},
    )
    assert len({row["sha256"] for row in table(tmp_path / "out" / "runs.csv")}) == 1


def test_a_model_that_fails_is_not_run_again(tmp_path: Path) -> None:
    runtimes, failed, log = measure(
        tmp_path,
        models_in(tmp_path, "AB"),
        lambda model, *_: {"outcome": "exit code 1: why" if model.team == "B" else "done"},
    )
    assert [row["team"] for row in runtimes] == ["A"]
    assert failed == [Failure("B", "", "exit code 1: why")]
    assert sum(team == "B" for team, _ in log) == 1
    assert not (tmp_path / "out" / "submissions" / "B").exists()


def test_a_model_that_a_slow_machine_kept_beyond_the_time_limit_is_run_again(tmp_path: Path) -> None:
    def out_of_time_once(model: Model, number: int, before: int) -> dict[str, Any]:
        if (model.team, number) == ("B", 1):
            return {"outcome": "time limit of 1 s", "after": 0.08}
        return {}

    with pytest.warns(UserWarning, match=r"was disturbed around|some runs gave no predictions: B"):
        runtimes, failed, _ = measure(tmp_path, models_in(tmp_path, "ABC"), out_of_time_once)
    assert [(row["team"], row["runs"]) for row in runtimes] == [(team, 3) for team in "ABC"]
    assert failed == []


def test_a_model_that_fails_later_keeps_its_predictions_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="some runs gave no predictions: A"):
        runtimes, failed, _ = measure(
            tmp_path,
            models_in(tmp_path, "A"),
            lambda model, number, _: {
                "outcome": "exit code 1" if number == 2 else "done",
                "seconds": float(number),
            },
            most_repeats=3,
        )
    assert runtimes[0]["seconds"] == "1.0 3.0"
    assert runtimes[0]["marks"] == "1 run without predictions"
    assert failed == []


@pytest.mark.parametrize("stop_after", [0, 1, 7, 10, 14])
def test_stopped_and_started_again_it_goes_on(tmp_path: Path, stop_after: int) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    models = models_in(tmp_path)
    expected = measure(whole, models, quiet)
    (tmp_path / "data").mkdir()
    with pytest.raises(UsageError, match="switched off"):
        measure(tmp_path, models, quiet, stop_after=stop_after)
    runtimes, failed, log = measure(tmp_path, models, quiet)
    assert (runtimes, failed) == expected[:2]
    assert log == expected[2][stop_after:]
    assert table(tmp_path / "out" / "runs.csv") == table(whole / "out" / "runs.csv")


def test_a_disk_that_is_full_stops_the_run_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = models_in(tmp_path)
    write = rounds.write_atomically
    calls = itertools.count()

    def full(path: Path) -> None:
        path.write_text("hal")
        raise OSError(28, "No space left on device")

    def write_until_full(path: Path, fill: Any) -> None:
        write(path, full if next(calls) == 8 else fill)

    monkeypatch.setattr(rounds, "write_atomically", write_until_full)
    with pytest.raises(UsageError, match=r"cannot write .*: No space left on device"):
        measure(tmp_path, models, quiet)
    monkeypatch.undo()
    kept = table(tmp_path / "out" / "runs.csv")
    assert 0 < len(kept) < 15
    _, _, log = measure(tmp_path, models, quiet)
    assert len(log) == 15 - len(kept)


def test_more_repeats_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    models = models_in(tmp_path, "AB")
    measure(tmp_path, models, quiet, repeats=1)
    _, _, log = measure(tmp_path, models, quiet, repeats=3)
    assert sorted(log) == [("A", 2), ("A", 3), ("B", 2), ("B", 3)]


def test_a_changed_model_is_run_again_and_one_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    measure(tmp_path, models_in(tmp_path, "ABC"), lambda *_: {"name": ".parquet"})
    write_model(tmp_path / "models" / "B", "print()")
    runtimes, _, log = measure(tmp_path, models_in(tmp_path, "A") + models_of_folder(tmp_path, "B"), quiet)
    assert {team for team, _ in log} == {"B"}
    assert [row["team"] for row in runtimes] == ["A", "B"]
    left = [str(path.relative_to(tmp_path / "out")) for path in sorted(tmp_path.glob("out/submissions/*/*"))]
    assert left == ["submissions/A/submission.parquet", "submissions/B/submission.csv"]
    assert not (tmp_path / "out" / "submissions" / "C").exists()


@pytest.mark.parametrize(
    "outcome",
    [
        "the image a:1 cannot be pulled: timeout",
        "models run as the user who runs podium, who cannot read A/weights (chmod -R u+rX)",
        "the machine ran out of memory before the model reached its limit of 16 GB (--memory-limit)",
    ],
)
def test_what_may_be_the_fault_of_the_machine_is_tried_again(tmp_path: Path, outcome: str) -> None:
    models = models_in(tmp_path, "AB")
    outcomes = {"A": outcome, "B": "exit code 1: the image is blurred"}
    _, failed, _ = measure(tmp_path, models, lambda model, *_: {"outcome": outcomes[model.team]})
    assert [failure.reason for failure in failed] == list(outcomes.values())
    runtimes, failed, log = measure(tmp_path, models, quiet)
    assert [row["team"] for row in runtimes] == ["A"]
    assert [failure.team for failure in failed] == ["B"]
    assert log == [("A", 1), ("A", 2), ("A", 3)]


def test_a_model_that_no_machine_ended_is_run_again(tmp_path: Path) -> None:
    models = models_in(tmp_path, "A")
    lost = {"outcome": "2 workers were lost while they ran this model", "machine": ""}
    assert measure(tmp_path, models, lambda *_: lost)[2] == [("A", 1)]
    assert measure(tmp_path, models, quiet)[1:] == ([], [("A", 1), ("A", 2), ("A", 3)])


def test_a_folder_of_data_whose_name_is_not_text(tmp_path: Path) -> None:
    models = models_in(tmp_path, "A")
    try:
        data = settings_for(tmp_path).data.rename(tmp_path / "\udcff")
    except OSError:
        pytest.skip("this file system has no such names")
    for runs in 3, 0:  # the second time the name is compared with the one that was noted
        runtimes, _, log = measure(tmp_path, models, quiet, settings={"data": data})
        assert ([row["team"] for row in runtimes], len(log)) == (["A"], runs)


def models_of_folder(folder: Path, team: str) -> list[Model]:
    """The model in a team's folder."""
    model = find_model(folder / "models" / team, team)
    assert isinstance(model, Model)
    return [model]


def test_other_settings_or_hardware_are_refused(tmp_path: Path) -> None:
    models = models_in(tmp_path, "A")
    measure(tmp_path, models, quiet)
    with pytest.raises(UsageError, match=r"were made in another way: time_limit: 99.0 instead of 120.0"):
        measure(tmp_path, models, quiet, settings={"time_limit": 99.0})
    with pytest.raises(UsageError, match="cpu: two instead of one"):
        measure(tmp_path, models, quiet, machine={"cpu": "two", "cores": 2})
    with pytest.raises(UsageError, match="seed: 5 instead of 0"):
        measure(tmp_path, models, quiet, seed=5)
    (tmp_path / "data" / "more.txt").write_text("x")
    with pytest.raises(UsageError, match="data"):
        measure(tmp_path, models, quiet)


@pytest.mark.parametrize("name", ["hardware.json", "runs.csv"])
@pytest.mark.parametrize("content", ["", "{", "a,b\n1,2\n", "round\nx\n"])
def test_damaged_files_are_said(tmp_path: Path, name: str, content: str) -> None:
    models = models_in(tmp_path, "A")
    measure(tmp_path, models, quiet)
    (tmp_path / "out" / name).write_text(content)
    with pytest.raises(UsageError, match=f"{name} is damaged"):
        measure(tmp_path, models, quiet)


def test_a_second_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    models = models_in(tmp_path, "A")

    def start_another(model: Model, number: int, before: int) -> dict[str, Any]:
        with pytest.raises(UsageError, match="another run is at work"):
            measure(tmp_path, models, quiet)
        return {}

    assert len(measure(tmp_path, models, start_another, repeats=1)[2]) == 1


@pytest.mark.parametrize(
    ("code", "log", "outcome"),
    [
        (0, "", "done"),
        (3, "one\n\ntwo\n   ^^^^\n", "exit code 3: one | two"),
        (-9, "", "exit code -9 (SIGKILL)"),
        (-11, "why\n", "exit code -11 (SIGSEGV): why"),
        (137, "why\n", "exit code 137 (SIGKILL): why"),
        (255, "", "exit code 255"),
    ],
)
def test_why_a_model_ended(tmp_path: Path, code: int, log: str, outcome: str) -> None:
    measured: Any = {"stopped": "", "exit_code": code, "problem": ""}
    assert rounds._outcome(measured, log, settings_for(tmp_path)) == outcome
