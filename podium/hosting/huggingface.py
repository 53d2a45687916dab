"""Pack a competition for Hugging Face's package `competitions`: a private repository and a public data set.

Source: the fields of ``conf.json`` are those that the package reads.
"""

import io

import pandas as pd

from podium.hosting import program
from podium.hosting.competition import Competition, Terms, pages
from podium.hosting.folders import read_csv
from podium.hosting.program import Content
from podium.scoring import PARTS, USAGE

SECONDS = 1800  # that scoring a submission may take
SELECTED = 2  # the number of submissions that a team may select for the private leaderboard


def content(competition: Competition, measures: list[str], terms: Terms) -> Content:
    """Make the files of the private repository and of the public data set.

    Parameters
    ----------
    competition : Competition
        The competition to pack.
    measures : list of str
        The names of the measures.  The platform shows the score alone, so they are not used.
    terms : Terms
        Dates and limits.  The platform knows only the day of the end and the daily limit.

    Returns
    -------
    Content
        ``private_repository/`` and ``public_dataset/``.
    """
    texts = pages(competition)
    private = {
        "conf.json": program.to_json(_settings(competition, terms)),
        "COMPETITION_DESC.md": texts["description"].encode(),
        "DATASET_DESC.md": texts["data-description"].encode(),
        "SUBMISSION_DESC.md": texts["evaluation"].encode(),
        "RULES.md": texts["rules"].encode(),
        "solution.csv": _solution(competition),
        "teams.json": b"{}\n",
        "user_team.json": b"{}\n",
        "metric.py": (program.TEMPLATES / "huggingface.py").read_bytes(),
        "program.zip": program.to_zip(program.scoring_program(competition)),
    }
    public = program.within("public_dataset", program.public_files(competition))
    return program.within("private_repository", private) | public


def _settings(competition: Competition, terms: Terms) -> dict[str, object]:
    """The content of ``conf.json``."""
    header, *rows = read_csv(competition.sample)
    return {
        "COMPETITION_TYPE": "generic",
        "SUBMISSION_LIMIT": terms.per_day,
        "TIME_LIMIT": SECONDS,
        "HARDWARE": "cpu-basic",
        "SELECTION_LIMIT": SELECTED,
        "END_DATE": terms.end.strftime("%Y-%m-%d"),
        "EVAL_HIGHER_IS_BETTER": int(competition.better == "higher"),
        "SUBMISSION_ID_COLUMN": competition.arguments["row_id_column_name"],
        "SUBMISSION_COLUMNS": ",".join(header),
        "SUBMISSION_ROWS": len(rows),
        "EVAL_METRIC": "custom",
        "SCORING_METRIC": "score",
        "LOGO": "",
        "DATASET": "",
        "SUBMISSION_FILENAMES": ["submission.csv"],
    }


def _solution(competition: Competition) -> bytes:
    """The solution as the package expects it: ``split`` replaces `Usage`, and ignored rows are left out."""
    header, *rows = read_csv(competition.solution)
    frame = pd.DataFrame(rows, columns=header, dtype=str)
    counted = frame[frame[USAGE].isin(PARTS)]
    counted = counted.drop(columns=USAGE).assign(split=counted[USAGE].str.lower())
    written = io.BytesIO()
    counted.to_csv(written, index=False, lineterminator="\r\n")
    return written.getvalue()
