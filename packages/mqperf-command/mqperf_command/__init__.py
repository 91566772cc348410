"""The user's own commands and scripts in mqperf: a load generator, and an action.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
