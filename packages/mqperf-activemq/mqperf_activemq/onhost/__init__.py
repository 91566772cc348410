"""What runs on a measured host, beside the broker: who asks it, and loads in its protocols.

It imports the standard library, numpy, mqperf's room of that name, that of mqperf-numbered and
itself, and goes to hosts whole.
"""
