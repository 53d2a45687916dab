"""What MkDocs has to be told of this repository.

It has pages outside of docs/, and links to files that are not pages.
"""

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from podium.cli import COMMANDS

ROOT = Path(__file__).parents[1]
# A link or a picture: the text, and the target without its anchor.
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
# Code within a sentence, and its short words that browsers would break at a hyphen, such as --slowdown-limit.
CODE = re.compile(r"(?<!</span>)<code>([^<]+)</code>")
HELP = "<!-- The help of every command follows on the site. -->"
HYPHENATED = re.compile(r"(?<!\S)(?=\S*-)\S{1,32}(?!\S)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of each metric, which lies beside the metric."""
    for page in sorted(ROOT.glob("metrics/*/README.md")):
        content = page.read_text(encoding="utf-8")
        files.append(File.generated(config, f"metrics/{page.parent.name}.md", content=content))
    return files


def help_of(command: str) -> str:
    """Write a section with what the help of a command says."""
    line = [sys.executable, "-m", "podium", command, "--help"]
    width = os.environ | {"COLUMNS": "100"}
    done = subprocess.run(line, cwd=ROOT, env=width, check=True, capture_output=True, encoding="utf-8")
    return f"## podium {command}\n\n```text\n{done.stdout}```\n"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files, **_: Any) -> str:
    """Lead links to pages of the site there; other files of the repository are named without a link."""
    if HELP in markdown:
        markdown = markdown.replace(HELP, "\n".join(map(help_of, COMMANDS)))
    uri = PurePosixPath(page.file.src_uri)
    name = f"{uri.parent}/{uri.stem}/README.md" if uri.parts[0] == "metrics" else f"docs/{uri}"
    here = (ROOT / name).parent
    pages = {(ROOT / "docs" / file.src_uri).resolve(): file.src_uri for file in files}
    for file in files:
        if file.src_uri.startswith("metrics/"):
            pages[ROOT / "metrics" / PurePosixPath(file.src_uri).stem / "README.md"] = file.src_uri

    def resolved(match: re.Match[str]) -> str:
        mark, text, target, anchor = match.groups()
        there = pages.get((here / target).resolve())
        if there is None:
            return text if (here / target).exists() else match[0]
        up = "../" * (len(uri.parts) - 1)
        return f"{mark}[{text}]({up}{there}{anchor or ''})"

    blocks = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(block if block.startswith("```") else LINK.sub(resolved, block) for block in blocks)


def on_page_content(html: str, **_: Any) -> str:
    """Keep names with hyphens in one piece."""

    def whole(code: re.Match[str]) -> str:
        words = HYPHENATED.sub(r'<span class="whole">\g<0></span>', code[1])
        return f"<code>{words}</code>"

    return CODE.sub(whole, html)
