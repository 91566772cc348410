"""Links for mqperf: networks between hosts that delay, lose, slow down, break and part.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
