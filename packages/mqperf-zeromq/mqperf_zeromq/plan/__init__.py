"""The column of the version of Redis."""
