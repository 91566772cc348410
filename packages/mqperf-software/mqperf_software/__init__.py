"""Software roots for mqperf: Debian releases in folders, each with a broker in its version.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
