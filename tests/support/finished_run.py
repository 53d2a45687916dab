"""The finished run that tests of `podium rank` and `podium verify`, which tests/ranking/conftest.py makes."""

from pathlib import Path

TEAMS = ["Ada <b>", "Bo & Co", "Cy", "Di"]


def arguments(folder: Path) -> list[str]:
    """The arguments of `podium rank` for the files in a folder."""
    names = ["solution.csv", "teams", "runtimes.csv"]
    return [*(str(folder / name) for name in names), "--out", str(folder / "final"), "--jobs", "1"]
