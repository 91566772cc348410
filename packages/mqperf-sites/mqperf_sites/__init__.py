"""RabbitMQ in two sites, for mqperf.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
