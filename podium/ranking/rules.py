"""The options of `podium.rank`: what is ranked, how scores become ranks, and what heads the page.

They are declared here, and nowhere else: the command, the function and run.json have them from these fields.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from datetime import datetime
from typing import Annotated, Any, Literal

from podium.child.limits import Limits
from podium.common.errors import UsageError
from podium.common.options import Values, as_option, flag_of, whole_number
from podium.metric import built_in
from podium.running.settings import parse_bytes, parse_seconds
from podium.tables.files import Location

RUN = "run.json"  # records them
CIRCUMSTANCES = ("command", "date", "hardware", "store", "versions")  # cannot be computed again
# What may have other words in another version: fields of the record, and columns of tables.
FACTS_OF_WORDS = ("rule", "warnings", "silence", "purpose", "ties")
CELLS_OF_WORDS = ("note", "detectable_note", "why", "rejected", "reason")

TEAM_PAGE = "team.html"
ALL_TEAMS = "all"  # in place of the name of a team
LAST = "last"  # the rule by which the last file of a team counts, as on Codabench and EvalAI


def is_choice(text: str) -> bool:
    """Tell whether a text is a rule that chooses a file of each team.

    >>> is_choice("private"), is_choice("public:2"), is_choice("last"), is_choice("public:0")
    (True, True, True, False)
    """
    return bool(re.fullmatch(f"private|{LAST}|public:[1-9][0-9]{{0,5}}", text))


def is_time(text: str) -> bool:
    """Tell whether a text is a day or a time in ISO 8601, as the times of submission are.

    >>> is_time("2024-01-23"), is_time("2024-01-23T23:59+01:00"), is_time("23:59"), is_time("noon")
    (True, True, False, False)
    """
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return len(text) >= len("2024-01-23")


CHOICE = Values("public:N, such as public:2, private or last", is_choice)
MOMENT = Values("a day or a time, such as 2024-01-23 or 2024-01-23T23:59", is_time)


@dataclass(frozen=True)
class Places:
    """Where the inputs are, which of them counts, and where the board goes."""

    solution: Location = ""
    submissions: Location = ""
    runtimes: Location | None = None
    _: KW_ONLY
    out: Location
    metric: Location = built_in.DEFAULT
    again: Location | None = None
    part: Literal["", "Public", "Private"] = ""
    failed: Location | None = None
    side: Location | None = None
    teams: Location | None = None
    site_board: Location | None = None
    left_out: Location | None = None

    @property
    def paths(self) -> dict[str, Location | None]:
        """The paths of the inputs, by the names that run.json has for them."""
        return {name: getattr(self, name) or None for name in PATHS}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The options that decide about ranks."""

    team_from: str = ""  # where the team stands in the name of a file, see `ranking.team_names`
    choose: Annotated[str, CHOICE] = ""  # "" is for `choice.choose` to decide
    boost: bool = True
    max_boost: float = 0.05  # the parameters of ``boost.py``, like the next two
    eligibility_ratio: float = 1.05
    slowdown_limit: float = 1.2
    resamples: Annotated[int, whole_number(0, 100_000)] = 1000  # so many tell a share to a thousandth
    seed: Annotated[int, whole_number(0, 2**63 - 1)] = 0
    prizes: Annotated[int, whole_number(0, 1_000_000)] = 3
    items: str = ""
    variants: bool = False
    deadline: Annotated[str, MOMENT] = ""

    @property
    def of_boost(self) -> dict[str, float]:
        """The parameters of ``boost.py``."""
        return {name: getattr(self, name) for name in ("max_boost", "eligibility_ratio", "slowdown_limit")}


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What the page says beside the ranking: no rank depends on it."""

    title: str = "The final board"
    organizer: str = ""
    because: str = ""
    team: Sequence[str] | str | None = None
    describe: Sequence[str] | str | None = None  # new in 11.1, so that a record of 11.0 lacks it

    @property
    def descriptions(self) -> dict[str, str]:
        """What columns of the solution tell about items, by the names of the columns."""
        given = [self.describe] if isinstance(self.describe, str) else self.describe or ()
        described = dict[str, str]()
        for column, _, told in (text.partition("=") for text in given):
            if described.setdefault(column.strip(), told.strip()) != told.strip():
                raise UsageError(f"{as_option('describe', column.strip())}: it is given twice")
        return described


@dataclass(frozen=True, kw_only=True)
class Options(Heading, Rules, Places):
    """The options of `podium.rank`.

    Parameters
    ----------
    solution : SOLUTION
        The right answers: .csv, .csv.gz, .parquet, or an official file.
    submissions : SUBMISSIONS
        A folder with a file or a folder for each team, or a zip with the same, or a pattern of zips in
        quotation marks, such as "downloads/*.zip"; the folder that `podium run` has written, with its
        runtimes and the models that failed; or a manifest, which is a CSV with the columns
        team and path and, if you like, submission, submitted_at, public_score, selected ("yes" for the files
        that count, unless `choose` is given) and side.
    runtimes : RUNTIMES
        The ``runtimes.csv`` of `podium run`, or a CSV with the columns team and runtime (seconds). Without it,
        speed is not rewarded.
    out : FOLDER
        The folder for the results.
    metric : METRIC
        A built-in metric, such as scifact, a Python file with a ``score()``, or a folder with a
        ``metric.py``. The files of `podium make` name theirs.
    boost : bool
        Rank by score alone and reward no speed (False). By default, speed is rewarded if there are runtimes.
    prizes : N
        How many places win a prize.
    title : TITLE
        The heading of the pages, such as the competition's name.
    organizer : ORGANIZER
        Who publishes the board, for the pages.
    teams : CSV
        The jury's decisions: a CSV with the columns team, status ("no prize", "baseline", "withdrawn" or
        "disqualified") and reason, which are published on the page and in ``run.json``. With "no prize", a team
        is ranked and its prize goes to the next one. A baseline is shown without a rank, and who withdrew or is
        disqualified below the board.
    team : NAME
        A team that gets a page of its own, ``team.html``. Several teams, or "all", get a page each, such as
        ``team_7_red_pen.html``.
    describe : COLUMN=TEXT
        What a column of the solution that forms sub-populations tells, for the page, such as
        "ell_status=whether the student learns English"; may be repeated.
    again : FOLDER
        The folder of an earlier board, which is made again in another folder: with its options, decisions and
        inputs, but for what is given now. An empty text takes a recorded path or text back, such as
        ``--teams ""``. The page and ``changes.csv`` say what has changed.
    because : TEXT
        Why a board is made again, for its page.
    parameters : NAME=VALUE
        A parameter of the metric, such as temperature=80; may be repeated. In Python it is a mapping of names
        to values, or a list of such texts.

    Other Parameters
    ----------------
    part : PART
        The only part of the solution that counts, such as Public while the competition runs. The default is the
        whole solution.
    choose : RULE
        Which file of a team counts. With "public:N", it is of the N best files by Public score the one with the
        best Private score; with "private", the best of all; with "last", the one submitted last. The default is
        "public:2" if there are Public scores beside those that decide, and "private" otherwise. Without
        a rule, what a manifest calls selected counts for the teams that selected.
    deadline : TIME
        Leave out files that were submitted later than this time in ISO 8601, such as 2024-01-23T23:59; a day
        counts to its end. Times without an offset, such as +01:00, are in UTC, here and in the manifest.
    site_board : CSV
        The leaderboard of the competition's site, to be compared: as Kaggle, Codabench, EvalAI or `podium
        collect` writes it, or a table with the columns team and score.
    team_from : PATTERN
        Where the team stands in the names of a folder (not with a manifest, which names its teams), as a
        learning platform writes them: a short form such as "{team}_{}_{}_{submission}", or a regular expression
        with a group team. Groups submission and submitted_at may be there, too. By default, a name is that of a
        team.
    side : FOLDER
        A folder of tables with what only the host can say of a submission, such as READ//ABLE's M7: TEAM.csv,
        or TEAM/SUBMISSION.csv if a team has several submissions. Not with a manifest that has a column side.
    left_out : CSV
        A CSV with the columns item and reason: items, such as essays, that count for nobody, in any submission.
        Their number and the reasons are published on the page, and the items in ``run.json``.
    failed : CSV
        The models that failed, to be named on the page: a CSV with the columns team, model and reason. The
        default is the ``failed.csv`` beside the runtimes, where `podium run` puts it.
    max_boost : NUMBER
        The boost of the fastest eligible team, as a share of its score.
    eligibility_ratio : NUMBER
        A team is eligible for a boost if the best score is at most this many times its own.
    slowdown_limit : NUMBER
        A team gets no boost if its runtime is this many times the fastest one, or more.
    variants : bool
        Also rank with other weights, thresholds and overlap rules, with each attribute alone, and with the
        memo's steps from the metric of Feedback Prize 1. The chosen files are read once more.
    resamples : N
        The number of draws; 0 for no statements about chance (default: 1000, but for a metric with ``score()``
        alone as many as fit into ten minutes, and nothing is said if these are fewer than 200).
    items : COLUMN
        Draw all items with the same value in this column of the solution together, such as those of a prompt or
        a patient. By default, each item is drawn alone.
    seed : N
        A number that decides what is drawn.
    jobs : N
        How many processes work at once. By default, it is one per core.
    dask : ADDRESS
        The address of the scheduler of a Dask cluster that does the work.
    time_limit : TIME
        Processor time for one submission, in seconds or as "90s" or "20m". One that needs more is rejected.
    memory_limit : SIZE
        Memory for one submission, in bytes or as "500M". One that needs more is rejected.
    idle_limit : TIME
        How long one submission may use no processor time, as where a metric waits for something. One that waits
        longer is rejected.
    """

    memory_limit: str | int = "4G"
    time_limit: str | float = "10m"
    idle_limit: str | float = "60s"
    jobs: Annotated[int, whole_number(0)] = 0
    dask: str | None = None
    parameters: Annotated[Sequence[str] | Mapping[str, Any] | None, "--set"] = None
    given: frozenset[str] = frozenset()  # the names of those that were given; an earlier run says the others

    @property
    def limits(self) -> Limits:
        """What reading and scoring one submission may take."""
        return Limits(
            parse_bytes(self.memory_limit, as_option("memory_limit")),
            parse_seconds(self.time_limit, as_option("time_limit")),
            parse_seconds(self.idle_limit, as_option("idle_limit")),
        )

    @property
    def teams_with_page(self) -> list[str]:
        """The teams that get a page of their own; "all" stands for all."""
        return [self.team] if isinstance(self.team, str) else [*(self.team or ())]

    @property
    def metric_parameters(self) -> dict[str, Any]:
        """The parameters of the metric, once they are known by their names."""
        return dict(self.parameters) if isinstance(self.parameters, Mapping) else {}

    @property
    def is_fixed(self) -> bool:
        """Whether the number of draws is given; if not, half-samples take at most ten minutes."""
        return "resamples" in self.given

    def check(self) -> None:
        """Refuse what contradicts itself, and an empty text, which would count as what was not given."""
        if self.because and self.again is None:
            raise UsageError(
                f"{as_option('because')}: expected {as_option('again')}, the board that is made again"
            )
        for name in self.given - {"items"} if self.again is None else ():
            if getattr(self, name) in ("", [""]):
                raise UsageError(
                    f"{as_option(name)}: expected a value, found an empty text; leave the option out"
                )
        for column, told in self.descriptions.items():
            if not (column and told):
                raise UsageError(f"{as_option('describe')}: expected COLUMN=TEXT, found {column or told!r}")
        if "boost" in self.given and self.boost and self.runtimes is None and self.again is None:
            raise UsageError(
                f"{as_option('boost', True)}: expected runtimes, without which no speed can be rewarded"
            )
        if str(self.runtimes).lower().endswith(".zip"):
            raise UsageError(
                f"{self.runtimes}: expected runtimes, found a zip; several zips of submissions are given as a "
                'pattern in quotation marks, such as "downloads/*.zip"'
            )
        self.limits  # noqa: B018


# The inputs, as run.json names them.
PATHS = (
    "metric", "solution", "submissions", "runtimes", "failed", "teams", "site_board", "side",
    "left_out", "again",
)  # fmt: skip
POSITIONAL = ("solution", "submissions", "runtimes")


def command_of(options: Options) -> list[str]:
    """Write what was asked for as the command that asks the same."""
    command = ["podium", "rank"]
    given = options.given - {"parameters"} - ({"metric"} if options.metric == built_in.DEFAULT else set())
    for name in [each.name for each in fields(Options) if each.name in given]:
        value = getattr(options, name)
        value = "" if value is None else value
        if name in POSITIONAL:
            command.append(str(value))
        elif isinstance(value, bool):
            command.append(flag_of(name if value else f"no_{name}"))
        else:
            for text in map(str, value if isinstance(value, list) else [value]):
                # A text that begins with a hyphen is taken for an option, unless it is behind an equals sign.
                command += [f"{flag_of(name)}={text}"] if text.startswith("-") else [flag_of(name), text]
    for name, value in options.metric_parameters.items():
        command += ["--set", f"{name}={value}"]
    return command
