"""The version of podium, which every file that it writes names."""

__version__ = "10.1.0"
