"""The one verdict on a metric: what signs and trials tell about it, for every command that meets one.

An evaluation enters, and findings leave. It may use `scoring` and what is below.
"""
