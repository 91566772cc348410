"""Parts of programs that run beside brokers, whatever protocol they speak.

They import the standard library, numpy, mqperf's room of that name and each other.
"""
