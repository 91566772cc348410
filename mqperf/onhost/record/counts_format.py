"""Constants of the format of ``.counts`` files."""

FORMAT = "mqperf-counts"
VERSION = 1
EARLY_S, LATE_S = 3_600, 86_400
"""Longest times by which messages start before the load, or finish after it."""

RANGES_LIMIT = 100_000
"""Most ranges in a line; further ranges of a sender are in further lines."""
