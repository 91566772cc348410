"""Columns and tables of a trend."""
