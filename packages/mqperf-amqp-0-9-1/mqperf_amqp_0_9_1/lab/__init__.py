"""Launchers of the load generators."""
