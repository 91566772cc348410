"""The command that captures."""
