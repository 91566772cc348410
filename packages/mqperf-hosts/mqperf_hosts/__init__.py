"""Checks and preparation of hosts, for mqperf, before a plan runs on them.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
