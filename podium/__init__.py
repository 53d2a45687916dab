"""Hosted competition metrics, and everything around them.

    podium.scoring      a submission scored against a solution, as a whole and by its Public and Private parts
    podium.hosted       the metric files, and the contract by which they offer their parts
    podium.statistics   intervals, comparisons, rank sets, for any metric
    podium.spans        from a model's output to segments; podium.tuning: their thresholds
    podium.companions   what became of each row, and why

The command line is `podium`; ``podium --help`` lists its commands.
"""

__all__ = ["__version__"]

__version__ = "2.0.0"
