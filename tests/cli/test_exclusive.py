"""Options that exclude each other are refused together, and the help of one of them says so."""

import re

import pytest

from tests.support import command_line

LABELS = "id,label\n1,a\n2,b\n3,a\n4,b\n"
FILES = {
    "labels.csv": LABELS,
    "manifest.csv": "team,path,side\nAda,a.csv,b.csv\n",
    "a.csv": LABELS,
    "b.csv": LABELS,
}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "make labels.csv --metric acc.py --out out --split label=train:a,test:b --test 0.5",
            "not with --split",
        ),
        ("make labels.csv --metric acc.py --out out --columns a=b", "only for a corpus"),
        ("make labels.csv --out out --items label", "not for a corpus"),
        ("make labels.csv --out out --new-ids", "not for a corpus"),
        ("make labels.csv --out out --sample a.csv", "not for a corpus"),
        (
            "tune labels.csv a.csv --thresholds b.csv --apply a.csv --out c.csv",
            "without SOLUTION and PREDICTIONS",
        ),
        ("new out --labels labels.csv --statistics", "Not with --statistics"),
        ("score labels.csv a.csv --measures score", "without which it is refused"),
        ("rank labels.csv manifest.csv --metric acc.py --out out --team-from {team}", "not with a manifest"),
        ("rank labels.csv manifest.csv --metric acc.py --out out --side .", "Not with a manifest"),
    ],
)
def test_what_excludes_each_other_stands_in_the_help(tmp_path, capsys, monkeypatch, command, said):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "acc.py").write_text(
        "def score(solution, submission, row_id_column_name):\n"
        "    return float((solution['label'].values == submission['label'].values).mean())\n"
    )
    code, _, err = command_line.run(capsys, *command.split())
    assert code == 2, err
    assert err.startswith("error: ")
    assert not (tmp_path / "out").exists()
    _, out, _ = command_line.run(capsys, command.partition(" ")[0], "--help")
    assert said in re.sub(r"\s+", " ", out)
