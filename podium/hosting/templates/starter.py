# mypy: ignore-errors
"""The cells of the starter notebook, by name."""

# %% [markdown] start
# # A first submission
#
# This notebook needs numpy and pandas alone, and the competition's files beside it or in Kaggle's input folder.
# It makes a simple baseline and writes `submission.csv`.

# %% read
import sys
from pathlib import Path

import numpy as np
import pandas as pd

FOLDERS = [Path(), Path("public_data"), Path("../public_data")]
FOLDERS += sorted(path.parent for path in Path("/kaggle/input").rglob("sample_submission.csv"))

# %% settings
ROW_ID = "id"  # names a row of the submission
ITEM = "id"  # names what belongs together
KEY = "id"  # names what is answered
TARGETS = ["label"]  # train.csv tells them, and test.csv does not
TEXTS = ["id"]  # are no numbers
PARAMETERS: dict[str, object] = {}  # of the metric


# %% table
def find(name):
    """Find a file of the competition, or None."""
    return next((folder / name for folder in FOLDERS if (folder / name).is_file()), None)


def read(name):
    """Read a table of the competition, or None if there is none."""
    path = find(name)
    return None if path is None else pd.read_csv(path, dtype=dict.fromkeys(TEXTS, str))


sample = read("sample_submission.csv")
sample.head()

# %% [markdown] fold
# ## Hold out a fold
#
# A fifth of the training part is left out of the training, to see how good the baseline is.

# %% fold
train = read("train.csv")
items = np.random.default_rng(0).permutation(train[ITEM].drop_duplicates().to_numpy())
# Where the test set is later than the training part, hold out the last ones: items = np.sort(items)[::-1].
is_fold = train[ITEM].isin(items[: max(len(items) // 5, 1)])
learned, fold = (train[rows].reset_index(drop=True) for rows in (~is_fold, is_fold))
print(f"{len(learned):,} rows to learn from, {len(fold):,} rows to try it on")
train.head()

# %% [markdown] baseline
# ## A baseline
#
# Put your model into this function.


# %% baseline
def predict(learned, ids, read):
    """Answer everything alike: with what is most frequent, or with the mean of numbers."""
    sample = read("sample_submission.csv")
    answers = pd.DataFrame({KEY: ids})
    for name in sample.columns.drop(KEY):
        shown = sample[name]
        told = [name] if name in learned else TARGETS if len(TARGETS) == 1 else []
        known = learned[told[0]].dropna() if told else shown.iloc[:0]
        numbers = [pd.api.types.is_numeric_dtype(cells) for cells in (shown, known)]
        are_whole = all(numbers) and not ((known % 1 != 0).any() or (shown % 1 != 0).any())
        if not len(known) or numbers[0] != numbers[1]:
            is_count = all(numbers[:1]) and (shown.to_numpy() == np.arange(1, len(shown) + 1)).all()
            answers[name] = np.arange(1, len(ids) + 1) if is_count else np.resize(shown.to_numpy(), len(ids))
        elif all(numbers) and (known.nunique() > 20 or not are_whole):
            answers[name] = round(known.mean()) if are_whole else known.mean()
        else:
            answers[name] = known.mode()[0]
    return answers[list(sample.columns)]


# %% [markdown] metric
# ## The score of the fold
#
# `metric.py` is the file that scores the competition. It may need more packages than this notebook.

# %% metric
guess = predict(learned, fold[KEY].unique(), read)
path = find("metric.py")
if path is None:
    print("The fold has no score here: put the metric's file, if it is published, beside this notebook.")
else:
    sys.path.insert(0, str(path.resolve().parent))
    try:
        import metric

        print("score of the fold:", metric.score(fold.copy(), guess.copy(), ROW_ID, **PARAMETERS))
    except ModuleNotFoundError as missing:
        print(f"The fold has no score, because the metric needs {missing.name}: install it and run this cell.")
    except Exception as problem:
        print("The fold has no score:", problem)

# %% [markdown] submission
# ## Write the submission

# %% submission
submission = predict(train, sample[KEY].unique(), read)
submission.to_csv("submission.csv", index=False, lineterminator="\r\n")
submission.head()

# %% copy
submission = pd.read_csv(find("sample_submission.csv"), dtype=str, keep_default_na=False)
submission.to_csv("submission.csv", index=False, lineterminator="\r\n")
submission.head()

# %% picture
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("without matplotlib there is no picture")
else:
    answers = submission.columns.drop([ROW_ID, ITEM, KEY], errors="ignore")
    shared = [name for name in answers if name in train] if "train" in globals() else []
    name = [*shared, *answers][0]
    cells = (train if shared else submission)[name]
    if pd.api.types.is_numeric_dtype(cells):
        cells.plot.hist(bins=30, title=name)
    else:
        cells.astype(str).str.slice(stop=40).value_counts().head(15)[::-1].plot.barh(title=name)
    plt.show()
