"""The program of the generator, which runs beside the server: the protocol of NATS over sockets.

It imports the standard library, numpy, mqperf's room of that name, that of mqperf-numbered, and
itself, and goes to hosts whole.
"""
