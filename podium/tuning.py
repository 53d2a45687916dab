"""Find the thresholds that maximize the Unified Metric; see `podium.essays.tuning`."""

from podium.essays.tuning import *
from podium.essays.tuning import __all__ as __all__
