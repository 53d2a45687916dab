"""Make, check and publish competitions: from a corpus to a live competition on Kaggle and other platforms."""
