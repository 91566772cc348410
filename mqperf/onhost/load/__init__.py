"""Programs of load generators, a package for each, and their shared modules."""
