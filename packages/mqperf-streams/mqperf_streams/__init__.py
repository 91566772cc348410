"""Streams of RabbitMQ by their own protocol, as a load generator for mqperf."""
