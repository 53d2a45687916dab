"""What the companions of the two markup metrics share: files, tables, figures, the experts' agreement."""

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
EXPECTED: dict[type, str] = {dict: "an object as", list: "a list under", str: "text under"}
NAMES_SHOWN = 10
AMONG, WITH = "experts with each other", "algorithm with experts"

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# ---- Files -----------------------------------------------------------------------------------------------


def read_folder(path: str | Path, error: type[ToolError]) -> pd.DataFrame:
    """Read the documents in a JSON file, or in those of a folder and its sub-folders.

    Parameters
    ----------
    path : str or Path
        Files are named ``*.json`` or ``*.json.gz``, in UTF-8 or CP1251.
    error : type of ToolError
        What is raised for a fault in a file: `SubmissionRejected` where a submission is read, else `HostError`.

    Returns
    -------
    DataFrame
        See `read_documents`.
    """
    path = Path(path)
    files = sorted([*path.rglob("*.json"), *path.rglob("*.json.gz")]) if path.is_dir() else [path]
    if not files:
        raise error(f"{path}: expected files *.json, found none")
    return read_documents(((file, _read_json(file, error)) for file in files), error)


def _read_json(file: Path, error: type[ToolError]) -> Any:
    """What the JSON in a file says."""
    try:
        return parse_json(read_text(file, error, "cp1251"))  # as some of the organizers' files are
    except UnicodeDecodeError:
        raise error(f"{file}: expected text in UTF-8 or CP1251") from None
    except ValueError as problem:
        raise error(f"{file}: expected JSON, found a fault: {problem}") from None


def read_documents(contents: Iterable[tuple[Path, Any]], error: type[ToolError]) -> pd.DataFrame:
    """Gather the markups in JSON files by document.

    A content is a document ``{"id": …, "text": …, "markups": […], "markup": {…}}``, of which the last one is
    the algorithm's markup; or ``{"essay": {…}}`` around such a document; or one markup.  Whose a markup is
    says ``isExpert``, else ``meta.expert``.  Where neither is there, it is the algorithm's if a submission is
    read, or an expert's, with a warning, if a solution is.

    Parameters
    ----------
    contents : iterable of (Path, content)
        What the JSON in each file says.
    error : type of ToolError
        As in `read_folder`.

    Returns
    -------
    DataFrame
        One row per document, by id: ``document_id``, ``subject``, ``text``, and in JSON ``markups`` (the
        experts') and ``markup`` (the algorithm's); None where unknown.

    Raises
    ------
    ToolError
        `error`, where a file has another form, or a document has two texts, subjects or markups of the
        algorithm.

    Warns
    -----
    UserWarning
        How many markups were taken for experts'.
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
            f"{counted(len(unsaid), 'file')} without meta.expert, taken for experts' markups: {listed(unsaid)}",
            stacklevel=2,
        )
    rows = []
    for document_id, found in sorted(documents.items()):
        for name, what in (("subject", "subject"), ("text", "text"), ("algorithm", "markup of the algorithm")):
            if len(found[name]) > 1:
                number = len(found[name])
                raise error(f"document {document_id!r}: expected one {what}, found {number} in its files")
        subject, text, markup = (next(iter(found[name]), None) for name in ("subject", "text", "algorithm"))
        rows.append((document_id, subject, text, _dump(found["expert"]), _dump(markup)))
    return pd.DataFrame(rows, columns=["document_id", "subject", "text", "markups", "markup"], dtype=object)


def _dump(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _gather(content: Any, file: Path, is_experts: bool, documents: dict[str, dict[str, Any]]) -> bool:
    """Add a file's content to its document; False where it does not say whose it is."""
    content = _expect(content, dict, "the file")
    content = _expect(content.get("essay", content), dict, "essay")
    meta = _expect(content.get("meta") or {}, dict, "meta")
    ids = (content.get("id"), content.get("document_id"), meta.get("id"))
    stem = file.name.removesuffix(".gz").removesuffix(".json")
    document_id = next((str(value) for value in ids if value not in (None, "")), stem)
    found = documents.setdefault(document_id, {"subject": set(), "text": set(), "expert": [], "algorithm": []})
    about = {"subject": content.get("subject", meta.get("subject")), "text": content.get("text")}
    for key, value in about.items():
        if value is not None:
            found[key].add(_expect(value, str, key))

    def add(markup: Mapping[str, Any], is_experts: bool) -> None:
        grades = {"criteria": markup["criterias"]} if "criterias" in markup else {}
        kept = {name: value for name, value in markup.items() if name not in ("text", "criterias")}
        found["expert" if is_experts else "algorithm"].append(grades | kept)

    if "elements" in content or "selections" in content:
        named = {"expert": meta["expert"]} if meta.get("expert") else {}
        add(content | named, bool(content.get("isExpert", meta.get("expert", is_experts))))
        return "isExpert" in content or "expert" in meta
    if "markups" not in content and "markup" not in content:
        raise ValueError("expected a document with markups, an essay, or a markup with elements or selections")
    for markup in _expect(content.get("markups") or [], list, "markups"):
        add(markup, _expect(markup, dict, "a markup").get("isExpert", True))
    if content.get("markup") is not None:
        add(_expect(content["markup"], dict, "markup"), False)
    return True


def _expect(value: Any, kind: type, what: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"expected {EXPECTED[kind]} {what}, found {type(value).__name__}")
    return value


def experts_of(documents: pd.DataFrame) -> pd.DataFrame:
    """The documents of `read_documents` as a solution, with ``text`` only if all documents have one."""
    solution = documents.drop(columns="markup")
    return solution.drop(columns="text") if solution["text"].isna().any() else solution


def algorithms_of(documents: pd.DataFrame) -> pd.DataFrame:
    """The documents of `read_documents` as a submission; each must have a markup of the algorithm."""
    lacking = documents.loc[documents["markup"].isna(), "document_id"].tolist()
    if lacking:
        raise SubmissionRejected(
            f"expected the algorithm's markup of every document; {counted(len(lacking), 'document')} without: "
            f"{listed(lacking)}"
        )
    return documents[["document_id", "markup"]]


def texts(evaluation: Evaluation, path: Path | None = None) -> dict[str, str]:
    """The documents' texts, for the report.

    Parameters
    ----------
    evaluation : Evaluation
        A scored submission, in whose solution the texts may be.
    path : Path, optional
        A folder or a file of documents with their texts, instead of those.

    Returns
    -------
    dict of str to str
        By document, as far as known.
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
        The names in the paper, by our names; the total is the first one.
    about : mapping of str to str
        What `Explanation.criteria_table` tells of each criterion.
    table : sequence of str
        Four columns of that table: what `about` says, the algorithm's mean, the experts', and their ratio.
    unit : float
        Full agreement, which is the barrier, too: 1, or 100 percent.
    measure : str
        The measure that must pass the barrier for an algorithm as good as experts.
    passes : function of values and the barrier
        Which of them do.
    weights : mapping of str to float
        The weights in use, of all criteria but the total.
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
        """The total and the criteria that are compared."""
        return [next(iter(self.titles)), *self.weights]

    @property
    def shown(self) -> dict[str, tuple[int, str]]:
        """The place and the title of every criterion that counts: its weight and those above it are not 0."""
        return {
            name: (number, self.titles.get(name, name))
            for number, name in enumerate(self.names)
            if all(
                self.weights.get(above, 1) > 0
                for above in itertools.accumulate(name.split("."), "{}.{}".format)
            )
        }

    def histograms(self, sides: Mapping[str, tuple[Any, Floats]]) -> dict[str, Any]:
        """The paper's figures 3 and 4 over each other.

        Parameters
        ----------
        sides : mapping of str to (values, means)
            For each series the values of every pair, one array of (pairs, criteria) per document, and the means
            of every document, (n, criteria).
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
    """The algorithm is number 0; experts count from 1."""
    return f"expert {number}" if number else ALGORITHM


def comparisons(prepared: Any, algorithm: Sequence[Any]) -> Iterator[tuple[str, int, int, Any, Any]]:
    """Every two markups of each document: its id, their numbers (see `name_of`), and the markups.

    Parameters
    ----------
    prepared : Prepared
    algorithm : sequence of markups
        One for each document.
    """
    for item, experts, markup in zip(prepared.items, prepared.experts, algorithm):
        numbered = [(0, markup), *((expert.number, expert) for expert in experts)]
        for (first, one), (second, other) in itertools.combinations(numbered, 2):
            yield item, first, second, one, other


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows whose markups have numbers, with the names of these."""
    return rows.assign(markup=rows["markup"].map(name_of), against=rows["against"].map(name_of))


def mean(values: Floats) -> Floats:
    """Means of the columns; NaN without rows."""
    means: Floats = values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan)
    return means


class Explanation(contract.Explanation):
    """What both markup metrics tell of a submission.

    Attributes
    ----------
    documents : DataFrame
        One row per document.  Each metric makes its own.
    criteria : Criteria
    with_algorithm : list of (experts, criteria) float
        For each document, the algorithm compared with every expert.
    algorithm_means, expert_means : (n, criteria) float
        Means over a document's experts, and over its pairs of experts; NaN where there are none.
    experts : (n,) int
        The number of experts of each document.
    means : tuple of (criteria,) float
        The algorithm's mean over documents, the experts', and the ratio over documents with two experts.
    pairs : DataFrame
        One row for every two markups of a document, with all criteria.
    barrier : DataFrame
        Whether the algorithm is as good as the experts, and in which share of resamples it is.
    """

    documents: Any

    def __init__(self, evaluation: Evaluation, criteria: Criteria) -> None:
        super().__init__(evaluation)
        self.criteria, self.names = criteria, criteria.names
        self.with_algorithm: list[Floats] = evaluation.compared  # of each document, (experts, criteria)

    @functools.cached_property
    def algorithm_means(self) -> Floats:
        """Over each document's experts, (n, criteria)."""
        return np.array([mean(values) for values in self.with_algorithm])

    @functools.cached_property
    def expert_means(self) -> Floats:
        """Over each document's pairs of experts, (n, criteria)."""
        return np.array([mean(values) for values in self.prepared.among])

    @functools.cached_property
    def experts(self) -> Ints:
        return np.array([len(experts) for experts in self.prepared.experts])

    @functools.cached_property
    def means(self) -> tuple[Floats, Floats, Floats]:
        """The algorithm's, the experts', and their ratio over documents with two experts."""
        two = ~np.isnan(self.expert_means[:, 0])
        algorithm, of_two = (mean(self.algorithm_means[rows]) for rows in (self.experts > 0, two))
        experts = mean(self.expert_means[two])
        return algorithm, experts, ratio(of_two, experts)

    @property
    def means_of_documents(self) -> dict[str, Floats]:
        """The columns of criteria in `documents`: "algorithm.NAME" and "experts.NAME"."""
        sides = (("algorithm", self.algorithm_means), ("experts", self.expert_means))
        return {f"{side}.{name}": column for side, means in sides for name, column in zip(self.names, means.T)}

    @functools.cached_property
    def criteria_table(self) -> pd.DataFrame:
        """One row per criterion, with its weight and the means of both sides."""
        criteria = self.criteria
        algorithm, experts, relative = self.means
        told = [criteria.about.get(name, "") for name in self.names]
        columns = dict(zip(criteria.table, (told, algorithm, experts, criteria.unit * relative)))
        table = pd.DataFrame({"criterion": self.names} | columns)
        table.insert(2, "weight", [criteria.weights.get(name, np.nan) for name in self.names])
        return table

    @property
    def details(self) -> dict[str, pd.DataFrame]:
        """The values of each document and of each pair of markups."""
        return {"document": self.documents, "pair": self.pairs}

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """The criteria of every two markups of a document."""
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
        """Whether the algorithm is as good as the experts, and in which share of resamples."""
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
        notices = []
        for experts, described in (
            (0, "without expert, left out everywhere"),
            (1, f"with one expert, left out of {self.criteria.measure} and of the experts' agreement"),
        ):
            names = [item for item, number in zip(self.prepared.items, self.experts) if number == experts]
            if names:
                notices.append(f"{counted(len(names), 'document')} {described}: {listed(names, NAMES_SHOWN)}")
        return notices

    def figures(
        self, title: str, averages: str, sides: Mapping[str, Any], relative: Sequence[str]
    ) -> dict[str, Any]:
        """The histograms of the report: the paper's figures 3 and 4, and 5.

        Parameters
        ----------
        title : str
            Of the figure of the criteria.
        averages : str
            The title of the panel with the documents' means.
        sides : mapping of str to (values, corpus)
            For each series in that panel the documents' values and the corpus's.
        relative : sequence of str
            The measures that are relative to the experts, a panel each.
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
    """For each document the expert's markup that agrees best with all experts' on average, itself among them.

    Parameters
    ----------
    metric : module
        The metric file of either metric, with whose stages markups are compared.
    solution : DataFrame
        As the metric takes it; its first column has the ids.
    submission : DataFrame
        The same ids and ``markup``, which stays where a document has no expert.

    Returns
    -------
    DataFrame
        The submission with these markups; of equal ones the first expert's.
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
            # Every markup agrees with itself completely, so that this term is the same for all of them.
            best = max(sorted(totals), key=totals.__getitem__)
            cells[row] = json.dumps(json.loads(markups[row])[best - 1], ensure_ascii=False)
    return submission.assign(markup=cells)


# ---- Agreement without a submission ----------------------------------------------------------------------


class Agreement:
    """How well the experts of a solution agree; see `podium.contract.Agreement`.

    To `podium.statistics` it is what ``prepare`` gives: its measures are the criteria's means over documents
    with two experts.

    Attributes
    ----------
    means : (n, criteria) float
        Means over each document's pairs of experts; NaN where there are none.
    numbers : (n, criteria + 1) float
        The statistics: these means, or 0, and whether the document has two experts.
    names : list of list of str
        The names of each document's experts.
    criteria, experts, documents : DataFrame
        One row per criterion, expert, and document.
    """

    def __init__(self, prepared: Any, solution: pd.DataFrame, criteria: Criteria) -> None:
        self.prepared, self._criteria, self.measure_names = prepared, criteria, criteria.names
        self.items, self.labels, self.groups = prepared.items, prepared.labels, prepared.groups
        self.means = np.array([mean(values) for values in prepared.among])
        two = ~np.isnan(self.means[:, 0])
        self.numbers = np.column_stack([np.where(two[:, np.newaxis], self.means, 0.0), two])
        self.names = _names_of_experts(prepared, solution)

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The means of the criteria, (…, criteria), from sums of `numbers`, (…, 1, criteria + 1)."""
        sums = np.asarray(sums, dtype=np.float64)[..., 0, :]
        return ratio(sums[..., :-1], sums[..., -1:])

    @functools.cached_property
    def criteria(self) -> pd.DataFrame:
        """The mean of every criterion that counts, with its 95% interval."""
        table = statistics.intervals(self, self.numbers)[["measure", "value", "low", "high"]]
        table = table.rename(columns={"measure": "criterion", "value": "mean"})
        places, titles = zip(*self._criteria.shown.values())
        table = table.iloc[list(places)].reset_index(drop=True)
        table.insert(1, "name", titles)
        return table

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        frame = pd.DataFrame(self.means, columns=self.measure_names)
        frame.insert(0, "document_id", self.items)
        frame.insert(1, "experts", [len(experts) for experts in self.prepared.experts])
        return frame

    @functools.cached_property
    def experts(self) -> pd.DataFrame:
        """One row per expert, the one who agrees least first; means over documents of means over pairs.

        agreement, among_others : with the others, and of these with each other where there are two
        relative : in the latter documents the one over the other, as if the expert were an algorithm
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
        shown = ["document_id", "experts", *(name for name in self._criteria.shown if "." not in name)]
        least = self.documents.sort_values([self.measure_names[0], "document_id"])[shown].head(10)
        return {
            "Agreement of the experts": self.criteria,
            "Experts, who agrees least first": self.experts,
            "Documents on which they agree least": least.reset_index(drop=True),
        }

    @property
    def notices(self) -> list[str]:
        left_out = self.documents.loc[self.documents["experts"] < 2, "document_id"].tolist()
        if not left_out:
            return []
        number = counted(len(left_out), "document")
        return [f"{number} with fewer than two experts, left out: {listed(left_out, NAMES_SHOWN)}"]

    @property
    def histograms(self) -> dict[str, Any]:
        panels = self._criteria.histograms({AMONG: (self.prepared.among, self.means)})
        return {"Agreement of the experts": panels}


def _names_of_experts(prepared: Any, solution: pd.DataFrame) -> list[list[str]]:
    """The markups' own where all have one."""
    cells = dict(zip(prepared.item_of_row.tolist(), solution["markups"].to_numpy(dtype=object)))
    names = []
    for document, experts in enumerate(prepared.experts):
        markups = json.loads(cells[document])
        found = ([markups[expert.number - 1].get(key) for key in EXPERT_NAMES] for expert in experts)
        names.append([next((str(own) for own in owns if own not in (None, "")), "") for owns in found])
    if all(all(own) and len(set(own)) == len(own) for own in names):
        return names
    return [[name_of(expert.number) for expert in experts] for experts in prepared.experts]


# Of each document, for each expert: start, end and label of what is marked.
Marks = Mapping[str, Mapping[str, Sequence[tuple[int, int, str]]]]


def marks(prepared: Any, marks_of: Callable[[Any], Iterable[tuple[int, int, str]]]) -> Marks:
    """The marks of each expert of each document, as γ compares them.

    Parameters
    ----------
    prepared : Prepared
        A solution of either metric.
    marks_of : function of an expert's markup
        Its marks: start, end and label.

    Returns
    -------
    dict
        By document and expert; marks of no characters, which γ does not know, are left out.
    """
    return {
        item: {
            name_of(expert.number): [mark for mark in marks_of(expert) if mark[0] < mark[1]]
            for expert in experts
        }
        for item, experts in zip(prepared.items, prepared.experts)
    }


def gamma(documents: Marks) -> pd.DataFrame:
    """γ of each document: agreement on places and labels, corrected for chance.

    Every expert takes part, also one who marks nothing.

    Parameters
    ----------
    documents : mapping
        The marks of each expert of each document; see `marks`.

    Returns
    -------
    DataFrame
        ``document_id`` and ``gamma``, at most 1; NaN where there are fewer than two experts or no marks at all.

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
    """Without what solvers print: libraries in C write to file descriptor 1, past Python's standard output."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    logging.disable(logging.WARNING)  # pygamma-agreement says for each document which solver it uses
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        # What C has buffered would come out later, with the descriptor restored.
        c_library = ctypes.CDLL(None) if os.name == "posix" else ctypes.cdll.msvcrt
        c_library.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
        logging.disable(logging.NOTSET)
