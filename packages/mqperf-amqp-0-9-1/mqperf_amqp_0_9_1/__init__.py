"""Publishers and consumers of AMQP 0-9-1 for mqperf: a load generator.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
