"""Teams are taken out of the names that learning platforms give to files."""

import re

import pandas as pd
import pytest

from podium.common.errors import HostError, UsageError
from podium.common.options import as_option
from podium.ranking import team_names
from podium.ranking.submissions import find

CANVAS = (
    "{team}_{}_{}_{submission}",
    {
        "noorsami_3312_770012_submission.csv": ("noorsami", "submission.csv", ""),
        "noorsami_3312_770044_submission-1.csv": ("noorsami", "submission-1.csv", ""),
        "timokahl_LATE_3320_770021_submission.csv": ("timokahl", "770021_submission.csv", ""),
        "veraolin_3319_770020_predictions.csv": ("veraolin", "predictions.csv", ""),
    },
)
MOODLE = (
    "{team}_{}_assignsubmission_file_",
    {
        "Noor Sami_51207_assignsubmission_file_/submission.csv": ("Noor Sami", "submission.csv", ""),
        "Vera Olin_51211_assignsubmission_file_/predictions.csv": ("Vera Olin", "predictions.csv", ""),
    },
)
SECOND = "Work_noorsami_attempt_2026-03-05-10-11-12_sub.csv"
BLACKBOARD = (
    "Work_{team}_attempt_{submitted_at}_{}",
    {
        "Work_noorsami_attempt_2026-03-01-09-00-00_sub.csv": (
            "noorsami",
            "Work_noorsami_attempt_2026-03-01-09-00-00_sub.csv",
            "2026-03-01 09:00:00",
        ),
        SECOND: ("noorsami", SECOND, "2026-03-05 10:11:12"),
        "Work_veraolin_attempt_2026-03-04-08-00-00_mine.csv": (
            "veraolin",
            "Work_veraolin_attempt_2026-03-04-08-00-00_mine.csv",
            "2026-03-04 08:00:00",
        ),
    },
)


@pytest.fixture(params=[CANVAS, MOODLE, BLACKBOARD], ids=["canvas", "moodle", "blackboard"])
def download(request, tmp_path):
    """A folder as a platform writes it, the pattern, and what is in its names."""
    pattern, files = request.param
    for name in files:
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("id,answer\n1,2\n")
    return tmp_path / "files", pattern, files


def test_a_student_is_one_team_whatever_a_platform_calls_the_files(download):
    folder, pattern, files = download
    found = {(each.team, each.name, each.submitted_at) for each in find(folder, team_from=pattern)}
    assert found == {*files.values()}


def test_without_a_pattern_a_sentence_proposes_the_one_that_parts_the_names(download):
    folder, pattern, files = download
    with pytest.warns(UserWarning, match=re.escape(as_option("team_from", pattern))):
        teams = {each.team for each in find(folder)}
    assert len(teams) == len(files)


@pytest.mark.parametrize("names", [["team_1", "team_2", "team_3"], ["Ada", "Bo"], ["red_cat", "red_dog"], []])
def test_names_that_people_chose_are_not_remarked_on(names):
    assert team_names.proposal(names) is None


def test_two_folders_of_one_student_keep_their_files_apart(tmp_path):
    for attempt in (1, 2):
        folder = tmp_path / f"Noor Sami_{attempt}_file"
        folder.mkdir()
        (folder / "submission.csv").write_text("id,answer\n1,2\n")
    found = find(tmp_path, team_from=r"(?P<team>[^_]+)_\d_file")
    assert [(each.team, each.name) for each in found] == [
        ("Noor Sami", "Noor Sami_1_file/submission.csv"),
        ("Noor Sami", "Noor Sami_2_file/submission.csv"),
    ]


@pytest.mark.parametrize("pattern", ["(?P<team>", "{student}_{}", "{}_{}", "(?P<team>.)(?P<grade>.)"])
def test_a_pattern_without_a_team_is_refused(pattern):
    with pytest.raises(UsageError, match=re.escape(f'team_from="{pattern}": expected')):
        team_names.pattern_of(pattern)


def test_a_name_that_does_not_fit_and_a_time_that_is_none_are_refused_by_name():
    pattern = team_names.pattern_of("{team}_{submitted_at}_x")
    with pytest.raises(HostError, match="noorsami: expected a name like team_from"):
        team_names.named(pattern, "noorsami")
    with pytest.raises(HostError, match="expected a day and a time at submitted_at, found 12"):
        team_names.named(pattern, "noorsami_12_x")


def test_a_manifest_names_its_teams_itself(tmp_path):
    pd.DataFrame({"team": ["A"], "path": ["a.csv"]}).to_csv(tmp_path / "manifest.csv", index=False)
    with pytest.raises(UsageError, match="team_from is for a folder"):
        find(tmp_path / "manifest.csv", team_from="{team}_{}")
