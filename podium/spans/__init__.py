"""Turn a model's predictions for tokens, characters, words or quotes into segments, a submission and its score.

The functions are defined in `podium.spans.segments`, and in `places`, `tokens` and `quotes` beside it, which
make segments; thresholds are in `tuning`. Predictions and texts enter, and segments and tables leave. It may
use `contest` and what is below.
"""

from podium.spans import places, quotes, segments, tokens
from podium.spans.places import *
from podium.spans.quotes import *
from podium.spans.segments import *
from podium.spans.tokens import *

__all__ = sorted([*places.__all__, *quotes.__all__, *segments.__all__, *tokens.__all__])
