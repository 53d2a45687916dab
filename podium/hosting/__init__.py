"""Make, check and publish competitions: from a corpus to a live competition on Kaggle and other platforms.

A corpus, labels or a folder of files enters, and files, findings, a bundle or a live competition leaves. It
may use `spans`, `contest` and what is below.
"""
