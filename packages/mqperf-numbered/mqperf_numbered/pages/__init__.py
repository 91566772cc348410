"""Sections, answers and figures about such loads."""
