"""The program of the generator, which runs beside the broker: AMQP 0-9-1 over plain sockets.

It imports the standard library, numpy, mqperf's room of that name and itself, and goes to hosts
whole.
"""
