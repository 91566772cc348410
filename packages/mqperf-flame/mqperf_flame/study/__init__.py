"""Tables of the record of the probe, and its comparison with psutil."""
