"""What the companions of the two markup metrics share: their files, tables, figures and the experts' agreement.

They use what a hosted file prepared: ``items``, ``compare``, ``among``, and ``experts`` with their ``number``.
"""

import functools
import gzip
import itertools
import json
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium import statistics
from podium.errors import SubmissionRejected, ToolError, UsageError
from podium.files import read_bytes
from podium.progress import track
from podium.scoring import Evaluation
from podium.wording import counted, listed

__all__ = [
    "ALGORITHM",
    "Agreement",
    "Criteria",
    "Explanation",
    "algorithms_of",
    "comparisons",
    "experts_of",
    "gamma",
    "marks",
    "name_of",
    "named",
    "read_documents",
    "read_folder",
    "texts",
]

ALGORITHM = "algorithm"
# The organisers' files are in UTF-8 or in the Windows code page of Russian.
ENCODINGS = ("utf-8-sig", "cp1251")
EXPERT_NAMES = ("expert", "annotator", "id")
AMONG, WITH = "experts with each other", "algorithm with experts"

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# ---- Files -----------------------------------------------------------------------------------------------


@dataclass
class _Gathered:
    """What the files said about a document so far."""

    subjects: set[str]
    texts: set[str]
    experts: list[Any]
    algorithms: list[Any]


def read_folder(path: str | Path, error: type[ToolError]) -> pd.DataFrame:
    """Every markup in a folder of JSON files, one row per document; see `read_documents`.

    Parameters
    ----------
    path : a folder, whose files ``*.json`` and ``*.json.gz`` are read with those of its sub-folders, or a file
    error : the exception for a file that is not what it should be; of a markup that does not say whose it is,
        `SubmissionRejected` means the algorithm's, others an expert's
    """
    path = Path(path)
    files = sorted([*path.rglob("*.json"), *path.rglob("*.json.gz")]) if path.is_dir() else [path]
    if not files:
        raise error(f"{path}: expected files *.json, found none")
    return read_documents(((file, _read_json(file, error)) for file in files), error)


def _read_json(file: Path, error: type[ToolError]) -> Any:
    content = read_bytes(file)
    try:
        content = gzip.decompress(content) if file.suffix == ".gz" else content
    except (OSError, EOFError) as problem:
        raise error(f"{file}: expected a file packed by gzip, found {problem}") from None
    for encoding in ENCODINGS:
        try:
            return json.loads(content.decode(encoding))
        except UnicodeDecodeError:
            continue
        except (ValueError, RecursionError) as problem:
            raise error(f"{file}: expected JSON, found a fault: {problem}") from None
    raise error(f"{file}: expected text in UTF-8 or CP1251")


def read_documents(contents: Iterable[tuple[Path, Any]], error: type[ToolError]) -> pd.DataFrame:
    """The documents in the contents of JSON files.

    Each content is one of

    * a document: ``{"id": …, "text": …, "markups": […], "markup": {…}}``, where ``markups`` are the experts'
      unless they say ``"isExpert": false``, and ``markup`` is the algorithm's;
    * an essay as the READ//ABLE competition's program takes it, ``{"essay": {…}}``, a document with its id,
      text and markups inside;
    * one markup, with ``elements`` or ``selections``: an expert's unless it says ``"isExpert": false`` or its
      ``meta`` has an empty ``expert``; several such files may belong to one document.

    The document's id is ``id`` or ``document_id``, else ``meta.id``, else the file's name; its subject is
    ``subject`` or ``meta.subject``.  Grades may be called ``criterias``.

    Returns
    -------
    DataFrame
        ``document_id``, ``subject`` and ``text`` (None where unknown), ``markups`` (JSON, the list of the
        experts' markups) and ``markup`` (JSON, the algorithm's; None where there is none), by document id.

    Warns
    -----
    UserWarning
        A markup does not say whose it is, and is taken for an expert's.
    """
    documents: dict[str, _Gathered] = {}
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
        for name, values in (("subject", found.subjects), ("text", found.texts)):
            if len(values) > 1:
                raise error(f"document {document_id!r}: expected one {name}, found {len(values)} in its files")
        if len(found.algorithms) > 1:
            number = len(found.algorithms)
            raise error(f"document {document_id!r}: expected one markup of the algorithm, found {number}")
        subject, text = (next(iter(values), None) for values in (found.subjects, found.texts))
        rows.append((document_id, subject, text, _dump(found.experts), *map(_dump, found.algorithms or [None])))
    return pd.DataFrame(rows, columns=["document_id", "subject", "text", "markups", "markup"], dtype=object)


def _dump(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _gather(content: Any, file: Path, is_experts: bool, documents: dict[str, _Gathered]) -> bool:
    """Add what one file holds to what is known of its document; False where it does not say whose it is."""
    content = _object(content, "the file")
    content = _object(content.get("essay", content), "essay")
    meta = _object(content.get("meta") or {}, "meta")
    ids = (content.get("id"), content.get("document_id"), meta.get("id"))
    stem = file.name.removesuffix(".gz").removesuffix(".json")
    document_id = next((str(value) for value in ids if value not in (None, "")), stem)
    found = documents.setdefault(document_id, _Gathered(set(), set(), [], []))
    for key, value, values in (
        ("subject", content.get("subject", meta.get("subject")), found.subjects),
        ("text", content.get("text"), found.texts),
    ):
        if value is not None and not isinstance(value, str):
            raise ValueError(f"expected text under {key}, found {type(value).__name__}")
        if value is not None:
            values.add(value)
    if "elements" in content or "selections" in content:
        says = "isExpert" in content or "expert" in meta
        is_experts = bool(content.get("isExpert", meta.get("expert", is_experts)))
        named = {"expert": meta["expert"]} if meta.get("expert") else {}
        (found.experts if is_experts else found.algorithms).append(_markup(content) | named)
        return says
    if "markups" not in content and "markup" not in content:
        raise ValueError("expected a document with markups, an essay, or a markup with elements or selections")
    markups = content.get("markups") or []
    if not isinstance(markups, list):
        raise ValueError(f"expected a list under markups, found {type(markups).__name__}")
    for markup in markups:
        of_expert = _object(markup, "a markup").get("isExpert", True)
        (found.experts if of_expert else found.algorithms).append(_markup(markup))
    if content.get("markup") is not None:
        found.algorithms.append(_markup(_object(content["markup"], "markup")))
    return True


def _markup(content: Mapping[str, Any]) -> dict[str, Any]:
    """A markup under the keys of the hosted file, without the text, which has a column of its own."""
    markup = {name: value for name, value in content.items() if name not in ("text", "criterias")}
    return {"criteria": content["criterias"]} | markup if "criterias" in content else markup


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object as {what}, found {type(value).__name__}")
    return value


def experts_of(documents: pd.DataFrame) -> pd.DataFrame:
    """The solution among the documents, with their texts where all have one."""
    solution = documents.drop(columns="markup")
    return solution.drop(columns="text") if solution["text"].isna().any() else solution


def algorithms_of(documents: pd.DataFrame) -> pd.DataFrame:
    """The submission among the documents.

    Raises
    ------
    SubmissionRejected
        A document has no algorithm's markup.
    """
    lacking = documents.loc[documents["markup"].isna(), "document_id"].tolist()
    if lacking:
        raise SubmissionRejected(
            f"expected the algorithm's markup of every document; {counted(len(lacking), 'document')} without: "
            f"{listed(lacking)}"
        )
    return documents[["document_id", "markup"]]


def texts(evaluation: Any, path: Path | None = None) -> dict[str, str]:
    """The documents' texts, as far as the solution has them, or the folder or file at `path`.

    Raises
    ------
    UsageError
        A file is not what it should be.
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
    """How a metric's criteria are called and read.

    Attributes
    ----------
    titles : dict of each criterion, the total first, to its name in the paper
    unit : what full agreement is, 1 or 100
    measure, barrier : the relative measure, and what it must reach, or exceed where `is_strict`, for an
        algorithm to be as good as experts
    """

    titles: Mapping[str, str]
    unit: float
    measure: str
    barrier: float
    is_strict: bool


def name_of(number: int) -> str:
    """A markup's name, from its number: the algorithm's is 0, experts count from 1."""
    return f"expert {number}" if number else ALGORITHM


def comparisons(prepared: Any, algorithm: Sequence[Any]) -> Iterator[tuple[str, int, int, Any, Any]]:
    """Every two markups of each document: its id, their numbers, and the two, with these of the algorithm."""
    for item, experts, markup in zip(prepared.items, prepared.experts, algorithm):
        numbered = [(0, markup), *((expert.number, expert) for expert in experts)]
        for (first, one), (second, other) in itertools.combinations(numbered, 2):
            yield item, first, second, one, other


def pairs_of_markups(prepared: Any, algorithm: Sequence[Floats], names: Sequence[str]) -> pd.DataFrame:
    """One row per two markups of a document: document_id, first, second, and their criteria by name."""
    rows = []
    for item, experts, ours, theirs in zip(prepared.items, prepared.experts, algorithm, prepared.among):
        numbers = [expert.number for expert in experts]
        pairs = [(0, number) for number in numbers]
        pairs += [(min(pair), max(pair)) for pair in itertools.combinations(numbers, 2)]
        for (first, second), values in sorted(zip(pairs, [*ours.tolist(), *theirs.tolist()])):
            rows.append((item, name_of(first), name_of(second), *values))
    return pd.DataFrame(rows, columns=["document_id", "first", "second", *names])


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the names of the markups whose numbers stand in the columns markup and against."""
    return rows.assign(markup=rows["markup"].map(name_of), against=rows["against"].map(name_of))


def mean(values: Floats) -> Floats:
    """Means of the columns, (k,) of (n, k); NaN without rows."""
    means: Floats = values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan)
    return means


class Explanation:
    """What became of a submission's markups (see `podium.companions`); each metric adds what it alone has.

    Parameters
    ----------
    names, weighed : the criteria, and those of them that have an influence
    """

    def __init__(
        self, evaluation: Evaluation, criteria: Criteria, names: Sequence[str], weighed: Sequence[str]
    ) -> None:
        self.evaluation, self.criteria, self.names, self.weighed = evaluation, criteria, names, weighed
        self.metric, self.prepared = evaluation.solution.metric, evaluation.prepared
        # Of each document, its experts' criteria with the algorithm, (experts, criteria).
        self.with_algorithm: list[Floats] = evaluation.compared
        self.statistics: Any = evaluation.statistics

    @functools.cached_property
    def algorithm_means(self) -> Floats:
        """Means over each document's experts, (n, criteria); NaN without experts."""
        return np.array([mean(values) for values in self.with_algorithm])

    @functools.cached_property
    def expert_means(self) -> Floats:
        """Means over each document's pairs of experts, (n, criteria); NaN with fewer than two experts."""
        return np.array([mean(values) for values in self.prepared.among])

    @functools.cached_property
    def experts(self) -> Ints:
        """Number of experts of each document, (n,)."""
        return np.array([len(experts) for experts in self.prepared.experts])

    @functools.cached_property
    def means(self) -> tuple[Floats, Floats, Floats]:
        """Of each criterion the algorithm's mean, the experts', and the ratio over documents with two."""
        two = ~np.isnan(self.expert_means[:, 0])
        algorithm, of_two = (mean(self.algorithm_means[rows]) for rows in (self.experts > 0, two))
        experts = mean(self.expert_means[two])
        ratio = np.divide(of_two, experts, out=np.full(len(experts), np.nan), where=experts > 0)
        return algorithm, experts, ratio

    @property
    def means_of_documents(self) -> dict[str, Floats]:
        """Of each document the means of each criterion: ``algorithm.NAME`` and ``experts.NAME``."""
        sides = (("algorithm", self.algorithm_means), ("experts", self.expert_means))
        return {f"{side}.{name}": column for side, means in sides for name, column in zip(self.names, means.T)}

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """One row per pair of markups; see `pairs_of_markups`."""
        return pairs_of_markups(self.prepared, self.with_algorithm, self.names)

    @functools.cached_property
    def barrier(self) -> pd.DataFrame:
        """Whether the algorithm is as good as the experts: measure, value, barrier, passed, probability.

        The probability is the share of resamples of the documents that pass.
        """
        name, least = self.criteria.measure, self.criteria.barrier
        passes = operator.gt if self.criteria.is_strict else operator.ge
        column = self.prepared.measure_names.index(name)
        weights = statistics.draw(len(self.statistics), statistics.RESAMPLES, 0)
        samples = statistics.resample(self.prepared, self.statistics, weights)[:, column]
        samples = samples[~np.isnan(samples)]
        value = self.evaluation.measures[name]
        passed = "yes" if passes(value, least) else "no"
        probability = passes(samples, least).mean() if len(samples) else np.nan
        columns = ["measure", "value", "barrier", "passed", "probability"]
        return pd.DataFrame([(name, value, least, passed, probability)], columns=columns)

    @property
    def notices(self) -> list[str]:
        """Documents left out."""
        without, one = (self.experts == 0).sum(), (self.experts == 1).sum()
        notices = []
        if without:
            notices.append(f"{counted(int(without), 'document')} without expert, left out everywhere")
        if one:
            left_out = f"{self.criteria.measure} and of the experts' agreement"
            notices.append(f"{counted(int(one), 'document')} with one expert, left out of {left_out}")
        return notices

    def histograms_of_pairs(self) -> dict[str, Any]:
        """The paper's figures 3 and 4, over each other: the criteria of pairs of markups."""
        panels = {}
        among, ours = np.concatenate(self.prepared.among), np.concatenate(self.with_algorithm)
        for number, name in enumerate(self.names):
            if name in self.weighed:
                title = self.criteria.titles.get(name, name)
                values = {AMONG: among[:, number], WITH: ours[:, number]}
                corpus = {AMONG: self.expert_means[:, number], WITH: self.algorithm_means[:, number]}
                lines = {
                    key: float(np.nanmean(means)) for key, means in corpus.items() if not np.isnan(means).all()
                }
                panels[title] = {"series": values, "lines": lines, "last": self.criteria.unit}
        return panels


# ---- Agreement without a submission ----------------------------------------------------------------------


class Agreement:
    """How well the experts of a solution agree with each other.

    It is to `podium.statistics` what the hosted file's ``prepare`` makes of a solution: the measures are the
    means of the criteria over the documents with two experts, and ``numbers`` their statistics.

    Parameters
    ----------
    solution : DataFrame, from which `prepared` was made
    names, weighed : the criteria, and those of them that have an influence
    """

    def __init__(
        self,
        prepared: Any,
        solution: pd.DataFrame,
        criteria: Criteria,
        names: Sequence[str],
        weighed: Sequence[str],
    ) -> None:
        self.prepared, self.unit = prepared, criteria.unit
        self.titles = {name: criteria.titles.get(name, name) for name in names}
        self.items, self.labels, self.groups = prepared.items, prepared.labels, prepared.groups
        self.measure_names = list(names)
        self.weighed = weighed
        self.means = np.array([mean(values) for values in prepared.among])
        two = ~np.isnan(self.means[:, 0])
        self.numbers = np.column_stack([np.where(two[:, np.newaxis], self.means, 0.0), two])
        self.names = _names_of_experts(prepared, solution)

    def measures(self, sums: npt.ArrayLike) -> Floats:
        """The means of the criteria, (..., criteria), of sums over documents, (..., 1, criteria + 1)."""
        sums = np.asarray(sums, dtype=np.float64)[..., 0, :]
        two = sums[..., -1:]
        means: Floats = np.divide(sums[..., :-1], two, out=np.full(sums[..., :-1].shape, np.nan), where=two > 0)
        return means

    @functools.cached_property
    def criteria(self) -> pd.DataFrame:
        """One row per criterion that counts: criterion, name, mean, and the 95% interval, low and high."""
        table = statistics.intervals(self, self.numbers)
        table = table[["measure", "value", "low", "high"]]
        table = table.rename(columns={"measure": "criterion", "value": "mean"})
        table.insert(1, "name", list(self.titles.values()))
        return table[table["criterion"].isin(self.weighed)].reset_index(drop=True)

    @functools.cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document: document_id, experts, and the mean of every criterion over its pairs."""
        frame = pd.DataFrame(self.means, columns=self.measure_names)
        frame.insert(0, "document_id", self.items)
        frame.insert(1, "experts", [len(experts) for experts in self.prepared.experts])
        return frame

    @functools.cached_property
    def experts(self) -> pd.DataFrame:
        """One row per expert, the one who agrees least with the others first.

        Columns
        -------
        expert : the name that the markups give, else the place in the documents' lists
        documents : in which there is another expert
        agreement : of the expert with the others, the mean over these documents of the means over pairs
        among_others : of the others with each other, likewise over the documents where there are two of them
        relative : of these documents, the one over the other, as if the expert were an algorithm
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
        """The criteria, the experts, and the documents on which they agree least."""
        shown = ["document_id", "experts", *(name for name in self.weighed if "." not in name)]
        least = self.documents.sort_values([self.measure_names[0], "document_id"])[shown].head(10)
        return {
            "Agreement of the experts": self.criteria,
            "Experts, who agrees least first": self.experts,
            "Documents on which they agree least": least.reset_index(drop=True),
        }

    @property
    def notices(self) -> list[str]:
        """Documents left out."""
        number = int((self.documents["experts"] < 2).sum())
        return [f"{counted(number, 'document')} with fewer than two experts, left out"] if number else []

    @property
    def histograms(self) -> dict[str, Any]:
        """The criteria of pairs of experts, the paper's figure 3."""
        panels = {}
        for number, (name, title) in enumerate(self.titles.items()):
            if name in self.weighed:
                line = {AMONG: float(np.nanmean(self.means[:, number]))}
                series = {AMONG: np.concatenate(self.prepared.among)[:, number]}
                panels[title] = {"series": series, "lines": line, "last": self.unit}
        return {"Agreement of the experts": panels}


def _names_of_experts(prepared: Any, solution: pd.DataFrame) -> list[list[str]]:
    """The names of each document's experts: their markups' own where the experts of all documents have one."""
    cells = dict(zip(prepared.item_of_row.tolist(), solution["markups"].to_numpy(dtype=object)))
    names = []
    for document, experts in enumerate(prepared.experts):
        markups = json.loads(cells[document])
        found = ([markups[expert.number - 1].get(key) for key in EXPERT_NAMES] for expert in experts)
        names.append([next((str(own) for own in owns if own not in (None, "")), "") for owns in found])
    if all(all(own) and len(set(own)) == len(own) for own in names):
        return names
    return [[name_of(expert.number) for expert in experts] for experts in prepared.experts]


Marks = Mapping[str, Mapping[str, Sequence[tuple[int, int, str]]]]


def marks(prepared: Any, marks_of: Callable[[Any], Iterable[tuple[int, int, str]]]) -> Marks:
    """Of each document, of each expert, what `marks_of` finds in the markup, but for marks of no characters."""
    return {
        item: {
            name_of(expert.number): [mark for mark in marks_of(expert) if mark[0] < mark[1]]
            for expert in experts
        }
        for item, experts in zip(prepared.items, prepared.experts)
    }


def gamma(documents: Marks) -> pd.DataFrame:
    """γ of Mathet, Widlöcher and Métivier (2015), an agreement corrected for chance, by pygamma-agreement.

    1 is full agreement, 0 what chance would give.  It looks at places and labels only.

    Parameters
    ----------
    documents : of each document, of each expert with a mark, (start, end, label) of the marks

    Returns
    -------
    DataFrame
        document_id and gamma; NaN with marks of fewer than two experts.

    Raises
    ------
    UsageError
        pygamma-agreement is not installed.
    """
    try:
        from pyannote.core import Segment
        from pygamma_agreement import CombinedCategoricalDissimilarity, Continuum
    except ImportError:
        raise UsageError("γ needs pygamma-agreement: pip install podium[gamma]") from None
    dissimilarity = CombinedCategoricalDissimilarity()
    values = []
    for experts in track(documents.values(), "γ", len(documents)):
        continuum = Continuum()
        for name, marks in experts.items():
            for start, end, label in marks:
                continuum.add(name, Segment(start, end), label)
        np.random.seed(0)  # noqa: NPY002 (it draws its chance annotations from the global generator)
        values.append(continuum.compute_gamma(dissimilarity).gamma if continuum.num_annotators > 1 else np.nan)
    return pd.DataFrame({"document_id": list(documents), "gamma": values})
