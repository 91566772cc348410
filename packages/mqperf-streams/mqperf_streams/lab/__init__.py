"""How the load generator is started."""
