"""On the way from a model's output to segments nothing changes its meaning: it is read as meant, or refused."""

import inspect
import unicodedata
import warnings

import numpy as np
import pandas as pd
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from podium import spans, tuning
from podium.spans import from_pipeline, from_quotes, from_tokens, from_word_ids, from_words
from tests.test_spans import disjoint, make_texts, offsets_of_words, tokenizer_of, triples
from tests.test_spans_sources import ALPHABETICAL, probabilities_of

# --- by position --------------------------------------------------------------------------------------

TEXTS = ["I agree. Ban it.", "Alpha beta gamma delta epsilon."]
OFFSETS = [offsets_of_words(text) for text in TEXTS]
TAGS = [["B-Claim", "I-Claim", "O", "O"], ["O", "B-Lead", "I-Lead", "O", "O"]]
PARTS = [from_words([0, 5], [3, 9], ["Lead", "Claim"], essay=[0, 1]), from_words(0, 3, "Lead", essay=0)]
OUTPUTS = [[{"entity_group": "Claim", "start": 0, "end": 8}], [{"entity_group": "Lead", "start": 0, "end": 16}]]

# Functions with arguments that have an order.
CALLS = {
    spans.from_tokens: {"texts": TEXTS, "offset_mapping": OFFSETS, "predictions": TAGS},
    spans.from_words: {"first": [9, 0], "last": [16, 8], "types": ["Lead", "Claim"], "essay": [1, 0]},
    spans.average: {"several": PARTS, "weights": [2, 1]},
}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_every_argument_with_an_order_is_read_by_position(function):
    ordered = CALLS[function]
    expected = repr(function(**ordered))
    backwards = {name: pd.Series(list(values), index=[1, 0]) for name, values in ordered.items()}
    assert repr(function(**backwards)) == expected
    assert repr(function(**{name: tuple(values) for name, values in ordered.items()})) == expected
    names = [*ordered]
    for name, another in zip(names, [*names[1:], names[0]]):
        for unordered in (dict(enumerate(ordered[name])), (each for each in ordered[name])):
            with pytest.raises(TypeError, match=rf"^{name}: expected a list"):
                function(**{**ordered, name: unordered})
        exchanged = pd.Series(list(ordered[another]), index=[0, 1])
        with pytest.raises(ValueError, match="Series in the same order"):
            function(**{**backwards, another: exchanged})


def test_no_public_function_reads_by_labels():
    public = [getattr(spans, name) for name in spans.__all__]
    functions = [each for each in public if inspect.isfunction(each)]
    methods = [spans.Spans.to_frame, spans.Spans.with_effectiveness, spans.Spans.__getitem__]
    assert [
        each.__name__ for each in [*functions, *methods, tuning.tune] if not hasattr(each, "__wrapped__")
    ] == []


def test_the_labels_of_texts_are_not_those_of_quotes():
    """`essay` says which text belongs to a quote, so the two Series need not agree."""
    found = from_quotes(
        pd.Series(TEXTS), pd.Series(["beta", "Ban it"], index=[1, 0]), "Claim", essay=[1, 0], closeness=None
    )
    assert triples(found.spans) == [(1, "Claim", 1, 1), (0, "Claim", 2, 3)]


# --- quotes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Phones should be banned.", "Phones should be banned."),
        ("Phones should be banned.", "phones should be banned."),
        ("Phones should be banned.", "phones shuld be banned."),
        ("Phones shuld be banned.", "phones should be banned!"),
        ("Phones  should be banned.", "“Phones should be banned.”"),
    ],
)
def test_a_conclusion_that_restates_the_position_has_its_own_place(first, again):
    quote, claim = "Phones should be banned.", "They distract us."
    for quotes, firsts in (
        ([quote, claim, quote], [0, 4, 9]),
        ([quote, quote], [0, 9]),
        ([claim, quote], [4, 9]),
    ):
        placed = from_quotes(f"{first} {claim} In conclusion, {again}", quotes, "Claim", closeness=85)
        assert placed.report["first"].tolist() == firsts
        assert not placed.report["shared"].any()


def test_a_better_passage_is_preferred_where_the_order_does_not_decide():
    text = "phones are bad. Phones are bad. He said so."
    placed = from_quotes(text, ["Phones are bad.", "He said so."], "Claim", closeness=None)
    assert placed.report["first"].tolist() == [3, 6]


ACCENTS = "Los teléfonos móviles están prohibidos."


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (unicodedata.normalize("NFD", ACCENTS), ACCENTS),
        (ACCENTS, unicodedata.normalize("NFD", ACCENTS)),
        ("Los telé\u00adfonos\u200b móviles \u202bestán\u202c prohi\u2060bidos.\ufeff", ACCENTS),
        (ACCENTS, "\u200eLos telé\u00adfonos móviles están prohibidos.\u200f"),
        ("Los tele\u200d\u0301fonos mo\u0301viles están prohibidos.", ACCENTS),
    ],
)
def test_characters_that_nobody_sees_hide_no_quote(text, quote):
    placed = from_quotes(f"Bien. {text} Fin.", [quote], "Claim", closeness=None)
    assert placed.report[["first", "last"]].values.tolist() == [[1, 5]]


@pytest.mark.filterwarnings("ignore:.* not in their texts")
def test_a_letter_is_not_found_within_the_same_letter_with_an_accent():
    for form in ("NFC", "NFD"):
        placed = from_quotes(
            unicodedata.normalize(form, "El café cierra"), ["caf", "cafe"], "Claim", closeness=None
        )
        assert placed.report["found"].tolist() == ["not found"] * 2


@pytest.mark.filterwarnings("ignore:.* not in their texts")
def test_a_word_is_not_found_behind_a_mark_within_another():
    placed = from_quotes(
        "An un\u00adfair\u200bly long day", ["fair", "fairly", "unfairly"], "Claim", closeness=None
    )
    assert placed.report["found"].tolist() == ["not found", "not found", "other spelling"]


# --- words of another tokenization --------------------------------------------------------------------


def test_word_numbers_of_another_tokenization_are_refused():
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    text = "Yes, I agree, so ban it, now."
    tags = ["O"] * 6 + ["B-Claim"] + ["I-Claim"] * 4
    encoding = tokenizer.encode(text)
    with pytest.raises(
        ValueError, match=r"words of text.split.*from_tokens.* in token 7 of window 0: word 7 of 7$"
    ):
        from_word_ids(encoding.word_ids, tags, texts=text)
    assert triples(from_tokens(text, encoding.offsets, tags)) == [(0, "Claim", 4, 6)]
    right = tokenizer.encode(text.split(), is_pretokenized=True)
    assert triples(from_word_ids(right.word_ids, tags, texts=[text])) == [(0, "Claim", 4, 6)]
    with pytest.raises(ValueError, match="found 7 words of text 0, 11 predictions"):
        spans.from_word_labels([tags], texts=[text])


def test_numbers_of_words_from_a_table_have_nan_for_special_tokens():
    table = pd.DataFrame({"word": [np.nan, 0, 0, 1, np.nan], "tag": ["O", "B-Lead", "I-Lead", "I-Lead", "O"]})
    assert triples(from_word_ids(table["word"], table["tag"])) == [(0, "Lead", 0, 1)]


@pytest.mark.parametrize(
    ("group", "warns"),
    [
        ({"start": 9, "end": 20, "word": "Ban it now."}, True),
        ({"start": 10, "end": 18, "word": "i agree ."}, False),
        ({"start": 10, "end": 18, "word": "[UNK] agree."}, False),
        ({"start": 21, "end": 32, "word": " Ban it nów."}, False),
        ({"start": 22, "end": 33, "word": "Ban it now."}, True),
    ],
)
def test_positions_of_another_text_are_warned_of(group, warns):
    raw = "          I agree.   Ban it now.   Phones distract."
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_pipeline(raw, [{"entity_group": "Claim", "score": 0.9, **group}])
    assert [("1 group of 1" in str(each.message)) for each in caught] == [True] * warns


# --- several models -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, [1, 2, 0.5]])
def test_copies_of_a_model_are_that_model(weights):
    random = np.random.default_rng(7)
    model = disjoint(random, [80] * 20)
    model = model[model.words > 1]
    sure, d1 = random.random((2, len(model)))
    model = from_words(
        model.first, model.last, model.discourse_type, essay=model.essay, probability=sure, d1=d1
    )
    merged = spans.average([model] * 3, weights=weights)
    assert triples(merged) == triples(model)
    np.testing.assert_allclose(merged.probability, sure)
    np.testing.assert_allclose(merged.d1, d1)


def test_weights_and_votes_decide():
    several = [from_words(0, 9, "Lead", probability=0.4), from_words(20, 29, "Claim", probability=0.9)]
    assert len(spans.average(several)) == 0
    assert triples(spans.average(several, weights=[1, 2])) == [(0, "Claim", 20, 29)]
    assert triples(spans.average(several, votes={"Lead": 1})) == [(0, "Lead", 0, 9)]
    assert spans.average(several, votes=1).probability.tolist() == [0.2, 0.45]
    with pytest.raises(ValueError, match="weights: expected a number above 0 for each of 2 models"):
        spans.average(several, weights=[1, 0])


@pytest.mark.parametrize("kind", ["byte-level BPE", "WordPiece"])
def test_probabilities_of_words_decode_like_those_of_tokens(kind):
    texts = make_texts(20, seed=3)
    tokenizer = tokenizer_of(kind)
    tokenizer.no_truncation()
    offsets = [encoding.offsets for encoding in tokenizer.encode_batch(texts)]
    random = np.random.default_rng(2)
    truths = disjoint(random, [len(text.split()) for text in texts])
    tags = spans.bio_tags(texts, offsets, truths)
    predictions = [
        0.5 * probabilities_of(tag, ALPHABETICAL) + 0.5 * random.dirichlet([1] * len(ALPHABETICAL), len(tag))
        for tag in tags
    ]
    of_tokens = from_tokens(texts, offsets, predictions, ALPHABETICAL)
    words = spans.word_probabilities(texts, offsets, predictions, ALPHABETICAL)
    of_words = spans.from_word_labels(words, spans.LABELS, texts=texts)
    assert triples(of_words) == triples(of_tokens)
    np.testing.assert_allclose(of_words.probability, of_tokens.probability)


def test_tags_of_words_come_back():
    texts = make_texts(20, seed=5)
    truths = disjoint(np.random.default_rng(6), [len(text.split()) for text in texts])
    tags = spans.word_tags(texts, truths)
    assert [len(of_text) for of_text in tags] == [len(text.split()) for text in texts]
    assert triples(spans.from_word_labels(tags, spans.LABELS)) == triples(truths)
    assert spans.word_tags("", truths[:0]).tolist() == []


# --- neighbors ----------------------------------------------------------------------------------------


def test_what_stands_between_neighbors_stays():
    segments = from_words([0, 3, 4], [2, 3, 9], ["Lead", "Evidence", "Lead"])
    joined = spans.join(segments, 1)
    assert triples(joined) == [(0, "Lead", 0, 9), (0, "Evidence", 3, 3)]
    assert triples(spans.without_overlaps(joined)) == [(0, "Lead", 0, 9)]


# --- messages -----------------------------------------------------------------------------------------

GROUP = {"entity_group": "Claim", "start": 0, "end": 8, "score": 0.9}
FLAIR = {"text": "a", "start_pos": 0, "end_pos": 1, "labels": []}
SENTIMENT = {"label": "POSITIVE", "score": 0.9}
LOGITS = [[0.8, 0.1, 0.1]]
WITH_PADDING = {0: "B-Lead", 1: "I-Lead", 2: "O", -100: "P"}
TWO = "a b", [(0, 1), (2, 3)]
INTS, FLOATS = np.array([0]), np.array([0.5])
NO_LABELS = r"^labels: expected the model's labels .* model.config.id2label"
BATCH = r"\[window for batch in"
NO_LIST = "a list of groups for each text, and each group a dict, found"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: from_tokens("I", [(0, 1)], LOGITS, WITH_PADDING),
            "0 to 3 as keys, as in id2label, found .*-100",
        ),
        (lambda: from_tokens(*TWO, np.eye(len(spans.LABELS))[[1, 2]]), NO_LABELS),
        (lambda: from_tokens(*TWO, [1, 2]), NO_LABELS),
        (lambda: from_tokens(*TWO, np.eye(2), ["O", "B-PER", "I-PER"]), "found 'B-PER'. The types are Lead, "),
        (lambda: from_tokens([TEXTS[0], np.nan], OFFSETS, TAGS), "texts: expected text, found .* for text 1"),
        (lambda: from_quotes("A text.", ["text"], "Lead", essay=1), "expected indices of the 1 essay"),
        (lambda: spans.Spans(INTS, INTS, INTS, INTS + 7, FLOATS, FLOATS, INTS), "types from 0 to 6"),
        (lambda: spans.Spans(*[INTS] * 4, FLOATS, np.ones(2), INTS), "1 probability, 2 d1"),
        (lambda: from_pipeline("a", [{"entity": "B-Lead", "start": 0, "end": 1}]), "found ent.*='simple'$"),
        (
            lambda: from_pipeline("a", [FLAIR]),
            "found text, start_pos, .*; give flair's start_pos and end_pos to ",
        ),
        (lambda: from_pipeline("a", [GROUP | {"start": None}]), "starts: expected a whole .*, found None"),
        (lambda: from_pipeline(TEXTS[:1], [GROUP]), f"{NO_LIST} .* for text 0$"),
        (lambda: from_pipeline(TEXTS[0], [[GROUP]]), f"{NO_LIST} .* for text 0$"),
        (lambda: from_pipeline(TEXTS, [[GROUP], None]), f"{NO_LIST} None for text 1$"),
        (lambda: from_pipeline(TEXTS, [[GROUP], "Lead"]), f"{NO_LIST} 'Lead' for text 1$"),
        (lambda: from_pipeline(TEXTS, [[SENTIMENT], []]), "groups with .* end, found label, score of text 0$"),
        (lambda: from_tokens(TEXTS, [OFFSETS], [TAGS]), f"offset_mapping: .*{BATCH}"),
        (lambda: from_tokens(TEXTS, OFFSETS, [np.zeros((2, 5, 15))]), f"predictions: .*{BATCH}"),
        (lambda: from_tokens(TEXTS, OFFSETS, [np.zeros((2, 5), dtype=int)]), f"{BATCH} predictions"),
        (lambda: from_word_ids([[[0, 1]]], [TAGS]), f"word_ids: .*{BATCH}"),
        (lambda: from_tokens(TEXTS, OFFSETS, [TAGS[0], None]), "each token, found None in window 1$"),
        (lambda: from_tokens(*TWO, [{"entity": "O"}] * 2), "each token, found {'entity': 'O'} in window 0$"),
        (lambda: spans.join(PARTS[0], np.nan), "gap: expected a number, or numbers by type, found nan"),
        (lambda: spans.average(PARTS, votes={"leed": 2}), "votes: expected types among .*, found 'leed'"),
    ],
)
def test_a_message_names_the_cause(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_tokens(TEXTS, {"offset_mapping": OFFSETS}, TAGS), "so give its 'offset_mapping'$"),
        (lambda: from_pipeline("a", {"entities": {"Claim": ["a"]}}), "; these are quotes .* from_quotes"),
        (lambda: from_pipeline(TEXTS, dict(enumerate(OUTPUTS))), r"; give list\(outputs.values\(\)\)$"),
        (lambda: spans.average(PARTS[0]), r"several: expected a list with the podium.spans.Spans of each"),
        (lambda: from_quotes("a", "a", "Lead"), "quotes: expected a list, found one text"),
    ],
)
def test_a_type_error_names_what_works(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_groups_of_presidio_are_read():
    group = {"entity_type": "Claim", "start": 0, "end": 8, "score": 0.85}
    assert triples(from_pipeline(TEXTS[0], [group])) == [(0, "Claim", 0, 1)]


def test_groups_named_o_are_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="left out 1 segment named O"):
        segments = from_pipeline(TEXTS[0], [GROUP, {**GROUP, "entity_group": "O", "start": 9, "end": 16}])
    assert triples(segments) == [(0, "Claim", 0, 1)]


@pytest.mark.parametrize(("specials", "more", "warns"), [(0, 2, 1), (0, 1, 1), (1, 2, 0), (0, 0, 0), (0, 9, 0)])
def test_padded_predictions_that_may_be_a_token_late_are_warned_of(specials, more, warns):
    offsets = [[(0, 0)] * specials + of_text for of_text in OFFSETS]
    padded = [["O"] * (len(offsets[1]) + more)] * 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_tokens(TEXTS, offsets, padded)
    assert len(caught) == warns
