"""Whether what belongs together fits together: probabilities of a row, positions and words, weights and models.

Each column is checked by the door. Here two columns are held against each other, or a column against its text:
whoever gives both has said the same thing twice, and where the two contradict each other, one is wrong.
"""

import functools
import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.common.arrays import Floats, Ints, by_essay
from podium.common.wording import counted
from podium.spans import door
from podium.tables.text_index import TextIndex

ROUNDED_SUM = 0.005  # what a softmax in bfloat16 may be off
FAR = 0.1  # from which on a sum is not that of probabilities
FEWEST_POSITIONS = 10  # of which something is said
WITHIN, CURED = (
    0.4,
    0.1,
)  # the shares of positions within words, and of cut words: of another text, of the right one
SAMPLED = 100  # texts whose tokens are held against their words
NEAR, MIXED = 0.1, 0.35  # of a last word; the share of essays with near ones if essays are exchanged
SHARED = 0.2  # the share of segments that end where another one begins; true segments hardly ever do
QUOTED = ("word", "text", "quote", "span")  # where a group says the words at its positions
UNKNOWN = ("[UNK]", "<unk>", "\ufffd")  # what a pipeline writes for characters that its tokenizer cannot show

# The texts in which positions are often counted instead, and what an end then lacks, by how they are counted.
VERSIONS: Mapping[str, tuple[Callable[[str], str], int]] = {
    "they count from 1": (lambda text: f" {text}", 0),
    "they count from 1 and an end belongs to its segment": (lambda text: f" {text}", 1),
    "an end belongs to its segment": (str, 1),
    "line ends of two characters count once": (lambda text: text.replace("\r\n", "\n"), 0),
    "each line end counts as two characters": (lambda text: re.sub(r"(?<!\r)\n", "\r\n", text), 0),
    "white space is collapsed": (lambda text: re.sub(r"\s+", " ", text), 0),
    "runs of spaces count once": (lambda text: re.sub(" +", " ", text), 0),
    "white space in front is cut off": (str.lstrip, 0),
    "they count bytes of UTF-8": (lambda text: text.encode("utf-8", "replace").decode("latin-1"), 0),
    "they count units of UTF-16": (lambda text: re.sub("[\U00010000-\U0010ffff]", "..", text), 0),
    "invisible characters are removed": (
        lambda text: "".join(each for each in text if unicodedata.category(each) != "Cf"),
        0,
    ),
}


# ---- The probabilities of a row ---------------------------------------------------------------------------


def check_rows(windows: Sequence[npt.NDArray[Any]], has_outside: bool) -> None:
    """Hold the probabilities of each token to 0 to 1 and their sum to 1, in all windows; zeros are padding.

    Without a label for what is outside (`has_outside`) a row may add to less.
    """
    sized = {number: window for number, window in enumerate(windows) if window.ndim == 2 and window.size}
    if not sized:
        return
    given = list(sized.values())
    least, most, sums = (
        np.concatenate([find(window, axis=1, dtype=np.float64) for window in given])
        for find in (np.minimum.reduce, np.maximum.reduce, np.add.reduce)
    )
    wrong = np.logical_not((least >= 0) & (most <= 1 + door.ROUNDED))  # also where one is NaN
    of_token = np.repeat(list(sized), list(map(len, given)))
    expected = "probabilities from 0 to 1, such as the softmax of logits"
    door.require(of_token, wrong, expected, "{} to {}", least.round(3), most.round(3), part="token")
    sums = sums[sums > 0]
    off = np.abs(sums - 1) if has_outside else np.maximum(sums - 1, 0)
    wrong = off > ROUNDED_SUM
    if not wrong.any():
        return
    least, most = sums[wrong].min(), sums[wrong].max()
    found = f"{int(wrong.sum()):,} of {counted(len(sums), 'row')} with sums from {least:.3f} to {most:.3f}"
    expected = "predictions: expected the probabilities of a token to add to 1"
    if np.median(off) > FAR:
        raise ValueError(f"{expected}, found {found}; {_cause(given, sums)}")
    warnings.warn(f"{expected}, found {found}; was a label cut away?", stacklevel=5)


def _cause(windows: Sequence[npt.NDArray[Any]], sums: Floats) -> str:
    """Tell what probably made rows that do not add to 1."""
    if all(np.allclose(window.sum(axis=0), 1, atol=FAR) for window in windows):
        return "each label adds to 1 over the tokens, so take the softmax over the labels, axis=-1"
    if np.ptp(sums) <= 2 * ROUNDED_SUM:
        return f"all rows add to {sums.mean():.3g}, as with weights of models that add to it: divide by that"
    return "take the softmax over the labels, axis=-1; divide sigmoids of independent labels by their row's sum"


def check_weights(weights: Floats) -> None:
    """Tell that shares do not add to 1; numbers from 1 on are counts, which need not."""
    total = float(weights.sum())
    if weights.max() < 1 and abs(total - 1) > ROUNDED_SUM:
        warnings.warn(
            f"weights: expected shares that add to 1, or counts, found {total:.3g}; the sum divides each",
            stacklevel=5,
        )


# ---- The order of essays ----------------------------------------------------------------------------------


def check_order(what: str, one: tuple[Ints, Ints], other: tuple[Ints, Ints]) -> None:
    """Warn if two sides have other essays, or in another order; each gives essays and last words of segments.

    Segments reach to about the same word in an essay, whoever made them. So if hardly any essay has nearly the
    same last word on both sides, but the last words of all essays together are nearly the same, essays were
    exchanged.
    """
    essays = np.intersect1d(one[0], other[0])
    fewest = min(len(np.unique(essay)) for essay, _ in (one, other))
    if fewest >= FEWEST_POSITIONS and len(essays) < fewest / 2:
        warnings.warn(
            f"{what}: expected the same essays, found {len(essays):,} of {fewest:,} on both sides; segments of "
            "other essays, such as other folds, are put together by concat",
            stacklevel=5,
        )
    if len(essays) < FEWEST_POSITIONS:
        return
    ends = np.zeros((2, int(essays.max()) + 1), dtype=np.int64)
    for side, (essay, last) in zip(ends, (one, other)):
        known = np.isin(essay, essays)
        np.maximum.at(side, essay[known], last[known])
    first, second = ends[:, essays]
    if _share_near(first, second) < MIXED and _share_near(np.sort(first), np.sort(second)) > 1 - MIXED:
        warnings.warn(
            f"{what}: expected the same essays in the same order, found that segments end elsewhere in most of "
            f"{counted(len(essays), 'essay')}, as if the essays were in another order",
            stacklevel=5,
        )


def _share_near(first: Ints, second: Ints) -> float:
    """The share of essays whose last words are nearly the same."""
    return float((np.abs(first - second) <= NEAR * np.maximum(first, second)).mean())


def check_ids(unknown: Sequence[object], number: int, where: str) -> None:
    """Warn if many of the ids are unknown; a few essays may have no segment."""
    if len(unknown) > NEAR * number:
        warnings.warn(
            f"essay_ids: {len(unknown):,} of {number:,} are not in the {where}, such as {unknown[0]!r}",
            stacklevel=4,
        )


def check_quotes(texts: Sequence[Any], words: Ints) -> None:
    """Warn if most quotes have other numbers of words than the positions beside them."""
    both = [(text, number) for text, number in zip(texts, words.tolist()) if isinstance(text, str)]
    wrong = [(text, number) for text, number in both if abs(len(text.split()) - number) > 1]
    if len(both) >= FEWEST_POSITIONS and len(wrong) > len(both) / 2:
        text, number = wrong[0]
        warnings.warn(
            "the numbers of words in discourse_text and of positions in predictionstring differ in "
            f"{len(wrong):,} of {len(both):,} rows, such as {text!r:.40} with {counted(number, 'position')}; "
            "are these cells of the same segments?",
            stacklevel=5,
        )


def check_ends(essay: Ints, first: Ints, last: Ints) -> None:
    """Warn if many segments end with the word with which another one begins, as exclusive ends do."""
    ends, begins = ((essay << 32) | position for position in (last, first))
    shared = int((np.isin(ends, begins) & (last > first)).sum())
    if len(first) >= FEWEST_POSITIONS and shared > SHARED * len(first):
        warnings.warn(
            f"the last word of {shared:,} of {counted(len(first), 'segment')} is the first word of another; if "
            "it does not belong to the segment, give last - 1",
            stacklevel=4,
        )


# ---- Positions and the words of their text ----------------------------------------------------------------


def check_positions(texts: Sequence[str], essay: Ints, start: Ints, end: Ints) -> None:
    """Refuse characters of another version of the texts, which is seen by positions within words.

    A correction that brings them to the borders of words is named. Where none does, the share is told, for a
    model may cut words. Where so few positions are given, nothing is said.
    """
    if len(start) < FEWEST_POSITIONS:
        return
    share = _share_within(texts, essay, start, end)
    if share <= WITHIN:
        return
    what = _cured_by(
        lambda version, more: _share_within([*map(version, texts)], essay, start, end + more),
    )
    if what:
        raise ValueError(
            f"expected characters of the texts as given, found {share:.0%} of the starts or ends within "
            f"words, and hardly any if {what}: give the texts or the positions accordingly"
        )
    if (start >= 0).all() and (end <= np.array([len(text) for text in texts])[essay]).all():
        warnings.warn(
            f"{share:.0%} of the starts or ends are within words; are the positions those of characters, "
            "counted from 0, in exactly these texts?",
            stacklevel=5,
        )


def _cured_by(share: Callable[[Callable[[str], str], int], float]) -> str:
    """Tell how positions are counted if that brings them to the borders of words; "" if nothing does.

    `share` measures how many are wrong in a version of the texts, with ends that are moved by a number.
    """
    cures = (what for what, (version, more) in VERSIONS.items() if share(version, more) <= CURED)
    return next(cures, "")


def _share_within(texts: Sequence[str], essay: Ints, start: Ints, end: Ints) -> float:
    """The share of starts or of ends that are within a word or outside of their text, whichever is larger."""
    numbers = essay.tolist()
    return max(
        float(np.mean([_is_within_word(texts[number], at) for number, at in zip(numbers, positions.tolist())]))
        for positions in (start, end)
    )


def _is_within_word(text: str, position: int) -> bool:
    """Tell whether a position parts two letters or digits of a script that has spaces, or is outside."""
    if not 0 < position < len(text):
        return not 0 <= position <= len(text)
    before, behind = text[position - 1], text[position]
    return (
        before.isalnum() and behind.isalnum() and not {"Lo"} & set(map(unicodedata.category, before + behind))
    )


# ---- Tokens and the words of their text -------------------------------------------------------------------


def check_tokens(texts: Sequence[str], text_of: Ints, sizes: Ints, start: Ints, end: Ints) -> bool:
    """Hold tokens against their texts, and tell whether they fit; windows have a text and a number of tokens.

    Tokens divide the words of a text among them, so none has a part of two words, and what begins or ends
    within a word is next to another token. A correction that makes it so is named. Where none does, a warning
    says how many words are wrong.
    """
    own = np.repeat(text_of, sizes)
    there = np.unique(own)
    some = np.isin(own, there[:: len(there) // SAMPLED + 1])
    given = own[some], start[some], end[some]
    share = 0.0 if len(given[0]) < FEWEST_POSITIONS else _share_of_misfits(texts, *given)
    if share <= WITHIN:
        return True
    found = (
        f"expected offset_mapping of the texts as given, found {share:.0%} of the words cut where no other "
        "token goes on, or joined with another word"
    )
    again = np.flatnonzero(np.diff(text_of) < 0)
    what = "" if len(again) else _cured_by(functools.partial(_share_of_misfits, texts, *given))
    if what:
        raise ValueError(f"{found}, and hardly any if {what}: give the texts or the positions accordingly")
    if (end <= np.array([*map(len, texts)])[own]).all():  # else it is refused for that
        cause = "are these the positions of exactly these texts, in the same order?"
        if len(again):
            cause = (
                f"the numbers in essay start again at window {again[0] + 1:,}, as overflow_to_sample_mapping "
                "does in each batch: add the number of texts in the batches before"
            )
        warnings.warn(f"{found}; {cause}", stacklevel=5)
    return False


def _share_of_misfits(
    texts: Sequence[str],
    own: Ints,
    start: Ints,
    end: Ints,
    version: Callable[[str], str] = str,
    more: int = 0,
) -> float:
    """The share of the touched words that tokens do not fit, in a version of the texts, with moved ends."""
    wrong = touched = 0
    for number, rows in by_essay(own):
        index = TextIndex(version(texts[number]))
        is_seen = end[rows] > start[rows]  # special tokens have the offsets (0, 0)
        first, behind = start[rows][is_seen], end[rows][is_seen] + more
        of_text = _misfits_of(index, first, behind)
        wrong, touched = wrong + of_text[0], touched + of_text[1]
    return wrong / max(touched, 1)


def _misfits_of(index: TextIndex, start: Ints, end: Ints) -> tuple[int, int]:
    """Count the words of a text that its tokens do not fit, and those that they touch.

    What is beyond the text fits no word.
    """
    size = len(index.text)
    if (end > size).any():
        return len(end), len(end)
    first, behind = index.inner(start.clip(0), end.clip(0))
    seen = behind > first
    first, last = first[seen], behind[seen] - 1
    words = np.stack([index.words[first], index.words[last]])
    begin, end = index.visible[first], index.visible[last] + 1
    begins, ends = np.zeros((2, size + 1), dtype=bool)
    begins[begin], ends[end] = True, True
    wrong = np.zeros(len(index), dtype=bool)
    wrong[words[:, words[0] < words[1]]] = True
    for word, at, others, borders in (
        (words[0], begin, ends, index.starts),
        (words[1], end, begins, index.ends),
    ):
        alone = ~others[at] & (at != borders[word])
        cut = [_is_within_word(index.text, position) for position in at[alone].tolist()]
        wrong[word[alone][cut]] = True
    return int(wrong.sum()), len(np.unique(words))


def warn_of_other_words(texts: Sequence[str], groups: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
    """Warn if the words of groups do not stand at their positions, so that these are of another text."""
    elsewhere = []
    for number, group in groups:
        found = texts[number][int(group["start"]) : int(group["end"])]
        for key, word in group.items():
            is_said = key in QUOTED and isinstance(word, str) and not any(sign in word for sign in UNKNOWN)
            if is_said and letters(word) != letters(found):
                elsewhere.append((number, key, word, found))
    if elsewhere:
        number, key, word, found = elsewhere[0]
        warnings.warn(
            "give the texts exactly as the pipeline got them: at the positions of "
            f"{counted(len(elsewhere), 'group')} of {len(groups):,} stands another {key}, such as "
            f"{found!r:.60} instead of {word!r:.60} in text {number}",
            stacklevel=4,
        )


def letters(text: str) -> str:
    """Reduce a text to its letters and digits, without case, accents and white space."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))
