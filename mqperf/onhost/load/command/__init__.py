"""Runs a command of the user's again and again, several at a time, and records how long each took.

It needs the standard library alone.
"""
