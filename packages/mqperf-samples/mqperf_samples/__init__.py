"""Recorded runs of mqperf, for whoever has no clone: its wheel holds `data/samples`."""
