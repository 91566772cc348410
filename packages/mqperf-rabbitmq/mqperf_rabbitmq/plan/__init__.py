"""Columns of free settings."""
