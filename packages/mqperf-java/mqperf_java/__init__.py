"""Shared code of systems in Java: their files, Java itself, and how servers are started.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
