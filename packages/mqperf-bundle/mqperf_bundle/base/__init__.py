"""The archive, signatures, and detection of secrets in files."""
