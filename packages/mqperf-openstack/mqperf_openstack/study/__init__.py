"""What the load generators tell of a run beside the record of messages."""
