"""Strangers' models in a sandbox: find them, run them in rounds, and judge how long they took.

Folders of models and data enter, and submissions, runtimes and the failed models leave. It may use `contest`
and what is below.
"""
