"""Shared code of load generators whose messages carry a sequence number and their due time.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
