"""The exceptions of podium; see `podium.common.errors`."""

from podium.common.errors import *
from podium.common.errors import __all__ as __all__
