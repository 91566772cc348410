"""How NATS, and the load of it, are started."""
