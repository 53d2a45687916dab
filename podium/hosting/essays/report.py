"""What a host should look at in a corpus of essays, and the report's sections about the writers."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from podium.common.wording import counted
from podium.hosting import columns
from podium.hosting.essays.corpus import EFFECTIVENESS, FULL_TEXT, UNTOLD, Corpus
from podium.hosting.essays.places import BEYOND, CONTRADICTED, COUNTED, DIFFERENT
from podium.hosting.folders import section
from podium.hosting.splitting import TRAIN, Texts
from podium.scoring.evaluating import PARTS
from podium.scoring.explain import SMALL_SUBPOPULATION
from podium.spans.segments import unified
from podium.spans.vocabulary import LABEL, PROBABILITIES

TWICE = "segments that repeat an earlier one of their essay: does the corpus contain essays twice?"
TWINS = "essays with the text of another one: kept together"
WARNED = (BEYOND, COUNTED, DIFFERENT, CONTRADICTED, TWICE, TWINS)
# With fewer segments per essay, the column may name segments instead of essays. The Feedback Prize has 9.
FEW_SEGMENTS = 1.5


def warnings_of_counts(counts: Mapping[str, int], segments: int, essays: int, named: str) -> list[str]:
    """List what the host should look at; `named` is the column that names the essays."""
    warnings = [f"{what}: {counts[what]:,}" for what in WARNED if counts[what]]
    if segments < FEW_SEGMENTS * essays:
        few = f"{segments:,} segments in {essays:,} essays"
        warnings.insert(0, f"{few}: does {named} name the essays, or their segments?")
    return warnings


def warnings_of_columns(corpus: Corpus, chosen: pd.DataFrame, is_drawn: bool) -> list[str]:
    """Say which names are odd, what is missing, and whether the corpus is split although parts are drawn."""
    warnings = [*columns.doubts_of_names(corpus.names), *(corpus.doubts_of_split if is_drawn else ())]
    if FULL_TEXT not in chosen:
        warnings.append(
            f"the corpus has no column {FULL_TEXT}: put the texts of the essays into public/ yourself"
        )
    elif empty := sum(not text for text in chosen[FULL_TEXT].tolist()):
        warnings.append(f"{FULL_TEXT} is empty in {counted(empty, 'essay')}: participants get no text there")
    if LABEL not in corpus.columns:
        warnings.append(
            f"the corpus has no {LABEL}: every segment counts as {UNTOLD}, written as {EFFECTIVENESS[UNTOLD]}, "
            f"which tells nothing; {PROBABILITIES[1]} is best always 1"
        )
    return warnings


def about_writers(chosen: pd.DataFrame, part: Texts, writers: list[str], attributes: list[str]) -> list[str]:
    """Write the report's sections about the writers: missing values, sub-populations, and small ones."""
    missing = chosen[writers].isna().sum().to_dict()
    sizes = _subpopulations(chosen, part, attributes)
    return [
        section("Missing, in essays", ("attribute", "missing"), missing.items()),
        section("Sub-populations, in essays", ("attribute", "value", TRAIN, *PARTS), sizes),
        *_small(sizes),
    ]


def _subpopulations(essays: pd.DataFrame, part: Texts, attributes: list[str]) -> list[list[Any]]:
    """List the sub-populations: attribute, value, and the numbers of essays in each part."""
    rows, missing = [], unified().MISSING
    for attribute in attributes:
        sizes = pd.crosstab(essays[attribute].fillna(missing), part).reindex(
            columns=[TRAIN, *PARTS], fill_value=0
        )
        for value in sorted(sizes.index, key=lambda value: (value == missing, value)):
            rows.append([attribute, value, *map(int, sizes.loc[value])])
    return rows


def _small(sizes: list[list[Any]]) -> list[str]:
    """Write the report's paragraph about sub-populations that are too small."""
    small = [
        f"* {attribute} = {value}: {number:,} {name} essays"
        for attribute, value, _, *numbers in sizes
        for name, number in zip(PARTS, numbers)
        if number < SMALL_SUBPOPULATION
    ]
    why = f"Too small for the softmin (fewer than {SMALL_SUBPOPULATION} essays): a low score by chance "
    return [f"{why}gets a large weight.", "\n".join(small)] if small else []
