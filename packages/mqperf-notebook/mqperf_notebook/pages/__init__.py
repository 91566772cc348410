"""Choices of results, and their output."""
