"""Score a submission on Codabench: python3 scoring.py INPUT OUTPUT"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "lib"))

from podium.common.errors import SubmissionRejected
from podium.hosting.bundles import evaluator


def main(given: str, output: str) -> int:
    """Score the file in INPUT/res against INPUT/ref, and write OUTPUT/scores.json."""
    reference = Path(given, "ref")
    phase = json.loads((reference / "phase.json").read_text(encoding="utf-8"))
    try:
        submission = evaluator.only_file(Path(given, "res"))
        measures = evaluator.measures(HERE, reference / "solution.csv", submission, [phase["part"]])[
            phase["part"]
        ]
    except SubmissionRejected as problem:
        print(f"error: {problem}")
        return 1
    except evaluator.HostFault as problem:
        print(problem)
        return 1
    scores = {phase["keys"][name]: value for name, value in measures.items() if name in phase["keys"]}
    Path(output, "scores.json").write_text(json.dumps(scores), encoding="utf-8")
    print(f"score: {measures['score']}")
    return 0


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    # A thread of Arrow may abort the interpreter while it shuts down (apache/arrow#34314). The platform would
    # then take a scored submission for a failed one. Therefore the process ends without a shutdown.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
