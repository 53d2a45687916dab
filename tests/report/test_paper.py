"""Tables for a paper: what is bold, what is marked, and what LaTeX and Markdown make of foreign names."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import podium
from podium import cli, statistics
from podium.common.errors import UsageError
from podium.metric import hosted
from podium.report import paper
from tests.support.host_line import source_of

SOLUTION, SUBMISSION = (
    pd.read_csv(hosted.ROOT / name) for name in ("solution_sample.csv", "sample_submission.csv")
)
FORMULA = "50% of R&D_1 \\input{x} ~^# $y$ a|b *c* <d> [e](f) `g`"


@pytest.fixture(scope="module")
def evaluations() -> dict[str, podium.scoring.evaluating.Evaluation]:
    """Three submissions: the sample, nearly the same, and one that lacks a third of its segments."""
    samples = {
        "whole": SUBMISSION,
        FORMULA: SUBMISSION.sample(frac=0.97, random_state=1),
        "part": SUBMISSION.sample(frac=0.6, random_state=0),
    }
    solution = podium.prepare(SOLUTION, subpopulation_column_names="")
    return {name: podium.score(solution, submission) for name, submission in samples.items()}


def test_the_best_is_bold_and_what_cannot_be_told_from_it_is_marked(evaluations: Any) -> None:
    results = paper.of_evaluations(evaluations, ["score", "F1 of Lead", "F1 of Claim"])
    whole, near, part = evaluations.values()
    for column, measure in enumerate(results.measures):
        values = [each.measures[measure] for each in evaluations.values()]
        assert results.is_best[:, column].tolist() == [value == max(values) for value in values]
    assert results.is_best[0, 0]
    assert results.is_alike[:, 0].tolist() == [False, True, False]
    for row, other in ((1, near), (2, part)):
        low, high = statistics.compare(whole, other).table[["low", "high"]].iloc[0]
        assert results.is_alike[row, 0] == (low <= 0 <= high)
    assert results.ends is None
    assert results.caption == f"{whole.signature}; 40 essays."


def test_the_marks_are_those_of_a_board() -> None:
    """Of twelve submissions of one kind, an interval for each pair would call some worse than the best one."""
    solution = podium.prepare(SOLUTION, subpopulation_column_names="")
    samples = {f"{seed}.csv": SUBMISSION.sample(frac=0.3, random_state=seed) for seed in range(12)}
    scored = {name: podium.score(solution, each) for name, each in samples.items()}
    results = paper.of_evaluations(scored, ["score"])
    prepared, numbers = solution.prepared["All"], [each.statistics for each in scored.values()]
    draws = statistics.Resampler(prepared, statistics.draw(40, 1000, 0), 0).scores(*numbers)
    marked = (results.is_alike | results.is_best)[:, 0]
    assert marked.tolist() == statistics.may_be_best(draws).tolist()
    best = int(results.is_best[:, 0].argmax())
    first = list(scored.values())[best]
    pairs = [statistics.compare(first, each).score for each in scored.values()]
    assert marked.sum() > sum(pair.low <= 0 for pair in pairs)
    assert results.names[0] == "0"


def test_a_measure_that_is_the_score_under_another_name_is_no_column_of_its_own() -> None:
    solution, submission = (
        pd.read_csv(hosted.folder("scifact") / "samples" / name) for name in ("solution.csv", "submission.csv")
    )
    scored = podium.score(solution, submission, metric="scifact")
    measures = paper.of_evaluations({"a.csv": scored}, resamples=20).measures
    same = [name for name, value in scored.measures.items() if value == scored.score]
    assert len(same) == 2
    assert [name for name in measures if name in same] == ["score"]
    assert paper.of_evaluations({"a.csv": scored}, same).measures == same


def test_markdown_parses_with_any_name(evaluations: Any, tmp_path: Path) -> None:
    markdown = pytest.importorskip("markdown")
    results = paper.of_evaluations(evaluations, resamples=50)
    paper.write(results, tmp_path / "t.md")
    page = markdown.markdown((tmp_path / "t.md").read_text(encoding="utf-8"), extensions=["tables"])
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    assert [row.count("<t") for row in rows] == [1 + len(results.measures)] * 4
    assert "<em>c</em>" not in page
    assert "<a " not in page
    assert len(re.findall("<strong>", page)) == results.is_best.sum()
    assert page.count("†") == results.is_alike.sum() + 1


def test_only_a_table_with_intervals_says_where_they_stand(evaluations: Any) -> None:
    table = paper.of_evaluations(evaluations, ["score"], resamples=20)
    assert "stand in brackets" in paper.markdown(table)
    unknown = table._replace(ends=np.full_like(table.ends, np.nan))
    assert "brackets" not in paper.markdown(unknown)


def test_csv_has_all_digits(evaluations: Any, tmp_path: Path) -> None:
    results = paper.of_evaluations(evaluations, ["score"])
    paper.write(results, tmp_path / "t.csv")
    table = pd.read_csv(tmp_path / "t.csv", dtype={"score": str})  # pandas 2 reads a last bit otherwise
    assert [*map(float, table["score"])] == [each.score for each in evaluations.values()]
    assert table.iloc[:, 2].tolist() == [0, 1, 0]


@pytest.mark.slow
def test_lower_may_be_better(tmp_path: Path) -> None:
    both = "both = solution.merge(submission, on=row_id_column_name)"
    error = "return float((both['y_x'] - both['y_y']).abs().mean())"
    (tmp_path / "mae.py").write_text(source_of(both, error, higher=False))
    draw = np.random.default_rng(0)
    solution = pd.DataFrame({"id": range(40), "y": draw.normal(size=40)})
    near, far = (solution.assign(y=solution["y"] + draw.normal(size=40) * by) for by in (0.1, 1.0))
    scored = {
        name: podium.score(solution, each, metric=tmp_path / "mae.py")
        for name, each in (("n", near), ("f", far))
    }
    results = paper.of_evaluations(scored, resamples=50)
    assert results.is_best.tolist() == [[True], [False]]
    assert not results.is_alike.any()
    assert (results.ends[:, 0, 0] < results.values[:, 0]).all()


def test_a_measure_that_is_not_there_and_a_form_that_is_not_written(evaluations: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'measures="recall": expected one of score, .*, F1 of Lead, '):
        paper.of_evaluations(evaluations, ["recall"])
    with pytest.raises(UsageError, match=r"expected a name that ends in \.tex, \.md, \.csv"):
        paper.check_form(tmp_path / "t.docx")


def test_the_command_writes_a_table(tmp_path: Path, capsys: Any) -> None:
    files = [str(hosted.ROOT / name) for name in ("solution_sample.csv", "sample_submission.csv")]
    out = tmp_path / "t.tex"
    assert cli.main(["score", *files, "--table", str(out), "--measures", "F1 of Lead"]) == 0
    assert f"written to {out}\n" in capsys.readouterr().out
    assert "sample\\_submission & 0.7461 \\\\" in out.read_text()  # nothing is the best of one
    assert cli.main(["score", *files, "--measures", "F1 of Lead"]) == 2
    assert cli.main(["score", *files, "--table", files[1]]) == 2  # which is an input


def test_a_row_is_no_argument_of_the_end_of_the_row_before() -> None:
    """LaTeX reads what follows the end of a row in square brackets, or a star, as an argument."""
    values = np.array([[1.0], [2.0]])
    table = paper.PaperTable(["[a", "*b"], ["score"], values, values > 1, values < 0, [4], None, "")
    rows = paper.latex(table).splitlines()
    assert [row.partition(" &")[0] for row in rows if row.endswith(r"\\")][1:] == ["{[}a", "{*}b"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_sets_any_name(evaluations: Any, tmp_path: Path) -> None:
    strange = dict(zip(["[a]", FORMULA, "*b"], evaluations.values()))
    table = paper.latex(paper.of_evaluations(strange, ["score"], resamples=50))
    before, behind = r"\documentclass{article}\usepackage{booktabs}\begin{document}", r"\end{document}"
    document = f"{before}\n{table}{behind}\n"
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:]
