"""From files to a score in three steps, which every command and the front door of Python take.

Paths or tables enter, and a prepared solution, a submission or an evaluation leaves. It may use `scoring` and
what is below.
"""
