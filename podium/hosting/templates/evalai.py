"""Score a submission on EvalAI, whose worker calls `evaluate`."""

import sys
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "lib"))

from podium.errors import SubmissionRejected  # noqa: E402
from podium.hosting import judge  # noqa: E402

HOST_LOG = HERE / "host_log.txt"


def evaluate(
    test_annotation_file: str, user_submission_file: str, phase_codename: str, **_: object
) -> dict[str, Any]:
    """The measures of a part; participants read what is raised."""
    try:
        evaluation = judge.judge(HERE, Path(test_annotation_file), Path(user_submission_file))
        measures = judge.measures(evaluation, phase_codename.capitalize())
    except SubmissionRejected as problem:
        raise ValueError(str(problem)) from None
    except Exception as problem:
        with HOST_LOG.open("a", encoding="utf-8") as log:
            log.write(f"{judge.versions()}\n{''.join(traceback.format_exception(problem))}\n")
        raise RuntimeError(judge.UNEXPECTED) from None
    return {"result": [{phase_codename: measures}], "submission_result": measures["score"]}
