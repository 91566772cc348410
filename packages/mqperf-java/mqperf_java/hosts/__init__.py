"""What of others is brought to hosts."""
