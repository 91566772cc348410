"""Declares queues, binds and deletes them, and records how long each took."""
