"""The real client of Kaggle talks to a made-up Kaggle, and what goes wrong is one line with what to do."""

import sys

import pytest

from podium.common.errors import HostError, UsageError
from podium.hosting.kaggle import client
from tests.support.kaggle_server import SERVICE, Kaggle, answer_here, without_credentials

SETTINGS = f"{SERVICE}GetCompetitionSettings"


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


def title() -> str:
    """Ask for the title of a competition."""
    with client.talking() as api:
        return str(api.competition_get_settings("essays").title)


def settings(request):
    """The answer to a host."""
    assert request["competitionName"] == "essays"
    return 200, {"title": "Essays"}


def refused(request):
    """Kaggle's answer to somebody who has not accepted the rules."""
    return 403, {"code": 403, "message": "you must accept\nthe rules"}


def test_an_answer(kaggle, capsys):
    kaggle.answers[SETTINGS] = settings
    assert (title(), capsys.readouterr()) == ("Essays", ("", ""))


@pytest.mark.parametrize(
    ("answer", "attributes", "message"),
    [
        (refused, {}, "Kaggle refuses: you must accept the rules"),
        (lambda request: (404, {}), {}, "Kaggle refuses: 404 Client Error: Not Found for url: http"),
        (lambda request: (500, {}), {}, "Kaggle has a fault (500 Server Error: "),
        (lambda request: (429, {}), {}, "Kaggle got too many requests (429 Client Error: "),
        (settings, {"raw": b"<html>"}, "Kaggle's answer cannot be understood: "),
        (settings, {"seconds": 61}, "Kaggle did not answer within 60 s"),
        (settings, {"is_reachable": False}, "Kaggle cannot be reached: no route to this host"),
    ],
)
def test_what_goes_wrong(capsys, kaggle, answer, attributes, message):
    kaggle.answers[SETTINGS] = answer
    vars(kaggle).update(attributes)
    with pytest.raises(HostError) as caught:
        title()
    assert str(caught.value).startswith(message)
    assert len(str(caught.value).splitlines()) == 1
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("name", "value"), [("KAGGLE_KEY", "wrong"), ("KAGGLE_API_TOKEN", "a-token")])
def test_wrong_credentials(kaggle, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(HostError) as caught:
        title()
    told = "Kaggle does not know these credentials, or they have expired (Unauthenticated): "
    assert str(caught.value) == told + client.CREDENTIALS


# --- without credentials, without the package -------------------------------------------------------


@pytest.mark.parametrize("failure", [OSError("no kaggle.json"), SystemExit(1)])
def test_imports_that_fail_without_credentials(capsys, monkeypatch, failure):
    """Other versions of the package behave like this."""
    pytest.importorskip("requests")
    importing = client.importlib.import_module

    def fail(name):
        if name == "kaggle":
            print("Authentication required")
            raise failure
        return importing(name)

    monkeypatch.setattr(client.importlib, "import_module", fail)
    with pytest.raises(UsageError) as caught:
        title()
    assert str(caught.value) == f"there are no credentials for Kaggle: {client.CREDENTIALS}"
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("missing", ["kaggle", "six"])
def test_without_the_package(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UsageError, match=r"^this command needs the packages kaggle and six \("):
        title()
