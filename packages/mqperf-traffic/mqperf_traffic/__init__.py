"""Real traffic of a RabbitMQ: captured as a profile without content, and replayed as a load.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
