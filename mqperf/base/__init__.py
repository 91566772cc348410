"""Utilities that every other package may import; nothing in here knows about message queues."""
