"""The launcher of the load generator, and settings of RabbitMQ for streams."""
