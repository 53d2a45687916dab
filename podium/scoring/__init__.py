"""A prepared solution and a scored submission, what a companion tells of it, and the verdict on its metric.

A metric and tables enter, and a `Solution` or an `Evaluation` leaves. It knows no files and no strangers, and
may use `statistics`, `metric` and what is below.
"""
