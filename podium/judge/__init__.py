"""What a metric has to keep: the shapes of what it returns, and trials of its score."""
