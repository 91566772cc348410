"""What load generators of mqperf share whose messages carry a number, and when they were due.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
