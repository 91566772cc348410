"""Readers of other output of load generators in a run folder, which check it."""
