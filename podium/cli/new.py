"""Write a folder with a new metric, which you then edit.

    podium new my_metric
    podium check my_metric

It writes the file to upload, my_metric/metric.py, with a small solution and submission in my_metric/samples/.
With --labels the samples have the columns of your own labels, and the metric reads them.
With --statistics the file also has prepare(), which gives each row some numbers, so that podium computes
intervals and the score of each group of rows. Then there are a companion, a page and a test, too.
"""

import json
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
    labels : TABLE
        Labels with ids in the first column and answers in the last one, of which some rows become the samples
        (default: three rows of cats and dogs). Not with --statistics.
    """

    name: str
    _: KW_ONLY
    statistics: bool = False
    labels: Path | None = None


def run(options: Options) -> None:
    """Copy the template into a new folder, under the metric's name."""
    from podium.hosting import first_samples
    from podium.hosting.folders import new_folder, written_rows
    from podium.metric import hosted
    from podium.tables.formats import csv_bytes

    name = options.name
    if not (name.isidentifier() and name.isascii()):
        raise UsageError(f"expected a name of letters, digits and underscores, found {name!r}")
    if name in hosted.names():
        raise UsageError(f"{name} is a built-in metric: expected another name")
    if options.statistics and options.labels is not None:
        raise UsageError("--labels goes with score() alone, and --statistics writes more: give one of them")
    samples = None if options.labels is None else first_samples.of_labels(options.labels)
    template = WITH_STATISTICS if options.statistics else PLAIN
    with new_folder(Path(name)) as folder:
        for source in sorted(template.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                target = folder / source.relative_to(template)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = source.read_text(encoding="utf-8").replace(TEMPLATE_NAME, name)
                target.write_text(text, encoding="utf-8", newline="")
        if samples is not None:
            for kind, table in zip(("solution", "submission"), samples):
                (folder / "samples" / f"{kind}.csv").write_bytes(csv_bytes(written_rows(table)))
            _rename_label(folder / "metric.py", samples[1].columns[-1])
    print(f"written to {name}\ntry it: podium check {name}")
    print(f"then change {name}/metric.py")


def _rename_label(metric: Path, name: str) -> None:
    """Let the metric of the template read a column with another name than label."""
    text = metric.read_text(encoding="utf-8")
    for old, new in (("label", name), ("expected a column label", f"expected a column {name}")):
        text = text.replace(json.dumps(old), json.dumps(new, ensure_ascii=False))
    metric.write_text(text, encoding="utf-8", newline="")
