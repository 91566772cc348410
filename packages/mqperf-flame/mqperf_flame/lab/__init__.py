"""Starts the probe, and prepares hosts so that perf finds the symbols of profiled processes."""
