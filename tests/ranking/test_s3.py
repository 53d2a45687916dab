"""`podium rank` and `podium verify` read from a server that speaks S3, where no fault is ever a rejection."""

import hashlib
import json
import logging
import urllib.request

import fsspec
import pandas as pd
import pytest

from podium import cli
from podium.metric import hosted
from podium.ranking import making, store
from tests.ranking.test_faults import COMPLETE, ROWS
from tests.support import command_line

pytestmark = pytest.mark.slow

TEAMS = 6  # team 3 has three rows, which the metric rejects


@pytest.fixture(scope="module")
def server():
    """The address of a server in a thread of this process."""
    pytest.importorskip("s3fs")
    moto = pytest.importorskip("moto.server")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def system(server, monkeypatch):
    """The file system of an empty server."""
    for name, value in {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    post(f"{server}/moto-api/reset")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    yield fsspec.filesystem("s3")
    post(f"{server}/moto-api/reset-auth", b"inf")


def post(url: str, data: bytes = b"") -> None:
    """Send data to the server."""
    request = urllib.request.Request(url, data, {"Content-Type": "text/plain"}, method="POST")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


@pytest.fixture
def folder(system, tmp_path):
    """A metric that counts rows; the server has a solution, runtimes, a folder of submissions and a
    manifest.
    """
    (tmp_path / "rows.py").write_text(ROWS + COMPLETE)
    system.mkdir("host")
    system.mkdir("teams")
    system.pipe("host/solution.csv", b"id\n1\n2\n")
    times = "".join(f"{team},{10 + team}\n" for team in range(TEAMS))
    system.pipe("host/runtimes.csv", f"team,runtime\n{times}".encode())
    for team in range(TEAMS):
        system.pipe(f"teams/final/{team}.csv", b"id\n" + b"1\n" * team)
    lines = "".join(f"{team},s3://teams/final/{team}.csv\n" for team in range(TEAMS))
    system.pipe("host/manifest.csv", f"team,path\n{lines}".encode())
    return tmp_path


@pytest.fixture
def call(folder, capsys):
    """Runs `podium rank` on files behind URLs, with more arguments."""

    def call(solution="s3://host/solution.csv", teams="s3://teams/final", *more: object, jobs: int = 1):
        options = ["--metric", folder / "rows.py", "--out", folder / "final", "--jobs", jobs]
        return command_line.run(capsys, "rank", solution, teams, *more, *options)

    return call


def scores(folder) -> dict[str, float]:
    """The score of each team on the board, -1 for none."""
    table = pd.read_csv(folder / "final" / "all_submissions.csv", dtype={"team": str})
    return dict(zip(table["team"], table["score"].fillna(-1)))


EXPECTED = {str(team): -1.0 if team == 3 else float(team) for team in range(TEAMS)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_everything_on_the_server(folder, call, capsys, jobs):
    code, _, err = call("s3://host/solution.csv", "s3://teams/final", "s3://host/runtimes.csv", jobs=jobs)
    assert code == 0, err
    assert scores(folder) == EXPECTED
    board = pd.read_csv(folder / "final" / "final_leaderboard.csv", dtype={"team": str})
    assert board["runtime"].tolist() == [10.0 + int(team) for team in board["team"]]
    facts = json.loads((folder / "final" / "run.json").read_text())
    assert facts["inputs"]["submissions"] == {"path": "s3://teams/final"}
    assert facts["inputs"]["solution"]["sha256"] == hashlib.sha256(b"id\n1\n2\n").hexdigest()
    named = ["--solution", "s3://host/solution.csv", "--submissions", "s3://teams/final"]
    named += ["--runtimes", "s3://host/runtimes.csv"]  # no address of run.json alone is opened
    assert cli.main(["verify", str(folder / "final"), "--jobs", "1", *named]) == 0
    assert "to the last bit" in capsys.readouterr().out


def test_a_folder_of_documents_on_the_server_is_one_submission(folder, system, capsys):
    samples = hosted.folder("readable") / "samples"
    answers = pd.read_csv(samples / "submission.csv").head(4)
    pd.read_csv(samples / "solution.csv").head(4).to_csv(folder / "solution.csv", index=False)
    for essay, cell in zip(answers["document_id"], answers["markup"]):
        document = json.dumps({"id": essay, **json.loads(cell)}).encode()
        system.pipe(f"teams/documents/Ada/{essay}.json", document)
        system.pipe(f"teams/documents/Bo/in/{essay}.json", document)
        system.pipe(f"teams/documents/Cy/list/{essay}.json", b"[]")
    arguments = ["rank", folder / "solution.csv", "s3://teams/documents", "--metric", "readable", "--no-boost"]
    out = ["--out", folder / "final", "--jobs", 1, "--resamples", 0]
    code, _, err = command_line.run(capsys, *arguments, *out)
    assert code == 0, err
    board = pd.read_csv(folder / "final" / "final_leaderboard.csv")
    assert board["team"].tolist() == ["Ada", "Bo"]
    assert board["score"].nunique() == 1
    rejected = pd.read_csv(folder / "final" / "rejected.csv")
    assert rejected["reason"].tolist() == ["expected a regular file, found a folder"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s3://nowhere/solution.csv"], "cannot read s3://nowhere/solution.csv: The specified bucket does not"),
        (["s3://host/solution.csv", "s3://nowhere"], "cannot list s3://nowhere: "),
        (["s3://host/solution.csv", "s3://teams/none"], "there are no submissions in s3://teams/none"),
        (
            ["s3://host/solution.csv", "s3://teams/final", "s3://host/none.csv"],
            "cannot read s3://host/none.csv",
        ),
    ],
)
def test_what_is_not_there_is_said(folder, call, arguments, message):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"error: {message}")
    assert not (folder / "final" / "run.json").exists()


def test_credentials_that_are_refused_while_it_runs_are_faults(folder, call, server, monkeypatch):
    real = making.start_workers

    def refused(*arguments, **options):
        post(f"{server}/moto-api/reset-auth", b"0")
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(making, "start_workers", refused)
        code, out, err = call()
    assert (code, out) == (2, "")
    assert f"error: {TEAMS} submissions could not be scored, through no fault of their own" in err
    assert err.count("The AWS Access Key Id you provided does not exist") == TEAMS
    assert not (folder / "final" / "rejected.csv").exists()
    assert store.names(folder / "final" / "store") == []
    code, _, err = call()
    assert code == 2
    assert err.startswith("error: cannot read s3://host/solution.csv: Forbidden")
