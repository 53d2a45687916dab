"""`podium.rank`, whose signature and docstring declare the options of the command.

The work is done by `podium.ranking.making`, which is imported only then, so that --help loads no library.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from podium.ranking.final import FinalBoard

__all__ = ["rank"]


def rank(
    solution: str | os.PathLike[str] | None = None,
    submissions: str | os.PathLike[str] | None = None,
    runtimes: str | os.PathLike[str] | None = None,
    *,
    out: str | os.PathLike[str],
    metric: str | os.PathLike[str] = "unified",
    boost: bool | None = None,
    prizes: int | None = None,
    title: str | None = None,
    organizer: str | None = None,
    teams: str | os.PathLike[str] | None = None,
    team: Sequence[str] | str | None = None,
    again: str | os.PathLike[str] | None = None,
    part: Literal["Public", "Private"] | None = None,
    choose: str | None = None,
    select: str | os.PathLike[str] | None = None,
    deadline: str | None = None,
    site_board: str | os.PathLike[str] | None = None,
    side: str | os.PathLike[str] | None = None,
    left_out: str | os.PathLike[str] | None = None,
    before: str | os.PathLike[str] | None = None,
    failed: str | os.PathLike[str] | None = None,
    max_boost: float | None = None,
    eligibility_ratio: float | None = None,
    slowdown_limit: float | None = None,
    variants: bool = False,
    resamples: int | None = None,
    items: str | None = None,
    seed: int | None = None,
    jobs: int = 0,
    dask: str | None = None,
    time_limit: str | float = "10m",
    memory_limit: str | int = "4G",
    idle_limit: str | float = "60s",
    parameters: Mapping[str, Any] | Sequence[str] | None = None,
    **more: Any,
) -> "FinalBoard":
    """Score every submission, reward speed, rank the teams, and write the final board.

    This is the command ``podium rank``, whose options are these arguments. Submissions whose content is already
    in the store of the folder are not scored again, so a call that was interrupted goes on where it stopped.

    Parameters
    ----------
    solution : str or path, optional
        The right answers: .csv, .csv.gz, .parquet, a URL, or an official file.
    submissions : str or path, optional
        A folder or URL with a file or a folder for each team; or a manifest, which is a CSV with the columns
        team and path and, if you like, submission, submitted_at, public_score, selected ("yes" for the files
        that count if neither `select` nor `choose` is given) and side.
    runtimes : str or path, optional
        The ``runtimes.csv`` of `podium run`, or a CSV with the columns team and runtime (seconds). Without it,
        speed is not rewarded.
    out : str or path
        The folder for the results.
    metric : str or path
        One of podium's own metrics, such as scifact, a Python file with a ``score()``, or a folder with a
        ``metric.py``.
    boost : bool, optional
        Rank by score alone and reward no speed (False). By default, speed is rewarded if there are runtimes.
    prizes : int, optional
        How many places win a prize. The default is 3.
    title : str, optional
        The heading of the pages, such as the competition's name. The default is "The final board".
    organizer : str, optional
        Who publishes the board, for the pages.
    teams : str or path, optional
        The jury's decisions: a CSV with the columns team, status ("no prize", "baseline" or "disqualified") and
        reason, which are published on the page and in ``run.json``. With "no prize", a team is ranked and its
        prize goes to the next one. A baseline is shown without a rank, and who is disqualified below the board.
        With a team in the column same_as in place of a status, the files of both are those of that team.
    team : str or list of str, optional
        A team that gets a page of its own, ``team.html``. Several teams, or "all", get a page each, such as
        ``team_7_red_pen.html``.
    again : str or path, optional
        The folder of an earlier run, which is ranked again from what is stored there, with the options given
        now. Then give the solution, the submissions and the runtimes only where they are elsewhere now or at an
        address, which is not opened because a file names it.
    part : {"Public", "Private"}, optional
        The only part of the solution that counts, such as Public while the competition runs. The default is the
        whole solution.
    choose : str, optional
        Which file of a team counts. With "public:N", it is of the N best files by Public score the one with the
        best Private score; with "private", the best of all; with "last", the one submitted last. The default is
        "public:2" if there are Public scores, and "private" otherwise.
    select : str or path, optional
        A CSV with the columns team and submission. Of the teams in it, only the named files count.
    deadline : str, optional
        Leave out files that were submitted later than this day and time in ISO 8601, such as
        "2024-01-23T23:59+01:00" (in UTC without an offset).
    site_board : str or path, optional
        The leaderboard of the competition's site, to be compared: as Kaggle, Codabench, EvalAI or `podium
        collect` writes it, or a table with the columns team and score.
    side : str or path, optional
        A folder of tables with what only the host can say of a submission, such as READ//ABLE's M7: TEAM.csv,
        or TEAM/SUBMISSION.csv if a team has several submissions.
    left_out : str or path, optional
        A CSV with the columns item and reason: items, such as essays, that count for nobody, in any submission.
        Their number and the reasons are published on the page, and the items in ``run.json``.
    before : str or path, optional
        The folder of an earlier board. A sentence and the table ``changes.csv`` say what has changed since.
    failed : str or path, optional
        The models that failed, to be named on the page: a CSV with the columns team, model and reason. The
        default is the ``failed.csv`` beside the runtimes, where `podium run` puts it.
    max_boost : float, optional
        The boost of the fastest eligible team, as a share of its score. The default is 0.05.
    eligibility_ratio : float, optional
        A team is eligible for a boost if the best score is at most this many times its own. The default is
        1.05.
    slowdown_limit : float, optional
        A team gets no boost if its runtime is this many times the fastest one, or more. The default is 1.2.
    variants : bool
        Also rank with other weights, thresholds and overlap rules, with each attribute alone, and with the
        memo's steps from the metric of Feedback Prize 1. The chosen files are read once more.
    resamples : int, optional
        The number of draws; 0 for no statements about chance. The default is 1000. For a metric with
        ``score()`` alone, it is as many of them as fit into ten minutes, and nothing is said if these are fewer
        than 200.
    items : str, optional
        Draw all items with the same value in this column of the solution together, such as those of a prompt or
        a patient. By default, each item is drawn alone.
    seed : int, optional
        A number that decides what is drawn. The default is 0.
    jobs : int
        How many processes work at once. With 0, it is one per core.
    dask : str, optional
        The address of the scheduler of a Dask cluster that does the work.
    time_limit : str or float
        Processor time for one submission, in seconds or as "90s" or "20m". One that needs more is rejected.
    memory_limit : str or int
        Memory for one submission, in bytes or as "500M". One that needs more is rejected.
    idle_limit : str or float
        How long one submission may use no processor time, as where a metric waits for something. One that waits
        longer is rejected.
    parameters : mapping of str to object, or list of str, optional
        Parameters of the metric's ``score``, by name or as texts such as "temperature=80". They may have the
        names of arguments of this function. Without it, an argument such as `seed` or `title` goes to the
        metric if the metric has a parameter of that name, with a warning.
    **more : object
        Further parameters of the metric's ``score``, such as ``temperature=80``.

    Returns
    -------
    FinalBoard
        The board with its tables. The files are in the folder `out`.

    Raises
    ------
    podium.words.errors.UsageError
        A file is missing or cannot be read, a worker was lost, or two arguments contradict each other.
    podium.words.errors.HostError
        The solution, another table of the host, a parameter or the metric is wrong.

    Examples
    --------
    >>> board = podium.rank("solution.csv", "submissions/", "runtimes.csv", out="final")  # doctest: +SKIP
    >>> board.leaderboard, board.certainty, board.rejected  # doctest: +SKIP
    >>> podium.rank(again="final", out="other", temperature=50)  # doctest: +SKIP
    """
    from podium.ranking import making
    from podium.ranking.asked import Request, given, limits_of

    asked = Request(
        Path(out),
        os.fspath(metric),
        paths=given(
            solution=solution, submissions=submissions, runtimes=runtimes, selection=select, failed=failed,
            side=side, teams=teams, site_board=site_board, left_out=left_out, before=before,
        ),
        rules=given(
            choose=choose, boost=boost, max_boost=max_boost, eligibility_ratio=eligibility_ratio,
            slowdown_limit=slowdown_limit, resamples=resamples, seed=seed, prizes=prizes, items=items,
            variants=variants or None, deadline=deadline,
        ),
        heading=given(title=title, organizer=organizer, team=[team] if isinstance(team, str) else team or None),
        again=None if again is None else Path(again),
        part=part or "",
        limits=limits_of(memory_limit, time_limit, idle_limit),
        jobs=jobs,
        dask=dask,
    )  # fmt: skip
    if parameters is None:
        asked, more = making.with_parameters_of_metric(asked, more)
    if isinstance(parameters, Mapping | None):
        parameters = {**(parameters or {}), **more}
    return making.made(asked, parameters)
