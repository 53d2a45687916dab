"""Make the files of a competition from a corpus or official labels, in a new folder.

    podium make corpus.csv --out files
    podium make labels.json --metric trec_is --out files

It writes these files:

    files/public/            train.csv, sample_submission.csv, the texts of the essays if there are any, and
                             starter.ipynb, a notebook that makes a first submission
    files/private/           solution.csv with Usage; perfect_submission.csv if the metric can make one
    files/report.md          what was dropped, sizes of the parts, scores to compare with those on the site
    files/competition.json   the metric's parameters, which the other commands use on this folder
"""

import secrets
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from podium.cli.arguments import OfMetric, share
from podium.cli.declared import SEVERAL
from podium.common.errors import UsageError
from podium.metric import built_in

if TYPE_CHECKING:
    from podium.hosting.folders import Files
    from podium.hosting.splitting import Draw
    from podium.metric.hosted import Metric

COLUMNS = "subpopulation_column_names"
SUBPOPULATIONS = "ell_status,economically_disadvantaged"
SECRET_BITS = 64  # of the seeds that are drawn here
USUAL_SHARE = 0.4  # of the essays of a corpus that are scored
GUESSABLE = 2**48  # seeds below can be tried one by one


@dataclass(frozen=True)
class Options(OfMetric):
    """The options of ``podium make``.

    Parameters
    ----------
    corpus : CORPUS
        A table with one row per segment, or official labels.
    sample : FILE
        A sample submission for another metric than the Unified Metric; not for a corpus.
    out : FOLDER
        A new folder for the files.
    subpopulations : NAMES
        Columns of the corpus, separated by commas, whose values are the groups that are scored apart; an empty
        text for no groups; only for a corpus, and not with --set of the same parameter (default:
        ell_status,economically_disadvantaged).

    Other Parameters
    ----------------
    columns : THEIRS=OURS
        What the corpus calls a column, such as doc=essay_id label=discourse_type; only for a corpus (default:
        the names of PERSUADE and of the Feedback Prize).
    public_columns : NAMES
        Columns of the labels, separated by commas, that participants need beside the ids, such as the day and
        the site; not of a corpus (default: those that the metric's companion names).
    test : SHARE
        The share of the essays, or of the items of a table, that is scored; participants learn from the rest;
        not with --split (default: 0.4 of the essays, and the whole table).
    items : COLUMN
        A column of the labels, such as the patient, or several, separated by commas; rows that share a value
        are all Public, all Private, or all to learn from; not for a corpus (default: the items of the metric).
    split : COLUMN
        A column of the corpus or of the labels that says what each row is for, such as train and test;
        COLUMN=train:VALUE says what a value means, with commas between several; not with --test (default: the
        column Usage of labels, if there is one).
    new_ids : bool
        Give the rows of the labels other ids, in a random order; not for a corpus (default: those of the
        labels).
    public : SHARE
        The share of the test set that is Public.
    publish_metric : bool
        Put the file of your own metric into public/, so that participants can score a fold with it (podium's
        own metrics always are there).
    seed : SEED
        A number that decides what is drawn (default: a secret one, which only report.md names).
    """

    corpus: str
    _: KW_ONLY
    sample: str | None = None
    out: Path
    subpopulations: str | None = None
    columns: Annotated[Sequence[str], SEVERAL] = ()
    public_columns: str | None = None
    test: Annotated[float | None, share] = None
    items: str = ""
    split: str = ""
    new_ids: bool = False
    public: Annotated[float, share] = 0.3
    publish_metric: bool = False
    seed: int | None = None


def run(options: Options) -> None:
    """Read the corpus or the labels, write the files, and print the report."""
    from podium.cli import console
    from podium.hosting import making, splitting
    from podium.metric import hosted
    from podium.metric.parameters import parse_parameters

    metric = hosted.load(options.metric or built_in.DEFAULT)
    parameters = parse_parameters(metric, options.set)
    seed = secret_seed() if options.seed is None else options.seed
    draws_all = metric.companion.make_files is None or bool(options.split)
    share_of_test = options.test or (1.0 if draws_all else USUAL_SHARE)
    draw = splitting.Draw(seed, options.public, share_of_test, options.items, options.new_ids)
    column, meanings = _split_of(options.split)
    draw = draw._replace(split=column, meanings=meanings)
    if metric.companion.make_files is not None:
        files = _files_of_corpus(metric, options, parameters, draw)
    elif options.columns or options.subpopulations is not None:
        raise UsageError("--columns and --subpopulations are for corpora of essays")
    else:
        known = [name.strip() for name in (options.public_columns or "").split(",") if name.strip()]
        files = making.make_files(metric, options.corpus, options.sample, draw, parameters, known)
    files = making.write(files, options.out, options.publish_metric)
    print(f"{files.report}\nwritten to {options.out}")
    console.warn(files.warnings)
    if abs(seed) < GUESSABLE and options.seed is not None:
        console.warn(
            [
                f"--seed {seed}: participants can guess such a small number, draw the same items and learn "
                "which are Private; for a real competition, leave out --seed"
            ]
        )


def _files_of_corpus(metric: "Metric", options: Options, parameters: dict[str, Any], draw: "Draw") -> "Files":
    """Let the metric's companion make the files of a competition from a corpus."""
    of_labels = "sample", "public_columns", "items", "new_ids"
    for option, value in ((f"--{name.replace('_', '-')}", getattr(options, name)) for name in of_labels):
        if value:
            raise UsageError(f"{option} is for labels of another metric, not for a corpus of essays")
    if Path(options.corpus).is_dir() or options.corpus.endswith((".json", ".jsonl")):
        raise UsageError(
            f"{options.corpus}: expected a table; for official labels, name their metric by --metric"
        )
    given = SUBPOPULATIONS if options.subpopulations is None else options.subpopulations
    names = parameters.get(COLUMNS, given)
    if options.subpopulations not in (None, names):
        raise UsageError(f"--subpopulations and --set {COLUMNS} name different columns: give one of them")
    attributes = [each.strip() for each in names.split(",") if each.strip()]
    assert metric.companion.make_files is not None
    files: Files = metric.companion.make_files(
        Path(options.corpus),
        attributes,
        draw,
        _renamed(options.columns),
        parameters | {COLUMNS: ",".join(attributes)},
    )
    return files


def secret_seed() -> int:
    """Draw a seed that participants cannot guess.

    The ids of all items are public, and so is the way in which podium draws. Who knows the seed can draw the
    Public and the Private part again.
    """
    return secrets.randbits(SECRET_BITS)


def _split_of(text: str) -> tuple[str, dict[str, str]]:
    """Read COLUMN or COLUMN=PART:VALUE,PART:VALUE: the column, and the part of each value that is named."""
    column, equals, given = text.partition("=")
    meanings: dict[str, str] = {}
    for each in given.split(",") if equals else ():
        part, colon, value = each.partition(":")
        if not colon or part.casefold() not in ("train", "test", "public", "private", "ignored"):
            raise UsageError(
                f"--split {text}: expected COLUMN=train:VALUE, or test, Public, Private or Ignored"
            )
        if value in meanings:
            raise UsageError(f"--split {text}: expected one part for {value!r}, found two")
        meanings[value] = part
    return column, meanings


def _renamed(columns: Sequence[str]) -> dict[str, str]:
    """Read what the corpus calls its columns, THEIRS=OURS."""
    names: dict[str, str] = {}
    for each in columns:
        theirs, equals, ours = each.partition("=")
        if not equals:
            raise UsageError(f"--columns {each}: expected THEIRS=OURS")
        if theirs in names:
            raise UsageError(f"--columns {theirs} is given twice")
        names[theirs] = ours
    return names
