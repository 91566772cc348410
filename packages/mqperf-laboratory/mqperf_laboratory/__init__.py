"""Laboratories for mqperf: hosts in network namespaces of this machine.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
