"""`host.py prepare`: from a made-up corpus, in both layouts, to the files of a competition."""

import numpy as np
import pandas as pd
import pytest

import metric
from competition import corpus
from competition.errors import HostError
from competition.row_formats import pack, unpack
from tests.essays import TYPES, make_competition
from tests.host_line import run_host

ATTRIBUTES = ["ell_status", "economically_disadvantaged"]
LABELS = np.array(["Ineffective", "Adequate", "Effective"], dtype=object)


def small_corpus(essays: int = 120, seed: int = 0) -> pd.DataFrame:
    """A corpus with the texts, offsets and predictionstrings of made-up essays; no fault in it."""
    truth, _ = make_competition(essays, seed, shared_words=False)
    random = np.random.default_rng(seed)
    first, last = metric.parse_predictionstrings(truth["predictionstring"].tolist())
    longest = pd.Series(last).groupby(truth["essay_id"]).transform("max").to_numpy()
    rows = []
    texts: dict[str, list[str]] = {}
    for essay, number in zip(truth["essay_id"], longest.tolist()):
        if essay not in texts:
            texts[essay] = ["w" * int(size) for size in random.integers(1, 9, number + 3)]
    for row, (essay, a, b) in enumerate(zip(truth["essay_id"], first.tolist(), last.tolist())):
        start = len(" ".join(texts[essay][:a])) + (a > 0)
        end = len(" ".join(texts[essay][: b + 1]))
        rows.append((essay, " ".join(texts[essay]), row, float(start), float(end)))
    frame = pd.DataFrame(rows, columns=["essay_id_comp", "full_text", "discourse_id", *corpus.OFFSETS])
    effective = truth["discourse_effectiveness"].to_numpy()
    return frame.assign(
        discourse_type=truth["discourse_type"],
        predictionstring=truth["predictionstring"],
        discourse_effectiveness=LABELS[np.where(effective == 1, 2, random.integers(0, 2, len(effective)))],
        gender="F",
        **{name: truth[name] for name in ATTRIBUTES},
    )


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    return small_corpus()


@pytest.fixture(scope="module")
def by_offsets(whole) -> pd.DataFrame:
    """As in PERSUADE."""
    return whole.drop(columns="predictionstring")


@pytest.fixture(scope="module")
def by_words(whole) -> pd.DataFrame:
    """As in the Feedback Prize, without texts."""
    return whole.drop(columns=["full_text", *corpus.OFFSETS]).rename(columns={"essay_id_comp": "id"})


def prepare(frame: pd.DataFrame, **further: object) -> corpus.CompetitionFiles:
    return corpus.prepare(frame, ATTRIBUTES, **further)


def counts(files: corpus.CompetitionFiles) -> dict[str, int]:
    """The first table of the report."""
    lines = files.report.split("## The corpus\n\n")[1].split("\n\n")[0].splitlines()[2:]
    cells = [line.strip("| ").split(" | ") for line in lines]
    return {what: int(number.replace(",", "")) for what, number in cells}


# --- the files --------------------------------------------------------------------------------------


def test_both_layouts_give_the_same_files(by_offsets, by_words):
    files, others = prepare(by_offsets), prepare(by_words)
    assert set(files.tables) - set(others.tables) == {"train_essays.csv", "test_essays.csv"}
    for name, table in others.tables.items():
        pd.testing.assert_frame_equal(table, files.tables[name])
    assert files.report == others.report


def test_every_segment_is_in_one_file_with_its_labels(by_offsets, whole):
    tables = prepare(by_offsets).tables
    both = pd.concat([tables["solution.csv"], tables["train.csv"]])
    keys = ["essay_id", "discourse_type", "predictionstring", "discourse_effectiveness", "gender", *ATTRIBUTES]
    expected = whole.rename(columns={"essay_id_comp": "essay_id"}).assign(
        discourse_effectiveness=(whole["discourse_effectiveness"] == "Effective").astype(int)
    )
    one, other = (
        frame[keys].astype(object).where(frame[keys].notna(), "").sort_values(keys, ignore_index=True)
        for frame in (both, expected)
    )
    pd.testing.assert_frame_equal(one, other)
    assert tables["solution.csv"]["row_id"].is_unique
    assert not set(tables["solution.csv"]["essay_id"]) & set(tables["train.csv"]["essay_id"])


def test_both_row_formats(by_offsets):
    tables = prepare(by_offsets).tables
    for name in ("solution.csv", "sample_submission.csv", "train.csv"):
        packed = tables[f"one_row_per_essay/{name}"]
        pd.testing.assert_frame_equal(packed, pack(tables[name])[0])
        assert packed["essay_id"].is_unique
    unpacked = unpack(tables["one_row_per_essay/solution.csv"], solution=True)
    pd.testing.assert_frame_equal(unpacked, tables["solution.csv"], check_dtype=False)
    ids = [
        tables[f"one_row_per_essay/{name}"]["essay_id"].tolist()
        for name in ("solution.csv", "sample_submission.csv")
    ]
    assert ids[0] == ids[1]


def test_the_sample_submission_says_nothing_of_the_truth(by_offsets):
    sample = prepare(by_offsets).tables["sample_submission.csv"]
    assert list(sample) == [
        "row_id",
        "essay_id",
        "discourse_type",
        "predictionstring",
        *metric.PROBABILITY_COLUMNS,
    ]
    assert len(sample[list(sample)[2:]].drop_duplicates()) == 1


def test_the_files_are_scored_as_the_report_says(by_offsets):
    files = prepare(by_offsets)
    solution, sample = files.tables["solution.csv"], files.tables["sample_submission.csv"]
    for part in ("Public", "Private"):
        score = metric.score(solution[solution["Usage"] == part], sample, "row_id")
        assert f"| {part} | {score:.6f} |" in files.report
    packed = [files.tables[f"one_row_per_essay/{name}"] for name in ("solution.csv", "sample_submission.csv")]
    assert metric.score(*packed, "essay_id") == metric.score(solution, sample, "row_id")


def test_texts_of_the_essays(by_offsets, whole):
    tables = prepare(by_offsets).tables
    texts = dict(zip(whole["essay_id_comp"], whole["full_text"]))
    for name, of in (("train_essays.csv", "train.csv"), ("test_essays.csv", "solution.csv")):
        assert tables[name]["essay_id"].tolist() == tables[of]["essay_id"].unique().tolist()
        assert tables[name]["full_text"].tolist() == [texts[essay] for essay in tables[name]["essay_id"]]


def test_the_order_of_the_rows_does_not_count(by_offsets):
    files, others = prepare(by_offsets), prepare(by_offsets.sample(frac=1, random_state=0))
    assert files.report == others.report
    for name, table in files.tables.items():
        pd.testing.assert_frame_equal(table, others.tables[name])


# --- the split --------------------------------------------------------------------------------------


def test_shares_are_the_same_within_sub_populations():
    files = prepare(small_corpus(700, seed=1), test_share=0.5, public_share=0.25)
    solution, train = files.tables["solution.csv"], files.tables["train.csv"]
    essays = pd.concat([solution, train.assign(Usage="train")]).drop_duplicates("essay_id")
    table = pd.crosstab([essays[name].fillna("") for name in ATTRIBUTES], essays["Usage"])
    assert len(table) > 6
    for row in table.itertuples():
        essays = row.Private + row.Public + row.train
        assert abs(row.train - essays * 0.5) <= 1
        assert abs(row.Public - (row.Private + row.Public) * 0.25) <= 1
    assert abs(table["train"].sum() - 350) <= 1
    assert abs(table["Public"].sum() - 87.5) <= 1


def test_the_seed_decides(by_offsets):
    one, again, other = (prepare(by_offsets, seed=seed).tables["solution.csv"] for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(one, again)
    assert set(one["essay_id"]) != set(other["essay_id"])


def test_every_essay_can_be_drawn():
    stratum = np.repeat([0, 1], [3, 5])
    drawn = sum(corpus._drawn(stratum, 0.3, np.random.default_rng(seed)).astype(int) for seed in range(2000))
    assert drawn / 2000 == pytest.approx([0.3] * 8, abs=0.04)


def test_any_essays_can_be_drawn_together():
    halves = {
        tuple(corpus._drawn(np.zeros(4, dtype=int), 0.5, np.random.default_rng(seed))) for seed in range(200)
    }
    assert len(halves) == 6


def test_too_few_essays_to_split(by_offsets):
    two = by_offsets[by_offsets["essay_id_comp"].isin(by_offsets["essay_id_comp"].unique()[:2])]
    with pytest.raises(HostError, match=r"^2 essays are too few to split: none is left for "):
        prepare(two)


# --- what is dropped, cut, trimmed, left out --------------------------------------------------------


def test_unannotated_rows_are_dropped(by_offsets):
    extra = by_offsets.drop_duplicates("essay_id_comp").assign(
        discourse_type="Unannotated", discourse_effectiveness=None
    )
    alone = extra.head(1).assign(essay_id_comp="ALONE")
    files, expected = prepare(pd.concat([by_offsets, extra, alone])), prepare(by_offsets)
    for name, table in expected.tables.items():
        pd.testing.assert_frame_equal(files.tables[name], table)
    assert counts(files)["rows that are Unannotated: dropped"] == 121
    assert counts(files)["essays without any other row: dropped"] == 1
    assert counts(files)["essays"] == 120


@pytest.mark.parametrize(
    ("layout", "column", "what"),
    [
        ("by_offsets", "discourse_effectiveness", "segments without effectiveness"),
        ("by_offsets", "discourse_start", "segments without words"),
        ("by_words", "predictionstring", "segments without words"),
    ],
)
def test_an_essay_with_a_missing_value_is_left_out_whole(request, layout, column, what):
    frame = request.getfixturevalue(layout).astype({column: object})
    essay_id = "essay_id_comp" if "essay_id_comp" in frame else "id"
    essay = frame.loc[5, essay_id]
    frame.loc[5, column] = None
    files = prepare(frame)
    assert counts(files)[what] == 1
    assert counts(files)["essays with such a segment: left out"] == 1
    assert f"Left out: {essay}." in files.report
    assert essay not in set(files.tables["solution.csv"]["essay_id"]) | set(
        files.tables["train.csv"]["essay_id"]
    )


def test_overlaps_are_removed_by_the_metric_s_rule():
    frame = small_corpus(40, seed=2)
    first, last = metric.parse_predictionstrings(frame["predictionstring"].tolist())
    grown = [" ".join(map(str, range(max(a - 3, 0), b + 1))) for a, b in zip(first.tolist(), last.tolist())]
    frame = frame.assign(predictionstring=grown).drop(columns=[*corpus.OFFSETS, "full_text"])
    files = prepare(frame)
    found = counts(files)
    assert found["segments that overlap an earlier one: trimmed"] > 20
    solution = files.tables["solution.csv"]  # no TruthOverlapWarning, which would be an error here:
    perfect = solution.rename(columns={"discourse_effectiveness": metric.PROBABILITY_COLUMNS[1]})
    perfect[metric.PROBABILITY_COLUMNS[0]] = 1 - perfect[metric.PROBABILITY_COLUMNS[1]]
    assert metric.score(solution, perfect, "row_id") == 1.0
    labels = frame["discourse_effectiveness"] == "Effective"
    given = metric.Segments(
        pd.factorize(frame["essay_id_comp"], sort=True)[0],
        *metric.parse_predictionstrings(grown),
        np.array([TYPES.tolist().index(name) for name in frame["discourse_type"]]),
        1.0 - labels.to_numpy(),
        labels.to_numpy(float),
        np.arange(len(frame)),
    )
    kept = metric.remove_overlaps(given)
    assert found["segments"] == len(kept.row)
    assert found["segments of which one word or none was left: discarded"] == len(frame) - len(kept.row)


def test_segments_that_end_beyond_the_text_are_cut(by_offsets):
    row = by_offsets["discourse_end"].idxmax()
    frame = by_offsets.assign(discourse_end=by_offsets["discourse_end"].where(by_offsets.index != row, 1e6))
    files = prepare(frame)
    assert counts(files)["segments that end beyond their text: cut"] == 1
    essay, text = frame.loc[row, ["essay_id_comp", "full_text"]]
    both = pd.concat([files.tables["solution.csv"], files.tables["train.csv"]])
    last = both.loc[both["essay_id"] == essay, "predictionstring"].str.split().str[-1].astype(int).max()
    assert last == len(text.split()) - 1


def test_word_positions_by_the_organisers_rule():
    text = "The  quick\nbrown fox\tjumps over\u00a0it "
    words = text.split()
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 3):
            first, last = corpus.word_positions(text, start, end)
            inside = text[start:end].split()
            assert first == len(text[:start].split())
            assert last - first + 1 == min(len(inside), len(words) - first)
            # From the start of a word to the end of one, these are the words themselves.
            if inside and text[start - 1 : start].strip() == "" and text[end : end + 1].strip() == "":
                assert words[first : last + 1] == inside


# --- the report -------------------------------------------------------------------------------------


def test_the_report(by_offsets, whole):
    files = prepare(by_offsets)
    writers = whole.drop_duplicates("essay_id_comp")
    for name in ATTRIBUTES:
        assert f"| {name} | {writers[name].isna().sum()} |" in files.report
    assert "| gender | 0 |" in files.report
    assert "| ell_status | (missing) | " in files.report
    assert "Too small for the softmin (fewer than 50 essays)" in files.report
    parts = files.tables["solution.csv"].drop_duplicates("essay_id")
    yes = ((parts["ell_status"] == "Yes") & (parts["Usage"] == "Public")).sum()
    assert f"* ell_status = Yes: {yes} Public essays" in files.report
    assert "Left out" not in files.report


def test_large_sub_populations_are_not_called_small():
    frame = small_corpus(500, seed=3).assign(ell_status="No")
    report = corpus.prepare(frame, ["ell_status"]).report
    assert "Too small" not in report
    assert "| ell_status | No | 300 | 60 | 140 |" in report
    assert "Too small" not in corpus.prepare(frame, []).report


def test_blank_demographics_are_missing(by_offsets):
    blank = by_offsets.assign(ell_status=by_offsets["ell_status"].fillna(" "))
    files, expected = prepare(blank), prepare(by_offsets)
    assert files.report == expected.report
    pd.testing.assert_frame_equal(files.tables["train.csv"], expected.tables["train.csv"])


# --- faults of the corpus ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("discourse_type", "Claims", "row 8 ('Claims'). Expected one of Lead, "),
        ("discourse_type", None, "row 8 (None). Expected a value in every row"),
        ("essay_id_comp", None, "row 8 (None). Expected a value in every row"),
        ("discourse_effectiveness", "Good", "row 8 ('Good'). Expected one of Ineffective, Adequate, Effective"),
        ("discourse_start", "x", "row 8 ('x'). Expected a whole number, at least 0"),
        ("discourse_start", -1, "row 8 (-1). Expected a whole number, at least 0"),
        ("discourse_start", 1.5, "row 8 (1.5). Expected a whole number, at least 0"),
        ("discourse_end", 0, "row 8 (0). Expected more than discourse_start"),
        ("gender", "M", "row 8 ('M'). Expected one value per essay; the one above it differs"),
        ("full_text", "?" * 99, "row 8 ('" + "?" * 59 + "). Expected one value per essay"),
    ],
)
def test_faults_are_named_by_row(by_offsets, column, value, message):
    frame = by_offsets.astype({column: object})
    assert frame.loc[6, "essay_id_comp"] == frame.loc[7, "essay_id_comp"]
    frame.loc[7, column] = value
    with pytest.raises(HostError) as caught:
        prepare(frame)
    assert str(caught.value).startswith(f"{column} is wrong in 1 row of the corpus: {message}")


def test_rows_are_those_of_the_file(by_offsets):
    """Although Unannotated rows above are dropped."""
    frame = by_offsets.astype({"discourse_effectiveness": object})
    frame.loc[:3, "discourse_type"] = "Unannotated"
    frame.loc[7:16, "discourse_effectiveness"] = "Good"
    with pytest.raises(
        HostError, match=r"in 10 rows of the corpus: row 8 \('Good'\), row 9 .* and 5 more\. Expected"
    ):
        prepare(frame)


def test_predictionstrings_are_checked(by_words):
    frame = by_words.copy()
    frame.loc[7, "predictionstring"] = "4 6"
    with pytest.raises(HostError, match=r"^predictionstring is wrong in 1 row of the corpus: row 8 \('4 6'\)"):
        prepare(frame)


@pytest.mark.parametrize(
    ("columns", "lacking"),
    [
        (["essay_id_comp"], "essay_id_comp or id or essay_id"),
        (["discourse_type", "discourse_effectiveness"], "discourse_type, discourse_effectiveness"),
        (["full_text", "discourse_end"], "discourse_end, full_text"),
        (["ell_status"], "ell_status"),
    ],
)
def test_missing_columns(by_offsets, columns, lacking):
    with pytest.raises(HostError) as caught:
        prepare(by_offsets.drop(columns=columns))
    assert str(caught.value).startswith(f"the corpus lacks columns: {lacking}. It has: ")


def test_nothing_is_annotated(by_offsets):
    for frame in (by_offsets.head(0), by_offsets.assign(discourse_type="Unannotated")):
        with pytest.raises(HostError, match="the corpus has no annotated row"):
            prepare(frame)


# --- the command line -------------------------------------------------------------------------------


def test_files_on_disk(capsys, tmp_path, by_offsets):
    by_offsets.to_csv(tmp_path / "corpus.csv", index=False)
    out = tmp_path / "competition"
    code, text, err = run_host(capsys, "prepare", tmp_path / "corpus.csv", "--out", out)
    assert (code, err) == (0, "")
    files = prepare(by_offsets)
    assert text == f"{files.report}\nwritten to {out}\n"
    assert (out / "report.md").read_text(encoding="utf-8") == files.report
    found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert found == {*files.tables, "report.md"}
    for name, table in files.tables.items():
        assert (out / name).read_text(encoding="utf-8") == table.to_csv(index=False, lineterminator="\n")


def test_options(capsys, tmp_path, by_words):
    by_words.assign(grade_level="8").to_csv(tmp_path / "corpus.csv", index=False)
    code, _, _ = run_host(
        capsys, "prepare", tmp_path / "corpus.csv", "--out", tmp_path / "out", "--seed", 7, "--test", 0.5,
        "--public", 0.5, "--subpopulations", " grade_level ",
    )  # fmt: skip
    assert code == 0
    expected = corpus.prepare(by_words.assign(grade_level="8"), ["grade_level"], 0.5, 0.5, 7)
    assert (tmp_path / "out" / "report.md").read_text(encoding="utf-8") == expected.report


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--test", "0"], 2, "argument --test: 0 is not between 0 and 1"),
        (["--public", "1"], 2, "argument --public: 1 is not between 0 and 1"),
        (["--public", "x"], 2, "argument --public: invalid share value: 'x'"),
        (["--seed", "-1"], 2, "argument --seed: -1 is below 0"),
        (["--subpopulations", "race"], 4, "error: the corpus lacks columns: race."),
    ],
)
def test_bad_options_write_nothing(capsys, tmp_path, by_words, options, code, message):
    by_words.to_csv(tmp_path / "corpus.csv", index=False)
    result = run_host(capsys, "prepare", tmp_path / "corpus.csv", "--out", tmp_path / "out", *options)
    assert result[:2] == (code, "")
    assert message in result[2]
    assert not (tmp_path / "out").exists()
