"""Compares replays with their profiles."""
