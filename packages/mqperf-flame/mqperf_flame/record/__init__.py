"""The record of the probe, read and checked."""
