"""Hosted competition metrics, and everything around them; `podium --help` lists the commands."""

__all__ = ["__version__"]

__version__ = "2.0.0"
