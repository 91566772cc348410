"""The rules that raise doubts: tables in, findings out, each a small pure function.

A rule says nothing where the figures it needs are missing, unless their absence is the fault.  What
each one asks, and why, stands in ``stats.doubt_kinds``.
"""
