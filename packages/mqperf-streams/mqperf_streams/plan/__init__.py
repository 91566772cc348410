"""Plan parameters of loads of streams."""
