"""What runs on a measured host, beside the broker.

It imports the standard library and itself, and goes to hosts whole.
"""
