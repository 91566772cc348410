"""What a chain writes into a run folder beside the record of messages."""
