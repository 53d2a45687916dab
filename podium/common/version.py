"""The version of podium, which every file that it writes names."""

__version__ = "11.0.0"
