"""NATS, as a system and as a load for mqperf."""
