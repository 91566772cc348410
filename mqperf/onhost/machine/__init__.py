"""Facts about a machine, and operations on its files, ports and processes."""
