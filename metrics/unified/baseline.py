"""The baseline of the starter notebook, which participants get: a rule about paragraphs."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

TENTHS = 10
BLOCKS = 8  # of an essay without paragraphs


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Find the first and the last word of each paragraph."""
    lengths = [len(line.split()) for line in text.split("\n") if line.strip()]
    if len(lengths) < 2:
        lengths = [len(block) for block in np.array_split(np.arange(sum(lengths)), BLOCKS) if len(block)]
    ends = np.cumsum(lengths).tolist()
    return [(end - length, end - 1) for end, length in zip(ends, lengths)]


def predict(
    learned: pd.DataFrame, ids: Sequence[str], read: Callable[[str], pd.DataFrame | None]
) -> pd.DataFrame:
    """Call each paragraph what is most frequent at its place, and as effective as that usually is."""
    learned = learned[["essay_id", "discourse_type", "discourse_effectiveness", "predictionstring"]]
    tables = [read(name) for name in ("train_essays.csv", "test_essays.csv")]
    if any(table is None for table in tables):  # Without texts, every essay gets the segments of another one.
        names = learned["essay_id"].unique()
        models = pd.DataFrame({"model": np.resize(names, len(ids)), "essay_id": ids})
        found = models.merge(learned.rename(columns={"essay_id": "model"}), on="model")
        found = found[["essay_id", "discourse_type", "predictionstring"]]
    else:
        texts = pd.concat(tables).set_index("essay_id")["full_text"].fillna("")
        words = learned["predictionstring"].str.split()
        middle = (words.str[0].astype(int) + words.str[-1].astype(int)) / 2
        length = {essay: max(len(text.split()), 1) for essay, text in texts.items()}
        lengths = learned["essay_id"].map(length)
        tenth = (TENTHS * middle / lengths).astype(int).clip(upper=TENTHS - 1)
        usual = learned.groupby(tenth)["discourse_type"].agg(lambda types: types.mode()[0])
        usual = usual.reindex(range(TENTHS)).ffill().bfill()
        rows = []
        for essay in ids:
            found_here = paragraphs(texts.get(essay, ""))
            for first, last in found_here:
                place = int(TENTHS * (first + last) / 2 / (found_here[-1][1] + 1))
                rows.append((essay, usual[place], " ".join(map(str, range(first, last + 1)))))
        found = pd.DataFrame(rows, columns=["essay_id", "discourse_type", "predictionstring"])
    effective = learned.groupby("discourse_type")["discourse_effectiveness"].mean()
    numbers = (found.groupby("essay_id").cumcount() + 1).astype(str)
    found.insert(0, "row_id", found["essay_id"] + ":" + numbers)
    found["score_discourse_effectiveness_1"] = found["discourse_type"].map(effective).fillna(0.5).round(3)
    found["score_discourse_effectiveness_0"] = (1 - found["score_discourse_effectiveness_1"]).round(3)
    return found
