"""Kafka as a system under test, and oslo.messaging's driver for it."""
