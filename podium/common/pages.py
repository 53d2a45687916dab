"""What podium's pages have in common: each is a single file that needs no network, made from a template.

Its script is in the page, and the Content-Security-Policy allows it, and nothing else, by its hash.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["policy", "template"]


def template(folder: Path, name: str, words: Mapping[str, Callable[..., Any]]) -> "Template":
    """Load a template from a folder; it may use these functions, and call them as filters, too."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= words
    environment.filters |= words
    return environment.get_template(name)


def policy(script: str, *further: str) -> str:
    """Allow a page its own styles and this script, and no other source of anything."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = ["default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{digest}'", *further]
    return "; ".join(allowed)
