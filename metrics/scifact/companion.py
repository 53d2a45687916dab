"""The companion of the SciFact metric: its official files, and what became of claims, abstracts and sentences.

The functions and the class are the members of `companion`, which `podium.metric.contract.Companion` describes.
"""

import functools
import itertools
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from podium.common.errors import AccountWarning, HostError, SubmissionRejected, ToolError, UsageError
from podium.common.wording import counted, natural_order
from podium.metric import contract
from podium.metric.contract import Companion, PreparedSolution, ScoredSubmission
from podium.tables.files import read_lines

from . import metric

TEXT_COLUMNS = ("claim_id", "evidence")

# If the abstracts of a claim have several of these outcomes, the claim has the first one that is a fault.
OUTCOMES = (
    "correct",
    "wrong label",
    "evidence incomplete",
    "beyond the first three",
    "not in gold",
    "repeated",
    "missed",
)
CORRECT, WRONG_LABEL, INCOMPLETE, BEYOND, NOT_IN_GOLD, REPEATED, MISSED = OUTCOMES

AS_FLOAT = re.compile(r"\d+\.0")  # an id as pandas writes it where other cells are empty
FEWEST_ABSTRACTS = 5  # of which none is in the gold, before their ids seem to be others
LABELS_ALONE = "abstract_label_only"  # the credit that needs no sentences
MUCH_BETTER = 0.05  # a gain of the score that a shift of all sentences does not give by chance

EXPECTED_LINE = "one JSON object per line, with an id (a whole number or text) and evidence (an object)"
EXPECTED_DOCUMENT = "one JSON object per line, with doc_id, title (text) and abstract (a list of texts)"

# ---- Official files --------------------------------------------------------------------------------------


def read_solution(path: str | Path) -> pd.DataFrame:
    """Read the gold from an official file: a JSON object per line, with id, claim, evidence and
    cited_doc_ids.
    """
    return _read_claims(path, HostError)


def read_submission(path: str | Path) -> pd.DataFrame:
    """Read predictions from an official file: a JSON object per line, with id and evidence."""
    return _read_claims(path, SubmissionRejected).drop(columns="claim")


def sample_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """Make a submission that shows the form. It has no evidence for any claim."""
    return solution[[solution.columns[0]]].assign(evidence="{}")


def perfect_submission(solution: pd.DataFrame) -> pd.DataFrame:
    """Make a submission of the gold, in which each abstract has the sentences of all its evidence sets.

    The sentences of an abstract's smallest set come first. So a whole set is among the sentences that count
    for ``abstract_rationalized``.
    """

    def predicted(cell: object) -> str:
        gold = metric.parse_gold(cell)
        return json.dumps(
            {
                document: {
                    "sentences": list(dict.fromkeys(itertools.chain(*sorted(sets, key=len)))),
                    "label": label,
                }
                for document, (label, sets) in gold.items()
            }
        )

    return solution[[solution.columns[0]]].assign(evidence=solution["evidence"].map(predicted))


class _Claim(NamedTuple):
    """A claim in an official file, or one of its evidence sets in a row of the Hugging Face data set."""

    number: str
    evidence: dict[str, Any]
    text: str | None
    is_set: bool = False


def _read_claims(path: str | Path, error: type[ToolError]) -> pd.DataFrame:
    """The id, the evidence and the text of the claim in each line; `error` is raised for a wrong line."""
    claims = read_lines(path, _claim, EXPECTED_LINE, error)
    whole: dict[str, _Claim] = {}
    for claim in (claim for claim in claims if claim.is_set):
        evidence = whole.setdefault(claim.number, claim._replace(evidence={})).evidence
        for document, sets in claim.evidence.items():
            evidence.setdefault(document, []).extend(sets)
    claims = [*(claim for claim in claims if not claim.is_set), *whole.values()]
    rewritten = sorted({key for claim in claims for key in claim.evidence if AS_FLOAT.fullmatch(key)})
    if rewritten:
        told = f"are read as whole numbers: {counted(len(rewritten), 'abstract')}, such as {rewritten[0]}"
        warnings.warn(f"ids that pandas wrote as decimals {told}", AccountWarning, stacklevel=3)
    rows = [
        (claim.number, json.dumps({_whole(key): said for key, said in claim.evidence.items()}), claim.text)
        for claim in claims
    ]
    # A claim may contain half of a surrogate pair, which columns of text reject; so the columns are of objects.
    return pd.DataFrame(rows, columns=["claim_id", "evidence", "claim"], dtype=object).astype({"claim_id": str})


def _whole(key: str) -> str:
    """The id of an abstract, without the decimal point that pandas writes where a column has empty cells."""
    return key.removesuffix(".0") if AS_FLOAT.fullmatch(key) else key


def _claim(line: str) -> _Claim:
    """The claim in a line; a ValueError says what is wrong."""
    shown, entry = metric.shown, metric.parse_object(line)
    is_set = "evidence_doc_id" in entry and "evidence" not in entry
    if is_set:
        document, label, sentences = (entry.get(f"evidence_{key}") for key in ("doc_id", "label", "sentences"))
        of_set = {"sentences": sentences, "label": label}
        entry = {**entry, "evidence": {str(document): [of_set]} if document not in ("", None) else {}}
    lacking = [key for key in ("id", "evidence") if key not in entry]
    if lacking:
        raise ValueError(f"no {' and no '.join(lacking)}")
    number, evidence, text = entry["id"], entry["evidence"], entry.get("claim")
    if type(number) is float and number.is_integer():
        number = int(number)
    if type(number) not in (int, str):
        raise ValueError(f"id is {shown(number)}")
    if type(evidence) is not dict:
        raise ValueError(f"evidence is {shown(evidence)}")
    try:
        str(number).encode()
    except UnicodeEncodeError:
        raise ValueError("an id with an incomplete character") from None
    return _Claim(str(number), evidence, text if type(text) is str else None, is_set)


def texts(evaluation: ScoredSubmission, path: Path | None = None) -> dict[str, str]:
    """Collect the texts of the claims, and of the abstracts in the gold or in the submission, for
    the report.
    """
    rows: pd.DataFrame = evaluation.explanation.rows
    named = set(rows["abstract"].dropna())
    corpus: dict[str, tuple[str, list[str]]] = {}
    if path is not None:
        documents = read_lines(path, _document, EXPECTED_DOCUMENT, UsageError)
        corpus = {document: content for document, content in documents if document in named}
        if named and not corpus:
            raise UsageError(f"{path} has none of the {len(named):,} abstracts that gold and predictions name")
    solution = evaluation.solution
    paragraphs: dict[str, list[str]] = {}
    if "claim" in solution.frame:
        claims = solution.frame["claim"][solution.rows["All"]]
        for item, claim in zip(evaluation.prepared.item_of_row.tolist(), claims.tolist()):
            if isinstance(claim, str):
                paragraphs[evaluation.prepared.items[item]] = [f"Claim: {claim}"]
    known = rows[rows["abstract"].isin(list(corpus))].fillna({"sentence": -1})  # -1: the abstract itself
    said = known["side"].map({"prediction": "predicted: ", "truth": "gold: "}) + known["outcome"]
    marks = said.groupby([known[key] for key in ("claim_id", "abstract", "sentence")]).agg(", ".join).to_dict()
    for claim_id, document in dict.fromkeys(zip(known["claim_id"], known["abstract"])):
        title, sentences = corpus[document]
        lines = [f"Abstract {document}: {title}", *(f"{n}. {text.strip()}" for n, text in enumerate(sentences))]
        for n, line in enumerate(lines):
            mark = marks.get((claim_id, document, n - 1))
            lines[n] = f"{line} [{mark}]" if mark else line
        paragraphs.setdefault(claim_id, []).append("\n".join(lines))
    return {claim_id: "\n\n".join(parts) for claim_id, parts in paragraphs.items()}


def _document(line: str) -> tuple[str, tuple[str, list[str]]]:
    """The id, the title and the sentences of the abstract in a line; a ValueError says what is wrong."""
    shown, entry = metric.shown, metric.parse_object(line)
    kinds: dict[str, tuple[type, ...]] = {"doc_id": (int, str), "title": (str,), "abstract": (list,)}
    for key, kind in kinds.items():
        if type(entry.get(key)) not in kind:
            raise ValueError(f"{key} is {shown(entry.get(key))}")
    for sentence in entry["abstract"]:
        if type(sentence) is not str:
            raise ValueError(f"{shown(sentence)} among the sentences")
    return str(entry["doc_id"]), (entry["title"], entry["abstract"])


def official_json(measures: Mapping[str, float]) -> dict[str, float]:
    """Give the twelve measures under the names that the leaderboard's program writes to metrics.json."""
    return {name: value for name, value in measures.items() if name != "score"}


# ---- What became of everything ---------------------------------------------------------------------------


def asked(solution: PreparedSolution) -> pd.DataFrame:
    """List the abstracts in the gold, with their claim and their label."""
    prepared: Any = solution.prepared["All"]
    rows = [
        (claim_id, document, label)
        for claim_id, gold in zip(prepared.items, prepared.gold)
        for document, (label, _) in gold.items()
    ]
    return pd.DataFrame(rows, columns=["item", "row", "label"], dtype=object)


def answered(evaluation: ScoredSubmission) -> pd.DataFrame:
    """Tell the label that a submission gives to each abstract in the gold."""
    prepared: Any = evaluation.prepared
    answers = prepared.read(evaluation.submission, lambda gold, predicted: predicted)
    rows = [
        (answer[document][0] if document in answer else "", bool(answer))
        for gold, answer in zip(prepared.gold, answers)
        for document in gold
    ]
    table = pd.DataFrame(rows, columns=["answer", "is_answered"])
    return table.assign(probability=np.nan)


class Explanation(contract.Explanation):
    """What became of every claim, abstract and sentence; see `podium.metric.contract.Explanation`.

    The claims are in the order of their ids, and so are the abstracts of a claim. Ids that are whole numbers
    are ordered as numbers.
    """

    roles: ClassVar = {"item": "claim_id", "label": "label", "outcome": "outcome"}

    @functools.cached_property
    def _claims(self) -> list[tuple[str, list[tuple[str, Any, Any]]]]:
        """Each claim's id and its abstracts: the id, the gold and the answer, None where a side has none."""
        answers = self.prepared.read(self.submission, lambda gold, predicted: predicted)
        claims = sorted(
            zip(self.prepared.items, self.prepared.gold, answers), key=lambda claim: natural_order(claim[0])
        )
        return [
            (
                claim_id,
                [
                    (document, gold.get(document), answer.get(document))
                    for document in sorted({**gold, **answer}, key=natural_order)
                ],
            )
            for claim_id, gold, answer in claims
        ]

    @property
    def counts(self) -> pd.DataFrame:
        """One row per kind of credit: what is relevant, retrieved and correct."""
        totals = self.statistics.sum(axis=0).astype(np.int64)
        of_units = totals[:4].reshape(2, 2).repeat(2, axis=0)  # two credits for abstracts, two for sentences
        numbers = np.column_stack([of_units, totals[4:]])
        return pd.DataFrame(numbers, list(self.metric.CREDITS), ["relevant", "retrieved", "correct"])

    @functools.cached_property
    def claims(self) -> pd.DataFrame:
        """One row for each abstract of a claim, or one row for a claim without abstracts."""
        rows: list[tuple[Any, ...]] = []
        for claim_id, abstracts in self._claims:
            for document, truth, answer in abstracts:
                gold, predicted = ({} if said is None else {document: said} for said in (truth, answer))
                labels = truth and truth[0], answer and answer[0]
                outcome = self._outcome(truth, answer)
                rows.append((claim_id, document, *labels, outcome, *self.metric.count(gold, predicted)[2:]))
            if not abstracts:
                rows.append((claim_id, None, None, None, CORRECT, 0, 0, 0, 0, 0, 0))
        texts = ["claim_id", "abstract", "gold_label", "predicted_label", "outcome"]
        numbered = ["relevant", "retrieved", "label_only", "rationalized", "selection", "sentence_label"]
        return pd.DataFrame(rows, columns=texts + numbered, dtype=object).astype(dict.fromkeys(numbered, int))

    @functools.cached_property
    def rows(self) -> pd.DataFrame:
        """One row for each claim, and for each abstract and sentence of the gold and of the submission."""
        rows: list[tuple[Any, ...]] = []
        for claim_id, abstracts in self._claims:
            outcomes = [self._outcome(truth, answer) for _, truth, answer in abstracts]
            worst = min((name for name in outcomes if name != CORRECT), key=OUTCOMES.index, default=CORRECT)
            rows.append(("claim", "prediction", claim_id, None, None, None, None, None, worst))
            for (document, truth, answer), outcome in zip(abstracts, outcomes):
                for side, of_side in (("prediction", answer), ("truth", truth)):
                    if of_side is not None:
                        rows.append(
                            ("abstract", side, claim_id, document, None, of_side[0], None, None, outcome)
                        )
                for row in self._sentences(truth, answer):
                    rows.append(("sentence", row[0], claim_id, document, *row[1:]))
        columns = ["level", "side", "claim_id", "abstract", "sentence", "label", "place", "evidence_set"]
        table = pd.DataFrame(rows, columns=[*columns, "outcome"], dtype=object)
        return table.astype(dict.fromkeys(("sentence", "place", "evidence_set"), "Int64"))

    def _outcome(self, truth: Any, answer: Any) -> str:
        """The outcome of an abstract, from its gold and the answer; either may be None."""
        if answer is None:
            return MISSED
        if truth is None:
            return NOT_IN_GOLD
        right_label, rationalized, selected, _ = self.metric.judge(truth, answer)
        if not right_label:
            return WRONG_LABEL
        if not selected:
            return INCOMPLETE
        return CORRECT if rationalized else BEYOND

    def _sentences(self, truth: Any, answer: Any) -> Iterator[tuple[Any, ...]]:
        """The side, sentence, label, place, evidence set and outcome of each sentence of an abstract."""
        gold_label, sets = truth or (None, ())
        label, sentences = answer or (None, ())
        listed = set(sentences)
        complete = [listed.issuperset(of_set) for of_set in sets]
        right = CORRECT if label == gold_label else WRONG_LABEL
        # The set that counts for a sentence is the first complete set that holds it. If none of them is
        # complete, it is the first set that holds it.
        set_of: dict[int, int] = {}
        for n in sorted(range(len(sets)), key=lambda n: not complete[n]):
            for sentence in sets[n]:
                set_of.setdefault(sentence, n)
        seen: set[int] = set()
        for place, sentence in enumerate(sentences, start=1):
            n = set_of.get(sentence, -1)
            became = NOT_IN_GOLD if n < 0 else right if complete[n] else INCOMPLETE
            yield (
                *("prediction", sentence, label, place, None if n < 0 else n + 1),
                REPEATED if sentence in seen else became,
            )
            seen.add(sentence)
        for n, of_set in enumerate(sets):
            for sentence in of_set:
                became = MISSED if sentence not in listed else right if complete[n] else INCOMPLETE
                yield "truth", sentence, gold_label, None, n + 1, became

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The measures, and how often each outcome occurred."""
        measures = self.counts
        measures[["precision", "recall", "f1"]] = self.metric.precision_recall_f1(*measures.to_numpy().T)
        columns = {
            "claims": ("claim", "prediction"),
            "predicted_abstracts": ("abstract", "prediction"),
            "gold_abstracts": ("abstract", "truth"),
            "predicted_sentences": ("sentence", "prediction"),
            "gold_sentences": ("sentence", "truth"),
        }
        outcomes = pd.crosstab(self.rows["outcome"], [self.rows["level"], self.rows["side"]])
        outcomes = outcomes.reindex(index=OUTCOMES, columns=list(columns.values()), fill_value=0)
        return {
            "Measures": measures.rename_axis("credit").reset_index(),
            "Outcomes": outcomes.set_axis(list(columns), axis=1).reset_index(),
        }

    @property
    def notices(self) -> list[str]:
        """What the participant should know about the submission."""
        predicted = self.rows[self.rows["side"] == "prediction"]
        numbers = Counter(zip(predicted["level"], predicted["outcome"]))
        notices = []
        if predicted["level"].eq("claim").all():
            notices.append("the submission predicts no evidence, so its precision is 0 / 0, which counts as 0")
        if beyond := numbers["abstract", BEYOND]:
            notices.append(
                f"for {counted(beyond, 'abstract')} the label is right and a whole evidence set is listed, but "
                f"not among the first {self.metric.FIRST_SENTENCES} sentences; list the surest sentences first"
            )
        if repeated := numbers["sentence", REPEATED]:
            number = counted(repeated, "sentence")
            notices.append(f"a sentence that stands earlier in the same list counts as wrong: {number}")
        return notices + [sentence for _, sentence in self.mistakes]

    @functools.cached_property
    def mistakes(self) -> list[tuple[str, str]]:
        """Say that sentences seem to be counted from 1, or that abstracts seem to be of another corpus."""
        answers = self.prepared.read(self.submission, lambda gold, predicted: predicted)
        if told := self._without_sentences(answers):
            return [("labels without sentences", told)]
        predicted = sorted({document for answer in answers for document in answer}, key=natural_order)
        known = {document for gold in self.prepared.gold for document in gold}
        if len(predicted) >= FEWEST_ABSTRACTS and known.isdisjoint(predicted):
            told = f"none of the {len(predicted):,} abstracts of the submission is in the gold"
            where = f"are ids such as {predicted[0]!r} those of another corpus?"
            return [("abstracts of another corpus", f"{told}; {where}")]
        sentences = [each for answer in answers for _, listed in answer.values() for each in listed]
        if not sentences or min(sentences) < 1:
            return []
        earlier = [
            {
                document: (label, tuple(each - 1 for each in listed))
                for document, (label, listed) in answer.items()
            }
            for answer in answers
        ]
        counts = [self.metric.count(gold, answer) for gold, answer in zip(self.prepared.gold, earlier)]
        score = float(self.prepared.measures(np.sum(counts, axis=0)[np.newaxis])[0])
        gain = score - float(self.prepared.measures(self.statistics.sum(axis=0)[np.newaxis])[0])
        if gain < MUCH_BETTER:
            return []
        told = (
            "sentences seem to be counted from 1: they count from 0, and with every number one smaller the "
            f"score would be {gain:.4f} higher"
        )
        return [("sentences counted from 1", told)]

    def _without_sentences(self, answers: list[Any]) -> str:
        """Say which measure counts labels alone, if no abstract lists a sentence."""
        listed = [sentences for answer in answers for _, sentences in answer.values()]
        if not listed or any(listed) or self.prepared.measure.startswith(LABELS_ALONE):
            return ""
        values = self.prepared.measures(self.statistics.sum(axis=0)[np.newaxis])
        score = dict(zip(self.prepared.measure_names, values))[f"{LABELS_ALONE}_f1"]
        return (
            f"no abstract lists a sentence, so {self.prepared.measure} counts nothing as right: list the "
            f"sentences that are the evidence, or ask for the labels alone, whose measure={LABELS_ALONE}_f1 is "
            f"{score:.4f}"
        )


companion = Companion(
    text_columns=TEXT_COLUMNS,
    public_columns=("claim",),
    read_solution=read_solution,
    read_submission=read_submission,
    explain=Explanation,
    asked=asked,
    answered=answered,
    texts=texts,
    sample_submission=sample_submission,
    perfect_submission=perfect_submission,
    official_json=official_json,
)
