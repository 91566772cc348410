"""Sustained rates of systems in bundles, and their comparison."""
