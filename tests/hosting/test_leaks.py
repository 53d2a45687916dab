"""Files that tell the solution are not sent, in whatever form; files that do not are sent."""

# ruff: noqa: E501 (a case is one line)

import gzip
import io
import json
import random
import re
import shutil
import tarfile
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.common.errors import HostError
from podium.contest import recorded
from podium.contest.recorded import RECORD
from podium.hosting import evidence, folders, leaks, making, public_tables, splitting
from podium.hosting.public_tables import tables_of
from podium.metric import hosted
from tests.support.examples import some
from tests.support.host_line import ACCURACY, EQUAL

DRAW = random.Random(7)
IDS = [f"r{number:02}" for number in range(80)]
LABELS = [DRAW.choice(["cat", "dog", "fox"]) for _ in IDS]
AMOUNTS = [round(DRAW.uniform(0, 1000), 2) for _ in IDS]
PAIRS = list(zip(IDS, LABELS))
TABLE = pd.DataFrame({"id": IDS, "label": LABELS})
CODES = {"cat": 0, "dog": 1, "fox": 2}
NOISY = [label if number % 10 else "cat" for number, label in enumerate(LABELS)]
GUESSES = [label if DRAW.random() < 0.55 else DRAW.choice(["cat", "dog", "fox"]) for label in LABELS]
SOLUTION = TABLE.assign(amount=AMOUNTS, Usage=[("Public", "Private")[DRAW.random() < 0.6] for _ in IDS])


def competition(folder: Path, solution: pd.DataFrame = SOLUTION) -> Path:
    """The files of a competition with a label and an amount for each id."""
    for name in ("public", "private"):
        (folder / name).mkdir(parents=True)
    solution.to_csv(folder / "private" / "solution.csv", index=False)
    constant = solution[["id"]].assign(label=solution["label"].iloc[0], amount=0)
    constant.to_csv(folder / "public" / "sample_submission.csv", index=False)
    return folder


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files where participants see them."""
    for name, content in files.items():
        path = folder / "public" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def told(folder: Path, items: tuple[str, ...] = ()) -> str:
    """What the check says of a folder, or "" if it may be sent."""
    try:
        leaks.refuse(folder, items)
    except HostError as problem:
        return str(problem)
    return ""


def csv_of(table: pd.DataFrame, **options: object) -> str:
    return str(table.to_csv(index=False, **options))


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def tape_of(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as tape:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tape.addfile(member, io.BytesIO(content))
    return file.getvalue()


def parquet_of(table: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    table.to_parquet(file)
    return file.getvalue()


def lines(form: str, start: str = "", end: str = "", between: str = "\n") -> str:
    """All ids with their labels, each in this form."""
    return (
        start
        + between.join(form.format(id=item, label=label, code=CODES[label]) for item, label in PAIRS)
        + end
    )


COCO = {
    "images": [{"id": 7 * n, "file_name": f"{item}.jpg", "width": 640} for n, item in enumerate(IDS)],
    "annotations": [
        {"id": n, "image_id": 7 * n, "category_id": CODES[label], "bbox": [n % 9, n % 7, 30, 40]}
        for n, label in enumerate(LABELS)
    ],
    "categories": [{"id": code, "name": name} for name, code in CODES.items()],
}

ROWS = pd.DataFrame({"id": [f"t{n:03}" for n in DRAW.sample(range(1000), 300)],
                     "label": [DRAW.choice(["oak", "ash", "elm"]) for _ in range(300)]})  # fmt: skip
NUMBER = {"oak": 0, "ash": 1, "elm": 2}


def column(cell: Callable[[str], object]) -> str:
    """A table with a cell for each id that depends on its label."""
    return csv_of(ROWS.assign(value=ROWS["label"].map(cell))[["id", "value"]])


# Honest accidents: what is known of a thing because of its class, and names and numbers that were given by class.
ACCIDENTS: dict[str, tuple[str, dict[str, str | bytes]]] = {
    "missing for one class": ("by the missing cells of the column value", {"m.csv": column(lambda of: "" if of == "elm" else DRAW.randrange(90))}),
    "there for one class alone": ("by the missing cells of the column value", {"m.csv": column(lambda of: DRAW.randrange(90) if of == "elm" else "")}),
    "0 for one class": ("by the missing cells of the column value", {"m.csv": column(lambda of: 0 if of == "oak" else f"{DRAW.uniform(3, 40):.3f}")}),
    "-999 for one class": ("by the missing cells of the column value", {"m.csv": column(lambda of: -999 if of == "oak" else DRAW.uniform(3, 40))}),
    "dates for two classes": ("by the missing cells of the column value", {"m.csv": column(lambda of: "" if of == "oak" else
                              f"2024-{DRAW.randint(1, 12):02}-{DRAW.randint(1, 28):02} {DRAW.randint(0, 23):02}:{DRAW.randint(0, 59):02}")}),
    "ranges that do not meet": ("in the column value", {"m.csv": column(lambda of: f"{10 * NUMBER[of] + DRAW.random() * 9:.4f}")}),
    "days of each class": ("in the column value", {"m.csv": column(lambda of: f"20{20 + NUMBER[of]}-{DRAW.randint(1, 12):02}-{DRAW.randint(1, 28):02}")}),
    "the first letter of a number": ("the column value", {"m.csv": column(lambda of: f"{'CAB'[NUMBER[of]]}{DRAW.choice('XYZ')}{DRAW.randrange(10**6):06}")}),
    "a length": ("by the length of the column value", {"m.csv": column(lambda of: "".join(DRAW.choices("abcdefgh", k=10 * (NUMBER[of] + 1))))}),
    "a word of another language": ("the column value", {"m.csv": column(lambda of: f"seen: {['Eiche', 'Esche', 'Ulme'][NUMBER[of]]} no {DRAW.randrange(10**6)}")}),
    "weights of classes": ("in the column value", {"m.csv": column(lambda of: 1 + NUMBER[of] / 2)}),
    "the number of rows": ("in which ids it lists, and how often", {"visits.csv": csv_of(ROWS.loc[ROWS.index.repeat(ROWS["label"].map(NUMBER) + 1), ["id"]])}),
    "a list of one class": ("in which ids it lists, and how often", {"more.csv": csv_of(ROWS[ROWS["label"] == "oak"][["id"]].assign(x=1))}),
    "ids as columns": ("in the column label", {"t.csv": csv_of(ROWS.assign(age=range(300)).T.reset_index(), header=False)}),
    "measurements of ids as columns": ("in the column g3", {"t.tsv": csv_of(pd.DataFrame({f"g{n}": ROWS["label"].map(NUMBER) * (n == 3) + np.random.default_rng(n).random(300)
                                       for n in range(6)}).set_index(ROWS["id"]).T.reset_index(), sep="\t")}),
    "the name of a picture": ("in the names of files", {f"img/{i}_{NUMBER[of]}.png": b"\x89PNG\0" + i.encode() for i, of in ROWS.to_numpy()}),
    "the size of a picture": ("in the sizes of files", {f"img/{i}.png": b"\x89PNG\0" + bytes(40 + 10 * NUMBER[of] + DRAW.randrange(9)) for i, of in ROWS.to_numpy()}),
    "the format of a picture": ("in the endings of files", {f"img/{i}.{['png', 'jpg', 'gif'][NUMBER[of]]}": b"\x89PNG\0" + i.encode() for i, of in ROWS.to_numpy()}),
    "slices of several sizes": ("in the sizes of files", {f"img/{i}/{n}.png": b"\x89PNG\0" + i.encode() + bytes(NUMBER[of]) for i, of in ROWS.to_numpy() for n in range(2)}),
    "the number of slices": ("in which ids it lists, and how often", {f"img/{i}/{n}.png": b"\x89PNG\0" + f"{i}{n}".encode() for i, of in ROWS.to_numpy() for n in range(NUMBER[of] + 1)}),
    "the order of pictures": ("in the names of files", {f"img/{n:03}_{i}.png": b"\x89PNG\0" + i.encode() for n, (i, of) in
                              enumerate(ROWS.sort_values("label", kind="stable").to_numpy())}),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCIDENTS)
@pytest.mark.filterwarnings("ignore:these files are no tables")
def test_an_accident_is_found(tmp_path, name):
    where, files = ACCIDENTS[name]
    message = told(put(competition(tmp_path / "files", ROWS.assign(Usage="Private")), files))
    assert re.match(rf"public\S* reveals label of solution\.csv .*{where}, such as ", message)


@pytest.mark.parametrize("spelling", ["{}", "{:0>5}", "img_{}", "img_{:0>5}", "img{:0>5}", "{}_v"])
@pytest.mark.parametrize("of_numbers", [True, False])
def test_ids_are_found_in_other_spellings(tmp_path, spelling, of_numbers):
    spelling = spelling if of_numbers else spelling.replace("img{", "img-{").replace(":0>5", "")
    rows = ROWS.assign(id=[7 * n for n in range(300)] if of_numbers else ROWS["id"], Usage="Private")
    files = {
        spelling.format(item) + ".png": of
        for item, of in rows[["id", "label"]].sample(frac=1, random_state=0).to_numpy()
    }
    table = csv_of(pd.DataFrame({"file": list(files), "value": list(files.values())}))
    pictures = {f"img/{of}/{name}": b"\x89PNG\0" + name.encode() for name, of in files.items()}
    for number, leak in enumerate(({"m.csv": table}, pictures)):
        message = told(put(competition(tmp_path / str(number), rows), leak))
        where = ("in the column value", "in the folders of files")[number]
        assert re.match(rf"public\S* reveals label of solution\.csv {where}, such as ", message)


HONEST = {
    "noise": lambda _: DRAW.random(),
    "right for 90%": lambda of: of if DRAW.random() < 0.85 else DRAW.choice(["oak", "ash", "elm"]),
    "missing for 90% of a class": lambda of: "" if DRAW.random() < (0.9 if of == "oak" else 0.05) else DRAW.randrange(90),
    "ranges that meet": lambda of: f"{10 * NUMBER[of] + DRAW.gauss(5, 3.2):.3f}",
    "texts of a class are longer": lambda of: "a" * max(1, int(DRAW.gauss(30 + 20 * NUMBER[of], 8))),
    "letters of laboratories": lambda of: f"{DRAW.choice('ABC')}{DRAW.randrange(10**6):06}",
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_a_feature_is_no_leak(tmp_path, name):
    table = {"m.csv": column(HONEST[name])}
    assert told(put(competition(tmp_path / "files", ROWS.assign(Usage="Private")), table)) == ""


LEAKS: dict[str, dict[str, str | bytes]] = {
    "a table with file endings": {"labels.csv": csv_of(TABLE.assign(id=TABLE["id"] + ".jpg"))},
    "COCO": {"instances.json": json.dumps(COCO)},
    "nested JSON Lines": {"l.jsonl": lines('{{"item": {{"file": "{id}.png"}}, "truth": {{"name": "{label}"}}}}')},
    "coded JSON Lines": {"l.jsonl": lines('{{"id": "{id}", "y": {code}}}')},
    "labels of half the ids and blanks": {"m.csv": csv_of(TABLE.assign(label=TABLE["label"].where(TABLE.index % 2 == 0, "")))},
    "labels of 60% and -1": {"m.csv": csv_of(TABLE.assign(label=TABLE["label"].where(TABLE.index % 5 < 3, "-1")))},
    "three codes for each class": {"c.csv": "id,c\n" + "\n".join(f"{i},{3 * CODES[y] + n % 3}" for n, (i, y) in enumerate(PAIRS))},
    "codes in the order of the rows": {"c.txt": lines("{code}")},
    "labels at positions": {"c.csv": "row,label\n" + "\n".join(f"{n},{label}" for n, label in enumerate(LABELS))},
    "ids without their letter": {"c.csv": "n,label\n" + "\n".join(f"{item[1:]},{label}" for item, label in PAIRS)},
    "a list of ids for each code": {f"list_{code}.txt": "\n".join(i for i, of in PAIRS if of == label) for label, code in CODES.items()},
    "ids in the order of the classes": {"t.csv": csv_of(TABLE.sort_values("label", kind="stable")[["id"]])},
    "amounts with more digits": {"a.csv": csv_of(SOLUTION[["id", "amount"]], float_format="%.4f")},
    "bins of amounts": {"a.csv": csv_of(SOLUTION.assign(b=SOLUTION["amount"] // 50)[["id", "b"]])},
    "negative logarithms of amounts": {"a.csv": csv_of(SOLUTION.assign(b=-np.log(SOLUTION["amount"]))[["id", "b"]])},
    "an old encoding": {"l.txt": ("Größe\n" + lines("{id} {label}")).encode("cp1252")},
    "objects of which some lack a field": {"l.json": json.dumps([{"id": i, "y": CODES[y]} | ({"x": None} if i > "r5" else {})
                                           for i, y in PAIRS] + [{"id": None}, {"id": "t1"}])},
    "JSON by id": {"l.json": json.dumps(dict(PAIRS))},
    "JSON by columns": {"l.json": TABLE.to_json()},
    "JSON of lists": {"l.json": json.dumps(TABLE.assign(label=TABLE["label"].map(CODES)).sample(frac=1, random_state=3).to_dict("list"))},
    "a wide table in JSON": {"l.json": json.dumps([{"id": i} | {f"f{k}": n * k % 11 for k in range(14)} | {"y": CODES[y]}
                             for n, (i, y) in enumerate(PAIRS)])},
    "indented JSON": {"l.json": json.dumps([{"label": label, "x": [1, 2], "id": i} for i, label in PAIRS], indent=2)},
    "UTF-16": {"labels.txt": csv_of(TABLE).encode("utf-16")},
    "one-hot": {"test.csv": csv_of(TABLE[["id"]].join(pd.get_dummies(TABLE["label"]).astype(int)))},
    "one-hot without names": {
        "t.csv": csv_of(TABLE[["id"]].join(pd.get_dummies(TABLE["label"]).astype(int).set_axis(list("abc"), axis=1)))
    },
    "probabilities": {"t.csv": csv_of(TABLE[["id"]].join(pd.get_dummies(TABLE["label"]) * 0.7 + 0.1))},
    "labels with noise": {"weak.csv": csv_of(TABLE.assign(label=NOISY))},
    "codes": {"test.csv": csv_of(TABLE.assign(label=TABLE["label"].map(CODES)).rename(columns={"label": "group"}))},
    "translated": {"test.csv": csv_of(TABLE.assign(x=TABLE["label"].map({"cat": "chat", "dog": "chien", "fox": "r"}))
                                      [["id", "x"]])},
    "amounts": {"test.csv": csv_of(pd.DataFrame({"id": IDS, "x": AMOUNTS}))},
    "a solution in Parquet": {"x.parquet": parquet_of(SOLUTION)},
    "the index of a Parquet file": {"t.parquet": parquet_of(pd.DataFrame({"id": IDS}, index=LABELS))},
    "tabs in one line each, no header": {"files.txt": lines("{label}\timg/{id}.png")},
    "folders for classes": {f"images/{label}/{item}.png": b"\x89PNG\0" + item.encode() for item, label in PAIRS},
    "folders for coded classes": {f"im/c{CODES[label]}/{item}.png": b"\x89P\0" + item.encode() for item, label in PAIRS},
    "the label in file names": {f"{item}_{label}.png": b"\x89P\0" + item.encode() for item, label in PAIRS},
    "file names in a zip": {"i.zip": zipped({f"{y}/{i}.png": b"\0P" + i.encode() for i, y in PAIRS})},
    "ids by class": {"l.json": json.dumps({label: [i for i, y in PAIRS if y == label] for label in CODES})},
    "a list of ids for each class": {f"{label}.txt": "\n".join(i for i, y in PAIRS if y == label) for label in CODES},
    "ids in capitals": {"l.csv": csv_of(TABLE.assign(id=TABLE["id"].str.upper()))},
    "German numbers": {"l.csv": csv_of(pd.DataFrame({"nummer": IDS, "klasse": LABELS}), sep=";")},
    "gzip": {"l.csv.gz": gzip.compress(csv_of(TABLE).encode())},
    "a row among the training rows": {"train.csv": csv_of(pd.DataFrame({"id": ["t1", "t2", "r05"], "label": ["cat", "fox", LABELS[5]],
                                      "amount": [1.5, 2.5, AMOUNTS[5]]}))},
}  # fmt: skip


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.filterwarnings("ignore:these files are no tables")
def test_a_leak_is_found(tmp_path, name):
    """The message names the file, or the folder if names of files tell the truth."""
    message = told(put(competition(tmp_path / "files"), LEAKS[name]))
    first = next(iter(LEAKS[name])).partition("/")[0]
    assert message.startswith(("public reveals label of ", f"public/{first}"))


OTHERS = [f"t{number:03}" for number in range(300)]
TRAIN = pd.DataFrame({"id": OTHERS, "label": [DRAW.choice(["cat", "dog", "fox"]) for _ in OTHERS]})
WEAK = [DRAW.gauss(CODES[label], 1.5) for label in LABELS]
INNOCENT: dict[str, dict[str, str | bytes]] = {
    "nothing more": {},
    "another sample": {"sample_2.csv": csv_of(TABLE.assign(label="dog"))},
    "two rows that are right": {"example.csv": csv_of(TABLE.head(2))},
    "a baseline": {"baseline.csv": csv_of(TABLE.assign(label=GUESSES))},
    "metadata": {"meta.csv": csv_of(TABLE[["id"]].assign(width=640, camera=[n % 3 for n in range(80)], hour=range(80)))},
    "a weak feature": {"test.csv": csv_of(TABLE[["id"]].assign(size=WEAK, large=[int(x > 1) for x in WEAK]))},
    "a list of ids": {"ids.txt": "\n".join(IDS), "ids.json": json.dumps(IDS)},
    "ranges of ids": {"README.md": "Images r00 to r29 show a cat, dog or fox at night; r30-r79 by day.\n"},
    "training rows": {"train.csv": csv_of(TRAIN), "train.jsonl": TRAIN.to_json(orient="records", lines=True)},
    "training rows with the ids of others": {"train.csv": csv_of(TRAIN.assign(id=range(300)))},
    "folders of training pictures": {f"train/{y}/{i}.png": b"\0P" + i.encode() for i, y in TRAIN.to_numpy()},
    "pictures": {f"test/{item}.png": b"\x89PNG\0" + item.encode() for item in IDS},
    "texts that name labels": {"test.csv": csv_of(TABLE[["id"]].assign(text=[f"A {DRAW.choice(['cat', 'dog', 'fox'])} and a "
                               f"{DRAW.choice(['cat', 'dog', 'fox'])} met no. {n}" for n in range(80)]))},
    "a time series": {"series.csv": csv_of(pd.DataFrame({"id": IDS, "lag": [AMOUNTS[n - 1] for n in range(80)],
                      "day": pd.date_range("2027-01-01", periods=80).astype(str)}))},
    "a program": {"score.py": "CLASSES = ['cat', 'dog', 'fox']\nprint('r00', CLASSES)\n"},
    "votes of weak raters": {"votes.csv": csv_of(TABLE[["id"]].assign(**{f"rater_{n}": [y if DRAW.random() < 0.5 else
                             DRAW.choice(["cat", "dog", "fox"]) for y in LABELS] for n in range(5)}))},
    "a COCO file without annotations": {"images.json": json.dumps(COCO | {"annotations": []})},
    "boxes without classes": {"boxes.json": json.dumps(COCO | {"annotations": [{"image_id": 7 * n, "area": n % 5}
                              for n in range(80)]})},
    "two folds": {"folds.csv": csv_of(TABLE[["id"]].assign(fold=[DRAW.randrange(5) for _ in IDS]))},
    "a zip of what is there": {"all.zip": zipped({"train.csv": csv_of(TRAIN).encode()})},
    "classes": {"classes.json": json.dumps({"0": "cat", "1": "dog", "2": "fox"})},
}  # fmt: skip


@pytest.mark.parametrize("name", INNOCENT)
@pytest.mark.filterwarnings("ignore:these files are no tables")
def test_an_innocent_file_is_sent(tmp_path, name):
    assert told(put(competition(tmp_path / "files"), INNOCENT[name])) == ""


# --- copies, excuses and files that cannot be read ---------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["solution.csv", "more/perfect_submission.csv", "solution.csv.gz", "a.zip/solution.csv"]
)
def test_a_private_file_by_its_name(tmp_path, name):
    folder, content = competition(tmp_path / "files"), b"a\n1\n"
    if name.endswith(".gz"):
        content = gzip.compress(content)
    put(folder, {"a.zip": zipped({"solution.csv": content})} if "zip" in name else {name: content})
    assert told(folder).endswith("has the name of a private file: delete it or call it something else")


@pytest.mark.parametrize(("name", "pack"), [("notes.dat", bytes), ("notes.gz", gzip.compress),
                                            ("notes.zip", lambda data: zipped({"x": data}))])  # fmt: skip
def test_a_copy_under_another_name(tmp_path, name, pack):
    folder = competition(tmp_path / "files")
    put(folder, {name: pack((folder / "private" / "solution.csv").read_bytes())})
    assert told(folder).endswith(" is a copy of private/solution.csv: delete it")


LARGE = "".join(
    f'x{row},"a ""b""\n{row}",0\n' for row in range(9_000)
)  # cells of two lines, no id of the test set


@pytest.mark.parametrize(("name", "pack"), [("large.csv", bytes), ("large.csv.gz", gzip.compress),
                                            ("large.zip", lambda data: zipped({"x.csv": data}))])  # fmt: skip
def test_a_large_table_is_searched_in_parts(tmp_path, monkeypatch, name, pack):
    """Truths between other rows are found beyond the first part, and memory does not grow with the file."""
    monkeypatch.setattr(public_tables, "ROWS", 500)
    truths = "".join(f"{item},,{label}\n" for item, label in PAIRS)
    large = f"image,caption,kind\n{LARGE}{truths}{LARGE}"
    folder = put(competition(tmp_path / "files"), {name: pack(large.encode())})
    tracemalloc.start()
    assert " reveals label of solution.csv in the column kind, such as " in told(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(large) * 6  # the texts of a part are objects in pandas 2


def read_back(folder: Path, name: str, content: bytes) -> pd.DataFrame:
    """The one table in a file for participants."""
    (folder / name).write_bytes(content)
    ((table,),) = [list(file.tables()) for file in public_tables.files_in(name, folder / name)]
    return table


def test_a_carriage_return_in_parquet_is_no_new_row(tmp_path):
    table = pd.DataFrame({"id": ["a\rb", "c"], "label": ["x", "y"]})
    assert read_back(tmp_path, "t.parquet", parquet_of(table)).to_numpy().tolist() == table.to_numpy().tolist()


@pytest.mark.parametrize("name", ["a.zip", "a.csv.gz", "a.parquet"])
def test_a_damaged_file_is_listed(tmp_path, name):
    content = {
        "a.zip": zipped({"x.csv": b"abc" * 999}),
        "a.csv.gz": gzip.compress(b"abc" * 999),
        "a.parquet": parquet_of(TABLE),
    }[name]
    folder = put(competition(tmp_path / "files"), {name: content[: len(content) // 2]})
    with pytest.warns(UserWarning, match=f"are no tables, .* yourself: public/{name}$"):
        assert told(folder) == ""


def notebook(*outputs):
    """A notebook with a cell that has these outputs."""
    return json.dumps(
        {"cells": [{"cell_type": "code", "outputs": outputs, "source": ["print(1)"]}], "nbformat": 4}
    )


PLOT = {"data": [{"x": [1, 2, 3], "y": [[1, 2], [3]]}], "layout": {"title": None}}
ORDINARY = {
    "numbers.ipynb": notebook(
        1, 2.5, None, {"data": {"text/plain": ["0.5"], "plot": PLOT}, "execution_count": 1}
    ),
    "text.ipynb": notebook({"output_type": "stream", "text": ["r00 3.5\n", 7]}),
    "mixed.json": json.dumps(
        {"a": [1, 2], "b": {"c": [{"d": 1}, {"d": [1]}]}, "e": [[1, 2], [3]], "r00": [[1], [{}]]}
    ),
    "coco.json": json.dumps(
        {"images": [{"id": 1}, {"id": 1}], "annotations": [{"image_id": [1]}, {"image_id": {}}]}
    ),
    "names.json": json.dumps({"r00_id": [{"r00_id": 1}], "r00s": [{"id": {"y": 1}}], "": {"": {"": 10**25}}}),
    "deep.json": "[" * 5000 + "]" * 5000,
    "twice.csv": "id,id,a\nr00,r00,1\n",
    "ragged.csv": "id,a\nr00,2,3\n4\n\n",
    "quote.csv": 'id,a\n"r00,2\n',
    "nested.parquet": parquet_of(TABLE[["id"]].assign(many=[[1, 2]] * len(TABLE), one=[{"a": 1}] * len(TABLE))),
    "half.txt": b"\xff\xfer",
    "page.html": "<table><tr><td>r00</td></tr></table>",
    "empty": "",
}


def test_files_of_an_ordinary_folder_never_end_in_another_error(tmp_path):
    """As they are, and with a byte that is wrong, they are searched, listed, or refused for what they tell."""
    with pytest.warns(UserWarning, match=r"no tables, .*: public/deep\.json, public/numbers\.ipynb"):
        assert told(put(competition(tmp_path / "files"), ORDINARY)) == ""
    draw = random.Random(0)
    for number in range(some(200)):
        name = draw.choice(sorted(ORDINARY))
        content = ORDINARY[name] if isinstance(ORDINARY[name], bytes) else ORDINARY[name].encode()
        damaged = bytearray(content or b"x")
        damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        with warnings.catch_warnings(action="ignore"):
            told(put(competition(tmp_path / str(number)), {name: bytes(damaged)}))


def test_files_that_are_no_tables_are_listed(tmp_path):
    """In one line, whatever they are; those that podium has written are not."""
    files = {f"{number}.png": b"\x89PNG\0" + bytes([number]) for number in range(4)}
    files |= {"labels.tar": tape_of({"a.csv": csv_of(TABLE).encode()}), "x.zip": zipped({"a.zip": zipped({})})}
    files |= {"starter.ipynb": "{}", "metric.py": "", "ids.txt": "id\nr00"}
    with pytest.warns(UserWarning, match="look at them") as caught:
        assert told(put(competition(tmp_path / "files"), files)) == ""
    (warning,) = [str(each.message) for each in caught]
    assert warning == (
        "these files are no tables, so they are not searched for the solution; look at them yourself: "
        "public/0.png, public/1.png, public/2.png, public/3.png, public/labels.tar and 1 more"
    )


def test_a_file_that_may_be_whatever_it_is_is_not_listed(tmp_path):
    folder = put(competition(tmp_path / "files"), {"README.md": "r00 is an id"})
    recorded.write(recorded.Record(folder / RECORD, "accuracy", {}))
    record = json.loads((folder / RECORD).read_text())
    (folder / RECORD).write_text(json.dumps(record | {"innocent": {"README.md": ["*"]}}))
    assert told(folder) == ""


@pytest.mark.parametrize("form", ["{label}-{number}", "r{number}_{code}"])
def test_ids_that_tell_the_label(tmp_path, form):
    ids = [form.format(number=number, label=label, code=CODES[label]) for number, label in enumerate(LABELS)]
    message = told(competition(tmp_path / "files", SOLUTION.assign(id=ids)))
    assert message.startswith("solution.csv reveals label of solution.csv in part ")
    assert ". Give the rows other ids, as podium make does by --new-ids; if all may know it, " in message


def test_a_rare_class(tmp_path):
    """A constant answer is nearly always right, and tells nothing; the labels do."""
    labels = ["fraud" if number in (3, 40) else "fair" for number in range(80)]
    folder = competition(tmp_path / "files", SOLUTION[["id", "Usage"]].assign(label=labels))
    put(folder, {"baseline.csv": csv_of(TABLE.assign(label="fair"))})
    assert told(folder) == ""
    put(folder, {"test.csv": csv_of(TABLE.assign(label=labels))})
    assert told(folder).startswith("public/test.csv reveals label")


NAMES = st.sampled_from(["id", "image_id", "image.id", "images", "categories", "category_id", "x"])
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=30))
def test_the_cells_of_all_tables_in_json_are_texts(content):
    for table in tables_of(content) if isinstance(content, list | dict) else ():
        assert all(isinstance(cell, str) for row in table.itertuples(index=False) for cell in row)


def test_a_sample_with_a_row_of_the_solution(tmp_path):
    """A constant sample is right for some ids; without a column Usage, its rows are those of the solution."""
    assert told(competition(tmp_path / "files", TABLE)) == ""


def test_excuses(tmp_path):
    """A public column is known under any name and in any file; an innocent one in its file alone."""
    folder = competition(tmp_path / "files")
    put(folder, {"test.csv": csv_of(TABLE.rename(columns={"label": "day"}).assign(width=640))})
    assert told(folder).startswith("public/test.csv reveals label of solution.csv in the column day, such as ")
    assert ": it is right for 100% of 80 ids of the test set, and would be for 3" in told(folder)
    assert told(folder).endswith(
        f" Take it out; if all may know it, write {folder / RECORD} with public_columns or innocent"
    )
    path = folder / RECORD
    recorded.write(recorded.Record(path, "accuracy", {}))
    record = json.loads(path.read_text())
    assert told(folder).endswith(
        " Take it out; if all may know it, see public_columns and innocent in competition.json"
    )
    path.write_text(json.dumps(record | {"public_columns": ["label"]}))
    assert told(folder) == ""
    path.write_text(json.dumps(record | {"innocent": {"test.csv": ["day"]}}))
    assert told(folder) == ""
    put(folder, {"more.csv": csv_of(TABLE)})
    assert told(folder).startswith("public/more.csv reveals label")
    innocent = {"test.csv": ["day"], "more.csv": ["*"]}
    path.write_text(json.dumps(record | {"innocent": innocent}))
    assert told(folder) == ""
    kept = recorded.read(folder)._replace(parameters={"beta": 2.0})
    recorded.write(kept)
    assert recorded.read(folder) == kept
    assert kept.innocent == innocent


def test_what_keeps_rows_together_does_not_tell_their_part(tmp_path):
    """A day has rows of one part, in a column as in the ids. A column that tells the part has another form."""
    days = [number // 10 for number in range(80)]
    parts = [("Public", "Private")[day % 2] for day in days]
    ids = [f"d{day}n{number}" for number, day in enumerate(days)]
    solution = SOLUTION.assign(id=ids, Usage=parts)
    folder = competition(tmp_path / "files", solution)
    assert told(put(folder, {"test.csv": csv_of(solution[["id"]].assign(day=days))})) == ""
    put(folder, {"test.csv": csv_of(solution[["id"]].assign(fold=[day % 2 for day in days]))})
    with pytest.warns(
        UserWarning, match=r"^public/test\.csv reveals Usage of solution\.csv in the column fold, "
    ):
        assert told(folder) == ""


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("public_columns", "site", "found Expected `array`, got `str` - at `$.public_columns`"),
        ("innocent", ["day"], "found Expected `object`, got `array` - at `$.innocent`"),
    ],
)
def test_an_excuse_of_another_form(tmp_path, key, value, expected):
    folder = competition(tmp_path / "files")
    (folder / RECORD).write_text(json.dumps({"metric": "x", "parameters": {}, key: value}))
    assert told(folder).startswith(f"{folder / RECORD}: expected {{")
    assert told(folder).endswith(expected)


@pytest.mark.slow
def test_chance_is_no_leak(tmp_path):
    """Of up to 200 random tables with several columns, none is refused."""
    for seed in range(some(200)):
        draw = random.Random(seed)
        number, kinds = draw.randrange(3, 120), draw.randrange(2, 6)
        ids = [f"r{each}" for each in range(number)]
        solution = pd.DataFrame(
            {"id": ids, "label": [f"k{draw.randrange(kinds)}" for _ in ids], "Usage": "Public"}
        )
        columns = {f"c{each}": [f"k{draw.randrange(kinds)}" for _ in ids] for each in range(4)}
        folder = competition(tmp_path / str(seed), solution)
        assert told(put(folder, {"test.csv": csv_of(solution[["id"]].assign(**columns))})) == ""


# --- texts --------------------------------------------------------------------------------------------------


@pytest.fixture
def files(files, tmp_path):
    """A copy of the competition's files that a test may change."""
    return shutil.copytree(files, tmp_path / "files")


@pytest.fixture
def essays(files):
    """The ids of the essays in the test set."""
    return sorted(set(pd.read_csv(files / "private" / "solution.csv", dtype=str)["essay_id"]))


@pytest.mark.parametrize("column", ["full_text", "essay"])
def test_a_text_of_the_test_under_another_id(files, essays, column):
    test, train = (
        pd.read_csv(files / "public" / f"{name}_essays.csv", dtype=str) for name in ("test", "train")
    )
    train.loc[0, "full_text"] = test["full_text"][0].upper() + " "
    put(files, {"train_essays.csv": csv_of(train.rename(columns={"full_text": column}))})
    assert told(files, essays) == (
        f"public/train_essays.csv has the text of {test['essay_id'][0]}, which is in solution.csv, under another "
        "id: take it out"
    )


def test_a_text_in_both_parts(files, essays):
    solution = pd.read_csv(files / "private" / "solution.csv", dtype=str)
    test = pd.read_csv(files / "public" / "test_essays.csv", dtype=str)
    part = test["essay_id"].map(dict(zip(solution["essay_id"], solution["Usage"])))
    test.loc[test.index[part == "Private"][0], "full_text"] = test["full_text"][part == "Public"].iloc[0]
    put(files, {"test_essays.csv": csv_of(test)})
    assert "expected equal texts in one part" in told(files, essays)


def test_labels_of_whole_items(tmp_path):
    """An essay has one status and many segments."""
    essays = [f"e{number // 2}" for number in range(80)]
    statuses = [DRAW.choice(["yes", "no"]) for _ in range(40)]
    solution = SOLUTION.assign(essay=essays, status=[statuses[number // 2] for number in range(80)])
    folder = competition(tmp_path / "files", solution)
    put(folder, {"more.csv": csv_of(solution[["essay", "status"]].drop_duplicates())})
    assert "public/more.csv reveals status" in told(folder, tuple(essays))
    put(folder, {"more.csv": csv_of(solution[["essay", "label"]])})
    assert "public/more.csv reveals label" in told(folder, tuple(essays))


@pytest.mark.usefixtures("in_process")
def test_nothing_is_left_if_what_was_made_leaks(tmp_path):
    (tmp_path / "metric.py").write_text(ACCURACY.replace("BODY", EQUAL))
    TABLE.rename(columns={"label": "answer"}).to_csv(tmp_path / "labels.csv", index=False)
    made = making.make_files(hosted.load(tmp_path), tmp_path / "labels.csv", None, splitting.Draw(1))
    with pytest.raises(HostError, match=r"^public/more\.csv reveals answer"):
        making.write(made._replace(public=made.public | {"more.csv": TABLE}), tmp_path / "made" / "out")
    assert list((tmp_path / "made").iterdir()) == []


def test_labels_at_the_end_of_a_long_table(tmp_path):
    """All parts of a table are looked at."""
    draw = random.Random(1)
    ids = [f"s{number}" for number in draw.sample(range(90_000), 5000)]
    long = pd.DataFrame({"id": ids, "label": draw.choices(["cat", "dog", "fox"], k=5000), "Usage": "Private"})
    told_late = long.assign(label=long["label"].where(long.index >= 2000, ""))[["id", "label"]]
    folder = put(competition(tmp_path, long.assign(amount=1)), {"m.csv": csv_of(told_late)})
    assert "m.csv reveals label" in told(folder)


def test_features_that_predict_well_are_no_leak(tmp_path):
    """A threshold, a rare sign, groups, a close relative of the number, and the label of last year."""
    draw = random.Random(3)
    features = SOLUTION.assign(
        before=[label if number % 10 else "cat" for number, label in enumerate(LABELS)],
        size=[CODES[label] // 2 * 5 + draw.random() for label in LABELS],
        sign=["x" if label == "fox" and draw.random() < 0.7 else "y" for label in LABELS],
        amount=[amount + draw.gauss(0, 60) for amount in AMOUNTS],
        patient=[f"p{CODES[label]}{draw.randrange(10)}" for label in LABELS],
    )
    assert (
        told(put(competition(tmp_path), {"test.csv": csv_of(features.drop(columns=["label", "Usage"]))})) == ""
    )


def test_rows_of_the_test_set_under_other_ids_are_found(tmp_path):
    features = TABLE.assign(x=[DRAW.random() for _ in IDS], y=[DRAW.random() for _ in IDS])
    twins = features.assign(id=[f"n{number}" for number in range(80)]).sample(frac=1, random_state=1)
    files = {"test.csv": csv_of(features[["id", "x", "y"]]), "more.csv": csv_of(twins)}
    message = told(put(competition(tmp_path), files))
    assert (
        "public/more.csv reveals label of solution.csv in the column label, of rows with the same x, y"
        in message
    )
    other = twins.assign(label=list(twins["label"])[::-1])
    assert told(put(competition(tmp_path / "2"), files | {"more.csv": csv_of(other)})) == ""


def split(folder, table, target):
    """A competition that an honest host makes of a table, with a third of it as the test set."""
    table = table.sample(frac=1, random_state=1)
    table.insert(0, "row", [f"r{number:05}" for number in range(len(table))])
    test, train = table[: len(table) // 3], table[len(table) // 3 :]
    answers = test[["row", target]]
    files = {"test.csv": csv_of(test.drop(columns=target)), "train.csv": csv_of(train)}
    parts = [("Public", "Private")[number % 2] for number in range(len(test))]
    (folder / "public").mkdir(parents=True)
    (folder / "private").mkdir()
    answers.assign(Usage=parts).to_csv(folder / "private" / "solution.csv", index=False)
    return put(
        folder, files | {"sample_submission.csv": csv_of(answers.assign(**{target: train[target].iloc[0]}))}
    )


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "digits"])
def test_tables_of_other_people_are_sent(tmp_path, name):
    table = getattr(pytest.importorskip("sklearn.datasets"), f"load_{name}")(as_frame=True).frame
    assert told(split(tmp_path, table, "target")) == ""


def test_rows_that_are_equal_by_chance_are_no_copies(tmp_path):
    """Pupils who solve every item or none have the same answers, also in the item that is predicted."""
    draw = np.random.default_rng(1)
    able = np.where(draw.random(900) < 0.1, 9, draw.normal(size=900))
    items = pd.DataFrame({f"q{n}": (able + draw.normal(size=900) > 0).astype(int) for n in range(14)})
    with pytest.warns(
        UserWarning, match=r"^133 of 300 \(44%\) rows of the test set stand in public/train\.csv, too"
    ):
        assert told(split(tmp_path, items, "q0")) == ""


def test_one_of_several_columns_with_yes_and_no_is_no_leak(tmp_path):
    """Nearly always, both answers stand in a row."""
    draw = np.random.default_rng(2)
    answers = pd.DataFrame({f"q{n}": draw.choice(["yes", "no"], 600, p=(0.4, 0.6)) for n in range(5)})
    answers["then"] = np.where(draw.random(600) < 0.9, answers["q0"], "no")
    with pytest.warns(
        UserWarning, match=r"^200 of 200 \(100%\) rows of the test set stand in public/train\.csv, too"
    ):
        assert told(split(tmp_path, answers, "q0")) == ""


@pytest.mark.parametrize("target", ["../private/solution.csv", "/etc/hostname", "nowhere", "images"])
def test_a_link_that_leads_out_of_the_public_folder_stops(tmp_path, target):
    folder = put(competition(tmp_path), {"images/a.txt": "a"})
    (folder / "public" / "s").symlink_to(target)
    with pytest.raises(
        HostError, match=r"public/s is a link to .*: expected files, and links to files in public"
    ):
        leaks.refuse(folder, ())


def test_a_link_to_another_public_file_is_followed(tmp_path):
    folder = put(competition(tmp_path), {"images/a.txt": "a"})
    (folder / "public" / "s.txt").symlink_to("images/a.txt")
    leaks.refuse(folder, ())
    assert "s.txt" in folders.public_files(folder)


def test_labels_in_the_order_of_the_ids_are_found(tmp_path):
    """The solution may have its rows in another order than the file from which it was made."""
    truth = pd.DataFrame(
        {"id": [f"k{n}" for n in range(90)], "label": np.random.default_rng(1).choice([*"abc"], 90)}
    )
    shuffled = truth.sample(frac=1, random_state=2).assign(Usage="Public")
    for name, file in {"y.txt": truth[["label"]], "numbers.csv": truth.assign(id=range(90))}.items():
        folder = tmp_path / name
        for part in ("public", "private"):
            (folder / part).mkdir(parents=True)
        shuffled.to_csv(folder / "private" / "solution.csv", index=False)
        file.to_csv(folder / "public" / name, index=False)
        with pytest.raises(HostError, match=f"public/{name} reveals label of solution.csv in the column label"):
            leaks.refuse(folder, [])


# --- the same things in train and test ------------------------------------------------------------------------


def twice(folder: Path, number: int, **columns: Sequence[object]) -> Path:
    """A test set of 80 rows, of which some stand in train.csv, too, beside 80 others."""
    rows = pd.DataFrame(columns)
    train = pd.concat([rows[:number], rows[80:]]).assign(id=range(10_000, 10_000 + 80 + number), label="cat")
    test = rows[:80].assign(id=IDS)
    return put(competition(folder), {"test.csv": csv_of(test), "train.csv": csv_of(train)})


TEXTS = [" ".join(DRAW.choices(["sun", "sea", "sky", "dog", "blue", "red"], k=14)) for _ in range(160)]


def test_texts_of_the_test_set_in_train_are_counted_whatever_their_column_is_called(tmp_path):
    with pytest.warns(
        UserWarning, match=r"^20 of 80 \(25%\) texts of the test set stand in public/train\.csv, .*--items body"
    ):
        assert told(twice(tmp_path / "files", 20, body=TEXTS)) == ""


def test_rows_of_the_test_set_in_train_are_counted_by_all_that_participants_see(tmp_path):
    numbers = {name: [round(DRAW.random(), 3) for _ in range(160)] for name in ("x1", "x2")}
    with pytest.warns(UserWarning, match=r"^20 of 80 \(25%\) rows .* with the same x1, x2: .*--items COLUMN"):
        assert told(twice(tmp_path / "files", 20, **numbers)) == ""


def test_rows_that_the_data_repeat_are_counted_and_not_refused(tmp_path):
    """Each of 30 measurements stands there several times, and a number of another column may be that of an id."""
    draw = np.random.default_rng(4)
    each = pd.DataFrame(
        {"x": draw.normal(size=30), "y": draw.normal(size=30), "size": draw.integers(80, size=30)}
    )
    rows = each.loc[[*range(30)] * 8].reset_index(drop=True)
    rows = rows.assign(label=draw.choice(["cat", "dog"], 30).tolist() * 8)
    with pytest.warns(
        UserWarning, match=r"^80 of 80 \(100%\) rows .* with the same x, y, size: .*--items COLUMN"
    ):
        assert told(split(tmp_path, rows, "label")) == ""


def test_labels_that_are_numbers_as_ids_of_items_are_secret(tmp_path):
    solution = SOLUTION.assign(essay=[str(n // 2) for n in range(80)], label=[CODES[label] for label in LABELS])
    folder = competition(tmp_path, solution[["id", "essay", "label", "amount", "Usage"]])
    put(folder, {"test.csv": csv_of(solution[["id", "label"]].rename(columns={"label": "kind"}))})
    assert "public/test.csv reveals label" in told(folder, tuple(map(str, range(40))))


def test_prompts_of_many_texts_are_no_news_and_each_equal_row_is_told(tmp_path):
    columns = {"x": [DRAW.random() for _ in range(160)], "prompt": [TEXTS[n % 4] for n in range(160)]}
    assert told(twice(tmp_path / "0", 0, **columns)) == ""
    with pytest.warns(
        UserWarning, match=r"^1 of 80 \(1%\) rows of the test set stand in public/train\.csv, too"
    ):
        assert told(twice(tmp_path / "1", 1, **columns)) == ""


def test_texts_that_the_data_repeat_are_counted(tmp_path):
    """Also short ones, which repeat within the test set, too."""
    texts = [f"no. {n}" for n in random.Random(6).choices(range(50), k=160)]
    number = sum(text in texts[80:] for text in texts[:80])
    said = rf"^{number} of 80 \(\d+%\) rows .* with the same comment: .*--items comment"
    with pytest.warns(UserWarning, match=said):
        assert told(twice(tmp_path / "files", 0, comment=texts)) == ""
    stores = [f"store {n % 5}" for n in range(160)]
    assert told(twice(tmp_path / "stores", 0, store=stores)) == ""


def test_the_number_of_digits_may_tell_a_class(tmp_path):
    draw = random.Random(5)
    codes = ["".join(draw.choices("01", k=[5, 11, 17][CODES[label]])) for label in LABELS]
    folder = put(competition(tmp_path), {"codes.csv": csv_of(TABLE[["id"]].assign(code=codes))})
    assert "public/codes.csv reveals label of solution.csv by the length of the column code" in told(folder)


@pytest.mark.filterwarnings("ignore:these files are no tables")
def test_equal_pictures_in_train_and_test_are_counted(tmp_path):
    """Pictures without an id are compared by their bytes."""
    files = {f"test/{item}.png": b"\x89PNG\0" + item.encode() for item in IDS}
    files |= {f"train/{n}.png": files[f"test/{item}.png"] for n, item in enumerate(IDS[:8])}
    with pytest.warns(
        UserWarning, match=r"^8 of 80 \(10%\) files .*, such as public/test/r00\.png and public/train/0\.png"
    ):
        assert told(put(competition(tmp_path), files)) == ""


# --- rows of items, and many answers --------------------------------------------------------------------------


def paragraphs(kinds: Callable[[int, int], str]) -> pd.DataFrame:
    """A solution with five rows for each of 40 essays, numbered as podium does."""
    rows = [(f"e{n}:{k}", f"e{n}", kinds(n, k), "Public") for n in range(40) for k in range(5)]
    return pd.DataFrame(rows, columns=["row_id", "essay", "label", "Usage"])


@pytest.mark.parametrize("exceptions", [0, 6])
def test_the_place_among_the_rows_of_an_item_tells_by_chance(tmp_path, exceptions):
    """Essays of five paragraphs begin with a lead, and so do those of a sample; labels of their own are a leak."""
    solution = paragraphs(lambda n, k: "abcde"[k] if n % 20 >= exceptions // 2 else DRAW.choice("abcde"))
    sample = solution[["row_id", "essay"]].assign(label=[*"abcde"] * 40)
    for folder, text in (
        ("1", csv_of(sample)),
        ("2", csv_of(sample.drop(columns="row_id").assign(number=[*range(5)] * 40))),
    ):
        (tmp_path / folder / "private").mkdir(parents=True)
        solution.to_csv(tmp_path / folder / "private" / "solution.csv", index=False)
        assert told(put(tmp_path / folder, {"s.csv": text}), tuple(solution["essay"])) == ""


@pytest.mark.parametrize("column", ["label", "kind"])
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_labels_of_the_rows_of_items_are_found(tmp_path, column, is_shuffled):
    solution = paragraphs(lambda n, k: DRAW.choice("abcde"))
    (tmp_path / "private").mkdir()
    solution.to_csv(tmp_path / "private" / "solution.csv", index=False)
    rows = (
        solution[["essay", "label"]]
        .rename(columns={"label": column})
        .sample(frac=is_shuffled or 1, random_state=1)
    )
    put(tmp_path, {"more.csv": csv_of(rows)})
    assert told(tmp_path, tuple(solution["essay"])).startswith("public/more.csv reveals label")


@pytest.mark.slow
def test_one_of_many_answers_is_found_and_honest_columns_beside_many_are_not(tmp_path):
    draw = np.random.default_rng(3)
    answers = pd.DataFrame(draw.normal(size=(150, 300)).round(3), columns=[f"a{n}" for n in range(300)])
    answers.insert(0, "id", [f"r{n}" for n in range(150)])
    features = pd.DataFrame(draw.normal(size=(150, 300)).round(3)).add_prefix("f").assign(id=answers["id"])
    folder = competition(tmp_path, answers.assign(Usage="Public", label="x"))
    assert told(put(folder, {"test.csv": csv_of(features)})) == ""
    features["f7"] = -3 * answers["a77"] + 1
    assert told(put(folder, {"test.csv": csv_of(features)})).startswith(
        "public/test.csv reveals a77 of solution.csv"
    )


def test_each_different_cell_is_read_once(tmp_path, monkeypatch):
    """So a sample of many rows costs little, however many answers it has."""
    read, number_of = list[str](), evidence.number_of
    monkeypatch.setattr(evidence, "number_of", lambda cell: read.append(cell) or number_of(cell))
    ids = [f"r{number}" for number in range(500)]
    answers = pd.DataFrame({f"a{n}": [DRAW.choice(["7.1", "7.2"]) for _ in ids] for n in range(9)})
    folder = competition(tmp_path, pd.DataFrame({"id": ids, "label": "x", "Usage": "Public"}).join(answers))
    put(folder, {"sample_2.csv": csv_of(pd.DataFrame({"id": ids} | dict.fromkeys(answers, "7.3")))})
    assert told(folder) == ""
    assert len(read) < 3 * len(ids)


def test_labels_beyond_the_cells_of_a_header_are_found(tmp_path):
    """Whoever reads the table alone sees no third cell."""
    text = "id,w\n" + "".join(f"{item},0.5,{label}\n" for item, label in PAIRS)
    assert "a.csv reveals label" in told(put(competition(tmp_path), {"a.csv": text}))


def test_what_the_order_of_ids_tells_anyway_is_no_leak(tmp_path):
    """A file may name a few rows of a series in an order of its own, or each of them several times."""
    walk = np.random.default_rng(6).normal(size=300).cumsum().round(3)
    series = pd.DataFrame({"id": range(300), "label": "x", "y": walk, "Usage": "Public"})
    folder = competition(tmp_path, series.sample(frac=1, random_state=0))
    text = "\n".join(f"row {number}, after {number}" for number in sorted(map(str, range(0, 300, 7))))
    assert told(put(folder, {"notes.txt": text})) == ""


@pytest.mark.parametrize("number", [20, 80])
def test_a_few_rows_in_the_order_of_an_answer(tmp_path, number):
    some = SOLUTION.head(number).sort_values("amount")
    folder = competition(tmp_path, SOLUTION[["id", "label", "amount", "Usage"]])
    assert "ids.csv reveals amount" in told(put(folder, {"ids.csv": csv_of(some[["id"]])}))


PLACE = np.arange(300)
SMOOTH = {
    "a series by its days": (pd.date_range("2026-01-01", periods=300).astype(str), np.sin(PLACE / 20)),
    "a total by its days": (pd.date_range("2026-01-01", periods=300).astype(str), PLACE**1.5),
    "a walk by its hours": (PLACE, np.random.default_rng(6).normal(size=300).cumsum()),
    "a parabola": (PLACE / 300 - 0.5, (PLACE / 300 - 0.5) ** 2),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_series_is_no_leak(tmp_path, name):
    """Its neighbors are near each other in an order that everybody knows."""
    when, values = SMOOTH[name]
    table = pd.DataFrame({"id": DRAW.sample(range(10_000), 300), "when": when, "y": np.round(values, 4)})
    solution = table.drop(columns="when").assign(label="x", Usage="Public").sample(frac=1, random_state=0)
    shown = table[["id", "when"]].sort_values(
        "id" if "total" in name else "when"
    )  # A total rises with its rows.
    assert told(put(competition(tmp_path, solution), {"test.csv": csv_of(shown)})) == ""


def test_many_rows_of_each_id_are_no_order(tmp_path):
    """Such as the visits of patients, one patient after the other, unless the patients are in an order."""
    folder = competition(tmp_path, ROWS.assign(Usage="Private"))
    mixed = ROWS.sample(frac=1, random_state=2)
    for patients, leaks_label in ((mixed, False), (mixed.sort_values("label", kind="stable"), True)):
        visits = patients[["id"]].loc[patients.index.repeat(6)]
        message = told(put(folder, {"visits.csv": csv_of(visits)}))
        assert ("visits.csv reveals label" in message) is leaks_label
