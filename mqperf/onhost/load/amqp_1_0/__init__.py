"""The program of the generator, which runs beside broker or router: AMQP 1.0 over plain sockets."""
