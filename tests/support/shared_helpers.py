"""The sections that several hosted files share, and a command that copies an edited one into the others.

    python -m tests.support.shared_helpers metric.py

copies the sections of this file whose headings begin with “Shared:” into every hosted file that has them.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^# ---- (.+?) -+$", re.MULTILINE)


def hosted_files() -> list[Path]:
    """The project's own metric files, with `metric.py` first."""
    return [ROOT / "metric.py", *sorted(path for path in ROOT.glob("metrics/**/*.py") if shared_sections(path))]


def sections(text: str) -> list[tuple[str, str]]:
    """The title and the text of each section; what precedes the first heading has no title."""
    starts = [0, *(heading.start() for heading in HEADING.finditer(text)), len(text)]
    titles = ["", *HEADING.findall(text)]
    return [(title, text[start:end].strip("\n")) for title, start, end in zip(titles, starts, starts[1:])]


def shared_sections(path: Path) -> dict[str, str]:
    """The shared sections of a file by their titles."""
    return {title: text for title, text in sections(path.read_text("utf-8")) if title.startswith("Shared: ")}


def copied(source: dict[str, str], text: str) -> str:
    """A file's text in which sections are replaced by those of the same title in `source`."""
    return "\n\n\n".join(source.get(title, section) for title, section in sections(text)) + "\n"


def main(path: Path) -> None:
    """Copy the shared sections of a file into every other hosted file."""
    source = shared_sections(path)
    for file in hosted_files():
        before = file.read_text("utf-8")
        after = copied(source, before)
        if after != before:
            file.write_text(after, "utf-8")
            print(f"written: {file.relative_to(ROOT)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
