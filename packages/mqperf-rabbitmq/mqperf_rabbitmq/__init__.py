"""Free settings of a RabbitMQ for mqperf: whatever its files, variables and policies may say.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
