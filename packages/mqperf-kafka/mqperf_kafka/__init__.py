"""Kafka as a system of mqperf, and oslo.messaging's driver for it.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
