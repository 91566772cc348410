"""What answers on a host that is reached over SSH."""
