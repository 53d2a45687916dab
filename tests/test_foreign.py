"""A file that is no metric file is recognized before it is executed, and is told what to write instead."""

import re
from pathlib import Path

import pandas as pd
import pytest

import podium
from podium.common.errors import MetricError, UsageError
from podium.metric import foreign
from tests.support.host_line import run_podium

TRUTH = pd.DataFrame({"id": [1, 2], "label": ["a", "b"], "Usage": ["Public", "Private"]})
ANSWERS = TRUTH.drop(columns="Usage")
TRACE = "open('was_executed.txt', 'w').close()\n"
OTHERS = {
    "MLE-bench": (
        "import pandas as pd\ndef grade(submission, answers):\n    return 1.0\n",
        "grade(submission, sol",
    ),
    "truth first": ("def grade(answers, submission):\n    return 1.0\n", "grade(solution, submission)"),
    "Hugging Face": (
        "import huggingface_hub\ndef compute(params):\n    return {'a': 1.0}\n",
        "compute(params)",
    ),
    "Codabench": ("import sys\nfolder, out = sys.argv[1], sys.argv[2]\nscore = 1.0\n", "reads its files from"),
    "guarded": (
        "import argparse\ndef main():\n    score = argparse.ArgumentParser().parse_args()\n"
        "if __name__ == '__main__':\n    main()\n",
        "reads its files from",
    ),
    "nothing": ("def accuracy(a, b):\n    score = 1.0\n    return score\n", "it defines no score()"),
}


@pytest.mark.parametrize(("source", "told"), OTHERS.values(), ids=OTHERS)
def test_a_file_of_another_kind_is_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], source: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.py").write_text(TRACE + source)
    with pytest.raises(UsageError, match=rf"(?s)other\.py is not a metric file: .*{re.escape(told)}"):
        podium.score(TRUTH, ANSWERS, metric="other.py")
    code, out, _ = run_podium(capsys, "check", "other.py")
    assert (code, told in out) == (4, True)
    assert not Path("was_executed.txt").exists()


def test_the_lines_that_the_message_gives_make_a_metric(tmp_path: Path) -> None:
    source = (
        "import pandas as pd\n\ndef grade(submission, answers):\n"
        "    return (submission['label'] == answers['label']).mean()\n"
    )
    lines = foreign.not_a_metric(source.encode()).partition(":\n")[2]
    (tmp_path / "wrapped.py").write_text(f"{source}\n\n{lines}\n")
    wrong = ANSWERS.assign(label="a")
    assert podium.score(TRUTH, wrong, metric=tmp_path / "wrapped.py").score == 0.5


@pytest.mark.parametrize(
    "source",
    [
        "def score(a, b, row_id_column_name): ...\nif __name__ == '__main__':\n    import sys; sys.argv",
        "import sys\nprint(sys.argv)\ndef score(solution, submission, row_id_column_name): ...",
        "try:\n    from sklearn import x as score\nexcept ImportError:\n    def score(a, b, c): ...",
        "import functools\nscore = functools.partial(print)",
        "from somewhere import *",
        "globals()['score'] = print",
        "for score in (print,):\n    pass",
        "def grade(a, b): ...\ndef score(solution, submission, row_id_column_name): ...",
        "this is no Python",
    ],
)
def test_what_may_be_a_metric_is_executed(source: str) -> None:
    assert foreign.not_a_metric(source.encode()) == ""


@pytest.mark.parametrize(
    "line",
    [
        'del solution["Usage"]',
        'solution.drop(columns="Usage")',
        'solution.pop("Usage")',
        "solution.Usage",
        'solution[solution["Usage"] == "Public"]',
    ],
)
def test_who_takes_usage_out_is_told_that_it_is_not_there(tmp_path: Path, line: str) -> None:
    (tmp_path / "usage.py").write_text(
        f"def score(solution, submission, row_id_column_name):\n    {line}\n    return 1.0\n"
    )
    with pytest.raises(MetricError, match=r"The platform takes the column Usage out before it calls score\(\)"):
        podium.score(TRUTH, ANSWERS, metric=tmp_path / "usage.py")
