"""Runs the unmodified oslo.messaging simulator as one process of an mqperf run.

The simulator alone starts each process when it happens to be ready, counts in its own seconds,
and may hang when it is stopped.  Around its own code this program adds an agreed start, a sure
stop, an exact record of every message, quick and repeatable message bodies, and a capped log.
"""
