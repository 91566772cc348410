"""Programs that run on a measured host, beside the broker.

This folder imports the standard library, ``mqperf.onhost`` and itself, and is copied to hosts.
"""
