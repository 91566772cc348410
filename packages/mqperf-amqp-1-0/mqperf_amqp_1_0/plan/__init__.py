"""Plan parameters of loads of AMQP 1.0."""
