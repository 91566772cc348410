"""What nodes of RabbitMQ told, as figures."""
