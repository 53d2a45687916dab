"""One page that shows where a score comes from.

An evaluation and what chance says about it enter, and a page, a table or a picture leaves. It may use
`contest` and what is below.
"""
