"""A competition reaches each site: one quick test for publishing and one for a bundle; the others are slow."""

# ruff: noqa: F811 (fixtures are imported)

import json

import pytest

from podium.contest import pipeline
from podium.hosting.bundles import evaluator
from podium.metric import hosted
from tests.hosting.test_bundle import make, unzipped
from tests.hosting.test_publish import (
    ALL_STEPS,
    DEADLINE,
    SLUG,
    assert_published,
    files,  # noqa: F401
    run,
    site,  # noqa: F401
    steps_done,
)


def test_all_steps(capsys, site, files):
    site.page_of_files = 2
    code, out, err = run(capsys, files, *DEADLINE)
    assert (code, err) == (0, "")
    assert steps_done(out) == [step for step in ALL_STEPS if step != "metric"]  # which is chosen already
    metadata = json.loads((files / "kaggle" / "starter" / "kernel-metadata.json").read_text())
    assert metadata["competition_sources"] == [SLUG]
    assert (files / "kaggle" / "starter" / metadata["code_file"]).is_file()
    assert_published(site, files)
    report = (files / "report.md").read_text()
    scores = next(line.split("|")[2:4] for line in report.splitlines() if "sample_submission.csv" in line)
    for part, score in zip(("public", "private"), scores):
        assert float(site.submissions[0][f"{part}Score"]) == pytest.approx(float(score), abs=6e-6)
    assert f"sandbox: sample_submission.csv Public {site.submissions[0]['publicScore']}, " in out
    uploads = [path for path, _ in site.requests if "Create" in path or "Update" in path]
    out = run(capsys, files, *DEADLINE)[1]
    assert steps_done(out) == ["benchmark"]  # which the site does not show
    again = [path for path, _ in site.requests if "Create" in path or "Update" in path][len(uploads) :]
    assert [path.rpartition("/")[2] for path in again] == ["UpdateSubmissionBenchmark"]
    for step in ("pages", "data"):  # A step that is named is repeated.
        assert steps_done(run(capsys, files, *DEADLINE, "--step", step)[1]) == [step]
    assert_published(site, files)


@pytest.mark.usefixtures("in_process")
def test_a_bundle_has_the_solution_for_its_program_alone_and_scores_as_podium_does(files, tmp_path):
    make(files, "codabench", tmp_path / "bundle")
    contents = unzipped(tmp_path / "bundle" / "competition.zip")
    solution, sample = files / "private" / "solution.csv", files / "public" / "sample_submission.csv"
    where = [name for name, content in contents.items() if content == solution.read_bytes()]
    assert where == ["reference_public/solution.csv", "reference_private/solution.csv"]
    for name, content in contents.items():
        path = tmp_path / "unpacked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    home = tmp_path / "unpacked" / "scoring_program"
    measured = evaluator.measures(home, tmp_path / "unpacked" / where[1], sample, ["Public", "Private"])
    opened = pipeline.opened(hosted.load("unified"), solution, {})
    scores = pipeline.unjudged(opened, pipeline.submitted(opened, sample)[0]).scores
    scored = {part: values["score"] for part, values in measured.items()}
    assert scored == {part: scores[part] for part in ("Public", "Private")}
