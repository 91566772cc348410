"""A comparison of brokers for mqperf: one page of many bundles.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
