"""Made-up essays as texts for `podium run`, in the folder examples/data.

``python -m tests.support.texts`` writes this folder.

The words are drawn by lot, and the segments are those of `tests.support.essays`. The folder texts/ has the
essays of solution_sample.csv. The folder train/ has other essays of the same kind, and train.csv has their
segments. Three segments in four open with a phrase of their type, and effective segments give more reasons, so
that a model can learn both.
"""

import random
from pathlib import Path

import pandas as pd

from tests.support.essays import SAMPLE_ESSAYS, SAMPLE_SEED, make_competition

__all__ = ["write_texts"]

TRAIN_ESSAYS, TRAIN_SEED = 60, 1918
CUE_SHARE, OWN_WORD_SHARE = 0.75, 0.35
REASON_SHARE = {0: 0.2, 1: 0.7}
PARAGRAPH_SHARE = {"Position": 0.4, "Claim": 0.6, "Counterclaim": 0.8, "Concluding Statement": 0.95}
SENTENCE_WORDS = (7, 17)

CUES = {
    "Lead": ["Have you ever wondered why", "Imagine that", "Most of us know the feeling when", "Every day,"],
    "Position": ["I believe that", "In my opinion,", "I think that", "My view is that"],
    "Claim": ["First of all,", "Another reason is that", "One benefit is that", "Secondly,", "Also,"],
    "Counterclaim": ["Some people say that", "Others might argue that", "Critics claim that"],
    "Rebuttal": ["However,", "But this is wrong since", "Even so,"],
    "Evidence": [
        "For example,",
        "For instance,",
        "According to a survey,",
        "Last year,",
        "Research shows that",
    ],
    "Concluding Statement": ["In conclusion,", "To sum up,", "All in all,", "For all these reasons,"],
}
SUBJECTS = {
    None: ["students", "teachers", "people", "many schools", "they", "we", "young people", "these schools"],
    "Lead": ["bus drivers", "my grandparents", "old friends", "the neighbors"],
    "Position": ["our schools", "the principals", "all districts"],
    "Claim": ["learners", "good grades", "longer nights"],
    "Counterclaim": ["some parents", "critics", "opponents"],
    "Rebuttal": ["those parents", "such worries", "these doubts"],
    "Evidence": ["my neighbors", "two studies", "the surveys", "our coaches"],
    "Concluding Statement": ["all of us", "our children", "families"],
}
VERBS = {
    None: ["need", "like", "want", "see", "use", "have", "know", "get"],
    "Lead": ["remember", "dream", "picture"],
    "Position": ["should allow", "must offer", "ought to change"],
    "Claim": ["improve", "help", "support"],
    "Counterclaim": ["fear", "doubt", "oppose"],
    "Rebuttal": ["forget", "ignore", "overlook"],
    "Evidence": ["reported", "measured", "found", "counted"],
    "Concluding Statement": ["deserve", "gain", "win"],
}
OBJECTS = {
    None: [
        "a lot",
        "the work",
        "time",
        "their phones",
        "new ideas",
        "help from others",
        "something",
        "homework",
    ],
    "Lead": ["a cold morning", "the first day", "an old story"],
    "Position": ["later classes", "online lessons", "a longer break"],
    "Claim": ["their health", "better results", "the mood in class"],
    "Counterclaim": ["the costs", "lower grades", "too much freedom"],
    "Rebuttal": ["the whole picture", "plain facts", "the other side"],
    "Evidence": ["forty percent", "twelve hours", "two hundred answers", "the numbers"],
    "Concluding Statement": ["a better world", "this change", "a fair chance"],
}
CONNECTORS = ["and", "but", "while", "when", "so"]
REASON = "because"
SHORT = {1: ["Yes.", "No.", "True."], 2: ["Not always.", "Of course.", "Why not?"]}


def essay_text(draw: random.Random, segments: pd.DataFrame) -> str:
    """A text in which the words of each segment stand at its positions."""
    words = 0
    parts: list[str] = []
    for row in segments.itertuples():
        positions = [int(position) for position in str(row.predictionstring).split()]
        kind = str(row.discourse_type)
        if positions[0] > words:
            parts += [_passage(draw, None, positions[0] - words, 0), " "]
        if parts and draw.random() < PARAGRAPH_SHARE.get(kind, 0.0):
            parts[-1] = "\n\n"
        parts += [_passage(draw, kind, len(positions), int(str(row.discourse_effectiveness))), " "]
        words = positions[-1] + 1
    return "".join(parts).strip() + "\n"


def _passage(draw: random.Random, kind: str | None, length: int, effective: int) -> str:
    """Sentences with this number of words in all."""
    cue = draw.choice(CUES[kind]).split() if kind and draw.random() < CUE_SHARE else []
    if len(cue) + 3 > length:
        cue = []
    sentences = []
    while length:
        number = length
        if length >= 2 * SENTENCE_WORDS[0]:
            number = min(max(draw.randint(*SENTENCE_WORDS), len(cue) + 3), length - 3)
        sentences.append(_sentence(draw, kind, number, cue, effective))
        cue = []
        length -= number
    return " ".join(sentences)


def _sentence(draw: random.Random, kind: str | None, length: int, cue: list[str], effective: int) -> str:
    """A sentence of this length, which may open with a cue and give reasons."""
    if length < 3:
        return draw.choice(SHORT[length])
    words = list(cue)
    while (room := length - len(words)) > 0:
        # A clause has three to six words.  A connector stands before every clause but the first.  The words
        # left after it must be none, or at least four.
        if words and words != cue:
            words.append(REASON if draw.random() < REASON_SHARE[effective] else draw.choice(CONNECTORS))
            room -= 1
        sizes = [size for size in range(3, 7) if size == room or room - size >= 4]
        words += _clause(draw, kind, draw.choice(sizes))
    text = " ".join(words)
    return text[0].upper() + text[1:] + "."


def _clause(draw: random.Random, kind: str | None, length: int) -> list[str]:
    """A subject, a verb and an object with this number of words together."""
    while True:
        lists = (SUBJECTS, VERBS, OBJECTS)
        words = [
            word
            for among in lists
            for word in draw.choice(among[kind if draw.random() < OWN_WORD_SHARE else None]).split()
        ]
        if len(words) == length:
            return words


def write_texts(folder: Path) -> None:
    """Write the texts of the sample, and the texts and segments to learn from."""
    sample, _ = make_competition(SAMPLE_ESSAYS, SAMPLE_SEED, shared_words=False)
    train, _ = make_competition(TRAIN_ESSAYS, TRAIN_SEED, shared_words=False)
    for solution, name in ((sample, "texts"), (train, "train")):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for essay, segments in solution.groupby("essay_id"):
            text = essay_text(random.Random(f"{name} {essay}"), segments)
            (folder / name / f"{essay}.txt").write_text(text, encoding="utf-8", newline="\n")
    columns = ["essay_id", "discourse_type", "predictionstring", "discourse_effectiveness"]
    train[columns].to_csv(folder / "train.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    write_texts(Path("examples/data"))
