"""Make the pictures of the documentation from the examples, except for flow.svg, which is written by hand:

python -m tests.docs.pictures
"""

import io
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

import podium
from examples import board as example
from podium import cli
from podium.metric import hosted
from podium.report import items
from podium.scoring.evaluating import Evaluation
from tests.docs.test_outputs import ROOT
from tests.support import browser
from tests.support.figures import BLUE, DARK, FOLDER, GRAY, ORANGE, figure, save
from tests.test_imports import ENTRANCES, FILES, PACKAGES, TEMPLATES, imported

ESSAY_HEIGHT = 430  # of the picture of an essay: its strips and the first lines of its text
STYLE = ROOT / "podium" / "report" / "templates" / "report.css"  # has the colors of types


def softmin() -> Figure:
    """Draw the final score of two groups, one of which scores 0.60."""
    metric = hosted.module("unified")
    better = np.linspace(0.55, 0.75, 201)
    picture, axes = figure()
    for temperature, color in ((0.0, GRAY), (20.0, ORANGE), (65.0, BLUE)):
        scores = [float(metric.softmin([0.60, score], [500, 500], temperature)) for score in better]
        axes.plot(better, scores, color=color, label=f"temperature {temperature:g}")
    axes.set(xlabel="score of the other group", ylabel="final score", title="One group scores 0.60")
    axes.set_xticks(np.arange(0.55, 0.76, 0.05))
    axes.axvline(0.60, color=GRAY, linewidth=0.5)
    axes.legend(frameon=False)
    return picture


def rounding() -> Figure:
    """Draw what a predicted probability is worth on average for a segment that is effective with probability
    0.7.
    """
    said = np.linspace(0, 1, 101)
    worth = 0.7 * said + 0.3 * (1 - said)
    brier = 1 - (0.7 * (1 - said) ** 2 + 0.3 * said**2)
    picture, axes = figure()
    axes.plot(said, worth, color=BLUE, label="d[E], as in the metric: best at 1")
    axes.plot(said, brier, color=ORANGE, label="1 − Brier score: best at 0.7")
    axes.set(xlabel="probability that the submission gives", ylabel="worth on average")
    axes.set_title("Effective with probability 0.7")
    axes.legend(frameon=False)
    return picture


def packages() -> Figure:
    """Draw how many modules of a package each package below it serves: every dot lies below the diagonal."""
    number = {package: at for at, package in enumerate(PACKAGES)}
    uses = np.zeros((len(PACKAGES), len(PACKAGES)), dtype=int)
    for name in set(FILES) - ENTRANCES - set(TEMPLATES):
        package = name.split(".")[1]
        for other in {each.split(".")[1] for each in imported(name)} - {package}:
            uses[number[package], number[other]] += 1
    picture, axes = figure(5.4, 5.0)
    rows, columns = np.nonzero(uses)
    axes.scatter(columns, rows, s=14 * uses[rows, columns], color=BLUE, linewidths=0)
    axes.plot([-0.5, len(PACKAGES) - 0.5], [-0.5, len(PACKAGES) - 0.5], color=GRAY, linewidth=0.5)
    axes.set_xticks(range(len(PACKAGES)), PACKAGES, rotation=60, ha="right")
    axes.set_yticks(range(len(PACKAGES)), PACKAGES)
    axes.set(xlabel="uses this package", ylabel="a package", xlim=(-0.7, len(PACKAGES) - 0.3))
    axes.set_ylim(len(PACKAGES) - 0.3, -0.7)
    axes.grid(color=GRAY, alpha=0.2, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_title("A larger dot: more modules of the package use it")
    return picture


def reliability(result: Evaluation) -> Figure:
    """Draw how often segments with a certain probability were effective."""
    forecasts = result.explanation.forecasts
    bins = np.minimum((forecasts["probability"] * 5).astype(int), 4)
    groups = forecasts.groupby(bins)
    picture, axes = figure(4.2, 3.6)
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.8)
    axes.scatter(groups["probability"].mean(), groups["happened"].mean(), s=groups.size() * 4, color=BLUE)
    for (_, group), size in zip(groups, groups.size()):
        place = (group["probability"].mean() + 0.03, group["happened"].mean() - 0.05)
        axes.annotate(str(size), place, color=GRAY)
    axes.set(xlabel="probability of effective", ylabel="share that is effective")
    axes.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), title="Matched segments of the sample")
    return picture


def essay(result: Evaluation) -> Figure:
    """Draw an essay's true segments above the predicted ones."""
    rows = result.explanation.rows
    counts = rows[rows["outcome"] == "matched"].groupby("essay_id").size()
    shown = rows[rows["essay_id"] == counts.sort_values(ascending=False).index[3]]
    found = re.findall(r"\.c\d \{ --c: (\d+) (\d+) (\d+);", STYLE.read_text(encoding="utf-8"))
    types = items.labels(result)
    colors = {name: [int(part) / 255 for part in color] for name, color in zip(types, found)}
    picture, axes = figure(5.4, 2.8)
    for line, side in enumerate(("prediction", "truth")):
        for row in shown[shown["side"] == side].itertuples():
            color = colors[row.discourse_type]
            style = (
                {"facecolor": color} if row.outcome == "matched" else {"facecolor": "white", "hatch": "////"}
            )
            axes.barh(line, row.last - row.first + 1, 0.6, row.first, edgecolor=color, **style)
    axes.set_yticks([0, 1], ["prediction", "truth"])
    axes.set_xlabel("position of the word; what has no match is hatched")
    used = [name for name in types if (shown["discourse_type"] == name).any()]
    handles = [mpl.patches.Patch(color=colors[name]) for name in used]
    picture.legend(handles, used, loc="outside upper center", ncols=4, frameon=False, fontsize="small")
    axes.spines["left"].set_visible(False)
    return picture


def save_screen(picture: Image.Image, name: str) -> None:
    """Save a part of the browser's window in few bytes."""
    picture.convert("RGB").quantize(128).save(ROOT / "docs" / f"{name}.png", optimize=True)


def report_page(driver: Any, folder: Path, files: list[str]) -> None:
    """Save the beginning of the sample's report, narrow enough to be read on a phone, and one of its essays."""
    path = folder / "report.html"
    texts = str(ROOT / "examples" / "data" / "texts")
    cli.main(["score", *files, "--report", str(path), "--texts", texts])
    script = "for (const e of document.querySelectorAll(arguments[0])) e.hidden = true"
    for name, width, hidden in (
        ("report", 600, ".notice, #points h3, .heat, #offsets, #measures, #tables, #confusion, #calibration"),
        (
            "report_essay",
            900,
            "section:not(#items), #filters, #items h2, #items > p, .item:not(:nth-of-type(2))",
        ),
    ):
        browser.look(driver, width, 3000)
        driver.get(path.as_uri())
        driver.execute_script(f"{script}; document.querySelectorAll('.item')[1].open = true", hidden)
        whole = Image.open(io.BytesIO(driver.get_screenshot_as_png()))
        top = driver.execute_script("return document.querySelector('#items').getBoundingClientRect().top")
        first, last = (0, top - 8) if name == "report" else (top - 8, top + ESSAY_HEIGHT)
        save_screen(whole.crop((0, round(first), whole.width, round(last))), name)


def board_page(driver: Any) -> None:
    """Save the first screen of the real board of the examples."""
    browser.look(driver, 1200, 1500)
    driver.get((ROOT / "examples" / "translations" / "board" / "board.html").as_uri())
    save_screen(Image.open(io.BytesIO(driver.get_screenshot_as_png())), "board")


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    sample = [str(ROOT / name) for name in ("solution_sample.csv", "sample_submission.csv")]
    result = podium.score(*map(pd.read_csv, sample))
    save(softmin(), "softmin")
    save(rounding(), "rounding")
    save(packages(), "packages")
    save(reliability(result), "reliability")
    save(essay(result), "essay")
    with tempfile.TemporaryDirectory() as temporary, browser.started() as driver:
        folder = Path(temporary)
        report_page(driver, folder, sample)
        example.write(folder)
        inputs = [str(folder / name) for name in (example.SOLUTION, example.SUBMISSIONS, example.RUNTIMES)]
        heading = ["--title", "Segmenting essays", "--organizer", "the organizers of the example"]
        cli.main(["rank", *inputs, "--out", str(folder / "final"), *heading])
        board_page(driver)
        board = podium.rank(again=folder / "final", out=folder / "again", jobs=1)
        picture = board.plot().svg.replace("</style>", f"{DARK}</style>", 1)
        (FOLDER / "score_and_runtime.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
