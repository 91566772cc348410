"""Programs of probes, which observe a host during a measurement."""
