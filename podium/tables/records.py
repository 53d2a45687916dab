"""Records in JSON: whether what was read has the form that a type describes.

msgspec is loaded only where a record is read.
"""

from collections.abc import Mapping
from typing import Any

from podium.tables.files import parse_json

__all__ = ["fault_in", "form", "parsed"]


def parsed(content: bytes, kind: Any) -> tuple[Any, str]:
    """Parse a record, and say what is wrong with it, or an empty text if it is of a type."""
    try:
        value = parse_json(content)
    except ValueError as problem:
        return None, f"no JSON: {problem}"
    return value, fault_in(value, kind)


def fault_in(value: object, kind: Any) -> str:
    """Say how a value of JSON is not of a type, and where; no text is taken for a number or the like."""
    import msgspec

    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as problem:
        return str(problem)
    return ""


def form(name: str, needed: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> type:
    """Make the type of an object that has some fields, may have others, and has none beside them."""
    import msgspec

    may_lack = [(field, kind | msgspec.UnsetType, msgspec.UNSET) for field, kind in (optional or {}).items()]
    return msgspec.defstruct(name, [*needed.items(), *may_lack], forbid_unknown_fields=True)
