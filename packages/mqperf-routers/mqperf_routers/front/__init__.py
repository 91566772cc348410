"""Networks of routers as files: what describes one, and what is written to deploy it by hand.

The command ``mqperf topology`` is this room; runs of plans need none of it.
"""
