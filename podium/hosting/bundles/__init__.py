"""Bundles: a complete competition as one archive for another platform."""
