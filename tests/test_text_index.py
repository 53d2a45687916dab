"""The words of a text are those of `str.split()`, and passages find them by one rule."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.tables.text_index import TextIndex

TEXTS = st.text(st.sampled_from("ab.é\u0301 \n\t\x1c\u00a0\u2003\u3000\u200b\U0001f4f1\ud800"), max_size=30)


@given(TEXTS)
def test_words_are_those_of_split(text):
    index = TextIndex(text)
    assert index.borders() == [match.span() for match in re.finditer(r"\S+", text)]
    assert [text[start:end] for start, end in index.borders()] == text.split()
    assert len(index) == len(text.split())


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=5))
def test_passages_find_their_words(text, places):
    """A literal form of the rules stands beside the fast one."""
    index = TextIndex(text)
    ordered = [sorted((min(a, len(text)), min(b, len(text)))) for a, b in places]
    start, end = np.transpose(ordered)
    words = index.borders()
    middles, (firsts, lasts) = index.middle_word(start, end), index.between(start, end)
    centered = index.between(start, end, by_middle=True)
    for row, (a, b) in enumerate(ordered):
        seen = [at for at in range(a, b) if not text[at].isspace()]
        middle = seen[len(seen) // 2] if seen else None
        assert middles[row] == next((n for n, (s, e) in enumerate(words) if seen and s <= middle < e), -1)
        begin = sum(s < a for s, _ in words)
        touched = sum(s < b for s, _ in words) - sum(e <= a for _, e in words)
        assert (firsts[row], lasts[row]) == (begin, min(begin + touched, len(words)) - 1)
        inside = [n for n, (s, e) in enumerate(words) if a <= (s + e) // 2 < b]
        found = [*range(centered[0][row], centered[1][row] + 1)]
        assert found == inside
