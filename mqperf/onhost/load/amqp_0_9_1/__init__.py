"""The program of the generator, which runs beside the broker: AMQP 0-9-1 over plain sockets."""
