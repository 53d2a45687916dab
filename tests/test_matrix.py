"""Every option of a command works on every kind of contest, and beside every other option.

Options are paired as in a round robin: each contest plays one round, in which each option occurs once, so every
option meets every contest, and every other option on one of them.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from podium.common.errors import HostError, SubmissionRejected, UsageError
from tests.support import command_line
from tests.support.contests import CONTESTS, Contest

FAST = ("train", "paths as ids", "statistics")  # by default; the others are slow
REFUSED = {each.exit_code for each in (UsageError, SubmissionRejected, HostError)}

Make = Callable[[Contest, Path], Sequence[object]]  # the arguments of an option; some write what they need


def rounds(options: Sequence[str], number: int) -> Iterator[list[tuple[str, ...]]]:
    """The pairs of some options in so many rounds: the first stands still, and the others walk around it."""
    first, *others = options if len(options) % 2 == 0 else [*options, ""]
    for turn in range(number):
        start = turn % len(others)
        ring = [first, *others[start:], *others[:start]]
        pairs = zip(ring[: len(ring) // 2], reversed(ring[len(ring) // 2 :]))
        yield [tuple(filter(None, pair)) for pair in pairs]


def matrix(options: Mapping[str, Make]) -> Any:
    """A test for each contest with its pairs of options; they are run one after the other."""
    cases = zip(CONTESTS, rounds([*options], len(CONTESTS)))
    return pytest.mark.parametrize(
        ("name", "pairs"),
        [
            pytest.param(name, pairs, id=name, marks=[] if name in FAST else pytest.mark.slow)
            for name, pairs in cases
        ],
    )


@pytest.fixture(scope="session")
def contest_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Contest]:
    """Makes the files of a contest once."""
    made: dict[str, Contest] = {}

    def contest(name: str) -> Contest:
        if name not in made:
            made[name] = CONTESTS[name](tmp_path_factory.mktemp("contest"))
        return made[name]

    return contest


def test_every_option_meets_every_other_one_and_every_contest() -> None:
    names = [f"option {number}" for number in range(9)]
    played = [*rounds(names, len(names))]
    met = {frozenset(pair) for pairs in played for pair in pairs if len(pair) == 2}
    assert met == {*map(frozenset, itertools.combinations(names, 2))}
    assert all(sorted(itertools.chain(*pairs)) == names for pairs in played)


# ---- podium score ------------------------------------------------------------------------------------------


def listed(contest: Contest, out: Path) -> Path:
    """A file with every second item."""
    (out / "ids.txt").write_text("\n".join(contest.items[::2]))
    return out / "ids.txt"


def folds(contest: Contest, out: Path) -> Path:
    """A table that puts all items into one fold."""
    pd.DataFrame({"id": contest.items, "fold": 1}).to_csv(out / "folds.csv", index=False)
    return out / "folds.csv"


OF_SCORE: dict[str, Make] = {
    "other": lambda contest, out: [contest.submissions[1]],
    "--bare": lambda contest, out: ["--bare"],
    "--json": lambda contest, out: ["--json"],
    "--rows": lambda contest, out: ["--rows", out / "rows.csv"],
    "--table": lambda contest, out: ["--table", out / "table.csv"],
    "--measures": lambda contest, out: ["--table", out / "table.csv", "--measures", "score"],
    "--bootstrap": lambda contest, out: ["--bootstrap", "200"],
    "--report": lambda contest, out: ["--report", out / "report.html"],
    "--essays": lambda contest, out: ["--essays", listed(contest, out)],
    "--folds": lambda contest, out: ["--folds", folds(contest, out)],
    "--effectiveness": lambda contest, out: ["--effectiveness", "0.7"],
    "--items": lambda contest, out: ["--items", contest.group],
    "--seed": lambda contest, out: ["--seed", "4"],
    "--report-items": lambda contest, out: ["--report-items", "3"],
}
CHANGE_THE_SCORE = {"--essays", "--effectiveness"}


def is_for(option: str, name: str, contest: Contest) -> bool:
    """Tell whether an option is for a contest; where it is not, the command says so."""
    if option == "--effectiveness":
        return name in ("sample", "train")
    if option == "--rows":
        return not contest.metric.endswith(".py")
    return option != "--items" or bool(contest.group)


def number_in(text: str) -> float:
    """The score that a command prints first."""
    return float(next(line for line in text.splitlines() if line.startswith("Score")).split()[-1])


@matrix(OF_SCORE)
@pytest.mark.filterwarnings("ignore:annotations outside the 25 types")
def test_options_of_score(name, pairs, contest_of, capsys, tmp_path):
    contest = contest_of(name)
    asked = ["score", contest.solution, contest.submissions[0], *contest.asked]
    code, plain, _ = command_line.run(capsys, *asked)
    assert code == 0
    score = number_in(plain)
    for pair in pairs:
        out = tmp_path / "_".join(pair)
        out.mkdir()
        options = [word for option in pair for word in OF_SCORE[option](contest, out)]
        code, printed, told = command_line.run(capsys, *asked[:3], *options, *contest.asked)
        if not all(is_for(option, name, contest) for option in pair) or {*pair} == {"--table", "--measures"}:
            assert code == 0 or (code in REFUSED and "error: " in told), pair
            continue
        assert code == 0, (pair, told)
        check_score(pair, score, printed, out)


def check_score(pair: tuple[str, ...], score: float, printed: str, out: Path) -> None:
    """What options cannot change, says what the score without them says."""
    values = json.loads(printed) if "--json" in pair and "--bare" not in pair else {}
    if not CHANGE_THE_SCORE & {*pair}:
        if values:
            assert values["score"] == pytest.approx(score, abs=1e-6)
        else:
            shown = float(printed.split()[0]) if "--bare" in pair else number_in(printed)
            assert shown == pytest.approx(score, abs=1e-6)
        if (out / "table.csv").exists():
            table = pd.read_csv(out / "table.csv")
            assert table["score"].iloc[0] == pytest.approx(score, abs=1e-6)
    if "--folds" in pair and "--json" in pair:
        assert [each["score"] for each in values["folds"]] == pytest.approx([values["score"]])
