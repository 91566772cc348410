"""Maps: a figure at every combination of two axes of a sweep.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
