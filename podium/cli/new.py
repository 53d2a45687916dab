"""Write a folder with a new metric, to be edited from there.

    podium new my_metric
    podium check my_metric

It writes the file to upload, my_metric/metric.py, with a small solution and submission in my_metric/samples/.
With --statistics the file also has prepare(), which gives each row some numbers, so that podium computes
intervals and the score of each group of rows. Then there are a companion, a page and a test, too.
"""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from podium.common.errors import UsageError

PLAIN, WITH_STATISTICS = (
    Path(__file__).parents[1] / "metric" / name for name in ("new_metric_plain", "new_metric")
)
TEMPLATE_NAME = "my_metric"


@dataclass(frozen=True)
class Options:
    """The options of ``podium new``.

    Parameters
    ----------
    name : NAME
        The name of the metric and of its folder: letters, digits and underscores.
    statistics : bool
        Also write prepare() and a companion (default: score() alone).
    """

    name: str
    _: KW_ONLY
    statistics: bool = False


def run(options: Options) -> None:
    """Copy the template into a new folder, under the metric's name."""
    from podium.hosting.folders import new_folder
    from podium.metric import hosted

    name = options.name
    if not (name.isidentifier() and name.isascii()):
        raise UsageError(f"expected a name of letters, digits and underscores, found {name!r}")
    if name in hosted.names():
        raise UsageError(f"{name} is a built-in metric: expected another name")
    template = WITH_STATISTICS if options.statistics else PLAIN
    with new_folder(Path(name)) as folder:
        for source in sorted(template.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                target = folder / source.relative_to(template)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = source.read_text(encoding="utf-8").replace(TEMPLATE_NAME, name)
                target.write_text(text, encoding="utf-8", newline="")
    print(f"written to {name}\ntry it: podium check {name}")
    print(f"then change {name}/metric.py")
