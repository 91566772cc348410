"""Flame graphs: in which functions the nodes and load generators of a run use their CPU.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
