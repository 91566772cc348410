"""Plan parameters, test cases and questions of loads of AMQP 0-9-1."""
