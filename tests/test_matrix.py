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

import numpy as np
import pandas as pd
import pytest

import podium
from podium.common.errors import HostError, SubmissionRejected, UsageError
from podium.metric import hosted
from podium.metric.parameters import parse_parameters
from podium.spans import TYPES
from tests.support import command_line
from tests.support.contests import CONTESTS, Contest, table_of_labels
from tests.support.corpora import make_corpus

FAST = ("train", "statistics")  # by default; the others are slow
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
    parameters = parse_parameters(metric, contest.parameters)
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
    "--describe": lambda contest, out: ["--describe", "ell_status=learns English"],
}
CHANGE_THE_BOARD = {"--part", "--left-out"}


def teams_of(contest: Contest, folder: Path) -> Path:
    """A folder with the two submissions of a contest, each of a team."""
    folder.mkdir()
    for team, path in zip(("One", "Two"), contest.submissions):
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, folder / f"{team}{path.suffix}")
    return folder


RANKED = ["paths as ids", "lower is better", "texts as ids", "scifact", "trec_is", "made with items"]


@matrix(OF_RANK, RANKED, fast=())
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
        refused |= {"--variants", "--left-out", "--describe"}  # which not every metric has
        assert code == 0 or refused & {*pair}, pair
        if code == 0 and not CHANGE_THE_BOARD & {*pair}:
            board = pd.read_csv(out / "board" / "final_leaderboard.csv").set_index("team")["score"]
            assert board.to_dict() == plain.to_dict(), pair
            if "--table" in pair:
                assert all(team in (out / "board.md").read_text() for team in plain.index)


# ---- podium make -------------------------------------------------------------------------------------------


def labels(folder: Path) -> list[object]:
    """A table of labels for a custom metric, with a column that says what each row is for."""
    path, sample, metric = table_of_labels(folder)
    return [path, "--metric", metric, "--sample", sample]


def annotated(folder: Path) -> list[object]:
    """A corpus of essays, with such a column."""
    corpus = make_corpus(30)
    corpus["for"] = np.where(pd.factorize(corpus["essay_id_comp"])[0] % 3, "train", "test")
    corpus.rename(columns={"discourse_type": "kind"}).to_csv(folder / "corpus.csv", index=False)
    return [folder / "corpus.csv", "--columns", "kind=discourse_type"]


def official(metric: str, name: str) -> Callable[[Path], list[object]]:
    """The labels of a task, as its organizers publish them."""
    return lambda folder: [hosted.folder(metric) / "samples" / name, "--metric", metric]


MADE_FROM: dict[str, Callable[[Path], list[object]]] = {
    "labels": labels,
    "a corpus": annotated,
    "scifact": official("scifact", "claims.jsonl"),
    "trec_is": official("trec_is", "labels.json"),
}
OF_MAKE: dict[str, Make] = {
    "--test": lambda contest, out: ["--test", "0.5"],
    "--split": lambda contest, out: ["--split", "for"],
    "--public": lambda contest, out: ["--public", "0.5"],
    "--seed": lambda contest, out: ["--seed", "4"],
    "--items": lambda contest, out: ["--items", "day", "--public-columns", "day"],
    "--new-ids": lambda contest, out: ["--new-ids"],
    "--publish-metric": lambda contest, out: ["--publish-metric"],
    "--subpopulations": lambda contest, out: ["--subpopulations", "ell_status"],
    "--set": lambda contest, out: ["--set", "temperature=50"],
}
MADE = {  # the options that inputs take
    "labels": {*OF_MAKE} - {"--subpopulations", "--set"},
    "a corpus": {"--test", "--split", "--public", "--seed", "--subpopulations", "--set", "--publish-metric"},
    "scifact": {"--public", "--seed", "--test", "--new-ids", "--publish-metric"},
    "trec_is": {"--public", "--seed", "--test", "--new-ids", "--publish-metric"},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name in MADE_FROM for number in range(len(OF_MAKE))]
)
@pytest.mark.filterwarnings(
    "ignore:.* rows of the test set stand in public/train.csv", "ignore:annotations outside the 25 types"
)
def test_options_of_make(name, number, capsys, tmp_path):
    pairs = [*rounds([*OF_MAKE], len(OF_MAKE))][number]
    given = MADE_FROM[name](tmp_path)
    for pair, out, code, _ in run_pairs(
        capsys, tmp_path, None, pairs, OF_MAKE, lambda pair, out: ["make", *given, "--out", out / "files"]
    ):
        is_few = name == "trec_is" and "--test" in pair  # of four events, none may be left for Public
        assert is_few or (code == 0) == ({*pair} <= MADE[name] and {*pair} != {"--test", "--split"}), pair
        if code == 0:
            check_files(capsys, out / "files", pair, name)
        else:
            assert not (out / "files").exists()


def check_files(capsys: pytest.CaptureFixture[str], files: Path, pair: tuple[str, ...], name: str) -> None:
    """The files belong to each other, and the right answers have the best score."""
    private = files / "private"
    perfect = private / "perfect_submission.csv"  # of a metric whose companion makes it
    if name == "labels":
        pd.read_csv(private / "solution.csv", dtype=str)[["id", "answer"]].to_csv(perfect, index=False)
    scores = []
    for submission in (perfect, files / "public" / "sample_submission.csv"):
        code, printed, told = command_line.run(capsys, "score", private / "solution.csv", submission, "--bare")
        assert code == 0, told
        scores.append(float(printed.split()[0]))
    assert scores[1] < scores[0] <= 1
    solution, sample = (
        pd.read_csv(path, dtype=str)
        for path in (private / "solution.csv", files / "public" / "sample_submission.csv")
    )
    assert {*solution["Usage"]} == {"Public", "Private"}
    if name == "labels":
        assert sorted(solution["id"]) == sorted(sample["id"])
        if "--items" in pair:
            assert (solution.groupby("day")["Usage"].nunique() == 1).all()
        assert solution["id"].str.startswith("row ").all() == ("--new-ids" not in pair)
        assert (files / "public" / "metric.py").exists() == ("--publish-metric" in pair)
        assert (files / "public" / "train.csv").exists() == bool({"--test", "--split"} & {*pair})


# ---- podium bundle -----------------------------------------------------------------------------------------

OF_BUNDLE: dict[str, Make] = {
    "--subtitle": lambda contest, out: ["--subtitle", "Pets & more"],
    "--switch": lambda contest, out: ["--switch", "2027-04-01"],
    "--per-day": lambda contest, out: ["--per-day", "3"],
    "--total": lambda contest, out: ["--total", "30"],
    "--approve-entrants": lambda contest, out: ["--approve-entrants"],
}


@pytest.mark.parametrize("site", ["codabench", "evalai"])
@matrix(OF_BUNDLE, ["made", "made with items", "made by a split"], fast=())
def test_options_of_bundle(name, pairs, site, contest_of, capsys, tmp_path):
    asked = ["bundle", site, contest_of(name).solution.parents[1], "--title", "Pets", "--start", "2027-01-15"]
    pairs = [*pairs, ("--switch", "--per-day"), ("--switch", "--subtitle")]
    for pair, out, code, _ in run_pairs(
        capsys,
        tmp_path,
        None,
        [pair for pair in pairs if len(pair) == 2],
        OF_BUNDLE,
        lambda pair, out: [*asked, "--end", "2027-04-15", "--out", out / "bundle"],
    ):
        assert (code == 0) == ("--switch" in pair), pair
        assert (out / "bundle").exists() == (code == 0)


# ---- podium check and emulate --------------------------------------------------------------------------------

OF_CHECK: dict[str, Make] = {
    "--quick": lambda contest, out: ["--quick"],
    "--time-limit": lambda contest, out: ["--time-limit", "5m"],
    "--idle-limit": lambda contest, out: ["--idle-limit", "2m"],
    "submission": lambda contest, out: [],
}


def tried(contest: Contest) -> list[object]:
    """The metric of a contest, unless its record names it."""
    return [contest.metric] if contest.metric else []


@matrix(OF_CHECK, ["paths as ids", "made", "statistics"], fast=())
def test_options_of_check(name, pairs, contest_of, capsys, tmp_path):
    contest = contest_of(name)

    def command(pair: Sequence[str], out: Path) -> list[object]:
        files = contest.files if "submission" in pair or not contest.metric else ()
        return ["check", *tried(contest), *files, *(["--quick"] if "--quick" not in pair else [])]

    for pair, _, code, printed in run_pairs(capsys, tmp_path, contest, pairs, OF_CHECK, command):
        assert code == 0, (pair, printed)
        assert "FAIL" not in printed


OF_EMULATE = {name: make for name, make in OF_CHECK.items() if name != "submission"} | {
    "--complete-submission": lambda contest, out: ["--complete-submission"]
}


@matrix(OF_EMULATE, ["paths as ids", "made", "numbers as ids"], fast=())
def test_options_of_emulate(name, pairs, contest_of, capsys, tmp_path):
    contest = contest_of(name)
    values = json.loads(command_line.run(capsys, "score", *contest.files, "--json", *contest.asked)[1])

    def command(pair: Sequence[str], out: Path) -> list[object]:
        return ["emulate", *tried(contest), *contest.files]

    for pair, _, code, printed in run_pairs(capsys, tmp_path, contest, pairs, OF_EMULATE, command):
        assert code == 0, (pair, printed)
        for part in ("public", "private"):
            assert f"{values[part]:.6f}" in printed or f"{values[part]:.5f}" in printed, (pair, part)


# ---- podium tune -------------------------------------------------------------------------------------------

OF_TUNE: dict[str, Make] = {
    "--apply": lambda contest, out: ["--apply", out.parent / "candidates.csv", "--out", out / "applied.csv"],
    "--json": lambda contest, out: ["--json"],
    "--folds": lambda contest, out: ["--folds", "3"],
    "--effectiveness": lambda contest, out: ["--effectiveness", "0.7"],
    "--seed": lambda contest, out: ["--seed", "4"],
    "--set": lambda contest, out: ["--set", "temperature=50"],
}


@matrix(OF_TUNE, ["train", "sample"], fast=())
@pytest.mark.filterwarnings("ignore")
def test_options_of_tune(name, pairs, contest_of, capsys, tmp_path):
    contest = contest_of(name)
    candidates = pd.read_csv(contest.submissions[0], dtype={"row_id": str})
    candidates["probability"] = np.random.default_rng(2).uniform(0.3, 1, len(candidates)).round(3)
    candidates.to_csv(tmp_path / "candidates.csv", index=False)
    asked = ["tune", contest.solution, tmp_path / "candidates.csv", *contest.asked]
    for pair, out, code, printed in run_pairs(
        capsys, tmp_path, contest, [*pairs, ("--json",)], OF_TUNE, lambda pair, out: asked
    ):
        assert code == 0, pair
        if "--json" in pair:
            assert {each["discourse_type"] for each in json.loads(printed)["thresholds"]} == {*TYPES}
        if "--apply" in pair:
            assert {*pd.read_csv(out / "applied.csv")["discourse_type"]} <= {*TYPES}


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
