"""Parts of programs that run beside brokers, whatever protocol they speak.

They import the standard library, numpy, each other and what ``modules.py`` names: nothing else of
mqperf is there.
"""
