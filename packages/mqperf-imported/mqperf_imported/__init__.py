"""Imports published reports and runs of other benchmarking tools as tables of mqperf.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
