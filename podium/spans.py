"""Turn a model's predictions for tokens, characters, words or quotes into segments, a submission and its score.

The functions are defined in `podium.essays.spans`, `podium.essays.tokens` and `podium.essays.quotes`.
"""

from podium.essays import quotes, spans, tokens
from podium.essays.quotes import *
from podium.essays.spans import *
from podium.essays.tokens import *

__all__ = sorted([*quotes.__all__, *spans.__all__, *tokens.__all__])

del quotes, spans, tokens
