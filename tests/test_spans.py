"""Model output becomes segments and segments become model output, without a loss.

The results are compared with examples by hand, with slow transcriptions, and after round trips.
"""

import functools
import itertools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import metric
import podium
from examples.essays import make_competition
from podium import spans
from podium.hosting.essays.corpus import read_corpus
from podium.hosting.essays.making import make
from podium.spans import (
    LABELS,
    TYPES,
    Spans,
    bio_tags,
    from_characters,
    from_table,
    from_tokens,
    from_words,
    vocabulary,
)  # fmt: skip
from podium.spans.segments import to_segments
from tests.support.corpora import make_corpus

BIOES = ["O", *(f"{prefix}-{name}" for name in TYPES for prefix in "BIES")]
PLAIN = ["O", *TYPES]
CLAIM, LEAD = TYPES.index("Claim"), TYPES.index("Lead")


def triples(segments: Spans) -> list[tuple[int, str, int, int]]:
    """The essay, the type, the first and the last word of each segment."""
    names = [TYPES[number] for number in segments.discourse_type]
    return list(zip(segments.essay.tolist(), names, segments.first.tolist(), segments.last.tolist()))


def offsets_of_words(text: str) -> list[tuple[int, int]]:
    """The offsets of a tokenizer that makes each word a token."""
    offsets, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        offsets.append((start, end))
    return offsets


def of_tags(*tags: str, labels: list[str] | tuple[str, ...] = LABELS, **options: object) -> Spans:
    """The segments of an essay whose words have these tags."""
    text = " ".join("w" * len(tags))
    return from_tokens(text, offsets_of_words(text), list(tags), labels, **options)


# --- tags ---------------------------------------------------------------------------------------------


def slow_segments(tags: list[str]) -> list[tuple[str, int, int, int]]:
    """Transcribe the rules for tags word by word: the type, the first and last word, and the repairs of each
    segment.
    """
    tagged = any(tag[:2] in ("B-", "S-") for tag in tags), any(tag[:2] in ("E-", "S-") for tag in tags)
    segments: list[list] = []
    is_open = False
    for word, tag in enumerate([*tags, "O"]):
        prefix, name = (tag[0], tag[2:]) if tag[1:2] == "-" else ("I", tag)
        if is_open and (name == "O" or name != segments[-1][0] or prefix in "BS"):
            segments[-1][3] += tagged[1]  # never closed
            is_open = False
        if name == "O":
            continue
        if not is_open:
            segments.append([name, word, word, int(tagged[0] and prefix not in "BS")])
        segments[-1][2] = word
        is_open = prefix not in "ES"
    return [tuple(segment) for segment in segments]


@pytest.mark.parametrize("labels", [LABELS, BIOES, PLAIN], ids=["BIO", "BIOES", "plain"])
@given(data=st.data())
def test_tags_become_segments_as_one_reads_them_word_by_word(labels, data):
    few = [label for label in labels if label == "O" or label.endswith(("Lead", "Claim"))]
    # The first two tags say which scheme is used.
    tags = [labels[1], "O", *data.draw(st.lists(st.sampled_from(few), max_size=12))]
    if labels is BIOES:
        tags = ["S-Lead", *tags]
    segments = of_tags(*tags, labels=labels)
    assert [(*t[1:], int(n)) for t, n in zip(triples(segments), segments.repaired)] == slow_segments(tags)


# --- tokens -------------------------------------------------------------------------------------------


def test_a_quotation_mark_of_its_own_is_part_of_its_word():
    segments = from_tokens('"Yes," he', [(0, 1), (1, 4), (4, 6), (7, 9)], ["O", "B-Lead", "O", "I-Lead"])
    assert triples(segments) == [(0, "Lead", 1, 1)]  # two of the first word's three tokens say O
    segments = from_tokens('"Yes he', [(0, 1), (1, 4), (5, 7)], ["O", "B-Lead", "I-Lead"])
    assert triples(segments) == [(0, "Lead", 0, 1)]


def test_a_word_without_a_token_is_inside_a_segment_that_goes_on_behind_it():
    text = "a ￼ c ￼ e"
    with pytest.warns(UserWarning, match="^2 of 5 words in 1 text have no token with a prediction"):
        segments = from_tokens(text, [(0, 1), (4, 5), (8, 9)], ["B-Claim", "I-Claim", "O"])
    assert triples(segments) == [(0, "Claim", 0, 2)]


def test_the_probability_of_a_segment_is_the_mean_of_its_words():
    probabilities = np.zeros((3, len(LABELS)))
    probabilities[0, LABELS.index("B-Claim")] = 0.75
    probabilities[0, 0] = 0.25
    probabilities[1, [LABELS.index("I-Claim"), LABELS.index("B-Claim"), 0]] = 0.25, 0.125, 0.3125
    probabilities[1, LABELS.index("I-Lead")] = 0.3125
    probabilities[2, 0] = 1
    segments = from_tokens("a b c", [(0, 1), (2, 3), (4, 5)], probabilities, LABELS)
    assert triples(segments) == [(0, "Claim", 0, 1)]  # b has more Claim than O, although less I-Claim than O
    assert segments.probability.tolist() == [(0.75 + 0.375) / 2]
    assert segments.d1.tolist() == [0.5]


def test_several_texts_and_those_without_a_window():
    with pytest.warns(UserWarning, match=r"^1 of 2 words in 1 text have no token with a prediction, as "):
        segments = from_tokens(["a b", "", "c d"], [[(0, 1)], [(0, 1), (2, 3)]], [["B-Lead"], ["O", "B-Claim"]],
                            essay=[0, 2])  # fmt: skip
    assert triples(segments) == [(0, "Lead", 0, 0), (2, "Claim", 1, 1)]


class Tensor:
    """A stand-in with what the tensors of different libraries have in common."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return Tensor(self.values[index])


def test_tensors_of_half_floats_with_padding():
    probabilities = np.zeros((2, 4, len(LABELS)), dtype=np.float16)
    probabilities[:, :, 0] = 1.0
    probabilities[1, 1, [0, 1]] = 0.25, 0.7505
    offsets = [[(0, 0), (0, 1), (0, 0), (0, 0)], [(0, 0), (0, 1), (2, 3), (0, 0)]]
    segments = from_tokens(["a", "b c"], Tensor(offsets), Tensor(probabilities), LABELS)
    assert triples(segments) == [(1, "Lead", 0, 0)]


# --- thresholds ---------------------------------------------------------------------------------------


def test_gaps_are_joined_before_segments_are_selected():
    tags = ["B-Lead", "I-Lead", "O", "B-Lead", "O", "O", "B-Claim", "O", "I-Claim", "B-Claim", "O", "I-Lead"]
    leads = [("Lead", 0, 1), ("Lead", 3, 3), ("Lead", 11, 11)]
    everything = [*leads[:2], ("Claim", 6, 6), ("Claim", 8, 8), ("Claim", 9, 9), leads[2]]
    assert [t[1:] for t in triples(of_tags(*tags))] == everything
    joined = of_tags(*tags, join_gap=1)
    assert [t[1:] for t in triples(joined)] == [("Lead", 0, 3), ("Claim", 6, 9), leads[2]]
    assert joined.repaired.tolist() == [0, 1, 1]
    assert triples(of_tags(*tags, join_gap=1, min_words=3)) == triples(joined)[:2]
    assert triples(of_tags(*tags, join_gap={"Lead": 1, "Claim": None}, min_words=3)) == [(0, "Lead", 0, 3)]
    assert triples(of_tags(*tags, join_gap=0)) == [
        (0, *each) for each in [*leads[:2], ("Claim", 6, 6), ("Claim", 8, 9), leads[2]]
    ]
    assert [t[1:] for t in triples(of_tags(*tags, min_words={"Claim": 2}))] == leads


def test_joined_segments_have_the_mean_of_their_words():
    joined = spans.join(from_words([0, 4], [2, 4], "Lead", probability=[1.0, 0.5], d1=[0.0, 1.0]), 2)
    assert triples(joined) == [(0, "Lead", 0, 4)]
    assert joined.probability.tolist() == [0.875]
    assert joined.d1.tolist() == [0.25]


def test_segments_of_two_essays_are_not_joined():
    segments = from_words([0, 2], [0, 2], "Lead", essay=[0, 1])
    assert triples(spans.join(segments, 9)) == triples(segments)
    assert triples(spans.join(segments[np.zeros(2, dtype=bool)], 9)) == []


# --- words and characters -----------------------------------------------------------------------------

SPACES = " \n\t\r\x0b\x0c\x1c\x85\u00a0\u2003\u2028\u3000"
TEXTS = st.text(
    st.one_of(st.sampled_from(SPACES + "  ab.’\u200b\ufeff\u2060é👍🏽"), st.characters()), max_size=40
)


def slow_word_positions(text: str, start: int, end: int) -> tuple[int, int]:
    """Transcribe the organizers' rule for the words of a segment."""
    first = len(text[:start].split())
    return first, min(first + len(text[start:end].split()), len(text.split())) - 1


@pytest.mark.filterwarnings("ignore:left out .* without a word of the text")
@given(texts=st.lists(TEXTS.filter(bool), min_size=1, max_size=3), data=st.data())
def test_characters_become_words_by_the_organizers_rule(texts, data):
    essay = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=5))
    starts = [data.draw(st.integers(0, len(texts[n]) - 1)) for n in essay]
    ends = [data.draw(st.integers(start + 1, len(texts[n]))) for n, start in zip(essay, starts)]
    made = [slow_word_positions(texts[n], a, b) for n, a, b in zip(essay, starts, ends)]
    segments = from_characters(texts, starts, ends, "Claim", essay=essay)
    assert [t[2:] for t in triples(segments)] == [(a, b) for a, b in made if a <= b]


@pytest.mark.filterwarnings("ignore:.* have no token with a prediction")
@given(text=TEXTS, data=st.data())
def test_tokens_belong_to_the_word_of_their_middle(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    visible = [place for place in range(start, end) if not text[place].isspace()]
    # The word of a character is the last of those that begin up to it.
    expected = [len(text[: visible[len(visible) // 2] + 1].split()) - 1] if visible else []
    segments = from_tokens(text, [(start, end)], ["B-Claim"])
    assert segments.first.tolist() == segments.last.tolist() == expected


# --- round trips --------------------------------------------------------------------------------------


def disjoint(random: np.random.Generator, numbers_of_words: list[int]) -> Spans:
    """Segments that share no words; some of them touch, and some have a single word."""
    columns: list[tuple[int, int, int, int]] = []
    for essay, number in enumerate(numbers_of_words):
        cuts = np.sort(random.permutation(number + 1)[: random.integers(0, number + 2)])
        for first, behind in zip(cuts[:-1].tolist(), cuts[1:].tolist()):
            if random.random() < 0.7:
                columns.append((essay, first, behind - 1, int(random.integers(len(TYPES)))))
    essay, first, last, types = np.array(columns, dtype=np.int64).reshape(-1, 4).T
    return from_words(first, last, types, essay=essay)


@pytest.mark.parametrize("labels", [LABELS, BIOES], ids=["BIO", "BIOES"])
@given(text=TEXTS, seed=st.integers(0, 2**32 - 1))
def test_tags_and_back_on_any_text_and_tokens(labels, text, seed):
    random = np.random.default_rng(seed)
    tokens = [(0, 0)]
    end = 0
    for start, stop in offsets_of_words(text):
        cuts = sorted({start, stop, *random.integers(start, stop + 1, 2).tolist()})
        for a, b in itertools.pairwise(cuts):
            before = int(random.integers(end, a + 1)) if a == start else a  # some texts begin with white space
            # Several tokens can be the bytes of one character.
            tokens += [(before, b)] * int(random.integers(1, 4) if b - a == 1 else 1)
        end = stop
    truths = disjoint(random, [len(text.split())])
    tags = bio_tags(text, tokens, truths, labels)
    assert triples(from_tokens(text, tokens, tags, labels)) == triples(truths)
    assert not from_tokens(text, tokens, tags, labels).repaired.any()

    # The windows share tokens with their neighbors.
    size, stride = int(random.integers(4, 9)), int(random.integers(0, 3))
    windows = [tokens[i : i + size] for i in range(0, max(len(tokens) - stride, 1), size - stride)]
    parts = bio_tags([text], windows, truths, labels, essay=[0] * len(windows))
    # If a character has several tokens, a window may end within it.
    whole = all(tokens.count(token) == 1 for token in tokens)
    if whole:
        segments = from_tokens([text], windows, parts, labels, essay=[0] * len(windows))
        assert triples(segments) == triples(truths)


WORDS = ["Students", "shouldn't", "college,", "the", "“unfair”", "naïve", "👍🏽", "e-mail", "I", "phones.",
         "café", "\u200bzero", "3.5", "don’t", "...", "Ωmega", "ﬁne"]  # fmt: skip
GAPS = [" ", " ", " ", "  ", "\n\n", "\u00a0", "\t", " \u2003"]


def make_texts(number: int, seed: int) -> list[str]:
    """Essays of words and white space of all kinds."""
    random = np.random.default_rng(seed)
    texts = []
    for _ in range(number):
        size = int(random.integers(1, 120))
        texts.append("".join(random.choice(WORDS) + random.choice(GAPS) for _ in range(size)))
    return texts


@functools.cache
def tokenizer_of(kind: str) -> Tokenizer:
    """A fast tokenizer of one of the common kinds, trained on these texts."""
    special = ["[UNK]", "[CLS]"]
    if kind == "byte-level BPE":  # as RoBERTa's and Longformer's
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=special,
                                      show_progress=False)  # fmt: skip
    elif kind == "WordPiece":  # as BERT's
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False)
    else:  # Unigram, as DeBERTa's
        tokenizer = Tokenizer(models.Unigram())
        white_space = normalizers.Replace(Regex(r"\s+"), " ")
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), white_space])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=special, unk_token="[UNK]",
                                          show_progress=False)  # fmt: skip
    tokenizer.train_from_iterator(make_texts(60, seed=1), trainer)
    return tokenizer


# Every kind of tokenizer, with one of the schemes.
TOKENIZERS = {"byte-level BPE": LABELS, "WordPiece": BIOES, "Unigram": LABELS}
KINDS = pytest.mark.parametrize(("kind", "labels"), TOKENIZERS.items(), ids=TOKENIZERS)


@KINDS
def test_tags_and_back_in_windows_with_a_stride(kind, labels):
    tokenizer = tokenizer_of(kind)
    tokenizer.enable_truncation(max_length=64, stride=24)
    texts = make_texts(40, seed=4)
    truths = disjoint(np.random.default_rng(5), [len(text.split()) for text in texts])
    windows, essay = [], []
    for number, encoding in enumerate(tokenizer.encode_batch(texts)):
        for window in [encoding, *encoding.overflowing]:
            windows.append(window.offsets)
            essay.append(number)
    assert len(windows) > 2 * len(texts)
    tags = bio_tags(texts, windows, truths, labels, essay=essay)
    order = np.random.default_rng(6).permutation(len(windows))
    segments = from_tokens(texts, [windows[n] for n in order], [tags[n] for n in order], labels,
                        essay=np.array(essay)[order])  # fmt: skip
    assert triples(segments) == triples(truths)


def test_what_podium_make_makes_of_a_corpus_comes_from_characters_too(tmp_path):
    """The same segments come from the text with its character offsets, although some overlap."""
    table = make_corpus(60, seed=8)
    table["full_text"] = table["full_text"].str.replace("www ", "“w”\u2003")
    longer = np.random.default_rng(9).random(len(table)) < 0.2
    ends = np.minimum(table["discourse_end"] + 12 * longer, table["full_text"].str.len())
    table["discourse_end"] = ends
    codes, essay_ids = pd.factorize(table["essay_id_comp"])
    texts = table.drop_duplicates("essay_id_comp")["full_text"].tolist()
    table.drop(columns="predictionstring").to_csv(tmp_path / "corpus.csv", index=False)
    files = make(read_corpus(tmp_path / "corpus.csv"), [])
    made = pd.concat([files.public["train.csv"], files.private["solution.csv"]])
    names = ["essay_id", "discourse_type", "predictionstring"]
    truth = sorted(made[names].itertuples(index=False, name=None))
    assert len(truth) > 200

    segments = from_characters(texts, table["discourse_start"], ends, table["discourse_type"], essay=codes)
    scored = spans.without_overlaps(segments)
    assert scored.words.sum() < segments.words.sum()
    submission = spans.to_submission(scored, essay_ids)
    assert sorted(submission[names].itertuples(index=False, name=None)) == truth

    assert from_table(made, essay_ids).d1.tolist() == made["discourse_effectiveness"].tolist()


# --- to the score -------------------------------------------------------------------------------------


def test_spans_are_scored_as_the_submission_that_they_make_to_the_last_bit():
    solution, submission = make_competition(300, seed=4)
    fold = podium.prepare(solution)
    prepared = fold.prepared["All"]
    essay_ids = [*sorted(set(submission["essay_id"]), reverse=True), "not in the solution"]
    predicted = from_table(submission, essay_ids)
    predicted += from_words(3, 9, "Lead", essay=len(essay_ids) - 1)
    predicted = predicted.with_effectiveness(np.random.default_rng(0).random(len(predicted)))
    frame = spans.to_submission(predicted, essay_ids)
    segments = to_segments(fold, predicted, essay_ids)
    for ours, theirs in zip(segments, prepared.read(frame)):
        np.testing.assert_array_equal(ours, theirs)
    assert spans.score(fold, predicted, essay_ids) == metric_score(prepared, frame) > 0.1
    assert spans.measures(fold, predicted, essay_ids) == podium.score(fold, frame).loggable


def metric_score(prepared: metric.Prepared, frame: pd.DataFrame) -> float:
    """The score by the hosted file's own steps."""
    return float(prepared.measures(metric.sums_of_groups(prepared.statistics(frame), prepared.groups))[0])


# --- bad input ----------------------------------------------------------------------------------------

GOOD = ("a b", [(0, 1), (2, 3)])
ONE = from_words([0], [2], "Lead")
THEIRS = pd.DataFrame({"id": ["A"], "class": ["Lead"]})
GAPPED = pd.DataFrame({"essay_id": ["B", "A"], "discourse_type": "Lead", "predictionstring": ["", "2 1"]})
TORN = GAPPED.assign(predictionstring="1").assign(
    score_discourse_effectiveness_0=[0.9, 0.5], score_discourse_effectiveness_1=[0.7, 0.5]
)
PROBABILITIES = np.eye(len(LABELS))[[0, 1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_tokens(*GOOD, ["O"]), "number of each, found 2 tokens of window 0, 1 predictions"),
        (lambda: from_tokens(["a b"], [[(0, 1)], [(0, 1)]], [["O"]]), "found 1 texts, 2 windows of offset_"),
        (lambda: from_tokens(["a"], [[(0, 1)]], [["O"]], essay=[1]), "indices .* window 0 of essay 1: 1"),
        (lambda: from_tokens(["a"], [[(0, 1)]], [["O"]], essay=["A"]), "found 'A' for window 0; number the"),
        (lambda: from_tokens("a b", [(0, 1), (2, 4)], ["O", "O"]), "token 1 of window 0: 2 to 4 of 3 char"),
        (lambda: from_tokens(["a"] * 2, [[(0, 1)], [(0, 3)]], [["O"]] * 2), "token 0 of window 1: 0 to 3"),
        (lambda: from_tokens("a b", [0, 2], ["O", "O"]), r"found an array of shape \(2,\) in window 0"),
        (lambda: from_tokens(*GOOD, np.where(PROBABILITIES == 1, np.nan, 0), LABELS), "softmax of logits"),
        (lambda: from_tokens(*GOOD, ["O", "O"], [*LABELS, "o"]), "labels: expected each label once, and all "),
        (lambda: from_tokens(*GOOD, PROBABILITIES[:, :8], LABELS), "15 probabilities per token, .*, found 8"),
        (lambda: from_tokens(*GOOD, ["O", "O"], ["O", "B-Lead", "X-Lead"]), "found 'X-Lead'"),
        (lambda: from_tokens(*GOOD, ["O", "O"], ["O", "Lead", "I-Claim"]), "a prefix or none"),
        (lambda: from_characters("a b", [0, 2], [1, 4], "Lead"), "segment 1 of essay 0: 2 to 4 of 3 "),
        (lambda: from_characters("a b", [0, 2], [1], "Lead"), "found 2 starts, 1 ends"),
        (lambda: from_words([3], [2], "Lead"), r"a last word not before it, up to 99999. .*: 3 to 2"),
        (lambda: from_words([0], [100_000], "Lead"), "0 to 100000"),
        (lambda: from_words([0.5], [2], "Lead"), "first: expected a whole number for every segment, found 0.5"),
        (lambda: from_words([0, 0], [2, 2], [0, 7]), "found 7 for segment 1"),
        (lambda: bio_tags(*GOOD, from_words([0, 1], [1, 1], "Lead")), "common words, .* essay 0: 0 to 1"),
        (lambda: spans.from_word_ids([[0, 1, 0]], [["O"] * 3]), "ascend within .* in token 2 of window 0: 0"),
        (lambda: bio_tags(*GOOD, ONE), "within the words of their text.*: 0 to 2 of 2"),
        (lambda: bio_tags(*GOOD, from_words([0], [1], "Lead"), ["O", "B-Lead"]), "expected also 'I-Lead'"),
        (lambda: from_table(THEIRS, ["A"]), "one column predictionstring, found essay_id, disc"),
        (lambda: from_table(GAPPED, ["x"]), "ids of the table, such as 'B', found none of them but 'x'"),
        (lambda: from_table(GAPPED, ["A"]), r"without a gap. Wrong in 1 of 2 rows, .*1 of essay A: '2 1'"),
        (lambda: from_table(TORN, ["B"]), r"to 1. Wrong in 1 of 2 rows, first in row 0 of essay B: 0.9 \+ 0.7"),
        (lambda: spans.select(ONE, min_probability={"Claim": 50}), "min_probability: .*, found 50"),
        (lambda: spans.select(ONE, min_words={"clame": 3}), "min_words: .*, found 'clame'"),
        (lambda: spans.select(ONE, most="one"), "most: expected a number, or numbers by type, found 'one'"),
        (lambda: spans.join(ONE, {"Lead": [2]}), "gap: expected a number, or numbers by type, found {'Lead"),
        (lambda: spans.average([ONE, ONE], ["a", 1]), "above 0 for each of 2 models, found \\['a', 1\\]"),
        (lambda: spans.average([]), "several: expected the segments of at least one model, found none"),
        (lambda: spans.from_word_labels([[[0.1, 0.9], [1]]], ["O", "Lead"]), "lists of different lengths in"),
        (lambda: spans.to_submission(ONE, [None, "B"]), "expected an id for each text, found none for text 0"),
        (lambda: Spans([0], [0.7], [1], [0], [1], [1], [0]), "first: expected a whole number .* found 0.7 for"),
        (lambda: Spans([0], [0], [1], ["Lead"], [1], [1], [0]), "discourse_type: expected a whole number for"),
        (lambda: ONE[None], r"essay: expected one value for each segment, found array"),
    ],
)
def test_bad_input_is_told_what_was_expected_where_and_what_was_found(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_probabilities_may_be_objects_and_labels_may_be_in_another_case():
    """A table with a column of texts holds numbers as objects; o is O for training, too."""
    labels = ["o", "b-lead", "i-lead"]
    tags = bio_tags(*GOOD, from_words(1, 1, "Lead", texts="a b"), labels)
    assert (
        tags.tolist() == bio_tags(*GOOD, from_words(1, 1, "Lead", texts="a b"), LABELS[:3]).tolist() == [0, 1]
    )
    for probabilities in (np.eye(3)[tags].astype(object), np.eye(3)[tags].astype(str)):
        assert from_tokens(*GOOD, probabilities, labels).first.tolist() == [1]


def test_whole_floats_are_positions():
    """The Feedback Prize's training data have the positions of characters as 8.0 and 229.0."""
    floats = from_characters(["I agree. Ban it."], pd.Series([0.0, 9.0]), pd.Series([8.0, 16.0]), "Claim")
    assert floats.to_frame().equals(from_characters(["I agree. Ban it."], [0, 9], [8, 16], "Claim").to_frame())


def test_a_score_needs_the_id_of_every_text():
    fold = podium.prepare(pd.read_csv("solution_sample.csv"))
    with pytest.raises(ValueError, match=r"such as .*, found none of them but 'A'"):
        spans.score(fold, from_words(0, 3, "Lead"), ["A"])
    segments = spans.from_words([0, 0], [1, 1], "Claim", essay=[0, 2])
    for function in (spans.score, spans.measures):
        with pytest.raises(ValueError, match=r"indices of the 2 essays, .* segment 1 of essay 2: 2"):
            function(fold, segments, ["A", "B"])


@pytest.mark.parametrize(
    "use",
    [
        lambda fold, ids: spans.to_submission(from_words([0, 0], [2, 3], "Lead", essay=[0, 2]), ids),
        lambda fold, ids: spans.score(fold, from_words(0, 2, "Lead"), ids),
        lambda fold, ids: from_table(fold.frame, ids),
    ],
    ids=["to_submission", "score", "from_table"],
)
def test_two_texts_never_share_an_id(use):
    """An id of two texts would make one essay of them, as when windows are taken for texts."""
    fold = podium.prepare(pd.read_csv("solution_sample.csv"))
    with pytest.raises(ValueError, match=r"a different id for each text, .* found '7' for texts 0 and 2, "):
        use(fold, ["7", "B", 7])


def test_ids_that_pandas_made_floats_are_those_of_the_solution():
    """A column of ids with a gap has such numbers, and the submission with them was understood already."""
    solution, submission = make_competition(4, seed=1, shared_words=False)
    number = {essay: place for place, essay in enumerate(solution["essay_id"].unique(), 1)}
    fold = podium.prepare(solution.assign(essay_id=solution["essay_id"].map(number)))
    segments = from_table(submission, [*number])
    ids = [float(place) for place in number.values()]
    scored = podium.score(fold, spans.to_submission(segments, ids)).score
    assert spans.score(fold, segments, ids) == scored == spans.score(fold, segments, [*number.values()])


def test_an_object_of_another_type_is_told_what_makes_the_right_one():
    solution, submission = make_competition(4, seed=1, shared_words=False)
    fold = podium.prepare(solution)
    of_segments = r"expected podium.spans.Spans, as from_table\(\) and the like make them, found DataFrame$"
    for call in (
        lambda: spans.join(submission, 1),
        lambda: spans.without_overlaps(submission),
        lambda: bio_tags(*GOOD, submission),
        lambda: spans.score(fold, submission, ["A"]),
        lambda: spans.average([ONE, submission]),
        lambda: spans.concat([ONE, submission]),
    ):
        with pytest.raises(TypeError, match=of_segments):
            call()
    with pytest.raises(TypeError, match=r"^solution: expected what podium.prepare returned, found DataFrame$"):
        spans.score(solution, ONE, ["A"])


def test_segments_are_scored_by_the_unified_metric_alone(tmp_path):
    """Another metric's solution ended in an AttributeError, or in an error of that metric."""
    file = tmp_path / "equal.py"
    file.write_text("def score(solution, submission, row_id_column_name):\n    return 1.0\n")
    fold = podium.prepare(pd.DataFrame({"id": ["A"], "label": ["x"]}), metric=file)
    for call in (lambda: spans.score(fold, ONE, ["A"]), lambda: podium.tuning.tune(fold, pd.DataFrame())):
        with pytest.raises(
            TypeError, match=r"^solution: .* prepared for the Unified Metric, found one for equal$"
        ):
            call()


# --- without the metric -----------------------------------------------------------------------------


def test_names_and_limits_are_the_metric_s():
    assert vocabulary.TYPES == metric.DISCOURSE_TYPES
    assert (vocabulary.LABEL, vocabulary.PROBABILITIES) == (metric.LABEL_COLUMN, metric.PROBABILITY_COLUMNS)
    assert vocabulary.LAST_POSITION == metric.LAST_POSITION


def test_the_functions_are_there_without_the_metric_and_its_companion():
    code = (
        "import sys, podium; podium.score, podium.spans, podium.tuning;"
        "assert not [name for name in sys.modules if name.startswith('podium_metrics')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
