"""How the load generators are started."""
