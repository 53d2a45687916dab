"""A final board, as `podium.rank` returns it, and what it is made from."""

import functools
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from podium.ranking import answer_key, jury, picture
from podium.ranking.jury import Prizes
from podium.ranking.picture import Picture
from podium.ranking.rules import ALL_TEAMS, TEAM_PAGE, Options
from podium.ranking.sentences import Sentences
from podium.ranking.uncertainty import Certainty
from podium.tables import names

__all__ = ["FinalBoard"]

ROWS_SHOWN = 10  # of the board, where it is printed or shown in a notebook
COLUMNS_SHOWN = ["rank", "team", "boosted_score", "score", "boost", "runtime"]


@dataclass(frozen=True, eq=False, repr=False)
class FinalBoard:
    """A final board, as `podium.rank` returns it.

    When it is printed or shown in a notebook, it shows the sentences for the jury, the first teams, and what to
    look at before a prize is given. Tables have a row per team, in the order of the board, unless their
    description says otherwise.

    Attributes
    ----------
    folder : Path
        The folder with the published files: the page ``board.html``, the tables, and ``run.json``.
    leaderboard : DataFrame
        The board: rank, team, file, score, prize, and with rewards runtime, boost and more.
    baselines : DataFrame
        The baselines with their scores, in the columns of the board. No calculation sees them.
    submissions : DataFrame
        Every file with its hash, its scores, whether it was chosen, and why.
    failed : DataFrame
        The models that failed, with the reasons.
    similar : DataFrame
        Pairs of teams that sent the same file, or agree where few others do.
    facts : dict
        The content of ``run.json``.
    site : DataFrame or None
        Each team with its score and its rank here and on the site's board, if that was given.
    groups : DataFrame or None
        The score of each team in each sub-population; None if the metric has none.
    items : DataFrame or None
        The items, such as essays, and what the best files answer to them, those to look at first. It is written
        to ``items.csv`` and never published; None if nothing can be compared.
    changes : DataFrame or None
        Each team with its rank and its score here and on the earlier board, if this one was made again.
    variants : DataFrame or None
        The first team and the order of teams under each other decision about the metric and the rewards.
    """

    options: Options  # what was asked for
    folder: Path
    leaderboard: pd.DataFrame
    submissions: pd.DataFrame
    failed: pd.DataFrame
    similar: pd.DataFrame
    facts: dict[str, Any]
    prizes: Prizes  # who may win one
    baselines: pd.DataFrame = field(default_factory=pd.DataFrame)
    # The number of each team's file: teams that sent the same one have the same number. Without it, all differ.
    entries: tuple[int, ...] = ()
    resamples: int = 0  # the number of draws
    chance: Certainty | None = None  # what chance may have done; None without draws or statistics
    site: pd.DataFrame | None = None
    items: pd.DataFrame | None = None
    files_compared: int = 0  # of the best ones, whose answers the table of items counts
    changes: pd.DataFrame | None = None
    # What the companion takes for a mistake in a file, by its team and its name.
    mistakes: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    groups: pd.DataFrame | None = None
    group_sizes: dict[str, int] = field(default_factory=dict)  # the number of items of each sub-population
    variants: pd.DataFrame | None = None
    variant_ranks: pd.DataFrame | None = None  # a row per team, with its rank under each decision

    @property
    def rejected(self) -> pd.DataFrame:
        """The files that were not scored, with the reasons."""
        files = self.submissions
        rejected = files.loc[files["rejected"].notna(), ["team", "submission", "rejected"]]
        return rejected.reset_index(drop=True).rename(columns={"rejected": "reason"})

    @property
    def pages(self) -> dict[str, str]:
        """The name of the file with the page of each team that has one."""
        everybody = sorted({*self.submissions["team"], *self.failed["team"]})
        wanted = self.options.teams_with_page
        teams = everybody if ALL_TEAMS in wanted else wanted
        if len(teams) == 1:
            return {teams[0]: TEAM_PAGE}
        number_of = {team: number for number, team in enumerate(everybody, 1)}
        # Names of teams may be long, and have characters that a file's name cannot have everywhere.
        plain = {team: re.sub("[^a-z0-9]+", "_", names.key_of(team))[:40].strip("_") for team in teams}
        return {team: f"team_{number_of[team]}_{plain[team]}".rstrip("_") + ".html" for team in teams}

    @property
    def published(self) -> pd.DataFrame:
        """The board with the baselines where their plain score would stand, as it is published."""
        return jury.with_baselines(self.leaderboard, self.baselines, self.facts["higher_is_better"])

    @property
    def certainty(self) -> pd.DataFrame | None:
        """How certain each team's place is, in a row per team; None if nothing is said about chance.

        ``first_again`` and ``prize_again`` are the shares of new competitions, with other items of the same
        kind, in which the team would be first and would win a prize. They are NaN if too few items decide the
        score of a prize winner. ``may_be_best`` says whether it cannot be excluded, with 95% confidence, that
        the team is the best. The other columns are 95% intervals.
        """
        return None if self.chance is None else self.chance.intervals

    @property
    def differences(self) -> pd.DataFrame | None:
        """The difference at each border between prizes, with its 95% interval."""
        return None if self.chance is None else self.chance.differences

    @functools.cached_property
    def sentences(self) -> Sentences:
        """What the board says in sentences."""
        return Sentences(self.leaderboard, self.facts, self.prizes, self.entries, self.chance, self.variants)

    @functools.cached_property
    def summary_by_question(self) -> dict[str, list[str]]:
        """The sentences of the summary by the question that they answer."""
        return self.sentences.by_question()

    @property
    def summary(self) -> list[str]:
        """The sentences for the jury with which the page begins."""
        return [sentence for some in self.summary_by_question.values() for sentence in some]

    @property
    def doubtful_items(self) -> str:
        """Say which items of the table ``items`` to look at first; empty if too few files can be compared."""
        if self.items is None:
            return ""
        noun = "row" if self.facts["halves"] else self.facts["item"]
        return answer_key.sentence(self.items, self.files_compared, noun)

    @property
    def warnings(self) -> list[str]:
        """What to look at before a prize is given."""
        return list(self.facts["warnings"])

    def plot(self) -> Picture:
        """Draw the scores and the runtimes of the first teams, with what speed adds, or their scores alone.

        Returns
        -------
        podium.ranking.picture.Picture
            The picture that the page has, which a notebook shows and ``save(path)`` writes as SVG.
        """
        return picture.of_board(self.leaderboard, self.certainty, self.options, self.facts)

    @property
    def _top(self) -> pd.DataFrame:
        """The first teams, with the columns that decide."""
        columns = COLUMNS_SHOWN if self.facts["boosted"] else ["rank", "team", "score"]
        return self.leaderboard[columns].head(ROWS_SHOWN)

    def __repr__(self) -> str:
        warned = [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([" ".join(self.summary), "", self._top.to_string(index=False), *warned])

    def _repr_html_(self) -> str:
        warned = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        box = (
            f"<p><strong>Check these points before you give the prizes</strong></p><ul>{warned}</ul>"
            if warned
            else ""
        )
        table = self._top.to_html(index=False, border=0)
        return f"<p>{html.escape(' '.join(self.summary))}</p>{table}{box}"
