"""Score a submission on Codabench: python3 scoring.py INPUT OUTPUT

Of a fault of the host, only a phase whose output is hidden from participants logs the text.
"""

import json
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "lib"))

from podium.errors import SubmissionRejected  # noqa: E402
from podium.hosting import judge  # noqa: E402


def main(given: str, output: str) -> int:
    reference = Path(given, "ref")
    phase = json.loads((reference / "phase.json").read_text(encoding="utf-8"))
    try:
        submission = judge.only_file(Path(given, "res"))
        evaluation = judge.judge(HERE, reference / "solution.csv", submission)
        measures = judge.measures(evaluation, phase["part"])
        scores = {phase["keys"][name]: value for name, value in measures.items() if name in phase["keys"]}
        Path(output, "scores.json").write_text(json.dumps(scores), encoding="utf-8")
        print(f"score: {measures['score']}")
        if phase["hidden"]:
            from podium.report import page

            page.write(page.render(evaluation, submission.name), Path(output, "detailed_results.html"))
    except SubmissionRejected as problem:
        print(f"error: {problem}")
        return 1
    except Exception as problem:
        print(f"{judge.UNEXPECTED}\n{judge.versions()}\n{judge.place(problem)}")
        if phase["hidden"]:
            print("".join(traceback.format_exception(problem)))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
