"""How the probe is started, and how what it looks at is started such that it can."""
