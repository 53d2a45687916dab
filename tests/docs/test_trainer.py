"""The recipe for a Trainer works with what a Trainer passes, and in a Trainer that trains a model."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from podium import hosted, spans

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "log-the-metric-in-training.md"
WORDS = {name: name.split()[0].lower() for name in spans.TYPES}
# All segments found, to the word, and half of a point for effectiveness each: F1 = 2·0.75 / (2·0.75 + 0.25).
BEST = 6 / 7
EPOCHS = 3


@pytest.fixture(scope="module")
def compute_metrics_of():
    """The function that the page defines."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(block, names)
    return names["compute_metrics_of"]


@pytest.fixture(scope="module")
def fold():
    """A fold to train on: texts whose words tell the type of their segment, ids, true segments, solution and
    tokenizer.
    """
    random = np.random.default_rng(0)
    texts, columns = [], []
    for essay in range(32):
        words: list[str] = []
        for kind in random.permutation(len(spans.TYPES)).tolist():
            words += ["and"] * int(random.integers(1, 4))
            size = int(random.integers(2, 9))
            columns.append((essay, len(words), len(words) + size - 1, kind))
            words += [WORDS[spans.TYPES[kind]]] * size
        texts.append(" ".join(words))
    essay, first, last, kinds = np.array(columns).T
    truths = spans.from_words(first, last, kinds, essay=essay)
    essay_ids = [f"essay {number}" for number in range(len(texts))]
    solution = spans.to_submission(truths, essay_ids).assign(
        discourse_effectiveness=essay % 2, ell_status="No", economically_disadvantaged="No"
    )

    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return texts, essay_ids, truths, solution, tokenizer


def test_the_recipe_scores_what_a_trainer_passes(compute_metrics_of, fold):
    texts, essay_ids, truths, solution, tokenizer = fold
    tokenizer.enable_truncation(24, stride=6)
    windows, essay = [], []
    for number, encoding in enumerate(tokenizer.encode_batch(texts)):
        parts = [encoding, *encoding.overflowing]
        windows += [part.offsets for part in parts]
        essay += [number] * len(parts)
    tokenizer.no_truncation()
    assert len(windows) > 2 * len(texts)
    tags = spans.bio_tags(texts, windows, truths, essay=essay)
    longest = max(map(len, windows)) + 3
    logits = np.full((len(windows), longest, len(spans.LABELS)), -100.0)  # as the Trainer pads
    for row, tag in zip(logits, tags):
        row[np.arange(len(tag)), np.maximum(tag, 0)] = 30
    encoded = {"offset_mapping": windows, "overflow_to_sample_mapping": essay}
    compute_metrics = compute_metrics_of(texts, essay_ids, encoded, solution, spans.LABELS)
    measures = compute_metrics(SimpleNamespace(predictions=logits, label_ids=None))
    assert measures["score"] == pytest.approx(BEST)
    assert measures["F1 of Lead"] == pytest.approx(BEST)
    assert all(re.fullmatch(r"[\w\-./ ]+", name) for name in measures)  # what MLflow takes
    assert compute_metrics(SimpleNamespace(predictions=np.zeros_like(logits), label_ids=None))["score"] == 0


def test_the_recipe_scores_texts_that_are_windows_of_their_own(compute_metrics_of, fold):
    texts, essay_ids, truths, solution, tokenizer = fold
    tokenizer.no_truncation()
    offsets = [encoding.offsets for encoding in tokenizer.encode_batch(texts)]
    tags = spans.bio_tags(texts, offsets, truths)
    logits = np.full((len(texts), max(map(len, offsets)), len(spans.LABELS)), -100.0)
    for row, tag in zip(logits, tags):
        row[np.arange(len(tag)), np.maximum(tag, 0)] = 30
    compute_metrics = compute_metrics_of(texts, essay_ids, {"offset_mapping": offsets}, solution, spans.LABELS)
    assert compute_metrics(SimpleNamespace(predictions=logits))["score"] == pytest.approx(BEST)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_recipe_in_a_trainer_that_trains(compute_metrics_of, fold, tmp_path, monkeypatch):
    """After a few seconds of training, a small BERT finds every segment."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))  # torch sets it and leaves it so
    torch = pytest.importorskip("torch", reason="needs torch, transformers and accelerate")
    transformers = pytest.importorskip("transformers", reason="needs torch, transformers and accelerate")
    pytest.importorskip("accelerate", reason="needs torch, transformers and accelerate")
    texts, essay_ids, truths, solution, tokenizer = fold
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]"
    )
    encoded = fast(
        texts,
        truncation=True,
        max_length=48,
        stride=8,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    windows = encoded["overflow_to_sample_mapping"]
    tags = spans.bio_tags(texts, encoded["offset_mapping"], truths, essay=windows)
    rows = [
        {"input_ids": ids, "attention_mask": mask, "labels": tag.tolist()}
        for ids, mask, tag in zip(encoded["input_ids"], encoded["attention_mask"], tags)
    ]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = transformers.BertConfig(
        vocab_size=len(fast),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=48,
        num_labels=len(spans.LABELS),
    )
    trainer = transformers.Trainer(
        model=transformers.BertForTokenClassification(config),
        args=transformers.TrainingArguments(
            output_dir=str(tmp_path),
            num_train_epochs=EPOCHS,
            per_device_train_batch_size=8,
            learning_rate=1e-2,
            eval_strategy="epoch",
            save_strategy="no",
            metric_for_best_model="score",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            seed=0,
        ),
        train_dataset=rows,
        eval_dataset=rows,
        data_collator=transformers.DataCollatorForTokenClassification(fast),
        compute_metrics=compute_metrics_of(texts, essay_ids, encoded, solution, dict(enumerate(spans.LABELS))),
    )
    untrained = trainer.evaluate()["eval_score"]
    trainer.train()
    scores = pd.Series([entry["eval_score"] for entry in trainer.state.log_history if "eval_score" in entry])
    assert len(scores) == EPOCHS
    assert untrained < 0.3
    assert 0.8 < scores.iloc[-1] <= BEST + 1e-9

    # What the Trainer says is the score of the file that its predictions make.
    logits = torch.tensor(trainer.predict(rows).predictions)
    probabilities = [
        window[: len(its)] for window, its in zip(torch.softmax(logits, dim=-1), encoded["offset_mapping"])
    ]
    segments = spans.from_tokens(texts, encoded["offset_mapping"], probabilities, spans.LABELS, essay=windows)
    submission = spans.to_submission(segments, essay_ids)
    assert hosted.module("unified").score(solution, submission, "row_id") == pytest.approx(scores.iloc[-1])
