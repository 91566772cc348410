"""Runs a command of the user repeatedly, several at a time, and records how long each run took.

It imports the standard library, mqperf's room of that name, that of mqperf-numbered, and itself,
and goes to hosts whole.
"""
