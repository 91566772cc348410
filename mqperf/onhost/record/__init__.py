"""What those who record messages on hosts, and those who read, have in common."""
