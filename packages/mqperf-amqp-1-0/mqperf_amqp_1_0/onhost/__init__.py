"""The program of the generator, which runs beside broker or router: AMQP 1.0 over plain sockets.

It imports the standard library, numpy, mqperf's room of that name and itself, and goes to hosts
whole.
"""
