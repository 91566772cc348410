"""The command and the Python function."""
