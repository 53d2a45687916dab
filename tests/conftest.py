"""Options, markers and fixtures that all tests share."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# The tests start hundreds of processes.  All of them share compiled files, even if the environment forbids
# these.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# max_examples is the percentage of its examples that a test tries (tests/support/examples.py); `.ci/run` tries
# all.
settings.register_profile("some", max_examples=25, deadline=None)
settings.register_profile("all", max_examples=100, deadline=None)
settings.load_profile("some")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that gives a stranger's metric to tests/test_any_metric.py."""
    parser.addoption("--metric", metavar="FOLDER", help="a metric of one's own, to be held to the contract")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses a browser as slow."""
    for item in items:
        if "driver" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


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
