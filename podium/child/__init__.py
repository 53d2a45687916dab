"""The one child in which foreign code runs: started, heard, limited, and ended with what it leaves.

A function and its arguments enter, and its result, what it printed and how it ended leave. It may use `words`.
"""
