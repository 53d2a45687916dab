"""`host.py push` and `leaderboard`, with the real kaggle client against a server that plays Kaggle."""

import json
import socket
import subprocess
import sys

import pandas as pd
import pytest

import boost
from competition import kaggle_site
from tests.host_line import ROOT, run_host
from tests.kaggle_server import LEADERBOARD, SAVE_KERNEL, Kaggle, forbid_network, lead_client_to, serve

METRIC = ROOT / "metric.py"
TOO_SHORT = "is too short: Kaggle wants 5 characters"


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    forbid_network(monkeypatch, tmp_path / "home")


@pytest.fixture
def kaggle(monkeypatch, no_network):
    """A running server, to which the client has credentials."""
    state = Kaggle()
    with serve(state) as address:
        lead_client_to(monkeypatch, address)
        yield state


def entry(number: int, score: str = "0.5", name: str | None = None) -> dict[str, object]:
    return {
        "teamId": 1000 + number,
        "teamName": f"Team {number}" if name is None else name,
        "submissionDate": f"2024-01-23T14:05:{number % 60:02d}.123Z",
        "score": score,
    }


def pages(*pages: list[dict[str, object]]):
    """Answers page by page: the token of page n is "page n"."""

    def answer(request):
        assert request["competitionName"] == "essays"
        assert request["pageSize"] == 200
        number = int((request.get("pageToken") or "page 0").removeprefix("page "))
        more = {"nextPageToken": f"page {number + 1}"} if number + 1 < len(pages) else {}
        return 200, {"submissions": pages[number], **more}

    return answer


@pytest.fixture
def board(tmp_path):
    return tmp_path / "new" / "board.csv"


# --- the leaderboard --------------------------------------------------------------------------------


def test_all_pages(capsys, kaggle, board):
    numbers = range(450)
    entries = [entry(number, f"{1 - number / 1000:.3f}") for number in numbers]
    kaggle.answers[LEADERBOARD] = pages(entries[:200], entries[200:400], entries[400:])
    code, out, err = run_host(capsys, "leaderboard", "essays", "--out", board)
    assert (code, out, err) == (0, f"450 rows, written to {board}\n", "")
    assert [path for path, _ in kaggle.requests] == [LEADERBOARD] * 3
    table = pd.read_csv(board)
    assert list(table) == ["team", "score", "submitted_at", "team_id"]
    assert table["team"].tolist() == [f"Team {number}" for number in numbers]
    assert table["score"].tolist() == [float(f"{1 - number / 1000:.3f}") for number in numbers]
    assert table["team_id"].tolist() == [1000 + number for number in numbers]
    assert table["submitted_at"][7] == "2024-01-23T14:05:07.123000Z"


def test_ready_for_boost(capsys, kaggle, board):
    kaggle.answers[LEADERBOARD] = pages([entry(1, "0.61"), entry(2, "0.62"), entry(3, "")])
    code, _, err = run_host(capsys, "leaderboard", "essays", "--out", board)
    assert (code, err) == (0, "warning: teams without a score: 1\n")
    runtimes = pd.DataFrame({"team": ["Team 1", "Team 2"], "runtime": [60, 3600]})
    pd.read_csv(board).merge(runtimes, on="team", how="left").to_csv(board, index=False)
    final = boost.boost(boost.read_leaderboard(board))
    assert final["team"].tolist() == ["Team 1", "Team 2", "Team 3"]


def test_teams_of_the_same_name_are_told_apart(kaggle):
    kaggle.answers[LEADERBOARD] = pages([entry(1, name="Blue"), entry(2, name="Red"), entry(3, name="Blue")])
    assert kaggle_site.fetch_leaderboard("essays")["team"].tolist() == ["Blue (1001)", "Red", "Blue (1003)"]


@pytest.mark.parametrize("text", ["", "-", "nan", "inf", "Infinity"])
def test_what_is_no_score_is_missing(kaggle, text):
    kaggle.answers[LEADERBOARD] = pages([entry(1, text)])
    assert kaggle_site.fetch_leaderboard("essays")["score"].isna().tolist() == [True]


def test_a_missing_time(kaggle):
    row = entry(1)
    del row["submissionDate"]
    kaggle.answers[LEADERBOARD] = pages([row])
    assert kaggle_site.fetch_leaderboard("essays")["submitted_at"].isna().tolist() == [True]


def refused(request):
    return 403, {"code": 403, "message": "you must accept\nthe rules"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (refused, "Kaggle refuses: you must accept the rules"),
        (lambda request: (404, {}), "Kaggle refuses: 404 Client Error: Not Found for url: http"),
        (lambda request: (500, {}), "Kaggle refuses: 500 Server Error: Internal Server Error for url: http"),
        (pages([]), "the leaderboard of essays is empty"),
        (
            lambda request: (200, {"submissions": [entry(1)], "nextPageToken": "again"}),
            "Kaggle's leaderboard comes back to a page that it has shown",
        ),
    ],
)
def test_what_goes_wrong(capsys, kaggle, board, answer, message):
    kaggle.answers[LEADERBOARD] = answer
    code, out, err = run_host(capsys, "leaderboard", "essays", "--out", board)
    assert (code, out) == (4, "")
    assert err.startswith(f"error: {message}")
    assert len(err.splitlines()) == 1
    assert not board.exists()


def test_wrong_credentials(capsys, kaggle, board, monkeypatch):
    monkeypatch.setenv("KAGGLE_KEY", "wrong")
    assert run_host(capsys, "leaderboard", "essays", "--out", board) == (
        4, "", "error: Kaggle refuses: Unauthenticated\n",
    )  # fmt: skip


def test_a_token_that_cannot_be_checked(capsys, kaggle, board, monkeypatch):
    monkeypatch.setenv("KAGGLE_API_TOKEN", "a-token")
    assert run_host(capsys, "leaderboard", "essays", "--out", board) == (
        4, "", "error: Kaggle refuses: Unauthenticated\n",
    )  # fmt: skip


def test_an_answer_that_is_no_json(capsys, kaggle, board):
    kaggle.answers[LEADERBOARD] = lambda request: (200, {})
    kaggle.raw = b"<html>"
    code, _, err = run_host(capsys, "leaderboard", "essays", "--out", board)
    assert code == 4
    assert err.startswith("error: Kaggle's answer cannot be understood: ")


def test_a_time_out(capsys, kaggle, board, monkeypatch):
    monkeypatch.setattr(kaggle_site, "TIME_LIMIT", 0.2)
    kaggle.answers[LEADERBOARD] = pages([entry(1)])
    kaggle.delay = 1.0
    assert run_host(capsys, "leaderboard", "essays", "--out", board) == (
        4, "", "error: Kaggle did not answer within 0.2 s\n",
    )  # fmt: skip
    assert not board.exists()


def test_no_connection(capsys, kaggle, board, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}"
    lead_client_to(monkeypatch, closed)
    code, _, err = run_host(capsys, "leaderboard", "essays", "--out", board)
    assert code == 4
    assert err.startswith("error: Kaggle cannot be reached: ")


def test_the_time_limit_is_gone_afterwards(kaggle):
    import requests

    send = requests.Session.send
    kaggle.answers[LEADERBOARD] = pages([entry(1)])
    kaggle_site.fetch_leaderboard("essays")
    assert requests.Session.send is send


# --- push -------------------------------------------------------------------------------------------


def test_push(capsys, kaggle, tmp_path):
    kaggle.answers[SAVE_KERNEL] = lambda request: (
        200, {"ref": "/code/host/metric", "url": "https://www.kaggle.com/code/host/metric", "versionNumber": 3},
    )  # fmt: skip
    code, out, err = run_host(
        capsys, "push", METRIC, "--owner", "host", "--title", "Unified Metric", "--out", tmp_path / "kernel"
    )
    assert (code, err) == (0, "")
    assert out == (
        f"host/unified-metric, written to {tmp_path / 'kernel'}\n"
        "pushed as version 3: https://www.kaggle.com/code/host/metric\n"
    )
    ((path, request),) = kaggle.requests
    assert path == SAVE_KERNEL
    assert request["text"] == METRIC.read_text(encoding="utf-8")
    assert request["slug"] == "host/unified-metric"
    assert request["newTitle"] == "Unified Metric"
    assert request["kernelType"] == "script"
    assert request["language"] == "python"
    assert request["isPrivate"] is True
    assert request["enableInternet"] is False
    assert request["enableGpu"] is False


def test_a_dry_run_talks_to_nobody(capsys, kaggle, tmp_path):
    folder = tmp_path / "kernel"
    code, out, _ = run_host(capsys, "push", METRIC, "--owner", "host", "--dry-run", "--out", folder)
    assert (code, out) == (0, f"host/metric, written to {folder}\n")
    assert kaggle.requests == []
    assert (folder / "metric.py").read_bytes() == METRIC.read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["kernel-metadata.json", "metric.py"]
    assert json.loads((folder / "kernel-metadata.json").read_text()) == {
        "id": "host/metric",
        "title": "metric",
        "code_file": "metric.py",
        "language": "python",
        "kernel_type": "script",
        "is_private": True,
        "enable_gpu": False,
        "enable_tpu": False,
        "enable_internet": False,
        "dataset_sources": [],
        "competition_sources": [],
        "kernel_sources": [],
        "model_sources": [],
    }


def test_titles_become_slugs(tmp_path):
    (tmp_path / "trec_is.py").write_text("x = 1\n")
    assert kaggle_site.write_kernel(tmp_path / "trec_is.py", "me", tmp_path / "a") == "me/trec-is"
    title = "TREC-IS (2021): the score!"
    assert kaggle_site.write_kernel(METRIC, "me", tmp_path / "b", title) == "me/trec-is-2021-the-score"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.py", "--owner", "host"], "cannot read none.py: No such file or directory"),
        ([METRIC, "--owner", "me", "--title", "abcd"], f"the title 'abcd' {TOO_SHORT}"),
        ([METRIC, "--owner", "me", "--title", "?????"], f"the title '?????' {TOO_SHORT}"),
        ([METRIC, "--owner", "a/b"], "'a/b' is no name of a user or organisation"),
        ([METRIC, "--owner", ""], "'' is no name of a user or organisation"),
    ],
)  # fmt: skip
def test_wrong_usage(capsys, tmp_path, arguments, message):
    result = run_host(capsys, "push", *arguments, "--dry-run", "--out", tmp_path / "kernel")
    assert result == (2, "", f"error: {message}\n")
    assert not (tmp_path / "kernel").exists()


def test_the_owner_is_needed(capsys):
    code, _, err = run_host(capsys, "push", METRIC)
    assert code == 2
    assert "--owner" in err


def test_a_kernel_that_kaggle_does_not_take(capsys, kaggle, tmp_path):
    kaggle.answers[SAVE_KERNEL] = lambda request: (200, {"error": "The slug is taken"})
    code, _, err = run_host(capsys, "push", METRIC, "--owner", "host", "--out", tmp_path / "kernel")
    assert (code, err) == (4, "error: Kaggle refuses the kernel: The slug is taken\n")


# --- without credentials, without the package -------------------------------------------------------


@pytest.mark.parametrize("command", [["push", "metric.py", "--owner", "host"], ["leaderboard", "essays"]])
def test_without_credentials(tmp_path, command):
    """In a process of its own: the client keeps what it found when it was imported."""
    pytest.importorskip("kagglesdk")
    done = subprocess.run(
        [sys.executable, "host.py", *command, "--out", str(tmp_path / "out")],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == f"error: there are no credentials for Kaggle: {kaggle_site.CREDENTIALS}\n"
    assert "authentication" not in done.stdout.lower()


@pytest.mark.parametrize("failure", [OSError("no kaggle.json"), SystemExit(1), ValueError("x")])
def test_imports_that_fail_without_credentials(capsys, tmp_path, monkeypatch, failure):
    """As in other versions of the package."""
    pytest.importorskip("requests")
    importing = kaggle_site.importlib.import_module

    def fail(name):
        if name == "kaggle":
            print("Authentication required")
            raise failure
        return importing(name)

    monkeypatch.setattr(kaggle_site.importlib, "import_module", fail)
    code, out, err = run_host(capsys, "leaderboard", "essays", "--out", tmp_path / "board.csv")
    assert (code, out) == (2, "")
    assert err == f"error: there are no credentials for Kaggle: {kaggle_site.CREDENTIALS}\n"


@pytest.mark.parametrize("missing", ["kaggle", "six", "requests"])
def test_without_the_package(capsys, tmp_path, monkeypatch, missing):
    if missing == "kaggle":
        pytest.importorskip("requests")
        pytest.importorskip("six")
    monkeypatch.setitem(sys.modules, missing, None)
    code, out, err = run_host(capsys, "leaderboard", "essays", "--out", tmp_path / "board.csv")
    assert (code, out) == (2, "")
    assert err.startswith("error: this needs the packages kaggle and six: pip install kaggle six (")


def test_no_other_machine_can_be_reached():
    with socket.socket() as anywhere, pytest.raises(AssertionError, match="a test wants to reach"):
        anywhere.connect(("192.0.2.1", 80))


def test_the_server_plays_kaggle(kaggle):
    assert isinstance(kaggle, Kaggle)
    assert kaggle.answer("/x", {}, None)[0] == 401
