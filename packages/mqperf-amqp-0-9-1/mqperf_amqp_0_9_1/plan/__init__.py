"""What a plan may say of a load of AMQP 0-9-1."""
