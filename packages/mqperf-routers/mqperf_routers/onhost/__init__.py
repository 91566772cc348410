"""What runs on a measured host, beside the routers.

It imports the standard library, numpy, mqperf's room of that name and itself, and goes to hosts
whole.
"""
