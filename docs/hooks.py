"""What MkDocs has to be told of this repository.

It has pages outside of docs/, links to files that are no pages, and words that the glossary explains.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# A link or a picture: the text, and the target without its anchor.
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
# Code, links and pictures, and what stands out because it is explained there, are left as they are.
APART = re.compile(r"(`+[^`]+`+|!?\[[^\]]*\]\([^)]*\)|<[^>]*>|\*+[^*\s][^*]*\*+)")
NO_PROSE = ("#", "|", "<", "!", "    ", ":::", "```")
# The glossary explains these words, too, but everybody knows them, or they have other meanings as well.
EVERYDAY = {
    "Board", "Container", "Draw", "Host", "Item", "Kernel", "Match", "Measure", "Metric", "Note", "Organizer",
    "Participant", "Population", "Public and Private", "Runtime", "Score", "Signature", "Solution",
    "Statistics", "Submission", "Temperature", "d",
}  # fmt: skip
# On these pages people look something up, and they link where it helps.
LOOKED_UP = {"glossary.md", "index.md", "reference/messages.md", "reference/commands.md", "reference/python.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of each metric, which lies beside the metric."""
    for page in sorted(ROOT.glob("metrics/*/README.md")):
        content = page.read_text(encoding="utf-8")
        files.append(File.generated(config, f"metrics/{page.parent.name}.md", content=content))
    return files


def terms(page: str) -> dict[str, str]:
    """The special words of the glossary for a page, each with its anchor.

    A part of the glossary that begins with links to pages of metrics has words that are special on these
    pages alone.
    """
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = set()
    for part in glossary.split("\n## ")[1:]:
        pages = re.findall(r"\.\./(metrics/\w+/README\.md)", part.partition("\n###")[0])
        if not pages or page in pages:
            words |= set(re.findall(r"^### (.*)$", part, re.MULTILINE))
    # MkDocs makes no anchors of Greek letters.
    return {
        word: word.lower().replace(" ", "-") for word in words - EVERYDAY if word.isascii() and "," not in word
    }


def with_links_to_terms(markdown: str, page: str, glossary: str) -> str:
    """Link each special word, where a page first uses it, to the glossary.

    Parameters
    ----------
    markdown : str
        The text of a page.
    page : str
        The path of the page in the repository.
    glossary : str
        The path of the glossary, seen from the page.

    Returns
    -------
    str
        The text with links. A word has none if the page links or emphasizes it where it first occurs.
    """
    pieces = [
        piece
        for block in re.split(r"(^```.*?^```$|\n{2,})", markdown, flags=re.MULTILINE | re.DOTALL)
        for piece in ([block] if not block.strip() or block.startswith(NO_PROSE) else APART.split(block))
    ]
    for word, anchor in terms(page).items():
        spaced = word.replace(" ", r"\s+")
        pattern = re.compile(rf"(?<![\w-]){spaced}s?(?![\w-])", re.IGNORECASE)
        for number, piece in enumerate(pieces):
            if piece.startswith((*NO_PROSE, "`", "\n")) or not (found := pattern.search(piece)):
                continue
            if not APART.fullmatch(piece):
                linked = f"[{found[0]}]({glossary}#{anchor})"
                pieces[number : number + 1] = [piece[: found.start()], linked, piece[found.end() :]]
            break
    return "".join(pieces)


def description(markdown: str) -> str:
    """The first sentences of a page without marks, up to 160 characters, as search engines show them."""
    blocks = (block for block in markdown.split("\n\n") if block.strip() and not block.startswith(NO_PROSE))
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(next(blocks, "").split()))
    short = ""
    for sentence in re.split(r"(?<=[.:!?]) (?=[A-Z])", re.sub(r"[*`]", "", plain)):
        if short and len(f"{short} {sentence}") > 160:
            break
        short = f"{short} {sentence}".strip()
    return short


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Say on the page for wrong addresses where to go on."""
    if template_name != "404.html":
        return output_content
    where = f'Search for it above, or begin at <a href="{config.site_url or "/"}">the first page</a>.'
    return output_content.replace("</h1>", f"</h1><p>There is no page at this address. {where}</p>", 1)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Leave the hundreds of messages out of the table of contents beside their page: the search has them."""
    if page.file.src_uri == "reference/messages.md":
        for title in page.toc:
            for part in title.children:
                part.children.clear()
    return html


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files, **_: Any) -> str:
    """Lead links to pages of the site there; other files of the repository are named without a link."""
    uri = PurePosixPath(page.file.src_uri)
    if uri.stem == "messages":
        # A pasted message leads to its entry, and not to a page that happens to have its words.
        page.meta["search"] = {"boost": 3}
    name = f"{uri.parent}/{uri.stem}/README.md" if uri.parts[0] == "metrics" else f"docs/{uri}"
    page.meta.setdefault("description", description(markdown))
    here = (ROOT / name).parent
    if str(uri) not in LOOKED_UP:
        markdown = with_links_to_terms(markdown, name, os.path.relpath(ROOT / "docs" / "glossary.md", here))
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
