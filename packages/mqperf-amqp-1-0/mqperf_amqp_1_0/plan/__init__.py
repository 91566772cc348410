"""What a plan may say of a load of AMQP 1.0."""
