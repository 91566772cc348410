"""RabbitMQ in the folder of its archive, as a plan asks for it."""
