"""Processes of load generators: a package for each, and what they share."""
