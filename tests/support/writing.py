"""Write the files that a test reads."""

import json
from pathlib import Path
from typing import Any


def write(folder: Path, name: str, content: Any, encoding: str = "utf-8") -> Path:
    """Write bytes, a text, or any other value as JSON below a folder, and return the path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str | bytes):
        content = json.dumps(content, ensure_ascii=False)
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path
