"""Hosted competition metrics, and everything around them; `podium --help` lists the commands.

podium.spans        from a model's output to segments; podium.tuning: their thresholds
podium.scoring      a submission scored against a solution; podium.companions: why it scores so
podium.statistics   intervals, comparisons, rank sets, for any metric
podium.hosted       the metric files
"""

__all__ = ["__version__"]

__version__ = "2.0.0"
