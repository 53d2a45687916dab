"""The words of the Unified Metric's tables, as the metric file has them."""

TYPES = ("Lead", "Position", "Claim", "Counterclaim", "Rebuttal", "Evidence", "Concluding Statement")
LABEL = "discourse_effectiveness"
PROBABILITIES = ("score_discourse_effectiveness_0", "score_discourse_effectiveness_1")
LAST_POSITION = 99_999  # the largest position that a word may have
