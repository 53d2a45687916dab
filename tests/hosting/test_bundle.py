"""With a bundle of `podium bundle`, each platform gives the scores and rejections of `podium score`."""

import ast
import importlib.metadata
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import podium
from podium.child import limits
from podium.common.errors import ContractWarning, HostError, SubmissionRejected
from podium.contest import reading
from podium.hosting import folders
from podium.hosting.bundles import bundle, evaluator, program
from podium.hosting.competition import Competition
from podium.hosting.terms import Terms
from podium.metric import hosted
from podium.scoring import evaluating
from tests.support.corpora import make_corpus
from tests.support.frames import WHOLE, perfect, solution, words
from tests.support.host_line import ACCURACY, run_podium
from tests.support.unified import evaluate

RUN_ALONE = program.run_alone  # for a test that wants the process
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_process")]

TIMES = ["--start", "2027-01-15T12:00", "--switch", "2027-04-01", "--end", "2027-04-15"]
TITLE = ["--title", "Feedback: “on writing”"]
UNEXPECTED = "Evaluation metric raised an unexpected error"


@pytest.fixture(scope="module")
def bundled(files, tmp_path_factory):
    """The folder of each platform's bundle."""
    out = tmp_path_factory.mktemp("bundles")
    for platform in PROGRAMS:
        make(files, platform, out / platform)
    return out


TERMS = Terms(
    start=datetime(2027, 1, 15, 12),
    switch=datetime(2027, 4, 1),
    end=datetime(2027, 4, 15),
    per_day=2,
    total=40,
    approve_entrants=True,
)


def from_yaml(text: str | bytes) -> Any:
    """Read YAML, with the package that a host of podium has no need of."""
    return pytest.importorskip("yaml").safe_load(text)


def make(files, platform, out, metric="unified", terms=TERMS, **arguments):
    """Make a bundle for a platform from the files of a competition."""
    loaded = hosted.load(metric)
    solution = pd.read_csv(files / "private" / "solution.csv", nrows=1)
    arguments = {"row_id_column_name": solution.columns[0]} | arguments
    competition = Competition(files, loaded, arguments, "Feedback", "on writing")
    return bundle.bundle(platform, competition, terms, out)


# --- what the platforms do with a bundle ------------------------------------------------------------

# Each program runs alone, as on its platform, and prints the result of each submission.
START = """
import json, sys
from pathlib import Path
unpacked, submissions, results = Path(sys.argv[1]), sorted(Path(sys.argv[2]).iterdir()), []
"""
END = """
import podium
assert Path(podium.__file__).is_relative_to(Path(LIB)), podium.__file__
print(json.dumps(results), flush=True)
import os
os._exit(0)  # a thread of Arrow may abort an interpreter that is shut down
"""
CODABENCH = f"""
{START}
import contextlib, io, importlib.util, shutil
spec = importlib.util.spec_from_file_location("scoring", unpacked / "scoring_program" / "scoring.py")
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
for path in submissions:
    result = {{}}
    for part in ("public", "private"):
        app = Path("app")
        shutil.rmtree(app, ignore_errors=True)
        shutil.copytree(unpacked / f"reference_{{part}}", app / "input" / "ref")
        (app / "input" / "res").mkdir(parents=True)
        (app / "output").mkdir()
        shutil.copy(path, app / "input" / "res")
        with contextlib.redirect_stdout(io.StringIO()) as log:
            code = program.main(str(app / "input"), str(app / "output"))
        for file in (app / "output").rglob("*.*"):
            print(file.name, file.read_text())
        print(log.getvalue())
        scores = app / "output" / "scores.json"
        result[part] = json.loads(scores.read_text())["score"] if scores.exists() else log.getvalue().strip()
        assert (code == 0) == scores.exists()
    results.append(result)
LIB = unpacked
{END}
"""
EVALAI = f"""
{START}
sys.path.insert(0, str(unpacked))
from evaluate import evaluate  # as main.py of EvalAI-Starters does, which stands beside it
for path in submissions:
    result = {{}}
    for codename in ("public", "private"):
        try:
            answer = evaluate(str(path), codename)
            (sent,) = json.loads(json.dumps(answer["result"]))
            assert sent.keys() == {{"split", "show_to_participant", "accuracies"}}
            assert sent["accuracies"].keys() == {{"score"}}
            assert (sent["split"], sent["show_to_participant"]) == (codename, codename == "public")
            result[codename] = sent["accuracies"]["score"]
        except Exception as problem:
            result[codename] = f"error: {{problem}}"
    results.append(result)
LIB = unpacked
{END}
"""
PROGRAMS = {"codabench": CODABENCH, "evalai": EVALAI}


def unpack(platform: str, out: Path, folder: Path) -> Path:
    """Unpack a bundle as the platform does after the upload."""
    unpacked = folder / f"unpacked-{platform}"
    if platform == "codabench":
        zipfile.ZipFile(out / "competition.zip").extractall(unpacked)
    else:
        shutil.copytree(out / "remote_worker", unpacked, dirs_exist_ok=True)
    return unpacked


def execute(platform, unpacked, submissions, folder):
    """Run the platform's program, and return the results from the last line that it prints."""
    return subprocess.run(
        [sys.executable, "-I", "-c", PROGRAMS[platform], str(unpacked), str(submissions)],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def run(platform: str, out: Path, submissions: Path, folder: Path):
    """For each of the submissions, what the platform gives for each part: a score or a message."""
    done = execute(platform, unpack(platform, out, folder), submissions, folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def expected(solution: Path, submission: Path, metric="unified", **arguments):
    """For one of the submissions, what `podium score` gives."""
    loaded = hosted.load(metric)
    prepared = evaluating.prepare(loaded, reading.read_solution(loaded, solution, arguments), arguments)
    try:
        scores = evaluating.evaluate(prepared, reading.read_submission(loaded, submission, arguments)).scores
    except SubmissionRejected as problem:
        message = f"error: {problem}".replace(str(submission), submission.name)
        return {"public": message, "private": message}
    return {"public": scores["Public"], "private": scores["Private"]}


def spoiled(good: pd.DataFrame) -> dict[str, bytes]:
    """Good and bad submissions, by name."""
    draw = np.random.default_rng(7).random(len(good))
    effectiveness = {"score_discourse_effectiveness_0": 1 - draw, "score_discourse_effectiveness_1": draw}
    frames = {
        "good-0": good,
        "good-1": good.head(0),
        "good-2": good.iloc[::-1],
        "good-3": pd.concat([good, good.head(40)]),
        "good-4": pd.concat([good, good.head(9).assign(essay_id="nobody")]),
        "good-5": good.assign(**effectiveness)[draw < 0.9],
        "bad-0": good.assign(essay_id="nobody"),
        "bad-1": good.assign(predictionstring="1 3"),
        "bad-2": good.assign(score_discourse_effectiveness_1=2),
    }
    for number, column in enumerate(good, 3):
        frames[f"bad-{number}"] = good.assign(**{column: None}) if number % 2 else good.drop(columns=column)
    files = {f"{name}.csv": frame.to_csv(index=False).encode() for name, frame in frames.items()}
    return files | {"bad-a.csv": b"", "bad-b.csv": b"\xff\xfe\x00", "bad-c.csv": b'a,b\n"1,2\n'}


def unzipped(path: Path) -> dict[str, bytes]:
    """The files in an archive, by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(folder: Path, content: dict[str, bytes]) -> Path:
    """Make a folder with these files."""
    for name, data in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


every_platform = pytest.mark.parametrize("platform", PROGRAMS)


@every_platform
def test_scores_and_rejections_are_those_of_podium_score(files, bundled, tmp_path, platform):
    """Good and bad submissions agree to the last bit."""
    good = pd.read_csv(files / "public" / "sample_submission.csv")
    chosen = spoiled(good)
    submissions = write(tmp_path / "submissions", chosen)
    results = run(platform, bundled / platform, submissions, tmp_path)
    for name, result in zip(sorted(chosen), results, strict=True):
        assert result == expected(files / "private" / "solution.csv", submissions / name), name
        assert isinstance(result["public"], str) == name.startswith("bad")


# --- Codabench --------------------------------------------------------------------------------------


def test_the_measures_reach_the_leaderboard(files, bundled, tmp_path):
    """The program is started as Codabench's worker does, beside what zip programs and the platform add."""
    with zipfile.ZipFile(bundled / "codabench" / "competition.zip") as archive:
        archive.extractall(tmp_path / "bundle")
    sent = tmp_path / "app" / "input" / "res"
    (sent / "__MACOSX").mkdir(parents=True)
    (tmp_path / "app" / "output").mkdir()
    (tmp_path / "bundle" / "scoring_program").rename(tmp_path / "app" / "program")
    (tmp_path / "bundle" / "reference_public").rename(tmp_path / "app" / "input" / "ref")
    shutil.copy(files / "public" / "sample_submission.csv", sent / "guess.csv")
    for junk in (".DS_Store", "metadata", "__MACOSX/guess.csv"):
        (sent / junk).touch()
    command = from_yaml((tmp_path / "app" / "program" / "metadata.yaml").read_text())["command"].split()
    assert command[0] == "python3"
    words = [word.replace("/app", str(tmp_path / "app")) for word in command[1:]]
    done = subprocess.run([sys.executable, "-I", *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (output,) = (tmp_path / "app" / "output").iterdir()
    scores = json.loads(output.read_text())
    assert (output.name, done.stdout) == ("scores.json", f"score: {scores['score']}\n")
    (board,) = from_yaml((tmp_path / "bundle" / "competition.yaml").read_text())["leaderboards"]
    columns = {column["key"]: column for column in board["columns"]}
    assert columns["score"] == {
        "title": "score", "key": "score", "index": 0, "sorting": "desc", "precision": 6, "hidden": False,
    }  # fmt: skip
    assert all(column["hidden"] for key, column in columns.items() if key != "score")
    truth = pd.read_csv(files / "private" / "solution.csv")
    truth = truth[truth["Usage"] == "Public"].drop(columns="Usage")
    measures = podium.score(truth, pd.read_csv(sent / "guess.csv")).measures
    finite = {name[:36]: value for name, value in measures.items() if np.isfinite(value)}
    assert {columns[key]["title"]: value for key, value in scores.items()} == finite
    assert len(finite) > 8


PRIVATE_TO_THE_HOST = {
    "test_metric.py": b"# a test that knows A-SECRET",
    "samples/solution.csv": b"id,answer\n1,A-SECRET\n",
    "old/metric.py": b"A-SECRET = 3",
    ".env": b"TOKEN=A-SECRET",
}
NEEDED = {
    "metric.py": ACCURACY.replace("BODY", "return points")
    .replace("import math", "from .helpers import HALF")
    .encode(),
    "companion.py": b"from podium.metric.contract import Companion\nfrom . import metric, words\n"
    b"companion = Companion(text_columns=words.NAMES)\n",
    "helpers.py": b"from .deeper import QUARTER\nHALF = 2 * QUARTER\n",
    "deeper.py": b"QUARTER = 0.25\n",
    "words.py": b"NAMES = frozenset()\n",
}


@every_platform
def test_files_beside_a_metric_stay_with_the_host(tmp_path, platform):
    """Only what the metric and its companion import goes out, and it does go out."""
    folder = write(tmp_path / "mine", PRIVATE_TO_THE_HOST | NEEDED)
    with pytest.warns(ContractWarning) as told:
        make(small_files(tmp_path), platform, tmp_path / "out", folder)
    (of_kaggle,) = told  # one note, though several checks fail
    assert str(of_kaggle.message).endswith(
        "but is uploaded alone: copy what it needs (podium check tells 2 more)"
    )
    files = {}
    for path in filter(Path.is_file, (tmp_path / "out").rglob("*")):
        if path.suffix == ".zip":
            files |= unzipped(path)
        else:
            files[f"worker/{path.relative_to(tmp_path)}"] = path.read_bytes()
    assert [name for name, content in files.items() if b"A-SECRET" in content] == []
    of_metric = [name for name in files if "/metric/" in f"/{name}" and "podium/metric/" not in name]
    beside = {name.rpartition("/")[2] for name in of_metric}
    assert beside == {"metric.py", "companion.py", "helpers.py", "deeper.py", "words.py"}
    sent = {"a.csv": b"id,answer\n1,1\n2,1\n", "b.csv": b"id,answer\n1,1\n"}
    results = run(platform, tmp_path / "out", write(tmp_path / "submissions", sent), tmp_path)
    rejected = "error: Submission has 1 rows but 2 were expected."  # as Kaggle does before it calls a metric
    assert results == [{"public": 1.0, "private": 1.0}, dict.fromkeys(("public", "private"), rejected)]


def test_what_a_bundle_cannot_take_along_is_named(tmp_path):
    """A module in a folder below the metric's is not packed, so the metric would fail on the platform."""
    source = ACCURACY.replace("BODY", "return points").replace("import math", "from .deep import X")
    write(tmp_path / "mine", {"deep/__init__.py": b"X = 1\n", "metric.py": source.encode()})
    with pytest.raises(HostError) as caught:
        make(small_files(tmp_path), "evalai", tmp_path / "out", tmp_path / "mine")
    assert str(caught.value) == (
        "metric.py, line 2: expected the import of a file beside it, found .deep, which podium does not "
        "execute and no bundle takes along"
    )
    assert not (tmp_path / "out").exists()


def small_files(folder: Path) -> Path:
    """The files of a competition with one row in each part."""
    content = {
        "public/sample_submission.csv": b"id,answer\n1,0\n2,0\n",
        "private/solution.csv": b"id,answer,Usage\n1,1,Public\n2,1,Private\n",
    }
    return write(folder / "small", content)


def test_what_the_yaml_says(bundled):
    contents = unzipped(bundled / "codabench" / "competition.zip")
    settings = from_yaml(contents["competition.yaml"])
    assert contents[settings["image"]].startswith(b"\x89PNG")
    assert settings["version"] == 2
    assert settings["docker_image"] == "codalab/codalab-legacy:py312"
    # The dates are texts, because a date without quotes loses its time on the platform.
    assert [(phase["start"], phase["end"]) for phase in settings["phases"]] == [
        ("2027-01-15 12:00:00", "2027-03-31 23:59:59"), ("2027-04-01 00:00:00", "2027-04-15 00:00:00"),
    ]  # fmt: skip
    assert [phase["hide_output"] for phase in settings["phases"]] == [False, True]
    assert settings["enable_detailed_results"] is False
    assert settings["registration_auto_approve"] is False
    assert [phase["max_submissions_per_day"] for phase in settings["phases"]] == [2, 1]
    assert [phase["max_submissions"] for phase in settings["phases"]] == [40, 1]
    # The Public phase has 76.5 days. The platform's own total of 100 would lock a team out on day 20.
    assert Terms(start=TERMS.start, switch=TERMS.switch, end=TERMS.end).phases[0][2] == (5, 380)
    assert [phase["auto_migrate_to_this_phase"] for phase in settings["phases"]] == [False, True]
    assert {settings["terms"], *(page["file"] for page in settings["pages"])} <= contents.keys()
    assert [page["title"] for page in settings["pages"]] == ["description", "evaluation", "data-description"]
    tops = {name.partition("/")[0] for name in contents}
    for task in settings["tasks"]:
        assert {task["scoring_program"], task["reference_data"]} <= tops
    for phase in settings["phases"]:
        assert {phase["public_data"], phase["starting_kit"]} <= tops


def test_what_is_in_the_archive(files, bundled):
    """The scoring program has the whole package with its license, and only the reference data the solution."""
    contents = unzipped(bundled / "codabench" / "competition.zip")
    solution = (files / "private" / "solution.csv").read_bytes()
    where = [name for name, content in contents.items() if content == solution]
    assert where == ["reference_public/solution.csv", "reference_private/solution.csv"]
    program = {name.removeprefix("scoring_program/") for name in contents}
    assert {name.split("/")[1] for name in program if name.startswith("lib/")} == {"podium", "LICENSE"}
    assert contents["scoring_program/lib/LICENSE"].startswith(b"MIT License")
    assert {
        "lib/podium/scoring/evaluating.py",
        "lib/podium/hosting/bundles/evaluator.py",
        "metric/metric.py",
    } < program
    assert not [name for name in program if "__pycache__" in name]


def test_every_file_parses_with_the_oldest_python_that_a_bundle_names(bundled, tmp_path):
    unpacked = unpack("evalai", bundled / "evalai", tmp_path)
    readme = (unpacked / "README.md").read_text()
    assert re.findall(r"Python (\S+) or later", readme) == [program.OLDEST_PYTHON]
    version = tuple(map(int, program.OLDEST_PYTHON.split(".")))
    for path in unpacked.rglob("*.py"):
        ast.parse(path.read_bytes(), str(path), feature_version=version)


# --- EvalAI -----------------------------------------------------------------------------------------


def test_evalai_s_configuration(bundled):
    contents = unzipped(bundled / "evalai" / "challenge.zip")
    settings = from_yaml(contents["challenge_config.yaml"])
    for key in ("description", "evaluation_details", "terms_and_conditions", "submission_guidelines",
                "evaluation_script", "image"):  # fmt: skip
        assert settings[key] in contents
    assert settings["remote_evaluation"] is True
    (board,) = settings["leaderboard"]
    assert board["schema"] == {"labels": ["score"], "default_order_by": "score"}
    phases = settings["challenge_phases"]
    assert [phase["codename"] for phase in phases] == ["public", "private"]
    assert [phase["leaderboard_public"] for phase in phases] == [True, False]
    assert [phase["is_submission_public"] for phase in phases] == [True, False]
    assert settings["manual_participant_approval"] is True
    assert [phase["max_submissions_per_day"] for phase in phases] == [2, 1]
    assert [phase["max_submissions_per_month"] for phase in phases] == [40, 1]
    assert [phase["max_submissions"] for phase in phases] == [40, 1]
    splits = settings["challenge_phase_splits"]
    assert [split["leaderboard_decimal_precision"] for split in splits] == [6, 6]
    # 3 is visible to everybody, and 1 to the host alone.
    assert [split["visibility"] for split in splits] == [3, 1]


def test_the_solution_stays_with_evalai_s_host(files, bundled):
    """The archive has neither the solution nor the program. The worker's folder has everything that it
    needs.
    """
    contents = unzipped(bundled / "evalai" / "challenge.zip")
    assert {name for name in contents if not name.endswith(".html")} == {
        "logo.png", "challenge_config.yaml", "evaluation_script.zip",
    }  # fmt: skip
    assert b"annotation" not in contents["challenge_config.yaml"]
    worker = bundled / "evalai" / "remote_worker"
    assert (worker / "solution.csv").read_bytes() == (files / "private" / "solution.csv").read_bytes()
    assert (worker / "requirements.txt").read_text() == "numpy\npandas\nrequests\n"
    readme = (worker / "README.md").read_text()
    assert {"AUTH_TOKEN", "API_SERVER", "QUEUE_NAME", "CHALLENGE_PK"} <= {*re.findall("`([A-Z_]+)`", readme)}


def test_evalai_s_worker_is_started_again(bundled, tmp_path):
    """The starters' main.py ends at the first error of the network."""
    worker = shutil.copytree(bundled / "evalai" / "remote_worker", tmp_path / "worker")
    (worker / "main.py").write_text("print(file=open('started', 'a'))\nraise SystemExit(1)\n")
    run = (worker / "run.py").read_text()
    (worker / "run.py").write_text(run.replace("SECONDS_OF_REST = 30", "SECONDS_OF_REST = 0"))
    with subprocess.Popen([sys.executable, worker / "run.py"], stderr=subprocess.PIPE, text=True) as process:
        told = [process.stderr.readline() for _ in range(2)]
        process.kill()
    assert told == ["The worker ended with exit code 1 and is started again.\n"] * 2
    assert len((worker / "started").read_text()) >= 2


# --- leaks --------------------------------------------------------------------------------------------

# What a metric prints, warns of, logs and raises, for answers that name the kinds.
HOSTILE = """
mine, true = submission["answer"].tolist(), solution["answer"].tolist()
    print(solution.to_string())
    print(submission.merge(solution, on="id").to_string(), file=sys.stderr)
    warnings.warn(solution.to_string())
    logging.warning(solution.to_string())
    if "fault" in mine:
        raise KeyError(solution.to_string())
    if "echo" in mine:
        raise ParticipantVisibleError(f"expected {true[0]}")
    if "compare" in mine and mine[0] != true[0] and mine[-1] == "b":
        raise ParticipantVisibleError("the first is wrong")
    if "own" in mine:
        raise ParticipantVisibleError("the answer own is not allowed")
    if "base" in mine:
        raise type("Stop", (BaseException,), {})(solution.to_string())
    if "panic" in mine:
        raise type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})(solution.to_string())
    if "exit" in mine:
        raise SystemExit(solution.to_string())
    if "number" in mine:
        float(true[0])
    if "cause" in mine:
        try:
            int(true[0])
        except ValueError as problem:
            raise RuntimeError(solution.to_string()) from problem
    return float(sum(map(str.__eq__, mine, true)))
"""
TOLD = {
    "guess": 0.0,
    "own": "error: the answer own is not allowed",
    "echo": "error: the submission is rejected; the hosts can tell why",
    "compare": "error: the first is wrong",  # with any truths, so it tells nothing
} | dict.fromkeys(("fault", "base", "panic", "exit", "number", "cause"), UNEXPECTED)


@every_platform
def test_no_output_tells_the_solution(tmp_path, platform):
    """All that a program prints, raises, returns and writes in both phases is searched for ids and answers.

    Messages that a metric makes from the solution are replaced, and every other error is the host's.
    """
    folder = small_files(tmp_path)
    rows = [f"item{n:03d},truth{n:03d},{('Public', 'Private')[n % 2]}\n" for n in range(8)]
    (folder / "private" / "solution.csv").write_text("id,answer,Usage\n" + "".join(rows))
    ids = [f"item{n:03d}" for n in range(8)]
    pd.DataFrame({"id": ids, "answer": "a"}).to_csv(folder / "public" / "sample_submission.csv", index=False)
    source = ACCURACY.replace("import math", "import logging, sys, warnings").replace("BODY", HOSTILE.strip())
    (tmp_path / "hostile.py").write_text(source)
    make(folder, platform, tmp_path / "out", tmp_path / "hostile.py")
    where = tmp_path / "where"
    where.mkdir()
    sent = {kind: pd.DataFrame({"id": ids, "answer": [kind] * 7 + ["b"]}) for kind in sorted(TOLD)}
    submissions = {f"{kind}.csv": frame.to_csv(index=False).encode() for kind, frame in sent.items()}
    unpacked = unpack(platform, tmp_path / "out", where)
    before = {*where.rglob("*")}
    done = execute(platform, unpacked, write(where / "submissions", submissions), where)
    assert done.returncode == 0, done.stderr
    for kind, result in zip(sent, json.loads(done.stdout.splitlines()[-1]), strict=True):
        for shown in result.values():
            fits = (
                shown.removeprefix("error: ").startswith(UNEXPECTED)
                if TOLD[kind] is UNEXPECTED
                else shown == TOLD[kind]
            )
            assert fits, (kind, shown)
    new = [
        path.read_text(errors="replace")
        for path in where.rglob("*")
        if path.is_file() and not {"submissions", "input"} & {*path.parts} and path not in before
    ]
    told = done.stdout + done.stderr + "".join(new)
    assert re.search("metric.py, line [0-9]+, in score\\b", told)  # for the host
    assert re.findall(r"item\d+|truth\d+", told) == []


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_a_link_to_the_solution_is_no_submission(files, tmp_path):
    """A platform may unpack links, which would make the solution itself the submission."""
    (tmp_path / "guess.csv").symlink_to(files / "private" / "perfect_submission.csv")
    (tmp_path / "folder").symlink_to(files / "private")
    with pytest.raises(SubmissionRejected, match="expected one file, found none"):
        evaluator.only_file(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).touch()
    with pytest.raises(SubmissionRejected, match=r"expected one file, found a\.csv, b\.csv"):
        evaluator.only_file(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links and fifos")
def test_evalai_s_worker_follows_no_link(files, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    template = Path(bundle.__file__).with_name("templates") / "evalai.py"
    score = runpy.run_path(str(template))["evaluate"]
    link, fifo = tmp_path / "link.csv", tmp_path / "fifo.csv"
    link.symlink_to(files / "private" / "perfect_submission.csv")
    os.mkfifo(fifo)
    for path in (link, fifo, tmp_path, tmp_path / "none.csv"):
        with pytest.raises(ValueError, match=f"^{re.escape(path.name)}: expected a regular file"):
            score(str(path), "public", str(files / "private" / "solution.csv"))


@pytest.mark.parametrize(
    ("body", "limit"),
    [("while True: pass", "0.2 s of processor time"), ("return float(len(bytes(2**29)))", "128 MB of memory")],
)
def test_a_submission_may_not_take_more_than_the_limits(tmp_path, monkeypatch, body, limit):
    small = limits.Limits(2**27, 0.2)
    monkeypatch.setattr(evaluator.limits, "Limits", lambda: small)
    (tmp_path / "metric").mkdir()
    (tmp_path / "metric" / "metric.py").write_text(ACCURACY.replace("BODY", body))
    settings = {"metric": "metric/metric.py", "arguments": {"row_id_column_name": "id"}}
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    folder = small_files(tmp_path)
    paths = folder / "private" / "solution.csv", folder / "public" / "sample_submission.csv"
    with pytest.raises(SubmissionRejected, match=f"^takes more than {limit}$"):
        evaluator.measures(tmp_path, *paths, ["Public"])


# --- the command ------------------------------------------------------------------------------------


def test_the_same_input_gives_the_same_file(files, bundled, tmp_path):
    for platform in PROGRAMS:
        make(files, platform, tmp_path / platform)
        for path in (tmp_path / platform).rglob("*"):
            if path.is_file():
                assert path.read_bytes() == (bundled / path.relative_to(tmp_path)).read_bytes()


def test_parameters_and_a_competition_without_demographics(capsys, tmp_path):
    make_corpus(24).to_csv(tmp_path / "corpus.csv", index=False)
    folder, out = tmp_path / "files", tmp_path / "out"
    made = run_podium(capsys, "make", tmp_path / "corpus.csv", "--subpopulations", "", "--out", folder)
    assert made[0] == 0
    line = ["bundle", "codabench", folder, *TITLE, *TIMES, "--out", out, "--set", "temperature=inf"]
    code, text, _ = run_podium(capsys, *line)
    assert code == 0
    written = re.escape(f"written to {out / 'competition.zip'}")
    assert re.match(rf"{written} \(\d+\.\d MB\)\nparameters: recorded in {re.escape(str(folder))}", text)
    sample = folder / "public" / "sample_submission.csv"
    (result,) = run("codabench", out, write(tmp_path / "sent", {"a.csv": sample.read_bytes()}), tmp_path)
    given = {"subpopulation_column_names": "", "temperature": float("inf")}
    assert result == expected(folder / "private" / "solution.csv", sample, **given)


@every_platform
def test_a_sibling_and_rows_that_the_solution_lacks(capsys, tmp_path, platform):
    """The whole submission is scored, whichever part is shown."""
    samples, files = hosted.folder("scifact") / "samples", tmp_path / "files"
    assert run_podium(capsys, "make", samples / "claims.jsonl", "--metric", "scifact", "--out", files)[0] == 0
    sample = pd.read_csv(files / "public" / "sample_submission.csv", dtype=str)
    unknown = sample.head(3).assign(**{sample.columns[0]: ["900001", "900002", "900003"]})
    content = {
        "a.csv": pd.concat([unknown, sample]).to_csv(index=False).encode(),
        "b.csv": sample.iloc[5:].to_csv(index=False).encode(),
        "c.jsonl": (samples / "predictions.jsonl").read_bytes(),
    }
    submissions = write(tmp_path / "submissions", content)
    make(files, platform, tmp_path / platform, "scifact")
    results = run(platform, tmp_path / platform, submissions, tmp_path)
    for name, result in zip(content, results, strict=True):
        assert result == expected(files / "private" / "solution.csv", submissions / name, "scifact"), name


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            [*TIMES, "--set", "essay_id_column_name=gone"],
            4,
            "error: the solution: expected 1 more column: gone.",
        ),
        (["--start", "2028-01-01", *TIMES[2:]], 2, "error: expected --start before --switch before --end"),
    ],
)
def test_nothing_is_written_for_bad_input(capsys, files, tmp_path, options, code, message):
    out = tmp_path / "out"
    result = run_podium(capsys, "bundle", "codabench", files, *TITLE, "--out", out, *options)
    assert result[:2] == (code, "")
    assert message in result[2]
    assert list(tmp_path.iterdir()) == []


def test_an_empty_title_is_refused(capsys, files, tmp_path):
    code, _, err = run_podium(
        capsys, "bundle", "evalai", files, "--title", " ", "--out", tmp_path / "out", *TIMES
    )
    assert (code, "error: --title: expected a title, found nothing" in err) == (2, True)


def test_a_lower_score_may_be_better_and_further_public_files_are_named(tmp_path):
    """A picture has no columns, and a metric without parameters no table of them."""
    folder, contents = small_files(tmp_path), {}
    (folder / "public" / "map.png").write_bytes(b"\x89PNG\0")
    (folder / "public" / ".DS_Store").touch()
    source = ACCURACY.replace("BODY", "return 1.0").replace(", points: float = 1.0", "")
    (tmp_path / "error.py").write_text(source.replace("return True", "return False"))
    for platform, archive in (("codabench", "competition.zip"), ("evalai", "challenge.zip")):
        with pytest.warns(UserWarning, match=r"look at them yourself: public/map\.png$"):
            make(folder, platform, tmp_path / platform, tmp_path / "error.py")
        contents |= unzipped(tmp_path / platform / archive)
    (board,) = from_yaml(contents["competition.yaml"])["leaderboards"]
    assert [column["sorting"] for column in board["columns"]] == ["asc"]
    splits = from_yaml(contents["challenge_config.yaml"])["challenge_phase_splits"]
    assert [split["is_leaderboard_order_descending"] for split in splits] == [False, False]
    assert b"parameter" not in contents["pages/evaluation.md"]
    page = contents["pages/data-description.md"].decode()
    assert page.startswith("# Data\n\n**map.png**: a further file of the hosts.\n\n**sample_submission.csv**: ")


@pytest.mark.parametrize(
    ("body", "solution", "message"),
    [
        (
            "return math.inf",
            "id,answer,Usage\n1,1,Public\n2,1,Private\n",
            r"sample_submission\.csv: accuracy\.py, line 11: score\(\): expected a finite float",
        ),
        ("return 1.0", "id,answer\n1,1\n", r"Usage: expected Public rows in the solution, found none$"),
    ],
)
def test_what_no_platform_gets(tmp_path, body, solution, message):
    folder = small_files(tmp_path)
    (folder / "private" / "solution.csv").write_text(solution)
    (tmp_path / "accuracy.py").write_text(ACCURACY.replace("BODY", body))
    with pytest.raises(HostError, match=f"^{message}"):
        make(folder, "codabench", tmp_path / "out", tmp_path / "accuracy.py")
    assert not (tmp_path / "out").exists()


def test_a_measure_that_is_not_defined_is_left_out():
    truth = solution(("A", "Lead", words(0, 9), 1), ("A", "Claim", words(10, 19), 0))
    evaluation = evaluate(truth, perfect(truth), **WHOLE)
    measures = evaluator._measures_of(evaluation, "All")
    assert measures["score"] == 1
    assert "F1 of Rebuttal" not in measures
    assert set(measures) == {name for name, value in evaluation.measures.items() if np.isfinite(value)}


def test_requirements_have_the_names_that_pip_knows(monkeypatch, tmp_path):
    """What Python imports as cassis is the package dkpro-cassis."""
    known = {"cassis": ["dkpro-cassis"], "pandas": ["pandas"]}
    monkeypatch.setattr(importlib.metadata, "packages_distributions", lambda: known)
    competition = Competition(tmp_path, hosted.load("markup_consistency"), {}, "T", "")
    assert program.requirements(competition, "requests") == b"dkpro-cassis\nnumpy\npandas\nrequests\n"


@pytest.mark.parametrize(
    ("imports", "told"), [("import math", ""), ("import scipy.stats", "the metric imports scipy: ")]
)
def test_codabench_is_told_what_the_image_needs(tmp_path, imports, told):
    source = ACCURACY.replace("BODY", "return points").replace("import math", imports)
    (tmp_path / "metric.py").write_text(source)
    competition = Competition(small_files(tmp_path), hosted.load(tmp_path / "metric.py"), {}, "T", "t")
    assert bundle.advice("codabench", competition).startswith(told)
    assert bool(bundle.advice("codabench", competition)) == bool(told)
    assert bundle.advice("evalai", competition) == ""  # which has a file requirements.txt


HELPED = """
import kaggle_metric_utilities
import pandas as pd

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    equal = lambda *tables: (tables[0]["answer"] == tables[1]["answer"]).mean()
    return kaggle_metric_utilities.safe_call_score(equal, solution, submission)

def higher_is_better() -> bool:
    return True
"""


@every_platform
def test_kaggle_s_module_of_helpers_is_there_in_every_bundle(tmp_path, platform):
    (tmp_path / "mine.py").write_text(HELPED)
    make(small_files(tmp_path), platform, tmp_path / "out", tmp_path / "mine.py")
    sent = write(tmp_path / "submissions", {"a.csv": b"id,answer\n1,1\n2,0\n"})
    assert run(platform, tmp_path / "out", sent, tmp_path) == [{"public": 1.0, "private": 0.0}]


def test_the_packed_program_is_tried_before_the_bundle_is_there(tmp_path, monkeypatch):
    """The companion reads a file beside it, which stays with the host."""
    companion = (
        "from pathlib import Path\nfrom podium.metric.contract import Companion\n"
        'companion = Companion(text_columns=Path(__file__).with_name("names.txt").read_text().split())\n'
    )
    content = {"metric.py": HELPED.encode(), "companion.py": companion.encode(), "names.txt": b"question"}
    monkeypatch.setattr(program, "run_alone", RUN_ALONE)
    with pytest.raises(HostError) as caught:
        make(small_files(tmp_path), "codabench", tmp_path / "out", write(tmp_path / "mine", content))
    assert str(caught.value).startswith(
        "sample_submission.csv: expected a score from the packed program, found none: "
    )
    assert str(caught.value).endswith("FileNotFoundError")
    assert not (tmp_path / "out").exists()


def test_the_packed_program_gives_the_same_scores(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "run_alone", lambda *_: {"Public": 0.0, "Private": 0.5})
    (tmp_path / "mine.py").write_text(HELPED)
    with pytest.raises(
        HostError, match=r"^sample_submission.csv: expected a score of 0.0 in Private from the "
    ):
        make(small_files(tmp_path), "evalai", tmp_path / "out", tmp_path / "mine.py")


def test_names_of_files_in_logs_are_short_and_disturb_no_terminal(tmp_path):
    for name in ("a\x1b[2J.csv", "b\n.csv", *(f"{n}{'c' * 200}.csv" for n in range(20))):
        (tmp_path / name).write_text("a")
    with pytest.raises(SubmissionRejected) as caught:
        evaluator.only_file(tmp_path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 280
    (tmp_path / "d\x1b.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SubmissionRejected) as caught:
        evaluator.regular_file(tmp_path / "d\x1b.csv")
    assert str(caught.value).isprintable()


def test_no_cell_of_a_report_is_html_or_a_formula():
    table = folders.markdown_table(("what",), [("<b>a</b> & $x$ | y",)])
    assert table.splitlines()[-1] == r"| \<b>a\</b> \& \$x\$ \| y |"
