"""Who connects to which of two sites."""
