"""Plan parameters and kinds of queues of NATS."""
