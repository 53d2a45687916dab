"""Tools for essays and their segments: model output to segments, thresholds, and corpora to competitions."""

# The score of a sub-population with fewer essays depends much on chance.
SMALL_SUBPOPULATION = 50
