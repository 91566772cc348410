"""Launchers of the load generator and of oslo.messaging over AMQP 1.0."""
