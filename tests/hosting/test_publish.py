"""`podium publish kaggle` works with the real client of Kaggle and a made-up site."""

import json
import shlex
import shutil
import tempfile
from datetime import datetime
from types import SimpleNamespace

import pandas as pd
import pytest

from podium.hosting.kaggle import publish
from podium.metric import hosted
from tests.support.host_line import run_podium
from tests.support.kaggle_server import Site, answer_here, without_credentials

pytestmark = pytest.mark.slow

metric = hosted.module("unified")
TITLE = ["--title", "Feedback on writing"]
RECORDED = "subpopulation_column_names=ell_status,economically_disadvantaged"
NOW = datetime(2026, 12, 1)
SLUG = "feedback-on-writing"
ALL_STEPS = ["create", "pages", "data", "solution", "settings", "metric", "sandbox", "benchmark"]
CLICKS = ["launch", "starter"]  # which the command says at its end
DEADLINE = ["--deadline", "2027-04-15T23:59+02:00"]


@pytest.fixture
def files(files, tmp_path):
    """A copy of the competition's files that a test may change."""
    return shutil.copytree(files, tmp_path / "files")


@pytest.fixture(scope="module", autouse=True)
def _same_files_are_searched_once():
    """Search the same files for leaks only once, which takes longer than anything else in most tests."""
    searched, search = set(), publish.leaks.refuse

    def search_once(folder, items, solution):
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        contents = tuple((path.name, path.read_bytes()) for path in files)
        if contents not in searched:
            search(folder, items, solution)
            searched.add(contents)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "leaks", SimpleNamespace(refuse=search_once))
        yield


@pytest.fixture
def site(monkeypatch, tmp_path):
    """A made-up site, to which the client talks."""
    without_credentials(monkeypatch, tmp_path / "home")
    # The client remembers uploads in this folder.
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(publish, "SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(publish, "now", lambda: NOW)
    state = Site()
    state.score = lambda solution, submission: metric.score(solution, submission, "row_id")
    answer_here(monkeypatch, state)
    return state


def run(capsys, files, *options, title=TITLE):
    """Run the command, and return exit code, stdout, and stderr without the line about the files'
    parameters.
    """
    code, out, err = run_podium(capsys, "publish", "kaggle", files, *title, *options)
    shown = f"parameters of {files / 'competition.json'}: {RECORDED}\n"
    assert code == 2 or err.startswith(shown)
    return code, out, err.removeprefix(shown)


def steps(*names):
    """The options that ask for these steps."""
    return [word for name in names for word in ("--step", name)]


def steps_done(out: str) -> list[str]:
    """The names of the steps that were done now, not before."""
    lines = [line for line in out.splitlines() if line[0] != " " and not line.startswith("to edit: ")]
    lines = [line for line in lines if not line.endswith("done before") and "stay as they are" not in line]
    names = dict.fromkeys(line.partition(":")[0] for line in lines)
    return [name for name in names if name not in CLICKS]


def assert_published(site, files):
    """Check that the site has everything as it was meant."""
    assert site.competition["slug"] == SLUG
    assert site.competition["title"] == "Feedback on writing"
    assert set(site.pages) == {"description", "evaluation", "data-description", "rules"}
    assert all(page["isPublished"] and page["mimeType"] == "text/markdown" for page in site.pages.values())
    assert site.files == {path.name: path.read_bytes() for path in (files / "public").iterdir()}
    pd.testing.assert_frame_equal(site.solution, pd.read_csv(files / "private" / "solution.csv"))
    assert site.settings["deadline"] == "2027-04-15T21:59:00.000Z"
    assert site.settings["rulesRequired"] is True
    scores = [(each["publicScore"], each["privateScore"]) for each in site.submissions]
    assert ("1.00000", "1.00000") in scores
    assert site.benchmarks
    for each in site.benchmarks:  # the sample is on the board without a rank
        assert each["benchmark"]
        assert scores[each["submissionId"] - 1] == scores[0]


# --- all of it --------------------------------------------------------------------------------------


def test_all_steps(capsys, site, files):
    site.page_of_files = 2
    code, out, err = run(capsys, files, *DEADLINE)
    assert (code, err) == (0, "")
    assert steps_done(out) == [step for step in ALL_STEPS if step != "metric"]  # which is chosen already
    metadata = json.loads((files / "kaggle" / "starter" / "kernel-metadata.json").read_text())
    assert metadata["competition_sources"] == [SLUG]
    assert (files / "kaggle" / "starter" / metadata["code_file"]).is_file()
    assert_published(site, files)
    report = (files / "report.md").read_text()
    scores = next(line.split("|")[2:4] for line in report.splitlines() if "sample_submission.csv" in line)
    for part, score in zip(("public", "private"), scores):
        assert float(site.submissions[0][f"{part}Score"]) == pytest.approx(float(score), abs=6e-6)
    assert f"sandbox: sample_submission.csv Public {site.submissions[0]['publicScore']}, " in out
    uploads = [path for path, _ in site.requests if "Create" in path or "Update" in path]
    out = run(capsys, files, *DEADLINE)[1]
    assert steps_done(out) == ["benchmark"]  # which the site does not show
    again = [path for path, _ in site.requests if "Create" in path or "Update" in path][len(uploads) :]
    assert [path.rpartition("/")[2] for path in again] == ["UpdateSubmissionBenchmark"]
    for step in ("pages", "data"):  # A step that is named is repeated.
        assert steps_done(run(capsys, files, *DEADLINE, "--step", step)[1]) == [step]
    assert_published(site, files)


def test_nothing_is_remembered_in_the_folder(capsys, site, files, tmp_path):
    """A copy of the folder, without what an earlier call wrote, goes on as well."""
    assert run(capsys, files, *DEADLINE, *steps(*ALL_STEPS[:4]))[0] == 0
    copied = shutil.copytree(files, tmp_path / "copied", ignore=shutil.ignore_patterns("kaggle"))
    code, out, _ = run(capsys, copied, *DEADLINE)
    assert (code, steps_done(out)) == (0, ["settings", "sandbox", "benchmark"])
    assert_published(site, files)


def test_the_launch_is_the_host_s_click(capsys, site, files):
    code, out, _ = run(capsys, files, *DEADLINE)
    launch, starter = [line for line in out.splitlines() if line.startswith(tuple(CLICKS))]
    url = f"https://www.kaggle.com/competitions/{SLUG}"
    assert launch == f"launch: when everything is as you want it, open the competition on {url}, under Host"
    assert starter.endswith(f"and type: kaggle kernels push -p {files / 'kaggle' / 'starter'}")
    assert (code, [path for path, _ in site.requests if "Launch" in path]) == (0, [])


def test_a_benchmark_can_be_left_out(capsys, site, files):
    code, out, _ = run(capsys, files, *DEADLINE, "--no-benchmark")
    assert (code, site.benchmarks, len(site.submissions)) == (0, [], 2)
    assert "benchmark" not in steps_done(out)
    _, out, _ = run(capsys, files, "--dry-run")
    assert "benchmark: sample_submission.csv of the sandbox" in out


def test_interrupted_anywhere_and_started_again(capsys, site, files, tmp_path):
    """Every request fails once, before or after the site has done its work. The next run goes on from there."""
    number_of_runs = 0
    for is_done in (False, True):
        number = 0
        while True:
            number += 1
            site.__init__()
            site.score = lambda solution, submission: metric.score(solution, submission, "row_id")
            folder = shutil.copytree(files, tmp_path / f"{is_done}-{number}")
            fault = {number: (500, is_done)}
            site.fault = fault.get
            code, _, err = run(capsys, folder, *DEADLINE)
            number_of_runs += 1
            if len(site.requests) < number:
                break
            if code:
                assert code == 4
                assert len(err.splitlines()) == 1
                assert "start the same command again" in err or "Kaggle cannot use" in err
                assert run(capsys, folder, *DEADLINE)[0] == 0
            assert_published(site, files)
    assert number_of_runs > 50


# --- the metric -------------------------------------------------------------------------------------


def test_it_waits_for_the_click(capsys, site, files, monkeypatch):
    site.metric_chosen = False
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        site.metric_chosen = len(looks) > 2

    monkeypatch.setattr(publish.time, "sleep", sleep)
    code, out, _ = run(capsys, files, "--set", "temperature=80", *steps("create", "solution", "metric"))
    assert code == 0
    assert len(looks) == 3
    lines = out.splitlines()[1:]  # The first one says that the parameter was recorded.
    assert lines[2] == (
        f"metric: on https://www.kaggle.com/competitions/{SLUG}, under Host and Evaluation Metric:"
    )
    assert "put the content of metric.py into the notebook" in lines[3]
    assert "“Pass complete submission” on, “higher score is better” on" in lines[4]
    assert "       temperature = 80.0" in lines
    assert lines[-6].startswith("metric: the row id: row_id, Public rows: ")
    assert lines[-3].startswith(
        f"to edit: {files / 'kaggle' / 'pages' / 'description'}.md: say what the task is"
    )


# --- faults -----------------------------------------------------------------------------------------


def reject(solution, submission):
    """Refuse a submission, as Kaggle's metric would."""
    raise ValueError("no column\nx")


AGAIN = "the upload failed: start the same command again\n"
# What differs on the site, and what the command says.
FAULTS = {
    "a name that somebody else has": (
        {"competition": {"slug": SLUG}, "is_of_others": True},
        f"create: Kaggle refuses: The URL {SLUG} is taken\n",
    ),
    "another address": (
        {"ref": "another"},
        "create: Kaggle calls it another: start again with --slug another\n",
    ),
    # The client ignores a failed upload, but podium does not.
    "an upload that fails": ({"lost_files": 1}, f"data: metric.py: {AGAIN}"),
    "an upload that is cut short": ({"lost_bytes": 1}, f"data: metric.py: {AGAIN}"),
    "no click": (
        {"metric_chosen": False},
        "metric: the metric is not chosen or the solution is not read after 0.0001 minutes: start the same "
        "command again to go on waiting\n",
    ),
    "a solution that the site cannot read": (
        {"setup_error": "Column Usage\nis missing"},
        "metric: Kaggle cannot use the solution (--step solution uploads it again): Column Usage is missing\n",
    ),
    "a solution with fewer rows": ({"lost_rows": 1}, "metric: Public rows of the solution: expected "),
    "another score": (
        {"score": lambda solution, submission: metric.score(solution, submission, "row_id") + 1e-5},
        "sandbox: the Public score of sample_submission.csv: expected ",
    ),
    "a rejected submission": (
        {"score": reject},
        "sandbox: Kaggle rejects sample_submission.csv: no column x\n",
    ),
}


@pytest.mark.parametrize(("differs", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_with_its_step(capsys, site, files, differs, message):
    vars(site).update(differs)
    code, _, err = run(capsys, files, "--wait", 0.0001)
    assert (code, len(err.splitlines())) == (4, 1)
    assert err.startswith(f"error: {message}")


@pytest.mark.parametrize("decimals", [3, 12])
def test_scores_are_compared_at_the_digits_of_the_site(capsys, site, files, decimals):
    site.decimals = decimals
    assert run(capsys, files, *steps("create", "solution", "sandbox"))[0] == 0


# --- dry run, pages, usage --------------------------------------------------------------------------


def test_a_dry_run_prints_calls_that_the_client_has(capsys, site, files, monkeypatch):
    from kaggle import cli

    code, out, err = run(capsys, files, *DEADLINE, "--dry-run")
    assert (code, err) == (0, "")
    assert site.requests == []
    lines = [shlex.split(line) for line in out.splitlines() if line.startswith("kaggle ")]
    commands = ["data", "solution", "solution", "submit", "submit", "submissions"]
    assert [line[2] for line in lines] == commands
    assert "“Pass complete submission” on, “higher score is better” on" in out
    assert str(files / "kaggle") not in "\n".join(" ".join(line) for line in lines)  # it is not left behind
    assert f"and type: kaggle kernels push -p {files / 'kaggle' / 'starter'}" in out
    parser = cli.argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command")
    commands.choices = cli.Help.kaggle_choices
    cli.parse_competitions(commands)
    for line in lines:
        assert line[0] == "kaggle"
        assert parser.parse_args(line[1:]).func.__name__.startswith("competition")
    assert not (files / "kaggle").exists()


def test_pages_say_what_counts(capsys, site, files):
    assert run(capsys, files, "--set", "temperature=80", "--step", "create", "--step", "pages")[0] == 0
    evaluation, data = (site.pages[name]["content"] for name in ("evaluation", "data-description"))
    assert evaluation.startswith("# Evaluation\n\nUnified Metric: span F1 with fractional true positives")
    for told in (
        "| `temperature` | `80.0` | α of the softmin. With 0, the softmin is the mean weighted by the number ",
        "A higher score is better",
        "A submission has as many rows as it has predictions",
        "| row_id | essay_id | discourse_type | predictionstring |",
        "One row per true segment: `row_id`, `essay_id`, `discourse_type`, `predictionstring`",
        "One row per predicted segment: The same first four columns, and `score_discourse_",
    ):
        assert told in evaluation
    assert "Parameters\n---" not in evaluation
    number = len(pd.read_csv(files / "public" / "train.csv"))
    assert f"**train.csv**: the annotated items to learn from. {number} rows. Columns: `row_id`" in data
    assert "solution.csv" not in "".join(page["content"] for page in site.pages.values())


def test_pages_that_are_there_are_kept(capsys, site, files):
    """Whoever deletes one gets it written again."""
    pages = files / "kaggle" / "pages"
    assert run(capsys, files)[0] == 0
    (pages / "rules.md").write_text("# Our rules\n")
    (pages / "prizes.md").write_text("# Prizes\n")
    code, out, _ = run(capsys, files, "--set", "temperature=80", "--step", "pages")
    told = (
        "pages: these are not what podium would write now, and stay as they are; delete one to have it written "
    )
    kept = f"{pages / 'evaluation.md'}, {pages / 'rules.md'}"
    assert (code, out.splitlines()[1]) == (0, f"{told}again: {kept}")
    gaps = [line.split(": ")[1] for line in out.splitlines() if line.startswith("to edit: ")]
    assert gaps == [str(pages / f"{name}.md") for name in ("description", "data-description")]
    assert site.pages["rules"]["content"] == "# Our rules\n"
    assert site.pages["prizes"]["content"] == "# Prizes\n"
    (pages / "evaluation.md").unlink()
    code, out, _ = run_podium(capsys, "publish", "kaggle", files, *TITLE, *steps("pages"))
    assert (code, steps_done(out)) == (0, ["pages"])
    assert "| `temperature` | `80.0` |" in site.pages["evaluation"]["content"]


# --- what has changed ---------------------------------------------------------------------------------


def test_what_has_changed_is_sent(capsys, site, files):
    renamed = ["--title", "Feedback on essays", "--slug", SLUG]
    assert run(capsys, files, "--deadline", "2027-04-15")[0] == 0
    for options, title, changed, expected in (
        ([], TITLE, "public/train.csv", ["data"]),
        ([], TITLE, "private/solution.csv", ["solution", "sandbox"]),
        ([], TITLE, "kaggle/pages/rules.md", ["pages"]),
        ([], renamed, None, ["settings"]),
        (["--deadline", "2027-05-01"], renamed, None, ["settings"]),
    ):
        if changed is not None:
            header, *rows = (files / changed).read_text().splitlines(keepends=True)
            (files / changed).write_text("".join([header, *reversed(rows)]))
        code, out, _ = run(capsys, files, *options, "--no-benchmark", title=title)
        assert (code, steps_done(out)) == (0, expected)
        assert site.settings["title"] == title[1]
        # A deadline that was given once stays on the site.
        day = options[1] if options else "2027-04-15"
        assert site.settings["deadline"] == f"{day}T23:59:59.000Z"


def test_a_click_that_was_taken_back_is_asked_for_again(capsys, site, files):
    assert run(capsys, files)[0] == 0
    site.metric_chosen = False
    code, out, err = run(capsys, files, "--wait", 0.0001)
    assert (code, "New metric, with a Name" in out) == (4, True)
    assert err.startswith("error: metric: the metric is not chosen")


def test_a_later_parameter_is_recorded(capsys, site, files):
    """The host sees with which parameters the competition runs, and the same command without --set keeps them.
    A dry run leaves the record as it is.
    """
    path = files / "competition.json"
    before = path.read_text()
    later = ["--set", "temperature=1"]
    assert run(capsys, files, *later, "--dry-run")[0] == 0
    assert path.read_text() == before
    site.score = lambda solution, submission: metric.score(solution, submission, "row_id", temperature=1.0)
    code, out, _ = run(capsys, files, *later)
    assert code == 0
    assert out.splitlines()[0] == (
        f"parameters: recorded in {path}: temperature=1.0 (the scores in {files / 'report.md'} were computed "
        "without)"
    )
    recorded, made_for = json.loads(path.read_text()), json.loads(before)
    assert recorded == made_for | {"parameters": made_for["parameters"] | {"temperature": 1.0}}
    code, out, err = run_podium(capsys, "publish", "kaggle", files, *TITLE)
    assert (code, err) == (0, f"parameters of {path}: {RECORDED}, temperature=1.0\n")
    assert [step for step in steps_done(out) if step != "benchmark"] == []


# --- the host's own settings --------------------------------------------------------------------------


def write_host(files, content):
    """Write the host's own settings."""
    (files / "kaggle").mkdir(exist_ok=True)
    (files / "kaggle" / "host.json").write_text(content)


def test_the_host_s_settings_are_merged(capsys, site, files):
    content = json.dumps(
        {
            "competition": {"privacy": "LIMITED", "numPrizes": 3},
            "settings": {"only_allow_kernel_submissions": True, "rules_required": False},
        }
    )
    write_host(files, content)
    assert run(capsys, files)[0] == 0
    assert site.competition["privacy"] == "LIMITED"
    assert site.competition["numPrizes"] == 3
    assert site.settings["onlyAllowKernelSubmissions"] is True
    assert site.settings.get("rulesRequired", False) is False
    assert (files / "kaggle" / "host.json").read_text() == content
    write_host(files, content.replace("true", "false"))
    assert steps_done(run(capsys, files, "--no-benchmark")[1]) == ["settings"]
    write_host(files, content.replace("3", "4").replace("true", "false"))
    out = run(capsys, files, title=["--title", "Another", "--slug", SLUG])[1]
    assert "create: done before\n" in out


PAST = "2026-11-30T23:59Z"
IN_THE_FUTURE = "expected a date in the future, found 2026-11-30T23:59:00 UTC"
USAGE = {
    ("--slug", "Not a slug"): "--slug Not a slug: expected lower-case letters, digits and single hyphens",
    ("--slug", "12"): "--slug 12: expected lower-case letters, digits and single hyphens",
    ("--deadline", PAST, "--dry-run"): f"--deadline: {IN_THE_FUTURE}",
    ("--wait", "nan"): "argument --wait: expected minutes, such as 60, found nan",
}
HOST = {
    "{": 'expected {"competition": {…}, "settings": {…}}, found no JSON: ',
    "[]": "found Expected `object`",
    '{"competition": {"licence": 1}}': "unknown field `licence` - at `$.competition`",
    '{"privacy": "PUBLIC"}': "unknown field `privacy`",
}


@pytest.mark.parametrize(
    ("options", "content", "message"),
    [
        *((options, "{}", message) for options, message in USAGE.items()),
        *(((), content, message) for content, message in HOST.items()),
    ],
)
def test_wrong_usage(capsys, site, files, options, content, message):
    write_host(files, content)
    code, out, err = run(capsys, files, *options)
    assert (code, out, message in err, site.requests) == (2, "", True, [])


# --- leaks and parameters -----------------------------------------------------------------------------


def test_a_title_without_latin_letters(capsys, site, files):
    code, _, err = run(capsys, files, title=["--title", "Отзывы"])
    assert (code, err) == (
        2, "error: the title 'Отзывы' has no Latin letters to make an address of: give --slug\n",
    )  # fmt: skip
    assert run(capsys, files, "--slug", "otzyvy", title=["--title", "Отзывы"])[0] == 0
    assert site.competition["slug"] == "otzyvy"
