"""Code that runs on measured hosts, beside the broker.

It imports only the standard library, numpy and itself, and is copied to hosts as a whole.
"""
