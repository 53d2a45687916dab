"""Write a folder with a new metric, to be edited from there.

    podium new my_metric
    podium check my_metric

It writes these files:

    my_metric/metric.py        the file to upload: an accuracy, to be replaced by your metric
    my_metric/companion.py     explanations beyond the score (optional)
    my_metric/samples/         a small solution and a submission
    my_metric/README.md        the page that explains the metric
    my_metric/test_metric.py   its test, for pytest
"""

import argparse
from pathlib import Path

from podium.errors import UsageError

TEMPLATE = Path(__file__).parents[1] / "new_metric"
TEMPLATE_NAME = "my_metric"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``podium new``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the command.
    """
    parser.add_argument(
        "name", help="the name of the metric and of its folder: letters, digits and underscores"
    )


def run(options: argparse.Namespace) -> None:
    """Copy the template into a new folder, under the metric's name.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_arguments` declares.

    Raises
    ------
    UsageError
        The name is not allowed or taken, or the folder cannot be written.
    """
    from podium import hosted
    from podium.hosting.folders import new_folder

    name = options.name
    if not (name.isidentifier() and name.isascii()):
        raise UsageError(f"expected a name of letters, digits and underscores, found {name!r}")
    if name in hosted.names():
        raise UsageError(f"{name} is a metric of podium's own: expected another name")
    with new_folder(Path(name)) as folder:
        for source in sorted(TEMPLATE.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                target = folder / source.relative_to(TEMPLATE)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = source.read_text(encoding="utf-8").replace(TEMPLATE_NAME, name)
                target.write_text(text, encoding="utf-8", newline="")
    print(f"written to {name}\ntry it: podium check {name}")
    print(f"then change {name}/metric.py, which says where to begin")
