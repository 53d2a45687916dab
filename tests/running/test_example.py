"""The example's models do what the names of their teams say."""

from pathlib import Path

import pandas as pd
import pytest

import metric
from podium.cli import main
from tests.running.support import needs_sandbox

pytestmark = pytest.mark.filterwarnings("default")

EXAMPLES = Path(__file__).parents[2] / "examples"


@needs_sandbox
@pytest.mark.slow
def test_the_models_run_and_score(tmp_path: Path) -> None:
    out = tmp_path / "run"
    models, data = EXAMPLES / "models", EXAMPLES / "data"
    assert main(["run", str(models), "--data", str(data), "--out", str(out), "--repeats", "1"]) == 0
    solution = pd.read_csv(EXAMPLES.parent / "solution_sample.csv")
    scores = {
        path.name: metric.score(solution.copy(), pd.read_csv(path / "submission.csv"), "row_id")
        for path in sorted((out / "submissions").iterdir())
    }
    assert list(scores) == ["Cue Words", "Nearest Centroid", "Paragraph Rules"]
    assert 0.1 < scores["Paragraph Rules"] < scores["Cue Words"] < scores["Nearest Centroid"] < 0.9
    [failed] = pd.read_csv(out / "failed.csv").to_dict("records")
    assert failed["team"] == "Half Asleep"
    assert "No such file or directory: '/kaggle/input/data/test'" in failed["reason"]
