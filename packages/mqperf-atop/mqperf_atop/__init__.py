"""The probe atop of mqperf, and records of atop from hosts that mqperf does not watch.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
