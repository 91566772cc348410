"""The rules that raise doubts: tables in, findings out, each a small pure function.

A rule yields nothing where the figures it needs are missing, unless their absence is the fault.
``stats.doubt_kinds`` has the question and the reason of each.
"""
