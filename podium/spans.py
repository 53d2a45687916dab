"""From what a model says of tokens, characters or words to segments of essays; see `podium.essays.spans`."""

from podium.essays.spans import *
from podium.essays.spans import __all__ as __all__
