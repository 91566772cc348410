"""Routers of AMQP 1.0 for mqperf: a system, topologies, pictures, and networks as files.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
