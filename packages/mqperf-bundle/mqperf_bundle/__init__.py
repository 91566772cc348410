"""Bundles for mqperf: runs, tables and pages in one file that anybody can check.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
