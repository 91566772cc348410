"""What writers and readers of ``.counts`` files have in common."""

FORMAT = "mqperf-counts"
VERSION = 1
EARLY_S, LATE_S = 3_600, 86_400
"""No message was started so long before the load, or finished so long after it."""

RANGES_LIMIT = 100_000
"""Of a line; more of a sender stand in further lines."""
