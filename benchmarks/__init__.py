"""Benchmarks are scripts that print tables, with ratios of times that were measured in the same run.

python -m benchmarks.unified_metric
"""
