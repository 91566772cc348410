"""What its users call."""
