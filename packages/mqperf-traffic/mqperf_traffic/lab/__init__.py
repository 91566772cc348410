"""Captures traffic, and launches its replay."""
