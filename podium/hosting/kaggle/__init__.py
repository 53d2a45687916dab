"""Kaggle: whether it accepts a metric, what it would show, and publishing a competition there."""
