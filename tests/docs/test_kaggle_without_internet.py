"""The cell on the page about Kaggle notebooks without internet works with numpy and pandas alone."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "score-a-fold.md"
ELSEWHERE = ("pyarrow", "scipy", "fsspec", "jinja2", "rich", "filelock", "rapidfuzz", "matplotlib", "kaggle")

WORK = """
import pandas as pd
from podium import spans
solution = pd.read_csv(f"{root}/solution_sample.csv")
submission = pd.read_csv(f"{root}/sample_submission.csv")
result = podium.score(solution, submission)
fold = podium.prepare(solution)
ids = fold.prepared["All"].items
assert spans.score(fold, spans.from_table(submission, ids), ids) == result.score
assert "Sub-populations" in repr(result) and result.loggable and len(result.explanation.rows)
assert len(spans.from_quotes("Ban it.", ["ban it"], "Claim").spans) == 1  # only close matches need rapidfuzz
podium.tuning
print(result.score)
"""


def test_the_cell_works_with_numpy_and_pandas_alone(tmp_path):
    (cell,) = re.findall(r"```python\n(import sys\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    blocked = "".join(f"sys.modules[{name!r}] = None\n" for name in ELSEWHERE)  # an import of them fails
    program = f"import sys\nroot = {str(ROOT)!r}\n{blocked}" + cell.replace(
        "/kaggle/input/YOUR-DATASET", str(ROOT)
    )
    done = subprocess.run(
        [sys.executable, "-c", program + WORK], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == "0.5879685542299694\n"
