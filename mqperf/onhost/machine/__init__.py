"""What a machine says of itself, and what is done with its files, ports and processes."""
