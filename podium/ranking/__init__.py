"""The final ranking: from submissions and runtimes to a board that can be defended."""
