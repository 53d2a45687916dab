"""Compiled forms of Python files as an attacker writes them."""

import importlib.util
import marshal
from pathlib import Path


def unchecked(text: str, path: Path) -> None:
    """Write a compiled form that Python would take without a look at the file of which it pretends to be."""
    code = marshal.dumps(compile(text, str(path), "exec"))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code)
