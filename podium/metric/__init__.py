"""What a metric is, and how a file becomes one: the contract, loading, parameters, the guard.

A name, a file or a folder enters, and a `podium.metric.contract.Metric` leaves, whose functions raise
podium's errors alone. It may use `tables` and what is below.
"""
