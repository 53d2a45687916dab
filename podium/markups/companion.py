"""What the companions of both markup metrics are made of."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from podium.common.errors import HostError, SubmissionRejected, ToolError
from podium.markups import files
from podium.markups.agreement import Agreement
from podium.markups.explanation import Criteria, PreparedMarkups, closest_markups
from podium.metric.contract import Companion


def companion_of(
    metric: Any,
    read: Callable[[str | Path, type[ToolError]], pd.DataFrame],
    criteria: Callable[[PreparedMarkups], Criteria],
    sample_submission: Callable[[pd.DataFrame], pd.DataFrame],
    **own: Any,
) -> Companion:
    """Make a companion of its reader of documents, its criteria, its empty submission and its own members."""

    def read_solution(path: str | Path) -> pd.DataFrame:
        """Read the experts' markups from files."""
        return files.experts_of(read(path, HostError))

    def read_submission(path: str | Path) -> pd.DataFrame:
        """Read the algorithm's markups from files."""
        return files.algorithms_of(read(path, SubmissionRejected))

    def agreement(prepared: PreparedMarkups, solution: pd.DataFrame) -> Agreement:
        """Say how well the experts of a solution agree with each other."""
        return Agreement(prepared, solution, criteria(prepared))

    def perfect_submission(solution: pd.DataFrame) -> pd.DataFrame:
        """Make a submission of the experts' markups that agree best with all experts of their document.

        A higher score may be possible, because the best answer to experts who disagree need not be one of
        theirs.
        """
        return closest_markups(metric, solution, sample_submission(solution))

    return Companion(
        read_solution=read_solution,
        read_submission=read_submission,
        agreement=agreement,
        sample_submission=sample_submission,
        perfect_submission=perfect_submission,
        documents=files.ENDINGS,
        texts=files.texts,
        leave_out=files.leave_out,
        diagnose=files.diagnose,
        add_texts=files.add_texts,
        **own,
    )
