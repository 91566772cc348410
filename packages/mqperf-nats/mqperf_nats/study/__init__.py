"""What the load generator tells of a run beside the record of messages."""
