"""What runs on a measured host, beside the broker.

It imports the standard library, numpy and itself, and goes to hosts whole.
"""
