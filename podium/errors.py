"""The exceptions of podium; see `podium.words.errors`."""

from podium.words.errors import *
from podium.words.errors import __all__ as __all__
