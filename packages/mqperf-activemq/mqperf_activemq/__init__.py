"""Brokers written in Java as systems of mqperf: ActiveMQ and Artemis.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
