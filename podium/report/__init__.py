"""One page that shows where a score comes from."""
