"""What a participant writes is known to a type checker in full, without `Any`.

Strict mypy checks this file. It is never run.
"""

from pathlib import Path
from typing import assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd

import podium
from podium import spans, tuning
from podium.ranking.final import FinalBoard
from podium.scoring.evaluating import Evaluation, Solution

solution, submission = pd.read_csv("solution_sample.csv"), pd.read_csv("sample_submission.csv")

result = podium.score(solution, submission)
assert_type(result, Evaluation)
assert_type(result.score, float)
assert_type(result.measures, dict[str, float])
assert_type(result.loggable, dict[str, float])
assert_type(result.explanation.rows, pd.DataFrame)
assert_type(result.signature, str)

fold = podium.prepare(solution, temperature=80.0)
assert_type(fold, Solution)
assert_type(podium.score(fold, submission), Evaluation)

essay_ids: list[str] = solution["essay_id"].unique().tolist()
segments = spans.from_table(submission, essay_ids) + spans.from_words([0], [3], "Claim", essay=np.array([0]))
assert_type(segments, spans.Spans)
assert_type(segments[:2].with_effectiveness(0.5), spans.Spans)
assert_type(segments.first, npt.NDArray[np.int64])
assert_type(spans.score(fold, segments, essay_ids), float)
assert_type(spans.measures(fold, segments, essay_ids), dict[str, float])
candidates = spans.to_submission(segments, essay_ids)
assert_type(candidates, pd.DataFrame)

tuned = tuning.tune(fold, candidates.assign(probability=segments.probability))
assert_type(tuned, tuning.Tuning)
assert_type(spans.select(segments, **tuned.options), spans.Spans)

found = spans.from_quotes(["I agree."], ["I agree"], "Position")
assert_type(found.spans, spans.Spans)
assert_type(found.report, pd.DataFrame)

assert_type(podium.statistics.compare(result, result), podium.statistics.Comparison)
assert_type(podium.statistics.intervals(result), pd.DataFrame)

# What an organizer writes: the functions have the types of the options that the commands have.
assert_type(podium.rank("solution.csv", Path("teams"), out="final", prizes=2, team=["Ada"]), FinalBoard)
podium.rank("solution.csv", "teams", out="final", prizes="two")  # type: ignore[arg-type]
podium.rank("solution.csv", "teams", out="final", prises=2)  # type: ignore[call-arg]
assert_type(podium.verify("final", jobs=1).differences, list[str])
assert_type(podium.run("models", data="data", out="runs", engine="docker").state, str)
