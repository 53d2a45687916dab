"""The children in which foreign code runs: started, heard, limited, and ended with what they leave.

The work of a command, a task or a program enters, and its result, what it printed and how it ended leave. It
may use `common`.
"""
