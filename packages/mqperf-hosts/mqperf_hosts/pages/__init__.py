"""What notebooks show of hosts."""
