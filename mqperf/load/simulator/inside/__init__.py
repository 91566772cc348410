"""Programs that run inside a generator's own environment, where mqperf is not installed.

This folder is put on their path, and nothing else of mqperf is: they import the standard library,
each other, and what the generator brings.
"""
