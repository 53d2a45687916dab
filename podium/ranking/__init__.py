"""The final ranking: from submissions and runtimes to a board that can be defended.

Submissions, runtimes and the organizer's tables enter, and a board with its pages leaves. It may use `running`,
`report` and what is below.
"""
