"""A prepared solution and a scored submission, and what a companion tells about it.

A metric and tables enter, and a `Solution` or an `Evaluation` leaves. It knows no files and no strangers, and
may use `statistics`, `metric` and what is below.
"""
