"""What asks a node of RabbitMQ, on its host."""
