"""How the probe is started."""
