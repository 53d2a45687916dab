"""Make the files of a competition with the Unified Metric from a corpus of essays."""
