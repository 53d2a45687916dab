"""`podium make --balance` gives rare groups more of the test set, and says what that does."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import podium
from podium.hosting import balance, corpus, splitting
from podium.words.errors import HostError, UsageError
from tests.support.corpora import make_corpus
from tests.support.host_line import ACCURACY, EQUAL, run_podium

# The share of answers that are right, of which podium knows the items.
ITEM_WISE = """
import numpy as np
import pandas as pd

from podium import statistics


def hits(solution: pd.DataFrame, submission: pd.DataFrame) -> np.ndarray:
    hit = (solution["answer"] == submission["answer"]).to_numpy(dtype=float)
    return np.stack([hit, np.ones(len(hit))], axis=1)


def share(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0] / sums[..., 1]


def prepare(solution: pd.DataFrame, row_id_column_name: str):
    return statistics.item_wise(solution, row_id_column_name, hits, share)


def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    return float((solution["answer"] == submission["answer"]).mean())
"""


def quotas_slowly(sizes, number):
    """The level up to which groups are filled, found by trying; the rest goes to groups that have room."""
    level = max(each for each in range(number + 1) if sum(min(each, size // 2) for size in sizes) <= number)
    return [min(level, size // 2) for size in sizes]


@pytest.mark.parametrize("seed", range(30))
def test_groups_are_as_equal_as_the_corpus_permits(seed):
    random = np.random.default_rng(seed)
    sizes = np.sort(random.integers(1, 300, random.integers(2, 8)))[::-1]
    number = int(random.integers(1, max((sizes // 2).sum(), 1) + 1))
    quota = balance.quotas(sizes, number)
    slow = quotas_slowly(sizes.tolist(), number)
    assert quota.sum() == number
    assert (quota <= sizes // 2).all()
    assert all(least <= found <= min(least + 1, size // 2) for least, found, size in zip(slow, quota, sizes))
    half = (sizes.sum() + 1) // 2
    with pytest.raises(UsageError, match="expected to score at most half of each group"):
        balance.quotas(sizes, int(half) + 1)
    quota = balance.quotas(sizes, int(half))  # some groups of an odd size give one item more
    assert quota.sum() == half
    assert (quota <= (sizes + 1) // 2).all()


def test_persuade_s_learners_of_english():
    """With 9% of them, 11% of two fifths of the essays can be learners, 22% of a fifth, and 30% of .15."""
    sizes = np.array([8400, 900, 700])
    found = [balance.quotas(sizes, number)[1] / number for number in (4000, 2000, 1500)]
    assert found == pytest.approx([0.1125, 0.225, 0.3])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus, and its files of which the groups are balanced."""
    table = make_corpus(200)
    path = tmp_path_factory.mktemp("balance") / "corpus.csv"
    table.to_csv(path, index=False)
    attributes = ["ell_status", "economically_disadvantaged"]
    draw = splitting.Draw(3, 0.5, 0.2, balanced=["ell_status"])
    return table, corpus.make(corpus.read_corpus(path, attributes), attributes, draw)


def test_each_group_has_its_quota_in_both_parts(made):
    """Twins apart, of which these essays have none."""
    table, files = made
    essays = table.drop_duplicates("essay_id_comp").set_index("essay_id_comp")["ell_status"].fillna("")
    sizes = essays.value_counts()
    solution = files.private["solution.csv"].drop_duplicates("essay_id")
    scored = solution["ell_status"].fillna("").value_counts()
    quota = dict(zip(sizes.index, balance.quotas(sizes.to_numpy(), 40)))
    assert scored.to_dict() == quota
    public = solution[solution["Usage"] == "Public"]["ell_status"].fillna("").value_counts()
    assert all(abs(public[group] - number / 2) <= 1 for group, number in quota.items())
    row = next(line for line in files.report.splitlines() if line.startswith("| Yes |"))
    assert [cell.strip() for cell in row.split("|")[2:]][:5] == [
        str(sizes["Yes"]), f"{sizes['Yes'] / 200:.6f}", f"{quota['Yes'] / 40:.6f}",
        str(round(sizes["Yes"] * 0.2)), str(quota["Yes"]),
    ]  # fmt: skip


def test_the_score_of_the_sample_is_told_with_the_shares_of_the_corpus(capsys, in_process, tmp_path):
    """A mean over items is the mean over groups, weighted with the groups' sizes."""
    random = np.random.default_rng(4)
    labels = pd.DataFrame({"id": range(400), "site": ["a"] * 340 + ["b"] * 60})
    labels["answer"] = np.where(random.random(400) < np.where(labels["site"] == "a", 0.9, 0.3), "dog", "cat")
    (tmp_path / "metric.py").write_text(ITEM_WISE)
    labels.to_csv(tmp_path / "labels.csv", index=False)
    line = ["make", tmp_path / "labels.csv", "--metric", tmp_path / "metric.py", "--seed", 1, "--test", 0.2]
    code, out, _ = run_podium(capsys, *line, "--balance", "site", "--out", tmp_path / "files")
    solution, sample = (
        pd.read_csv(tmp_path / "files" / name)
        for name in ("private/solution.csv", "public/sample_submission.csv")
    )
    both = solution.merge(sample, on="id", suffixes=("", "_guessed"))
    hit = (both["answer"] == both["answer_guessed"]).groupby(both["site"])
    share = labels["site"].value_counts(normalize=True)
    now = podium.score(solution, sample, metric=str(tmp_path / "metric.py")).score
    before = (hit.mean() * share).sum()
    assert code == 0
    assert f"The sample scores {now:.3f} on the whole test set, and would score {before:.3f} with" in out
    assert "Sizes of groups weigh in this metric" in out


def command(folder: Path, labels: pd.DataFrame) -> list[object]:
    """Write labels and a metric, and return the command that makes their files."""
    (folder / "mine.py").write_text(ACCURACY.replace("BODY", EQUAL))
    labels.to_csv(folder / "labels.csv", index=False)
    line = ["make", folder / "labels.csv", "--metric", folder / "mine.py", "--seed", 1]
    return [*line, "--out", folder / "files"]


@pytest.fixture
def labels():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(200), "size": random.random(200)})
    frame["site"] = ["rare"] * 3 + ["few"] * 27 + ["many"] * 170
    return frame.assign(region=frame["site"].replace("rare", "few"), answer=random.choice(["a", "b"], 200))


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--balance", "site"], 2, "a test set of 200 of 200 items; give --test 0.495 or less"),
        (["--balance", "site", "--test", 0.6], 2, "a test set of 120 of 200 items; give --test 0.495 or less"),
        (["--balance", "place", "--test", 0.2], 4, "--balance: expected a column place, found id, si"),
        (
            ["--balance", "size", "--test", 0.2],
            4,
            "--balance size: expected groups of at least 4 items, found 20",
        ),
    ],
)
def test_what_cannot_be_balanced_is_refused_with_the_cure(capsys, tmp_path, labels, options, code, told):
    found, out, err = run_podium(capsys, *command(tmp_path, labels), *options)
    assert (found, out, (tmp_path / "files").exists()) == (code, "", False)
    assert told in err


@pytest.mark.usefixtures("in_process")
def test_small_and_nested_groups_get_what_is_possible(capsys, tmp_path, labels):
    """A site lies in one region, so the combinations are the sites."""
    line = command(tmp_path, labels)
    code, out, _ = run_podium(capsys, *line, "--test", 0.2, "--balance", "site", "region")
    assert code == 0
    assert "Fewer than 4 items, of which at most one is scored: rare, few." in out
    scored = pd.read_csv(tmp_path / "files" / "private" / "solution.csv")["site"]
    assert Counter(scored) == {"rare": 1, "few": 13, "many": 26}
    assert "If the metric is a mean over items, its scores are those of other shares" in out


def test_a_column_that_the_corpus_lacks_is_named(capsys, tmp_path):
    make_corpus(24).to_csv(tmp_path / "corpus.csv", index=False)
    line = ["make", tmp_path / "corpus.csv", "--balance", "school", "--out", tmp_path / "files"]
    code, _, err = run_podium(capsys, *line)
    assert (code, "error: --balance: expected a column school, found " in err) == (4, True)


def test_an_item_is_in_one_group():
    rows = pd.DataFrame({"id": list("aabbccdd"), "site": list("xyxxxxxx")})
    with pytest.raises(HostError, match="expected one site for all rows of the same item, found x and y"):
        balance.of_table(rows, rows["id"].tolist(), ["site"])
