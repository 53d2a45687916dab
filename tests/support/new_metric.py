"""A metric whose prepare() returns a class of its own, and copies of it with slips."""

from pathlib import Path

import pandas as pd

TEMPLATE = Path(__file__).parent / "class_metric"
SAMPLES = [str(TEMPLATE / "samples" / f"{name}.csv") for name in ("solution", "submission")]
SOLUTION, SUBMISSION = map(pd.read_csv, SAMPLES)


# What makes of the template a metric in the form that podium works with, which it need not adapt.
IN_FORM = {
    "prepared.statistics(submission)[:, 0].mean()": (
        "prepared.measures(sums_of_groups(prepared.statistics(submission), prepared.groups))[0]"
    ),
    "    # An item may": """    items = sorted(ids)
    group_of_item = group.set_axis(ids)[items]
    groups = sorted(set(group_of_item))
    # An item may""",
    "items=ids.tolist(),": "items=items,",
    "item_of_row=np.arange(len(ids)),": "item_of_row=pd.Index(items).get_indexer(pd.Index(ids)),",
    'groups={"group": group.tolist()},': """labels=[("group", name) for name in groups],
        groups=pd.Index(groups).get_indexer(pd.Index(group_of_item))[np.newaxis],""",
    "truth=truth.to_numpy(),": "truth=truth.set_axis(ids)[items].tolist(),",
    "groups: dict[str, list[str]]": "labels: list[tuple[str, str]]\n    groups: npt.NDArray[np.int64]",
    'f"group = {name}" for name in sorted(set(self.groups["group"]))': (
        'f"{attribute} = {value}" for attribute, value in self.labels'
    ),
    "!= sorted(self.items)": "!= self.items",
    "== self.truth": "== np.array(self.truth, dtype=object)",
    "np.ones(len(right))], axis=1)": "np.ones(len(right))], axis=1).astype(np.float64)",
    "# ---- Input": """def sums_of_groups(statistics: Any, groups: Any) -> Any:
    number = int(groups.max()) + 1
    columns = [
        sum(np.bincount(members, column, minlength=number) for members in groups) for column in statistics.T
    ]
    return np.stack(columns, axis=-1)


# ---- Input""",
    "import math\n": "import math\nfrom typing import Any\n",
}


def _in_form() -> str:
    """The text of the metric that is in form."""
    text = (TEMPLATE / "metric.py").read_text(encoding="utf-8")
    for old, new in IN_FORM.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


GROUPED = _in_form()


def metric_with(folder: Path, *edits: tuple[str, str]) -> Path:
    """A metric with these edits; what takes the place of nothing stands at the end."""
    text = GROUPED
    for old, new in edits:
        assert old in text
        text = text.replace(old, new) if old else f"{text}\n{new}\n"
    (folder / "metric.py").write_text(text, encoding="utf-8")
    return folder
