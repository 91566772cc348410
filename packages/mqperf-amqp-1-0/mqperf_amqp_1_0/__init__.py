"""Senders and receivers of AMQP 1.0 for mqperf: a load generator.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
