"""Segments can be made from all that notebooks have: words, pipelines, quotes, id2label and several models."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest

import podium
from examples.essays import make_competition
from podium import spans
from podium.metric import hosted
from podium.spans import LABELS, bio_tags, from_quotes, from_tokens, from_word_ids, from_words
from tests.test_spans import BIOES, KINDS, disjoint, make_texts, offsets_of_words, tokenizer_of, triples

ALPHABETICAL = sorted(LABELS)


def probabilities_of(tags, labels):
    """Probabilities of 1 for the given labels, in another order of labels; without a label they are spread
    evenly.
    """
    rows = np.full((len(tags), len(labels)), 1 / len(labels))
    order = [labels.index(label) for label in LABELS]
    known = tags >= 0
    rows[known] = np.eye(len(LABELS))[tags[known]][:, np.argsort(order)]
    return rows


# --- no silent zero -----------------------------------------------------------------------------------


def test_labels_of_another_order_give_the_same_segments():
    texts = make_texts(10, seed=1)
    tokenizer_of("WordPiece").no_truncation()
    truths = disjoint(np.random.default_rng(0), [len(text.split()) for text in texts])
    offsets = [encoding.offsets for encoding in tokenizer_of("WordPiece").encode_batch(texts)]
    tags = bio_tags(texts, offsets, truths)
    predictions = [probabilities_of(tag, ALPHABETICAL) for tag in tags]
    id2label = dict(enumerate(ALPHABETICAL))
    as_json = {str(number): label for number, label in id2label.items()}
    for labels in (ALPHABETICAL, id2label, as_json, dict(reversed(id2label.items()))):
        assert triples(from_tokens(texts, offsets, predictions, labels)) == triples(truths)
    # In podium's own order of labels, the same numbers have another meaning.
    assert triples(from_tokens(texts, offsets, predictions, LABELS)) != triples(truths)


def test_offsets_that_start_again_in_every_word_are_refused():
    """They come from is_split_into_words=True. Earlier, such input gave a fifth of the segments and a score
    of 0.
    """
    words = ["Schools", "should", "ban", "phones"]
    tokenizer = tokenizer_of("WordPiece")
    tokenizer.no_truncation()
    encoding = tokenizer.encode(words, is_pretokenized=True)
    tags = ["B-Claim"] + ["I-Claim"] * (len(encoding.offsets) - 1)
    with pytest.raises(
        ValueError, match=r"ascends within a window; .*from_word_ids.* token 1 of window 0: 0 to"
    ):
        from_tokens(" ".join(words), encoding.offsets, tags)
    with pytest.raises(ValueError, match="ascends within a window"):
        bio_tags([" ".join(words)], [encoding.offsets], from_words(0, 3, "Claim"))
    assert triples(from_word_ids([encoding.word_ids], [tags])) == [(0, "Claim", 0, 3)]


# --- words --------------------------------------------------------------------------------------------


@KINDS
def test_words_that_were_tokenized_come_back(kind, labels):
    texts = [" ".join(text.split()) for text in make_texts(25, seed=11)]
    truths = disjoint(np.random.default_rng(12), [len(text.split()) for text in texts])
    tokenizer = tokenizer_of(kind)
    tokenizer.enable_truncation(max_length=48, stride=16)
    tags_of_words = bio_tags(texts, [offsets_of_words(text) for text in texts], truths, labels)
    word_ids, tags, essay = [], [], []
    for number, text in enumerate(texts):
        encoding = tokenizer.encode(text.split(), is_pretokenized=True)
        for window in [encoding, *encoding.overflowing]:
            word_ids.append([None, *window.word_ids, None])
            tags.append([-100, *(int(tags_of_words[number][word]) for word in window.word_ids), -100])
            essay.append(number)
    assert len(word_ids) > len(texts)
    tokenizer.no_truncation()
    assert triples(from_word_ids(word_ids, tags, labels, essay=essay)) == triples(truths)
    certain = [np.eye(len(labels) + 1)[np.maximum(tag, -1)][:, :-1] for tag in tags]
    order = np.random.default_rng(1).permutation(len(essay))
    windows_of, certain_of = ([several[n] for n in order] for several in (word_ids, certain))
    mixed = from_word_ids(windows_of, certain_of, labels, essay=np.array(essay)[order])
    assert triples(mixed) == triples(truths)


def test_a_window_that_begins_within_a_word_has_its_last_tokens():
    yes, no = np.eye(len(LABELS))[[LABELS.index("B-Lead"), LABELS.index("I-Lead")]]
    # The word's first token begins a segment in one of the two windows only: 0.5 + 0.5 together.
    segments = from_word_ids(
        [[0, 1, 1], [1, 2]], [[yes, 0.6 * yes + 0.4 * no, no], [no, no]], LABELS, essay=[0, 0]
    )
    assert triples(segments) == [(0, "Lead", 0, 0), (0, "Lead", 1, 2)]


def test_words_with_labels_need_no_tokens():
    segments = spans.from_word_labels([["B-Lead", "I-Lead", "O"], ["O", "S-Claim"]], BIOES, min_words=1)
    assert triples(segments) == [(0, "Lead", 0, 1), (1, "Claim", 1, 1)]
    assert triples(spans.from_word_labels([np.eye(3)[[0, 1, 1]]], ["O", "Lead", "Claim"])) == [
        (0, "Lead", 1, 2)
    ]


# --- windows ------------------------------------------------------------------------------------------


def test_windows_that_differ_about_a_token_are_averaged_before_it_begins_a_segment():
    label = {name: np.eye(len(LABELS))[LABELS.index(name)] for name in ("O", "B-Lead", "I-Lead")}
    begins = 0.6 * label["B-Lead"] + 0.4 * label["I-Lead"]
    goes_on = 0.1 * label["B-Lead"] + 0.9 * label["I-Lead"]
    windows = [[(0, 1), (2, 3)], [(2, 3), (4, 5)]]
    predictions = [[label["B-Lead"], begins], [goes_on, label["O"]]]
    segments = from_tokens(["a b c"], windows, predictions, LABELS, essay=[0, 0])
    assert triples(segments) == [(0, "Lead", 0, 1)]  # the first window alone would begin another segment at b
    alone = from_tokens("a b", windows[0], predictions[0], LABELS)
    assert triples(alone) == [(0, "Lead", 0, 0), (0, "Lead", 1, 1)]
    assert triples(from_tokens(["a b c"], windows, predictions, LABELS, essay=0)) == triples(segments)
    by_words = from_word_ids([[0, 1], [1, 2]], predictions, LABELS, essay=[0, 0])
    assert triples(by_words) == triples(segments)


def test_tokens_of_two_windows_that_only_end_together_are_different_ones():
    """A tokenizer may cut a word in another way where a window begins: only one of the tokens begins a Lead."""
    windows = [[(0, 1), (2, 6)], [(4, 6)]]
    sure, unsure = [0, 0.6, 0.4], [0, 0.1, 0.9]
    segments = from_tokens(
        ["x abcd"], windows, [[sure, sure], [unsure]], ["O", "B-Lead", "I-Lead"], essay=[0, 0]
    )
    assert triples(segments) == [(0, "Lead", 0, 0), (0, "Lead", 1, 1)]


def test_bytes_of_a_character_are_tokens_of_their_own_in_every_window():
    label = {name: np.eye(len(LABELS))[LABELS.index(name)] for name in ("B-Lead", "I-Lead")}
    half = (label["B-Lead"] + label["I-Lead"]) / 2
    # The first of two bytes says 0.75 for a beginning, and the second says 0: their mean is below one half.
    window = [(0, 1), (2, 3), (2, 3)]
    begins, goes_on = label["B-Lead"], label["I-Lead"]
    predictions = [[begins, begins, goes_on], [begins, half, goes_on]]
    segments = from_tokens(["a 👍"], [window, window], predictions, LABELS, essay=[0, 0])
    assert triples(segments) == [(0, "Lead", 0, 0), (0, "Lead", 1, 1)]


@pytest.mark.parametrize("kind", [int, bool, float])
def test_probabilities_may_be_whole_numbers(kind):
    labels, rows = ["O", "B-Lead", "I-Lead"], np.eye(3, dtype=kind)[[1, 2, 0]]
    for given in (rows, rows.tolist()):
        assert triples(from_tokens("a b c", [(0, 1), (2, 3), (4, 5)], given, labels)) == [(0, "Lead", 0, 1)]
        assert triples(spans.from_word_labels([given], labels)) == [(0, "Lead", 0, 1)]
    with pytest.raises(ValueError, match=r"batches of windows, put them into one list"):
        spans.from_word_labels([2 * np.eye(3, dtype=int)], labels)


def test_predictions_for_padding_are_cut():
    texts = ["a b", "c d e"]
    offsets = [[(0, 1), (2, 3)], [(0, 1), (2, 3), (4, 5)]]
    padded = np.zeros((2, 6, len(LABELS)))
    padded[:, :, LABELS.index("B-Lead")] = 1.0
    segments = from_tokens(texts, offsets, padded, LABELS)
    assert triples(segments) == [(0, "Lead", 0, 0), (0, "Lead", 1, 1)] + [(1, "Lead", n, n) for n in range(3)]
    with pytest.raises(ValueError, match="found 2 tokens of window 0, 3 predictions"):
        from_tokens(texts, offsets, [padded[0, :3], padded[1, :4]], LABELS)  # the lengths differ


# --- pipelines ----------------------------------------------------------------------------------------


def test_groups_of_a_pipeline_become_segments():
    text = "I agree. Schools should ban phones."
    groups = [
        {"entity_group": "Position", "score": np.float32(0.5), "word": "I agree", "start": 0, "end": 7},
        {"entity_group": "Claim", "score": 0.75, "word": " Schools should ban phones.", "start": 8, "end": 35},
        # This group would begin in the middle of a word.
        {"entity_group": "Lead", "score": 0.9, "word": "s", "start": 33, "end": 35},
    ]
    with pytest.warns(UserWarning, match="left out 1 segment without a word of the text"):
        segments = spans.from_pipeline(text, groups)
    assert triples(segments) == [(0, "Position", 0, 1), (0, "Claim", 2, 5)]
    assert segments.probability.tolist() == [0.5, 0.75]
    both = spans.from_pipeline([text, ""], [groups[:1], []], d1=0.25)
    assert triples(both) == [(0, "Position", 0, 1)]
    assert both.d1.tolist() == [0.25]


# --- quotes -------------------------------------------------------------------------------------------

ESSAY = (
    "I’ve thought about it. Phones are bad, phones are bad — said my teacher. “Ban\n\n them”, he said, and "
    "phones are bad. Students need some rest from their screens during lessons."
)


@pytest.mark.filterwarnings("ignore:.* not in their texts")
def test_quotes_are_found_exactly_then_spelled_otherwise_then_closely():
    quotes = [
        "thought about it.",
        "i've thought about it",
        "phones are bad - said my teacher.",
        '"Ban them"',
        "Students need some rest from their screens in lessons",
        "The moon is made of green cheese.",
    ]
    placed = from_quotes(ESSAY, quotes, "Claim", d1=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], closeness=80)
    report = placed.report
    assert report["found"].tolist() == [
        "exact", "other spelling", "other spelling", "other spelling", "close", "not found"
    ]  # fmt: skip
    words = ESSAY.split()
    passages = [" ".join(words[a : b + 1]) for a, b in zip(report["first"], report["last"]) if a >= 0]
    assert passages[:4] == [
        "thought about it.", "I’ve thought about it.", "phones are bad — said my teacher.", "“Ban them”,"
    ]  # fmt: skip
    assert passages[4].startswith("Students need some rest")
    assert 80 <= report["closeness"][4] < 100
    assert report.loc[5, ["closeness", "first", "last", "text"]].tolist() == [0.0, -1, -1, ""]
    assert placed.spans.d1.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert repr(placed) == (
        "6 quotes: 1 exact, 3 other spelling, 1 close, 1 not found, 2 with words of another quote"
    )


@pytest.mark.parametrize(
    ("quote", "kind", "found"),
    [
        (None, "Claim", None),
        (math.nan, "Claim", None),
        ("phones are bad", "CLAIM", (2, 4)),
        ("phones are bad", "claims", (2, 4)),
        ("They ring … all the time", "Claim", (5, 11)),
        ("They ring in ... time.", "Claim", (5, 11)),
        ("ban them...", "Claim", (13, 14)),
        ("time … phones", "Claim", None),  # the end comes before the beginning
    ],
)
@pytest.mark.filterwarnings("ignore:.* not in their texts")
def test_what_language_models_answer(quote, kind, found):
    text = "I think phones are bad. They ring in class all the time. So ban them."
    result = from_quotes(text, [quote], [kind], closeness=None)
    assert [*zip(result.spans.first.tolist(), result.spans.last.tolist())] == ([] if found is None else [found])
    assert (result.report["found"][0] == "not found") == (found is None)
    assert result.report["type"].tolist() == ["Claim"]


def test_quotes_that_are_not_found_are_counted():
    with pytest.warns(
        UserWarning, match="^quotes that are not in their texts, and so have no segment: 2 of 3; see report"
    ):
        from_quotes(ESSAY, ["Phones are bad", "The moon is cheese", "Bob"], "Claim", closeness=None)
    # Nobody expects to find a quote that is missing.
    assert len(from_quotes(ESSAY, ["Phones are bad", None], "Claim").spans) == 1


@pytest.mark.parametrize("name", ["concluding_statement", "Concluding-Statements", " CONCLUDING STATEMENT 1 "])
def test_a_type_is_known_by_its_letters(name):
    made = from_words(0, 3, [name])
    assert triples(made) == [(0, "Concluding Statement", 0, 3)]
    of_labels = spans.from_word_labels([["O", f"B-{name}", f"i-{name}"]], ["O", f"B-{name}", f"I-{name}"])
    assert triples(of_labels) == [(0, "Concluding Statement", 1, 2)]
    assert triples(spans.from_word_labels([[name, "O"]], [name, "O"])) == [(0, "Concluding Statement", 0, 0)]


@pytest.mark.parametrize(
    ("quotes", "firsts"),
    [
        (["phones are bad"], [7]),
        (["phones are bad", "said my teacher", "phones are bad"], [7, 11, 19]),
        (["said my teacher", "phones are bad"], [11, 19]),
        (["he said", "Phones are bad"], [16, 19]),  # the order counts more than a capital letter
    ],
)
def test_of_several_places_the_one_in_order_is_taken(quotes, firsts):
    placed = from_quotes(ESSAY.replace("“", "").replace("”", ""), quotes, "Claim", closeness=None)
    assert placed.report["first"].tolist() == firsts


@pytest.mark.filterwarnings("ignore:.* not in their texts")
def test_quotes_do_not_begin_within_a_word():
    texts, quotes = ["A start is an art.", "art"], ["art", "tart", "art"]
    placed = from_quotes(texts, quotes, "Lead", essay=[0, 0, 1], closeness=None)
    assert placed.report["first"].tolist() == [4, -1, 0]
    assert placed.report["found"].tolist() == ["exact", "not found", "exact"]
    assert triples(placed.spans) == [(0, "Lead", 4, 4), (1, "Lead", 0, 0)]
    nothing = from_quotes("A text.", ["", " … "], "Lead")
    assert nothing.report["found"].tolist() == ["not found"] * 2
    assert len(nothing.spans) == 0


def test_a_word_belongs_to_a_close_match_if_its_middle_does():
    text = "We know that students shouldnt use telephones during every lesson, because it distracts them."
    placed = from_quotes(text, ["tudents shuldnt use telephones during every lesso"], "Claim", closeness=80)
    assert placed.report["text"].tolist() == ["students shouldnt use telephones during every lesson,"]


# --- the class ----------------------------------------------------------------------------------------


def test_spans_are_a_small_frozen_class():
    made = from_words([0, 5, 9], [3, 7, 30], ["Lead", "Claim", "Evidence"], essay=[0, 0, 2])
    assert len(made) == 3
    assert triples(made[1:]) == triples(made[[1, 2]]) == triples(made[np.array([False, True, True])])
    assert triples(made[-1]) == [(2, "Evidence", 9, 30)]
    assert [triples(each) for each in made] == [[each] for each in triples(made)]
    assert triples(made[:1] + made[1:]) == triples(made)
    assert triples(spans.concat([made[:1], made[1:2], made[2:]])) == triples(made)
    assert len(spans.concat([])) == 0
    with pytest.raises(AttributeError):
        made.first = made.last
    with pytest.raises(ValueError, match="read-only"):
        made.first[0] = 1
    with pytest.raises(TypeError):
        made + 1
    assert triples(pickle.loads(pickle.dumps(made))) == triples(made)


def test_effectiveness_is_checked():
    made = from_words([0, 5], [3, 7], "Lead")
    assert made.with_effectiveness([0.25, 1]).d1.tolist() == [0.25, 1.0]
    assert made.with_effectiveness(0.75).d1.tolist() == [0.75, 0.75]
    for wrong, message in (
        ([0.5], "found 2 segments, 1 d1"),
        (np.eye(2), "d1: expected one value for each segment"),
        ([0.5, 1.5], "d1 from 0"),
    ):
        with pytest.raises(ValueError, match=message):
            made.with_effectiveness(wrong)


def test_the_table_has_names_and_ids():
    frame = from_words([0, 5], [3, 7], ["Lead", "Claim"], essay=[1, 0]).to_frame(["A", "B"])
    assert list(frame) == ["essay_id", "discourse_type", "first", "last", "probability", "d1", "repaired"]
    assert frame[["essay_id", "discourse_type"]].to_numpy().tolist() == [["B", "Lead"], ["A", "Claim"]]
    with pytest.raises(ValueError, match="indices of the 1 essay, counted from 0"):
        from_words(0, 1, "Lead", essay=1).to_frame(["A"])


# --- several models -----------------------------------------------------------------------------------


def test_the_average_of_models_is_by_words():
    one = from_words([0, 20], [9, 29], ["Lead", "Claim"], probability=[0.9, 0.4], d1=[0.2, 0.5])
    two = from_words([2, 20], [11, 29], ["Lead", "Evidence"], probability=[0.9, 0.9], d1=[0.4, 0.5])
    merged = spans.average([one, two])
    # One of two models gives these words 0.9: 0.45 for the type, 0.55 for none. After them: 0.2, 0.45 and 0.35.
    assert triples(merged) == [(0, "Lead", 2, 9), (0, "Evidence", 20, 29)]
    np.testing.assert_allclose(merged.probability, [0.9, 0.45])
    np.testing.assert_allclose(merged.d1, [0.3, 0.5])
    three = spans.average([one, two, from_words(20, 29, "Evidence", probability=0.9)])
    assert triples(three) == [(0, "Lead", 2, 9), (0, "Evidence", 20, 29)]
    assert triples(spans.average([one])[:1]) == [(0, "Lead", 0, 9)]


def test_segments_that_touch_stay_apart_where_most_models_part_them():
    parted, whole = from_words([0, 5], [4, 9], "Lead"), from_words(0, 9, "Lead")
    assert triples(spans.average([parted, parted, whole])) == triples(parted)
    assert triples(spans.average([parted, whole, whole])) == triples(whole)
    assert triples(spans.average([parted])) == triples(parted)
    assert triples(spans.average([from_words([0, 0], [4, 4], "Lead", essay=[0, 1])])) == [
        (0, "Lead", 0, 4), (1, "Lead", 0, 4)
    ]  # fmt: skip


# --- the solution that they are given -----------------------------------------------------------------


def test_the_metric_of_the_solution_scores(tmp_path):
    """The solution belongs to a host's own version of the metric, with another order of types and a stricter
    match.
    """
    source = hosted.find("unified").read_text(encoding="utf-8")
    theirs = source.replace('("Lead", "Position", "Claim"', '("Claim", "Position", "Lead"', 1)
    theirs = theirs.replace('NAME = "unified"', 'NAME = "strict"').replace("= 0.51", "= 0.9")
    (tmp_path / "metric.py").write_text(theirs, encoding="utf-8")
    solution, submission = make_competition(40, seed=2, shared_words=False)
    strict = podium.prepare(solution, metric=tmp_path / "metric.py")
    ids = strict.prepared["All"].items
    made = spans.from_table(submission, ids)
    assert spans.score(strict, made, ids) == podium.score(strict, spans.to_submission(made, ids)).score
    assert spans.score(strict, made, ids) < spans.score(podium.prepare(solution), made, ids)


@pytest.mark.parametrize(
    ("column", "essay_ids", "expected"),
    [
        (pd.Series(["A", "B", None, "A"]), ["B", "A"], [1, 0, 1]),
        (pd.Series(["A", "B", "A"], dtype="category"), ["B"], [0]),
        (pd.Series([1, 2, 3]), ["3", 1], [1, 0]),
        (pd.Series([1.0, 2.5, np.nan]), ["1.0", 2.5], [0, 1]),
        (pd.Series([1, "A", True, "nan"], dtype=object), ["True", "A", 1], [2, 1, 0]),
    ],
)
def test_ids_of_any_type_are_compared_as_text(column, essay_ids, expected):
    """Rows without an id, and those of other essays, are left out."""
    frame = pd.DataFrame({"essay_id": column, "discourse_type": "Lead", "predictionstring": "0 1"})
    assert spans.from_table(frame, essay_ids).essay.tolist() == expected


# --- one door ---------------------------------------------------------------------------------------

PHONES = "Schools should allow phones in class today. They help students learn."
OF_CLAIM = {"entity_group": "Claim", "start": 0, "end": 43, "score": 0.9}


@pytest.mark.parametrize("change", [{"start": 100, "end": 143}, {"start": 43, "end": 0}, {"end": 400}])
def test_a_pipeline_is_refused_what_characters_are(change):
    group = OF_CLAIM | change
    for call in (
        lambda: spans.from_pipeline(PHONES, [group]),
        lambda: spans.from_characters(PHONES, [group["start"]], [group["end"]], "Claim"),
    ):
        with pytest.raises(ValueError, match="expected a start and a later end of characters within the text"):
            call()


def test_a_score_that_float32_made_a_little_larger_than_1_is_1():
    assert spans.from_pipeline(PHONES, [OF_CLAIM | {"score": 1.0000001}]).probability.tolist() == [1]


def test_of_several_texts_one_has_to_be_said():
    for make in (
        lambda texts: spans.from_characters(texts, [0, 0], [7, 7], "Claim"),
        lambda texts: spans.from_quotes(texts, ["Schools", "They"], "Claim").spans,
    ):
        with pytest.raises(
            ValueError, match=r"^essay: expected the text of each segment, as an index into the 2"
        ):
            make([PHONES, PHONES])
        assert len(make(PHONES)) == 2


def test_segments_of_one_text_are_not_those_of_several():
    """Nobody said which text they are of, so that a row of several texts may have been meant."""
    made = spans.from_words([0, 5], [6, 7], ["Position", "Claim"])
    fold = podium.prepare(make_competition(5, shared_words=False)[0])
    several = spans.average([made])
    for changed in (made, made[1:], made + made, spans.select(made), spans.join(made, 2), several):
        assert len(spans.to_submission(changed, ["a"])) == len(changed)
        for use in (
            lambda given: spans.to_submission(given, ["a", "b"]),
            lambda given: given.to_frame(["a", "b"]),
            lambda given: spans.score(fold, given, fold.prepared["All"].items),
            lambda given: spans.word_tags([PHONES, PHONES], spans.without_overlaps(given)),
        ):
            with pytest.raises(ValueError, match=r"^essay: expected the text of each segment, .* found none"):
                use(changed)
    said = spans.from_words(0, 6, "Position", essay=0)
    for changed in (said, spans.average([said, said]), made + said, made[:0]):
        assert len(spans.to_submission(changed, ["a", "b"])) == len(changed)


@pytest.mark.parametrize("closeness", [0.9, -1, 200, float("nan"), "90"])
def test_closeness_is_a_percentage(closeness):
    with pytest.raises(ValueError, match=r"^closeness: expected a percentage from 1 to 100, or None, found"):
        spans.from_quotes(PHONES, ["Schools"], "Claim", closeness=closeness)


def test_quotes_and_types_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"found \['Schools'\] for quote 0; give all quotes in one"):
        spans.from_quotes([PHONES], [["Schools"]], "Claim")
    for name in ("O", "Thesis"):
        with pytest.raises(ValueError, match=f"types: expected Lead, .*, found '{name}' for segment 0"):
            spans.from_quotes(PHONES, ["Schools", "They"], name)
    with pytest.raises(ValueError, match="expected the same number of each, found 2 quotes, 1 types"):
        spans.from_quotes(PHONES, ["Schools", "They"], ["Claim"])
    with pytest.raises(ValueError, match="starts: expected a whole number for every segment, found None for s"):
        spans.from_characters(PHONES, [0, None], [8, 9], "Claim")


def test_a_series_by_type_is_the_mapping():
    three = [spans.from_words([0, 20], [9, 29], ["Lead", "Claim"]), spans.from_words([50], [59], "Evidence")]
    by_type = {"Claim": 1}
    for call in (
        lambda given: spans.average(three, votes=given),
        lambda given: spans.select(three[0], min_words=given),
        lambda given: spans.join(three[0], given),
    ):
        assert repr(call(pd.Series(by_type))) == repr(call(by_type))


# Each source says of two segments what the others say in their own way.
SOURCES = {
    "characters": lambda types, **said: spans.from_characters(PHONES, [0, 44], [43, 69], types, **said),
    "words": lambda types, **said: spans.from_words([0, 7], [6, 10], types, **said),
    "quotes": lambda types, **said: spans.from_quotes(PHONES, [PHONES[:43], PHONES[44:]], types, **said).spans,
    "table": lambda types, probability=1.0, d1=0.5: spans.from_table(
        pd.DataFrame(
            {
                "essay_id": "a",
                "discourse_type": types,
                "predictionstring": ["0 1 2 3 4 5 6", "7 8 9 10"],
                "probability": probability,
                "score_discourse_effectiveness_1": d1,
            }
        ),
        ["a"],
    ),
    "pipeline": lambda types, probability=1.0, d1=0.5: spans.from_pipeline(
        PHONES,
        [
            {"entity_group": kind, "score": score, "start": start, "end": end}
            for kind, score, start, end in zip(
                types, np.broadcast_to(probability, 2).tolist(), [0, 44], [43, 69]
            )
        ],
        d1=d1,
    ),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_all_sources_read_and_refuse_the_same(source):
    made = source(["claim ", "Concluding statement"], probability=["0.5", 1], d1=[0, 0.25])
    assert made.to_frame()[["discourse_type", "first", "last", "probability", "d1"]].values.tolist() == [
        ["Claim", 0, 6, 0.5, 0.0],
        ["Concluding Statement", 7, 10, 1.0, 0.25],
    ]
    for said, message in (
        ({"probability": [0.5, 50]}, "expected probability from 0 to 1.* 1 of 2 segments, first in segment 1"),
        (
            {"probability": [None, 1]},
            "probability: expected a number for every segment, found .* for segment 0",
        ),
        ({"probability": [0.5, "high"]}, "probability: expected a number .*, found 'high' for segment 1"),
        ({"d1": [-0.1, 0]}, "expected d1 from 0 to 1"),
        ({"d1": [0.1, None]}, "d1: expected a number for every segment"),
        ({"d1": [[0.1, 0.9], [0.2, 0.8]]}, "expected one value for each segment"),
    ):
        with pytest.raises(ValueError, match=message):
            source(["Claim", "Lead"], **said)
    for types in (["Claim", "Thesis"], ["Claim", None]):
        with pytest.raises(
            ValueError, match=r"types: expected Lead, .*, found '?(Thesis|None|nan)'? for segment 1"
        ):
            source(types)


# The same for sources whose words have labels.
LABELED = {
    "tokens": lambda given, labels=None: from_tokens("a b c", [(0, 1), (2, 3), (4, 5)], given, labels),
    "word ids": lambda given, labels=None: from_word_ids([0.0, 1, 2], given, labels, texts=["a b c"]),
    "word labels": lambda given, labels=None: spans.from_word_labels([given], labels, texts="a b c"),
}


@pytest.mark.parametrize("source", LABELED.values(), ids=LABELED)
def test_sources_of_labels_read_refuse_and_count_the_same(source):
    assert triples(source(["b-claim", "I-CLAIM ", "O"])) == [(0, "Claim", 0, 1)]
    assert triples(source([1, 2, 0], {0: "o", 1: "b-lead", 2: "i-lead"})) == [(0, "Lead", 0, 1)]
    unsure = source(np.array([[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]]), ["O", "Lead"])
    assert unsure.to_frame()[["first", "last", "probability"]].values.tolist() == [[0, 1, 0.625]]
    for unlabeled, last in ((2, 1), (1, 2)):
        given = [0 if word == unlabeled else 2 for word in range(3)]
        with pytest.warns(UserWarning, match="^1 of 3 words in 1 text have no token with a predict") as warned:
            segments = source([-100 if each == 0 else each for each in given], LABELS)
        assert triples(segments) == [(0, "Lead", 0, last)]
        assert warned[0].filename == __file__
    columns = ["O", "Lead"]
    for given, message in (
        (
            np.array([[0, 1], [0.5, 0.5], [-3, 4.0]]),
            r"probabilities from 0 to 1, .* token 2 of window 0: -3\.0 to 4\.0",
        ),
        (["O", "B-Klaim", "O"], "names or indices of the labels .*, found 'B-Klaim' for token 1"),
        ([[[0.5, 0.5]]] * 3, "predictions: expected a label or probabilities for each token, found an"),
    ):
        with pytest.raises(ValueError, match=message):
            source(given, columns if isinstance(given, np.ndarray) else None)


def test_labels_of_one_text_may_be_flat_and_lack_tokens():
    with pytest.warns(UserWarning, match="^1 of 3 words"):
        assert triples(spans.from_word_labels(["B-Lead", "I-Lead", None])) == [(0, "Lead", 0, 1)]
    for nothing in (-100, None, math.nan, pd.NA):
        made = from_word_ids([None, 0, 1, pd.NA], [nothing, "B-Lead", "I-Lead", nothing])
        assert triples(made) == [(0, "Lead", 0, 1)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_tokens(["a"], [[(0, 1)]], [["O"]], essay=[[0]]), "essay: expected one value for"),
        (lambda: from_words([True], [2], "Lead"), "first: expected a whole number .*, found True for"),
        (lambda: from_words([0], [2], [True]), "types: .*, found True for segment 0"),
        (lambda: from_quotes("a", [b"a"], "Lead"), "quotes: expected a text or None for each, found b"),
        (lambda: from_words([0, [1]], [2, 3], "Lead"), "first: .* lists of different lengths"),
        (lambda: from_word_ids([[0, 10**9]], [["O", "O"]]), "up to 99999. .* in token 1 of window 0"),
        (lambda: from_word_ids([[0, 1.5]], [["O", "O"]]), r"window 0: .* for every token, found 1\.5 for"),
        (
            lambda: from_tokens(["a"], [[[(0, 1)], [(0, 1), (2, 3)]]], [["O"]]),
            "each token, found lists of diff",
        ),
    ],
)
def test_what_no_source_can_read_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_has_no_word_is_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="left out 1 segment without a word of the text"):
        assert len(spans.from_characters(PHONES, [0, 43], [43, 44], "Claim")) == 1
    with pytest.warns(UserWarning, match="left out 1 segment named O"):
        assert len(spans.from_characters(PHONES, [0, 44], [43, 69], ["O", "Claim"])) == 1


def test_tables_as_people_have_them():
    rows = {"discourse_type": ["Lead", "Claim"], "predictionstring": ["0 1 2", "0 1"]}
    table = pd.DataFrame({"essay_id": ["a", "b"], **rows})
    effective = spans.from_table(table.assign(discourse_effectiveness=["Adequate", "Effective"]), ["a", "b"])
    assert effective.d1.tolist() == [0, 1]
    assert spans.from_table(table.set_index("essay_id"), ["a", "b"]).essay.tolist() == [0, 1]
    assert spans.from_table(table.assign(essay_id=[1.0, 2.0]), [1, 2]).essay.tolist() == [0, 1]
    assert len(spans.from_table(table.assign(predictionstring=["0 1 2", "x"]), ["a"])) == 1
    with pytest.raises(ValueError, match=r"probability: expected a number for every segment, found <NA> for"):
        spans.from_table(table.assign(probability=pd.array([0.5, pd.NA], dtype="Float64")), ["a", "b"])
    with pytest.raises(ValueError, match="expected one column predictionstring, found 2"):
        spans.from_table(pd.concat([table, table[["predictionstring"]]], axis=1), ["a", "b"])


def test_plain_types_without_labels_are_told_of_labels():
    with pytest.raises(ValueError, match=r"found 'Claim' for token 0; for types without prefixes give labels="):
        spans.from_word_labels([["Claim", "O"]])
    made = spans.from_word_labels([["Claim", "O"]], labels=["O", *spans.TYPES])
    assert triples(made) == [(0, "Claim", 0, 0)]
