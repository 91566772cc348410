"""Why a run was not faster: what its processes waited for, and the causes that this is evidence of.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
