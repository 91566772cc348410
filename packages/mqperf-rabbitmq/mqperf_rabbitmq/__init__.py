"""Free settings of RabbitMQ for mqperf: any keys of its files, variables and policies.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
