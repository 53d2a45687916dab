"""`podium make` turns a made-up corpus, in either of two layouts, into the files of a competition."""

import csv
import hashlib
import io
import itertools
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from benchmarks.make import PROGRAM, write_corpus
from benchmarks.measure import memory_of
from podium.cli.make import secret_seed
from podium.common.errors import HostError, UsageError
from podium.hosting import folders, making, samples, splitting
from podium.hosting.essays import corpus, places
from podium.hosting.essays.making import USUAL_DRAW
from podium.hosting.essays.making import make as make_of_essays
from podium.metric import hosted
from podium.tables import files
from tests.support.corpora import make_corpus
from tests.support.host_line import ACCURACY, EQUAL, run_podium

metric = hosted.module("unified")

ATTRIBUTES = ["ell_status", "economically_disadvantaged"]
# Lines of the report
BEYOND = "segments with words beyond their text"
OTHER_WORDS = "segments whose words are not those of their characters"


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    """A made-up corpus of 60 essays."""
    return make_corpus(60)


@pytest.fixture(scope="module")
def by_offsets(whole) -> pd.DataFrame:
    """A corpus in the layout of PERSUADE."""
    return whole.drop(columns="predictionstring")


@pytest.fixture(scope="module")
def by_words(whole) -> pd.DataFrame:
    """A corpus in the layout of the Feedback Prize, without texts."""
    return whole.drop(columns=["full_text", *corpus.OFFSETS]).rename(columns={"essay_id_comp": "id"})


def as_corpus(frame: pd.DataFrame, columns: Mapping[str, str] = {}) -> corpus.Corpus:
    """The corpus as `podium make` reads it from a file with these cells."""
    texts = frame.astype(object).where(frame.notna(), "").astype(str)
    return corpus.of_texts(texts, frame.columns, columns)


def make(
    frame: pd.DataFrame, attributes: list[str] = ATTRIBUTES, columns: Mapping[str, str] = {}, **further: object
) -> folders.Files:
    """The files of a competition that is made from this table."""
    return make_of_essays(as_corpus(frame, columns), attributes, **further)


def tables(files: folders.Files) -> dict[str, pd.DataFrame]:
    """All tables of a competition by file name."""
    return files.public | files.private


def essays_of(files: folders.Files) -> pd.DataFrame:
    """A row of each essay, with its part in the column Usage."""
    train = files.public["train.csv"].assign(Usage="train")
    return pd.concat([files.private["solution.csv"], train]).drop_duplicates("essay_id")


def counts(files: folders.Files) -> dict[str, int]:
    """The first table of the report."""
    lines = files.report.split("## The corpus\n\n")[1].split("\n\n")[0].splitlines()[2:]
    cells = [line.strip("| ").split(" | ") for line in lines]
    return {what: int(number.replace(",", "")) for what, number in cells}


# --- the files --------------------------------------------------------------------------------------


def test_every_segment_is_in_one_file_with_its_labels(by_offsets, whole):
    made = tables(make(by_offsets))
    both = pd.concat([made["solution.csv"], made["train.csv"]])
    keys = ["essay_id", "discourse_type", "predictionstring", "discourse_effectiveness", "gender", *ATTRIBUTES]
    expected = whole.rename(columns={"essay_id_comp": "essay_id"}).assign(
        discourse_effectiveness=(whole["discourse_effectiveness"] == "Effective").astype(int)
    )
    one, other = (
        frame[keys].astype(object).where(frame[keys].notna(), "").sort_values(keys, ignore_index=True)
        for frame in (both, expected)
    )
    pd.testing.assert_frame_equal(one, other)
    assert made["solution.csv"]["row_id"].is_unique
    assert not set(made["solution.csv"]["essay_id"]) & set(made["train.csv"]["essay_id"])


def test_the_sample_submission_follows_from_public_files(by_offsets):
    """Each essay gets the segments of the training essay with the nearest number of words."""
    public = make(by_offsets).public
    train, sample = public["train.csv"], public["sample_submission.csv"]
    assert list(sample) == [
        "row_id", "essay_id", "discourse_type", "predictionstring", *metric.PROBABILITY_COLUMNS,
    ]  # fmt: skip
    length = {
        name: {row.essay_id: len(row.full_text.split()) for row in public[name].itertuples()}
        for name in ("train_essays.csv", "test_essays.csv")
    }
    assert sample["essay_id"].unique().tolist() == list(length["test_essays.csv"])
    share = train.groupby("discourse_type")["discourse_effectiveness"].mean().astype(float).round(2)
    for essay, rows in sample.groupby("essay_id"):
        words = length["test_essays.csv"][essay]
        best = min(abs(other - words) for other in length["train_essays.csv"].values())
        keys = ["discourse_type", "predictionstring"]
        models = [
            name
            for name, other in length["train_essays.csv"].items()
            if abs(other - words) == best
            and train.loc[train["essay_id"] == name, keys].values.tolist() == rows[keys].values.tolist()
        ]
        assert models
        assert [float(d1) for d1 in rows[metric.PROBABILITY_COLUMNS[1]]] == [
            share[kind] for kind in rows["discourse_type"]
        ]


def test_the_files_are_scored_as_the_report_says(by_offsets, by_words):
    """Both layouts give the same files, but for the texts."""
    pd.testing.assert_frame_equal(make(by_words).public["train.csv"], make(by_offsets).public["train.csv"])
    for frame in (by_offsets, by_words):
        files = make(frame)
        solution = files.private["solution.csv"].astype({"discourse_effectiveness": int})
        sample = files.public["sample_submission.csv"]
        scores = [
            metric.score(solution[solution["Usage"] == part], sample, "row_id")
            for part in ("Public", "Private")
        ]
        # The scores are far above that of an empty submission, and differ where something is wrong.
        assert all(0.003 < score < 0.5 for score in scores)
        assert scores[0] != scores[1]
        assert f"| public/sample_submission.csv | {scores[0]:.6f} | {scores[1]:.6f} |" in files.report
        assert "| private/perfect_submission.csv | 1.000000 | 1.000000 |" in files.report


def test_the_order_of_the_rows_does_not_count(by_offsets):
    files, others = make(by_offsets), make(by_offsets.sample(frac=1, random_state=0))
    assert files.report == others.report
    for name, table in tables(files).items():
        pd.testing.assert_frame_equal(table, tables(others)[name])


# --- the split --------------------------------------------------------------------------------------


def test_shares_are_the_same_within_sub_populations_and_prompts():
    made = make_corpus(300, seed=1)
    prompts = np.array(["Mars", "Venus"])[pd.factorize(made["essay_id_comp"])[0] % 2]
    files = make(made.assign(prompt_name=prompts), draw=splitting.Draw(0, 0.25, 0.5))
    essays = essays_of(files)
    strata = [essays[name].fillna("") for name in (*ATTRIBUTES, "prompt_name")]
    table = pd.crosstab(strata, essays["Usage"])
    assert len(table) > 6
    for row in table.itertuples():
        essays = row.Private + row.Public + row.train
        assert abs(row.train - essays * 0.5) <= 1
        assert abs(row.Public - (row.Private + row.Public) * 0.25) <= 1
    assert abs(table["train"].sum() - 150) <= 1
    assert abs(table["Public"].sum() - 37.5) <= 1


@pytest.mark.usefixtures("in_process")
def test_a_corpus_may_have_its_parts(capsys, tmp_path, whole):
    """An essay that is ignored is in the test set of participants, and in no score."""
    essays = pd.factorize(whole["essay_id_comp"])[0]
    corpus_file, out = tmp_path / "corpus.csv", tmp_path / "files"
    words = np.array(["train", "a", "b", "c", "train"], dtype=object)[essays % 5]
    whole.assign(part=words).to_csv(corpus_file, index=False)
    line = ["make", corpus_file, "--out", out, "--split", "part=public:a,private:b,ignored:c"]
    code, told, _ = run_podium(capsys, *line, "--test", 0.3)
    assert (code, told) == (2, "")
    code, told, _ = run_podium(capsys, *line)
    assert (code, "The parts are those of the column part of the labels." in told) == (0, True)
    solution = pd.read_csv(out / "private" / "solution.csv").drop_duplicates("essay_id")
    train = pd.read_csv(out / "public" / "train.csv").drop_duplicates("essay_id")
    meant = dict(zip(whole["essay_id_comp"], words))
    parts = {"Public": "a", "Private": "b", "Ignored": "c"}
    assert [parts[part] for part in solution["Usage"]] == [meant[essay] for essay in solution["essay_id"]]
    assert (len(solution), len(train)) == (36, 24)
    assert "part" not in train
    texts = pd.read_csv(out / "public" / "test_essays.csv")
    assert sorted(texts["essay_id"]) == sorted(solution["essay_id"])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (None, r"^--split: expected a column part, found essay_id, "),
        (
            ["train", "test", ""],
            r"^part: expected the part of the essay in every row. Wrong in \d+ rows of the",
        ),
        (["Public", "test", "Private"], "^part: expected essays to learn from, found none$"),
        (
            ["train", "test", "best"],
            "^part: expected the words train, test, Public, .* --split part=train:best$",
        ),
    ],
)
def test_parts_that_a_corpus_cannot_have(whole, parts, message):
    essays = pd.factorize(whole["essay_id_comp"])[0]
    frame = whole if parts is None else whole.assign(part=np.array(parts, dtype=object)[essays % 3])
    with pytest.raises(HostError, match=message):
        make(frame, draw=splitting.Draw(0, split="part"))


@pytest.mark.parametrize(
    ("name", "values"),
    [("competition_set", ["train", "test"]), ("Usage", ["train", "Private"]), ("half", "ab")],
)
def test_a_corpus_that_is_split_already_is_told(whole, name, values):
    essays = pd.factorize(whole["essay_id_comp"])[0]
    frame = whole.assign(**{name: np.array([*values], dtype=object)[essays % 2]})
    told = [each for each in make(frame).warnings if each.startswith(f"the column {name} seems to split")]
    assert len(told) == (name != "half")
    if name == "competition_set":
        assert not any(
            "seems to split" in each for each in make(frame, draw=splitting.Draw(0, split=name)).warnings
        )


def test_a_corpus_without_a_complete_essay_is_told_why(whole):
    message = rf"found none \({BEYOND}: {len(whole):,}\)$"
    with pytest.raises(HostError, match=message):
        make(whole.drop(columns="discourse_text", errors="ignore").assign(predictionstring="9000 9001"))


# The SHA-256 of the essays with their parts is the same on every machine and with every pandas.
GOLDEN = "d59bd2711a70cd3f1320f45bd6d1afc6d56ff40756e88aa88c0e80023b3e0570"


def test_the_split_is_the_same_everywhere(tmp_path):
    """The corpus comes from the text of a file with missing values that readers might take for something
    else.
    """
    ids = [f"{number:04d}" for number in range(600)]
    rows = [
        "essay_id,discourse_type,predictionstring,discourse_effectiveness,ell_status,economically_disadvantaged"
    ]
    for number, essay in enumerate(ids):
        ell = ("No", "Yes", "", "NA", "9")[number * 7 % 5]
        rows += [
            f"{essay},{kind},{words},Effective,{ell}," for kind, words in (("Lead", "0 1"), ("Claim", "2 3"))
        ]
    (tmp_path / "corpus.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    files = make_of_essays(corpus.read_corpus(tmp_path / "corpus.csv"), ATTRIBUTES)
    essays = files.private["solution.csv"].drop_duplicates("essay_id")
    assert len(essays) == 240
    lines = [f"{row.essay_id} {row.Usage}" for row in essays.itertuples()]
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == GOLDEN


def test_every_essay_can_be_drawn():
    strata = [("a",)] * 3 + [("b",)] * 5
    times = sum(splitting.drawn([*"01234567"], strata, 0.3, str(seed)).astype(int) for seed in range(2000))
    assert times / 2000 == pytest.approx([0.3] * 8, abs=0.04)


@pytest.mark.parametrize(
    ("shares", "absent"),
    [
        ((0.99, 0.5), "train"),
        ((1.0, 0.01), "Public"),
        ((1.0, 0.99), "Private"),
        ((0.01, 0.5), "Public and Private"),
    ],
)
def test_too_few_items_for_every_part(shares, absent):
    ids = ["a", "b", "c"]
    with pytest.raises(
        HostError, match=rf"^expected enough items to split, found 3: none is left for {absent};"
    ):
        splitting.split(ids, [()] * 3, ids, *shares, 0)


def test_essays_of_the_same_text_stay_together(by_words):
    """Spaces do not count, and such essays are reported."""
    number = pd.factorize(by_words["id"])[0]
    texts = np.array(["word " * 2000 + f"{n // 4}" + " " * (n % 4) for n in range(number.max() + 1)])
    files = make(by_words.assign(full_text=texts[number]))
    assert counts(files)["essays with the text of another one: kept together"] == 45
    essays = essays_of(files)
    part = dict(zip(essays["essay_id"], essays["Usage"]))
    groups = {}
    for essay, text in zip(by_words["id"], texts[number]):
        groups.setdefault(text.strip(), set()).add(part[essay])
    assert {len(parts) for parts in groups.values()} == {1}
    assert set(part.values()) == {"train", "Public", "Private"}


def test_a_corpus_with_essays_twice_gives_a_warning(by_offsets):
    """The repeated essays have the same ids or other ones."""
    same = make(pd.concat([by_offsets, by_offsets]))
    assert len(same.warnings) == 1
    assert same.warnings[0].startswith("segments that repeat an earlier one of their essay: does the corpus")
    renamed = by_offsets.assign(essay_id_comp="again-" + by_offsets["essay_id_comp"])
    other = make(pd.concat([by_offsets, renamed]))
    essays = by_offsets["essay_id_comp"].nunique()
    assert f"essays with the text of another one: kept together: {essays:,}" in other.warnings
    assert make(by_offsets).warnings == []


# --- what is dropped, cut, trimmed, left out --------------------------------------------------------


def test_unannotated_rows_are_dropped(by_offsets):
    extra = by_offsets.drop_duplicates("essay_id_comp").assign(
        discourse_type="Unannotated", discourse_effectiveness=None
    )
    alone = extra.head(1).assign(essay_id_comp="ALONE")
    files, expected = make(pd.concat([by_offsets, extra, alone])), make(by_offsets)
    for name, table in tables(expected).items():
        pd.testing.assert_frame_equal(tables(files)[name], table)
    assert counts(files)["rows that are Unannotated: dropped"] == 61
    assert counts(files)["essays without an annotated row: dropped"] == 1
    assert counts(files)["essays"] == 60


@pytest.mark.parametrize(
    ("dropped", "column", "value", "what"),
    [
        (["predictionstring"], "discourse_effectiveness", None, "segments without effectiveness"),
        (["predictionstring"], "discourse_start", None, "segments without words"),
        (corpus.OFFSETS, "predictionstring", None, "segments without words"),
        (corpus.OFFSETS, "predictionstring", "90000 90001", BEYOND),
        ([], "discourse_start", 0, OTHER_WORDS),
    ],
)
def test_a_doubtful_segment_is_counted(whole, dropped, column, value, what):
    """Its whole essay is left out, unless nothing is missing."""
    frame = whole.drop(columns=list(dropped)).astype({column: object})
    essay = frame.loc[5, "essay_id_comp"]
    frame.loc[5, column] = value
    files = make(frame)
    is_left_out = what != OTHER_WORDS
    assert counts(files)[what] == 1
    assert counts(files)["essays with such a segment: left out"] == is_left_out
    assert (f"Left out: {essay}." in files.report) == is_left_out
    assert (essay in set(essays_of(files)["essay_id"])) != is_left_out
    assert files.warnings == ([f"{what}: 1"] if what in (BEYOND, OTHER_WORDS) else [])


def test_overlaps_are_removed_by_the_metric_s_rule():
    frame = make_corpus(40, seed=2)
    first, last = metric.parse_predictionstrings(frame["predictionstring"].tolist())
    grown = [" ".join(map(str, range(max(a - 3, 0), b + 1))) for a, b in zip(first.tolist(), last.tolist())]
    frame = frame.assign(predictionstring=grown).drop(columns=[*corpus.OFFSETS, "full_text"])
    files = make(frame)
    numbers = counts(files)
    assert numbers["segments that overlap an earlier one: trimmed"] > 20
    solution = files.private["solution.csv"]  # no TruthOverlapWarning, which would be an error here:
    assert metric.score(solution, files.private["perfect_submission.csv"], "row_id") == 1.0
    assert numbers["segments"] + numbers["segments with at most one word left: discarded"] == len(frame)


def test_segments_that_end_beyond_the_text_are_cut(by_offsets):
    row = by_offsets["discourse_end"].idxmax()
    frame = by_offsets.assign(discourse_end=by_offsets["discourse_end"].where(by_offsets.index != row, 1e6))
    files = make(frame)
    assert counts(files)["segments whose characters end beyond their text: cut"] == 1
    essay, text = frame.loc[row, ["essay_id_comp", "full_text"]]
    both = pd.concat([files.private["solution.csv"], files.public["train.csv"]])
    last = both.loc[both["essay_id"] == essay, "predictionstring"].str.split().str[-1].astype(int).max()
    assert last == len(text.split()) - 1


# --- quotes ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quoted(by_offsets) -> pd.DataFrame:
    """A corpus of 24 essays whose segments are quoted, with lines and characters beyond U+FFFF."""
    ids = by_offsets["essay_id_comp"]
    by_offsets = by_offsets[ids.isin(ids.unique()[:24])]
    letters = "abcdefghijkl😀nopqrstuvwxyz"

    def changed(place: int, letter: str) -> str:
        return letters[place * place % len(letters)] if letter != " " else " \n"[place % 5 == 0]

    texts = ["".join(itertools.starmap(changed, enumerate(text))) for text in by_offsets["full_text"]]
    quotes = [
        text[int(start) : int(end)]
        for text, start, end in zip(texts, by_offsets["discourse_start"], by_offsets["discourse_end"])
    ]
    return by_offsets.assign(full_text=texts, discourse_text=quotes)


def shifted(frame: pd.DataFrame, count) -> pd.DataFrame:
    """The corpus with other starts and ends: `count` tells that of a character from its text and its place."""
    places = {
        column: [count(text, int(place), column) for text, place in zip(frame["full_text"], frame[column])]
        for column in corpus.OFFSETS
    }
    return frame.assign(**places)


WAYS = {
    "two characters for the end of a line": lambda text, place, _: place + text[:place].count("\n"),
    "units of UTF-16": lambda text, place, _: len(text[:place].encode("utf-16-le")) // 2,
    "from 1": lambda text, place, _: place + 1,
    "an end that belongs to its segment": lambda text, place, column: place - (column == corpus.OFFSETS[1]),
}


@pytest.fixture(scope="module")
def expected(quoted):
    """The files of the corpus whose places are right."""
    return make(quoted)


@pytest.mark.parametrize("way", WAYS)
def test_quotes_tell_how_characters_are_counted(quoted, expected, way):
    files = make(shifted(quoted, WAYS[way]))
    for name, table in tables(expected).items():
        pd.testing.assert_frame_equal(tables(files)[name], table)
    assert expected.warnings == []
    assert [warning.rpartition(": ")[0] for warning in files.warnings] == [places.COUNTED]


@pytest.mark.slow
def test_a_corpus_that_contradicts_its_quotes_is_refused(quoted):
    message = r"^discourse_text: expected the words of each segment, found others in \d+ of \d+ segments"
    with pytest.raises(HostError, match=message):
        make(shifted(quoted, lambda text, place, _: place + 23))


def test_a_few_other_quotes_are_counted(quoted, whole):
    """Whether the positions are those of characters or of words; a missing quote contradicts nothing."""
    quotes = quoted["discourse_text"].astype(object).copy()
    quotes[5], quotes[9] = "Something else is said there.", None
    words = quoted.assign(predictionstring=whole["predictionstring"]).drop(columns=list(corpus.OFFSETS))
    for frame in (quoted, words, words.drop(columns="full_text")):
        files = make(frame.assign(discourse_text=quotes))
        assert f"{places.CONTRADICTED}: 1" in files.warnings
    later = words.drop(columns="full_text").assign(discourse_text=quotes.shift(1, fill_value="one"))
    with pytest.raises(HostError, match=r"^discourse_text: expected the words .* lead to \d+ words?: are they"):
        make(later)


# --- the report -------------------------------------------------------------------------------------


def test_the_report(by_offsets, whole):
    files = make(by_offsets)
    writers = whole.drop_duplicates("essay_id_comp")
    for name in ATTRIBUTES:
        assert f"| {name} | {writers[name].isna().sum()} |" in files.report
    assert "| gender | 0 |" in files.report
    assert "| ell_status | (missing) | " in files.report
    assert "Too small for the softmin (fewer than 50 essays)" in files.report
    parts = files.private["solution.csv"].drop_duplicates("essay_id")
    yes = ((parts["ell_status"] == "Yes") & (parts["Usage"] == "Public")).sum()
    assert f"* ell_status = Yes: {yes} Public essays" in files.report
    assert "Left out" not in files.report


def test_effectiveness_may_be_a_number_as_in_what_make_writes(by_offsets):
    words = make(by_offsets).private["solution.csv"]
    for one, zero in ((1, 0), (1.0, 0.0), ("1", "0")):
        numbers = by_offsets["discourse_effectiveness"].map(
            {"Effective": one, "Adequate": zero, "Ineffective": zero}
        )
        again = make(by_offsets.assign(discourse_effectiveness=numbers)).private["solution.csv"]
        pd.testing.assert_frame_equal(words, again)


# --- faults of the corpus ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("discourse_type", "Claims", "one of Lead, |row 9 ('Claims')"),
        ("discourse_type", None, "one of Lead, |row 9 ('')"),
        ("essay_id_comp", None, "a value in every row. |row 9 ('')"),
        ("discourse_effectiveness", "Good", "one of Ineffective, Adequate, Effective. |row 9 ('Good')"),
        ("discourse_start", "x", "a whole number, at least 0. |row 9 ('x')"),
        ("discourse_start", -1, "a whole number, at least 0. |row 9 ('-1')"),
        ("discourse_start", 1.5, "a whole number, at least 0. |row 9 ('1.5')"),
        ("discourse_end", 0, "more than discourse_start. |row 9 ('0')"),
        ("gender", "M", "one value per essay, that of its first row. |row 9 ('M')"),
        ("full_text", "?" * 99, "one value per essay, that of its first row. |row 9 ('" + "?" * 59 + ")"),
    ],
)
def test_faults_are_named_by_row(by_offsets, column, value, message):
    frame = by_offsets.astype({column: object})
    assert frame.loc[7, "essay_id_comp"] == frame.loc[8, "essay_id_comp"]
    frame.loc[8, column] = value
    with pytest.raises(HostError) as caught:
        make(frame)
    expected, problem = message.split("|")
    assert str(caught.value).startswith(f"{column}: expected {expected}")
    assert str(caught.value).endswith(f"Wrong in 1 row of the corpus: {problem}")


def test_rows_are_those_of_the_file(by_offsets):
    """Their numbers count the unannotated rows above, although these are dropped."""
    frame = by_offsets.astype({"discourse_effectiveness": object})
    frame.loc[:3, "discourse_type"] = "Unannotated"
    frame.loc[7:16, "discourse_effectiveness"] = "Good"
    with pytest.raises(HostError, match=r"in 10 rows of the corpus: row 8 \('Good'\), row 9 .* and 5 more$"):
        make(frame)


@pytest.mark.parametrize(
    ("columns", "lacking"),
    [
        (["essay_id_comp"], "essay_id"),
        (["discourse_type", "discourse_effectiveness"], "discourse_type"),
        (["full_text", "discourse_end"], "discourse_end, full_text"),
        (["ell_status"], "ell_status"),
    ],
)
def test_missing_columns(by_offsets, columns, lacking):
    with pytest.raises(HostError) as caught:
        make(by_offsets.drop(columns=columns))
    assert str(caught.value).startswith(f"the corpus lacks columns: {lacking}. It has: ")
    names_groups = str(caught.value).endswith('. --subpopulations names others, or "" for none')
    assert names_groups == (columns == ["ell_status"])


def test_nothing_is_annotated(by_offsets):
    for frame in (by_offsets.head(0), by_offsets.assign(discourse_type="Unannotated")):
        with pytest.raises(HostError, match="the corpus has no annotated row"):
            make(frame)


# --- which column names the essays -------------------------------------------------------------------


def test_several_candidates_are_an_error(by_words):
    both = by_words.assign(essay_id=by_words.index.astype(str))
    with pytest.raises(HostError) as caught:
        make(both)
    assert str(caught.value) == (
        "expected one column that names the essays, found essay_id and id: say which, such as "
        "--columns id=essay_id"
    )
    files = make(both, columns={"id": "essay_id"})
    pd.testing.assert_frame_equal(files.private["solution.csv"], make(by_words).private["solution.csv"])


OWN = {
    "doc": "essay_id", "text": "full_text", "label": "discourse_type", "start": "discourse_start",
    "end": "discourse_end", "quality": "discourse_effectiveness",
}  # fmt: skip


@pytest.mark.slow
def test_columns_of_other_names(capsys, in_process, tmp_path, by_offsets):
    """The message about them shows the line to type."""
    ours = {new: old for old, new in OWN.items() if old != "doc"} | {"essay_id_comp": "doc"}
    by_offsets.rename(columns=ours).to_csv(tmp_path / "corpus.csv", index=False)
    line = ["make", tmp_path / "corpus.csv", "--subpopulations", "gender", "--seed", 0]
    code, _, err = run_podium(capsys, *line, "--out", tmp_path / "out")
    assert code == 4
    named = re.search(r"Name them: --columns ([^.]*)", err)
    assert named is not None
    assert set(named[1].split()) <= {f"YOURS={name}" for name in OWN.values()}
    names = [f"{theirs}={name}" for theirs, name in OWN.items()]
    assert run_podium(capsys, *line, "--columns", *names, "--out", tmp_path / "out")[0] == 0
    made = make(by_offsets, ["gender"])
    written = pd.read_csv(tmp_path / "out" / "private" / "solution.csv", dtype=str, keep_default_na=False)
    assert written["predictionstring"].tolist() == made.private["solution.csv"]["predictionstring"].tolist()


def test_a_corpus_without_effectiveness(by_offsets):
    """All segments get the same one, so a set of right segments still has the best score."""
    files = make(by_offsets.drop(columns="discourse_effectiveness"))
    assert files.warnings == [
        "the corpus has no discourse_effectiveness: every segment counts as Effective, written as 1, which "
        "tells nothing; score_discourse_effectiveness_1 is best always 1"
    ]
    assert set(files.private["solution.csv"]["discourse_effectiveness"]) == {1}
    assert "| private/perfect_submission.csv | 1.000000 | 1.000000 |" in files.report


def test_one_segment_per_essay_is_a_warning(by_words):
    ids = by_words.index.astype(str).str.zfill(4)
    frame = by_words.assign(id=ids, predictionstring="0 1")
    files = make(frame)
    n = len(frame)
    assert files.warnings == [
        f"{n:,} segments in {n:,} essays: does id name the essays, or their segments?",
        "the corpus has no column full_text: put the texts of the essays into public/ yourself",
    ]
    assert f"**{files.warnings[0]}**" in files.report


# --- reading and writing ----------------------------------------------------------------------------


def test_values_are_written_as_they_were_read(capsys, in_process, tmp_path, by_words):
    """Line ends within a text, 9, NA and quotes: participants read exactly what the corpus has."""
    ends = np.array(["a\r\nb", "c\rd", 'e, "f"\n', "g", " h ", "NA", "001", "9", "9.0"], dtype=object)
    number = pd.factorize(by_words["id"])[0]
    texts = np.array([f"{ends[n % 9]}{n}" + " w" * 2000 for n in range(number.max() + 1)], dtype=object)[number]
    frame = by_words.assign(full_text=texts, grade_level=ends[number // 3 % 9], gender="9")
    path = tmp_path / "corpus.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        writer.writerow(frame)
        writer.writerows(frame.astype(object).where(frame.notna(), "").values.tolist())
    code, _, err = run_podium(capsys, "make", path, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    meant = dict(zip(frame["id"], texts)), dict(zip(frame["id"], frame["grade_level"]))
    for name, of in (
        ("public/train_essays.csv", "public/train.csv"),
        ("public/test_essays.csv", "private/solution.csv"),
    ):
        read, rows = (
            pd.read_csv(tmp_path / "out" / each, dtype=str, keep_default_na=False) for each in (name, of)
        )
        assert list(read) == ["essay_id", "full_text"]
        assert read["essay_id"].tolist() == rows["essay_id"].unique().tolist()
        assert read["full_text"].tolist() == [meant[0][essay] for essay in read["essay_id"]]
    rows = csv.DictReader(io.StringIO((tmp_path / "out/public/train.csv").read_bytes().decode(), newline=""))
    for row in rows:
        assert row["grade_level"] == meant[1][row["essay_id"]]
        assert row["gender"] == "9"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak memory there")
def test_memory_does_not_grow_with_the_repeated_text(tmp_path):
    """PERSUADE repeats an essay's text in each of its rows. It is kept in memory once."""
    megabytes, peaks = [], []
    for essays in (2000, 4000):
        corpus, out = tmp_path / f"{essays}.csv", tmp_path / f"{essays}"
        write_corpus(corpus, essays)
        megabytes.append(corpus.stat().st_size / 2**20)
        peaks.append(memory_of(PROGRAM.format(corpus=str(corpus), out=str(out), options=[]))[1])
    assert megabytes[1] > 80
    assert peaks[1] < 130 + 2.5 * megabytes[1]  # with Python and its libraries
    assert peaks[1] - peaks[0] < 2 * (megabytes[1] - megabytes[0])


# --- the command line -------------------------------------------------------------------------------


def test_files_on_disk_and_options(capsys, tmp_path, by_words):
    frame, out = by_words.assign(grade_level="8"), tmp_path / "new" / "competition"
    frame.to_csv(tmp_path / "corpus.csv", index=False)
    options = ["--seed", 7, "--test", 0.5, "--public", 0.5, "--subpopulations", " grade_level "]
    line = ["make", tmp_path / "corpus.csv", "--out", out, *options]
    code, text, _ = run_podium(capsys, *line)
    made = make(frame, ["grade_level"], draw=splitting.Draw(7, 0.5, 0.5))
    report = (out / "report.md").read_text(encoding="utf-8")
    assert (code, text) == (0, f"{report}\nwritten to {out}\n")
    assert report.startswith(made.report)
    written = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert written == {
        "competition.json",
        "report.md",
        "public/metric.py",
        "public/starter.ipynb",
        *(f"public/{name}" for name in made.public),
        *(f"private/{name}" for name in made.private),
    }
    assert [path.name for path in out.parent.iterdir()] == ["competition"]
    code, _, err = run_podium(capsys, *line)
    assert (code, err) == (2, f"error: cannot write {out}: expected a new or empty folder\n")
    assert (out / "report.md").read_text(encoding="utf-8") == report


LABELS = "id,text,label\n1,a text,cat\n"
RAGGED = "essay_id,discourse_type\n1\n"


@pytest.mark.parametrize(
    ("content", "options", "code", "message"),
    [
        (
            None,
            ["--public", "x"],
            2,
            "argument --public: expected a share between 0 and 1, such as 0.4, found x",
        ),
        (None, ["--subpopulations", "race"], 4, "error: the corpus lacks columns: race."),
        (None, ["--columns", "doc"], 2, "error: --columns doc: expected THEIRS=OURS"),
        (None, ["--columns", "doc=id", "doc=essay_id"], 2, "error: --columns doc is given twice"),
        (None, ["--columns", "doc=essay"], 4, "--columns doc=essay: expected OURS to be one of discourse_effe"),
        (None, ["--columns", "doc=essay_id"], 4, "error: --columns doc=…: "),
        (LABELS, [], 4, ". If it is not a corpus of essays, name its metric: --metric FILE\n"),
        (
            RAGGED,
            [],
            4,
            "corpus.csv is not a CSV table: expected 2 fields in line 2, as in the header, found 1\n",
        ),
        (
            None,
            ["--subpopulations", "gender", "--set", "subpopulation_column_names=ell_status"],
            2,
            "error: --subpopulations and --set subpopulation_column_names name different columns: give one",
        ),
    ],
)
def test_what_is_refused_writes_nothing(capsys, tmp_path, by_words, content, options, code, message):
    (tmp_path / "corpus.csv").write_text(content or by_words.to_csv(index=False))
    result = run_podium(capsys, "make", tmp_path / "corpus.csv", "--out", tmp_path / "out", *options)
    assert result[:2] == (code, "")
    assert message in result[2]
    assert [each.name for each in tmp_path.iterdir()] == ["corpus.csv"]


def test_empty_texts_are_told(whole):
    frame = whole.drop(columns=[*corpus.OFFSETS])
    ids = frame["essay_id_comp"]
    some = frame.assign(full_text=frame["full_text"].where(ids != ids.iloc[0], " "))
    told = "full_text is empty in 1 essay: participants get no text there"
    assert told in make(some).warnings
    assert told in make(some).report
    assert not [warning for warning in make(frame).warnings if "is empty" in warning]


@pytest.mark.slow
def test_nobody_can_draw_again_without_the_seed(monkeypatch, capsys, in_process, tmp_path, by_words):
    """A participant knows all ids and tries small seeds; the one that fits would tell the Private part."""
    assert max(secret_seed() for _ in range(20)) > 2**56
    monkeypatch.setattr("podium.cli.make.secret_seed", lambda: 2**60)
    by_words.to_csv(tmp_path / "corpus.csv", index=False)
    line = ["make", tmp_path / "corpus.csv", "--subpopulations", "", "--out"]
    code, out, err = run_podium(capsys, *line, tmp_path / "secret")
    assert (code, "participants can guess" in err) == (0, False)
    assert f"Drawn with seed {2**60}:" in out
    assert out.startswith(make(by_words, [], draw=USUAL_DRAW._replace(seed=2**60)).report)
    code, _, err = run_podium(capsys, *line, tmp_path / "guessable", "--seed", 7)
    assert (code, "participants can guess" in err) == (0, True)


def test_what_a_killed_command_left_is_removed(tmp_path):
    """A folder in which another process is at work stays."""
    left, busy = ".making-0123abcd-left_123", ".making-0123abcd-busy_123"
    for name in (left, busy):
        (tmp_path / name / "whole").mkdir(parents=True)
    with files.alone_in(tmp_path / busy), folders.new_folder(tmp_path / "out") as whole:
        (whole / "a.txt").write_text("a")
        assert len(list(tmp_path.glob(".making-*"))) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [busy, "out"]


def test_what_is_not_of_podium_is_not_removed(tmp_path):
    """No folder of another name, no file, and nothing to which a link leads, such as another's lock."""
    (tmp_path / ".making-a-cake").mkdir()
    (tmp_path / ".making-0123abcd-a_file_1").write_text("a")
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / ".lock").write_text("")
    (tmp_path / ".making-0123abcd-a_link_1").symlink_to(tmp_path / "victim")
    before = sorted(tmp_path.rglob("*"))
    with folders.new_folder(tmp_path / "out"):
        pass
    (tmp_path / "out").rmdir()
    assert sorted(tmp_path.rglob("*")) == before


def make_while(folder, work):
    """Make a folder while something else is done."""
    with folders.new_folder(folder) as whole:
        (whole / "a.txt").write_text("made")
        work()


def test_what_appears_in_a_folder_while_it_is_made_stays(tmp_path):
    """Also where only the place of the folder was empty, or where a file appears in its place."""
    (tmp_path / "empty").mkdir()
    for name in ("new/mine.txt", "empty/mine.txt", "file"):
        out, mine = tmp_path / name.partition("/")[0], tmp_path / name

        def put(mine=mine):
            mine.parent.mkdir(exist_ok=True)
            mine.write_text("mine")

        with pytest.raises(UsageError, match="something was put there while it was made"):
            make_while(out, put)
        assert mine.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file", "new"]


@pytest.mark.parametrize("other", ["out", "link", "x/../out"])
def test_of_two_commands_in_one_folder_the_second_says_so(tmp_path, other):
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")

    def make_again():
        make_while(tmp_path / "neighbor", lambda: None)
        with pytest.raises(UsageError, match=r"^another command is making "):
            make_while(tmp_path / other, pytest.fail)

    make_while(tmp_path / "out", make_again)
    assert (tmp_path / "out" / "a.txt").read_text() == "made"
    assert (tmp_path / "neighbor" / "a.txt").read_text() == "made"


def test_a_link_to_an_empty_folder_is_followed(tmp_path):
    (tmp_path / "place").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "place")
    with folders.new_folder(tmp_path / "link") as whole:
        (whole / "a.txt").write_text("a")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "place" / "a.txt").read_text() == "a"


# --- labels of a custom metric ----------------------------------------------------------------


def patients(folder: Path, **columns: object) -> list[object]:
    """Write 120 labels of 40 patients and a metric, and return the beginning of the command line."""
    (folder / "mine.py").write_text(ACCURACY.replace("BODY", EQUAL))
    labels = pd.DataFrame(
        {"id": [f"r{n:03}" for n in range(120)], "patient": [f"p{n % 40}" for n in range(120)]}
    )
    labels["answer"] = np.random.default_rng(2).choice(["a", "b"], 120)
    labels.assign(**columns).to_csv(folder / "labels.csv", index=False)
    return ["make", folder / "labels.csv", "--metric", folder / "mine.py", "--out", folder / "out"]


@pytest.mark.usefixtures("in_process")
def test_rows_of_one_patient_stay_together(capsys, tmp_path):
    line = [*patients(tmp_path), "--items", "patient", "--seed", 3, "--test", 0.5]
    code, out, _ = run_podium(capsys, *line)
    assert code == 0
    assert "Rows with the same patient stay together." in out
    assert "name the column" not in out
    assert "| what | all | Public | Private | to learn from |\n" in out
    assert "| rows | 120 | 18 | 42 | 60 |\n" in out
    assert "| items | 40 | 6 | 14 | 20 |\n| values of patient | 40 | 6 | 14 | 20 |\n" in out
    learned = pd.read_csv(tmp_path / "out" / "public" / "train.csv").assign(Usage="train")
    both = pd.concat([learned, pd.read_csv(tmp_path / "out" / "private" / "solution.csv")])
    assert len(both) == 120
    assert both.groupby("patient")["Usage"].nunique().max() == 1
    assert both.groupby("Usage")["patient"].nunique().to_dict() == {"Private": 14, "Public": 6, "train": 20}
    assert list(pd.read_csv(tmp_path / "out" / "public" / "sample_submission.csv")) == ["id", "answer"]


@pytest.mark.parametrize(
    ("columns", "option", "message"),
    [
        ({}, "ward", "--items: expected a column ward, found id, patient, answer"),
        (
            {"patient": ["p1", None] * 60},
            "patient",
            "--items: expected a value of patient in every row of the labels, found none in row number 2",
        ),
        (
            {"ward": ["w1"] + [f"w{n % 7}" for n in range(119)]},
            "patient, ward",
            "--items patient, ward: expected rows that can be drawn apart, found 120 of 120 that",
        ),
        (
            {"Usage": ["Public", None] * 60},
            "patient",
            "the parts: expected a value of Usage in every row of the labels, found none in row number 2",
        ),
        (
            {"Usage": ["Public", "Private"] * 30 + ["Private", "Public"] * 30},
            "patient",
            "Usage: expected one part for all rows of the same patient, found Public and Private for 'p",
        ),
    ],
)
def test_why_rows_cannot_stay_together(capsys, tmp_path, columns, option, message):
    code, out, err = run_podium(capsys, *patients(tmp_path, **columns), "--items", option)
    assert (code, out, message in err) == (4, "", True)
    assert not (tmp_path / "out").exists()


def one_metric(folder: Path, labels: pd.DataFrame, body: str = EQUAL) -> list[object]:
    """Write labels and a metric, and return the beginning of the command line."""
    (folder / "mine.py").write_text(ACCURACY.replace("BODY", body))
    labels.to_csv(folder / "labels.csv", index=False)
    return ["make", folder / "labels.csv", "--metric", folder / "mine.py", "--out", folder / "out"]


SORTED = pd.DataFrame(
    {"id": np.random.default_rng(4).permutation(120) + 1000, "answer": np.repeat([*"abc"], 40)}
)


def made_in(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The solution and the sample in the folder of a competition."""
    names = "private/solution.csv", "public/sample_submission.csv"
    solution, sample = (pd.read_csv(folder / name) for name in names)
    return solution, sample


@pytest.mark.usefixtures("in_process")
def test_the_order_of_the_rows_tells_no_label(capsys, tmp_path):
    """It is the same in both tables, and for every order of the labels."""
    code, _, err = run_podium(capsys, *one_metric(tmp_path, SORTED), "--seed", 2)
    assert (code, "--new-ids" in err) == (0, False)
    solution, sample = made_in(tmp_path / "out")
    assert solution["id"].tolist() == sample["id"].tolist()
    assert 60 < (solution["answer"] != solution["answer"].shift()).sum() < 100
    (tmp_path / "other").mkdir()
    assert run_podium(capsys, *one_metric(tmp_path / "other", SORTED.iloc[::-1]), "--seed", 2)[0] == 0
    assert made_in(tmp_path / "other" / "out")[0].equals(solution)


# Each step upward that is predicted counts.
STEPS = """ups = [table["answer"].diff().dropna() > 0 for table in (solution, submission)]
    return float((ups[0] == ups[1]).mean())"""


@pytest.mark.usefixtures("in_process")
@pytest.mark.filterwarnings("ignore:mine.py, line 11")
@pytest.mark.parametrize(
    ("names", "body", "why"),
    [
        (lambda n: f"shop-{n % 3}_2024-{1 + n // 28:02}-{1 + n % 28:02}", EQUAL, "the ids are dates"),
        (lambda n: f"r{n:03}", STEPS, "the score depends on it"),
    ],
)
def test_rows_whose_order_has_a_meaning_keep_it(capsys, tmp_path, names, body, why):
    labels = pd.DataFrame(
        {"id": map(names, range(100)), "answer": np.random.default_rng(1).integers(0, 9, 100)}
    )
    code, out, _ = run_podium(capsys, *one_metric(tmp_path, labels, body))
    assert (code, f"The rows keep their order, because {why}." in out) == (0, True)
    for table in made_in(tmp_path / "out"):
        assert table["id"].tolist() == labels["id"].tolist()


@pytest.mark.usefixtures("in_process")
def test_ids_in_the_order_of_the_labels_are_told_and_get_other_names(capsys, tmp_path):
    labels = SORTED.assign(id=[f"x{n}" for n in range(120)])
    line = one_metric(tmp_path, labels)
    code, _, err = run_podium(capsys, *line)
    assert (code, "warning: the order of the ids in id tells answer: --new-ids gives others" in err) == (
        0,
        True,
    )
    sample = labels[["id"]].assign(answer="a")
    sample.to_csv(tmp_path / "sample.csv", index=False)
    for given in ([], ["--sample", tmp_path / "sample.csv"]):
        line[-1] = tmp_path / f"out{len(given)}"
        code, _, err = run_podium(capsys, *line, "--new-ids", *given)
        assert (code, "the order of the ids" in err) == (0, False)
        solution, sample = made_in(line[-1])
        names = pd.read_csv(line[-1] / "private" / "new_ids.csv").set_index("new")["old"]
        assert solution["id"].tolist() == sample["id"].tolist()
        old = solution.assign(id=solution["id"].map(names)).drop(columns="Usage")
        assert sorted(map(tuple, old.to_numpy())) == sorted(map(tuple, labels.to_numpy()))


@pytest.mark.usefixtures("in_process")
def test_ids_stay_as_the_labels_write_them(capsys, tmp_path):
    """Also where a metric gets them as numbers."""
    labels = SORTED.assign(id=[f"{n:05}" for n in range(120)])
    assert run_podium(capsys, *one_metric(tmp_path, labels), "--test", 0.5)[0] == 0
    names = "private/solution.csv", "public/sample_submission.csv", "public/train.csv"
    solution, sample, learned = (pd.read_csv(tmp_path / "out" / name, dtype=str)["id"] for name in names)
    assert sorted([*sample, *learned]) == sorted([*solution, *learned]) == labels["id"].tolist()
    line = one_metric(tmp_path, labels)
    assert run_podium(capsys, *line[:-1], tmp_path / "renamed", "--new-ids")[0] == 0
    renamed = pd.read_csv(tmp_path / "renamed" / "private" / "new_ids.csv", dtype=str)
    assert sorted(renamed["old"]) == labels["id"].tolist()


IDS = [f"h{n:03}" for n in range(80)]
LABELS = ["cat", "dog"] * 40


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (
            {"answer": LABELS, "house": IDS},
            "ids in answer, the first column, as no other is named, found 'cat' twice",
        ),
        ({"price": np.arange(80) + 0.5, "answer": LABELS, "house": IDS}, "found the decimal 0.5"),
        ({"note": ["x", None, *IDS[2:]], "answer": LABELS, "house": IDS}, "found an empty cell"),
    ],
)
def test_a_first_column_without_ids_is_named_with_one_that_can_have_them(capsys, tmp_path, labels, found):
    line = one_metric(tmp_path, pd.DataFrame(labels))
    code, out, err = run_podium(capsys, *line)
    assert (code, out, found in err) == (4, "", True)
    assert err.endswith("; house can have them: --set row_id_column_name=house\n")


@pytest.mark.usefixtures("in_process")
def test_a_column_of_ids_that_is_not_the_first_is_named_in_every_command(capsys, tmp_path):
    line = one_metric(tmp_path, pd.DataFrame({"answer": LABELS, "house": IDS}))
    given = tmp_path / "mine.py", tmp_path / "labels.csv", tmp_path / "labels.csv"
    for command in (["check", *given], ["emulate", *given], ["score", *given[1:], "--metric", given[0]]):
        code, _, err = run_podium(capsys, *command)
        assert (code, "; house can have them: " in err) == (4, True)
    assert run_podium(capsys, *line, "--set", "row_id_column_name=house")[0] == 0
    solution, sample = made_in(tmp_path / "out")
    assert [solution.columns[0], *sample] == ["house", "house", "answer"]
    files = tmp_path / "out" / "private" / "solution.csv", tmp_path / "out" / "public" / "sample_submission.csv"
    assert run_podium(capsys, "emulate", tmp_path / "mine.py", *files)[0] == 0


def test_an_id_twice_in_the_labels_is_told_of_the_labels(capsys, tmp_path):
    line = one_metric(tmp_path, pd.DataFrame({"id": [*IDS[:-1], "h000"], "answer": LABELS}))
    code, out, err = run_podium(capsys, *line)
    assert (code, out) == (4, "")
    assert "error: id: expected one row per id in the labels, found 'h000' in 2 rows; should the metric " in err


def test_a_row_without_an_id_is_refused(capsys, tmp_path):
    line = one_metric(tmp_path, pd.DataFrame({"id": [*IDS[:-1], None], "answer": LABELS}))
    code, _, err = run_podium(capsys, *line)
    assert (code, "expected a value of id in every row of the labels, found none in row number 80" in err) == (
        4,
        True,
    )


@pytest.mark.usefixtures("in_process")
def test_a_space_in_the_name_of_a_column_is_told(capsys, tmp_path):
    labels = pd.DataFrame({"id": IDS, "answer": LABELS, " Usage": ["Public", "Private"] * 40})
    code, _, err = run_podium(capsys, *one_metric(tmp_path, labels))
    assert (code, "columns with a space before or after their name: ' Usage'" in err) == (0, True)


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("names", "is_told"), [(["index", "house"], True), (["row", "houseid"], True), (["row", "house"], False)]
)
@pytest.mark.filterwarnings("default:the ids are taken from")
def test_an_index_that_is_taken_for_the_ids_is_told(capsys, tmp_path, monkeypatch, names, is_told):
    """As reset_index() leaves it; the true ids would stand in the solution alone."""
    labels = pd.DataFrame({names[0]: range(80), names[1]: IDS, "answer": LABELS})
    code, out, err = run_podium(capsys, *one_metric(tmp_path, labels.sample(frac=1, random_state=0)))
    assert (code, f"The ids of the rows are those of the column {names[0]}." in out) == (0, True)
    assert (f"in {names[1]}, give --set row_id_column_name={names[1]}" in err) == is_told
    monkeypatch.chdir(tmp_path)
    code, _, err = run_podium(capsys, "new", "own", "--labels", "labels.csv")
    assert (code, f"if they stand in {names[1]}, put it first" in err) == (0, is_told)
    labels.drop(columns=names[0]).to_csv("labels.csv")  # with the index as a column without a name
    code, _, err = run_podium(capsys, "new", "other", "--labels", "labels.csv")
    assert (code, err, pd.read_csv("other/samples/solution.csv").columns[0]) == (0, "", names[1])


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("body", "code"), [(EQUAL, 0), ("return float(submission['note'].str.len().mean())", 2)]
)
def test_a_column_that_no_automatic_sample_can_have_is_told(capsys, tmp_path, body, code):
    labels = pd.DataFrame({"id": IDS, "note": [f"n{n}" for n in range(80)], "answer": LABELS})
    found, out, err = run_podium(capsys, *one_metric(tmp_path, labels, body))
    assert (found, "note was not tried, as no value there occurs twice" in out + err) == (code, True)
    assert "--sample" in out + err


@pytest.mark.usefixtures("in_process")
@pytest.mark.filterwarnings("always")
def test_empty_answers_that_nobody_can_give_are_told(capsys, tmp_path):
    line = one_metric(tmp_path, pd.DataFrame({"id": IDS, "answer": ["cat", "cat", None, "dog"] * 20}))
    code, _, err = run_podium(capsys, *line)
    assert code == 0
    assert "warning: the solution: 20 empty cells in answer, in row number " in err
    assert (
        "; platforms refuse an empty answer, so nobody can give it: write a sign for it, such as -, in " in err
    )
    pd.DataFrame({"id": IDS, "answer": [*LABELS[:-1], None]}).to_csv(tmp_path / "sample.csv", index=False)
    line[-1] = tmp_path / "other"
    code, _, err = run_podium(capsys, *line, "--sample", tmp_path / "sample.csv")
    assert (code, ": Submission contains null values: the column answer is empty in row number " in err) == (
        4,
        True,
    )


@pytest.mark.usefixtures("in_process")
@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(
    ("first", "is_told"), [("cat ", True), ("CAT", True), ("cats", False), ("a text of Cat", False)]
)
def test_classes_that_differ_by_a_blank_or_by_case_are_told(capsys, tmp_path, first, is_told):
    """Answers that are all different are texts, and may be alike."""
    texts = [f"{n // 2} cat{' ' * (n % 2)}" for n in range(80)] if first.startswith("a text") else None
    labels = pd.DataFrame({"id": IDS, "answer": texts or [first, first, *LABELS[2:]]})
    labels[["id"]].assign(answer="cat").to_csv(tmp_path / "sample.csv", index=False)
    code, _, err = run_podium(capsys, *one_metric(tmp_path, labels), "--sample", tmp_path / "sample.csv")
    said = (
        f"warning: the solution: answer: {' and '.join(map(repr, sorted([first, 'cat'])))} differ only in case"
    )
    assert (code, said in err, "differ only" in err) == (0, is_told, is_told)
    if is_told:
        pair = tmp_path / "labels.csv", tmp_path / "sample.csv"
        _, out, _ = run_podium(capsys, "check", tmp_path / "mine.py", *pair)
        assert "differ only in case or spaces, and count as 2 classes" in " ".join(out.split())


# --- labels of another metric -----------------------------------------------------------------------


@pytest.fixture
def labels(tmp_path, monkeypatch, in_process) -> Path:
    """Labels with texts, in the current folder, and a metric for them."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(ACCURACY.replace("BODY", EQUAL))
    words = np.random.default_rng(1).choice([*"abcdefgh"], (60, 8))
    table = pd.DataFrame({"id": [f"r{row * 7 % 60:03}" for row in range(60)], "text": map(" ".join, words)})
    table.assign(answer=["cat", "dog", "dog"] * 20).to_csv("labels.csv", index=False)
    return Path("labels.csv")


def make_labels(capsys, path: Path, *options: object) -> tuple[int, str, str]:
    """Make files of labels with the metric that lies beside them."""
    given = ("--seed", 2, "--out", "files", *options)
    return run_podium(capsys, "make", path, "--metric", "mine.py", *given)


@pytest.mark.parametrize("names", ["text", "id,text,text"])
def test_a_column_is_public_once(capsys, labels, names):
    assert make_labels(capsys, labels, "--public-columns", names, "--test", 0.5)[0] == 0
    assert list(pd.read_csv("files/public/test.csv")) == ["id", "text"]


def test_a_carriage_return_in_a_label(capsys, labels):
    """Python before 3.11.9 writes a lone one without quotes."""
    table = pd.read_csv(labels).replace({"answer": {"cat": "c\rat"}})
    table.to_csv(labels, index=False, quoting=csv.QUOTE_ALL)
    code, _, err = make_labels(capsys, labels)
    assert (code, "starter" in err) == (0, False)  # which writes a copy of the sample
    solution = Path("files/private/solution.csv").read_bytes()
    assert b'"c\rat"' in solution
    code, out, _ = run_podium(capsys, "score", "files/private/solution.csv", labels)
    assert (code, out.splitlines()[0]) == (0, "Score    1.000000")


def parts_made() -> pd.DataFrame:
    """Every row of the made files, with its part in the column Usage."""
    train = pd.read_csv("files/public/train.csv").assign(Usage="train")
    return pd.concat([train, pd.read_csv("files/private/solution.csv")])


def test_rows_that_share_one_of_two_columns_stay_together(capsys, labels):
    """Later commands count what was drawn together."""
    numbers = np.arange(60)
    pd.read_csv(labels).assign(patient=numbers // 3, site=numbers // 3 // 2 % 8).to_csv(labels, index=False)
    code, out, _ = make_labels(capsys, labels, "--items", "patient,site", "--test", 0.5)
    assert code == 0
    assert "Rows with the same patient or site stay together." in out
    made = parts_made()
    assert len(made) == 60
    for column in ("patient", "site"):
        assert made.groupby(column)["Usage"].nunique().max() == 1
    solution = podium.prepare(pd.read_csv("files/private/solution.csv"), metric="mine.py")
    sites = made.loc[made["Usage"] != "train", "site"].nunique()
    assert len(solution.items_of("All", "patient,site").stratum) == sites


SERIES = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=90).strftime("%Y-%m-%d")})
SERIES["answer"] = np.random.default_rng(3).normal(size=90).cumsum().round(3)
WALK = "return points * float((solution['answer'] - submission['answer']).abs().mean())"


@pytest.mark.parametrize(
    ("times", "cure"),
    [
        (
            lambda hours: hours.strftime("%d.%m.%Y %H:%M"),
            "when has dates, and answer changes little from one to the next: ",
        ),
        (
            lambda hours: hours.strftime("%Y-%m-%d_%H"),
            "when has dates, and answer changes little from one to the next: ",
        ),
        (
            lambda hours: (hours - pd.Timestamp(0)) // pd.Timedelta(milliseconds=1),
            "when has dates, and answer changes little from one to the next: ",
        ),
        (lambda hours: np.arange(90) * 7, "answer changes little from one id to the next: "),
    ],
    ids=["day in front", "hours", "milliseconds", "numbers alone"],
)
def test_neighbors_that_tell_an_answer_are_told(capsys, labels, times, cure):
    """Hours of four days in a public column, or ids that count."""
    Path("mine.py").write_text(ACCURACY.replace("BODY", WALK))
    table = pd.DataFrame({"id": range(90), "when": times(pd.date_range("2027-01-12", periods=90, freq="h"))})
    table.assign(answer=SERIES["answer"]).sample(frac=1, random_state=0).to_csv(labels, index=False)
    code, _, err = make_labels(capsys, labels, "--test", 0.3, "--public-columns", "when")
    assert (code, cure in err) == (0, True)
    if cure.startswith("answer"):  # without the public column, all tables are the same
        shutil.rmtree("files")
        code, _, err = make_labels(capsys, labels, "--test", 0.3, "--new-ids")
        assert (code, "changes little" in err) == (0, False)


def test_an_answer_without_values_follows_no_order():
    table = pd.DataFrame({"id": range(60), "none": [None] * 60, "same": ["a"] * 60, "lists": [[1]] * 60})
    assert splitting.doubt_of_neighbors(table.set_axis(range(60)), ["id"], ["none", "same", "lists"]) == ""


def test_an_answer_that_no_neighbor_tells_gives_no_warning(capsys, labels):
    Path("mine.py").write_text(ACCURACY.replace("BODY", WALK))
    noise = np.random.default_rng(5).normal(size=90).round(3)
    SERIES.assign(answer=noise).to_csv(labels, index=False)
    code, _, err = make_labels(capsys, labels, "--test", 0.3)
    assert (code, "changes little" in err) == (0, False)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--split", "answer", "--test", 0.3], 2, "--split, --test: expected one way to choose"),
        (
            ["--split", "answer"],
            4,
            "answer: expected the words train, test, Public, Private or Ignored, found cat",
        ),
        (["--split", "answer=a:b"], 2, "--split answer=a:b: expected COLUMN=train:VALUE"),
        (
            ["--split", "answer=train:cat,test:cat"],
            2,
            "--split answer=train:cat,test:cat: expected one part for 'cat', found two",
        ),
        (
            ["--split", "answer=train:cat,train:dog"],
            4,
            "answer: expected Public rows in the labels, found none",
        ),
        (
            ["--split", "answer=train:cat,test:dog,private:eel"],
            4,
            "--split: expected values of answer, such as cat, dog, found eel",
        ),
    ],
)
def test_ways_that_choose_no_test_set(capsys, labels, options, code, message):
    found, out, err = make_labels(capsys, labels, *options)
    assert (found, out, message in err) == (code, "", True), err


@pytest.mark.parametrize(
    ("column", "values", "options", "expected"),
    [
        ("fold", ["0", "1", "test"], ["--split", "fold"], {"train": 40, "Public": 6, "Private": 14}),
        ("Usage", ["Train", "public", "Private"], [], {"train": 20, "Public": 20, "Private": 20}),
        (
            "set",
            ["train", "x", "y"],
            ["--split", "set=public:x,private:y"],
            {"train": 20, "Public": 20, "Private": 20},
        ),
    ],
)
def test_a_split_that_is_there_already(capsys, labels, column, values, options, expected):
    table = pd.read_csv(labels)
    table.assign(**{column: values * 20}).to_csv(labels, index=False)
    code, out, _ = make_labels(capsys, labels, *options)
    assert code == 0
    assert f"The parts are those of the column {column} of the labels." in out
    made = parts_made()
    assert made["Usage"].value_counts().to_dict() == expected
    assert column == "Usage" or column not in made
    given = dict(zip(table["id"], values * 20))
    learned = made[made["Usage"] == "train"]
    assert not {given[each].casefold() for each in learned["id"]} & {"test", "public", "private", "x", "y"}


SPLITS = {
    "split": ["train", "dev", "test"],
    "Partition": ["Training", "Public", "Private"],
    "fold": ["1", "2", "test"],
    "SPLIT": ["a", "b", "c"],
}
NO_SPLITS = {
    "group": ["1", "2", "3"],
    "school_type": ["public", "private", "public"],
    "travel": ["train", "bus", "private"],
}


def test_a_column_that_splits_the_labels_is_told(capsys, labels):
    columns = {name: values * 20 for name, values in (SPLITS | NO_SPLITS).items()}
    pd.read_csv(labels).assign(**columns).to_csv(labels, index=False)
    code, _, err = make_labels(capsys, labels, "--test", 0.5)
    assert code == 0
    assert re.findall(r"--split (\w+) takes its parts", err) == [*SPLITS]


@pytest.mark.parametrize("wanted", ["answer", "all"])
@pytest.mark.slow
def test_a_sample_of_many_columns_takes_few_trials(tmp_path, monkeypatch, wanted):
    """Columns that the metric ignores are left out together; of many that it wants, few are tried."""
    demand = "if len(submission.columns) < 300: raise ParticipantVisibleError('all columns')"
    (tmp_path / "metric.py").write_text(
        ACCURACY.replace("BODY", EQUAL if wanted == "answer" else f"{demand}\n    {EQUAL}")
    )
    labels = pd.DataFrame(
        {"id": range(40), **{f"x{n}": [n % 7] * 40 for n in range(300)}, "answer": [*"aab", "b"] * 10}
    )
    labels.to_csv(tmp_path / "labels.csv", index=False)
    scored, trials = samples._scored, []
    monkeypatch.setattr(samples, "_scored", lambda *given: trials.append(given) or scored(*given))
    made = making.make_files(hosted.load(tmp_path), tmp_path / "labels.csv", None, making.Draw(1))
    shown = list(made.public["sample_submission.csv"])
    assert shown == (["id", "answer"] if wanted == "answer" else list(labels)[: len(shown)])
    assert len(trials) <= 64
