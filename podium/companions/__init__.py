"""What can be told of a metric beyond its score: one module per hosted file, found by the file's ``NAME``.

A companion explains with the stages of the hosted file that it is given, so that a changed copy is explained by
its own stages.  What it offers, all of it optional:

``TEXT_COLUMNS``
    Columns beside those named by the metric's parameters that hold text, whatever they look like.
``read_solution(path) -> DataFrame``, ``read_submission(path) -> DataFrame``
    Readers of official files that are no tables; they raise `HostError` and `SubmissionRejected`.
``recognise(frame, row_id, effectiveness) -> (frame, notices)``
    Other people's columns under the metric's names, and what was taken for what.
``predicted(prepared, submission) -> (n,) bool``
    The items for which the submission holds anything.
``explain(evaluation) -> explanation``
    From an `Evaluation` of `podium.scoring` an object with some of

    ``tables``      dict of str to DataFrame: small tables for people, by title
    ``notices``     list of str: what a reader of the score should know
    ``host_notices``  list of str: what only the host should know (of the solution, not of the submission)
    ``rows``        DataFrame: one row per thing of either side and what became of it.  Columns of these names
                    have one meaning: ``side`` ("prediction" or "truth"); ``row_id``; ``first`` and ``last``
                    (positions of words in a text, from 0, both inclusive), ``words`` (their number) and
                    ``words_kept`` (how many of them counted: the last ones); ``partner`` (row id on the other
                    side), ``partner_type``, ``partner_first``, ``partner_last``; ``markup`` and ``against``
                    ("algorithm", or whose else the thing is, and with whose it is compared), with ``start``
                    and ``end`` (its characters, the end exclusive; -1 where it has none) and ``partner_X``
                    (of the partner what the column X is of the thing); ``points_lost`` (how much the
                    score would rise, to first order, were this row alone right)
    ``roles``       dict: which column of ``rows`` is the "item" (an id of ``prepared.items``), the "label"
                    (what a row is taken for) and the "outcome" ("matched" or "correct" where all is well)
    ``losses``      DataFrame: of each row of ``rows`` the points lost by each cause (columns); the sums of its
                    rows are ``points_lost``
    ``groups``      DataFrame: attribute, value, score, weight (of its score in the score) and sizes of each
                    sub-population; the score is the measure "attribute = value"
    ``confusion``   DataFrame: how often the label of the truth (index) was predicted as which (columns)
    ``forecasts``   DataFrame: "probability" and whether it "happened" (0 or 1), to see the calibration
    ``histograms``  dict of figures, each a dict of panels: title to values; see `podium.report.histograms`

``agreement(metric, prepared, solution) -> agreement``
    Where a solution holds the markups of several experts: how well they agree, without a submission.  The
    solution is the frame from which ``prepared`` was made.  An object with ``tables``, ``notices``,
    ``histograms`` (as above) and ``documents``, a DataFrame with one row per document.
``advice(metric, solution, arguments) -> list of str``
    What a host should know before he publishes, from the solution with its column ``Usage`` and the arguments
    of ``score``.
``gamma(prepared) -> DataFrame``
    ``document_id`` and ``gamma``, an agreement of the experts corrected for chance, by another package.
``SIDE_COLUMNS``, ``add_side(submission, side, row_id_column_name) -> DataFrame``
    Columns of a submission that only the host may write, such as marks given by a jury, and what puts them in
    from a frame of his.  Tools leave out what participants sent under these names.
``texts(evaluation, path) -> dict``
    The texts by item that the report shows, from the frames and the official file at `path`, which may be
    None.  It raises `UsageError`.
``kaggle_submission(submission, solution) -> DataFrame``, ``sample_submission(solution) -> DataFrame``
    From the frames that the readers return: a submission as a file that Kaggle accepts even where it aligns
    rows (one row per row of the solution, no empty cell), and one that shows the form and gives nothing away.
    Public and private parts are the host's to draw: of whole items, see ``item_of_row``.
``perfect_submission(solution) -> DataFrame``
    A submission that no other can beat, for the host to try a site with.
``official_json(measures) -> dict``
    What the official program writes, under its names, from the measures by name.
"""

import importlib
import importlib.util
import types

from podium.hosted import Metric

__all__ = ["of"]


def of(metric: Metric) -> types.ModuleType | None:
    """The companion of a hosted file, if there is one."""
    name = f"{__name__}.{getattr(metric, 'NAME', '')}"
    known = name.rpartition(".")[2].isidentifier() and importlib.util.find_spec(name)
    return importlib.import_module(name) if known else None
