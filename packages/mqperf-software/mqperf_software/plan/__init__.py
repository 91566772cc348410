"""Columns of where a RabbitMQ comes from."""
