"""Score a submission to an EvalAI challenge; the remote worker of EvalAI-Starters calls `evaluate`."""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lib"))

from podium.common.errors import SubmissionRejected
from podium.hosting.bundles import evaluator

HOST_LOG = HERE / "host_log.txt"


def evaluate(
    user_submission_file: str,
    phase_codename: str,
    test_annotation_file: "str | None" = None,
    **_: object,
) -> dict[str, Any]:
    """Score a submission on one part.

    The worker sends the score to EvalAI. If an error is raised, it sends the text to the participant.
    """
    solution = Path(test_annotation_file or HERE / "solution.csv")
    try:
        part = phase_codename.capitalize()
        submission = evaluator.regular_file(Path(user_submission_file))
        score = evaluator.measures(HERE, solution, submission, [part])[part]["score"]
    except SubmissionRejected as problem:
        raise ValueError(str(problem)) from None
    except evaluator.HostFault as problem:
        with HOST_LOG.open("a", encoding="utf-8") as log:
            log.write(f"{Path(user_submission_file).name}, {phase_codename}: {problem}\n\n")
        raise RuntimeError(evaluator.UNEXPECTED) from None
    result = {
        "split": phase_codename,
        "show_to_participant": phase_codename == "public",
        "accuracies": {"score": score},
    }
    return {"result": [result]}
