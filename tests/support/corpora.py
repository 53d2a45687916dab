"""Made-up annotated corpora in the form of PERSUADE and the Feedback Prize, for tests and benchmarks."""

import numpy as np
import pandas as pd

from examples.essays import make_competition
from podium.metric import hosted

metric = hosted.module("unified")

LABELS = np.array(["Ineffective", "Adequate", "Effective"], dtype=object)
PROMPTS = np.array([f"Prompt {number}" for number in range(15)], dtype=object)


def make_corpus(essays: int, seed: int = 0) -> pd.DataFrame:
    """A corpus without faults: one row for each segment, whose text, offsets and predictionstring agree."""
    truth, _ = make_competition(essays, seed, shared_words=False)
    random = np.random.default_rng(seed)
    first, last = metric.parse_predictionstrings(truth["predictionstring"].tolist())
    codes = pd.factorize(truth["essay_id"])[0]
    longest = pd.Series(last).groupby(codes).max().to_numpy() + 3
    vocabulary = np.array(["w" * size for size in range(1, 9)], dtype=object)
    texts, starts, ends = [], [], []
    for number in longest.tolist():
        sizes = random.integers(1, 9, number)
        texts.append(" ".join(vocabulary[sizes - 1]))
        ends.append(np.cumsum(sizes + 1) - 1)
        starts.append(ends[-1] - sizes)
    effective = truth["discourse_effectiveness"].to_numpy()
    return pd.DataFrame(
        {
            "essay_id_comp": truth["essay_id"],
            "full_text": pd.Series(np.array(texts, dtype=object)[codes], dtype=object),
            "discourse_id": np.arange(len(truth)),
            "discourse_start": [float(starts[essay][word]) for essay, word in zip(codes, first)],
            "discourse_end": [float(ends[essay][word]) for essay, word in zip(codes, last)],
            "discourse_type": truth["discourse_type"],
            "predictionstring": truth["predictionstring"],
            "discourse_effectiveness": LABELS[
                np.where(effective == 1, 2, random.integers(0, 2, len(effective)))
            ],
            "gender": "F",
            "ell_status": truth["ell_status"],
            "economically_disadvantaged": truth["economically_disadvantaged"],
        }
    )


def add_prompts(corpus: pd.DataFrame) -> pd.DataFrame:
    """Add the prompt that each essay answers."""
    codes, ids = pd.factorize(corpus["essay_id_comp"])
    return corpus.assign(prompt_name=PROMPTS[np.random.default_rng(1).integers(0, 15, len(ids))][codes])
