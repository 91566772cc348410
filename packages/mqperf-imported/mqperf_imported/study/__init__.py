"""Readers of runs of other tools, and of published reports."""
