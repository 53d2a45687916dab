"""The version of podium, which every file that it writes names, and the commit of a checkout."""

from pathlib import Path

__version__ = "11.1.0"


def commit() -> str:
    """The commit of the checkout from which podium is used; empty where it was installed without one."""
    git = Path(__file__).parents[2] / ".git"
    try:
        head = (git / "HEAD").read_text().strip().removeprefix("ref: ")
        if not head.startswith("refs/"):
            return head
        if (git / head).is_file():
            return (git / head).read_text().strip()
        packed = [line.split() for line in (git / "packed-refs").read_text().splitlines()]
        return next((line[0] for line in packed if line[1:] == [head]), "")
    except OSError:
        return ""
