"""Strangers' models in a sandbox: find them, run them in rounds, and judge how long they took."""
