"""From a corpus to a live competition, on Kaggle and other platforms."""
