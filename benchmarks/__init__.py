"""Benchmarks: scripts that print a table, with ratios of times taken in one run.

python -m benchmarks.unified_metric
"""
