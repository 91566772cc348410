"""The archive, signatures, and secrets that may stand in files."""
