"""What runs on a measured host, beside the broker.

It imports the standard library, mqperf's room ``onhost``, and itself, and goes to hosts whole.
"""
