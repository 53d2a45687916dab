"""What the companions of the two markup metrics share: files, tables, figures and the experts' agreement.

In these metrics several experts and an algorithm mark up the same documents.  `metrics/markup_consistency` and
`metrics/readable` define what a markup is and how two of them are compared.
"""

import ctypes
import functools
import itertools
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import contract, hosted, statistics
from podium.contract import Evaluation
from podium.errors import SubmissionRejected, ToolError, UsageError, missing_extra
from podium.explain import ratio
from podium.files import parse_json, read_text
from podium.progress import track
from podium.wording import counted, listed

ALGORITHM = "algorithm"
EXPERT_NAMES = ("expert", "annotator", "id")
EXPECTED: dict[type, str] = {dict: "an object", list: "a list", str: "text"}
NAMES_SHOWN = 10
AMONG, WITH = "experts with each other", "algorithm with experts"

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# ---- Files -----------------------------------------------------------------------------------------------


def read_folder(path: str | Path, error: type[ToolError]) -> pd.DataFrame:
    """Read the documents in a JSON file, or in the JSON files of a folder and its sub-folders.

    Parameters
    ----------
    path : str or Path
        A file, or a folder of files named ``*.json`` or ``*.json.gz``, in UTF-8 or CP1251.
    error : type of ToolError
        The exception for a fault in a file: `SubmissionRejected` if a submission is read, else `HostError`.

    Returns
    -------
    DataFrame
        One row per document, as `read_documents` returns it.

    Raises
    ------
    ToolError
        `error`: there are no such files, or one of them is malformed.
    """
    path = Path(path)
    files = sorted([*path.rglob("*.json"), *path.rglob("*.json.gz")]) if path.is_dir() else [path]
    if not files:
        raise error(f"{path}: expected files named *.json, found none")
    return read_documents(((file, _read_json(file, error)) for file in files), error)


def _read_json(file: Path, error: type[ToolError]) -> Any:
    """The value that a file holds in JSON."""
    try:
        return parse_json(read_text(file, error, "cp1251"))  # as some of the organizers' files are
    except UnicodeDecodeError:
        raise error(f"{file}: expected text in UTF-8 or CP1251") from None
    except ValueError as problem:
        raise error(f"{file}: expected JSON, found a fault: {problem}") from None


def read_documents(contents: Iterable[tuple[Path, Any]], error: type[ToolError]) -> pd.DataFrame:
    """Collect the markups in JSON files by document.

    A file can have three forms.  The first is a document ``{"id": …, "text": …, "markups": […], "markup":
    {…}}`` with the markups of the experts and of the algorithm.  The second is ``{"essay": {…}}`` around such a
    document.  The third is a single markup.  The key ``isExpert`` says whether a markup is an expert's, else
    ``meta.expert`` does.  If neither is there, the markup is the algorithm's when a submission is read.  When a
    solution is read, it is taken for an expert's, and a warning says so.

    Parameters
    ----------
    contents : iterable of (Path, object)
        The path of each file, and the value that it holds in JSON.
    error : type of ToolError
        The exception for a fault in a file: `SubmissionRejected` if a submission is read, else `HostError`.

    Returns
    -------
    DataFrame
        One row per document, ordered by id.  The columns are ``document_id``, ``subject``, ``text``,
        ``markups`` (of the experts, JSON) and ``markup`` (of the algorithm, JSON).  A cell is None if no file
        says it.

    Raises
    ------
    ToolError
        `error`: a file has another form, or a document has two texts, two subjects or two markups of the
        algorithm.

    Warns
    -----
    UserWarning
        Markups were taken for experts' markups.
    """
    documents: dict[str, dict[str, Any]] = {}
    unsaid: list[str] = []
    for file, content in contents:
        try:
            if not _gather(content, file, error is not SubmissionRejected, documents):
                unsaid.append(file.name)
        except ValueError as fault:
            raise error(f"{file}: {fault}") from None
    if unsaid and error is not SubmissionRejected:
        warnings.warn(
            "files without meta.expert were taken for experts' markups: "
            f"{listed(unsaid)} ({counted(len(unsaid), 'file')})",
            stacklevel=2,
        )
    rows = []
    for document_id, document in sorted(documents.items()):
        for name, what in (("subject", "subject"), ("text", "text"), ("algorithm", "markup of the algorithm")):
            if len(document[name]) > 1:
                number = len(document[name])
                raise error(f"document {document_id!r}: expected one {what}, found {number} in its files")
        subject, text, markup = (next(iter(document[name]), None) for name in ("subject", "text", "algorithm"))
        rows.append((document_id, subject, text, _dump(document["expert"]), _dump(markup)))
    return pd.DataFrame(rows, columns=["document_id", "subject", "text", "markups", "markup"], dtype=object)


def _dump(value: Any) -> str | None:
    """A value as JSON; None stays None."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _gather(content: Any, file: Path, is_experts: bool, documents: dict[str, dict[str, Any]]) -> bool:
    """Add a file's content to its document.

    The result is False if the file has a single markup and does not say whose it is; then `is_experts` decides.
    """
    content = _expect(content, dict, "the file")
    content = _expect(content.get("essay", content), dict, "essay")
    meta = _expect({} if content.get("meta") is None else content["meta"], dict, "meta")
    ids = (content.get("id"), content.get("document_id"), meta.get("id"))
    stem = file.name.removesuffix(".gz").removesuffix(".json")
    document_id = next((str(value) for value in ids if value not in (None, "")), stem)
    empty: dict[str, Any] = {"subject": set(), "text": set(), "expert": [], "algorithm": []}
    document = documents.setdefault(document_id, empty)
    about = {"subject": content.get("subject", meta.get("subject")), "text": content.get("text")}
    for key, value in about.items():
        if value is not None:
            document[key].add(_expect(value, str, key))

    def add(markup: Mapping[str, Any], is_experts: bool) -> None:
        grades = {"criteria": markup["criterias"]} if "criterias" in markup else {}
        kept = {name: value for name, value in markup.items() if name not in ("text", "criterias")}
        document["expert" if is_experts else "algorithm"].append(grades | kept)

    if "elements" in content or "selections" in content:
        named = {"expert": meta["expert"]} if meta.get("expert") else {}
        add(content | named, bool(content.get("isExpert", meta.get("expert", is_experts))))
        return "isExpert" in content or "expert" in meta
    if "markups" not in content and "markup" not in content:
        raise ValueError("expected a document with markups, an essay, or a markup with elements or selections")
    markups = [] if content.get("markups") is None else content["markups"]
    for markup in _expect(markups, list, "markups"):
        add(markup, _expect(markup, dict, "a markup").get("isExpert", True))
    if content.get("markup") is not None:
        add(_expect(content["markup"], dict, "markup"), False)
    return True


def _expect(value: Any, kind: type, what: str) -> Any:
    """The value, which must be of this kind; else a ValueError."""
    if not isinstance(value, kind):
        found = "null" if value is None else EXPECTED.get(type(value), "a number, true or false")
        raise ValueError(f"expected {EXPECTED[kind]} as {what}, found {found}")
    return value


def experts_of(documents: pd.DataFrame) -> pd.DataFrame:
    """Turn documents into a solution.

    Parameters
    ----------
    documents : DataFrame
        One row per document, as `read_documents` returns it.

    Returns
    -------
    DataFrame
        The documents without ``markup``, and without ``text`` unless every document has one.
    """
    solution = documents.drop(columns="markup")
    return solution.drop(columns="text") if solution["text"].isna().any() else solution


def algorithms_of(documents: pd.DataFrame) -> pd.DataFrame:
    """Turn documents into a submission.

    Parameters
    ----------
    documents : DataFrame
        One row per document, as `read_documents` returns it.

    Returns
    -------
    DataFrame
        The columns ``document_id`` and ``markup``.

    Raises
    ------
    SubmissionRejected
        A document has no markup of the algorithm.
    """
    lacking = documents.loc[documents["markup"].isna(), "document_id"].tolist()
    if lacking:
        raise SubmissionRejected(
            "expected the algorithm's markup of every document, found none for "
            f"{counted(len(lacking), 'document')}: {listed(lacking)}"
        )
    return documents[["document_id", "markup"]]


def texts(evaluation: Evaluation, path: Path | None = None) -> dict[str, str]:
    """Collect the texts of the documents, for the report.

    Parameters
    ----------
    evaluation : Evaluation
        A scored submission.  The column ``text`` of its solution may have the texts.
    path : Path, optional
        A folder or a file of documents whose texts are used instead.

    Returns
    -------
    dict of str to str
        The text of each document, by its id, as far as it is known.

    Raises
    ------
    UsageError
        The path has no documents, or a file is malformed.
    """
    frame, row_id = evaluation.solution.frame, evaluation.solution.arguments["row_id_column_name"]
    if path is not None:
        frame, row_id = read_folder(path, UsageError), "document_id"
    if "text" not in frame:
        return {}
    pairs = zip(frame[row_id].astype(str).tolist(), frame["text"].tolist())
    return {document_id: text for document_id, text in pairs if isinstance(text, str)}


# ---- Pairs of markups ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Criteria:
    """The criteria by which a metric compares two markups, and how they are shown.

    Attributes
    ----------
    titles : mapping of str to str
        For each criterion its name in the paper.  The first criterion is the total.
    about : mapping of str to str
        What `Explanation.criteria_table` says about each criterion.
    table : sequence of str
        The names of four columns of that table.  They hold what `about` says, the algorithm's mean, the
        experts' mean, and the ratio of the two.
    unit : float
        The value of full agreement: 1, or 100 percent.  It is also the barrier.
    measure : str
        The measure that must pass the barrier if the algorithm is as good as the experts.
    passes : function
        Its arguments are values of the measure and the barrier; it says which values pass.
    weights : mapping of str to float
        The weights in use, for all criteria except the total.
    """

    titles: Mapping[str, str]
    about: Mapping[str, str]
    table: Sequence[str]
    unit: float
    measure: str
    passes: Callable[[Any, float], Any]
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the total and of the criteria that are compared, as a list of str."""
        return [next(iter(self.titles)), *self.weights]

    @property
    def shown(self) -> dict[str, tuple[int, str]]:
        """The position in `names` and the title of every criterion that counts.

        A criterion counts if neither its own weight nor the weight of a criterion that it is a part of is 0.
        """
        return {
            name: (number, self.titles.get(name, name))
            for number, name in enumerate(self.names)
            if all(
                self.weights.get(above, 1) > 0
                for above in itertools.accumulate(name.split("."), "{}.{}".format)
            )
        }

    def histograms(self, sides: Mapping[str, tuple[Any, Floats]]) -> dict[str, Any]:
        """Prepare the paper's figures 3 and 4, drawn over each other.

        Parameters
        ----------
        sides : mapping of str to (values, means)
            For each series two things.  The first is the list of the values of every pair of markups, one array
            of (pairs, criteria) float per document.  The second is the means of every document, (n, criteria)
            float.

        Returns
        -------
        dict
            For the title of each criterion the values and the mean of each series.
        """
        panels = {}
        for number, title in self.shown.values():
            series, lines = {}, {}
            for side, (pairs, means) in sides.items():
                series[side] = np.concatenate(pairs)[:, number]
                if not np.isnan(means[:, number]).all():
                    lines[side] = float(np.nanmean(means[:, number]))
            panels[title] = {"series": series, "lines": lines, "last": self.unit}
        return panels


def name_of(number: int) -> str:
    """Name a markup by its number.

    Parameters
    ----------
    number : int
        0 for the algorithm's markup; experts are counted from 1.

    Returns
    -------
    str
        "algorithm", or "expert" with the number.

    Examples
    --------
    >>> name_of(0), name_of(2)
    ('algorithm', 'expert 2')
    """
    return f"expert {number}" if number else ALGORITHM


def comparisons(prepared: Any, algorithm: Sequence[Any]) -> Iterator[tuple[str, int, int, Any, Any]]:
    """Go through every two markups of each document.

    Parameters
    ----------
    prepared : Prepared
        The prepared solution, with the experts' markups.
    algorithm : sequence of markups
        The algorithm's markup of each document.

    Yields
    ------
    tuple
        The id of the document, the numbers of the two markups (see `name_of`), and the two markups.
    """
    for item, experts, markup in zip(prepared.items, prepared.experts, algorithm):
        numbered = [(0, markup), *((expert.number, expert) for expert in experts)]
        for (first, one), (second, other) in itertools.combinations(numbered, 2):
            yield item, first, second, one, other


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """Replace the numbers of markups by their names.

    Parameters
    ----------
    rows : DataFrame
        Rows whose columns ``markup`` and ``against`` have numbers of markups (see `name_of`).

    Returns
    -------
    DataFrame
        The rows with names in these columns.
    """
    return rows.assign(markup=rows["markup"].map(name_of), against=rows["against"].map(name_of))


def mean(values: Floats) -> Floats:
    """Compute the mean of each column.

    Parameters
    ----------
    values : (rows, columns) float
        The values.

    Returns
    -------
    (columns,) float
        The means; NaN if there are no rows.
    """
    means: Floats = values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan)
    return means


class Explanation(contract.Explanation):
    """What both markup metrics explain about a submission; see `podium.contract.Explanation`.

    Attributes
    ----------
    documents : DataFrame
        One row per document.  Each of the two metrics makes its own table.
    criteria : Criteria
        The criteria, and how they are shown.
    with_algorithm : list of (experts, criteria) float
        For each document the criteria of the algorithm's markup with each expert's.
    algorithm_means : (n, criteria) float
        For each document the means over its experts; NaN if there is none.
    expert_means : (n, criteria) float
        For each document the means over its pairs of experts; NaN if there are none.
    experts : (n,) int
        The number of experts of each document.
    means : tuple of (criteria,) float
        Three arrays: the algorithm's means over documents, the experts' means, and the ratio of the two over
        documents with two experts.
    pairs : DataFrame
        One row for every two markups of a document, with all criteria.
    barrier : DataFrame
        One row: whether the algorithm is as good as the experts, and in which share of resamples it is.
    """

    documents: Any

    def __init__(self, evaluation: Evaluation, criteria: Criteria) -> None:
        super().__init__(evaluation)
        self.criteria, self.names = criteria, criteria.names
        self.with_algorithm: list[Floats] = evaluation.compared

    @functools.cached_property
    def algorithm_means(self) -> Floats:
        """For each document the means over its experts, (n, criteria)."""
        return np.array([mean(values) for values in self.with_algorithm])

    @functools.cached_property
    def expert_means(self) -> Floats:
        """For each document the means over its pairs of experts, (n, criteria)."""
        return np.array([mean(values) for values in self.prepared.among])

    @functools.cached_property
    def experts(self) -> Ints:
        """The number of experts of each document, (n,)."""
        return np.array([len(experts) for experts in self.prepared.experts])

    @functools.cached_property
    def means(self) -> tuple[Floats, Floats, Floats]:
        """The algorithm's means, the experts' means, and their ratio over documents with two experts."""
        two = ~np.isnan(self.expert_means[:, 0])
        algorithm, of_two = (mean(self.algorithm_means[rows]) for rows in (self.experts > 0, two))
        experts = mean(self.expert_means[two])
        return algorithm, experts, ratio(of_two, experts)

    @property
    def means_of_documents(self) -> dict[str, Floats]:
        """The means of each document, by the columns "algorithm.NAME" and "experts.NAME" of `documents`."""
        sides = (("algorithm", self.algorithm_means), ("experts", self.expert_means))
        return {f"{side}.{name}": column for side, means in sides for name, column in zip(self.names, means.T)}

    @functools.cached_property
    def criteria_table(self) -> pd.DataFrame:
        """One row per criterion, with its weight and the means of the algorithm and of the experts."""
        criteria = self.criteria
        algorithm, experts, relative = self.means
        told = [criteria.about.get(name, "") for name in self.names]
        columns = dict(zip(criteria.table, (told, algorithm, experts, criteria.unit * relative)))
        table = pd.DataFrame({"criterion": self.names} | columns)
        table.insert(2, "weight", [criteria.weights.get(name, np.nan) for name in self.names])
        return table

    @property
    def details(self) -> dict[str, pd.DataFrame]:
        """The tables of each document and of each pair of markups, which ``--json`` and ``--rows`` contain."""
        return {"document": self.documents, "pair": self.pairs}

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """One row for every two markups of a document, with all criteria."""
        rows = []
        values = zip(self.prepared.items, self.prepared.experts, self.with_algorithm, self.prepared.among)
        for item, experts, ours, theirs in values:
            numbers = [expert.number for expert in experts]
            pairs = [(0, number) for number in numbers]
            pairs += [(min(pair), max(pair)) for pair in itertools.combinations(numbers, 2)]
            for ends, criteria in sorted(zip(pairs, [*ours.tolist(), *theirs.tolist()])):
                rows.append((item, *map(name_of, ends), *criteria))
        return pd.DataFrame(rows, columns=["document_id", "markup", "against", *self.names])

    @functools.cached_property
    def barrier(self) -> pd.DataFrame:
        """One row: whether the algorithm is as good as the experts, and in which share of resamples it is."""
        name, least, passes = self.criteria.measure, self.criteria.unit, self.criteria.passes
        column = self.prepared.measure_names.index(name)
        weights = statistics.draw(len(self.statistics), statistics.RESAMPLES, 0)
        samples = statistics.resample(self.prepared, self.statistics, weights)[:, column]
        samples = samples[~np.isnan(samples)]
        value = self.evaluation.measures[name]
        row = {
            "measure": name,
            "value": value,
            "barrier": least,
            "passed": "yes" if passes(value, least) else "no",
            "probability": passes(samples, least).mean() if len(samples) else np.nan,
        }
        return pd.DataFrame([row])

    @property
    def notices(self) -> list[str]:
        """Which documents have too few experts."""
        notices = []
        for experts, described in (
            (0, "documents without an expert are left out everywhere"),
            (
                1,
                "documents with one expert are left out of "
                f"{self.criteria.measure} and of the experts' agreement",
            ),
        ):
            names = [item for item, number in zip(self.prepared.items, self.experts) if number == experts]
            if names:
                number = counted(len(names), "document")
                notices.append(f"{described}: {listed(names, NAMES_SHOWN)} ({number})")
        return notices

    def figures(
        self, title: str, averages: str, sides: Mapping[str, Any], relative: Sequence[str]
    ) -> dict[str, Any]:
        """Prepare the histograms of the report: the paper's figures 3, 4 and 5.

        Parameters
        ----------
        title : str
            The title of the figure of the criteria.
        averages : str
            The title of the panel with the means of the documents.
        sides : mapping of str to (values, corpus)
            For each series in that panel the values of the documents, and the value of the whole corpus.
        relative : sequence of str
            The measures that are relative to the experts.  Each has a panel.

        Returns
        -------
        dict
            The panels of each figure, by the figure's title.
        """
        criteria, unit = self.criteria, self.criteria.unit
        pairs = {
            AMONG: (self.prepared.among, self.expert_means),
            WITH: (self.with_algorithm, self.algorithm_means),
        }
        series = {side: values.dropna() for side, (values, _) in sides.items()}
        lines = {side: corpus for side, (_, corpus) in sides.items()}
        panels: dict[str, Any] = {averages: {"series": series, "lines": lines, "last": unit}}
        for name in relative:
            lines = {WITH: self.evaluation.measures[name], "barrier": unit}
            values = self.documents[name.lower()].dropna()
            panels[name] = {"series": {WITH: values}, "lines": lines, "last": 2 * unit}
        return {title: criteria.histograms(pairs), "Documents": panels}


def closest_markups(metric: Any, solution: pd.DataFrame, submission: pd.DataFrame) -> pd.DataFrame:
    """Choose for each document the expert's markup that agrees best with the markups of all its experts.

    Parameters
    ----------
    metric : module
        The metric file of one of the two metrics, which compares the markups.
    solution : DataFrame
        A solution of that metric.  Its first column has the documents' ids.
    submission : DataFrame
        A submission with the same ids.  Its ``markup`` is kept where a document has no expert.

    Returns
    -------
    DataFrame
        The submission with the chosen markups.  Among equally good ones, the first expert's is chosen.
    """
    with hosted.errors_explained():
        prepared = metric.prepare(solution, str(solution.columns[0]))
    cells = submission["markup"].tolist()
    markups = solution["markups"].tolist()
    for row, item in enumerate(prepared.item_of_row.tolist()):
        experts = prepared.experts[item]
        totals = dict.fromkeys((expert.number for expert in experts), 0.0)
        for pair, total in zip(itertools.combinations(experts, 2), prepared.among[item][:, 0].tolist()):
            for expert in pair:
                totals[expert.number] += total
        if totals:
            # Every markup agrees with itself completely.  So leaving that out changes nothing.
            best = max(sorted(totals), key=totals.__getitem__)
            cells[row] = json.dumps(json.loads(markups[row])[best - 1], ensure_ascii=False)
    return submission.assign(markup=cells)


# ---- Agreement without a submission ----------------------------------------------------------------------


class Agreement:
    """How well the experts of a solution agree with each other; see `podium.contract.Agreement`.

    For `podium.statistics` it plays the role of a prepared solution.  Its measures are the means of the
    criteria over the documents with two experts.

    Attributes
    ----------
    means : (n, criteria) float
        For each document the means over its pairs of experts; NaN if there are none.
    numbers : (n, criteria + 1) float
        The statistics of each document: these means, or 0 where they are NaN, and whether it has two experts.
    names : list of list of str
        The names of the experts of each document.
    criteria : DataFrame
        One row per criterion that counts: its mean and its interval.
    experts : DataFrame
        One row per expert: how well the expert agrees with the others.
    documents : DataFrame
        One row per document: the means of the criteria.
    tables, notices, histograms
        What ``podium agreement`` prints and draws.
    """

    def __init__(self, prepared: Any, solution: pd.DataFrame, criteria: Criteria) -> None:
        self.prepared, self._criteria, self.measure_names = prepared, criteria, criteria.names
        self.items, self.labels, self.groups = prepared.items, prepared.labels, prepared.groups
        self.means = np.array([mean(values) for values in prepared.among])
        two = ~np.isnan(self.means[:, 0])
        self.numbers = np.column_stack([np.where(two[:, np.newaxis], self.means, 0.0), two])
        self.names = _names_of_experts(prepared, solution)

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """Compute the means of the criteria from sums of statistics.

        Parameters
        ----------
        sums : (..., 1, criteria + 1) float
            Sums of `numbers` over any set of documents.

        Returns
        -------
        (..., criteria) float
            The means; NaN if none of the documents has two experts.
        """
        sums = np.asarray(sums, dtype=np.float64)[..., 0, :]
        return ratio(sums[..., :-1], sums[..., -1:])

    @functools.cached_property
    def criteria(self) -> pd.DataFrame:
        """The mean of every criterion that counts, with its 95% interval and the note on it."""
        table = statistics.intervals(self, self.numbers)[["measure", "value", "low", "high", "note"]]
        table = table.rename(columns={"measure": "criterion", "value": "mean"})
        places, titles = zip(*self._criteria.shown.values())
        table = table.iloc[list(places)].reset_index(drop=True)
        table.insert(1, "name", titles)
        return table

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document: its number of experts and the means of the criteria."""
        frame = pd.DataFrame(self.means, columns=self.measure_names)
        frame.insert(0, "document_id", self.items)
        frame.insert(1, "experts", [len(experts) for experts in self.prepared.experts])
        return frame

    @functools.cached_property
    def experts(self) -> pd.DataFrame:
        """One row per expert.  The expert who agrees least with the others comes first.

        The column ``agreement`` is the expert's mean agreement with the other experts of a document, averaged
        over documents.  The column ``among_others`` is the mean agreement of these others with each other, over
        documents with two or more others.  The column ``relative`` is the ratio of the two over these
        documents, as if the expert were an algorithm.
        """
        total = np.concatenate(self.prepared.among)[:, 0]
        document = np.repeat(np.arange(len(self.items)), [len(values) for values in self.prepared.among])
        pairs = [pair for names in self.names for pair in itertools.combinations(names, 2)]
        one, other = np.array(pairs, dtype=object).reshape(-1, 2).T
        rows = []
        for name in sorted({name for names in self.names for name in names}):
            own = (one == name) | (other == name)
            present = np.isin(document, document[own])
            mine = pd.Series(total[own]).groupby(document[own]).mean()
            others = pd.Series(total[present & ~own]).groupby(document[present & ~own]).mean()
            among = others.mean()
            relative = mine[others.index].mean() / among if len(others) and among > 0 else np.nan
            rows.append((name, len(mine), mine.mean(), among, relative))
        columns = ["expert", "documents", "agreement", "among_others", "relative"]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.sort_values(["relative", "agreement", "expert"], ignore_index=True)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The criteria, the experts, and the documents with the least agreement."""
        shown = ["document_id", "experts", *(name for name in self._criteria.shown if "." not in name)]
        least = self.documents.sort_values([self.measure_names[0], "document_id"])[shown].head(10)
        return {
            "Agreement of the experts": self.criteria,
            "Experts, least agreement first": self.experts,
            "Documents on which they agree least": least.reset_index(drop=True),
        }

    @property
    def notices(self) -> list[str]:
        """Which documents were left out."""
        left_out = self.documents.loc[self.documents["experts"] < 2, "document_id"].tolist()
        if not left_out:
            return []
        number = counted(len(left_out), "document")
        names = listed(left_out, NAMES_SHOWN)
        return [f"documents with fewer than two experts are left out: {names} ({number})"]

    @property
    def histograms(self) -> dict[str, Any]:
        """The histograms of the criteria among experts."""
        panels = self._criteria.histograms({AMONG: (self.prepared.among, self.means)})
        return {"Agreement of the experts": panels}


def _names_of_experts(prepared: Any, solution: pd.DataFrame) -> list[list[str]]:
    """The names of each document's experts.

    They are the names in the markups if these name every expert, and no two alike; else they are numbers.
    """
    cells = dict(zip(prepared.item_of_row.tolist(), solution["markups"].to_numpy(dtype=object)))
    names = []
    for document, experts in enumerate(prepared.experts):
        markups = json.loads(cells[document])
        candidates = ([markups[expert.number - 1].get(key) for key in EXPERT_NAMES] for expert in experts)
        names.append([next((str(own) for own in owns if own not in (None, "")), "") for owns in candidates])
    if all(all(own) and len(set(own)) == len(own) for own in names):
        return names
    return [[name_of(expert.number) for expert in experts] for experts in prepared.experts]


# For each document and each expert the marks: the start, the end and the label of what is marked.
Marks = Mapping[str, Mapping[str, Sequence[tuple[int, int, str]]]]


def marks(prepared: Any, marks_of: Callable[[Any], Iterable[tuple[int, int, str]]]) -> Marks:
    """Collect the marks of each expert of each document, as γ compares them.

    Parameters
    ----------
    prepared : Prepared
        A prepared solution of one of the two metrics.
    marks_of : function
        Its argument is an expert's markup.  It returns the start, the end and the label of each mark.

    Returns
    -------
    dict of str to dict of str to list of (int, int, str)
        The marks, by document and expert.  Marks without characters are left out, because γ is not defined for
        them.
    """
    return {
        item: {
            name_of(expert.number): [mark for mark in marks_of(expert) if mark[0] < mark[1]]
            for expert in experts
        }
        for item, experts in zip(prepared.items, prepared.experts)
    }


def gamma(documents: Marks) -> pd.DataFrame:
    """Compute γ of each document: the experts' agreement on places and labels, corrected for chance.

    Every expert takes part, also an expert who marks nothing.

    Parameters
    ----------
    documents : mapping
        The marks of each expert of each document, as `marks` returns them.

    Returns
    -------
    DataFrame
        ``document_id`` and ``gamma``, which is at most 1.  It is NaN if the document has fewer than two experts
        or no marks at all.

    Raises
    ------
    UsageError
        pygamma-agreement is not installed.

    References
    ----------
    Y. Mathet, A. Widlöcher and J.-P. Métivier, "The Unified and Holistic Method Gamma (γ) for Inter-Annotator
    Agreement Measure and Alignment", Computational Linguistics 41(3), 2015, doi 10.1162/COLI_a_00227.
    """
    try:
        from pyannote.core import Segment
        from pygamma_agreement import CombinedCategoricalDissimilarity, Continuum
    except ImportError:
        raise missing_extra("γ", "pygamma-agreement", "gamma") from None
    dissimilarity = CombinedCategoricalDissimilarity()
    values = []
    for experts in track(documents.values(), "γ", len(documents)):
        continuum = Continuum()
        for name, of_expert in experts.items():
            continuum.add_annotator(name)
            for start, end, label in of_expert:
                continuum.add(name, Segment(start, end), label)
        if len(experts) < 2 or not any(experts.values()):
            values.append(np.nan)
            continue
        np.random.seed(0)  # noqa: NPY002 (it draws its chance annotations from the global generator)
        with _quiet():
            values.append(continuum.compute_gamma(dissimilarity).gamma)
    return pd.DataFrame({"document_id": list(documents), "gamma": values})


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide what solvers print.

    Libraries in C write to file descriptor 1, not to Python's standard output.
    """
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    logging.disable(logging.WARNING)  # pygamma-agreement says for each document which solver it uses
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        # Without this, C would print what it has buffered later, when the descriptor is restored.
        c_library = ctypes.CDLL(None) if os.name == "posix" else ctypes.cdll.msvcrt
        c_library.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
        logging.disable(logging.NOTSET)
