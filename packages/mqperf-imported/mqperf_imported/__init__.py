"""Results of others for mqperf: published reports, and runs of other tools, become tables.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
