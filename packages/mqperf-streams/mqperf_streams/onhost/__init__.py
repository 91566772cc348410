"""The program of the generator, which runs beside the broker: the stream protocol over sockets.

It imports the standard library, numpy, mqperf's room of that name, those of mqperf-numbered and
mqperf-amqp-0-9-1, and itself, and goes to hosts whole.
"""
