"""ZeroMQ as a system of mqperf: messages without a broker.

The room is that of mqperf, and holds what its room of the same name may hold.
"""
