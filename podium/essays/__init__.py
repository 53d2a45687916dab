"""What concerns essays and their segments alone: model output to spans, tuning, and corpora to competitions."""

# Scores of sub-populations of fewer essays say little.
SMALL_SUBPOPULATION = 50
