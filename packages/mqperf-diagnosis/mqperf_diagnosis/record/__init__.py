"""The log of the probe, read and checked."""
