"""What a metric and its companion may define; see `podium.metric.contract`."""

from podium.metric.contract import *
from podium.metric.contract import __all__ as __all__
