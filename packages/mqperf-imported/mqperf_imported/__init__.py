"""Results of others for mqperf: published reports, and runs of Maestro and quiver, become tables.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
