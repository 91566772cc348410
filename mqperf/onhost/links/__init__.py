"""Programs that run beside a link: the packet relay, and who measures it.

They know nothing of mqperf and need the standard library of Python 3.11 only.
"""
