"""Sections and answers about these loads in pages and notebooks."""
