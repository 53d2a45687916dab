"""What belongs together is checked together: rows of probabilities, positions and words, orders of essays."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from examples.essays import make_competition
from podium import spans
from podium.spans import from_characters, from_pipeline, from_quotes, from_tokens, from_words, places
from tests.test_spans import make_texts, offsets_of_words

# --- rows of probabilities ----------------------------------------------------------------------------

TEXT = "Ann thinks so too. Schools should ban phones since they distract students in class."
LABELS = ["O", "B-Claim", "I-Claim"]
LOGITS = np.random.default_rng(0).normal(0, 0.5, (14, 3)) + 4 * np.eye(3)[[0] * 4 + [1] + [2] * 9]


def softmax(axis):
    powers = np.exp(LOGITS)
    return powers / powers.sum(axis=axis, keepdims=True)


def decoded(probabilities, labels=LABELS):
    return from_tokens(TEXT, offsets_of_words(TEXT), probabilities, labels)


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (
            softmax(0),
            r"14 of 14 rows with sums from 0\.\d+ to .*; each label adds to 1 over the tokens, .*axis=-1$",
        ),
        (
            1 / (1 + np.exp(-LOGITS)),
            "; take the softmax over the labels, axis=-1; divide sigmoids .* by their row's sum$",
        ),
        (
            0.4 * softmax(1),
            r"14 rows with sums from 0\.400 to 0\.400; all rows add to 0\.4, .*: divide by that$",
        ),
    ],
)
def test_rows_that_are_no_probabilities_are_refused_with_the_cause(given, cause):
    with pytest.raises(
        ValueError, match=rf"^predictions: expected the probabilities .* add to 1, found .*{cause}"
    ):
        decoded(given)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
def test_rows_that_add_to_1_within_rounding_are_taken(kind):
    assert decoded(softmax(1).astype(kind)).first.tolist() == [4]


def test_padding_and_labels_without_an_outside_may_add_to_less():
    padded = softmax(1)
    padded[:2] = 0
    with pytest.warns(UserWarning, match=r"^2 of 14 words in 1 text have no token with a prediction"):
        decoded(padded)
    assert len(decoded(0.3 * softmax(1)[:, 1:], LABELS[1:])) > 0


@pytest.mark.parametrize("change", [lambda p: p * 0.98, lambda p: np.vstack([p[:1] * 0.5, p[1:]])])
def test_rows_that_are_a_little_off_are_told(change):
    with pytest.warns(
        UserWarning, match=r"add to 1, found \d+ of 14 rows with sums .*; was a label cut away\?"
    ):
        decoded(change(softmax(1)))


def test_windows_are_told_of_once():
    texts = [TEXT] * 200
    with pytest.warns(UserWarning, match="^predictions") as told:
        from_tokens(texts, [offsets_of_words(TEXT)] * 200, [softmax(1) * 0.98] * 200, LABELS)
    assert len(told) == 1


@pytest.mark.parametrize(("weights", "warns"), [([0.3, 0.1], True), ([0.7, 0.3], False), ([2, 1], False)])
def test_weights_that_look_like_shares_are_told_if_they_do_not_add_to_1(weights, warns):
    models = [from_words(0, 9, "Lead"), from_words(1, 9, "Lead")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spans.average(models, weights)
    assert ["weights: expected shares that add to 1" in str(each.message) for each in caught] == [True] * warns


# --- positions and words ------------------------------------------------------------------------------

LINES = "\n".join(f"Sentence {number} has some words here" for number in range(120))
STARTS = np.array([LINES.index(f"Sentence {number} ") for number in range(0, 120, 4)])
ENDS = np.append(STARTS[1:] - 1, len(LINES))
DOUBLE = LINES.replace("\n", "\n\n")
EMOJI = LINES.replace("some", "😀😀😀 some").replace("here", "hère")


def counted_as(text, width):
    """The positions of the same segments, counted otherwise in a text."""
    starts = np.array([text.index(f"Sentence {number} ") for number in range(0, 120, 4)])
    ends = np.append(starts[1:] - 1, len(text))
    reached = np.append(0, np.cumsum([width(character) for character in text]))
    return reached[starts], reached[ends]


@pytest.mark.parametrize(
    ("text", "starts", "ends", "cause"),
    [
        (LINES.replace("\n", "\r\n"), STARTS, ENDS, "line ends of two characters count once"),
        (LINES, *counted_as(LINES, lambda c: 1 + (c == "\n")), "each line end counts as two characters"),
        (LINES, STARTS + 1, ENDS + 1, "they count from 1"),
        (LINES, STARTS, ENDS - 1, "an end belongs to its segment"),
        (LINES, STARTS + 1, ENDS, "they count from 1 and an end belongs to its segment"),
        (EMOJI, *counted_as(EMOJI, lambda c: len(c.encode())), "they count bytes of UTF-8"),
        (EMOJI, *counted_as(EMOJI, lambda c: 1 + (c > "\uffff")), "they count units of UTF-16"),
        ("\n      \n" + LINES, STARTS, ENDS, "white space in front is cut off"),
        (LINES.replace(" has", "  has"), STARTS, ENDS, "white space is collapsed"),
        (DOUBLE.replace(" has", "  has"), *counted_as(DOUBLE, lambda c: 1), "runs of spaces count once"),
        (LINES.replace("has", "h\u200bas"), STARTS, ENDS, "invisible characters are removed"),
    ],
)
def test_positions_of_another_version_of_the_text_are_refused_with_the_correction(text, starts, ends, cause):
    with pytest.raises(
        ValueError, match=rf"within words, and hardly any if {re.escape(cause)}: give the texts"
    ):
        from_characters(text, starts, ends, "Claim")


def test_positions_of_a_foreign_text_are_told_and_few_are_not():
    other = make_texts(1, seed=5)[0] * 40
    other = other[: len(LINES)].ljust(len(LINES), "x")
    with pytest.warns(UserWarning, match=r"^\d\d% of the starts or ends are within words; are the positions"):
        from_characters(other, STARTS, ENDS, "Claim")
    assert len(from_characters(other, STARTS[:9], ENDS[:9], "Claim")) == 9


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_models_that_cut_a_word_now_and_then_are_left_alone(share):
    starts = STARTS + np.where(np.arange(len(STARTS)) < share * len(STARTS), 3, 0)
    assert len(from_characters(LINES, starts, ENDS, "Claim")) == len(STARTS)


def test_scripts_without_spaces_are_left_alone():
    text = "学校は電話を禁止すべきだ。" * 20
    starts = np.arange(0, 200, 10)
    with pytest.warns(UserWarning, match="without a word of the text"):  # the text is one word
        from_characters(text, starts, starts + 9, "Claim")


@pytest.mark.parametrize("key", ["word", "text", "quote", "span"])
def test_what_a_group_says_is_compared_whatever_its_key_is_called(key):
    group = {"label": "Claim", "score": 0.9, "start": 9, "end": 15}
    assert len(from_pipeline("I agree. Ban it.", [{**group, key: "Ban it"}])) == 1
    with pytest.warns(UserWarning, match=rf"stands another {key}, such as 'Ban it' instead of 'I agree'"):
        from_pipeline("I agree. Ban it.", [{**group, key: "I agree"}])


def test_positions_of_words_are_checked_with_texts():
    text = "Well, yes. Phones, I think, distract us. So ban them."
    assert from_words([2], [6], "Claim", texts=text).words.tolist() == [5]
    with pytest.raises(
        ValueError, match=r"words of text.split\(\), not numbers of tokens. .*4 to 12 of 10 words"
    ):
        from_words([4], [12], "Claim", texts=text)
    with pytest.raises(ValueError, match=r"^essay: expected the text of each segment"):
        from_words([2], [6], "Claim", texts=[text, text])
    places._tell_that_nothing_is_checked.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_words([2], [6], "Claim")
        from_words([2], [6], "Claim")
    assert [str(each.message) for each in caught] == ["from_words: positions cannot be checked without texts="]


@pytest.mark.parametrize(
    ("quote", "first", "last"),
    [
        ("I agree.\\nSchools should ban phones", 3, 8),
        ("I\\tagree", 3, 4),
        ("It is late.\\nI agree", 0, 4),
        ("Schools \\u0073hould ban", 5, 7),
        ("I agree.\\\\nSchools should ban", 3, 7),
        ("I agree.<br/>Schools should ban", 3, 7),
        ("Schools \\*should\\* ban", 5, 7),
        ("distract\\. So ban", 12, 14),
        ("they &amp;amp; distract", 10, 12),
        ("Schools should ban phones because they &amp; distract", 5, 12),
    ],
)
def test_escapes_that_were_escaped_twice_are_a_spelling(quote, first, last):
    text = "It is late. I agree.\nSchools should ban phones because they & distract. So ban them."
    report = from_quotes(text, [quote], "Claim", closeness=None).report
    assert report[["found", "first", "last"]].to_numpy().tolist() == [["other spelling", first, last]]


# --- orders -------------------------------------------------------------------------------------------


def test_a_sorted_column_of_the_segments_goes_by_their_numbers():
    given = from_words([0, 5, 20], [4, 19, 29], ["Lead", "Evidence", "Claim"])
    table = given.to_frame().assign(effective=[0.1, 0.9, 0.5])
    by_length = table.assign(n=table["last"] - table["first"]).sort_values("n", ascending=False)
    assert given.with_effectiveness(by_length["effective"]).d1.tolist() == [0.1, 0.9, 0.5]
    assert given[by_length["n"] > 5].first.tolist() == [5, 20]
    # Other labels say nothing about segments.
    assert given.with_effectiveness(pd.Series([0.1, 0.9, 0.5], index=[7, 8, 3])).d1.tolist() == [0.1, 0.9, 0.5]


def test_essays_in_another_order_are_told():
    solution, submission = make_competition(30, shared_words=False)
    ids = solution["essay_id"].unique().tolist()
    backward = ids[::-1]
    prepared, model = podium.prepare(solution), spans.from_table(submission, ids)
    assert spans.score(prepared, model, ids) > 0.1
    assert len(spans.average([model, spans.from_table(solution, ids)])) > 0
    with pytest.warns(UserWarning, match="^essay_ids: expected the same essays in the same order"):
        spans.score(prepared, model, backward)
    with pytest.warns(UserWarning, match="^several: expected the same essays in the same order"):
        spans.average([model, spans.from_table(solution, backward)])


def test_models_of_other_essays_are_not_averaged_without_a_word():
    solution, submission = make_competition(30, shared_words=False)
    model = spans.from_table(submission, solution["essay_id"].unique().tolist())
    with pytest.warns(UserWarning, match="^several: expected the same essays, found 0 of 15 on both sides"):
        spans.average([model[model.essay < 15], model[model.essay >= 15]])
    assert len(spans.average([model, model[model.essay < 15]], votes=1)) > 0


def test_ids_that_one_side_lacks_are_counted():
    solution, submission = make_competition(30, shared_words=False)
    ids = solution["essay_id"].unique().tolist()
    renamed = [*ids[:20], *(f"x{name}" for name in ids[20:])]
    with pytest.warns(
        UserWarning, match=f"^essay_ids: 10 of 30 are not in the table, .* such as 'x{ids[20]}'$"
    ):
        part = spans.from_table(submission, renamed)
    # An essay may have no segment, and a table may have other essays.
    assert len(spans.from_table(submission[submission["essay_id"].isin(ids[:20])], ids)) == len(part)
    assert len(spans.from_table(submission, ids[:20])) == len(part)
    model = spans.from_table(submission, ids)
    with pytest.warns(
        UserWarning, match=f"^essay_ids: 10 of 30 are not in the solution, such as 'x{ids[20]}'$"
    ):
        spans.score(podium.prepare(solution), model, renamed)


def test_last_words_that_belong_to_the_next_segment_are_told():
    first = np.arange(0, 200, 10)
    for last in (first, first + 9):
        assert len(from_words(first, last, "Claim", texts="w " * 200)) == 20
    with pytest.warns(UserWarning, match=r"^the last word of 19 of 20 segments is the first word of another; "):
        from_words(first, np.minimum(first + 10, 199), "Claim", texts="w " * 200)


def test_a_text_beside_positions_is_compared_with_them():
    table = pd.DataFrame(
        {
            "essay_id": "A",
            "discourse_type": "Claim",
            "predictionstring": [f"{3 * row} {3 * row + 1} {3 * row + 2}" for row in range(12)],
            "discourse_text": "three words here",
        }
    )
    assert len(spans.from_table(table, ["A"])) == 12
    with pytest.warns(UserWarning, match="^the numbers of words in discourse_text .* differ in 12 of 12 rows"):
        spans.from_table(table.assign(discourse_text="as many as five words"), ["A"])


# --- as many as truth has -----------------------------------------------------------------------------


def test_the_most_probable_segments_of_a_type_stay():
    given = from_words(
        [0, 5, 9, 20], [4, 8, 18, 24], ["Lead", "Lead", "Lead", "Claim"], probability=[0.5, 0.5, 0.4, 0.1]
    )
    assert spans.select(given, most={"Lead": 1}).first.tolist() == [0, 20]
    assert spans.select(given, most=2).first.tolist() == [0, 5, 20]
    longer = from_words([0, 5], [4, 18], "Lead", essay=[0, 0], probability=0.5)
    assert spans.select(longer, most={"Lead": 1}).first.tolist() == [5]
    two = from_words([0, 5], [4, 8], "Lead", essay=[0, 1])
    assert len(spans.select(two, most={"Lead": 1})) == 2


# --- tokens and their texts ---------------------------------------------------------------------------

FOLDER = Path(__file__).parents[1] / "examples" / "data" / "train"
ESSAYS = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))[:12]]
OF_TOKENS = ["O", "B-Claim", "I-Claim"]


def pieces(text, longest=5):
    """Cut a text into words and signs, and long words in two, as a tokenizer does that adds special tokens."""
    places = []
    for match in re.finditer(r"\w+|[^\w\s]", text):
        start, end = match.span()
        places += [(start, start + 4), (start + 4, end)] if end - start > longest else [(start, end)]
    return [(0, 0), *places, (0, 0)]


def tagged(texts, encoded, essay=None):
    offsets = list(map(pieces, encoded))
    tags = [["O", *["I-Claim"] * (len(each) - 2), "O"] for each in offsets]
    return from_tokens(texts, offsets, tags, OF_TOKENS, essay=essay)


VERSIONS = {
    "line ends of two": (lambda text: text.replace(". ", ".\r\n"), lambda text: text.replace(". ", ".\n")),
    "each line end": (lambda text: re.sub(r"\s", "\n", text), lambda text: re.sub(r"\s", "\r\n", text)),
    "white space in front is cut off": (lambda text: f"\n\n{text}", str),
    "runs of spaces count once": (lambda text: text.replace(". ", ".  "), str),
    "they count from 1": (str, lambda text: f"\ufeff{text}"),
    "they count units": (
        lambda text: f"{text} ".replace("e ", "e \U0001f4f1 "),
        lambda text: f"{text} ".replace("e ", "e xx "),
    ),
}


@pytest.mark.parametrize(
    ("cure", "given", "encoded"), [(cure, *both) for cure, both in VERSIONS.items()], ids=[*VERSIONS]
)
def test_tokens_of_another_version_of_the_texts_are_refused(cure, given, encoded):
    texts, others = [list(map(change, ESSAYS)) for change in (given, encoded)]
    with pytest.raises(
        ValueError, match=f"^expected offset_mapping of the texts as given, .* hardly any if {cure}"
    ):
        tagged(texts, others)
    assert len(tagged(texts, texts)) == len(texts)


def test_tokens_of_texts_in_another_order_are_told():
    """The cause is not that a tokenizer has cut the texts, of which nothing is said."""
    longest = max(map(len, ESSAYS))
    texts = [text.ljust(longest) for text in ESSAYS]  # so that no position is beyond its text
    with pytest.warns(UserWarning, match=r"^expected offset_mapping .* in the same order\?$") as told:
        tagged(texts[::-1], texts)
    assert len(told) == 1
    with pytest.warns(UserWarning, match="^expected offset_mapping"):
        spans.bio_tags(texts[::-1], list(map(pieces, texts)), from_words(0, 3, "Claim", essay=0))


def test_numbers_of_texts_that_start_again_in_each_batch_are_named():
    longest = max(map(len, ESSAYS))
    texts = [text.ljust(longest) for text in ESSAYS]
    again = [number % 4 for number in range(len(texts))]
    with pytest.warns(UserWarning, match="the numbers in essay start again at window 4, as overflow_to_sample"):
        tagged(texts, texts, again)
    assert len(tagged(texts, texts, list(range(len(texts))))) == len(texts)


@pytest.mark.parametrize("kind", ["first pieces", "no punctuation", "spaces in front", "half a text"])
def test_tokens_of_the_texts_are_taken_whatever_they_leave_out(kind):
    kept = {
        "first pieces": lambda text, place: place if text[place[0] - 1 : place[0]].isspace() else (0, 0),
        "no punctuation": lambda text, place: place if text[place[0]].isalnum() else (0, 0),
        "spaces in front": lambda text, place: (place[0] - (text[place[0] - 1 : place[0]] == " "), place[1]),
        "half a text": lambda text, place: place if place[1] < len(text) / 2 else (0, 0),
    }[kind]
    offsets = [[(0, 0), *(kept(text, place) for place in pieces(text, 7)[1:-1])] for text in ESSAYS]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from_tokens(ESSAYS, offsets, [["I-Claim"] * len(each) for each in offsets], OF_TOKENS)
    assert not any("expected offset_mapping" in str(each.message) for each in caught)
