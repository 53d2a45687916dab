"""What the companions of the two markup metrics share: files, explanations, and the experts' agreement.

In these metrics several experts and an algorithm mark up the same documents. `metrics/markup_consistency` and
`metrics/readable` define what a markup is and how two of them are compared. Documents and tables of annotators
enter, and markups and explanations leave. It may use `contest` and what is below.
"""

from podium.markups.spans import from_spans

__all__ = ["from_spans"]
