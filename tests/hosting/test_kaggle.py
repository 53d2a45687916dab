"""`podium collect kaggle` works with the real client of Kaggle and a made-up Kaggle."""

import sys

import pandas as pd
import pytest

from podium.hosting.kaggle import client as site
from tests.support.host_line import run_podium
from tests.support.kaggle_server import LEADERBOARD, Kaggle, answer_here, without_credentials


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch, tmp_path):
    """Hide the credentials of whoever runs the tests."""
    without_credentials(monkeypatch, tmp_path / "home")


@pytest.fixture
def kaggle(monkeypatch, no_credentials):
    """A made-up Kaggle for which the client has credentials."""
    made_up = Kaggle()
    answer_here(monkeypatch, made_up)
    return made_up


def entry(number: int, score: str = "0.5", name: str | None = None) -> dict[str, object]:
    """A row of a leaderboard, as Kaggle sends it."""
    return {
        "teamId": 1000 + number,
        "teamName": f"Team {number}" if name is None else name,
        "submissionDate": f"2024-01-23T14:05:{number % 60:02d}.123Z",
        "score": score,
    }


def pages(*pages: list[dict[str, object]]):
    """A server's answers page by page, in which the token of page n is "page n"."""

    def answer(request):
        assert request["competitionName"] == "essays"
        assert request["pageSize"] == 200
        number = int((request.get("pageToken") or "page 0").removeprefix("page "))
        more = {"nextPageToken": f"page {number + 1}"} if number + 1 < len(pages) else {}
        return 200, {"submissions": pages[number], **more}

    return answer


@pytest.fixture
def board(tmp_path):
    """The path of the leaderboard to write; its folder is missing."""
    return tmp_path / "new" / "leaderboard.csv"


# --- the leaderboard --------------------------------------------------------------------------------


def test_all_pages(capsys, kaggle, board):
    numbers = range(450)
    entries = [entry(number, f"{1 - number / 1000:.3f}") for number in numbers]
    kaggle.answers[LEADERBOARD] = pages(entries[:200], entries[200:400], entries[400:])
    code, out, err = run_podium(capsys, "collect", "kaggle", "essays", "--out", board.parent)
    assert (code, out, err) == (0, f"450 rows, written to {board}\n", "")
    assert [path for path, _ in kaggle.requests] == [LEADERBOARD] * 3
    table = pd.read_csv(board)
    assert list(table) == ["team", "score", "submitted_at", "team_id"]
    assert table["team"].tolist() == [f"Team {number}" for number in numbers]
    assert table["score"].tolist() == [float(f"{1 - number / 1000:.3f}") for number in numbers]
    assert table["team_id"].tolist() == [1000 + number for number in numbers]
    assert table["submitted_at"][7] == "2024-01-23T14:05:07.123000Z"


def test_teams_of_the_same_name_are_told_apart(kaggle):
    kaggle.answers[LEADERBOARD] = pages([entry(1, name="Blue"), entry(2, name="Red"), entry(3, name="Blue")])
    assert site.fetch_leaderboard("essays")["team"].tolist() == ["Blue (1001)", "Red", "Blue (1003)"]


@pytest.mark.parametrize("text", ["-", "inf"])
def test_what_is_no_score_is_missing(kaggle, text):
    row = entry(1, text)
    del row["submissionDate"]
    kaggle.answers[LEADERBOARD] = pages([row])
    assert site.fetch_leaderboard("essays")[["score", "submitted_at"]].isna().all(axis=None)


def refused(request):
    """Kaggle's answer to somebody who has not accepted the rules."""
    return 403, {"code": 403, "message": "you must accept\nthe rules"}


@pytest.mark.parametrize(
    ("answer", "attributes", "message"),
    [
        (refused, {}, "Kaggle refuses: you must accept the rules"),
        (lambda request: (404, {}), {}, "Kaggle refuses: 404 Client Error: Not Found for url: http"),
        (lambda request: (500, {}), {}, "Kaggle has a fault (500 Server Error: "),
        (lambda request: (429, {}), {}, "Kaggle got too many requests (429 Client Error: "),
        (pages([]), {}, "the leaderboard of essays is empty"),
        (pages([entry(1)]), {"raw": b"<html>"}, "Kaggle's answer cannot be understood: "),
        (pages([entry(1)]), {"seconds": 61}, "Kaggle did not answer within 60 s\n"),
        (pages([entry(1)]), {"is_reachable": False}, "Kaggle cannot be reached: no route to this host\n"),
    ],
)
def test_what_goes_wrong(capsys, kaggle, board, answer, attributes, message):
    kaggle.answers[LEADERBOARD] = answer
    vars(kaggle).update(attributes)
    code, out, err = run_podium(capsys, "collect", "kaggle", "essays", "--out", board.parent)
    assert (code, out, len(err.splitlines())) == (4, "", 1)
    assert err.startswith(f"error: {message}")
    assert not board.exists()


@pytest.mark.parametrize(("name", "value"), [("KAGGLE_KEY", "wrong"), ("KAGGLE_API_TOKEN", "a-token")])
def test_wrong_credentials(capsys, kaggle, board, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert run_podium(capsys, "collect", "kaggle", "essays", "--out", board.parent) == (
        4, "", f"error: Kaggle does not know these credentials, or they have expired (Unauthenticated): "
        f"{site.CREDENTIALS}\n",
    )  # fmt: skip


# --- without credentials, without the package -------------------------------------------------------


@pytest.mark.parametrize("failure", [OSError("no kaggle.json"), SystemExit(1)])
def test_imports_that_fail_without_credentials(capsys, tmp_path, monkeypatch, failure):
    """Other versions of the package behave like this."""
    pytest.importorskip("requests")
    importing = site.importlib.import_module

    def fail(name):
        if name == "kaggle":
            print("Authentication required")
            raise failure
        return importing(name)

    monkeypatch.setattr(site.importlib, "import_module", fail)
    code, out, err = run_podium(capsys, "collect", "kaggle", "essays", "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err == f"error: there are no credentials for Kaggle: {site.CREDENTIALS}\n"


@pytest.mark.parametrize("missing", ["kaggle", "six"])
def test_without_the_package(capsys, tmp_path, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    code, out, err = run_podium(capsys, "collect", "kaggle", "essays", "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err.startswith("error: this command needs the packages kaggle and six (")
