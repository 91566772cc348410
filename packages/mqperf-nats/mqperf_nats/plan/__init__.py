"""What a plan may say of NATS."""
