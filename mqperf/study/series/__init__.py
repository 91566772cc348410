"""Statistics within one run: functions from arrays to numbers.

Confidence intervals for autocorrelated seconds, and the end of the warm-up.  These modules know
nothing of the tables or files of a run.
"""
