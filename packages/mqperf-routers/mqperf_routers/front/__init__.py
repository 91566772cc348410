"""Networks of routers as files: descriptions that are read, and files to deploy a network by hand.

This room implements the command ``mqperf topology``; runs of plans do not use it.
"""
