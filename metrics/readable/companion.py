"""The companion of READ//ABLE: the competition's files, M7, and what became of every selection.

The functions and the class are the members of `companion`, which `podium.metric.contract.Companion` describes.
"""

import functools
import json
import operator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.common.errors import HostError
from podium.common.wording import counted, listed
from podium.markups import explanation as shared
from podium.markups import files
from podium.markups.companion import companion_of
from podium.markups.explanation import AMONG, WITH, Criteria
from podium.markups.mistakes import Span
from podium.metric.contract import ScoredSubmission
from podium.tables import schema
from podium.tables.frames import of_rows

from . import metric

TEXT_COLUMNS = ("document_id", "markups", "markup", "subject", "text")
SIDE_COLUMNS = ("m7",)
# The experts' answers to the five questions about an explanation, each from 0 to `MOST_POINTS`.
QUESTIONS = ("q1", "q2", "q3", "q4", "q5")
MOST_POINTS = 5
POINTS = schema.Cells(
    f"0 to {MOST_POINTS} points",
    lambda cells: pd.to_numeric(cells, errors="coerce").between(0, MOST_POINTS),
    is_text=False,
)
SIDE = "the side file"

TITLES = {
    "M": "Pairwise accuracy",
    "M1": "Essay score prediction accuracy",
    "M2": "Fragment detection accuracy and recall",
    "M3": "Code prediction accuracy",
    "M4": "Subtype prediction accuracy",
    "M5": "Fragment localization accuracy",
    "M6": "Correction accuracy",
    "M7": "Explanation accuracy",
}
CRITERIA = Criteria(
    titles=TITLES,
    about=TITLES,
    table=("name", "algorithm", "experts", "relative"),
    unit=100.0,
    measure="OTAR",
    passes=operator.gt,
)

# What can become of a selection. Each outcome is better than those before it.
OUTCOMES = ("no overlap", "too costly", "partner taken", "matched")
COLUMNS = (
    *("selection", "start", "end", "type", "subtype", "correction", "outcome", "partner_selection"),
    *("cost", "jaccard", "same_type", "same_subtype", "same_correction"),
)

# ---- Files -----------------------------------------------------------------------------------------------


def add_side(submission: pd.DataFrame, side: pd.DataFrame, row_id_column_name: str) -> pd.DataFrame:
    """Add M7, the experts' judgment of the explanations in a submission: their points, or percent."""
    if not {row_id_column_name, "markup"} <= set(submission):
        return submission  # the metric says what it lacks
    wanted = submission[row_id_column_name].astype(str)
    if "m7" not in side:
        columns = {row_id_column_name: schema.TEXT} | dict.fromkeys(QUESTIONS, POINTS)
        answers = schema.Table(columns=columns).checked(side, SIDE)
        points = answers[[*QUESTIONS]].astype(np.float64).sum(axis=1).to_numpy()
        return submission.assign(m7=_percent(answers[row_id_column_name], points, wanted, submission["markup"]))
    column = {row_id_column_name: schema.TEXT}
    ids = schema.Table(key=[row_id_column_name], columns=column).checked(side, SIDE)
    rows = pd.Index(ids[row_id_column_name]).get_indexer(pd.Index(wanted))
    if (rows < 0).any():
        unknown = wanted[rows < 0].tolist()
        number = counted(len(unknown), "essay")
        raise HostError(
            f"{SIDE}: expected every essay of the submission, found no row for {number}: {listed(unknown)}"
        )
    return submission.assign(m7=side["m7"].to_numpy()[rows])


def side_form(submission: pd.DataFrame, row_id_column_name: str) -> pd.DataFrame:
    """Make the table that the experts fill: one row for each explanation, with five empty answers."""
    rows = []
    for essay, cell in zip(submission[row_id_column_name], submission["markup"]):
        for number, is_explained in enumerate(_explained(cell), 1):
            if is_explained:
                selection = json.loads(cell)["selections"][number - 1]
                of_selection = [selection.get(name) for name in ("type", "subtype", "explanation")]
                rows.append((essay, number, *of_selection, *[None] * len(QUESTIONS)))
    columns = [row_id_column_name, "selection", "type", "subtype", "explanation", *QUESTIONS]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _percent(
    ids: pd.Series, points: npt.NDArray[np.float64], wanted: pd.Series, markups: pd.Series
) -> list[float]:
    """M7 of each essay: Expert Score / Maximum Score · 100.

    It is 0 where a markup has selections and explains none of them. Where it has no selection, there is
    nothing to explain, and M7 is 100.
    """
    shares = []
    for essay, cell in zip(wanted, markups):
        own = points[(ids == essay).to_numpy()]
        explained = _explained(cell)
        if len(own) != sum(explained):
            expected = f"expected {counted(sum(explained), 'row')}, one for each explanation"
            raise HostError(f"{SIDE}: essay {essay!r}: {expected}, found {len(own):,}")
        most = MOST_POINTS * len(QUESTIONS) * len(own)
        shares.append(100 * own.sum() / most if most else 0.0 if explained else 100.0)
    return shares


def _explained(cell: Any) -> list[bool]:
    """Whether each selection of a markup has an explanation; a broken markup is rejected later and has none."""
    try:
        selections = json.loads(cell)["selections"] or []
        return [bool(str(each.get("explanation") or "").strip()) for each in selections]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return []


# ---- Two markups -----------------------------------------------------------------------------------------


def _fates(one: Any, other: Any) -> list[list[tuple[Any, ...]]]:
    """For each of two markups the `COLUMNS` of its selections, compared with the other markup."""
    if other.content < one.content:
        return _fates(other, one)[::-1]
    sides = one, other
    x, y = metric.columns_of([one], [other])
    places = metric.candidates(x, y)
    pairs = metric.pairs_of(x, y, places)
    partners = set(map(tuple, metric.match_selections(x, y).tolist()))
    fates = [[(0, -1, 1.0, np.nan)] * len(side.positions) for side in sides]
    for ends, cost, jaccard in zip(
        places.tolist(), metric.cost(*pairs).tolist(), metric.jaccard(*pairs).tolist()
    ):
        outcome = 3 if tuple(ends) in partners else 2 if cost < 2 else 1
        for fate, place, partner in zip(fates, ends, ends[::-1]):
            fate[place] = max(fate[place], (outcome, partner, cost, jaccard))
    rows: list[list[tuple[Any, ...]]] = [[], []]
    for of_side, fate, side, against in zip(rows, fates, sides, sides[::-1]):
        for place, selection, (outcome, partner, cost, jaccard) in zip(side.positions, side.content[0], fate):
            of_partner: tuple[Any, ...] = (-1, 1.0, np.nan, False, False, False)
            if outcome == 3:
                same = map(operator.eq, selection[2:5], against.content[0][partner][2:5])
                of_partner = (against.positions[partner], cost, jaccard, *same)
            of_side.append((place, *selection[:5], OUTCOMES[outcome], *of_partner))
    return rows


# ---- Files for a competition -----------------------------------------------------------------------------


def sample_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """Make a submission that shows the form. Its markups have neither grades nor selections."""
    return solution[[solution.columns[0]]].assign(markup=json.dumps({"criteria": {}, "selections": []}))


# ---- Submissions -----------------------------------------------------------------------------------------


def _criteria(prepared: Any) -> Criteria:
    """The criteria with the weights in use."""
    return replace(CRITERIA, weights={name: prepared.weights[name] for name in prepared.criteria[1:]})


class Explanation(shared.Explanation):
    """What became of every selection; see `podium.markups.explanation`."""

    roles: ClassVar = {"item": "document_id", "label": "type", "outcome": "outcome"}

    def __init__(self, evaluation: ScoredSubmission) -> None:
        super().__init__(evaluation, _criteria(evaluation.prepared))
        self.subjects = [self.prepared.known[item][0] for item in self.prepared.items]

    @staticmethod
    def spans_of(markup: Any) -> list[Span]:
        """The selections of a markup with their types."""
        return [(each.start, each.end, frozenset([each.type])) for each in markup.content[0]]

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        """One row per essay with its measures and the means of its criteria."""
        algorithm, experts = self.algorithm_means, self.expert_means
        best = np.array([max(values[:, 0], default=np.nan) for values in self.with_algorithm])
        worst = np.array([min(values[:, 0], default=np.nan) for values in self.prepared.among])
        sums = (algorithm[:, 0], best, experts[:, 0], worst)
        otar, m_avg, m_opt = self.metric.relative_accuracies(sums, self.prepared.parameters[-1])
        columns = {
            "document_id": self.prepared.items,
            "subject": self.subjects,
            "experts": self.experts,
            "otar": otar,
            "m_avg": m_avg,
            "m_opt": m_opt,
            "m": algorithm[:, 0],
            "max_m": best,
            "mean_m_experts": experts[:, 0],
            "min_m_experts": worst,
        }
        return pd.DataFrame(columns | self.means_of_documents)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The measures, the criteria, the measures of each subject, and the barrier."""
        names = ["OTAR", "M_avg", "M_opt", "M"]
        measures = pd.DataFrame(
            {"measure": names, "percent": [self.evaluation.measures[name] for name in names]}
        )
        subjects = np.array(self.subjects, dtype=object)
        in_order = dict.fromkeys([*self.metric.LARGEST_GRADE, *sorted(self.subjects)])
        occurring = [subject for subject in in_order if (subjects == subject).any()]
        members = np.array([subjects == subject for subject in occurring])
        values = statistics.resample(self.prepared, self.statistics, members)[:, 1:5]
        by_subject = pd.DataFrame(values, columns=["otar", "m_avg", "m_opt", "m"])
        by_subject.insert(0, "subject", occurring)
        by_subject.insert(1, "documents", members.sum(axis=1))
        return {
            "Measures": measures,
            "Criteria": self.criteria_table,
            "Subjects": by_subject,
            "Barrier": self.barrier,
        }

    @property
    def histograms(self) -> dict[str, Any]:
        """The distributions of the measures over pairs of markups and over essays."""
        among, ours = (self.documents[name] for name in ("mean_m_experts", "m"))
        sides = {AMONG: (among, float(among.mean())), WITH: (ours, self.evaluation.measures["M"])}
        return self.figures("Accuracy", "Mean M", sides, ["M_avg", "M_opt", "OTAR"])

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """One row for each selection of a markup and each other markup of its essay."""
        rows = []
        for item, first, second, one, other in shared.comparisons(self.prepared, self.evaluation.read):
            ours, theirs = _fates(one, other)
            rows += [(item, first, second, "selection", *row) for row in ours]
            rows += [(item, second, first, "selection", *row) for row in theirs]
        rows.sort(key=lambda row: row[:5])
        columns = ["document_id", "markup", "against", "level", *COLUMNS]
        return self.named(of_rows(rows, columns))


companion = companion_of(
    metric,
    files.read_folder,
    _criteria,
    sample_submission,
    text_columns=TEXT_COLUMNS,
    from_table=files.from_table,
    explain=Explanation,
    agreement_parameters={"measure": "m"},
    side_columns=SIDE_COLUMNS,
    add_side=add_side,
    side_form=side_form,
    public_columns=("subject",),
)
