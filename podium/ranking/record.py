"""The content of run.json: what has to be in it, of which type, and how it is written."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from podium.limits import Limits
from podium.ranking.rules import Heading, Rules, is_choice

__all__ = ["CIRCUMSTANCES", "fault_of", "text_of"]

# What run.json says beside the facts of a ranking.
CIRCUMSTANCES = frozenset(
    {
        "command", "date", "git_commit", "hardware", "inputs", "limits", "outputs", "page", "parameters",
        "rules", "store", "submissions", "versions",
    }
)  # fmt: skip

SHA256 = re.compile("[0-9a-f]{64}")
OUTPUT = re.compile(r"[a-z_]+\.(csv|html)")
HASHED_INPUTS = frozenset({"metric", "solution", "runtimes", "selection", "failed"})
INPUTS = HASHED_INPUTS | {"submissions"}
SUBMISSION = frozenset({"team", "submission", "sha256", "side_sha256", "submitted_at", "public_score"})


def text_of(facts: Mapping[str, Any]) -> str:
    """Write the content of run.json as text."""
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def fault_of(facts: Any) -> str:
    """Find the first part of run.json that is missing or of another form than `podium rank` writes."""
    if not isinstance(facts, dict):
        return "the outermost object"
    checks: dict[str, Callable[[Any], bool]] = {
        "inputs": _are_inputs,
        "rules": _are_rules,
        "parameters": lambda given: isinstance(given, dict),
        "submissions": _are_submissions,
        "store": lambda given: isinstance(given, str),
        "outputs": _are_outputs,
        "versions": lambda given: isinstance(given, dict) and "podium" in given,
        "limits": lambda given: _fits(given, Limits()),
        "page": lambda given: _fits(given, Heading()),
        "date": lambda given: isinstance(given, str),
        "command": lambda given: isinstance(given, list) and all(isinstance(word, str) for word in given),
        "git_commit": lambda given: given is None or isinstance(given, str),
        "hardware": lambda given: isinstance(given, dict),
    }
    wrong = (repr(name) for name, is_right in checks.items() if name not in facts or not is_right(facts[name]))
    return next(wrong, "")


def _are_rules(rules: Any) -> bool:
    """Tell whether the rules are such as the command line accepts, apart from those of the boost.

    ``boost.py`` has limits of its own for these.
    """
    return (
        _fits(rules, Rules())
        and (rules["choose"] == "" or is_choice(rules["choose"]))
        and min(rules["resamples"], rules["seed"], rules["prizes"]) >= 0
    )


def _fits(given: Any, default: Any) -> bool:
    """Tell whether an object has the fields of a named tuple, with values of the types of its defaults."""
    if not isinstance(given, dict) or tuple(given) != default._fields:
        return False
    return all(_is_alike(value, getattr(default, name)) for name, value in given.items())


def _is_alike(value: Any, default: Any) -> bool:
    """Tell whether a value has the type of a default.  A number with decimals may also be a whole number."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if default is None:
        return value is None or isinstance(value, str)
    return isinstance(value, int | float if isinstance(default, float) else type(default))


def _is_hash(value: Any) -> bool:
    """Tell whether a value is the SHA-256 of something."""
    return isinstance(value, str) and SHA256.fullmatch(value) is not None


def _are_inputs(inputs: Any) -> bool:
    """Tell whether inputs have paths, those that are files have a SHA-256, too, and nothing has more."""
    if not isinstance(inputs, dict) or not INPUTS <= inputs.keys() <= INPUTS | {"side"}:
        return False
    return all(
        (each is None and name in HASHED_INPUTS - {"metric", "solution"})
        or (
            isinstance(each, dict)
            and isinstance(each.get("path"), str)
            and "\0" not in each["path"]
            and each.keys() == ({"path", "sha256"} if name in HASHED_INPUTS else {"path"})
            and (name not in HASHED_INPUTS or _is_hash(each["sha256"]))
        )
        for name, each in inputs.items()
    )


def _are_submissions(submissions: Any) -> bool:
    """Tell whether submissions are listed once each, sorted by names, with a SHA-256."""
    if not isinstance(submissions, list) or not all(isinstance(each, dict) for each in submissions):
        return False
    keys = [(each["team"], each["submission"]) for each in submissions if _is_submission(each)]
    return len(keys) == len(submissions) and keys == sorted(set(keys))


def _is_submission(each: Mapping[str, Any]) -> bool:
    """Tell whether one submission has the right fields."""
    return (
        {"team", "submission", "sha256"} <= each.keys() <= SUBMISSION
        and all(isinstance(value, str) for value in each.values())
        and (_is_hash(each["sha256"]) or each["sha256"] == "")
    )


def _are_outputs(outputs: Any) -> bool:
    """Tell whether outputs are names of files in the folder, each with its SHA-256."""
    return isinstance(outputs, dict) and all(
        OUTPUT.fullmatch(name) is not None and _is_hash(digest) for name, digest in outputs.items()
    )
