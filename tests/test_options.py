"""Options are declared once: the command, the function and the check follow from one dataclass."""

import argparse
import importlib
import inspect
import re
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import pandas as pd
import pytest

import podium
from podium.cli import COMMANDS
from podium.cli.declared import declare
from podium.common.errors import UsageError
from podium.common.options import GIVEN, described, made, takes, whole_number


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board.

    Parameters
    ----------
    prizes : N
        How many places win a prize.
    shown : bool
        Show nothing.
    seed : N
        Any number.

    Other Parameters
    ----------------
    part : PART
        The part that counts.
    """

    prizes: Annotated[int, whole_number(0, 10)] = 3
    shown: bool = True
    seed: int = 0
    part: Literal["", "Public"] = ""
    given: frozenset[str] = frozenset()


@takes(Board)
def board(options: Board, **more: Any) -> tuple[Board, dict[str, Any]]:
    """Make a board.

    Returns
    -------
    tuple
        The options, and what is none.
    """
    return options, more


def test_a_function_has_the_arguments_of_its_options() -> None:
    assert list(inspect.signature(board).parameters) == ["prizes", "shown", "seed", "part"]
    assert "How many places win a prize." in (inspect.getdoc(board) or "").partition("Returns\n")[0]
    options, more = board(prizes=2, part=None, temperature=50)  # type: ignore[arg-type,call-arg]
    assert (options.prizes, options.shown, options.part) == (2, True, "")
    assert (options.given, more) == ({"prizes"}, {"temperature": 50})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prizes": -1}, "prizes: expected a whole number from 0 to 10, found -1"),
        ({"prizes": True}, "prizes: expected a whole number from 0 to 10, found True"),
        ({"prizes": "3"}, "prizes: expected a whole number from 0 to 10, found '3'"),
        ({"shown": 1}, "shown: expected True or False, found 1"),
        ({"seed": "3"}, "seed: expected a whole number, found '3'"),
        ({"part": "private"}, "part: expected one of Public, found 'private'"),
    ],
)
def test_a_wrong_value_is_refused_in_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as problem:
        board(**given)
    assert str(problem.value) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"solution": pd.DataFrame()}, "solution: expected a path, found a value of type DataFrame"),
        ({"submissions": ["a.csv"]}, "submissions: expected a path, found a value of type list"),
        ({"deadline": pd.Timestamp(0)}, "deadline: expected a text, found a value of type Timestamp"),
    ],
)
def test_what_is_no_path_and_no_text_is_refused_in_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as problem:
        podium.rank(**{"solution": "s.csv", "submissions": "subs", "out": "board"} | given)
    assert str(problem.value) == said


def test_a_command_has_what_was_given_alone(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    declare(parser, Board)
    assert vars(parser.parse_args([])) == {}
    given = vars(parser.parse_args(["--no-shown", "--prizes", "3", "--part", "Public"]))
    assert made(Board, given) == Board(shown=False, part="Public", given=frozenset({"prizes", "shown", "part"}))
    with pytest.raises(SystemExit):
        parser.parse_args(["--prizes", "11"])
    assert "argument --prizes: expected a whole number from 0 to 10, found 11" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parser.parse_args(["--prizes", "1", "--prizes", "2"])
    assert "argument --prizes: expected one value, and the option is given twice" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_every_command_is_described(command: str) -> None:
    options = importlib.import_module(f"podium.cli.{command}").Options
    names = {each.name for each in fields(options)} - {GIVEN}
    assert names == dict(described(options)).keys()


@pytest.mark.parametrize("name", ["rank", "run", "verify"])
def test_a_public_function_describes_its_arguments(name: str) -> None:
    function = getattr(podium, name)
    doc = inspect.getdoc(function) or ""
    told = {each for names in re.findall(r"^(\w[\w, ]*) : ", doc, re.MULTILINE) for each in names.split(", ")}
    assert told == inspect.signature(function).parameters.keys()
    assert doc.index("Parameters\n") < doc.index("Returns\n")
