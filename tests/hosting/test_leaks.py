"""Files that reveal the solution are not sent, whatever their names are."""

import base64
import gzip
import hashlib
import json
import shutil
import tarfile
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from podium.errors import HostError
from podium.essays import corpus
from podium.hosting import disguises, leaks, record, writing
from tests.support.corpora import make_corpus
from tests.support.host_line import ROOT, run_podium, stay_in_process


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small competition, as `podium make` makes it."""
    folder = tmp_path_factory.mktemp("made")
    make_corpus(60).to_csv(folder / "corpus.csv", index=False)
    return corpus.make(corpus.read_corpus(folder / "corpus.csv"), ["ell_status", "economically_disadvantaged"])


@pytest.fixture(scope="module")
def written(made, tmp_path_factory):
    """The competition's files in a folder, which no test may change."""
    folder = tmp_path_factory.mktemp("written") / "files"
    writing.write(made, folder)
    return folder


@pytest.fixture
def files(written, tmp_path):
    """A copy of the competition's files that a test may change."""
    return shutil.copytree(written, tmp_path / "files")


@pytest.fixture
def tables(files):
    """The solution, the training rows and the texts of both, with all cells as texts."""
    names = ("private/solution.csv", "public/train.csv", "public/test_essays.csv", "public/train_essays.csv")
    return [pd.read_csv(files / name, dtype=str, keep_default_na=False) for name in names]


def put(files, name, table):
    """Write a table where participants see it."""
    table.to_csv(files / "public" / name, index=False)


def leak(files, made) -> str:
    """What the files reveal, in the words of the error."""
    with pytest.raises(HostError) as caught:
        leaks.refuse(files, made.items)
    return str(caught.value)


def test_what_podium_make_writes_passes(files, made):
    leaks.refuse(files, made.items)
    (files / "public" / "map.png").write_bytes(b"\x89PNG\0\xff")
    (files / "public" / "notes.md").write_text("Essays, of which 1,2 are short\n")
    leaks.refuse(files, made.items)


# --- a copied solution ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["solution.csv", "perfect_submission.csv", "solution.csv.gz"])
def test_a_private_file_by_its_name(files, made, name):
    (files / "public" / "more").mkdir()
    content = b"a\n1\n"
    (files / "public" / "more" / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert leak(files, made).startswith(f"public/more/{name} has the name of a private file")


@pytest.mark.parametrize("private", ["solution.csv", "perfect_submission.csv"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_copy_under_another_name(files, made, private, pack):
    name = "extra.csv" if pack is bytes else "extra.csv.gz"
    (files / "public" / name).write_bytes(pack((files / "private" / private).read_bytes()))
    assert leak(files, made) == f"public/{name} is a copy of private/{private}: delete it"


def test_a_copy_within_archives(files, made):
    with zipfile.ZipFile(files / "public" / "all.zip", "w") as archive:
        archive.write(files / "private" / "solution.csv", "a/truth.csv")
    assert leak(files, made) == "public/all.zip/a/truth.csv is a copy of private/solution.csv: delete it"


def test_a_copy_within_a_tape(files, made):
    with tarfile.open(files / "public" / "all.tgz", "w:gz") as tape:
        tape.add(files / "private" / "solution.csv", "a/truth.csv")
    assert leak(files, made) == "public/all.tgz/a/truth.csv is a copy of private/solution.csv: delete it"


def test_a_tape_that_leads_outside(files, made):
    with tarfile.open(files / "public" / "all.tar", "w") as tape:
        tape.add(files / "public" / "train.csv", "../../train.csv")
    assert leak(files, made) == (
        "public/all.tar: expected an archive that can be unpacked, found ../../train.csv outside of the archive"
    )


def test_an_archive_that_cannot_be_unpacked(files, made):
    path = files / "public" / "all.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(files / "private" / "solution.csv", "truth.csv")
    content = bytearray(path.read_bytes())
    content[200:260] = bytes(60)
    path.write_bytes(content)
    assert leak(files, made).startswith("public/all.zip: expected an archive that can be unpacked, found ")


@pytest.mark.parametrize("name", ["notes.gz", "notes.csv.gz"])
def test_a_damaged_gzip_file_is_no_traceback(files, made, name):
    (files / "public" / name).write_bytes(gzip.compress(b"a,b\n1,2\n" * 99)[:-20])
    if name == "notes.gz":
        leaks.refuse(files, made.items)
    else:
        assert f"{name}" in leak(files, made)


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_rows_in_a_text(files, made, tables, separator):
    solution, *_ = tables
    rows = solution.iloc[[3]].to_csv(index=False, header=False, sep=separator)
    (files / "public" / "notes.md").write_text(f"# Notes\n{rows}")
    assert leak(files, made) == "public/notes.md has a row of solution.csv in line 2: take it out"


# --- truths of the test set -------------------------------------------------------------------------


def test_truths_appended_to_train(files, made, tables):
    solution, train, *_ = tables
    put(files, "train.csv", pd.concat([train, solution.drop(columns="Usage").tail(1)]))
    message = leak(files, made)
    assert message.startswith("public/train.csv would reveal discourse_type, predictionstring, discourse_eff")
    assert message.endswith(f" of {solution['row_id'].iloc[-1]}, which is in solution.csv: take it out")


@pytest.mark.parametrize("name", ["labels.csv", "labels.parquet", "labels.jsonl", "labels.json"])
def test_test_texts_with_labels(files, made, tables, name):
    solution, _, test, _ = tables
    gender = dict(zip(solution["essay_id"], solution["gender"]))
    table = test.assign(gender=test["essay_id"].map(gender)).tail(1)
    if name.endswith(".parquet"):
        table.to_parquet(files / "public" / name)
    elif name.endswith(".csv"):
        put(files, name, table)
    else:
        table.to_json(files / "public" / name, orient="records", lines=name.endswith("l"))
    assert leak(files, made) == (
        f"public/{name} would reveal gender of {test['essay_id'].iloc[-1]}, "
        "which is in solution.csv: take it out"
    )


def test_so_few_truths_that_they_can_be_chance(files, made, tables):
    solution, *_ = tables
    table = solution[["row_id", "discourse_type"]].set_axis(["row_id", "guess"], axis=1)
    put(files, "more.csv", table.head(leaks.FEWEST_ANSWERS - 1))
    leaks.refuse(files, made.items)
    put(files, "more.csv", table.head(leaks.FEWEST_ANSWERS))
    assert "the column guess has the values of discourse_type" in leak(files, made)


def test_truths_under_another_name(files, made, tables):
    """The column of ids may have another name, too. A column with a few right values by chance is not
    refused.
    """
    solution, *_ = tables
    truth = solution.groupby("essay_id", sort=False)["gender"].first().reset_index()
    hidden = solution.rename(columns={"row_id": "number", "discourse_effectiveness": "hint"})[
        ["number", "hint"]
    ]
    put(files, "hints.csv", hidden)
    assert leak(files, made).startswith(
        "public/hints.csv: the column hint has the values of discourse_effectiveness in solution.csv for the "
    )
    put(files, "hints.csv", hidden.assign(hint=hidden["hint"].iloc[::-1].tolist()))
    leaks.refuse(files, made.items)
    put(files, "hints.csv", truth.rename(columns={"gender": "length"}).head(9))
    leaks.refuse(files, made.items)


def test_a_sample_submission_that_is_right(files, made):
    perfect = pd.read_csv(files / "private" / "perfect_submission.csv", dtype=str)
    put(files, "sample_submission.csv", perfect.assign(note="x"))
    assert leak(files, made).startswith(
        "public/sample_submission.csv: the column discourse_type has the values "
    )


# --- texts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["full_text", "body"])
def test_a_text_of_the_test_under_another_id(files, made, tables, column):
    *_, test, train = tables
    copied = train.assign(full_text=[test["full_text"][0].upper() + " ", *train["full_text"][1:]])
    put(files, "train_essays.csv", copied.rename(columns={"full_text": column}))
    assert leak(files, made).startswith(
        f"public/train_essays.csv has the text of {test['essay_id'][0]}, which is in solution.csv, under"
    )


def test_a_sample_may_show_what_is_the_same_in_every_essay(tmp_path):
    """If all essays have the same types in the same order, the sample has them right but reveals nothing."""
    types = ["Lead", "Position", "Claim", "Evidence"]
    rows = [
        (f"e{essay:02}", name, " ".join(map(str, range(9 * number, 9 * number + 7 + essay % 3))), essay % 2)
        for essay in range(30)
        for number, name in enumerate(types)
    ]
    names = ["essay_id", "discourse_type", "predictionstring", "discourse_effectiveness"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "corpus.csv", index=False)
    meanings = {"0": "Ineffective", "1": "Effective"}
    made = corpus.make(corpus.read_corpus(tmp_path / "corpus.csv"), [], spellings=meanings)
    writing.write(made, tmp_path / "files")
    # Values that differ between essays are refused from ten ids on.
    solution = pd.read_csv(tmp_path / "files" / "private" / "solution.csv", dtype=str)
    told = solution[["row_id", "discourse_effectiveness"]].set_axis(["row_id", "x"], axis=1)
    put(tmp_path / "files", "more.csv", told.head(40))
    assert "public/more.csv: the column x has the values of discourse_effectiveness" in leak(
        tmp_path / "files", made
    )


def test_a_text_in_both_parts(files, made, tables):
    solution, _, test, _ = tables
    part = test["essay_id"].map(dict(zip(solution["essay_id"], solution["Usage"])))
    public, private = test[part == "Public"], test[part == "Private"]
    texts = test["full_text"].where(
        test["essay_id"] != private["essay_id"].iloc[0], public["full_text"].iloc[0]
    )
    put(files, "test_essays.csv", test.assign(full_text=texts))
    assert "expected equal texts in one part" in leak(files, made)


def test_nothing_is_left_if_what_was_made_leaks(made, tmp_path):
    public = made.public | {"more.csv": made.private["solution.csv"][["essay_id", "gender"]].head(1)}
    with pytest.raises(HostError, match=r"^public/more\.csv would reveal gender of "):
        writing.write(made._replace(public=public), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# --- parameters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["score", "emulate", "check"])
def test_recorded_parameters_are_used_and_shown(capsys, tmp_path, command, monkeypatch):
    """Every command that gets the solution uses them, and a conflict is an error."""
    stay_in_process(monkeypatch, tmp_path)
    make_corpus(60).to_csv(tmp_path / "corpus.csv", index=False)
    files = tmp_path / "files"
    given = ["--subpopulations", "", "--set", "temperature=80", "--out", files]
    assert run_podium(capsys, "make", tmp_path / "corpus.csv", *given)[0] == 0
    recorded = json.loads((files / "competition.json").read_text())
    parameters = {"subpopulation_column_names": "", "temperature": 80.0}
    assert recorded == {"metric": "unified", "parameters": parameters}
    line = [command, *(["unified"] if command != "score" else [])]
    line += [files / "private" / "solution.csv", files / "public" / "sample_submission.csv"]
    code, out, err = run_podium(capsys, *line)
    assert code == 0
    assert err.startswith(
        f"parameters of {files / 'competition.json'}: subpopulation_column_names=, temperature=80.0"
    )
    if command == "score":
        assert "temperature:80.0" in out
    code, _, err = run_podium(capsys, *line, "--set", "subpopulation_column_names=gender")
    assert code == 4
    assert err.startswith(
        "error: subpopulation_column_names is 'gender', but the competition's files were made for ''"
    )


def test_a_forgotten_metric_is_told_by_the_record(capsys, tmp_path):
    labels = ROOT / "metrics" / "scifact" / "samples" / "claims.jsonl"
    assert run_podium(capsys, "make", labels, "--metric", "scifact", "--out", tmp_path / "files")[0] == 0
    files = [
        tmp_path / "files" / "private" / "solution.csv",
        tmp_path / "files" / "public" / "sample_submission.csv",
    ]
    code, _, err = run_podium(capsys, "score", *files)
    assert code == 4
    record = tmp_path / "files" / "competition.json"
    assert err.startswith(
        f"warning: the files were made for the metric scifact (see {record}), and this is unified: "
        "if it should be the former, name it by --metric\nerror: "
    )
    code, _, err = run_podium(capsys, "score", "--metric", "scifact", *files)
    assert code == 0
    assert "the files were made" not in err


def test_recorded_parameters_rank_too(capsys, tmp_path, monkeypatch):
    """Also with the Public rows alone, if they lie in the same folder."""
    make_corpus(60).to_csv(tmp_path / "corpus.csv", index=False)
    monkeypatch.chdir(tmp_path)
    given = ["--subpopulations", "", "--set", "temperature=80", "--out", "files"]
    assert run_podium(capsys, "make", "corpus.csv", *given)[0] == 0
    solution = pd.read_csv("files/private/solution.csv", dtype=str)
    solution[solution["Usage"] == "Public"].to_csv("files/private/public_part.csv", index=False)
    (tmp_path / "teams").mkdir()
    pd.read_csv("files/public/sample_submission.csv", dtype=str).to_csv("teams/Ada.csv", index=False)
    line = [
        "rank",
        "files/private/public_part.csv",
        "teams",
        "--no-boost",
        "--resamples",
        "0",
        "--out",
        "board",
    ]
    code, _, err = run_podium(capsys, *line)
    assert (code, err.splitlines()[0]) == (
        0,
        "parameters of files/competition.json: subpopulation_column_names=, temperature=80.0",
    )
    parameters = json.loads((tmp_path / "board" / "run.json").read_text())["parameters"]
    assert parameters == {"subpopulation_column_names": "", "temperature": 80.0}
    assert run_podium(capsys, "verify", "board")[0] == 0
    code, _, err = run_podium(capsys, *line, "--set", "temperature=50")
    assert (code, err.startswith("error: temperature is 50.0, but the competition's files were made for")) == (
        4,
        True,
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", 'expected {"metric": NAME, "parameters": {…}}, as podium make writes it'),
        ('{"metric": "unified", "parameters": {"x": 1}}', "the metric has no parameter x; it has "),
    ],
)
def test_a_damaged_record(capsys, files, content, message):
    (files / record.RECORD).write_text(content)
    code, _, err = run_podium(
        capsys, "score", files / "private" / "solution.csv", files / "public" / "sample_submission.csv"
    )
    assert code == 4
    assert err.startswith(f"error: {files / record.RECORD}: {message}")


def test_the_files_of_another_metric(capsys, files, tmp_path):
    code, _, err = run_podium(
        capsys, "bundle", "evalai", files, "--title", "T", "--start", "2027-01-01", "--switch", "2027-02-01",
        "--end", "2027-03-01", "--out", tmp_path / "out", "--metric", "scifact",
    )  # fmt: skip
    assert code == 4
    assert err.startswith("error: expected the metric 'unified', for which the files were made (see ")


def test_two_names_for_the_sub_populations(capsys, tmp_path):
    make_corpus(60).to_csv(tmp_path / "corpus.csv", index=False)
    twice = ["--subpopulations", "gender", "--set", "subpopulation_column_names=ell_status"]
    code, _, err = run_podium(capsys, "make", tmp_path / "corpus.csv", "--out", tmp_path / "out", *twice)
    assert code == 2
    assert err == (
        "error: --subpopulations and --set subpopulation_column_names name different columns: give one of "
        "them\n"
    )


# --- truths in disguise ------------------------------------------------------------------------------


LABELS = [("cat", "dog", "fox")[number * number % 7 % 3] for number in range(80)]
NUMBERS = [round((number * 37 % 101) ** 1.5, 4) for number in range(80)]


@pytest.fixture
def plain(tmp_path):
    """A competition with a label and a number for each of 80 ids, which tell nothing."""
    return plain_files(tmp_path / "plain", [f"r{number:02}" for number in range(80)])


def plain_files(folder, ids, labels=LABELS):
    """The files of a competition with one row per id, a label and an amount."""
    solution = pd.DataFrame({"id": ids, "label": labels, "amount": NUMBERS})
    solution["Usage"] = [("Public", "Private")[number % 3 > 0] for number in range(len(ids))]
    for name in ("public", "private"):
        (folder / name).mkdir(parents=True)
    solution.to_csv(folder / "private" / "solution.csv", index=False)
    solution[["id"]].assign(label="cat", amount=0).to_csv(
        folder / "public" / "sample_submission.csv", index=False
    )
    return folder


def told(folder):
    """What the check says of a folder of `plain_files`, as an error or as a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            leaks.refuse(folder, [])
        except HostError as problem:
            return str(problem)
    return "; ".join(str(each.message) for each in caught)


def test_plain_files_tell_nothing(plain):
    assert told(plain) == ""


DISGUISES = {
    "translated": ("label", lambda label, _: {"cat": "chat", "dog": "chien", "fox": "renard"}[label]),
    "numbered": ("label", lambda label, _: ("fox", "dog", "cat").index(label)),
    "hashed": ("label", lambda label, _: hashlib.md5(label.encode()).hexdigest()),
    "encoded": ("label", lambda label, _: base64.b64encode(label.encode()).decode()),
    "times ten": ("amount", lambda _, amount: amount * 10),
    "rounded": ("amount", lambda _, amount: round(amount / 20)),
    "negative": ("amount", lambda _, amount: 5 - amount),
}


@pytest.mark.parametrize(("column", "disguise"), DISGUISES.values(), ids=DISGUISES)
def test_a_column_in_disguise(plain, column, disguise):
    ids = [f"r{number:02}" for number in range(80)]
    table = pd.DataFrame({"id": ids, "hint": list(map(disguise, LABELS, NUMBERS))})
    put(plain, "test.csv", table.sample(frac=1, random_state=1))
    assert told(plain) == (
        f"public/test.csv: the column hint tells {column} in solution.csv for 80 ids of the test set, in "
        f"another form: take it out, or list {column} as public_columns in competition.json"
    )
    shuffled = table.assign(hint=table["hint"].sample(frac=1, random_state=2).tolist())
    put(plain, "test.csv", shuffled)
    assert told(plain) == ""


def test_a_column_that_all_may_know(capsys, plain):
    """The host says so in competition.json, and parameters that are recorded later leave it there."""
    ids = [f"r{number:02}" for number in range(80)]
    put(plain, "test.csv", pd.DataFrame({"id": ids, "label": LABELS}))
    assert told(plain).startswith("public/test.csv would reveal label of r00")
    record.write(plain, "accuracy", {})
    path = plain / record.RECORD
    path.write_text(json.dumps(json.loads(path.read_text()) | {"public_columns": ["label"]}))
    assert told(plain) == ""
    record.write(plain, "accuracy", {"beta": 2.0})
    assert record.read(plain) == (path, "accuracy", {"beta": 2.0}, ["label"])
    path.write_text(path.read_text().replace('[\n    "label"\n  ]', '"label"'))
    assert told(plain) == f"{path}: public_columns: expected a list such as [\"site\"], found 'label'"


@pytest.mark.parametrize(
    ("ids", "part"),
    [
        ([f"r{n}_{('cat', 'dog', 'fox').index(label)}" for n, label in enumerate(LABELS)], "part 3 of the ids"),
        ([f"{label}-{n}" for n, label in enumerate(LABELS)], "part 1 of the ids"),
    ],
)
def test_ids_that_tell_the_label(tmp_path, ids, part):
    message = told(plain_files(tmp_path / "files", ids))
    assert message.startswith(f"public/sample_submission.csv: {part}, such as ")
    assert message.endswith("tells label in solution.csv: expected ids that tell nothing")


@pytest.mark.parametrize("spoilt", [0, 1, 20])
@pytest.mark.parametrize("column", ["label", "amount"])
def test_rows_in_the_order_of_the_truth(plain, column, spoilt):
    """One row out of place does not hide it; with many the order tells little."""
    solution = pd.read_csv(plain / "private" / "solution.csv").sort_values(column)
    rows = pd.concat([solution.iloc[spoilt:], solution.iloc[:spoilt].sample(frac=1, random_state=3)])
    if spoilt == 20:
        rows = rows.sample(frac=1, random_state=4)
    put(plain, "test.csv", rows[["id"]].assign(length=1))
    expected = (
        f"public/test.csv: the ids of the test set are, as they stand, in the order of {column} in solution.csv"
        "; if that tells too much, shuffle them and give them new ids"
    )
    assert told(plain) == (expected if spoilt == 0 or (spoilt == 1 and column == "label") else "")


def test_ids_in_the_order_of_the_label(tmp_path):
    files = plain_files(tmp_path / "files", [f"r{number}" for number in range(80)], sorted(LABELS))
    sample = pd.read_csv(files / "public" / "sample_submission.csv")
    put(files, "sample_submission.csv", sample.sample(frac=1, random_state=1))
    assert told(files).startswith(
        "public/sample_submission.csv: the ids of the test set are, sorted by their ids, in the order of label"
    )


@pytest.mark.parametrize("packed", [False, True])
def test_folders_that_tell_the_label(plain, packed):
    """Pictures in one folder for each class, as they are often collected."""
    for number, label in enumerate(LABELS):
        path = plain / "public" / "images" / f"class {label}" / f"r{number:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x89PNG\0" + bytes([number]))
    if packed:
        shutil.make_archive(str(plain / "public" / "images"), "zip", plain / "public" / "images")
        shutil.rmtree(plain / "public" / "images")
    assert told(plain).startswith(
        "the names of the files in public: the column folder tells label in solution.csv"
    )


def test_the_metadata_of_a_parquet_file(plain):
    ids = [f"r{number:02}" for number in range(80)]
    table = pd.DataFrame({"id": ids, "length": range(80)})
    path = plain / "public" / "test.parquet"
    table.to_parquet(path)
    assert told(plain) == ""
    table.attrs["made by"] = "us"
    table.to_parquet(path)
    assert told(plain) == ""
    table.attrs = dict(zip(ids, LABELS))
    table.to_parquet(path)
    name = "public/test.parquet (metadata PANDAS_ATTRS)"
    assert told(plain) == f"{name} names 80 ids of the test set: write the table anew without it"


def test_the_index_of_a_parquet_file(plain):
    """An index without a name is in the file, though reading with pandas does not show it as a column."""
    ids = [f"r{number:02}" for number in range(80)]
    table = pd.DataFrame({"id": ids, "length": range(80)}, index=pd.Index(LABELS))
    table.to_parquet(plain / "public" / "test.parquet")
    assert told(plain) == (
        "public/test.parquet: the column __index_level_0__ has the values of label in solution.csv for the 80 "
        "ids of the test set that are there: take it out"
    )


def test_chance_is_no_leak():
    """Of 500 random columns of each kind none is reported."""
    random = np.random.default_rng(0)
    for _ in range(500):
        rows, values = int(random.integers(10, 400)), int(random.integers(2, 6))
        secret, public = random.integers(values, size=(2, rows)).astype(str).tolist()
        numbers, others = random.normal(size=(2, rows)).astype(str).tolist()
        assert not disguises.stands_for(public, secret)
        assert not disguises.ranks_like(others, numbers)
        assert not disguises.is_in_order(secret)
        assert not disguises.is_in_order(numbers)
