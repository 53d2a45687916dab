"""Everything around a metric file: reading files, calling the metric, and what is built on its answers.

``evaluate.py``, ``rank.py`` and ``host.py`` are thin command lines over the modules of this package, which
notebooks and tests call too.  Nothing in it knows the inside of one metric: what it asks of a metric file
is written down in `competition.metric_file`.
"""
