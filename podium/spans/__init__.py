"""Turn a model's predictions for tokens, characters, words or quotes into segments, a submission and its score.

The functions are defined in `podium.spans.segments`, `podium.spans.tokens` and `podium.spans.quotes`;
thresholds are beside them. Predictions and texts enter, and segments and tables leave. It may use
`contest` and what is below.
"""

from podium.spans import quotes, segments, tokens
from podium.spans.quotes import *
from podium.spans.segments import *
from podium.spans.tokens import *

__all__ = sorted([*quotes.__all__, *segments.__all__, *tokens.__all__])
