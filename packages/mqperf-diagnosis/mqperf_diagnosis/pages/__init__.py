"""Causes in words."""
