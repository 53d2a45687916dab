"""Find the thresholds that maximize the Unified Metric; see `podium.spans.tuning`."""

from podium.spans.tuning import *
from podium.spans.tuning import __all__ as __all__
