"""Options, markers and fixtures that all tests share."""

import atexit
import functools
import gc
import importlib.metadata
import locale
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

# The tests start hundreds of processes. All of them share compiled files, even if the environment forbids
# these.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Libraries' warnings about themselves must not appear in the outputs of these processes.
os.environ.pop("PYTHONWARNINGS", None)

# Notebooks, matplotlib and others want to write into the home folder, which may not be there. Workers of
# pytest-xdist get the home of the process that starts them.
if not os.access(os.path.expanduser("~"), os.W_OK):
    os.environ["HOME"] = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)

# A shell that starts the tests in the background lets them ignore interrupts, and libraries would undo that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Where the network is reached by a proxy, servers of tests are not.
for name in ("no_proxy", "NO_PROXY"):
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost"]))

SECONDS_TO_END = 60  # of threads that a test started; they need a moment even on a busy machine
# pytest says here which test is running; the others are set by libraries when they are imported, the last one
# by matplotlib if it cannot write into the home folder.
SET_BY_LIBRARIES = ("PYTEST_CURRENT_TEST", "KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "MPLCONFIGDIR")

# max_examples is the percentage of its examples that a test tries (tests/support/examples.py); `.ci/run` tries
# all.
# How long examples take says something about the machine alone.
ANY_TIME = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# Whether a commit passes depends on the commit alone; with `fresh`, Hypothesis draws examples that are new.
SAME = {"derandomize": True, **ANY_TIME}
# Making a failing example smaller takes minutes and finds no further fault. Who wants it asks for `shrink`.
FOUND = {"phases": (Phase.explicit, Phase.generate), **SAME}
settings.register_profile("some", max_examples=10, **FOUND)
settings.register_profile("all", max_examples=100, **FOUND)
settings.register_profile("shrink", max_examples=100, **SAME)
settings.register_profile("fresh", max_examples=100, **ANY_TIME)
settings.load_profile("some")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that gives a custom metric to tests/test_any_metric.py."""
    parser.addoption("--metric", metavar="FOLDER", help="a custom metric, to be held to the contract")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Spare the garbage collector what lives until the process ends: libraries, test modules and tests.

    It would go through all of it again and again, which takes longer than most tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses a browser as slow."""
    for item in items:
        if "driver" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how to get a small example, where a made-up one has failed."""
    if any("hypothesis" in report.keywords for report in terminalreporter.getreports("failed")):
        terminalreporter.write_line("--hypothesis-profile=shrink looks for the smallest example that fails.")


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """A headless Chromium."""
    pytest.importorskip("selenium")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("there is no chromium or no chromedriver")
    from tests.support import browser

    with browser.started() as driver:
        yield driver


@pytest.fixture(scope="session", autouse=True)
def _templates_are_compiled_once() -> Iterator[None]:
    """Compile each template of a page once for all tests, because this takes longer than to fill it in."""
    from jinja2 import Environment

    compiled: dict[Any, Any] = {}
    real: Any = Environment.compile

    def compile_once(self: Environment, *source: Any, **options: Any) -> Any:
        key = (*source, *options.items())
        if key not in compiled:
            compiled[key] = real(self, *source, **options)
        return compiled[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Environment, "compile", compile_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _packages_are_listed_once() -> Iterator[None]:
    """Read about each installed package once, because every board, run and bundle asks for versions."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("packages_distributions", "version"):
            patch.setattr(importlib.metadata, name, functools.cache(getattr(importlib.metadata, name)))

        @functools.cache
        def distributions() -> list[SimpleNamespace]:
            found = importlib.metadata.distributions()
            return [SimpleNamespace(name=each.name, version=each.version) for each in found]

        patch.setattr("podium.running.hardware.metadata", SimpleNamespace(distributions=distributions))
        yield


@pytest.fixture(scope="session", autouse=True)
def _seeds_are_known() -> Iterator[None]:
    """Let `podium make` draw the same parts in every run of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("podium.cli.make.secret_seed", lambda: 0)
        yield


@pytest.fixture(autouse=True)
def _process_stays_as_it_was() -> Iterator[None]:
    """Fail the test that leaves something behind, before it makes a later test fail at random.

    A thread of an earlier test can end with an error in a later one, and so on. Threads that libraries keep
    until the process ends are daemons.
    """
    before, threads = _state_of_process(), set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - threads:
        if not thread.daemon:
            thread.join(SECONDS_TO_END)
            assert not thread.is_alive(), f"the thread {thread.name} outlives its test"
    after = _state_of_process()
    assert {name: after.get(name) for name in before | after if after.get(name) != before.get(name)} == {}


def _state_of_process() -> dict[str, Any]:
    """What tests could change in their process so that others would notice."""
    mask = os.umask(0)
    os.umask(mask)
    variables = {f"${name}": value for name, value in os.environ.items() if name not in SET_BY_LIBRARIES}
    return variables | {
        "working folder": os.getcwd(),
        "sys.path": list(sys.path),
        "umask": mask,
        "limits": [resource.getrlimit(which) for which in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE)],
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF)],
        "timer": signal.getitimer(signal.ITIMER_PROF),
        "locale": locale.setlocale(locale.LC_ALL),
        "garbage collection": gc.isenabled(),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
    }
