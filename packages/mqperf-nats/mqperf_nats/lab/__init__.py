"""NATS as a system under test, and the launcher of its load generator."""
