"""What runs on a measured host, beside the load.

It imports the standard library, mqperf's room of that name and itself, and goes to hosts whole.
"""
