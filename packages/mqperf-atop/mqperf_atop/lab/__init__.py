"""How the probe is started, and what its hosts must have."""
