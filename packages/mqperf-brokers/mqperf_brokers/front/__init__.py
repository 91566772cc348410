"""The command, and what it does."""
