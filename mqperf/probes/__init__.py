"""Probes: what watches the machines during a run, one module each: start command and parser."""
