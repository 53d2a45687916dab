"""The recipe for a Trainer works with what a Trainer passes."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from podium import spans
from tests.test_spans import disjoint, make_texts, tokenizer_of

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "score-a-fold.md"
# All segments found, to the word, and half of a point for effectiveness each: F1 = 2·0.75 / (2·0.75 + 0.25).
BEST = 6 / 7


@pytest.fixture(scope="module")
def compute_metrics_of():
    """The function that the page defines."""
    (block,) = re.findall(r"```python\n(import numpy.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(block, names)
    return names["compute_metrics_of"]


@pytest.fixture(scope="module")
def fold():
    """A fold to train on: texts, ids, true segments, solution and tokenizer."""
    texts = make_texts(32, seed=2)
    truths = disjoint(np.random.default_rng(0), [len(text.split()) for text in texts])
    essay_ids = [f"essay {number}" for number in range(len(texts))]
    solution = spans.to_submission(truths, essay_ids).assign(
        discourse_effectiveness=np.arange(len(truths)) % 2, ell_status="No", economically_disadvantaged="No"
    )
    return texts, essay_ids, truths, solution, tokenizer_of("byte-level BPE")


@pytest.mark.parametrize("has_windows", [True, False])
def test_the_recipe_scores_what_a_trainer_passes(compute_metrics_of, fold, has_windows):
    """Long texts are cut into windows, and where they are not, the tokenizer names no essays for them."""
    texts, essay_ids, truths, solution, tokenizer = fold
    if has_windows:
        tokenizer.enable_truncation(24, stride=6)
    windows, essay = [], []
    for number, encoding in enumerate(tokenizer.encode_batch(texts)):
        parts = [encoding, *encoding.overflowing]
        windows += [part.offsets for part in parts]
        essay += [number] * len(parts)
    tokenizer.no_truncation()
    assert (len(windows) > 2 * len(texts)) == has_windows
    tags = spans.bio_tags(texts, windows, truths, essay=essay)
    logits = np.full((len(windows), max(map(len, windows)) + 3, len(spans.LABELS)), -100.0)  # as it pads
    for row, tag in zip(logits, tags):
        row[np.arange(len(tag)), np.maximum(tag, 0)] = 30
    encoded = {"offset_mapping": windows} | ({"overflow_to_sample_mapping": essay} if has_windows else {})
    compute_metrics = compute_metrics_of(texts, essay_ids, encoded, solution, spans.LABELS)
    measures = compute_metrics(SimpleNamespace(predictions=logits, label_ids=None))
    assert measures["score"] == pytest.approx(BEST)
    assert measures["F1 of Lead"] == pytest.approx(BEST)
    assert all(re.fullmatch(r"[\w\-./ ]+", name) for name in measures)  # what MLflow takes
    assert compute_metrics(SimpleNamespace(predictions=np.zeros_like(logits), label_ids=None))["score"] == 0
    # A model that returns hidden states makes a tuple, and batches differ in their padding.
    assert compute_metrics(SimpleNamespace(predictions=(logits, None), label_ids=None)) == measures
    half, longest = len(windows) // 2, max(map(len, windows))
    assert (
        compute_metrics(SimpleNamespace(predictions=logits[:half, : longest + 1]), compute_result=False) == {}
    )
    assert compute_metrics(SimpleNamespace(predictions=logits[half:]), compute_result=True) == measures
    with pytest.raises(ValueError, match="leave preprocess_logits_for_metrics out"):
        compute_metrics(SimpleNamespace(predictions=logits.argmax(axis=-1)))
