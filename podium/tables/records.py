"""Records in JSON: whether what was read has the form that a type describes.

msgspec is loaded only where a record is read.
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["fits", "form"]


def fits(value: object, kind: Any) -> bool:
    """Tell whether a value of JSON has a type, without turning texts into numbers or the like."""
    import msgspec

    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return False
    return True


def form(name: str, needed: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> type:
    """Make the type of an object that has some fields, may have others, and has none beside them."""
    import msgspec

    may_lack = [(field, kind | msgspec.UnsetType, msgspec.UNSET) for field, kind in (optional or {}).items()]
    return msgspec.defstruct(name, [*needed.items(), *may_lack], forbid_unknown_fields=True)
