"""Every option of a command works on every kind of contest, and beside every other option.

Options are paired as in a round robin: each contest plays one round, in which each option occurs once, so every
option meets every contest, and every other option on one of them.
"""

import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import podium
from podium.common.errors import HostError, SubmissionRejected, UsageError
from podium.metric import hosted
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


def matrix(
    options: Mapping[str, Make], contests: Sequence[str] = (*CONTESTS,), fast: Sequence[str] = FAST
) -> Any:
    """A test for each contest with its pairs of options; they are run one after the other."""
    cases = zip(contests, rounds([*options], len(contests)))
    return pytest.mark.parametrize(
        ("name", "pairs"),
        [
            pytest.param(name, pairs, id=name, marks=[] if name in fast else pytest.mark.slow)
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
        return not (contest.metric or contest.recorded).endswith(".py")
    return option != "--items" or bool(contest.group)


def number_in(text: str) -> float:
    """The score that a command prints first."""
    line = next(line for line in text.splitlines() if line.startswith("Score"))
    return float(line.split()[1])


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


@pytest.mark.parametrize("name", ["sample", "texts as ids", "paths as ids", "lower is better", "statistics"])
def test_python_and_json_give_the_score_of_the_command(name, contest_of, capsys):
    contest = contest_of(name)
    code, printed, _ = command_line.run(capsys, "score", *contest.files, "--json", *contest.asked)
    assert code == 0
    metric = hosted.load(contest.metric or contest.recorded or "unified")
    parameters = hosted.parse_parameters(metric, contest.parameters)
    tables = [pd.read_csv(path, dtype={"id": str}) for path in contest.files]
    evaluation = podium.score(*tables, metric=str(metric.path), **parameters)
    values = json.loads(printed)
    assert values["score"] == evaluation.score
    assert {part.lower(): score for part, score in evaluation.scores.items() if part != "All"} == {
        part: values[part] for part in ("public", "private") if part in values
    }
    assert values["signature"] == evaluation.signature


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


def run_pairs(capsys, tmp_path, contest, pairs, options, command):
    """Run a command with each pair of options; refuse tracebacks and codes that are not documented."""
    for pair in pairs:
        out = tmp_path / "_".join(pair)
        out.mkdir()
        given = [word for option in pair for word in options[option](contest, out)]
        code, printed, told = command_line.run(capsys, *command(pair, out), *given)
        assert code == 0 or (code in REFUSED and "error: " in told), (pair, told)
        yield pair, out, code, printed


# ---- podium rank -------------------------------------------------------------------------------------------


def decisions(contest: Contest, out: Path) -> Path:
    """A table of the jury that says of one team that it wins no prize."""
    (out / "jury.csv").write_text("team,status,reason\nTwo,no prize,works for the host\n")
    return out / "jury.csv"


def left_out(contest: Contest, out: Path) -> Path:
    """A table that leaves out one item."""
    pd.DataFrame({"item": contest.items[:1], "reason": "a wrong label"}).to_csv(out / "items.csv", index=False)
    return out / "items.csv"


OF_RANK: dict[str, Make] = {
    "--prizes": lambda contest, out: ["--prizes", "1"],
    "--variants": lambda contest, out: ["--variants"],
    "--items": lambda contest, out: ["--items", contest.group],
    "--part": lambda contest, out: ["--part", "Private"],
    "--resamples": lambda contest, out: ["--resamples", "40"],
    "--team": lambda contest, out: ["--team", "Two"],
    "--title": lambda contest, out: ["--title", "A & B"],
    "--table": lambda contest, out: ["--table", out / "board.md"],
    "--teams": lambda contest, out: ["--teams", decisions(contest, out)],
    "--left-out": lambda contest, out: ["--left-out", left_out(contest, out)],
    "--jobs": lambda contest, out: ["--jobs", "2"],
    "--time-limit": lambda contest, out: ["--time-limit", "60s"],
    "--seed": lambda contest, out: ["--seed", "4"],
    "--organizer": lambda contest, out: ["--organizer", 'the "house"'],
}
CHANGE_THE_BOARD = {"--part", "--left-out"}


def teams_of(contest: Contest, folder: Path) -> Path:
    """A folder with the two submissions of a contest, each of a team."""
    folder.mkdir()
    for team, path in zip(("One", "Two"), contest.submissions):
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, folder / f"{team}{path.suffix}")
    return folder


@matrix(OF_RANK, ["paths as ids", "lower is better", "texts as ids"], fast=())
@pytest.mark.filterwarnings("ignore")
def test_options_of_rank(name, pairs, contest_of, capsys, tmp_path):
    contest = contest_of(name)
    asked = ["rank", contest.solution, teams_of(contest, tmp_path / "teams"), *contest.asked, "--no-boost"]

    def command(pair: Sequence[str], out: Path) -> list[object]:
        usual = {"--resamples": "0", "--jobs": "1"}
        more = [word for option, value in usual.items() if option not in pair for word in (option, value)]
        return [*asked, "--out", out / "board", *more]

    code, _, told = command_line.run(capsys, *command((), tmp_path))
    assert code == 0, told
    plain = pd.read_csv(tmp_path / "board" / "final_leaderboard.csv").set_index("team")["score"]
    values = json.loads(command_line.run(capsys, "score", *contest.files, "--json", *contest.asked)[1])
    assert plain["One"] == values.get("private", values["score"])
    for pair, out, code, _ in run_pairs(capsys, tmp_path, contest, pairs, OF_RANK, command):
        refused = {"--part"} if "private" not in values else set()
        refused |= {"--items"} if not contest.group else set()
        refused |= {"--variants", "--left-out"}  # which not every metric has
        assert code == 0 or refused & {*pair}, pair
        if code == 0 and not CHANGE_THE_BOARD & {*pair}:
            board = pd.read_csv(out / "board" / "final_leaderboard.csv").set_index("team")["score"]
            assert board.to_dict() == plain.to_dict(), pair
            if "--table" in pair:
                assert all(team in (out / "board.md").read_text() for team in plain.index)


# ---- podium estimate ----------------------------------------------------------------------------------------

OF_ESTIMATE: dict[str, Make] = {
    "team": lambda contest, out: ["Two"],
    "--json": lambda contest, out: ["--json"],
    "--runtimes": lambda contest, out: ["--runtimes", "10,20,30"],
    "--max-boost": lambda contest, out: ["--max-boost", "0.1"],
    "--eligibility-ratio": lambda contest, out: ["--eligibility-ratio", "1.1"],
    "--slowdown-limit": lambda contest, out: ["--slowdown-limit", "1.5"],
}


@pytest.mark.parametrize("pairs", [*rounds([*OF_ESTIMATE], len(OF_ESTIMATE) - 1)])
def test_options_of_estimate(pairs, capsys, tmp_path):
    (tmp_path / "board.csv").write_text("team,score,runtime\nOne,0.6,30\nTwo,0.59,20\nThree,0.5,10\n")
    asked = ["estimate", tmp_path / "board.csv"]
    for pair, _, code, printed in run_pairs(
        capsys, tmp_path, None, pairs, OF_ESTIMATE, lambda pair, out: asked
    ):
        assert code == 0 or "team" not in pair, pair
        assert code or "--json" not in pair or json.loads(printed)
