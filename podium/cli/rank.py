"""Score all submissions, reward speed, and say on the final board how sure the order is.

    podium rank solution.csv submissions/ runtimes.csv --out final
    podium rank --again final --out other --set temperature=50

A submission that is rejected is listed in rejected.csv with the reason. What is not the submission's fault,
such as a file that cannot be read or a worker that dies, is tried again. If it fails again, it is listed. The
exit code is then 4 if the metric or a table is certainly wrong, and 2 otherwise. If the command is run again,
only what is new or changed is scored.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from podium.cli.arguments import check_outputs
from podium.ranking import rules

if TYPE_CHECKING:
    from podium.ranking.final import FinalBoard

TEAMS_SHOWN = 10
PAGES_PRINTED = 5  # of teams: of more, only the number
CHARACTERS_SHOWN = 40  # of a team's name in the table


@dataclass(frozen=True, kw_only=True)
class Options(rules.Options):
    """The options of ``podium rank``.

    Other Parameters
    ----------------
    table : FILE
        Write the board as a table for a paper (.tex, .md or .csv); --resamples adds 95%
        intervals.
    """

    table: Path | None = None


def run(options: Options) -> None:
    """Rank the submissions, write the results, and print the first teams."""
    from podium.ranking import rank

    if options.table is not None:
        from podium.report import paper

        paper.check_form(options.table)  # before anything is scored
        check_outputs([options.table], [options.out, *options.paths.values()])
    final = rank.made(*rank.as_recorded(options))
    if options.table is not None:
        from podium.ranking import for_a_paper

        paper.write(for_a_paper.of_board(final, options.is_fixed and options.resamples > 0), options.table)
    pages = final.pages
    if options.again is None or options.team is None:  # an answer to a complaint is about a team alone
        print_report(final)
    if len(pages) > PAGES_PRINTED:
        print(f"\npages of {len(pages):,} teams: {final.folder / 'team_*.html'}")
        return
    for team, page in pages.items():
        print_team(final, team, page)


def print_team(final: "FinalBoard", team: str, page: str) -> None:
    """Print what became of a team's files and models, and where its page is."""
    from podium.common.wording import printable

    print(f"\n{printable(team)}, as on {final.folder / page}:")
    row = final.leaderboard[final.leaderboard["team"] == team]
    for rank, note in zip(row["rank"], row["note"]):
        print(f"  rank {rank:,} of {len(final.leaderboard):,}{f'; {note}' if note else ''}")
    for decision in final.facts.get("decisions", []):
        if decision["team"] == team:
            print(f"  {decision['status']}{': ' if decision['reason'] else ''}{decision['reason']}")
    files = final.submissions
    for _, file in files[files["team"] == team].iterrows():
        print(f"  {file['submission']}: {file['rejected'] or file['why']}")
        for told in final.mistakes.get((team, file["submission"]), []):
            print(f"    {told}")
    for _, model in final.failed[final.failed["team"] == team].iterrows():
        print(f"  the model{f' {name}' if (name := model['model']) else ''} failed: {model['reason']}")


def print_report(final: "FinalBoard") -> None:
    """Print the counts, the sentences for the jury, the first teams and the warnings."""
    from podium.cli import console
    from podium.common.wording import counted, listed
    from podium.ranking import rewards, sentences

    facts = final.facts
    counts = facts["counts"]
    if "read" in facts:
        print(facts["read"])
    eligible = f", eligible for a boost: {counts['eligible']:,}" if facts["boosted"] else ""
    print(
        f"{counted(counts['submissions'], 'submission')}, {counts['rejected']:,} rejected; teams on the board: "
        f"{counts['teams']:,}{eligible}; {facts['rule']}"
    )
    print(sentences.of_direction(facts))
    top = final.leaderboard.head(TEAMS_SHOWN)
    of_boost = ["runtime", "boost", "boosted_score", "rank_before"] if facts["boosted"] else []
    table = top[["rank", "team", "score", *of_boost]]
    table = table.assign(team=table["team"].map(lambda team: sentences.cut(team, CHARACTERS_SHOWN)))
    console.print_table(f"The first {len(top)}", table)
    if final.variants is not None and len(final.variants) and final.options.variants:
        console.print_table("The board under other decisions", final.variants)
    print("", *final.summary, sep="\n")
    print(*filter(None, [f"\nwritten to {final.folder}", final.doubtful_items]), sep="\n", flush=True)
    if counts["rejected"]:
        without = f"teams without any score, not on the board: {counts['teams_without_score']:,}"
        teams = listed(sorted(set(final.rejected["team"])))
        console.warn([f"{counts['rejected']:,} not scored, see rejected.csv: {teams}; {without}"])
    if len(final.failed):
        console.warn([f"models that failed, see failed.csv: {listed(sorted(set(final.failed['team'])))}"])
    notes = final.leaderboard["note"].map(rewards.without_ties)
    noted = final.leaderboard[notes != ""]
    console.warn(f"{note}: {listed(list(teams))}" for note, teams in noted.groupby(notes)["team"])
    if tied := sum(map(bool, facts["ties"])):
        console.warn([f"teams with the same score as the next one: {tied:,}; their notes say what decided"])
    console.warn(facts["warnings"])
