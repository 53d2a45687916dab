"""A close match has the words that the quote means: not one more, and not one less."""

import random
import re

import pytest

from podium.spans import from_quotes

# Every passage of ten words occurs once in its text.
TEXTS = (
    "Every winter the lake behind our town freezes, and every winter somebody walks on it too early. I "
    "think the council should put up signs that tell how thick the ice is. A sign costs less than one "
    "rescue, and people who know a number can decide for themselves! My uncle fished there for thirty "
    "years; he measured the ice each morning and wrote it on his door. Neighbors came to look before they "
    "let their children skate. Opponents say that signs are ugly and that nobody reads them. However, "
    "drivers read signs all day long, even on the prettiest roads. A measured number is harder to ignore "
    "than a general warning. For all of this a row of signs along the shore would be money well spent.",
    "Should libraries stay open on Sundays? Many families have no other day on which everybody is free. "
    "When the branch near my school tried it last spring, the reading room was full before noon, although "
    "it rained only twice. Students without a quiet desk at home finished projects there. It is true that "
    "librarians deserve their weekend. They could choose a weekday instead, as nurses and bus drivers do, "
    "and be paid a little more. The city already heats the building, so the additional cost is small. "
    "Critics fear that volunteers will replace trained staff; a written promise can prevent this. I am "
    "convinced that a door which is open on Sunday helps precisely those people whom a library was built "
    "for.",
    "Learning to cook ought to be part of what schools teach. To begin with, a pot of soup costs about as "
    "much as one hamburger and feeds four. Doctors have warned for decades that ready-made meals contain "
    "too much salt. In a survey among older pupils of our district, six out of ten could not boil rice. "
    "Some parents answer that this is their own job. They are right, yet plenty of them work until "
    "evening or never learned it either. Kitchens are expensive, of course. Two classrooms in our "
    "building stand empty, and a local baker has offered used ovens for nothing. Whoever has kneaded "
    "dough with classmates will remember it longer than another worksheet, and will eat better for life.",
)
FULL_WIDTH = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})


def sentences(text):
    """The first and the last word of each passage of one or two sentences that has six words or more."""
    ends = [-1, *(n for n, word in enumerate(text.split()) if re.search(r"[.!?]$", word))]
    passages = [(a + 1, b) for more in (1, 2) for a, b in zip(ends, ends[more:])]
    return [(first, last) for first, last in passages if last - first >= 5]


def passages_within(text):
    """The first and the last word of passages that begin and end anywhere, with two words of each sentence."""
    ends = [re.search(r"[.!?]$", word) is not None for word in text.split()]
    passages = [(first, first + size) for size in range(9, 22) for first in range(len(ends) - size)]
    return [(first, last) for first, last in passages if not (ends[first] or ends[last - 1])]


def put(word, where):
    return lambda words, draw: words.insert(where(words, draw), word)


def inside(words, draw):
    return draw.randrange(1, len(words))


def first_of(words, draw):
    return 0


def end_of(words, draw):
    return len(words)


def replace(at, word):
    """Replace a word at one end, with the case and the punctuation of the essay's."""

    def replaced(words, draw):
        old = words[at]
        new = word.capitalize() if old[0].isupper() else word
        words[at] = new + old[len(old.rstrip(".,;!?")) :]

    return replaced


def swap_letters(words, draw):
    """Make one slip in three words."""
    for at in draw.sample(range(len(words)), 3):
        word = list(words[at])
        if len(word) > 3:
            word[1], word[2] = word[2], word[1]
        words[at] = "".join(word)


CHANGES = {
    "a word more": put("really", inside),
    "two words more": put("in fact", inside),
    "a word less": lambda words, draw: words.pop(draw.randrange(1, len(words) - 1)),
    "two words less": lambda words, draw: words.__delitem__(slice(3, 5)),
    "another word inside": lambda words, draw: words.__setitem__(inside(words[1:], draw), "nothing"),
    "a lead-in": put("Moreover,", first_of),
    "a long lead-in": put("The author writes:", first_of),
    "a bracket behind": put("(line 3)", end_of),
    "who said it": put("– says the author", end_of),
    "slips": swap_letters,
    "bold": lambda words, draw: words.__setitem__(2, f"**{words[2]}**"),
    "the number of a list": put("2)", first_of),
    "a bullet": put("•", first_of),
    "full width": lambda words, draw: words.__setitem__(
        slice(None), [word.translate(FULL_WIDTH) for word in words]
    ),
    "another first word": replace(0, "kids"),
    "another last word": replace(-1, "stuff"),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*not in their texts")
@pytest.mark.parametrize("passages", [sentences, passages_within])
@pytest.mark.parametrize("change", CHANGES)
def test_the_edges_are_those_of_the_quote(change, passages):
    draw, number = random.Random(f"{change} {passages.__name__}"), 200
    drawn = [(at, *draw.choice(passages(TEXTS[at]))) for at in (draw.randrange(3) for _ in range(number))]
    quotes = []
    for at, first, last in drawn:
        words = TEXTS[at].split()[first : last + 1]
        CHANGES[change](words, draw)
        quotes.append(" ".join(words))
    # Each quote stands alone, because others of the same essay would help to place it.
    # Another word takes so much of a short quote that it is not found with the default closeness.
    closeness = 80 if change == "another word inside" else 90
    found = [
        from_quotes(TEXTS[at], [quote], "Claim", closeness=closeness).report.loc[0]
        for (at, _, _), quote in zip(drawn, quotes)
    ]
    right = [(row["first"], row["last"]) == (first, last) for row, (_, first, last) in zip(found, drawn)]
    wrong = [(quote, row["text"]) for quote, row, is_right in zip(quotes, found, right) if not is_right]
    assert sum(right) >= 0.95 * number, wrong[:5]


PHONES = (
    "It was late already. Schools should allow phones in every class because pupils learn faster with them. "
    "My sister agrees."
)
QUOTE = "Schools should allow phones in every class because pupils learn faster with them."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        (QUOTE.replace("should", "should really"), "close"),
        (QUOTE.replace("every ", ""), "close"),
        (QUOTE.replace("should", "ought"), "close"),
        (QUOTE.replace("with", "through"), "close"),
        ("However, " + QUOTE, "close"),
        (QUOTE.replace("Schools", "They"), "close"),
        (QUOTE.replace("Schools", "All teachers"), "close"),
        (QUOTE.replace("them", "these"), "close"),
        ("**Schools** " + QUOTE[8:], "other spelling"),
        (QUOTE + " (p. 2)", "other spelling"),
        ("1. " + QUOTE, "other spelling"),
        ("- " + QUOTE, "other spelling"),
        (QUOTE.translate(FULL_WIDTH), "other spelling"),
        ("Schools should really allow phones … pupils learn much faster with them. [2]", "close"),
    ],
)
def test_a_quote_that_is_not_literal_has_its_own_words(quote, found):
    report = from_quotes(PHONES, [quote], "Claim").report
    assert report[["found", "first", "last"]].values.tolist() == [[found, 4, 16]]


@pytest.mark.parametrize(
    ("quote", "first", "last"),
    [
        ("in this class because pupils learn faster with them.", 8, 16),  # the short word in front stays
        ("Schools should allow phones in every class – said pupils", 4, 10),  # the words behind the dash do not
    ],
)
def test_a_change_beside_an_edge_does_not_move_it(quote, first, last):
    report = from_quotes(PHONES, [quote], "Claim", closeness=80).report
    assert report[["first", "last"]].values.tolist() == [[first, last]]


def test_a_restated_passage_has_its_own_words_too():
    again = "To sum up, schools must allow phones in every class, because pupils learn faster with them!"
    report = from_quotes(f"{PHONES} {again}", [QUOTE, "My sister agreed.", QUOTE], "Claim").report
    assert report[["first", "last"]].values.tolist() == [[4, 16], [17, 19], [23, 35]]


@pytest.mark.filterwarnings("ignore:quotes that are not in their texts")
@pytest.mark.parametrize(
    ("text", "quote", "words"),
    [
        ("_ t", "_ t1", (-1, -1)),  # the words that both have are nothing but a mark of emphasis
        ("I like cats \ud83d a lot", "cats \ud83d", (2, 3)),  # half of an emoji, where JSON was cut off
        ("I like cats", "cats \ud83d", (2, 2)),
    ],
)
def test_a_quote_of_marks_or_halves_of_characters_is_reported(text, quote, words):
    report = from_quotes(text, [quote], "Claim", closeness=60).report
    assert report["quote"].tolist() == [quote]
    assert (report["first"][0], report["last"][0]) == words


@pytest.mark.filterwarnings("ignore:.* not in their texts")
@pytest.mark.parametrize("quote", ["*", "**", "()", "(a)", "-", "1.", "The moon is made of cheese", "al reedy"])
def test_what_is_no_quote_of_the_essay_is_not_found(quote):
    assert from_quotes(PHONES, [quote], "Claim").report["found"].tolist() == ["not found"]
