"""OpenStack's use of message queues, for mqperf: loads, a test case, a form of plan files.

The rooms are those of mqperf, and hold what its rooms of the same names may hold.
"""
