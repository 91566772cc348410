"""Readers of the probes' logs in a run folder, which check them."""
