"""Rounds, repeats, the slow machine, going on, and the files: with runs that are made up."""

import csv
import gzip
import itertools
import json
import math
import random
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import UsageError
from podium.running import rounds
from podium.running.models import Failure, Model, find_model
from podium.running.reference import SLOWER, baseline, is_shared, is_slow, limit_of, runs_needed
from podium.running.rounds import Result, Row
from tests.running.support import settings_for, write_model

QUICK = 0.04
MACHINE = {"cpu": "one", "cores": 2}

Made = Callable[[Model, int, int], dict[str, Any]]


def models_in(folder: Path, teams: str = "ABCDE") -> list[Model]:
    found = [find_model(write_model(folder / "models" / team), team) for team in teams]
    return [model for model in found if isinstance(model, Model)]


def made_up(make: Made, log: list[tuple[str, int]], stop_after: int | None = None) -> rounds.Execute:
    """Runs as `make` describes them: of the model, the round, and the number of runs before in all."""

    def execute(models: list[Model], number: int) -> Iterator[Result]:
        for model in models:
            if stop_after is not None and len(log) == stop_after:
                raise UsageError("the machine was switched off")
            fields = {
                "outcome": "done",
                "seconds": 1.0,
                "others": 0.01,
                "before": QUICK,
                "after": QUICK,
                "content": b"a\n1\n",
                "name": ".csv",
            } | make(model, number, len(log))
            log.append((model.team, number))
            is_done = fields["outcome"] == "done"
            row = Row(
                round=number,
                team=model.team,
                model=model.name,
                submission=f"{model.key}{fields['name']}" if is_done else "",
                outcome=fields["outcome"],
                seconds=fields["seconds"],
                cpu_seconds=0.5,
                others=fields["others"],
                peak_memory=1000,
                exit_code=0,
                reference_before=fields["before"],
                reference_after=fields["after"],
                sha256=rounds._hash(fields["content"], fields["name"]) if is_done else "",
                machine="here",
                started_at="2026-01-01T00:00:00+00:00",
                engine="bubblewrap",
                digest=model.digest,
            )
            yield Result(row, "said\n", fields["content"])

    return execute


def measure(
    folder: Path, models: list[Model], make: Made, repeats: int = 3, seed: int = 0, **more: Any
) -> tuple[list[dict[str, Any]], list[Failure], list[tuple[str, int]]]:
    log: list[tuple[str, int]] = []
    execute = made_up(make, log, more.pop("stop_after", None))
    settings = settings_for(folder, **more.pop("settings", {}))
    machine = more.pop("machine", MACHINE)
    out: Path = folder / "out"
    try:
        runtimes, failed = rounds.measure(
            models, more.pop("failures", []), settings, out, repeats, seed, machine, execute
        )
    except UsageError as problem:
        problem.add_note(str(len(log)))
        raise
    return runtimes, failed, log


def quiet(model: Model, number: int, before: int) -> dict[str, Any]:
    return {}


def table(path: Path) -> list[dict[str, str]]:
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
    seconds = {"A": [3.0, 1.0, 2.0], "B": [5.0, 5.5, 4.0]}
    failure = Failure("C", "", "no model")
    runtimes, failed, _ = measure(
        tmp_path,
        models_in(tmp_path, "AB"),
        lambda model, number, _: {"seconds": seconds[model.team][number - 1]},
        failures=[failure],
    )
    assert runtimes[0] == {
        "team": "A",
        "submission": "A.csv",
        "runtime": 2.0,
        "runtime_low": 1.0,
        "runtime_high": 3.0,
        "runs": "3.0 1.0 2.0",
        "engine": "bubblewrap",
    }
    assert failed == [failure]
    out = tmp_path / "out"
    assert [(row["team"], float(row["runtime"])) for row in table(out / "runtimes.csv")] == [("A", 2), ("B", 5)]
    assert table(out / "failed.csv") == [{"team": "C", "model": "", "reason": "no model", "engine": ""}]
    assert len(table(out / "runs.csv")) == 6
    assert (out / "submissions" / "A.csv").read_bytes() == b"a\n1\n"
    assert (
        out / "logs" / "B.3.txt"
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
        return {"seconds": 2.0 if is_slow else 1.0, "after": 0.043 if is_slow else QUICK}

    with pytest.warns(
        UserWarning, match="slower than usual, or shared, around these runs: . in round 2, . in round 2, . in r"
    ):
        runtimes, _, log = measure(tmp_path, models_in(tmp_path), slow_in_the_middle)
    assert len(log) == 15 + 3
    disturbed = {log[number] for number in (6, 7, 8)}
    assert {team for team, _ in log[15:]} == {team for team, _ in disturbed}
    assert all(row["runs"] == "1.0 1.0 1.0" for row in runtimes)
    marked = {
        (row["team"], int(row["round"]))
        for row in table(tmp_path / "out" / "runs.csv")
        if row["slow"] == "True"
    }
    assert marked == disturbed


def test_runs_on_a_machine_that_was_shared_are_repeated(tmp_path: Path) -> None:
    """Also where the reference beside them has seen nothing."""
    shared = {("B", 2): 0.06, ("A", 1): 0.05, ("C", 1): float("nan")}
    with pytest.warns(UserWarning, match=r"or shared, around these runs: B in round 2$"):
        _, _, log = measure(
            tmp_path,
            models_in(tmp_path, "ABC"),
            lambda model, number, _: {"others": shared.get((model.team, number), 0)},
        )
    assert log[9:] == [("B", 4)]
    assert [is_shared(seconds, 0.06) for seconds in (0.5, 1.0)] == [False, True]
    assert [is_shared(1.0, others, 0.2) for others in (0.24, 0.26)] == [False, True]


def test_others_who_are_always_there_are_said_once(tmp_path: Path) -> None:
    with pytest.warns(
        UserWarning, match="the machine is shared: others take 20% of the cores' time all along"
    ) as warned:
        measure(
            tmp_path, models_in(tmp_path, "ABC"), lambda _, number, before: {"others": 0.2 + 0.001 * before}
        )
    assert len(warned) == 1
    (tmp_path / "again").mkdir()
    with pytest.warns(UserWarning, match=r"others take 20%|or shared, around these runs: B in round 1$"):
        _, _, log = measure(
            tmp_path / "again",
            models_in(tmp_path, "ABC"),
            lambda model, number, _: {"others": 0.4 if (model.team, number) == ("B", 1) else 0.2},
        )
    assert log[9:] == [("B", 4)]


def test_four_percent_are_not_slow(tmp_path: Path) -> None:
    _, _, log = measure(tmp_path, models_in(tmp_path), lambda *_: {"after": QUICK * 1.04})
    assert len(log) == 15


def test_a_machine_that_stays_unsteady_ends_with_a_warning(tmp_path: Path) -> None:
    draw = random.Random(3)
    with pytest.warns(UserWarning, match="usual speed|slower than usual"):
        runtimes, _, log = measure(
            tmp_path, models_in(tmp_path, "AB"), lambda *_: {"after": QUICK * draw.choice([1, 1.5, 2])}
        )
    assert 6 < len(log) <= 2 * (3 + rounds.MOST_EXTRA_RUNS)
    assert [row["team"] for row in runtimes] == ["A", "B"]


def test_between_two_models_the_reference_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = itertools.count(1.0)
    monkeypatch.setattr(rounds, "reference_seconds", lambda cores: next(taken))
    execute = rounds.here(settings_for(tmp_path))
    models = models_in(tmp_path, "AB")
    rows = [result.row for number in (1, 2) for result in execute(models, number)]
    assert [(row.reference_before, row.reference_after) for row in rows] == [(1, 2), (2, 3), (3, 4), (4, 5)]


def test_the_baseline_is_neither_luck_nor_half_a_day_of_slowness() -> None:
    assert baseline([1.0] * 10 + [0.5]) == 1.0
    assert baseline([1.0] * 10 + [1.5] * 20) == 1.0
    assert baseline([]) == 0.0
    assert [is_slow(before, after, 1.0) for before, after in itertools.product((1.0, 1.06), (1.05, 1.06))] == [
        False,
        True,
        True,
        True,
    ]


def series(seconds: list[float]) -> list[tuple[float, float]]:
    """References as the runs between them have them."""
    return list(itertools.pairwise(seconds))


def share_slow(seconds: list[float]) -> float:
    limit, undisturbed = limit_of(series(seconds)), baseline(seconds)
    return statistics.mean(is_slow(*pair, undisturbed, limit) for pair in series(seconds))


# Seconds of the reference, as they were measured on a virtual machine that others used as well, and the same
# runs' processor seconds: a machine whose cores change their speed by themselves.
BUSY = [
    0.065, 0.059, 0.072, 0.096, 0.081, 0.137, 0.134, 0.133, 0.124, 0.136, 0.201, 0.164, 0.228, 0.192,
    0.141, 0.136, 0.149, 0.185, 0.180, 0.215, 0.144, 0.123, 0.163, 0.105, 0.126, 0.103, 0.159, 0.176,
    0.180, 0.179,
]  # fmt: skip
OWN_SPEED = [
    0.0729, 0.0708, 0.0695, 0.0783, 0.0721, 0.0719, 0.0722, 0.0683, 0.0663, 0.0741, 0.0750, 0.0602,
    0.0691, 0.0717, 0.0754, 0.0729, 0.0520, 0.0727, 0.0757, 0.0692, 0.0727, 0.0700, 0.0742, 0.0543,
    0.0533, 0.0698, 0.0691, 0.0733, 0.0753, 0.0530, 0.0697, 0.0725, 0.0675, 0.0527, 0.0689, 0.0696,
    0.0662, 0.0697, 0.0702, 0.0691, 0.0727, 0.0693, 0.0481, 0.0610, 0.0726,
]  # fmt: skip


@pytest.mark.parametrize("seconds", [BUSY, OWN_SPEED], ids=["busy", "own speed"])
def test_on_a_machine_that_is_unsteady_by_itself_the_mark_is_rare(seconds: list[float]) -> None:
    low, high = (limit_of(series(seconds[start:])) for start in (0, 5))
    assert 1.15 < low < 2.5
    assert 1.15 < high < 2.5
    assert share_slow(seconds) < 0.2
    assert statistics.mean(max(pair) > SLOWER * baseline(seconds) for pair in series(seconds)) > 0.6


@given(
    runs=st.integers(8, 60), noise=st.floats(0, 0.008), begin=st.floats(0, 0.6), length=st.floats(0.1, 0.4),
    slower=st.floats(1.15, 3), draw=st.randoms(use_true_random=False),
)  # fmt: skip
def test_on_a_steady_machine_a_disturbance_is_seen_and_nothing_else(
    runs: int, noise: float, begin: float, length: float, slower: float, draw: random.Random
) -> None:
    first = round(begin * runs)
    disturbed = range(first, first + max(1, round(length * runs)))
    seconds = [
        draw.uniform(1 - noise, 1 + noise) * (slower if place in disturbed else 1) for place in range(runs + 1)
    ]
    limit, undisturbed = limit_of(series(seconds)), baseline(seconds)
    assert limit == SLOWER
    for place, pair in enumerate(series(seconds)):
        assert is_slow(*pair, undisturbed, limit) == (place in disturbed or place + 1 in disturbed)


@given(st.lists(st.floats(0.01, 10), min_size=2, max_size=40), st.floats(0.01, 100))
def test_the_limit_depends_on_ratios_alone_and_never_falls_below_five_percent(
    seconds: list[float], unit: float
) -> None:
    limit = limit_of(series(seconds))
    assert limit >= SLOWER
    assert limit_of(series([unit * one for one in seconds])) == pytest.approx(limit)
    assert limit_of(series(seconds[::-1])) == pytest.approx(limit)
    assert len(seconds) > 8 or limit == SLOWER


@pytest.mark.parametrize("noise", [0.03, 0.1, 0.2])
def test_noise_of_the_machine_itself_is_no_disturbance(noise: float) -> None:
    draw = random.Random(1)
    shares = [share_slow([draw.lognormvariate(0, noise) for _ in range(19)]) for _ in range(100)]
    assert statistics.mean(shares) < 0.05
    of_two_speeds = [share_slow([draw.choice([1, 1.4]) for _ in range(19)]) for _ in range(100)]
    assert statistics.mean(of_two_speeds) < 0.25


@pytest.mark.parametrize("noise", [0.01, 0.02, 0.04])
def test_so_many_runs_tell_two_percent_apart(noise: float) -> None:
    draw = random.Random(2)

    def runs(number: int, cost: float = 1.0) -> list[float]:
        return [cost * draw.gauss(1, noise) for _ in range(number)]

    needed = runs_needed([runs(3, cost) for cost in range(1, 400)])
    assert needed == pytest.approx(math.pi * (noise * 1.645 / 0.02) ** 2, rel=0.3, abs=1)
    ordered = [statistics.median(runs(needed)) < statistics.median(runs(needed, 1.02)) for _ in range(1000)]
    assert statistics.mean(ordered) > 0.93
    assert runs_needed([[1.0], [], [0.0, 0.0]]) == 0


def test_an_unsteady_machine_is_said_once_with_the_runs_that_it_takes(tmp_path: Path) -> None:
    draw = random.Random(4)

    def unsteady(*_: Any) -> dict[str, Any]:
        return {name: QUICK * draw.lognormvariate(0, 0.1) for name in ("before", "after")} | {
            "seconds": draw.lognormvariate(0, 0.1)
        }

    with pytest.warns(UserWarning, match=r"than usual|usual speed") as warned:
        measure(tmp_path, models_in(tmp_path), unsteady)
    said = [str(one.message) for one in warned]
    [own] = [one for one in said if "by itself" in one]
    found = re.fullmatch(
        r"the machine's speed changes by (\d+)% from run to run by itself; marked are only runs around which "
        r"it was more than (\d+)% slower than usual. To tell models apart that differ by 2% takes about (\d+) "
        r"runs each, or another machine",
        own,
    )
    assert found is not None
    change, limit, runs = map(int, found.groups())
    assert 8 < change < 20
    assert limit == pytest.approx(100 * ((1 + change / 100) ** 3 - 1), abs=3)
    assert 80 < runs < 500
    assert all(f"more than {limit}% slower" in one for one in said if "slower than usual" in one)


def test_predictions_that_differ_are_named_and_the_first_count(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="predictions differ from run to run; the first count: B"):
        measure(
            tmp_path,
            models_in(tmp_path, "AB"),
            lambda model, number, _: {"content": b"%d" % (number if model.team == "B" else 0)},
        )
    assert (tmp_path / "out" / "submissions" / "B.csv").read_bytes() == b"1"


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
    assert not (tmp_path / "out" / "submissions" / "B.csv").exists()


def test_a_model_that_a_slow_machine_kept_beyond_the_time_limit_is_run_again(tmp_path: Path) -> None:
    def out_of_time_once(model: Model, number: int, before: int) -> dict[str, Any]:
        if (model.team, number) == ("B", 1):
            return {"outcome": "time limit of 1 s", "after": 0.08}
        return {}

    with pytest.warns(UserWarning, match=r"slower than usual|not every run gave predictions: B"):
        runtimes, failed, _ = measure(tmp_path, models_in(tmp_path, "ABC"), out_of_time_once)
    assert [(row["team"], row["runs"]) for row in runtimes] == [(team, "1.0 1.0 1.0") for team in "ABC"]
    assert failed == []


def test_a_model_that_fails_later_keeps_its_predictions_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="not every run gave predictions: A"):
        runtimes, failed, _ = measure(
            tmp_path,
            models_in(tmp_path, "A"),
            lambda model, number, _: {
                "outcome": "exit code 1" if number == 2 else "done",
                "seconds": float(number),
            },
        )
    assert runtimes[0]["runs"] == "1.0 3.0"
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
    assert sorted(path.name for path in (tmp_path / "out" / "submissions").iterdir()) == ["A.parquet", "B.csv"]


def test_an_image_that_could_not_be_had_is_asked_for_again(tmp_path: Path) -> None:
    models = models_in(tmp_path, "AB")
    outcomes = {"A": "the image a:1 cannot be had: timeout", "B": "exit code 1: the image is blurred"}
    _, failed, _ = measure(tmp_path, models, lambda model, *_: {"outcome": outcomes[model.team]})
    assert [failure.reason for failure in failed] == list(outcomes.values())
    runtimes, failed, log = measure(tmp_path, models, quiet)
    assert [row["team"] for row in runtimes] == ["A"]
    assert [failure.team for failure in failed] == ["B"]
    assert log == [("A", 1), ("A", 2), ("A", 3)]


def models_of_folder(folder: Path, team: str) -> list[Model]:
    found = find_model(folder / "models" / team, team)
    assert isinstance(found, Model)
    return [found]


def test_other_settings_or_hardware_are_refused(tmp_path: Path) -> None:
    models = models_in(tmp_path, "A")
    measure(tmp_path, models, quiet)
    with pytest.raises(UsageError, match=r"measured in another way: time_limit: 99.0 instead of 20.0"):
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
