"""The report is right as text, as a file and in a real browser."""

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import metric
import podium
from examples.essays import SOLUTION_SAMPLE, SUBMISSION_SAMPLE, make_competition
from podium import statistics
from podium.common.errors import UsageError
from podium.metric import contract, hosted
from podium.report import comparison, items
from podium.report import page as report
from podium.scoring import evaluating, explain
from podium.statistics import Doubt, Reason
from podium.statistics import compared as compared_scores
from tests.support import command_line
from tests.support.browser import CONTRAST, look, visit
from tests.support.frames import WHOLE, perfect, solution, submission, words
from tests.support.samples import case_of
from tests.support.unified import evaluate

ROOT = Path(metric.__file__).parent
SOLUTION, SUBMISSION = str(ROOT / SOLUTION_SAMPLE), str(ROOT / SUBMISSION_SAMPLE)
SIBLINGS = sorted(set(hosted.names()) - {"unified"})
MANY_HISTOGRAMS = ("markup_consistency", "readable")
EVIL = "<script>window.hacked = true</script>"
EVIL_ATTRIBUTE = "\"'><img src=x onerror='window.hacked = true'>"


def stub(items: list[str], **explanation: object) -> SimpleNamespace:
    """An evaluation with a score and only this explanation."""
    prepared = SimpleNamespace(
        items=items, labels=[("(all)", "(all)")], groups=np.zeros((1, len(items)), dtype=int)
    )
    return SimpleNamespace(
        score=0.25,
        scores={"All": 0.25},
        statistics=None,
        signature="metric:stub",
        solution=SimpleNamespace(higher_is_better=True),
        notices=[],
        prepared=prepared,
        explanation=type("Told", (contract.Explanation,), {"__init__": lambda self: None, **explanation})(),
    )


def render(truth: pd.DataFrame, predicted: pd.DataFrame, texts: dict[str, str] | None = None, **options) -> str:
    """The page of a small competition."""
    parameters = options.pop("parameters", {})
    evaluation = evaluate(truth, predicted, **parameters)
    return report.render(evaluation, options.pop("title", "a title"), texts, **options)


def compared(evaluation, other, resamples: int) -> tuple[object, pd.DataFrame]:
    """Another submission, and how one compares with it."""
    return other, statistics.compare(evaluation, other, resamples)


@pytest.fixture(scope="module")
def evaluation():
    """The sample submission, scored."""
    options = {"dtype": {"essay_id": str}, "keep_default_na": False, "na_values": [""]}
    return evaluate(*(pd.read_csv(path, **options) for path in (SOLUTION, SUBMISSION)))


@pytest.fixture(scope="module")
def page(evaluation):
    """The page of the sample."""
    return report.render(
        evaluation,
        "sample",
        intervals=statistics.intervals(evaluation, 50),
        others={"other.csv": compared(evaluation, evaluation, 20)},
    )


class Page(HTMLParser):
    """The tags of a page, its text, and the text of its sections."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.sections: dict[str | None, str] = {}
        self.section: str | None = None
        self.raw = False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.raw = tag in ("style", "script")
        if tag not in ("b", "bdi", "wbr"):
            self.handle_data(" ")
        if tag == "section":
            self.section = dict(attributes).get("id")

    def handle_endtag(self, tag):
        self.raw = False

    def handle_data(self, data):
        if not self.raw:
            self.text += data
            self.sections[self.section] = self.sections.get(self.section, "") + data

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def items(self):
        return [attributes["data-id"] for attributes in self.named("details") if "data-id" in attributes]


def flat(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


# --- what it says -----------------------------------------------------------------------------------


def test_sections_say_what_the_evaluation_says(page, evaluation):
    parsed = Page(page)
    sections = {name: flat(text) for name, text in parsed.sections.items()}
    assert list(sections)[1:] == [
        "points", "offsets", "comparison", "groups", "measures", "tables", "confusion", "calibration", "items",
    ]  # fmt: skip
    assert evaluation.signature in parsed.text
    # A sentence begins with a capital letter there.
    assert evaluation.explanation.notices[0][1:] in flat(parsed.text)
    for row in explain.gains_by_cause(evaluation.explanation).itertuples():
        assert f"{row.cause} {items.share(row.share)} {items.gain(row.gain)} {row.rows}" in sections["points"]
    for row in evaluation.explanation.groups.itertuples():
        line = f"{row.value} {row.attribute} {row.essays} {row.score:.4f} {row.weight:.1%}"
        assert line in sections["groups"]
    table = statistics.intervals(evaluation, 50).set_index("measure")
    for name in ("score", "F1 of Evidence"):
        value, low, high = table.loc[name, ["value", "low", "high"]]
        ends = f" {low:.4f} to {high:.4f}" if low == low else ""
        assert f"{name} {value:.4f}{ends}" in sections["measures"]
    assert "ell_status" not in sections["measures"]  # these are already among the sub-populations
    assert "Compared with other.csv" in sections["comparison"]
    score = f"{evaluation.score:.4f}"
    assert f"score 0 0 to 0 {score} {score}" in sections["comparison"]
    assert "Discourse types" in sections["tables"]
    assert "Sub-populations" not in sections["tables"]
    assert "Evidence 2 3 0 0 0 83 2 0 0 22" in sections["confusion"]
    assert (
        f"The diagram shows {len(evaluation.explanation.forecasts)} predicted probabilities."
        in sections["calibration"]
    )
    assert "All 40 essays." in sections["items"]


def test_essays_are_sorted_by_points_and_cut_off(evaluation):
    by_item = explain.points_by_item(evaluation)
    page = Page(report.render(evaluation, "sample", most_items=3))
    assert page.items() == by_item.index[:3].tolist()
    share = by_item[:3].sum() / by_item.sum()
    expected = f"The 3 of 40 essays where the most can be gained: {share:.1%} of the possible gain."
    assert expected in flat(page.text)


def test_the_first_line_says_what_to_correct(page, evaluation):
    """The largest cause over all types and groups; every group of the sample is too small to be named."""
    gains = evaluation.explanation.gains
    total = gains.loc["(all)"]
    cause = total.idxmax()
    label = gains[cause].drop("(all)").idxmax()
    first = flat(Page(page).text.partition("The largest cause is ")[2])
    assert first.startswith(f"{cause}: {total[cause] / total.clip(lower=0).sum():.1%} of what can be gained.")
    after = f"from {evaluation.score:.4f} to {evaluation.score + total[cause]:.4f}"
    assert f"{after}. The largest part of this is in {label} (" in first
    assert "Of the groups with at least 50" not in first


def test_a_group_of_fifty_that_loses_more_than_its_share_is_named():
    truth, predicted = make_competition(160, seed=1, shared_words=False)
    attribute, group = "economically_disadvantaged", "Economically disadvantaged"
    members = set(truth.loc[truth[attribute] == group, "essay_id"])
    assert len(members) >= 50
    missed = predicted["essay_id"].isin(members) & (np.arange(len(predicted)) % 8 == 0)
    text = flat(Page(render(truth, predicted[~missed], most_items=1)).text)
    assert f"Of the groups with at least 50 essays, {attribute}: {group} loses most by it: " in text
    assert f", with {len(members)} of 160 essays." in text


def test_offsets_of_matches(evaluation):
    matches = evaluation.explanation.rows.query("side == 'prediction' and outcome == 'matched'")
    starts, ends = report._offsets(evaluation)
    late = (matches["first"] - matches["partner_first"]).astype(int)
    assert starts["exact"] == (late == 0).mean()
    numbers = {bar["name"]: bar["number"] for bar in starts["bars"]}
    assert numbers["+1"] == (late == 1).sum()
    assert numbers["-8 or more"] == (late <= -8).sum()
    assert sum(bar["number"] for bar in ends["bars"]) == len(matches)


def test_essays_that_got_better_and_worse(evaluation):
    """The changes agree with the score of a submission that takes one essay from the other submission."""
    other = evaluate(evaluation.solution.frame, evaluation.submission.iloc[::2])
    gains = statistics.gains_by_item(evaluation.prepared, evaluation.statistics, other.statistics)[:, 0]
    for number in (0, 7, 39):
        of_essay = f"essay_id == '{evaluation.prepared.items[number]}'"
        mixed = [evaluation.submission.query(of_essay), other.submission.query(f"not {of_essay}")]
        after = evaluate(evaluation.solution.frame, pd.concat(mixed))
        assert after.score - other.score == pytest.approx(gains[number], abs=1e-12)
    page = Page(report.render(evaluation, "x", others={"half.csv": compared(evaluation, other, 20)}))
    best = evaluation.prepared.items[int(gains.argmax())]
    text = flat(page.sections["comparison"])
    assert f"gained most Essay Score changes by {best} +{gains.max():.6f}" in text


def test_every_other_submission_is_compared(evaluation):
    """A table compares the scores, and each comparison follows in full."""
    whole = evaluate(evaluation.solution.frame, evaluation.submission, **WHOLE)
    frames = {"half.csv": evaluation.submission.iloc[::2], "most.csv": evaluation.submission.iloc[:-40]}
    others = {
        name: compared(whole, evaluate(evaluation.solution.frame, frame, **WHOLE), 20)
        for name, frame in frames.items()
    }
    text = flat(Page(report.render(whole, "x", {}, 0, others=others)).sections["comparison"])
    assert text.startswith("Compared with 2 other submissions")
    for name, (other, each) in others.items():
        low, high = (items.number(each.table[name][0]) for name in ("low", "high"))
        assert f"{name} {each.score.value:.4f} {each.score.ahead:.1%} {low} to {high} {other.score:.4f}" in text
        last = each.table.iloc[-1]
        in_full = flat(text.split(f"Every measure against {name} ")[1].split("Every measure against ")[0])
        assert f"{last['value']:.4f} {last['other']:.4f} Essays in which" in in_full


@pytest.mark.parametrize(
    ("difference", "higher", "told"),
    [
        ((0.1, 0.05, 0.2, 0.99), True, "A is better than B by 0.100000, and ahead in 99% of the draws."),
        ((0.1, 0.05, 0.2, 0.01), False, "B is better than A by 0.100000, and ahead in 99% of the draws."),
        ((-0.1, -0.2, 0.01, 0.1), True, "B is ahead of A by 0.100000, and in 90% of the draws, but the "),
        ((0.0, 0.0, 0.0, 0.5), True, "A and B have the same score."),
        ((math.nan,) * 4, True, "A and B cannot be compared, "),
        (
            (0.1, math.nan, math.nan, 0.9, Doubt(Reason.FEW_ITEMS, 0)),
            True,
            "A is ahead of B by 0.100000. Hardly any essay decides that, so ",
        ),
        (
            (0.1, math.nan, math.nan, 0.9, Doubt(Reason.HEAVY_TAIL)),
            False,
            "B is ahead of A by 0.100000. Nothing is ",
        ),
        ((0.0, -0.1, 0.1, 0.5), False, "A and B have the same score."),
        (
            (0.1, math.nan, math.nan, 0.9, Doubt(Reason.SMALL_GROUPS, 2, 0.5)),
            True,
            "A is ahead of B by 0.100000. Two essays decide that",
        ),
        (
            (0.1, math.nan, math.nan, 0.9, Doubt(Reason.SMALL_GROUPS, 11, 0.5)),
            True,
            "A is ahead of B by 0.100000. 11 essays decide that",
        ),
    ],
)
def test_the_sentence_about_a_difference(difference, higher, told):
    assert compared_scores.sentence(statistics.Difference(*difference), "essay", higher).startswith(told)


@pytest.mark.parametrize(
    ("lows", "highs", "told"),
    [
        ((0.1, 0.1), (0.3, 0.3), "A is clearly better in all 2 larger groups."),
        ((0.1,), (0.3,), "A is clearly better in 1 larger group."),
        ((0.1, -0.1), (0.3, 0.3), "A is clearly better in 1 of 2 larger groups."),
        ((0.1, -0.3), (0.3, 0.1), "A is clearly better in 1 of 2 larger groups, and B is ahead in 1."),
        ((-0.3,), (-0.1,), "A is clearly better in 0 of 1 larger group, and B is ahead in 1."),
        ((), (), "no group has 10, so this test set cannot tell which is better."),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_where_small_groups_decide_the_larger_ones_are_told(lows, highs, told, sign):
    low, high = ([math.nan, *ends] for ends in (lows, highs))
    if sign < 0:
        low, high = ([-end for end in ends] for ends in (high, low))
    groups = tuple(map(str, range(len(lows))))
    table = pd.DataFrame({"measure": ["score", *groups], "value": 0.5, "other": 0.5 - 0.2 * sign})
    table = table.assign(
        difference=[0.2 * sign, *((a + b) / 2 for a, b in zip(low[1:], high[1:]))], low=low, high=high
    )
    doubt = Doubt(Reason.SMALL_GROUPS, 3, 0.4)
    score = statistics.Difference(0.2 * sign, math.nan, math.nan, 0.9, doubt)
    said = compared_scores.of_groups(statistics.Comparison(score, table, groups), "essay", sign > 0, ("A", "B"))
    scores = (
        f"A scores 0.500000 and B {0.5 - 0.2 * sign:.6f}. Groups of fewer than 10 essays decide 40% of this "
    )
    assert said == f"{scores}difference, so it has no interval; {told}"


def test_what_a_test_set_would_show_is_told_for_each_part():
    sizes = {"All": 40, "Public": 12, "Private": 28}
    doubt = Doubt(Reason.SMALL_GROUPS, 2, 0.5)
    known, unknown = (statistics.Difference(0.1, *of) for of in ((0, 1, 1, None, 0.02), (0, 1, 1, doubt)))
    equal = statistics.Difference(0.0, 0.0, 0.0, 0.5)
    parts = {"All": known, "Public": unknown, "Private": known._replace(detectable=0.0304)}
    (whole,) = comparison.resolution({"All": known}, sizes, "essay")
    assert whole.startswith("Four of five test sets would show a true difference of 0.02 with 40 essays; half ")
    both, public = comparison.resolution(parts, sizes, "essay")
    assert "of 0.02 with 40 essays and of 0.03 with 28 essays (Private);" in both
    assert public.endswith("would show (Public): groups of fewer than 10 items decide 50%.")
    (hidden,) = comparison.resolution(
        {"All": known._replace(detectable=math.nan, hidden=doubt)}, sizes, "essay"
    )
    assert (
        hidden
        == "Nothing is said about the true difference that such a test set would show: " + str(doubt) + "."
    )
    assert comparison.resolution({"All": equal}, sizes, "essay") == []
    assert comparison.resolution({"All": unknown._replace(value=math.nan)}, sizes, "essay") == []


def test_items_gained_and_lost_where_a_lower_score_is_better(evaluation):
    """An item that lowers the score then counts as gained."""
    half = evaluate(evaluation.solution.frame, evaluation.submission.iloc[::2])
    usual, turned = (report._items_that_differ(evaluation, half, higher) for higher in (True, False))
    assert usual["better"]
    assert (turned["better"], turned["worse"]) == (usual["worse"], usual["better"])


def test_texts_are_cut_into_words_as_the_positions_count_them():
    truth = solution(("A", "Lead", words(0, 1), 1), ("A", "Claim", words(4, 6), 0))
    predicted = submission(("A", "Lead", words(0, 2), 1), ("A", "Claim", words(4, 9), 0.5))
    text = "  One two, three\n\nfour\tfive six seven."
    page = flat(Page(render(truth, predicted, {"A": text}, parameters=WHOLE)).text)
    assert "Truth Lead One two, three four Claim · missed five six seven. [7–9: beyond the text]" in page
    assert "Prediction Lead One two, three four Claim · too little overlap five six seven. [7–9:" in page
    without = flat(Page(render(truth, predicted, parameters=WHOLE)).text)
    assert "Truth Lead 0–1 2–3 Claim · missed 4–6 7–9" in without
    assert "Prediction Lead 0–2 3 Claim · too little overlap 4–9" in without


def test_overlapping_and_discarded_segments():
    truth = solution(("A", "Lead", words(0, 9), 1), ("A", "Claim", words(10, 19), 1))
    predicted = submission(
        ("A", "Lead", words(0, 12), 1), ("A", "Claim", words(11, 19), 1), ("A", "Evidence", words(2, 5), 1)
    )
    page = Page(render(truth, predicted, parameters=WHOLE))
    text = flat(page.text)
    assert "Prediction Lead 0–12 Claim 13–19 Discarded by overlap removal: Evidence" in text
    assert "11–19, 13–19 left" in text
    assert "matched, trimmed" in text
    assert "Outcome all matched discarded trimmed" in text


def test_strips_begin_where_segments_do_and_rows_name_their_partners():
    truth = solution(("A", "Lead", words(0, 9), 1), ("A", "Claim", words(10, 19), 1))
    predicted = submission(
        ("A", "Lead", words(0, 12), 1), ("A", "Claim", words(11, 19), 1), ("A", "Evidence", words(2, 5), 1)
    )
    section = items.section(evaluate(truth, predicted, **WHOLE), {}, 1)
    [essay] = section["entries"]
    strips = [side["strip"] for side in essay["sides"]]  # numbers of rows, from where, and how much in percent
    assert strips == [[(3, 0.0, 50.0), (4, 50.0, 50.0)], [(0, 0.0, 65.0), (2, 10.0, 20.0), (1, 55.0, 45.0)]]
    at = section["header"].index("partner")
    assert [row.cells[at] for row in essay["rows"]] == ["t0: Lead", "t1: Claim", "–", "p0: Lead", "p1: Claim"]


def test_a_perfect_and_an_empty_submission_without_sub_populations():
    truth = solution(("A", "Lead", words(0, 9), 1), ("A", "Claim", words(10, 19), 1)).assign(row_id="A")
    page = Page(render(truth, perfect(truth), parameters=WHOLE))
    assert "largest cause" not in page.text
    assert "Where you can gain Nothing can be gained: no mistake costs anything. Starts" in flat(page.text)
    # Row ids may repeat, so the rows of an essay are linked by the words of the partner.
    partners = [attributes["data-p"] for attributes in page.named("tr") if "data-p" in attributes]
    assert partners == ["2", "3", "0", "1"]
    page = Page(render(truth, submission(), parameters=WHOLE))
    assert "Score 0 A, the essay that costs most (100.0%). Above is the truth" in flat(page.text)
    assert "Nothing can be gained" not in page.text
    assert not {"calibration", "groups"} & set(page.sections)
    assert "sub-population" not in page.text.lower()


def test_more_labels_than_colors_differ_by_their_stroke():
    labels = [f"type {number}" for number in range(16)]
    frame = pd.DataFrame({"doc": "A", "kind": labels, "first": range(16), "last": range(16)})
    frame = frame.assign(side="truth", outcome="matched")
    roles = {"item": "doc", "label": "kind", "outcome": "outcome"}
    page = Page(report.render(stub(["A"], rows=frame, roles=roles), "many"))
    looks = [span["class"] for span in page.named("span") if "swatch" in (span.get("class") or "")]
    assert len(set(looks)) == 16


def test_calibration():
    forecasts = pd.DataFrame({"probability": [0.0, 0.05, 1.0, 0.95, 0.999], "happened": [0, 0, 1, 1, 0]})
    table = report.calibration(forecasts)
    assert table["forecasts"].tolist() == [2, 3]
    assert table["probability"].tolist() == pytest.approx([0.025, 2.949 / 3])
    assert table["happened"].tolist() == pytest.approx([0, 2 / 3])
    # Wilson's interval for 0 of 10 goes from 0 to z² / (n + z²).
    square = NormalDist().inv_cdf(0.975) ** 2
    nothing = report.calibration(pd.DataFrame({"probability": [0.55] * 10, "happened": [0] * 10})).iloc[0]
    assert (nothing["low"], nothing["high"]) == (0, pytest.approx(square / (10 + square)))
    # For 5 of 10, the standard example, it goes from 0.237 to 0.763.
    half = report.calibration(pd.DataFrame({"probability": [0.55] * 10, "happened": [0, 1] * 5})).iloc[0]
    assert [half["low"], half["high"]] == pytest.approx([0.237, 0.763], abs=5e-4)


@pytest.mark.parametrize(
    "values", [[0.246, 0.783], [0.5], [-0.4, 0.97], [17.0, 115.5], [0.45250, 0.45251], [math.nan], [1e6, 2e6]]
)
def test_an_axis_holds_its_values_with_a_few_round_ticks(values):
    axis = report.Axis(values)
    assert all(0 <= axis.at(value) <= 100 for value in values if value == value)
    assert 2 <= len(axis.ticks) <= 7
    assert [at for at, _ in axis.ticks] == pytest.approx(list(np.linspace(0, 100, len(axis.ticks))), abs=0.01)
    assert len({label for _, label in axis.ticks}) == len(axis.ticks)


# --- the file: nothing from elsewhere, nothing but text from files ----------------------------------


def assert_self_contained(page: str) -> None:
    """Check that a page loads nothing from elsewhere."""
    parsed = Page(page)
    assert len(parsed.named("script")) <= 1
    assert not {tag for tag, _ in parsed.tags} & {"link", "iframe", "object", "embed", "base", "audio", "video"}
    for tag, attributes in parsed.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "action", "srcset"):
            value = attributes.get(name) or "#"
            assert value.startswith("#") or (tag == "img" and value.startswith("data:image/svg+xml;base64,"))
    assert not re.search(r"url\(|@import", page)


def test_the_page_is_self_contained_and_lets_its_own_script_run_only(page):
    assert_self_contained(page)
    (policy,) = [attributes["content"] for attributes in Page(page).named("meta") if "http-equiv" in attributes]
    script = re.search("<script>(.*)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def hostile_page() -> str:
    """The page of files that have a script in every place that can hold text."""
    essays = [EVIL, EVIL_ATTRIBUTE, "{{ 7 * 7 }}", "../../secret", "a\u202eb\u2028c\x00"]
    truth = solution(
        *((essay, "Lead", words(0, 3), 1) for essay in essays),
        **{EVIL: [EVIL, EVIL_ATTRIBUTE, "{{ 7 * 7 }}", "x", "x"]},
    )
    truth["row_id"] = [EVIL, EVIL_ATTRIBUTE, "{% for %}", "--><b>", "</details></section>"]
    predicted = perfect(truth).iloc[[0, 1, 2, 4]].assign(discourse_type="Claim", row_id=EVIL)
    evaluation = evaluate(truth, predicted, subpopulation_column_names=EVIL)
    return report.render(
        evaluation,
        title=EVIL,
        texts=dict.fromkeys(essays, f"{EVIL} {EVIL_ATTRIBUTE} {{{{ 7 * 7 }}}} </p></details>"),
        intervals=statistics.intervals(evaluation, 5),
        others={name: compared(evaluation, evaluation, 5) for name in (EVIL, EVIL_ATTRIBUTE)},
    )


def test_text_from_files_stays_text():
    page = hostile_page()
    assert_self_contained(page)
    parsed = Page(page)
    assert len(parsed.items()) == 5
    assert not parsed.named("img")
    assert flat(parsed.text).count(EVIL) > 20
    assert "{{ 7 * 7 }}" in parsed.text
    assert EVIL not in page


def test_what_is_no_character_is_written_as_a_question_mark(tmp_path):
    truth = solution(("A", "Lead", words(0, 3), 1))
    page = render(truth, perfect(truth), title="half \ud800", parameters=WHOLE)
    report.write(page, tmp_path / "report.html")
    assert "half ?" in (tmp_path / "report.html").read_text(encoding="utf-8")


# --- texts ------------------------------------------------------------------------------------------


def test_texts_from_a_folder_or_a_table(tmp_path, evaluation):
    ids = evaluation.prepared.items[:2]
    (tmp_path / "texts").mkdir()
    for name in ids:
        (tmp_path / "texts" / f"{name}.txt").write_bytes(f"text of {name} caf\xe9".encode("latin-1"))
    (tmp_path / "texts" / "stranger.txt").write_text("nobody's")
    texts = report.read_texts(tmp_path / "texts", evaluation)
    assert texts == {name: f"text of {name} caf\ufffd" for name in ids}

    frame = pd.DataFrame({"essay_id": [*ids, "stranger"], "full_text": ["one", "two", "three"]})
    for columns in (["essay_id", "full_text"], ["id", "text"]):
        frame.set_axis(columns, axis=1).to_csv(tmp_path / "texts.csv", index=False)
        assert report.read_texts(tmp_path / "texts.csv", evaluation) == dict(zip(ids, ["one", "two"]))


def test_texts_that_end_before_a_segment_are_told_with_its_row(evaluation):
    texts = dict.fromkeys(evaluation.prepared.items, "word " * 2000)
    ends_early, empty, lacking = evaluation.prepared.items[:3]
    rows = evaluation.explanation.rows
    row = rows[(rows["essay_id"] == ends_early) & (rows["last"] >= 100)].iloc[0]
    texts |= {ends_early: "word " * 100, empty: " "}
    del texts[lacking]
    (told,) = report.notices_of_texts(evaluation, texts)
    assert re.fullmatch(
        rf"texts: 1 essay without a text, such as '{lacking}' \(.*\); 1 essay with an empty one, "
        rf"such as '{empty}' \(.*\); 1 essay whose text ends before the last segment, such as '{ends_early}' "
        rf"\({row['side']}, row_id {row['row_id']}\)",
        told,
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("essay_id,word\nA,x\n", "a column of texts: expected one of text, full_text; it has essay_id, word"),
        ("name,text\nA,x\n", "a column of ids: expected one of essay_id, id; it has name, text"),
        ("essay_id,text\nnobody,x\n", "a text for none of the 40 ids of the solution"),
    ],
)
def test_texts_of_something_else(tmp_path, evaluation, content, message):
    (tmp_path / "texts.csv").write_text(content)
    with pytest.raises(UsageError, match=message):
        report.read_texts(tmp_path / "texts.csv", evaluation)


# --- other metrics ----------------------------------------------------------------------------------


def evaluate_sample(name: str) -> evaluating.Evaluation:
    """The sample submission of a metric, scored."""
    case = case_of(name)
    return podium.score(case.solution, case.submission, metric=name)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in MANY_HISTOGRAMS else []) for name in SIBLINGS],
)
def test_sibling_metrics_show_what_they_offer(name):
    evaluation = evaluate_sample(name)
    intervals = statistics.intervals(evaluation, 10)
    page = report.render(evaluation, name, intervals=intervals)
    assert_self_contained(page)
    parsed = Page(page)
    expected = {"measures", "tables"}
    explanation = evaluation.explanation
    offers = {
        "histograms": explanation.histograms,
        "points": explanation.losses,
        "groups": explanation.groups,
        "confusion": explanation.confusion,
    }
    expected |= {section for section, part in offers.items() if part is not None and len(part)}
    expected |= {"items"} if explain.column(evaluation.explanation, "item") else set()
    assert set(parsed.sections) - {None} == expected
    assert evaluation.signature in parsed.text
    assert max(evaluation.measures, key=len) in parsed.text
    can_break = any(re.search(r"[._]\w", measure) for measure in evaluation.measures)
    assert bool(parsed.named("wbr")) == can_break  # where a long name may be broken
    assert all(title in parsed.text for title in evaluation.explanation.tables)
    notes = intervals["note"][intervals["note"] != ""]
    assert name != "trec_is" or len(notes)  # its run has four events
    assert all(note in parsed.sections["measures"] for note in notes)


def test_items_without_words_and_points_are_tables():
    """Claims of SciFact and events of TREC-IS have just those columns that the convention's roles name.

    Ids that are whole numbers are ordered as numbers, and the others come after them.
    """
    frame = pd.DataFrame(
        [
            ("10", "abstract", "SUPPORT", "correct", 0.5),
            ("10", "abstract", None, "missed", math.nan),
            ("2", "abstract", "CONTRADICT", "correct", 1.0),
            ("elsewhere", "abstract", "SUPPORT", "ignored", 2.0),
        ],
        columns=["claim_id", "level", "label", "outcome", "share"],
    )
    roles = {"item": "claim_id", "label": "label", "outcome": "outcome"}
    page = Page(report.render(stub(["1", "10", "2", "b"], rows=frame, roles=roles), "claims"))
    text = flat(page.sections["items"])
    assert page.items() == ["1", "2", "10", "b"]
    assert "10 1 correct 1 missed" in text
    assert "label outcome level share SUPPORT correct abstract 0.5 – missed abstract –" in text
    assert "points" not in text
    assert "elsewhere" not in text
    assert not page.named("mark")


def markups() -> tuple[SimpleNamespace, dict[str, str]]:
    """An algorithm and two experts mark a text of two lines: segments lie within each other and overlap."""
    rows = [
        # markup, against, position, start, end, outcome, partner_position
        ("algorithm", "expert 1", 0, 0, 7, "matched", 1),
        ("algorithm", "expert 1", 1, 2, 5, "unmatched", -1),
        ("algorithm", "expert 1", 2, 5, 13, "unmatched", -1),
        ("algorithm", "expert 2", 0, 0, 7, "unmatched", -1),
        ("algorithm", "expert 2", 1, 2, 5, "unmatched", -1),
        ("algorithm", "expert 2", 2, 5, 13, "unmatched", -1),
        ("expert 1", "algorithm", 0, 9, 13, "unmatched", -1),
        ("expert 1", "algorithm", 1, 0, 8, "matched", 0),
        ("expert 1", "expert 2", 0, 9, 13, "unmatched", -1),
        ("expert 1", "expert 2", 1, 0, 8, "unmatched", -1),
        ("expert 1", "algorithm", 2, -1, -1, "unmatched", -1),
    ]
    columns = ["markup", "against", "position", "start", "end", "outcome", "partner_position"]
    frame = pd.DataFrame(rows, columns=columns).assign(doc="A", tag="fact")
    roles = {"item": "doc", "label": "tag", "outcome": "outcome"}
    return stub(["A"], rows=frame, roles=roles), {"A": "one two\n\nfour."}


def test_marks_are_shown_beside_each_expert_s():
    evaluation, texts = markups()
    page = Page(report.render(evaluation, "marks", texts))
    text = flat(page.sections["items"])
    assert "Expert 1 fact one two fact · unmatched four" in text
    # A segment within another one, and one that begins in it and goes on to the next line.
    algorithm = "Algorithm fact on fact · unmatched e t fact · unmatched wo four ."
    assert f"{algorithm} Expert 2 one two four." in text
    marks = [mark["data-n"] for mark in page.named("mark")]
    assert marks == ["7", "6", "0", "0 1", "0 2", "2", "2", "3", "3 4", "3 5", "5", "5"]
    assert "expert 1: 1 matched, 1 unmatched." in text
    assert "fact unmatched expert 1 algorithm 2 – –" in text  # without characters
    # Rows between experts are not part of the submission, and partners are linked by position.
    assert len(page.named("tr")) == 1 + 9
    assert [row.get("data-p") for row in page.named("tr")][1:] == ["7"] + [None] * 6 + ["0", None]


def test_an_evaluation_that_offers_a_score_only():
    page = report.render(stub([]), "bare")
    assert_self_contained(page)
    assert "Score 0.2500" in flat(Page(page).text)


# --- the command line -------------------------------------------------------------------------------


def test_the_report_is_written_beside_all_that_is_printed(capsys, tmp_path, evaluation):
    (tmp_path / "texts.csv").write_text(
        f"essay_id,text\n{explain.points_by_item(evaluation).index[0]},hello there\n"
    )
    path = tmp_path / "new" / "report.html"
    code, out, _ = command_line.run(
        capsys, "score", SOLUTION, SUBMISSION, SUBMISSION, "--json", "--report", path, "--report-items", 2,
        "--texts", tmp_path / "texts.csv", "--rows", tmp_path / "s.csv", "--bootstrap", 10, "--seed", 1,
    )  # fmt: skip
    assert code == 0
    assert list(json.loads(out)) == [
        "score", "public", "private", "signature", "measures", "tables", "warnings", "intervals", "comparison",
        "difference", "verdict", "detectable",
    ]  # fmt: skip
    assert len(pd.read_csv(tmp_path / "s.csv")) == 675
    assert [entry.name for entry in path.parent.iterdir()] == ["report.html"]
    page = Page(path.read_text(encoding="utf-8"))
    assert len(page.items()) == 2
    assert "Public 0.5325 Private 0.5973" in flat(page.text)
    assert "sample_submission.csv scored against solution_sample.csv" in page.text
    assert "hello there" in page.text


def test_wrong_usage_of_the_report(capsys, tmp_path):
    before = Path(SOLUTION).read_bytes()
    rows = tmp_path / "x.csv"
    for path, message in (
        (tmp_path, "it is a folder"),
        ("s3:/bucket/x", "it is an address"),
        (SOLUTION, "it is another file of this command"),
        (rows, "it is another file of this command"),
        (Path(SOLUTION) / "x.html", f"you may not write into {os.path.realpath(SOLUTION)}"),
    ):
        code, out, err = command_line.run(
            capsys, "score", SOLUTION, SUBMISSION, "--report", path, "--rows", rows
        )
        assert (code, out) == (2, "")
        assert err.startswith(f"error: cannot write {path}: {message}")
    assert Path(SOLUTION).read_bytes() == before
    done = command_line.run(capsys, "score", SOLUTION, SUBMISSION, "--texts", "x")
    assert done == (2, "", "error: --texts needs --report\n")
    assert list(tmp_path.iterdir()) == []


# --- in a browser -----------------------------------------------------------------------------------


@pytest.fixture
def opened(driver, tmp_path):
    """Open a page; at the end, the console must be empty and nothing but the file must have been loaded."""

    def open_page(page: str, **how):
        path = tmp_path / "report.html"
        report.write(page, path)
        look(driver, **how)
        visit(driver, path.as_uri())
        return driver

    driver.get("about:blank")
    for log in ("browser", "performance"):
        driver.get_log(log)  # earlier entries do not count
    yield open_page
    assert driver.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    assert {url.split(":")[0] for url in urls} <= {"file", "data"}
    assert urls


def shown(driver) -> list[str]:
    """The ids of the visible essays from top to bottom."""
    return driver.execute_script(
        "return [...document.querySelectorAll('.item')].filter(e => e.checkVisibility()).map(e => e.dataset.id)"
    )


def bright(driver) -> int:
    """The number of rows that are not dimmed."""
    rows = "return document.querySelectorAll('.item:not([hidden]) .rows tbody tr:not(.dim)').length"
    return driver.execute_script(rows)


def choose(driver, name: str, value: str) -> None:
    """Choose a value in a list of the page."""
    from selenium.webdriver.support.select import Select

    Select(driver.find_element("name", name)).select_by_visible_text(value)


def test_filters_by_type_outcome_and_cause(opened, page, evaluation):
    driver = opened(page)
    segments = evaluation.explanation.rows.assign(cause=evaluation.explanation.losses.idxmax(axis=1))
    rows = {"label": "discourse_type", "outcome": "outcome", "cause": "cause"}
    everything = explain.points_by_item(evaluation).index.tolist()
    assert shown(driver) == everything
    kept = segments
    for name, value in (("label", "Counterclaim"), ("outcome", "missed"), ("cause", "missed")):
        choose(driver, name, value)
        kept = kept[kept[rows[name]] == value]
        if name == "cause":
            kept = kept[kept["points_lost"] != 0]
        expected = [essay for essay in everything if essay in set(kept["essay_id"])]
        assert shown(driver) == expected
        assert 0 < len(expected) < 40
        assert driver.find_element("id", "count").text == f"{len(expected)} shown"
    assert bright(driver) == len(kept)
    choose(driver, "outcome", "wrong type")
    assert shown(driver) == []
    assert driver.find_element("id", "none").is_displayed()
    driver.find_element("css selector", "button[type=reset]").click()
    driver.implicitly_wait(60)
    driver.find_element("css selector", "#none[hidden]")
    assert shown(driver) == everything


def test_sorts_and_searches(opened, page, evaluation):
    driver = opened(page)
    by_points = explain.points_by_item(evaluation).index.tolist()
    groups = explain.groups_of_items(evaluation.prepared)
    choose(driver, "group", "ell_status: Yes")
    assert set(shown(driver)) == set(groups.index[groups["ell_status"] == "Yes"])
    choose(driver, "group", "all")
    choose(driver, "sort", "sub-population")
    statuses = [groups.loc[essay, "ell_status"] for essay in shown(driver)]
    assert statuses == sorted(statuses)
    choose(driver, "sort", "essay id")
    assert shown(driver) != by_points
    assert sorted(shown(driver)) == sorted(by_points)
    choose(driver, "outcome", "discarded")
    choose(driver, "sort", "rows that match")
    discarded = evaluation.explanation.rows.query("outcome == 'discarded'")["essay_id"].value_counts()
    assert [discarded[essay] for essay in shown(driver)] == sorted(discarded, reverse=True)
    choose(driver, "outcome", "all")
    choose(driver, "sort", "possible gain")
    assert shown(driver) == by_points
    driver.find_element("name", "search").send_keys(by_points[3][:7].lower())
    assert shown(driver) == [essay for essay in by_points if by_points[3][:7] in essay]


def test_cells_lead_to_the_rows_that_they_count(opened, page, evaluation):
    driver = opened(page)
    confusion = evaluation.explanation.confusion
    true, predicted = "Claim", "Evidence"
    number = confusion.loc[true, predicted]
    assert number > 0
    row = list(confusion.index).index(true) + 1
    column = list(confusion.columns).index(predicted) + 1
    cell = driver.find_element("css selector", f"#confusion tr:nth-child({row}) td:nth-of-type({column}) a")
    assert cell.text == str(number)
    cell.click()
    assert bright(driver) == number
    assert driver.find_element("name", "partner").get_attribute("value") == true
    driver.find_element("css selector", ".advice a").click()
    assert driver.find_element("name", "cause").get_attribute("value") == "missed"
    assert 0 < len(shown(driver)) < 40
    opacities = driver.execute_script(
        "return [...document.querySelectorAll('.item:not([hidden]) .dim')]"
        ".map(element => Number(getComputedStyle(element).opacity))"
    )
    assert opacities
    assert max(opacities) < 0.5


def open_items(driver, number: int = 2) -> None:
    """Open the first items of the page."""
    driver.execute_script(
        "[...document.querySelectorAll('.item')].slice(0, arguments[0]).forEach(e => { e.open = true })", number
    )


def assert_visible(driver, headers: str, columns: Iterable[str], width: int) -> None:
    """Check that nothing is wider than the window, and that these columns of a table are within it."""
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    places = {th.text: th.rect for th in driver.find_elements("css selector", headers)}
    for column in columns:
        assert 0 <= places[column]["x"] < places[column]["x"] + places[column]["width"] <= width


@pytest.fixture(scope="module")
def pages(evaluation):
    """One page of each kind, by name, with what decides in its rows."""
    ids = evaluation.prepared.items
    half = evaluate(evaluation.solution.frame, evaluation.submission.iloc[::2])
    texts = report.read_texts(ROOT / "examples" / "data" / "texts", evaluation)
    assert set(texts) == set(ids)
    of_markups, marked = markups()
    made = {
        "compared": report.render(
            evaluation, "x" * 60, texts, others={"half.csv": compared(evaluation, half, 20)}
        ),
        "markups": report.render(of_markups, "marks", marked),
    }
    for name in sorted(set(SIBLINGS) - set(MANY_HISTOGRAMS)):
        sibling = evaluate_sample(name)
        intervals = statistics.intervals(sibling, 10)
        made[name] = report.render(sibling, name, report.read_texts(None, sibling), intervals=intervals)
    return made


DECISIVE = {
    "compared": ["possible gain", "lost most by"],
    "markups": ["outcome"],
    "scifact": ["outcome"],
    "trec_is": ["case"],
}


@pytest.mark.parametrize("name", DECISIVE)
def test_what_decides_is_visible_at_any_width_and_controls_have_names(opened, pages, name):
    driver = opened(pages[name])
    open_items(driver)
    nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    controls = [
        node
        for node in nodes
        if not node["ignored"] and {"focusable", "expanded"} & {of["name"] for of in node.get("properties", ())}
    ]
    assert [node["role"]["value"] for node in controls if not node["name"]["value"].strip()] == []
    triangles = [node["name"]["value"] for node in controls if node["role"]["value"] == "DisclosureTriangle"]
    assert [triangle.split()[0] for triangle in triangles] == shown(driver)
    for width in (1280, 800, 390):
        look(driver, width)
        assert_visible(driver, ".item[open] .rows th", DECISIVE[name], width)


def test_a_line_has_the_same_height_on_both_sides(opened, pages):
    driver = opened(pages["compared"], width=1280)
    open_items(driver)
    left, right = driver.execute_script(
        "return [...document.querySelector('.item').querySelectorAll('.texts > div')].map("
        "side => [...side.querySelectorAll('p:not(.discarded)')].map(p => p.getBoundingClientRect().y))"
    )
    assert len(left) > 2
    assert left == right
    places = (
        "return [...document.querySelectorAll('.top tr')].map(row => [...row.cells].map(c => c.offsetLeft))"
    )
    assert len({tuple(row) for row in driver.execute_script(places)}) == 1


def test_the_keyboard_reaches_every_control(opened, pages):
    """The controls get the focus in the order of the page, and it can be seen."""
    from selenium.webdriver.common.keys import Keys

    for name in ("compared", "scifact"):
        driver = opened(pages[name])
        open_items(driver)
        expected = driver.execute_script(
            "window.reached = []; document.addEventListener('focusin', event => {"
            "  const style = getComputedStyle(event.target), box = event.target.getBoundingClientRect();"
            "  reached.push([event.target, style.outlineStyle, box.top < innerHeight && box.bottom > 0]);"
            "});"
            "return [...document.querySelectorAll('a[href], select, input, button, summary, [tabindex]')]"
            ".filter(element => element.checkVisibility())"
        )
        driver.switch_to.active_element.send_keys(*[Keys.TAB] * len(expected))
        elements, outlines, visible = zip(*driver.execute_script("return reached"))
        assert list(elements) == expected
        assert set(outlines) == {"solid"}
        assert all(visible)


def test_a_link_opens_its_essay(opened, pages):
    driver = opened(pages["compared"])
    link = driver.find_element("css selector", ".top a")
    name = link.text
    choose(driver, "cause", "spurious")  # and shows it, even if a filter hides it
    driver.execute_script("arguments[0].click()", link)
    driver.implicitly_wait(60)
    assert driver.find_element("css selector", ".item[open]").get_attribute("data-id") == name
    assert driver.execute_script("return document.activeElement.textContent").strip().startswith(name)
    driver.refresh()
    assert driver.find_element("css selector", ".item[open]").get_attribute("data-id") == name


def test_several_comparisons_on_a_phone(opened, evaluation):
    """The decisive columns are visible, and a link opens the comparison in full."""
    others = {name: compared(evaluation, evaluation, 5) for name in ("a.csv", "b.csv", "a_long_name_" * 16)}
    driver = opened(report.render(evaluation, "a_long_name_" * 16, {}, 2, others=others), width=360)
    assert_visible(driver, "#comparison > .scroll th", ("Submission", "Difference", "Ahead"), 360)
    driver.execute_script("arguments[0].click()", driver.find_element("link text", "b.csv"))
    driver.implicitly_wait(2)
    assert driver.find_element("css selector", ".versus[open]").get_attribute("id") == "versus-2"


def test_a_hostile_page_runs_nothing(opened):
    driver = opened(hostile_page())
    assert driver.execute_script("return window.hacked") is None
    assert driver.title == EVIL
    assert driver.find_element("css selector", ".item .id").text
    assert EVIL in shown(driver)
    driver.execute_script("document.querySelectorAll('details').forEach(e => { e.open = true })")
    assert EVIL in driver.find_element("css selector", ".item mark").text
    choose(driver, "outcome", "wrong type")
    assert len(shown(driver)) == 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_readable(opened, pages, scheme):
    for name in DECISIVE:
        driver = opened(pages[name], scheme=scheme)
        background = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (int(re.search(r"\d+", background)[0]) > 127) == (scheme == "light")
        open_items(driver, 40)
        contrasts = driver.execute_script(CONTRAST)
        assert len(contrasts) > 50
        assert [(ratio, text) for ratio, text in contrasts if ratio < 4.5] == []


def test_a_result_writes_its_report(tmp_path):
    result = podium.score(pd.read_csv("solution_sample.csv"), pd.read_csv("sample_submission.csv"))
    result.report(tmp_path / "report.html", {result.prepared.items[0]: "A text."}, title="Mine")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Mine</title>" in text
    assert f"{result.score:.4f}" in text


def test_a_phone_breaks_no_word_of_a_sub_population(evaluation, opened):
    driver = opened(report.render(evaluation, "sample"), width=390)
    broken = """
    const broken = [];
    for (const text of document.querySelectorAll("#groups tbody th bdi")) {
      const node = text.firstChild, range = document.createRange();
      for (const word of node.textContent.matchAll(/[a-z]+/gi)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map(line => line.top)).size > 1) broken.push(word[0]);
      }
    }
    return broken;
    """
    assert driver.execute_script(broken) == []
    assert len(driver.find_elements("css selector", "#groups tbody th bdi")) >= 6
